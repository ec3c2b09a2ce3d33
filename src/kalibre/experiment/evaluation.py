"""The section `evaluation`: on which rows, in which bins and with which numbers a model is measured."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

Unit = Annotated[float, Field(ge=0, le=1), NotBoolean]


class Bins(Block):
    """A bin rule: a number of bins of equal width or equal mass, or edges of one's own."""

    count: Annotated[int, Field(ge=1, le=100_000), NotBoolean] | None = Field(
        None, description="Number of bins."
    )
    rule: Literal["equal_width", "equal_mass"] = Field(
        "equal_width", description="How `count` bins are cut."
    )
    edges: list[Unit] | None = Field(
        None,
        min_length=2,
        description="Edges in rising order instead of `count`; a repeated last edge is a bin of its own.",
    )

    @model_validator(mode="after")
    def _count_or_edges(self) -> Bins:
        if (self.count is None) == (self.edges is None):
            raise ValueError("give either `count` or `edges`")
        if self.edges is not None:
            inner = self.edges[:-1]
            rising = all(a < b for a, b in pairwise(inner))
            if not rising or self.edges[-1] < inner[-1]:
                raise ValueError(
                    f"edges must rise, and only the last one may be repeated; found {self.edges}"
                )
        return self


class Level(Block):
    """Rows are counted whose probability, or confidence max(p, 1 - p), passes a level."""

    of: Literal["probability", "confidence"] = Field(
        "confidence", description="The probability itself, or max(p, 1 - p)."
    )
    above: Unit | None = Field(None, description="Counted are rows strictly above this.")
    at_least: Unit | None = Field(None, description="Counted are rows at or above this.")

    @model_validator(mode="after")
    def _one_bound(self) -> Level:
        if (self.above is None) == (self.at_least is None):
            raise ValueError("give either `above` or `at_least`")
        return self


Count = Annotated[int, Field(ge=0, le=1_000_000), NotBoolean]


class Statistics(Block):
    """How sure the numbers are: null bands, intervals, and readings that do not hang on bins."""

    level: Annotated[float, Field(gt=0, lt=1), NotBoolean] = Field(
        0.95, description="Confidence level of all intervals, a fraction."
    )
    interval: Literal["bca", "percentile"] = Field("bca", description="Kind of bootstrap interval.")
    resamples: Count | None = Field(
        None,
        description=(
            "Bootstrap samples; 0 leaves the intervals out. By default 1000 up to a hundred thousand "
            "rows, and none above."
        ),
    )
    stratified: bool = Field(
        False, description="Keep the number of rows of each outcome when drawing; not with groups."
    )
    line_interval: Literal["wald", "profile"] = Field(
        "wald", description="Interval of calibration intercept and slope."
    )
    simulations: Annotated[int, Field(ge=20, le=1_000_000), NotBoolean] = Field(
        1000, description="Simulated samples behind the null band of an ECE."
    )
    smooth_simulations: Count | None = Field(
        None,
        description=(
            "Simulated samples behind the null band of smooth ECE; 0 leaves it out. By default 100 up "
            "to a hundred thousand rows, and none above."
        ),
    )
    spread: list[Annotated[int, Field(ge=1, le=100_000), NotBoolean]] = Field(
        [5, 10, 15, 20], description="Bin counts of the ECE's spread; empty leaves it out."
    )
    most_rows: Annotated[int, Field(ge=0), NotBoolean] = Field(
        1_000_000,
        description=(
            "Above so many rows of a part only the null bands, the de-biased error, smooth ECE and "
            "Spiegelhalter's z are measured, and that is said: the rest takes many passes over the rows."
        ),
    )
    seed: Annotated[int, Field(ge=0, lt=2**32), NotBoolean] = Field(
        0, description="Seed of all these draws."
    )


class Evaluation(Block):
    """What is measured of every model and calibrator."""

    on: list[Name] | None = Field(
        None,
        min_length=1,
        description="Parts to measure on; by default `test`, else `validation`, else all rows.",
    )
    bins: dict[Name, Bins] = Field(
        {"tenths": Bins(count=10)},
        min_length=1,
        description="Bin rules by name; the name is part of a metric's path.",
    )
    levels: list[Level] = Field(
        [Level(of="confidence", above=0.99)],
        description="Levels at which rows and errors are counted.",
    )
    metrics: list[Name] | None = Field(
        None, min_length=1, description="Metrics to report; by default all in the registry."
    )
    statistics: Statistics = Field(
        Statistics(), description="Null bands, intervals and bin-free readings."
    )
    each_row: bool = Field(
        False,
        description="Also report each row's residual and squared error; for small inline data.",
    )


class DeclaredOverlap(Block):
    """An overlap between two stages' rows that is there on purpose."""

    stages: tuple[
        Literal["fit", "calibrate", "evaluate"], Literal["fit", "calibrate", "evaluate"]
    ] = Field(description="The two stages that use the same rows.")
    part: Name = Field(description="The part whose rows both use.")
    reason: str = Field(
        min_length=1, description="Why; said in the record of every number it touches."
    )

    @model_validator(mode="after")
    def _two_stages(self) -> DeclaredOverlap:
        if self.stages[0] == self.stages[1]:
            raise ValueError("name two different stages")
        return self
