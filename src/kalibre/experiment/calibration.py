"""The section `calibration`: maps from a model's score to a truer probability."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from kalibre.calibrators.registry import OTHER_NAMES
from kalibre.experiment.base import Block, Name
from kalibre.experiment.folds import Count, Method, Seed
from kalibre.scores import OUT_OF_FOLD

NONE = "none"

LEARN_ON = f"; `{OUT_OF_FOLD}` is the model's own training rows, each scored by a model that has not seen it"


def _registered(method: Any) -> Any:
    """The registry's name of a method that is called otherwise elsewhere."""
    return OTHER_NAMES.get(method, method) if isinstance(method, str) else method


class Calibrator(Block):
    """One map, fixed (`none`, `sharpen`) or learned on named parts."""

    method: Annotated[Name, BeforeValidator(_registered)] = Field(
        description=(
            "Name of the map in the registry of calibrators; platt is also found as logistic and sigmoid."
        )
    )
    params: dict[str, Any] = Field({}, description="Parameters of the map.")
    after: Name | None = Field(None, description="The calibrator whose output this one maps.")
    learn_on: list[Name] | None = Field(
        None,
        min_length=1,
        description=f"Parts it is learned on, one calibrator for each; by default the section's{LEARN_ON}.",
    )
    models: list[Name] | None = Field(
        None, min_length=1, description="Models it is applied to; by default all."
    )


class CrossFitting(Block):
    """How training rows are cut into folds, each scored by the model learned on the others."""

    count: Count = Field(5, description="Number of folds.")
    method: Method | None = Field(
        None,
        description=(
            "How the rows are cut, as in the section `folds`; by default `time` where the data names a "
            "time, else `group` where it names a group, else `stratified`."
        ),
    )
    seed: Seed = Field(0, description="Seed of the folds.")


def _names_from_a_list(value: Any) -> Any:
    """A list of methods is short for one calibrator a method, named after it."""
    return {str(m): {"method": m} for m in value} if isinstance(value, list) else value


class _OrAList:
    """The schema of a mapping that may be written as a list of texts."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        texts = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        return {"anyOf": [texts, handler(schema)]}


Calibrators = Annotated[
    dict[Name, Calibrator],
    Field(min_length=1),
    BeforeValidator(_names_from_a_list),
    _OrAList(),
]


class Calibration(Block):
    """Which calibrators are learned, and on which parts."""

    calibrators: Calibrators = Field(
        {NONE: Calibrator(method=NONE)},
        description="A list of methods, or a name for each calibrator with its method and settings.",
    )
    learn_on: list[Name] = Field(
        ["calibration"],
        min_length=1,
        description=f"Parts the calibrators are learned on{LEARN_ON}.",
    )
    folds: CrossFitting = Field(
        CrossFitting(), description=f"The folds of calibrators learned on `{OUT_OF_FOLD}`."
    )
    keep: Name | None = Field(
        None,
        description=(
            "The calibrator whose model is saved for use elsewhere (`none`: the model's own "
            "probabilities); by default the first learned on rows that are not measured, in the order "
            "temperature, platt, isotonic, beta."
        ),
    )

    @model_validator(mode="after")
    def _none_is_what_it_says(self) -> Calibration:
        if NONE in self.calibrators and self.calibrators[NONE].method != NONE:
            raise ValueError("the name `none` is kept for the model's own probabilities")
        return self
