"""What all preparation works on: a pandas DataFrame with named columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


def named_columns(
    table: Mapping[str, Column], own: Sequence[str] | str | None, usual: Sequence[str]
) -> list[str]:
    """The columns a model sees.

    Parameters
    ----------
    table : mapping of str to Column
        The table.
    own : sequence of str, or {"numeric", "categorical", "all"}, optional
        The model's own choice: columns, or a kind among the usual ones (numbers and booleans are
        numeric, everything else categorical).
    usual : sequence of str
        The data's columns; empty for all of the table's.

    Raises
    ------
    InputError
        If no column is of the kind.
    """
    among = list(usual) or list(table)
    if own is None or own == "all":
        return among
    if not isinstance(own, str):
        return list(own)
    check_columns(among, table, "the table")
    chosen = [name for name in among if _is_numeric(table[name]) == (own == "numeric")]
    if not chosen:
        raise InputError(
            f"models: columns is {own!r}, but the table has no {own} column; its columns are "
            f"{', '.join(among)}"
        )
    return chosen


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


def _is_numeric(column: Column) -> bool:
    return not isinstance(column, Categories) and column.dtype.kind in "biuf"


def _series(column: Column) -> pd.Series:
    if isinstance(column, Categories):
        return pd.Series(pd.Categorical.from_codes(column.codes, pd.Index(column.names)))
    return pd.Series(column)
