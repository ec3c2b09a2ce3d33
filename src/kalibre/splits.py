"""Which rows may a model learn from, and which is it measured on?

Every function here cuts a table into named parts and says two things: the part of each row, and the
order in which the rows are handed on. The order counts: the lessons cut contiguous blocks of the
shuffled rows into folds, and a sum of floating-point numbers hangs in its last bits on the order
of its terms.

Sizes are the same everywhere: the parts are cut one after the other; a whole number is a count of
rows, **a fraction is a share of the rows that the earlier cuts have left** (rounded up, as
scikit-learn does), and the part `rest` gets what remains at the end. So ``{"test": 0.2,
"calibration": 0.25}`` gives 20 %, 20 % and a rest of 60 %. What came of it is in `Split.counts`.

Sources: the shuffle ``karistir`` of the subscriber lessons; the two stratified cuts of the biopsy
lesson's study.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.columns import Categories
from kalibre.data.streams import sequence
from kalibre.errors import suggestion
from kalibre.ordering import encoded, moments, present
from kalibre.stratified import stratified_cut

Size = int | float
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """A table's rows, each in one part.

    Attributes
    ----------
    order : ndarray of int64, shape (n,)
        Positions in the table, each once, in the order in which rows are handed on.
    part : Categories of length n
        The part of each row of the table (by position in the table, not in `order`).
    notes : tuple of str
        What whoever asked for the split should know of it.
    """

    order: Positions
    part: Categories
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The parts, in the order in which they were cut."""
        return self.part.names

    def __len__(self) -> int:
        return len(self.order)

    def rows(self, *names: str) -> Positions:
        """Positions in the table of one part's rows (or of several), in the split's order.

        Raises
        ------
        ValueError
            If there is no part of that name.
        """
        for name in names:
            if name not in self.names:
                raise ValueError(f"no part {name!r}; {suggestion(name, self.names)}")
        return self.order[self.part.isin(names)[self.order]]

    def ordered_part(self) -> Categories:
        """The part of each row of `order`."""
        return self.part.take(self.order)

    def counts(self) -> dict[str, int]:
        """Rows of each part."""
        counted = np.bincount(self.part.codes, minlength=len(self.names))
        return dict(zip(self.names, counted.tolist(), strict=True))

    def one_class_notes(self, outcomes: ArrayLike) -> tuple[str, ...]:
        """A sentence for each part in which all outcomes are equal.

        Such a part is allowed, but it has no ROC AUC and a model cannot learn from it.
        """
        outcomes = np.asarray(outcomes)
        said = []
        for name, count in self.counts().items():
            values = np.unique(outcomes[self.rows(name)])
            if len(values) == 1:
                said.append(f"part {name!r}: all {count} rows have the outcome {values[0]}")
        return tuple(said)


def shuffle_order(count: int, *, seed: int) -> Positions:
    """Positions 0 to `count` - 1 as the lessons shuffle them.

    Swaps from the end (Fisher and Yates), one draw of the hash-seeded stream each. The lessons use
    the seed of their table plus 90000.
    """
    order = list(range(count))
    ends = np.arange(count, 1, -1, dtype=np.int64)
    others = (sequence(seed, len(ends)) * ends).astype(np.int64)
    for last, other in zip((ends - 1).tolist(), others.tolist(), strict=True):
        order[last], order[other] = order[other], order[last]
    return np.array(order, dtype=np.int64)


def lesson_split(count: int, *, seed: int, sizes: Mapping[str, Size], rest: str) -> Split:
    """The subscriber lessons' split: shuffled, then cut into contiguous blocks.

    Parameters
    ----------
    count : int
        Rows of the table.
    seed : int
        Seed of the shuffle itself; see `shuffle_order`.
    sizes : mapping of str to int or float
        Sizes, in the order in which they are cut (the lessons': train 756, validation 252).
    rest : str
        The part of the remaining rows (the lessons': test).

    Raises
    ------
    ValueError
        If a size is impossible.
    """
    _check_sizes(sizes, rest)
    return _cut_blocks_of_rows(shuffle_order(count, seed=seed), sizes, rest)


def random_split(count: int, *, seed: int, sizes: Mapping[str, Size], rest: str) -> Split:
    """Rows drawn without regard to anything, by NumPy's default generator from `seed`.

    Parameters and errors are those of `lesson_split`; 0 <= `seed` < 2**32.
    """
    _check_sizes(sizes, rest)
    order = np.random.default_rng(_check_seed(seed)).permutation(count)
    return _cut_blocks_of_rows(order.astype(np.int64), sizes, rest)


