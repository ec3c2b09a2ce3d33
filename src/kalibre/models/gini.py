"""How much does one question to one column purify the outcomes?

The lessons' trees and their selection of columns ask the same: of a few candidate thresholds of a
column, which one makes the Gini impurity of the two sides, weighted by their rows, drop the most
below that of all rows together?

Source: the functions ``safsizlik``, ``agac`` and ``Secim`` of the probability calibration and
cross-validation lessons. Gini impurity: Breiman, Friedman, Olshen, Stone (1984), Classification and
Regression Trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEW_VALUES = 10
"""Columns with fewer distinct values than this are tried at each of them."""

TENTHS = np.arange(1, FEW_VALUES)


def decile_thresholds(values: ArrayLike) -> NDArray[Any]:
    """The thresholds tried for one column, ascending.

    Parameters
    ----------
    values : array, shape (n,)
        Finite numbers.

    Returns
    -------
    array
        Fewer than ten distinct values: all but the smallest. Otherwise nine of them, at the tenths
        of the sorted distinct values (each value counts once, however many rows have it).
    """
    distinct = np.unique(np.asarray(values))
    if len(distinct) < FEW_VALUES:
        return distinct[1:]
    return distinct[TENTHS * len(distinct) // 10]


def gain(count: Any, positives: Any, left: Any, left_positives: Any) -> Any:
    """Drop in Gini impurity when `left` of `count` rows go to the left.

    Numbers or arrays that broadcast. Operations are in the lessons' order: in another one, gains
    that are equal there would differ in their last bit, and another threshold would win.
    """
    right = count - left
    right_positives = positives - left_positives
    weighted = left * _impurity(left_positives / left) + right * _impurity(right_positives / right)
    return _impurity(positives / count) - weighted / count


def best_root_gain(column: ArrayLike, outcomes: ArrayLike, min_side: int) -> float:
    """The largest drop in Gini impurity that one split of a column achieves.

    Parameters
    ----------
    column : array, shape (n,)
        Finite numbers.
    outcomes : array of 0 and 1, shape (n,)
        1 is positive.
    min_side : int
        Fewest rows allowed on a side of the split.

    Returns
    -------
    float
        In [0, 0.5]; 0 if no threshold leaves `min_side` rows on both sides.

    Raises
    ------
    ValueError
        If lengths differ, an outcome is neither 0 nor 1, or a value is not finite.
    """
    values, labels = _checked(column, outcomes)
    order = np.argsort(values)
    below = np.searchsorted(values[order], decile_thresholds(values))
    positives = np.concatenate([[0], np.cumsum(labels[order])])
    left = below[(below >= max(1, min_side)) & (len(values) - below >= max(1, min_side))]
    if len(left) == 0:
        return 0.0
    return max(0.0, float(gain(len(values), positives[-1], left, positives[left]).max()))


def _impurity(share: Any) -> Any:
    return 2 * share * (1 - share)


def _checked(
    column: ArrayLike, outcomes: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values, labels = np.asarray(column, dtype=np.float64), np.asarray(outcomes)
    if values.ndim != 1 or values.shape != labels.shape:
        raise ValueError(
            f"a column and its outcomes are of one length, found {values.shape} and {labels.shape}"
        )
    if not ((labels == 0) | (labels == 1)).all():
        odd = labels[(labels != 0) & (labels != 1)][0]
        raise ValueError(f"outcomes are 0 or 1, found {odd!r}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(
            f"the column has the value {float(values[row])!r} in row {row} (counted from 0), "
            "expected a finite number; fill it first"
        )
    return values, labels.astype(np.int64)
