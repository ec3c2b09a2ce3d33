"""How does the lessons' tree grow, fast?

All open nodes of a level are searched together. Every column is sorted once, at the root; from
then on a level keeps, for each column, its rows sorted by node and within a node by value, and
passing to the next level only sifts these lines into rows that go left and rows that go right.
Where a new value begins in a line, and how many positives stand before it, then gives the gain of
every candidate threshold of every node and column in a handful of array operations.

The trees are those of the lessons' recursion, threshold for threshold: columns in order, thresholds
ascending, the first of equally good splits wins.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kalibre.models.gini import FEW_VALUES, TENTHS, gain

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAF = -1
SMALLEST_GAIN = 1e-9
"""A split has to gain more than this: with less, both sides are equally pure up to rounding."""


@dataclass(frozen=True)
class Nodes:
    """A tree's nodes, level by level; the root is node 0.

    Attributes
    ----------
    feature : ndarray of int64, shape (nodes,)
        Column the node asks for, `LEAF` in a leaf.
    threshold : ndarray of float64, shape (nodes,)
        Rows with a smaller value go left; NaN in a leaf.
    left, right : ndarray of int64, shape (nodes,)
        Numbers of the children, `LEAF` in a leaf.
    rows, positives : ndarray of float64, shape (nodes,)
        Weight of the training rows, and of the positive ones.
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    rows: Floats
    positives: Floats

    @classmethod
    def leaves(cls, rows: Floats, positives: Floats) -> Self:
        """Nodes that have not been split."""
        feature, left, right = (np.full(len(rows), LEAF, dtype=np.int64) for _ in range(3))
        return cls(feature, np.full(len(rows), np.nan), left, right, rows, positives)


@dataclass(frozen=True)
class _Table:
    """Training rows, once for every column: place ``c * n + r`` holds column c of row r.

    Attributes
    ----------
    values : shape (columns * n,)
    positive : the same shape
        Weight of the row if it is positive, otherwise 0.
    weight : the same shape, or None
        None where each row counts once.
    """

    values: Floats
    positive: Floats | Integers
    weight: Floats | None


@dataclass(frozen=True)
class _Frontier:
    """The open nodes of a level.

    Attributes
    ----------
    order : shape (columns, active rows)
        Places in the table. A line has one column's places: the rows of the first open node by
        ascending value, then those of the second, and so on.
    starts : shape (open nodes + 1,)
        Where the rows of each node begin, the same in every line, and where the last ones end.
    nodes : shape (open nodes,)
        Positions of the open nodes in their level.
    """

    order: Integers
    starts: Integers
    nodes: Integers


