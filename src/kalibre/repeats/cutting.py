"""How is the table cut anew for each seed?

By the code of the stage `split_rows`, with the seed in the place of the experiment's own. A split by time has
no seed: there is one way only to put the latest rows last. Its repeats each take another window, so many
successive rows from a random place on, and cut that (the repeated holdout of Cerqueira, Torgo and Mozetič
2020, "Evaluating time series forecasting models"); rows outside the window belong to no part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns, row_count, take_rows
from kalibre.errors import InputError
from kalibre.ordering import moments
from kalibre.splitting import split_rows

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """One split.

    Attributes
    ----------
    row : ndarray of int64
        Positions in the table, in the order in which the split hands the rows on.
    part : Categories
        The part of each.
    """

    row: Positions
    part: Categories

    def rows(self, parts: Sequence[str]) -> Positions:
        """Positions in the table of the rows of some parts, in the split's order."""
        return self.row[self.part.isin(parts)]


class Cutter:
    """Cuts a table again and again.

    Parameters
    ----------
    roles : Columns
        The table's roles.
    split : mapping
        The split as `split_rows` takes it; its seed is not used.
    window : float
        For a split by time: the share of the rows in a window, in (0, 1].

    Raises
    ------
    InputError
        If the split has nothing that a seed could change.
    """

    def __init__(self, roles: Columns, split: Mapping[str, Any], *, window: float = 1.0) -> None:
        if split["method"] == "column":
            raise InputError(
                "repeats: the parts are named by a column, so there is one split only; use another method, "
                "or leave `repeats` out"
            )
        self._roles = roles
        self._split = split
        self._by_time: Positions | None = None
        if split["method"] == "time":
            self._by_time = np.argsort(_times(roles), kind="stable").astype(np.int64)
        self._size = math.ceil(window * row_count(roles))

    def cut(self, seed: int) -> Cut:
        """The split of one seed, 0 <= seed < 2**32.

        Raises
        ------
        InputError
            If the rows cannot be cut into parts of these sizes.
        """
        if self._by_time is not None:
            return self._cut_window(self._by_time, seed)
        parts, _ = split_rows(self._roles, {**self._split, "seed": seed})
        return _as_cut(parts)

    def _cut_window(self, by_time: Positions, seed: int) -> Cut:
        places = len(by_time) - self._size + 1
        start = int(np.random.default_rng(seed).integers(places))
        # In the table's order: an order of their own would decide between rows of one time.
        rows = np.sort(by_time[start : start + self._size])
        try:
            parts, _ = split_rows(take_rows(self._roles, rows), self._split)
        except InputError as error:
            raise InputError(
                f"{error} (repeats cut windows of {len(rows)} rows: `repeats.window`)"
            ) from error
        cut = _as_cut(parts)
        return Cut(rows[cut.row], cut.part)


def _times(roles: Columns) -> NDArray[Any]:
    if "time" not in roles:
        raise InputError("split by time: the data names no column of times")
    times = roles["time"]
    try:
        return moments(times.values() if isinstance(times, Categories) else times)
    except ValueError as error:
        raise InputError(f"split: {error}") from error


def _as_cut(parts: Columns) -> Cut:
    part = parts["part"]
    assert isinstance(part, Categories)
    return Cut(np.asarray(parts["row"]), part)