def stratified_split(
    labels: ArrayLike, *, seed: int, sizes: Mapping[str, Size], rest: str
) -> Split:
    """Each part has each label's share, as nearly as whole rows allow.

    Every cut is scikit-learn's ``train_test_split(..., stratify=labels, random_state=seed)`` with
    the same seed, rows in the order it returns them.

    Parameters
    ----------
    labels : array, shape (n,)
        What the parts are balanced by; no missing values.
    seed : int
        0 <= seed < 2**32.
    sizes, rest
        As in `lesson_split`.

    Raises
    ------
    ValueError
        If a size is impossible, or a label has too few rows to be in both sides of a cut.
    """
    _check_sizes(sizes, rest)
    codes, values = encoded(labels, "label")
    left = np.arange(len(codes), dtype=np.int64)
    blocks = []
    for i, (name, size) in enumerate(sizes.items()):
        later = [*list(sizes)[i + 1 :], rest]
        wanted = _rows_of(name, size, len(left), later)
        _check_strata(name, wanted, codes[left], values, later)
        kept, cut = stratified_cut(codes[left], wanted=wanted, seed=_check_seed(seed))
        blocks.append(left[cut])
        left = left[kept]
    return _joined([*blocks, left], [*sizes, rest])


def group_split(groups: ArrayLike, *, seed: int, sizes: Mapping[str, Size], rest: str) -> Split:
    """No group has rows in two parts.

    The groups are put in a random order, which is cut where the rows come nearest to the sizes
    asked. The rows of a group stay together in the split's order.

    Parameters
    ----------
    groups : array, shape (n,)
        The group of each row; no missing values.
    seed : int
        0 <= seed < 2**32.
    sizes, rest
        As in `lesson_split`; sizes are in rows.

    Raises
    ------
    ValueError
        If a size is impossible, a group is missing, or there are fewer groups than parts.
    """
    _check_sizes(sizes, rest)
    codes, values = encoded(groups, "group")
    order = np.random.default_rng(_check_seed(seed)).permutation(len(values))
    return _cut_whole_blocks(np.argsort(order)[codes], sizes, rest, unit="group")


def time_split(
    times: ArrayLike,
    *,
    sizes: Mapping[str, Size],
    rest: str,
    rest_is: Literal["earliest", "latest"] = "earliest",
) -> Split:
    """No part overlaps another in time, and rows of one time are never parted.

    Parameters
    ----------
    times : array, shape (n,)
        Numbers or dates (also ISO 8601 text); no missing values.
    sizes : mapping of str to int or float
        Sizes in rows, cut where the rows come nearest to them.
    rest : str
        The part of the remaining rows.
    rest_is : {"earliest", "latest"}
        With the rest earliest, the first part named is the latest one, the next the one before it,
        and so on: ``sizes={"test": 0.2}, rest="train"``. With the rest latest, the first part
        named is the earliest: ``sizes={"train": 0.8}, rest="test"``.

    Returns
    -------
    Split
        In order of time; `notes` has each part's first and last time.

    Raises
    ------
    ValueError
        If a size is impossible, a time is missing or is neither a number nor a date, or there are
        fewer different times than parts.
    """
    if rest_is not in ("earliest", "latest"):
        raise ValueError(f"rest_is is {rest_is!r}; allowed: 'earliest', 'latest'")
    _check_sizes(sizes, rest)
    when = moments(times)
    codes, values = encoded(when, "time")
    blocks = codes if rest_is == "latest" else len(values) - 1 - codes
    cut = _cut_whole_blocks(blocks, sizes, rest, unit="time")
    order = np.argsort(codes, kind="stable").astype(np.int64)
    shown = _coarsest(when)
    spans = tuple(
        f"part {name!r}: {shown[rows].min()} to {shown[rows].max()}"
        for name, rows in ((name, cut.rows(name)) for name in cut.names)
    )
    return Split(order, cut.part, cut.notes + spans)


def _coarsest(when: NDArray[Any]) -> NDArray[Any]:
    """Dates without a time of day where none has one, else to the second; numbers as they are."""
    if when.dtype.kind != "M":
        return when
    days = when.astype("datetime64[D]")
    return days if (days == when).all() else when.astype("datetime64[s]")


def column_split(values: ArrayLike | Categories, *, names: Sequence[str] | None = None) -> Split:
    """The parts that a column of the table names; rows stay in the table's order.

    Parameters
    ----------
    values : array, shape (n,), or Categories
        The part's name in each row.
    names : sequence of str, optional
        The parts there have to be. By default those that occur, in order of appearance.

    Raises
    ------
    ValueError
        If a row has no part, a name that is not in `names`, or a part of `names` has no rows.
    """
    found = values if isinstance(values, Categories) else _as_parts(values)
    order = np.arange(len(found), dtype=np.int64)
    if names is None:
        return Split(order, found)
    for code, name in enumerate(found.names):
        if name not in names:
            where, hint = int(np.argmax(found.codes == code)), suggestion(name, names)
            raise ValueError(f"row {where} (counted from 0) has the part {name!r}; {hint}")
    for name in names:
        if not found.isin([name]).any():
            raise ValueError(f"part {name!r} has no rows; the column has {', '.join(found.names)}")
    position = np.array([list(names).index(name) for name in found.names], dtype=np.int32)
    return Split(order, Categories(position[found.codes], tuple(names)))


