"""What all preparation works on: a pandas DataFrame with named columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from kalibre.columns import Categories, Column
from kalibre.errors import InputError, suggestion


def to_frame(columns: Mapping[str, Column], names: Iterable[str] | None = None) -> pd.DataFrame:
    """A table of columns as a frame, rows numbered from 0; `Categories` become categoricals.

    Parameters
    ----------
    columns : mapping of str to Column
        The table.
    names : iterable of str, optional
        The columns wanted, in this order; by default all.

    Raises
    ------
    InputError
        If the table has no column of that name.
    """
    chosen = list(columns) if names is None else list(names)
    check_columns(chosen, columns, "the table")
    return pd.DataFrame({name: _series(columns[name]) for name in chosen})


def check_columns(names: Iterable[str], allowed: Iterable[str], where: str) -> None:
    """Refuse a column that is not there, with the nearest one that is.

    Raises
    ------
    InputError
        Naming the column, where it was looked for, and what is there.
    """
    present = {str(name): None for name in allowed}
    for name in names:
        if name not in present:
            raise InputError(f"{where} has no column {name!r}; {suggestion(name, present)}")


def require_frame(rows: object, step: object) -> pd.DataFrame:
    """The rows as the frame they must be.

    Raises
    ------
    TypeError
        If they are anything else: a step that keeps column names needs column names.
    """
    if not isinstance(rows, pd.DataFrame):
        raise TypeError(
            f"{type(step).__name__} works on a pandas DataFrame, found {type(rows).__name__}"
        )
    return rows


def _series(column: Column) -> pd.Series:
    if isinstance(column, Categories):
        return pd.Series(pd.Categorical.from_codes(column.codes, pd.Index(column.names)))
    return pd.Series(column)
