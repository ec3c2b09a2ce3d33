"""How is the table cut anew for each seed?

As the experiment cuts it, with the seed in the place of the experiment's own. A split by time has no seed:
there is one way only to put the latest rows last. Its repeats each take another window, so many successive
rows from a random place on, and cut that (the repeated holdout of Cerqueira, Torgo and Mozetič 2020,
"Evaluating time series forecasting models"); rows outside the window belong to no part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns, row_count, take_rows
from kalibre.cutting import make_split
from kalibre.errors import InputError
from kalibre.ordering import moments

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
    seed : int
        The seed it was made with.
    """

    row: Positions
    part: Categories
    seed: int

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
        The split as `make_split` takes it; its seed is not used.
    window : float
        For a split by time: the share of the rows in a window, in (0, 1].

    Raises
    ------
    InputError
        If the split has nothing that a seed could change, or a time is none.
    """

    def __init__(self, roles: Columns, split: Mapping[str, Any], *, window: float = 1.0) -> None:
        if split["method"] == "column":
            raise InputError(
                "repeats: the parts are named by a column, so there is one split only; use another method, "
                "or leave `repeats` out"
            )
        self._roles = roles
        self._split = split
        self._size = math.ceil(window * row_count(roles))
        self._by_time = _by_time(roles) if split["method"] == "time" else None

    def cut(self, seed: int) -> Cut:
        """The split of one seed, 0 <= seed < 2**32.

        Raises
        ------
        InputError
            If the rows cannot be cut into parts of these sizes.
        """
        try:
            if self._by_time is not None:
                return self._cut_window(self._by_time, seed)
            made = make_split(self._roles, {**self._split, "seed": seed})
        except ValueError as error:
            raise InputError(f"split with seed {seed}: {error}") from error
        return Cut(made.order, made.ordered_part(), seed)

    def _cut_window(self, by_time: Positions, seed: int) -> Cut:
        places = len(by_time) - self._size + 1
        start = int(np.random.default_rng(seed).integers(places))
        # In the table's order, which the split keeps between rows of one time.
        rows = np.sort(by_time[start : start + self._size])
        try:
            made = make_split(take_rows(self._roles, rows), self._split)
        except ValueError as error:
            raise ValueError(f"{error} (the window of {len(rows)} rows: repeats.window)") from error
        return Cut(rows[made.order], made.ordered_part(), seed)


def _by_time(roles: Columns) -> Positions:
    """Positions of the rows from the earliest to the latest."""
    times = roles.get("time")
    if times is None:
        raise InputError("a split by time needs a column that says each row's time: data.time")
    try:
        moment = moments(times.values() if isinstance(times, Categories) else times)
    except ValueError as error:
        raise InputError(f"split: {error}") from error
    return np.argsort(moment, kind="stable").astype(np.int64)
