"""The section `evaluation`: on which rows, in which bins and with which numbers a model is measured."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

Unit = Annotated[float, NotBoolean, Field(ge=0, le=1)]


class Bins(Block):
    """A bin rule: a number of bins of equal width or equal mass, or edges of one's own."""

    count: Annotated[int, NotBoolean, Field(ge=1, le=100_000)] | None = Field(
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

    of: Literal["probability", "confidence"] = "confidence"
    above: Unit | None = Field(None, description="Counted are rows strictly above this.")
    at_least: Unit | None = Field(None, description="Counted are rows at or above this.")

    @model_validator(mode="after")
    def _one_bound(self) -> Level:
        if (self.above is None) == (self.at_least is None):
            raise ValueError("give either `above` or `at_least`")
        return self


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
