"""The section `split`: which rows a model may learn from, and which it is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from kalibre.columns import as_text
from kalibre.experiment.base import Block, Label, Name, NotBoolean


def _count_or_share(value: Any) -> int | float:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, float) and 0 < value < 1:
        return value
    raise ValueError("a size is a whole number of rows from 1, or a share between 0 and 1")


def _values_by_part(value: Any) -> Any:
    """A list of parts is short for parts that the column calls so too; one value for a list of one."""
    if isinstance(value, list):
        return {str(part): [part] for part in value}
    if isinstance(value, dict):
        return {part: v if isinstance(v, list) else [v] for part, v in value.items()}
    return value


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


Values = Annotated[
    dict[Name, list[Label]],
    BeforeValidator(_values_by_part),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"type": "object", "minProperties": 1},
            ]
        }
    ),
]

REST = "train"
TIME = "time"
COLUMN = "column"


class Split(Block):
    """Parts are cut one after the other, each from the rows the earlier cuts have left."""

    method: Literal["shuffle", "stratified", "random", "group", "time", "column"] | None = Field(
        None,
        description=(
            "`shuffle`: the lessons' own shuffle, cut in order; `stratified`: each part has the label's "
            "share; `random`: no regard to the label; `group`: no group in two parts; `time`: no part "
            "overlaps another in time; `column`: as the column `data.part` says. By default `time` where "
            "the data names a time, else `group` where it names a group, else `stratified`."
        ),
    )
    seed: Annotated[int, Field(ge=0, lt=2**32), NotBoolean] | None = Field(
        None,
        description="Seed of the shuffle; by default 0, for subscribers the data's seed + 90000.",
    )
    parts: dict[Name, Size] | None = Field(
        None,
        min_length=1,
        description=(
            "Part to number of rows, or to the share of the rows that earlier cuts have left. By time, "
            "the latest rows are cut first where the rest is learned from, else the earliest."
        ),
    )
    values: Values | None = Field(
        None,
        description=(
            "For method `column`: the parts, as a list if the column calls them so too, or part to the "
            "values that stand for it."
        ),
    )
    rest: Name | None = Field(
        None,
        description=(
            "The part that gets the remaining rows; by default `train`. For method `column` the rows of "
            "all other values; by default there must be none."
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def _rest_by_default(cls, value: Any) -> Any:
        cut = isinstance(value, dict) and value.get("method") != COLUMN
        return {"rest": REST, **value} if cut else value

    @model_validator(mode="after")
    def _cuts_or_values(self) -> Split:
        by_column = self.method == COLUMN
        unwanted = "parts" if by_column else "values"
        if getattr(self, unwanted) is not None:
            raise ValueError(
                f"`{unwanted}` does not go with method {self.method!r}; give "
                f"`{'values' if by_column else 'parts'}`"
            )
        if not self._named():
            raise ValueError(
                "`values` is missing: the names of the parts"
                if by_column
                else "`parts` is missing: part to its number or share of rows"
            )
        if self.rest in self._named():
            raise ValueError(
                f"`rest` is {self.rest!r}, which `{'values' if by_column else 'parts'}` cuts already; name "
                "another part"
            )
        return self

    def part_names(self) -> list[str]:
        """All parts, in the order in which they are cut, the rest last."""
        return [*self._named(), *([self.rest] if self.rest else [])]

    def in_time(self, rest_is: Literal["earliest", "latest"]) -> list[str]:
        """The parts of a split by time, the earliest first."""
        cut = self._named()
        rest = [self.rest] if self.rest else []
        return [*rest, *reversed(cut)] if rest_is == "earliest" else [*cut, *rest]

    def settings(self) -> dict[str, Any]:
        """What the stage needs besides method and seed, the cuts in their order."""
        if self.values is not None:
            named = [[name, [as_text(v) for v in vs]] for name, vs in self.values.items()]
            return {"values": named, "rest": self.rest}
        cuts = self.parts or {}
        return {"parts": [[name, size] for name, size in cuts.items()], "rest": self.rest}

    def _named(self) -> list[str]:
        return list(self.parts or self.values or [])


def time_order_mistake(in_time: Sequence[str], learned: set[str], measured: set[str]) -> str | None:
    """Why a split by time would measure rows earlier than some that are learned from, or None.

    Parameters
    ----------
    in_time : sequence of str
        The parts, the earliest first.
    learned, measured : set of str
        Parts that a model or calibrator learns from, and parts it is measured on. A part in both is an
        overlap, which is declared or refused as such.
    """
    last = max(learned, key=in_time.index, default=in_time[0])
    for part in sorted(measured - learned, key=in_time.index):
        if in_time.index(part) < in_time.index(last):
            return (
                f"by time, part {part!r} would lie before {last!r}, which is learned from, and measuring "
                f"it would look back; in time the parts are {', '.join(in_time)}. Write the latest part "
                "first under `parts`, with the earliest one as `rest`"
            )
    return None
