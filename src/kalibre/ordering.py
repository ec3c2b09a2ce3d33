"""Which rows are alike, and which came first?

A split by label, by group or by time reads one column of the table. Such a column may hold
numbers, dates, text or a mixture of them; here it becomes positions among its distinct values.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def present(values: ArrayLike, what: str) -> NDArray[Any]:
    """The column as an array, if no value is missing.

    Parameters
    ----------
    values : array, shape (n,)
        None, NaN, NaT and pandas' NA are missing.
    what : str
        What a value is called in messages.

    Raises
    ------
    ValueError
        If a value is missing, or the values are not one column.
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"the {what}s must be one column, found an array of shape {given.shape}")
    if given.dtype == object:
        missing = np.fromiter(map(_is_missing, given), dtype=bool, count=len(given))
    else:
        missing = given != given
    if missing.any():
        rows = np.flatnonzero(missing)
        raise ValueError(
            f"{len(rows)} rows have no {what}, the first is row {rows[0]} "
            "(counted from 0); fill them or leave them out"
        )
    return given


def encoded(values: ArrayLike, what: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Each row's position among the distinct values, and these in ascending order.

    Values of types that cannot be compared are put in the order of their text.

    Raises
    ------
    ValueError
        As in `present`.
    """
    given = present(values, what)
    try:
        distinct, codes = np.unique(given, return_inverse=True)
    except TypeError:  # values of several types have no order of their own
        text = np.array([f"{value} {type(value).__name__}" for value in given.tolist()])
        _, first, codes = np.unique(text, return_index=True, return_inverse=True)
        distinct = given[first]
    return codes.astype(np.int64), distinct


def moments(times: ArrayLike) -> NDArray[Any]:
    """The times as numbers or dates, which can be ordered.

    Raises
    ------
    ValueError
        If a value is missing, or is neither a number nor a date nor ISO 8601 text.
    """
    given = present(times, "time")
    if given.dtype.kind in "iufM":
        return given
    return np.array(
        [_moment(row, value) for row, value in enumerate(given.tolist())], dtype="datetime64[us]"
    )


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True


def _moment(row: int, value: Any) -> Any:
    """A date, or a date and time of day without a zone (in UTC if it had one)."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        parsed = None
    if not isinstance(parsed, date):
        raise ValueError(
            f"row {row} (counted from 0) has the time {value!r}; times are numbers, dates or text "
            "like 2024-01-31"
        )
    if isinstance(parsed, datetime) and parsed.tzinfo is not None:
        return parsed.astimezone(UTC).replace(tzinfo=None)
    return parsed
