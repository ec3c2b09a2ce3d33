"""What each row of a person's file is: its group, time, weight, part and id.

A role is used by the split and the measures, never by a model; so a row without a value, or a value that
cannot be used, is refused here, with its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.arrow import from_arrow, numbers, numbers_in_place, times
from kalibre.columns import Categories, Column, Columns
from kalibre.data.kinds import as_categories, first_missing, row_number, sorted_categories
from kalibre.data.own_files import OwnFile
from kalibre.errors import InputError
from kalibre.ordering import moments

ROLES = ("id", "group", "time", "weight", "part")
NAMES = ("group", "part")
"""Roles whose values are names, even where they look like numbers: 01 is not 1."""


def role_columns(data: Mapping[str, Any]) -> dict[str, str]:
    """Role to the column that has it, for the roles that a section `data` names."""
    return {role: data[role] for role in ROLES if data.get(role) is not None}


def read_roles(
    values: Mapping[str, Any], named: Mapping[str, str], file: OwnFile
) -> tuple[Columns, tuple[str, ...]]:
    """The roles' columns, checked.

    Parameters
    ----------
    values : mapping of str to pyarrow.Array
        Column to its values.
    named : mapping of str to str
        Role to column, as `role_columns` gives it.
    file : OwnFile
        The file they come from.

    Returns
    -------
    Columns
        `group` and `part` as categories, `time` as numbers or datetime64, `weight` as floats, `id` as
        whole numbers or categories.
    tuple of str
        What there is to say.

    Raises
    ------
    InputError
        Naming file, column, row and value.
    """
    roles: Columns = {}
    notes: list[str] = []
    for role, column in named.items():
        where = f"{file.name}: column {column!r} (`data.{role}`)"
        gap = first_missing(values[column])
        if gap is not None:
            raise InputError(
                f"{where}, row {gap}: found no value; every row needs its {role}: fill it in or delete "
                "the row"
            )
        roles[role] = _CONVERSIONS[role](values[column], where)
    if "weight" in roles:
        roles["weight"], said = _scaled(np.asarray(roles["weight"]), named["weight"])
        notes += said
    if "id" in roles and "group" not in roles:
        notes += _repeated_ids(roles["id"], named["id"])
    return roles, tuple(notes)


def _id(values: Any, where: str) -> Column:
    if str(values.type) in ("int64", "int32"):
        return numbers(values).astype(np.int64)
    return as_categories(values)


def _group(values: Any, where: str) -> Categories:
    groups = sorted_categories(as_categories(values))
    if len(groups.names) == 1:
        raise InputError(
            f"{where}: all rows ({len(groups)}) belong to the group {groups.names[0]!r}; groups are there "
            "to be kept apart, so name a column with several, or leave it out"
        )
    return groups


def _part(values: Any, where: str) -> Categories:
    return sorted_categories(as_categories(values))


def _weight(values: Any, where: str) -> NDArray[np.float64]:
    weights = as_floats(values, where, "a number of at least 0")
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        row = row_number(wrong)
        raise InputError(
            f"{where}, row {row}: found {weights[row - 1]:g}; a weight is a finite number of at least 0"
        )
    if not weights.any():
        raise InputError(f"{where}: every weight is 0; at least one row must count")
    return weights


def _scaled(weights: NDArray[np.float64], column: str) -> tuple[NDArray[np.float64], list[str]]:
    """Whole numbers are numbers of repeated rows; others say what a row is worth beside others, not how many.

    Scaled to a mean of 1 they leave the number of rows what it is, on which a calibrator's smoothing and the
    correction of a bias depend.
    """
    if np.array_equal(weights, np.floor(weights)):
        return weights, []
    said = (
        f"the weights in {column!r} are not whole numbers, so they are no numbers of repeated rows: they are "
        f"scaled to a mean of 1 (it was {weights.mean():.4g})"
    )
    return weights / weights.mean(), [said]


def _time(values: Any, where: str) -> Column:
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return times(values)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numbers(values)
    for row, value in enumerate(as_categories(values).values().tolist(), start=1):
        try:
            moments(np.array([value], dtype=object))
        except ValueError:
            raise InputError(
                f"{where}, row {row}: found {value!r}; a time is a number, a date like 2024-01-31 or a "
                "date and time like 2024-01-31 18:00: write the column so"
            ) from None
    return moments(as_categories(values).values())


_CONVERSIONS = {"id": _id, "group": _group, "time": _time, "weight": _weight, "part": _part}


def as_floats(values: Any, where: str, allowed: str) -> NDArray[np.float64]:
    """A column of numbers as floats, NaN where one is missing.

    Raises
    ------
    InputError
        Naming the first row whose value is no number.
    """
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    if pa.types.is_null(values.type):
        return np.full(len(values), np.nan)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        found = numbers(values) if values.null_count else numbers_in_place(values)
        return np.asarray(found, dtype=np.float64)
    texts = from_arrow(values) if pa.types.is_boolean(values.type) else as_categories(values)
    if isinstance(texts, Categories):
        wrong = np.array([*(not _reads_as_number(text) for text in texts.names), False])
        marked = wrong[texts.codes]
        shown = texts.values()[int(np.argmax(marked))] if marked.any() else texts.names[0]
        row = row_number(marked) if marked.any() else 1
    else:
        row, shown = 1, bool(texts[0])
    raise InputError(f"{where}, row {row}: found {shown!r}; allowed is {allowed}{_hint(shown)}")


def _hint(shown: Any) -> str:
    text = str(shown).strip()
    if text.endswith("%"):
        return f"; write {text} as a share, without the percent sign"
    if text.count(",") == 1 and _reads_as_number(text.replace(",", ".")):
        return "; write numbers with a decimal point"
    return ""


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _repeated_ids(ids: Column, column: str) -> list[str]:
    codes = ids.codes if isinstance(ids, Categories) else ids
    repeated = len(codes) - len(np.unique(codes))
    if not repeated:
        return []
    return [
        (
            f"{repeated} rows repeat an id of column {column!r}; if rows of one id belong together, name "
            "the column as `group` too, so that no split parts them"
        )
    ]
