"""One split of a table, by the name of its method and what the table's columns are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre import splits
from kalibre.columns import Categories, Column, Columns
from kalibre.errors import suggestion

METHODS = ("shuffle", "stratified", "random", "group", "time", "column")


def make_split(roles: Columns, split: Mapping[str, Any]) -> splits.Split:
    """Cut a table into parts.

    Parameters
    ----------
    roles : Columns
        What each row is: `outcome`, and for these methods `group`, `time` or `part`.
    split : mapping
        `method` (one of `METHODS`), `parts` as pairs of name and size in the order of the cuts, `rest`,
        `seed` (not used by `time`), and for `time` perhaps `rest_is`. For `column`, in the place of
        `parts` and `seed`, `values` as pairs of part and the values that stand for it.

    Raises
    ------
    ValueError
        If there is no such method, the method's column is missing, or the rows cannot be cut so.
    """
    if split["method"] == "column":
        return _by_column(_column(roles, "part"), dict(split["values"]), split["rest"])
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


def _by_column(column: Column, parts: Mapping[str, list[str]], rest: str | None) -> splits.Split:
    """The part whose value each row has; the rest for all other values, if there is one."""
    found = column if isinstance(column, Categories) else Categories.of(column.tolist())
    part_of = {value: part for part, own in parts.items() for value in own}
    names = [*parts, *([rest] if rest else [])]
    for value in found.names:
        if value not in part_of and rest is None:
            rows = np.flatnonzero(found.isin([value]))
            raise ValueError(
                f"row {rows[0] + 1}: found the part {value!r}, which `split.values` does not name "
                f"({len(rows)} such rows); {suggestion(value, part_of)}"
            )
    place = [names.index(part_of.get(value, rest or "")) for value in found.names]
    for code, name in enumerate(names):
        if code not in place:
            raise ValueError(
                f"part {name!r} has no rows; the column's values are {', '.join(found.names)}"
            )
    codes = np.array(place, dtype=np.int32)[found.codes]
    return splits.column_split(Categories(codes, tuple(names)), names=names)


def _column(roles: Columns, name: str) -> Column:
    if name not in roles:
        raise ValueError(
            f"a split by {name} needs a column that says each row's {name}: data.{name}"
        )
    return roles[name]


def _role(roles: Columns, name: str) -> np.ndarray:
    column = _column(roles, name)
    return column.values() if isinstance(column, Categories) else np.asarray(column)
