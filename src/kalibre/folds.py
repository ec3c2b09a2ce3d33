"""Which rows does each fold measure, and which do the others give it to learn from?

Every rung of a ladder is measured on the same folds, so these are cut once, by position, and handed
on. Source of the contiguous method: `kat_bol` of the cross-validation lesson.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_count
from kalibre.ordering import encoded, moments

Positions = NDArray[np.int64]
Method = Literal["contiguous", "random", "stratified", "group", "time"]


class Fold(NamedTuple):
    """Positions of the rows that are learned from and of those that are measured."""

    learned: Positions
    measured: Positions


def make_folds(
    outcomes: ArrayLike,
    *,
    method: Method = "stratified",
    count: int = 5,
    repeats: int = 1,
    seed: int = 0,
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> list[Fold]:
    """Cut rows into folds.

    Parameters
    ----------
    outcomes : array of 0 and 1, shape (n,)
        One per row, in the rows' order.
    method : {"contiguous", "random", "stratified", "group", "time"}
        `contiguous`: blocks of n // count rows in the rows' own order; rows left over are always
        learned from. `random` and `stratified`: scikit-learn's `KFold` and `StratifiedKFold`,
        shuffled with `random_state=seed + repeat`. `group`: no group in two folds; folds as even in
        size and classes as whole groups allow. `time`: `count + 1` blocks from the earliest row on;
        each block but the first is measured by what was learned from all blocks before it; rows of
        one time stay together.
    count : int
        Folds, at least 2 (`time`: at least 1).
    repeats : int
        Times the folds are cut anew. The methods without a draw, `contiguous` and `time`, have one
        cut.
    seed : int
        Seed of the first repeat; each further repeat adds 1.
    groups, times : array, shape (n,), optional
        Needed by the methods of that name.

    Returns
    -------
    list of Fold
        `count * repeats` folds, repeat by repeat. Positions are ascending.

    Raises
    ------
    ValueError
        If there are more folds than rows, groups or times allow, or a needed column is missing.
    """
    labels = np.asarray(outcomes)
    check_count(count, "folds")
    check_count(repeats, "repeats")
    if count < 2 and method != "time":
        raise ValueError(
            f"folds: found {count}, expected at least 2: one to measure, one to learn from"
        )
    if count > len(labels):
        raise ValueError(
            f"{count} folds of {len(labels)} rows: there are more folds than rows; use fewer"
        )
    if repeats > 1 and method in ("contiguous", "time"):
        raise ValueError(
            f"repeats is {repeats}, but folds by method {method!r} can be cut in one way only; "
            "use random, stratified or group, or repeats: 1"
        )
    match method:
        case "contiguous":
            return _contiguous(len(labels), count)
        case "time":
            return _forward(_needed(times, "time"), count)
        case "random" | "stratified":
            cut = _by_scikit_learn(labels, method, count)
        case "group":
            cut = _by_group(labels, _needed(groups, "group"), count)
        case _:
            raise ValueError(
                f"method is {method!r}; allowed: contiguous, random, stratified, group, time"
            )
    return [fold for repeat in range(repeats) for fold in _as_folds(cut(seed + repeat), count)]


def fold_name(index: int, count: int, repeats: int) -> str:
    """What a fold is called in a path: `fold_1`, or `repeat_2/fold_1` if cut more than once."""
    number = f"fold_{index % count + 1}"
    return number if repeats == 1 else f"repeat_{index // count + 1}/{number}"


def _needed(column: ArrayLike | None, what: str) -> ArrayLike:
    if column is None:
        raise ValueError(
            f"folds by {what} need a column that says the {what} of each row; name one"
        )
    return column


def _contiguous(rows: int, count: int) -> list[Fold]:
    size = rows // count
    position = np.arange(rows)
    blocks = [(position >= i * size) & (position < (i + 1) * size) for i in range(count)]
    return [Fold(np.flatnonzero(~block), np.flatnonzero(block)) for block in blocks]


def _as_folds(fold: NDArray[np.int64], count: int) -> list[Fold]:
    return [Fold(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(count)]


def _by_scikit_learn(
    labels: NDArray, method: str, count: int
) -> Callable[[int], NDArray[np.int64]]:
    # Only these two methods need scikit-learn, whose import takes a second.
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if method == "stratified" else KFold
    if method == "stratified":
        rows = np.bincount(encoded(labels, "outcome")[0])
        if rows.max() < count:
            raise ValueError(
                f"{count} stratified folds, but no class has more than {rows.max()} rows; use "
                "fewer folds"
            )

    def cut(seed: int) -> NDArray[np.int64]:
        fold = np.empty(len(labels), dtype=np.int64)
        with warnings.catch_warnings():
            # A class with fewer rows than folds: the folds without it say so in their metrics.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = kind(count, shuffle=True, random_state=seed).split(labels, labels)
            for i, (_, measured) in enumerate(parts):
                fold[measured] = i
        return fold

    return cut


def _by_group(labels: NDArray, groups: ArrayLike, count: int) -> Callable[[int], NDArray[np.int64]]:
    group, names = encoded(groups, "group")
    if len(names) < count:
        raise ValueError(
            f"{count} folds, but the rows form only {len(names)} groups, and a group is never "
            "parted; use fewer folds"
        )
    classes, kinds = encoded(labels, "outcome")
    table = np.zeros((len(names), len(kinds)), dtype=np.int64)
    np.add.at(table, (group, classes), 1)

    def cut(seed: int) -> NDArray[np.int64]:
        return _deal_groups(table, count, np.random.default_rng(seed))[group]

    return cut


def _deal_groups(
    table: NDArray[np.int64], count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The fold of each group; `table` holds its rows by class.

    Large groups first, in a random order among equals, each to the fold where it makes the classes
    least uneven; of equally good folds to the smallest, so that no fold stays empty.
    """
    shuffled = rng.permutation(len(table))
    order = shuffled[np.argsort(-table[shuffled].sum(axis=1), kind="stable")]
    share = table / table.sum(axis=0)
    load = np.zeros((count, table.shape[1]))
    rows = np.zeros(count, dtype=np.int64)
    fold = np.empty(len(table), dtype=np.int64)
    size = table.sum(axis=1)
    for g in order.tolist():
        uneven = np.round(load @ share[g], 12)
        chosen = int(np.lexsort((rows, uneven))[0])
        load[chosen] += share[g]
        rows[chosen] += size[g]
        fold[g] = chosen
    return fold


