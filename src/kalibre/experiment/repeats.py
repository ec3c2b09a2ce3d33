"""The section `repeats`: the same experiment on many splits, so that no single split can flatter it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

Count = Annotated[int, Field(ge=1, le=10_000_000), NotBoolean]
Share = Annotated[float, Field(gt=0, le=1), NotBoolean]
Level = Annotated[float, Field(gt=0, lt=1), NotBoolean]
Quantile = Annotated[float, Field(ge=0, le=1), NotBoolean]

SEEDS = 2**32
METRICS = ("mean_confidence", "accuracy", "brier", "log_loss", "roc_auc")
QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)


class Repeats(Block):
    """How often the rows are split anew, and what is measured each time."""

    splits: Count = Field(50, description="Number of splits.")
    first_seed: Annotated[int, Field(ge=0, lt=SEEDS), NotBoolean] = Field(
        0, description="Seed of the first split; each further one adds 1."
    )
    shard: Count = Field(
        250,
        description=(
            "Most splits that one process does. A shard is as large as all those before it together, at "
            "least 50 and at most this; more splits later leave the shards that are done as they are."
        ),
    )
    metrics: list[Name] = Field(
        list(METRICS),
        min_length=1,
        description="Metrics of each split, besides the ECE of each bin rule and the levels of `evaluation`.",
    )
    quantiles: list[Quantile] = Field(
        list(QUANTILES), min_length=1, description="Quantiles over the splits that are reported."
    )
    level: Level = Field(0.95, description="Confidence level of the intervals of a difference.")
    model_seeds: Annotated[int, Field(ge=1, le=1000), NotBoolean] = Field(
        2,
        description=(
            "Seeds with which a model that takes one is fitted on the same split, to tell its own chance "
            "from the split's; 1 leaves that out."
        ),
    )
    model_seeds_every: Count = Field(
        5,
        description="The further model seeds are fitted where the split's seed is a multiple of this.",
    )
    calibration_rows: list[Annotated[int, Field(ge=2, le=10_000_000), NotBoolean]] = Field(
        [],
        description=(
            "Learn each calibrator on so many rows of its part too, to see how many it needs, for example "
            "[20, 50, 100]; none may be more than the part has."
        ),
    )
    ladder: bool = Field(
        False,
        description=(
            "Climb the ladder of `folds` on every split too; it is some dozen fits a split, and most of "
            "the time."
        ),
    )
    window: Share = Field(
        0.7,
        description=(
            "For a split by time: share of the rows, successive in time from a random place on, that one "
            "split is cut from."
        ),
    )

    @model_validator(mode="after")
    def _seeds_exist(self) -> Repeats:
        if self.first_seed + self.splits > SEEDS:
            raise ValueError(
                f"`first_seed` {self.first_seed} and {self.splits} splits lead beyond the last seed, "
                f"{SEEDS - 1}"
            )
        return self
