"""The section `gate`: limits on what was measured, made for continuous integration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

Limit = Annotated[float, Field(ge=0, le=1), NotBoolean]
Bound = Annotated[float, Field(allow_inf_nan=False), NotBoolean]
LeakMetric = Literal["accuracy", "roc_auc", "log_loss", "brier", "ece"]

LIMITS = (
    "ece_excess",
    "debiased_rms_upper",
    "step_leak",
    "step_leak_upper",
    "auc_drop",
    "metrics",
)
DEFAULTS = {"ece_excess": 0.02, "beyond_chance": True}
"""The limits of an empty section: at any number of rows a perfect model misses them once in 1,000 samples."""


class AucDrop(Block):
    """ROC AUC may not fall against an earlier record."""

    against: str = Field(
        min_length=1,
        description=(
            "File of the earlier numbers: a `record.json` of `evaluate`, or a `metrics.json`, kept "
            "from an earlier run."
        ),
    )
    limit: Limit = Field(0.005, description="ROC AUC may fall by at most this.")


class MetricBound(Block):
    """A bound on any metric."""

    at_most: Bound | None = Field(None, description="The metric may at most be this.")
    at_least: Bound | None = Field(None, description="The metric must at least be this.")

    @model_validator(mode="after")
    def _some_bound(self) -> MetricBound:
        if self.at_most is None and self.at_least is None:
            raise ValueError("give `at_most`, `at_least` or both")
        if None not in (self.at_most, self.at_least) and self.at_least > self.at_most:  # type: ignore[operator]
            raise ValueError(
                f"`at_least` {self.at_least:g} lies above `at_most` {self.at_most:g}: nothing can pass"
            )
        return self


class Gate(Block):
    """Limits; only those that are named are checked, and an empty section has the default ones."""

    ece_excess: Limit | None = Field(
        None, description="Every ECE may lie at most this far above its null band's 95 % quantile."
    )
    beyond_chance: bool = Field(
        False,
        description=(
            "Let an ECE's excess count only where a perfect model shows as much in less than 1 of "
            "1,000 samples; without it 1 in 20 perfect models lies outside the band."
        ),
    )
    debiased_rms_upper: Limit | None = Field(
        None,
        description="The upper end of the root of the de-biased squared calibration error's interval.",
    )
    step_leak: Limit | None = Field(
        None,
        description="The leak of no step, alone or with those before it, may be larger, up or down.",
    )
    step_leak_upper: Limit | None = Field(
        None,
        description="The same for the end of the leak's corrected interval that is further from 0.",
    )
    auc_drop: AucDrop | None = Field(None, description="ROC AUC against an earlier record.")
    metrics: dict[str, MetricBound] = Field(
        {},
        description=(
            "Bounds on any metrics, by their paths in `metrics.json`; `*` stands for any one part of "
            "a path."
        ),
    )
    models: list[Name] | None = Field(
        None, min_length=1, description="Models the limits apply to; by default all."
    )
    calibrators: list[str] | None = Field(
        None, min_length=1, description="Calibrators the limits apply to; by default all."
    )
    parts: list[Name] | None = Field(
        None, min_length=1, description="Parts the limits apply to; by default all measured."
    )
    bins: list[Name] | None = Field(
        None, min_length=1, description="Bin rules the limits apply to; by default all."
    )
    leak_metrics: list[LeakMetric] = Field(
        ["accuracy", "roc_auc"],
        min_length=1,
        description="Metrics whose leak is limited.",
    )

    @model_validator(mode="before")
    @classmethod
    def _limits_of_an_empty_section(cls, value: Any) -> Any:
        """Without a limit of one's own the default ones hold."""
        if value is None:
            value = {}
        if isinstance(value, dict) and all(value.get(name) in (None, {}) for name in LIMITS):
            named = {key: item for key, item in value.items() if item is not None}
            return {**DEFAULTS, **named}
        return value