@dataclass(frozen=True)
class _Splits:
    """The best split of each open node; a gain of minus infinity where no threshold is allowed."""

    gain: Floats
    column: Integers
    threshold: Floats
    left_lines: Integers
    left_rows: Floats
    left_positives: Floats

    def take(self, chosen: Integers) -> _Splits:
        return _Splits(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def grow(
    X: Floats, labels: Integers, weight: Floats | None, *, max_depth: int, min_leaf: int
) -> Nodes:
    """Grow a tree.

    Parameters
    ----------
    X : ndarray, shape (n, columns)
        Finite numbers, n >= 1.
    labels : ndarray of 0 and 1, shape (n,)
        1 is positive.
    weight : ndarray, shape (n,), or None
        Positive weights, which count in the place of rows.
    max_depth, min_leaf : int
        Splits on a path; fewest rows on a side of a split.
    """
    count, columns = X.shape
    rows = float(count if weight is None else weight.sum())
    positive: Any = labels if weight is None else labels * weight
    table = _Table(
        X.T.ravel(),
        np.tile(positive, columns),
        None if weight is None else np.tile(weight, columns),
    )
    root = Nodes.leaves(np.array([rows]), np.array([float(positive.sum())]))
    levels = [root]
    order = np.argsort(X.T, axis=1, kind="stable") + count * np.arange(columns)[:, None]
    frontier = _Frontier(order, np.array([0, count]), _open(root, min_leaf))
    first_child = 1
    for depth in range(1, max_depth + 1):
        if not len(frontier.nodes):
            break
        splits = _best_splits(table, frontier, levels[-1], min_leaf)
        good = _worthwhile(splits, frontier.nodes)
        children = _split(levels[-1], frontier.nodes[good], splits.take(good), first_child)
        if not len(children.rows):
            break
        levels.append(children)
        first_child += len(children.rows)
        if depth < max_depth:
            frontier = _advance(table, frontier, splits, good, _open(children, min_leaf))
    return Nodes(
        **{f.name: np.concatenate([getattr(x, f.name) for x in levels]) for f in fields(root)}
    )


def _open(level: Nodes, min_leaf: int) -> Integers:
    """Positions of the nodes that are large and mixed enough to be searched."""
    mixed = (level.positives > 0) & (level.positives < level.rows)
    return np.flatnonzero(mixed & (level.rows >= 2 * min_leaf))


def _best_splits(table: _Table, frontier: _Frontier, level: Nodes, min_leaf: int) -> _Splits:
    lines = table.values.take(frontier.order)
    changes, allowed = _candidates(lines, frontier.starts)
    width, first = lines.shape[1], frontier.starts[:-1, None, None]
    column = np.arange(len(lines))[:, None]
    left_lines = changes - column * width - first
    begin = (column * width + first)[..., 0]
    left_rows = left_lines.astype(np.float64)
    if table.weight is not None:
        left_rows = _sums_between(table.weight.take(frontier.order), begin, changes)
    left_positives = _sums_between(table.positive.take(frontier.order), begin, changes)
    rows = level.rows[frontier.nodes][:, None, None]
    positives = level.positives[frontier.nodes][:, None, None]
    allowed &= (left_rows >= min_leaf) & (rows - left_rows >= min_leaf)
    with np.errstate(divide="ignore", invalid="ignore"):  # at candidates that are not allowed
        gains = gain(rows, positives, left_rows, left_positives)
    gains = np.where(allowed, gains, -np.inf).reshape(len(rows), -1)
    # The first of the largest, columns before thresholds.
    best = np.argmax(gains, axis=1)
    chosen = (np.arange(len(rows)), *np.divmod(best, len(TENTHS)))
    return _Splits(
        gain=gains[chosen[0], best],
        column=chosen[1],
        threshold=lines.ravel()[changes[chosen]],
        left_lines=left_lines[chosen],
        left_rows=left_rows[chosen],
        left_positives=left_positives[chosen],
    )


def _candidates(lines: Floats, starts: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """The candidate thresholds, each as the place in the flattened lines where its value begins.

    Returns
    -------
    changes : shape (open nodes, columns, 9)
    allowed : the same shape
        False where a node has fewer candidates.
    """
    begins = np.empty(lines.shape, dtype=bool)
    np.not_equal(lines[:, 1:], lines[:, :-1], out=begins[:, 1:])
    begins[:, starts[:-1]] = True
    places = np.flatnonzero(begins)
    shape = (len(lines), len(starts) - 1)
    segments = np.arange(shape[0])[:, None] * lines.shape[1] + starts[:-1]
    bounds = np.append(np.searchsorted(places, segments.ravel()), len(places))
    distinct = (bounds[1:] - bounds[:-1]).reshape(shape).T[..., None]
    first = bounds[:-1].reshape(shape).T[..., None]
    few = distinct < FEW_VALUES
    candidate = np.where(few, TENTHS, (TENTHS * distinct / 10).astype(np.int64))
    allowed = ~few | (candidate < distinct)
    return places[np.where(allowed, first + candidate, first)], allowed


def _sums_between(values: Floats | Integers, begin: Integers, end: Integers) -> Floats:
    """Sums along the lines of `values`, from `begin` (nodes, columns) up to `end` (..., 9)."""
    # Each line by itself, lest rounding make equal columns gain unequally under fractional weights.
    totals = np.zeros((values.shape[0], values.shape[1] + 1), dtype=values.dtype)
    np.cumsum(values, axis=1, out=totals[:, 1:])
    line = np.arange(values.shape[0])
    sums = totals.take(end + line[:, None]) - totals.take(begin + line)[..., None]
    return sums.astype(np.float64)


def _worthwhile(splits: _Splits, nodes: Integers) -> Integers:
    """Places in `nodes` of those that are split, from left to right in their level."""
    good = np.flatnonzero(splits.gain > SMALLEST_GAIN)
    return good[np.argsort(nodes[good])]


def _split(level: Nodes, parents: Integers, splits: _Splits, first_child: int) -> Nodes:
    """Write each parent's split into the level; return the children, left and right in turn."""
    level.feature[parents], level.threshold[parents] = splits.column, splits.threshold
    level.left[parents] = first_child + 2 * np.arange(len(parents))
    level.right[parents] = level.left[parents] + 1
    rows = np.column_stack([splits.left_rows, level.rows[parents] - splits.left_rows])
    positives = np.column_stack(
        [splits.left_positives, level.positives[parents] - splits.left_positives]
    )
    return Nodes.leaves(rows.ravel(), positives.ravel())


def _advance(
    table: _Table, frontier: _Frontier, splits: _Splits, good: Integers, open_children: Integers
) -> _Frontier:
    """The next level's frontier: first all open left children, then all open right ones."""
    is_open = np.zeros(2 * len(good), dtype=bool)
    is_open[open_children] = True
    goes_on = np.zeros((len(frontier.nodes), 2), dtype=bool)
    goes_on[good] = is_open.reshape(-1, 2)
    child = np.zeros_like(frontier.nodes)
    child[good] = 2 * np.arange(len(good))

    counts = frontier.starts[1:] - frontier.starts[:-1]
    node = np.repeat(np.arange(len(counts)), counts)
    columns, rows = len(frontier.order), frontier.order[0]
    count = len(table.values) // columns
    right = table.values[splits.column[node] * count + rows] >= splits.threshold[node]
    side = np.zeros(count, dtype=np.int8)
    side[rows] = np.where(goes_on[node, right.astype(np.int64)], 1 + right, 0)

    order = frontier.order.ravel()
    sides = np.tile(side, columns).take(order)
    parts = [order.compress(sides == value).reshape(columns, -1) for value in (1, 2)]
    lines = np.concatenate([splits.left_lines, counts - splits.left_lines])
    kept = goes_on.T.ravel()
    starts = np.concatenate([[0], np.cumsum(lines[kept])])
    nodes = np.concatenate([child, child + 1])[kept]
    return _Frontier(np.concatenate(parts, axis=1), starts, nodes)
