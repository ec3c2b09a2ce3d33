"""The section `models`: which estimators are fitted, on which columns and rows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, DottedPath, Name, NotBoolean
from kalibre.experiment.preparation import StepColumns

PIPELINE = "sklearn.pipeline.Pipeline"


class Member(Block):
    """One estimator of a pipeline."""

    estimator: DottedPath = Field(description="Importable path of the estimator's class.")
    params: dict[str, Any] = Field({}, description="Parameters of the estimator.")
    name: Name | None = Field(
        None,
        description="What the pipeline calls it; by default its class's name in small letters.",
    )


class Model(Block):
    """A classifier with scikit-learn's interface."""

    estimator: DottedPath | None = Field(
        None, description="Importable path of the estimator's class."
    )
    params: dict[str, Any] = Field(
        {},
        description=(
            "Parameters of the estimator; one that is an estimator is written {estimator: PATH, params: "
            "...}."
        ),
    )
    steps: list[Member] | None = Field(
        None,
        min_length=1,
        description=(
            "Instead of `estimator`: the members of a pipeline in order, transformers and at the end the "
            "classifier."
        ),
    )
    columns: StepColumns | None = Field(
        None,
        description=(
            "Columns it learns from: a list, or `numeric`, `categorical` or `all` of the data's; by "
            "default all of the data's."
        ),
    )
    standardise: bool = Field(
        False, description="Centre and scale each column by the rows the model learns from."
    )
    learn_on: list[Name] = Field(
        ["train"], min_length=1, description="Parts the model learns from."
    )
    seed: Annotated[int, Field(ge=0, lt=2**32), NotBoolean] = Field(
        0, description="Given to the estimator as `random_state` where it takes one."
    )

    @model_validator(mode="before")
    @classmethod
    def _pipeline_from_steps(cls, value: Any) -> Any:
        """Steps are short for scikit-learn's pipeline of them."""
        if not isinstance(value, dict) or "steps" not in value:
            return value
        if "estimator" in value or "params" in value:
            raise ValueError("give either `estimator` (with its `params`) or `steps`")
        members = _named(value["steps"]) if isinstance(value["steps"], list) else []
        return {**value, "estimator": PIPELINE, "params": {"steps": members}}

    @model_validator(mode="after")
    def _has_an_estimator(self) -> Model:
        if self.estimator is None:
            raise ValueError("`estimator` is missing: the path of a classifier's class, or `steps`")
        return self

    def step_paths(self) -> list[str]:
        """The paths of the transformers before its classifier."""
        return [member.estimator for member in (self.steps or [])[:-1]]


def _named(steps: list[Any]) -> list[list[Any]]:
    """Each step with a name of its own, as the pipeline takes them."""
    named: list[list[Any]] = []
    for step in steps:
        if not isinstance(step, dict):
            continue
        name = step.get("name") or str(step.get("estimator", "")).rpartition(".")[2].lower()
        count = sum(other.rpartition("_")[0] == name or other == name for other, _ in named)
        member = {"estimator": step.get("estimator"), "params": step.get("params", {})}
        named.append([f"{name}_{count + 1}" if count else name, member])
    return named
