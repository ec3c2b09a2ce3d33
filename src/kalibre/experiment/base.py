"""What every section of an experiment file has in common: unknown keys are errors, values are frozen."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
PATH_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$"

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=60)]
"""A name that becomes a folder, a target or part of a metric's path."""

DottedPath = Annotated[str, StringConstraints(pattern=PATH_PATTERN)]
"""The importable path of a class, such as `sklearn.naive_bayes.GaussianNB`."""


Label = str | int | float | bool
"""A value of a column, of any type, as it is written in an experiment file."""


class Block(BaseModel):
    """A section of an experiment file."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def _refuse_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not true or false")
    return value


NotBoolean = BeforeValidator(_refuse_boolean)
"""Pydantic reads `true` as 1 where a number is wanted; an experiment file must not."""


def plain(value: Any) -> Any:
    """Plain built-ins with sorted keys: the same section gives the same value, however it is written."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json"))
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
