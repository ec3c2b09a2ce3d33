"""The section `models`: which estimators are fitted, on which columns and rows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kalibre.experiment.base import Block, DottedPath, Name, NotBoolean


class Model(Block):
    """A classifier with scikit-learn's interface."""

    estimator: DottedPath = Field(description="Importable path of the estimator's class.")
    params: dict[str, Any] = Field({}, description="Parameters of the estimator.")
    columns: list[str] | None = Field(
        None, min_length=1, description="Columns it learns from; by default the data's."
    )
    standardise: bool = Field(
        False, description="Centre and scale each column by the rows the model learns from."
    )
    learn_on: list[Name] = Field(
        ["train"], min_length=1, description="Parts the model learns from."
    )
    seed: Annotated[int, NotBoolean, Field(ge=0, lt=2**32)] = Field(
        0, description="Given to the estimator as `random_state` where it takes one."
    )