def _forward(times: ArrayLike, count: int) -> list[Fold]:
    """Expanding window: learn from every earlier block, measure the next."""
    moment = moments(times)
    order = np.argsort(moment, kind="stable")
    starts = np.flatnonzero(np.r_[True, moment[order][1:] != moment[order][:-1]])
    if len(starts) < count + 1:
        raise ValueError(
            f"{count} folds by time need {count + 1} different times, found {len(starts)}; use "
            "fewer folds"
        )
    cuts = _cut_times(starts, len(moment), count + 1)
    blocks = np.split(order, cuts)
    learned = [np.sort(np.concatenate(blocks[: i + 1])) for i in range(count)]
    return [Fold(learned[i], np.sort(blocks[i + 1])) for i in range(count)]


def _cut_times(starts: NDArray[np.int64], rows: int, blocks: int) -> list[int]:
    """Where to cut rows sorted by time: where a new time starts, nearest to equal blocks."""
    cuts: list[int] = []
    previous = 0
    for i in range(1, blocks):
        last = len(starts) - (blocks - i)
        allowed = starts[previous + 1 : last + 1]
        chosen = int(np.argmin(np.abs(allowed - rows * i / blocks)))
        previous += 1 + chosen
        cuts.append(int(starts[previous]))
    return cuts
