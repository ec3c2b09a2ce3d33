"""The section `calibration`: maps from a model's score to a truer probability."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name

NONE = "none"


class Calibrator(Block):
    """One map, fixed (`none`, `sharpen`) or learned on named parts."""

    method: Name = Field(description="Name of the map in the registry of calibrators.")
    params: dict[str, Any] = Field({}, description="Parameters of the map.")
    after: Name | None = Field(None, description="The calibrator whose output this one maps.")
    learn_on: list[Name] | None = Field(
        None,
        min_length=1,
        description="Parts it is learned on, one calibrator for each; by default the section's.",
    )
    models: list[Name] | None = Field(
        None, min_length=1, description="Models it is applied to; by default all."
    )


class Calibration(Block):
    """Which calibrators are learned, and on which parts."""

    calibrators: dict[Name, Calibrator] = Field(
        {NONE: Calibrator(method=NONE)},
        min_length=1,
        description="A list of methods, or a name for each calibrator with its method and settings.",
    )
    learn_on: list[Name] = Field(
        ["calibration"], min_length=1, description="Parts the calibrators are learned on."
    )

    @model_validator(mode="before")
    @classmethod
    def _names_from_a_list(cls, value: Any) -> Any:
        """A list of methods is short for one calibrator a method, named after it."""
        if not isinstance(value, dict) or not isinstance(value.get("calibrators"), list):
            return value
        methods = value["calibrators"]
        return {**value, "calibrators": {str(m): {"method": m} for m in methods}}

    @model_validator(mode="after")
    def _none_is_what_it_says(self) -> Calibration:
        if NONE in self.calibrators and self.calibrators[NONE].method != NONE:
            raise ValueError("the name `none` is kept for the model's own probabilities")
        return self
