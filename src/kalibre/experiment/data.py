"""The section `data`: where the rows come from, and what each column is for."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from kalibre.data.biopsies import MEANS
from kalibre.experiment.base import NAME_PATTERN, Block, Label, Name, NotBoolean

SUBSCRIBER_COLUMNS = (
    "mean_consumption",
    "volatility",
    "household",
    "satisfaction",
    "periods",
    "zero_reading",
    "per_person",
    "region_north",
    "region_south",
    "region_east",
    "region_west",
    "region_centre",
)


class Subscribers(Block):
    """The lessons' synthetic subscribers; the label says which of them are suspicious."""

    source: Literal["subscribers"] = Field(description="The lessons' synthetic subscribers.")
    seed: Annotated[int, Field(ge=0, lt=2**32), NotBoolean] = Field(
        20260218, description="Seed of every stream of the generator."
    )
    candidates: Annotated[int, Field(ge=1, le=10_000_000), NotBoolean] = Field(
        1400,
        description="Subscribers drawn before those without a record or a reading are dropped.",
    )
    columns: list[str] = Field(
        list(SUBSCRIBER_COLUMNS),
        min_length=1,
        description="Columns the models learn from, in order.",
    )


class Biopsies(Block):
    """The breast-cancer biopsies that scikit-learn ships; the label says which are malignant."""

    source: Literal["biopsies"] = Field(description="The biopsies that scikit-learn ships.")
    columns: list[str] = Field(
        list(MEANS),
        min_length=1,
        description="Measurements the models learn from, in order.",
    )


Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), NotBoolean]
Logit = Annotated[float, Field(allow_inf_nan=False), NotBoolean]
Outcome = Annotated[int, Field(ge=0, le=1), NotBoolean]


class InlineModel(Block):
    """One model's predictions, written in the experiment file."""

    probability: list[Probability] | None = Field(
        None, min_length=1, description="Probability of the positive outcome, one a row."
    )
    logit: list[Logit] | None = Field(
        None, min_length=1, description="The same on the logit scale, instead of `probability`."
    )
    outcome: list[Outcome] = Field(min_length=1, description="What happened: 1 or 0, one a row.")

    @model_validator(mode="after")
    def _one_score_a_row(self) -> InlineModel:
        if (self.probability is None) == (self.logit is None):
            raise ValueError("give either `probability` or `logit`")
        name = "logit" if self.probability is None else "probability"
        score = self.probability or self.logit or []
        if len(score) != len(self.outcome):
            raise ValueError(
                f"`{name}` has {len(score)} values and `outcome` has {len(self.outcome)}; "
                "they go together, one a row"
            )
        return self


ROLES = ("id", "group", "time", "weight", "part")

File = Annotated[str, Field(min_length=1)]
FILE = "A CSV or Parquet file; its path is relative to the project's folder, or absolute."
Column = Annotated[str, Field(min_length=1)]
Positive = Annotated[
    Label | None,
    Field(
        description=(
            "The label that counts as 1, whatever its type; may be left out where the labels are 0 and 1, "
            "or false and true."
        )
    ),
]


def _codec(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(
            "no such encoding; usual ones are utf-8, latin-1, cp1252, utf-16"
        ) from None
    return name


def _one_byte(delimiter: str) -> str:
    if len(delimiter.encode()) != 1 or delimiter in "\r\n":
        raise ValueError("a separator is one character, such as ';'; a tab is written \"\\t\"")
    return delimiter


class InFile(Block):
    """What sections that read a person's file have in common: the file, and what a row is."""

    positive: Positive = None
    id: Column | None = Field(None, description="The column that names each row.")
    group: Column | None = Field(
        None, description="The column that says which rows belong together, such as a household."
    )
    time: Column | None = Field(
        None, description="The column that says when a row was: numbers, or dates like 2024-01-31."
    )
    weight: Column | None = Field(
        None,
        description="The column that says how much a row counts; by default all rows count alike.",
    )
    part: Column | None = Field(
        None, description="The column that names each row's part, for a split by method `column`."
    )
    missing: list[str] = Field(
        [],
        description="Values that stand for no value, besides those usual in CSV files (NA, NaN ...).",
    )
    encoding: Annotated[str, AfterValidator(_codec)] | None = Field(
        None, description="Encoding of a text file; by default UTF-8."
    )
    delimiter: Annotated[str, AfterValidator(_one_byte)] | None = Field(
        None,
        description="What separates the columns of a text file; by default found in its first rows.",
    )

    def roles(self) -> dict[str, str]:
        """Role to the column that has it."""
        return {role: getattr(self, role) for role in ROLES if getattr(self, role) is not None}


class OwnTable(InFile):
    """A table of one's own: rows with a label, and columns that models learn from."""

    source: Literal["table"] = Field(description="A table of one's own.")
    file: File = Field(description=FILE)
    target: Column = Field(description="The column that holds the label.")
    columns: list[Column] | None = Field(
        None,
        min_length=1,
        description="Columns models learn from, in order; by default all that have no other role.",
    )
    leave_out: list[Column] = Field([], description="Columns no model gets to see.")
    kinds: dict[Column, Literal["number", "category"]] = Field(
        {},
        description=(
            "The kind of a column where it is not what its values look like, such as `category` for post "
            "codes."
        ),
    )

    @model_validator(mode="after")
    def _one_use_a_column(self) -> OwnTable:
        used = {self.target: "target"}
        for role, column in self.roles().items():
            # A group may be named by the ids themselves.
            if used.get(column, "id") != "id" or (column in used and role != "group"):
                raise ValueError(f"`{role}` is {column!r}, which is the `{used[column]}` already")
            used[column] = role
        for column in self.columns or []:
            if column in used:
                raise ValueError(
                    f"`columns` names {column!r}, which is the `{used[column]}`: a model must not see it"
                )
            if column in self.leave_out:
                raise ValueError(
                    f"{column!r} stands in `columns` and in `leave_out`; keep one of them"
                )
        twice = next(
            (c for i, c in enumerate(self.columns or []) if c in (self.columns or [])[:i]), None
        )
        if twice is not None:
            raise ValueError(f"`columns` names {twice!r} twice")
        return self


def _by_name(value: Any) -> Any:
    """A column, or a list of them, is short for models named after their columns."""
    if isinstance(value, str):
        return {value if re.fullmatch(NAME_PATTERN, value) else "model": value}
    if isinstance(value, list) and all(isinstance(column, str) for column in value):
        twice = next((c for i, c in enumerate(value) if c in value[:i]), None)
        if twice is not None:
            raise ValueError(f"column {twice!r} is named twice")
        return {column: column for column in value}
    return value


def _labels_by_name(value: Any) -> Any:
    """A list of models is short for models that the file calls so too."""
    if isinstance(value, list):
        return {str(label): label for label in value}
    return value


ScoreColumns = Annotated[
    dict[Name, Column],
    BeforeValidator(_by_name),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
            ]
        }
    ),
]


