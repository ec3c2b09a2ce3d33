"""The section `folds`: cross-validation, and the ladder of preparation outside the folds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

Method = Literal["contiguous", "random", "stratified", "group", "time"]
Count = Annotated[int, Field(ge=1, le=1_000_000), NotBoolean]
Seed = Annotated[int, Field(ge=0, lt=2**32), NotBoolean]

METHOD = (
    "`contiguous`: blocks of the pool in its own order, as the lessons cut them; `random`; "
    "`stratified`: each fold has the label's share; `group`: no group in two folds; `time`: "
    "every fold is later than what it learns from."
)


class SingleSplit(Block):
    """One split, measured beside the folds."""

    learn_on: list[Name] = Field(
        ["train"], min_length=1, description="Parts chain and model learn from."
    )
    measure_on: Name = Field("validation", description="The part that is measured.")


class Folds(Block):
    """Every rung of the ladder is measured on the same folds."""

    count: Count = Field(5, description="Number of folds.")
    repeats: Count = Field(1, description="Times the folds are cut anew, each with its own seed.")
    method: Method | None = Field(
        None,
        description=(
            f"How the pool is cut. {METHOD} By default `time` where the data names a time, else "
            "`group` where it names a group, else `stratified`."
        ),
    )
    seed: Seed = Field(
        0, description="Seed of the folds' first repeat; each further repeat adds 1."
    )
    pool: list[Name] | None = Field(
        None,
        min_length=1,
        description="Parts the folds are cut from; by default all but `held_out`.",
    )
    held_out: Name | None = Field(
        None,
        description=(
            "Part no fold and no step sees, measured once for the true number: chain and model "
            "learned on the whole pool; by default `test` where there is one."
        ),
    )
    single_split: SingleSplit | None = Field(
        None, description="One split inside the pool, to set beside the folds."
    )
    models: list[Name] | None = Field(
        None, min_length=1, description="Models that climb the ladder; by default all."
    )
    alone: bool = Field(
        True,
        description=(
            "Measure, besides the first 0 to n steps outside the folds, each step alone outside."
        ),
    )
    level: Annotated[float, Field(gt=0, lt=1), NotBoolean] = Field(
        0.95, description="Confidence level of the intervals of a leak."
    )

    @model_validator(mode="after")
    def _possible(self) -> Folds:
        if self.count < 2 and self.method != "time":
            raise ValueError("`count` must be at least 2: one fold to measure, one to learn from")
        if self.repeats > 1 and self.method in ("contiguous", "time"):
            raise ValueError(
                f"folds by method {self.method!r} can be cut in one way only; leave `repeats` "
                "out, or use random, stratified or group"
            )
        if self.held_out is not None and self.pool is not None and self.held_out in self.pool:
            raise ValueError(
                f"part {self.held_out!r} is in the `pool` and `held_out`; the true number is that "
                "of rows which no fold has seen"
            )
        return self
