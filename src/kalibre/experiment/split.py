"""The section `split`: which rows a model may learn from, and which it is measured on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean


def _count_or_share(value: Any) -> int | float:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, float) and 0 < value < 1:
        return value
    raise ValueError("a size is a whole number of rows from 1, or a share between 0 and 1")


Size = Annotated[
    int | float,
    BeforeValidator(_count_or_share),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            ]
        }
    ),
]


class Split(Block):
    """Parts are cut one after the other, each from the rows the earlier cuts have left."""

    method: Literal["shuffle", "stratified", "random"] = Field(
        "stratified",
        description=(
            "`shuffle`: the lessons' own shuffle, cut in order; `stratified`: each part has the label's "
            "share; `random`: no regard to the label."
        ),
    )
    seed: Annotated[int, NotBoolean, Field(ge=0, lt=2**32)] | None = Field(
        None,
        description="Seed of the shuffle; by default 0, for subscribers the data's seed + 90000.",
    )
    parts: dict[Name, Size] = Field(
        min_length=1,
        description="Part to number of rows, or to the share of the rows that earlier cuts have left.",
    )
    rest: Name = Field("train", description="The part that gets the remaining rows.")

    @model_validator(mode="after")
    def _rest_is_a_part_of_its_own(self) -> Split:
        if self.rest in self.parts:
            raise ValueError(
                f"`rest` is {self.rest!r}, which `parts` cuts already; name another part"
            )
        return self

    def part_names(self) -> list[str]:
        """All parts, in the order in which they are cut, the rest last."""
        return [*self.parts, self.rest]