class Predictions(InFile):
    """Probabilities that exist already, in a file or written here: nothing is fitted."""

    source: Literal["predictions"] = Field(description="Predictions that exist already.")
    inline: dict[Name, InlineModel] | None = Field(
        None, min_length=1, description="Each model's probabilities and outcomes."
    )
    file: File | None = Field(None, description=FILE)
    outcome: Column | None = Field(
        None, description="The file's column that says what happened, as labels."
    )
    probability: ScoreColumns | None = Field(
        None,
        description=(
            "The file's column of probabilities, or one for each model: a list, or model to column. "
            "Probabilities are of the positive outcome, from 0 to 1."
        ),
    )
    logit: ScoreColumns | None = Field(
        None, description="Columns on the logit scale, instead of or besides `probability`."
    )
    model: Column | None = Field(
        None,
        description="In a file with one row a model and case: the column that names the model.",
    )
    models: (
        Annotated[
            dict[Name, Label],
            BeforeValidator(_labels_by_name),
            Field(min_length=1),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"type": "array", "minItems": 1},
                        {"type": "object", "minProperties": 1},
                    ]
                }
            ),
        ]
        | None
    ) = Field(
        None,
        description="The models to take from the column `model`: a list, or name to what stands there.",
    )

    @model_validator(mode="after")
    def _file_or_inline(self) -> Predictions:
        if (self.inline is None) == (self.file is None):
            found = "both are given" if self.file is not None else "both are missing"
            raise ValueError(f"the predictions stand in a `file` or `inline`; {found}, give one")
        if self.inline is not None:
            given = set(self.model_fields_set) - {"source", "inline"}
            if given:
                raise ValueError(f"`{min(given)}` goes with `file`; leave it out beside `inline`")
            return self
        if self.outcome is None:
            raise ValueError("`outcome` is missing: the column that says what happened")
        if not self.probability and not self.logit:
            raise ValueError(
                "give `probability` or `logit`: the columns with the models' predictions"
            )
        self._check_names()
        return self

    def _check_names(self) -> None:
        scored = [*(self.probability or {}), *(self.logit or {})]
        both = next((name for i, name in enumerate(scored) if name in scored[:i]), None)
        if both is not None:
            raise ValueError(f"model {both!r} has a `probability` and a `logit`; keep one of them")
        if (self.model is None) != (self.models is None):
            raise ValueError("`model` (a column) and `models` (its values to take) go together")
        if self.model is not None and len(scored) > 1:
            raise ValueError(
                "with a column `model` all predictions stand in one column: name one as `probability` or "
                "`logit`"
            )

    def model_names(self) -> list[str]:
        """The models whose predictions these are."""
        if self.inline is not None:
            return sorted(self.inline)
        return sorted(self.models or [*(self.probability or {}), *(self.logit or {})])


Data = Annotated[Subscribers | Biopsies | OwnTable | Predictions, Field(discriminator="source")]


def natural_method(data: Block) -> Literal["time", "group", "stratified"]:
    """How rows are cut where nobody says it: by time or group where the data names one."""
    named = data.roles() if isinstance(data, InFile) else {}
    if "time" in named:
        return "time"
    return "group" if "group" in named else "stratified"
