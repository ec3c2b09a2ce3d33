"""The section `comparisons`: the same measurement before and after a preparation decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from kalibre.errors import suggestion
from kalibre.experiment.base import Block, DottedPath, Name, NotBoolean
from kalibre.experiment.folds import METHOD, Count, Method, Seed
from kalibre.experiment.preparation import Preparation

Copies = Annotated[int, Field(ge=1, le=1000), NotBoolean]


class Estimator(Block):
    """A classifier that variants name."""

    estimator: DottedPath = Field(description="Importable path of the estimator's class.")
    params: dict[str, Any] = Field({}, description="Parameters of the estimator.")
    standardise: bool = Field(
        False, description="Centre and scale each column by the rows the model learns from."
    )
    seed: Seed = Field(
        0, description="Given to the estimator as `random_state` where it takes one."
    )


class Alter(Block):
    """The table spoilt or enriched on purpose, as a whole and before any split."""

    alter: Name = Field(description="Name of the alteration, as in `kalibre.alterations`.")
    seed: Seed = Field(description="Seed of its draws.")
    params: dict[str, Any] = Field({}, description="What it is applied to, and how often.")


class VariantFolds(Block):
    """Measure as the mean over folds."""

    count: Count = Field(5, ge=2, description="Number of folds.")
    repeats: Count = Field(1, description="Times the folds are cut anew.")
    method: Method = Field("stratified", description=f"How the rows are cut. {METHOD}")
    seed: Seed = Field(0, description="Seed of the folds' first repeat.")
    outside: Annotated[int, Field(ge=0), NotBoolean] = Field(
        0, description="Preparation steps, from the first, that are learned once outside the folds."
    )


def _nothing_required(schema: dict[str, Any]) -> None:
    """In the file a side may leave to `both` and `defaults` what it needs."""
    schema.pop("required", None)


class Variant(Block):
    """One side of a comparison."""

    model_config = ConfigDict(json_schema_extra=_nothing_required)

    label: str = Field("", description="A few words for the table.")
    model: Name = Field(description="The model, one of the section's `models`.")
    columns: list[str] = Field(
        min_length=1, description="Columns, or names of `column_sets`, in the model's order."
    )
    alterations: list[Alter] = Field([], description="Alterations of the table, in order.")
    preparation: Preparation = Field([], description="Preparation steps, in order.")
    learned_on: list[Name] = Field(
        ["train"],
        min_length=1,
        description="Parts the model learns from, or the folds are cut from.",
    )
    preparation_learned_on: list[Name] | None = Field(
        None, min_length=1, description="Parts the preparation learns from; by default the model's."
    )
    declared_overlap: str | None = Field(
        None,
        min_length=1,
        description="Why rows are measured that were learned from; without it that is refused.",
    )
    positives_copies: Copies = Field(
        1, description="Times each positive row stands among the rows the model learns from."
    )
    row_orders: Copies = Field(
        1,
        description=(
            "Orders of the same rows in which the model is learned: the rows' own first, then "
            "random ones. Shows how far a result hangs on the order in which sums are taken."
        ),
    )
    measured_on: Name = Field(
        "test", description="The part that is measured, unless `folds` says how."
    )
    folds: VariantFolds | None = Field(
        None, description="Measure as the mean over folds of the rows learned from, not on a part."
    )

    @model_validator(mode="after")
    def _folds_alone(self) -> Variant:
        if self.folds is None:
            return self
        for key in ("preparation_learned_on", "positives_copies", "row_orders"):
            if getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"`folds` says what is learned and measured: leave `{key}` out")
        if self.folds.outside > len(self.preparation):
            raise ValueError(
                f"`folds.outside` is {self.folds.outside}, but the preparation has "
                f"{len(self.preparation)} steps"
            )
        return self


class Comparison(Block):
    """Before and after one decision."""

    name: Name = Field(description="Name of the comparison, part of its metrics' path.")
    title: str = Field("", description="What the row is called in the table.")
    both: dict[str, Any] = Field(
        {}, description="Settings of both sides, unless a side says otherwise."
    )
    before: Variant = Field(description="Without the decision.")
    after: Variant = Field(description="With it.")


class Comparisons(Block):
    """A table of comparisons, one row each."""

    models: dict[Name, Estimator] = Field(min_length=1, description="Models that variants name.")
    column_sets: dict[Name, list[str]] = Field(
        {}, description="Names for lists of columns that several variants use."
    )
    defaults: dict[str, Any] = Field(
        {}, description="Settings of all sides, unless a row or a side says otherwise."
    )
    rows: list[Comparison] = Field(
        min_length=1, description="The comparisons, in the table's order."
    )

    @model_validator(mode="before")
    @classmethod
    def _sides_complete(cls, value: Any) -> Any:
        """Fill every side from `both` and `defaults`, so that each stands for itself."""
        if not isinstance(value, dict) or not isinstance(value.get("rows"), list):
            return value
        defaults = value.get("defaults", {})
        return {**value, "rows": [_filled(row, defaults) for row in value["rows"]]}

    def prepared_sides(self) -> Iterator[tuple[str, bool]]:
        """Each side that prepares columns, and whether it learns that from the part it measures."""
        for row in self.rows:
            for name, side in (("before", row.before), ("after", row.after)):
                if side.preparation:
                    learned = side.preparation_learned_on or side.learned_on
                    outside = side.folds is not None and side.folds.outside > 0
                    measured = side.folds is None and side.measured_on in learned
                    yield f"{row.name} {name}", outside or measured

    @model_validator(mode="after")
    def _names_known(self) -> Comparisons:
        names = [row.name for row in self.rows]
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise ValueError(f"two rows are named {twice!r}; give each a name of its own")
        for row in self.rows:
            for side in (row.before, row.after):
                if side.model not in self.models:
                    raise ValueError(
                        f"row {row.name!r}: no model {side.model!r}; "
                        f"{suggestion(side.model, self.models)}"
                    )
        return self


def _filled(row: Any, defaults: Any) -> Any:
    if not isinstance(row, dict) or not isinstance(defaults, dict):
        return row
    both = row.get("both", {})
    if not isinstance(both, dict):
        return row
    shared = {**defaults, **both}
    sides = {
        side: {**shared, **row[side]}
        for side in ("before", "after")
        if isinstance(row.get(side), dict)
    }
    return {**row, **sides}
