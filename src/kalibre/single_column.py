"""How much does one column know of the label by itself?

A column that orders the rows nearly perfectly is the best model one can ask for, or the answer in disguise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Column
from kalibre.metrics.ranking import roc_auc

SAMPLE = 100_000
"""Rows looked at where a look at all would take long."""


def auc_alone(column: Column, outcome: NDArray[np.int8]) -> float | None:
    """How well one column by itself orders the outcomes: its ROC AUC, either way round.

    Parameters
    ----------
    column : Categories or array, shape (n,)
        Categories are scored by the rates of their outcomes in the other half of the rows; of numbers and
        booleans, rows without a value are left out.
    outcome : array, shape (n,)
        0 or 1.

    Returns
    -------
    float or None
        None where no order can be judged: no numbers, or one outcome only.
    """
    rows = sampled(len(outcome))
    labels = outcome[rows]
    if isinstance(column, Categories):
        return _auc(labels, _rates(column.codes[rows].astype(np.int64) + 1, labels))
    if np.asarray(column).dtype.kind not in "biuf":
        return None
    values = np.asarray(column, dtype=np.float64)[rows]
    finite = np.isfinite(values)
    auc = _auc(labels[finite], values[finite])
    return None if auc is None else max(auc, 1.0 - auc)


def _rates(codes: NDArray[np.int64], labels: NDArray[np.int8]) -> NDArray[np.float64]:
    """Each row's category as the share of positives among the other half's rows of that category.

    With rates learned from the rows they score, a category of one row would know that row's label.
    """
    half = np.random.default_rng(0).random(len(codes)) < 0.5
    scores = np.full(len(codes), labels.mean())
    size = int(codes.max(initial=0)) + 1
    for learned in (half, ~half):
        rows = np.bincount(codes[learned], minlength=size)
        positives = np.bincount(codes[learned], weights=labels[learned], minlength=size)
        # One row's worth of the overall rate stands in for a category that the other half has not.
        rate = (positives + labels.mean()) / (rows + 1)
        scores[~learned] = rate[codes[~learned]]
    return scores


def _auc(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> float | None:
    if not 0 < labels.sum() < len(labels):
        return None
    return float(roc_auc(labels, scores))


def sampled(rows: int) -> NDArray[np.int64]:
    """Positions of the rows to look at: all, or a fixed draw of so many."""
    if rows <= SAMPLE:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, SAMPLE, replace=False))
