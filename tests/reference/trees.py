"""Which tree do the lessons grow?

A binary tree that looks for the largest drop in Gini impurity among a few thresholds a column:
all values but the smallest where a column has fewer than ten, or else nine deciles. The first of
equally good splits wins. The calibration lesson's leaf holds the share of positives, the course's
leaf a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Row = dict[str, Any]
Tree = dict[str, Any]

TARGET = "suspicious"
SMALLEST_GAIN = 1e-9


def positive_share(rows: Sequence[Row]) -> float:
    """Return the share of positive rows, zero where there are none."""
    return sum(row[TARGET] for row in rows) / len(rows) if rows else 0.0


def impurity(rows: Sequence[Row]) -> float:
    """Return the Gini impurity of the rows' outcomes, between 0 and 0.5."""
    share = positive_share(rows)
    return 2 * share * (1 - share)


def candidate_thresholds(rows: Sequence[Row], column: str) -> list[float]:
    """Return the thresholds tried for a column, ascending."""
    values = sorted({row[column] for row in rows})
    if len(values) < 10:
        return values[1:]
    return [values[int(tenth * len(values) / 10)] for tenth in range(1, 10)]


def splits(
    rows: Sequence[Row], column: str, smallest_side: int
) -> Iterator[tuple[float, float, list[Row], list[Row]]]:
    """Yield gain, threshold, rows below it and the other rows, for each split of a column."""
    for threshold in candidate_thresholds(rows, column):
        below = [row for row in rows if row[column] < threshold]
        others = [row for row in rows if row[column] >= threshold]
        if min(len(below), len(others)) < smallest_side:
            continue
        weighted = len(below) * impurity(below) + len(others) * impurity(others)
        yield impurity(rows) - weighted / len(rows), threshold, below, others


def probability_leaf(share: float) -> Tree:
    """Return the calibration lesson's leaf: the share of positives among its training rows."""
    return {"probability": share}


def label_leaf(share: float) -> Tree:
    """Return the course's leaf: 1 where more than half of its training rows are positive."""
    return {"label": int(share > 0.5)}


def grow(
    rows: Sequence[Row],
    columns: Sequence[str],
    depth: int,
    *,
    leaf: Callable[[float], Tree] = probability_leaf,
    min_leaf: int = 2,
) -> Tree:
    """Return the tree grown on `rows`.

    Parameters
    ----------
    rows
        Training rows, each with the columns and the outcome `suspicious`.
    columns
        Columns in the order they are tried.
    depth
        Splits allowed on a path.
    leaf
        Makes a leaf from the positive share of its rows.
    min_leaf
        Fewest rows allowed on a side of a split.

    Returns
    -------
    dict
        A leaf, or ``{"column", "threshold", "below", "others"}``; rows below the threshold go to
        ``below``.
    """
    share, best = positive_share(rows), None
    if depth and len(rows) >= 2 * min_leaf and 0.0 < share < 1.0:
        for column in columns:
            for gain, threshold, below, others in splits(rows, column, min_leaf):
                if best is None or gain > best[0]:
                    best = (gain, column, threshold, below, others)
    if best is None or best[0] <= SMALLEST_GAIN:
        return leaf(share)
    _, column, threshold, below, others = best
    return {
        "column": column,
        "threshold": threshold,
        "below": grow(below, columns, depth - 1, leaf=leaf, min_leaf=min_leaf),
        "others": grow(others, columns, depth - 1, leaf=leaf, min_leaf=min_leaf),
    }


def find_leaf(tree: Tree, row: Row) -> Tree:
    """Return the leaf that a row falls into."""
    while "column" in tree:
        tree = tree["below" if row[tree["column"]] < tree["threshold"] else "others"]
    return tree


def probability(tree: Tree, row: Row) -> float:
    """Return the probability of a tree grown with :func:`probability_leaf`."""
    return float(find_leaf(tree, row)["probability"])


def label(tree: Tree, row: Row) -> int:
    """Return the label of a tree grown with :func:`label_leaf`."""
    return int(find_leaf(tree, row)["label"])


def right_answers(tree: Tree, rows: Sequence[Row]) -> int:
    """Return how many rows a tree of labels gets right."""
    return sum(label(tree, row) == row[TARGET] for row in rows)


def accuracy(tree: Tree, rows: Sequence[Row]) -> float:
    """Return the share of rows that a tree of labels gets right."""
    return right_answers(tree, rows) / len(rows)


def as_rows(
    columns: Sequence[str], matrix: Sequence[Sequence[float]], outcomes: Sequence[int]
) -> list[Row]:
    """Return a table of numbers and its outcomes as the rows that :func:`grow` learns from."""
    return [
        {**dict(zip(columns, values, strict=True)), TARGET: int(outcome)}
        for values, outcome in zip(matrix, outcomes, strict=True)
    ]
