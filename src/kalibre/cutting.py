"""One split of a table, by the name of its method and what the table's columns are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre import splits
from kalibre.columns import Categories, Columns
from kalibre.errors import suggestion

METHODS = ("shuffle", "stratified", "random", "group", "time")


def make_split(roles: Columns, split: Mapping[str, Any]) -> splits.Split:
    """Cut a table into parts.

    Parameters
    ----------
    roles : Columns
        What each row is: `outcome`, and for these methods `group` or `time`.
    split : mapping
        `method` (one of `METHODS`), `parts` as pairs of name and size in the order of the cuts, `rest`,
        `seed` (not used by `time`), and for `time` perhaps `rest_is`.

    Raises
    ------
    ValueError
        If there is no such method, the method's column is missing, or the rows cannot be cut so.
    """
    cuts: dict[str, Any] = {"sizes": dict(split["parts"]), "rest": split["rest"]}
    outcome = np.asarray(roles["outcome"])
    match split["method"]:
        case "shuffle":
            return splits.lesson_split(len(outcome), seed=split["seed"], **cuts)
        case "stratified":
            return splits.stratified_split(outcome, seed=split["seed"], **cuts)
        case "random":
            return splits.random_split(len(outcome), seed=split["seed"], **cuts)
        case "group":
            return splits.group_split(_role(roles, "group"), seed=split["seed"], **cuts)
        case "time":
            rest_is = split.get("rest_is", "earliest")
            return splits.time_split(_role(roles, "time"), rest_is=rest_is, **cuts)
    raise ValueError(f"method is {split['method']!r}; {suggestion(split['method'], METHODS)}")


def _role(roles: Columns, name: str) -> np.ndarray:
    if name not in roles:
        raise ValueError(
            f"a split by {name} needs a column that says each row's {name}: data.{name}"
        )
    column = roles[name]
    return column.values() if isinstance(column, Categories) else np.asarray(column)
