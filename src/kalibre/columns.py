"""A table as plain columns: what the engine passes from stage to stage without a data-frame library.

A column is a one-dimensional array; a column of few distinct strings is a `Categories`: small codes beside
the list of names, so that ten million part names cost ten megabytes and no Python strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Categories:
    """Strings as codes.

    Attributes
    ----------
    codes : ndarray of int32, shape (n,)
        Position of each row's value in `names`; -1 where it is missing.
    names : tuple of str
        The distinct values.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str | None] | NDArray[np.object_]) -> Categories:
        """Encode strings, None where one is missing; names keep the order of first appearance."""
        names = tuple(name for name in dict.fromkeys(values) if name is not None)
        position: dict[str | None, int] = {name: i for i, name in enumerate(names)}
        position[None] = -1
        codes = np.fromiter((position[v] for v in values), dtype=np.int32, count=len(values))
        return cls(codes, names)

    @classmethod
    def constant(cls, name: str, rows: int) -> Categories:
        """The same name in every row."""
        return cls(np.zeros(rows, dtype=np.int32), (name,))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Categories:
        """The chosen rows, names unchanged."""
        return Categories(self.codes[rows], self.names)

    def isin(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """True where the row's value is one of `names`."""
        # The last entry is what a missing value's code, -1, finds.
        wanted = np.array([*(name in names for name in self.names), False], dtype=bool)
        return wanted[self.codes]

    def values(self) -> NDArray[np.object_]:
        """The strings themselves, None where one is missing."""
        return np.array([*self.names, None], dtype=object)[self.codes]


Column = NDArray | Categories
Columns = dict[str, Column]


def row_count(columns: Mapping[str, Column]) -> int:
    """Rows of a table of columns, 0 for a table without columns."""
    return len(next(iter(columns.values()))) if columns else 0


def take_rows(
    columns: Mapping[str, Column], rows: NDArray[np.int64] | NDArray[np.bool_]
) -> Columns:
    """The chosen rows of every column."""
    return {
        name: column.take(rows) if isinstance(column, Categories) else column[rows]
        for name, column in columns.items()
    }


def as_text(value: Any) -> str:
    """A value as a person writes it: 1.0 is `1`, a boolean is `true` or `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