def _as_parts(values: ArrayLike) -> Categories:
    text = [str(value) for value in present(values, "part").tolist()]
    if "" in text:
        where = text.index("")
        raise ValueError(f"row {where} (counted from 0) has no part; every row needs one")
    return Categories.of(text)


def _check_seed(seed: int) -> int:
    whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**32:
        raise ValueError(f"seed is {seed!r}; it must be a whole number from 0 to 2**32 - 1")
    return int(seed)


def _check_sizes(sizes: Mapping[str, Size], rest: str) -> None:
    if rest in sizes:
        raise ValueError(f"the rest is {rest!r}, which is a part with a size; name another part")
    for name, size in sizes.items():
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        if not (whole and size >= 1) and not (isinstance(size, float) and 0 < size < 1):
            raise ValueError(
                f"part {name!r} has the size {size!r}; a size is a whole number of rows from 1, "
                "or a share of the remaining rows between 0 and 1"
            )


def _rows_of(name: str, size: Size, left: int, later: Sequence[str]) -> int:
    """Rows that a size asks for, when `left` rows are left and the parts `later` come after."""
    # scikit-learn's rounding, so that shares give the counts that its users know.
    rows = int(size) if isinstance(size, (int, np.integer)) else math.ceil(size * left)
    if rows + len(later) > left:
        asked = f"{rows} rows" if rows == size else f"{size} of the remaining rows, {rows} rows"
        raise ValueError(
            f"part {name!r} asks for {asked}; there are {left}, of which {_listed(later)} must get "
            "at least one each"
        )
    return rows


def _listed(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _check_strata(
    name: str, wanted: int, codes: Positions, values: NDArray[Any], later: Sequence[str]
) -> None:
    """Refuse a cut after which a label would be missing on one side."""
    counts = np.bincount(codes, minlength=len(values))
    rare = np.flatnonzero((counts > 0) & (counts < 2))
    if len(rare):
        raise ValueError(
            f"part {name!r} cannot be cut by label: the label {values[rare[0]]!s} has one row "
            "left, and each side of a cut needs one"
        )
    classes = int(np.count_nonzero(counts))
    remaining = len(codes) - wanted
    if min(wanted, remaining) < classes:
        raise ValueError(
            f"part {name!r} of {wanted} rows leaves {remaining} of {len(codes)} for "
            f"{_listed(later)}; each side of a cut by label needs at least one row of each of the "
            f"{classes} labels"
        )


def _joined(blocks: Sequence[Positions], names: Sequence[str]) -> Split:
    order = np.concatenate(blocks)
    codes = np.empty(len(order), dtype=np.int32)
    codes[order] = np.repeat(np.arange(len(blocks), dtype=np.int32), [len(b) for b in blocks])
    return Split(order, Categories(codes, tuple(names)))


def _cut_blocks_of_rows(order: Positions, sizes: Mapping[str, Size], rest: str) -> Split:
    """Contiguous cuts of `order`, exactly of the sizes asked."""
    ends, left = [0], len(order)
    for i, (name, size) in enumerate(sizes.items()):
        rows = _rows_of(name, size, left, [*list(sizes)[i + 1 :], rest])
        ends.append(ends[-1] + rows)
        left -= rows
    bounds = [*ends, len(order)]
    blocks = [order[a:b] for a, b in pairwise(bounds)]
    return _joined(blocks, [*sizes, rest])


def _cut_whole_blocks(
    block: NDArray[np.int64], sizes: Mapping[str, Size], rest: str, *, unit: str
) -> Split:
    """Cuts between blocks of rows, each where the rows come nearest to the size asked.

    `block` is the position of each row's block in the order to be cut.
    """
    ends = np.cumsum(np.bincount(block))
    if len(ends) < len(sizes) + 1:
        raise ValueError(
            f"{len(sizes) + 1} parts ({', '.join([*sizes, rest])}) need at least as many {unit}s; "
            f"there are {len(ends)}"
        )
    bounds, notes, total = [0], [], len(block)
    for i, (name, size) in enumerate(sizes.items()):
        before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        later = [*list(sizes)[i + 1 :], rest]
        wanted = _rows_of(name, size, total - before, later)
        allowed = ends[bounds[-1] : len(ends) - len(later)]
        chosen = int(np.argmin(np.abs(allowed - before - wanted)))
        bounds.append(bounds[-1] + chosen + 1)
        got = int(allowed[chosen]) - before
        if got != wanted:
            notes.append(f"part {name!r}: {wanted} rows asked, {got} given, as no {unit} is parted")
    blocks = [*bounds, len(ends)]
    codes = np.repeat(np.arange(len(sizes) + 1, dtype=np.int32), np.diff(blocks))[block]
    order = np.argsort(block, kind="stable").astype(np.int64)
    return Split(order, Categories(codes, (*sizes, rest)), tuple(notes))
