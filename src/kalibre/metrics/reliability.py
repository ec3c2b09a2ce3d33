"""Of the cases called 0.8, do 80 % happen? The reliability table and what is read off it.

Per bin: how many rows, what the model said on average, how often it happened. The expected
calibration error (ECE; Naeini, Cooper, Hauskrecht 2015) weighs each bin's absolute difference by
its share of the rows, which is the same as adding up |sum said - number happened| and dividing
once. An empty bin has no rate: it is left out, not counted as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import Predictions, check_predictions
from kalibre.metrics.bins import CHUNK, BinRule, as_rule, locator

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """One entry a bin, empty bins included; `rule` says in words how the bins were made.

    Attributes
    ----------
    index, lower, upper : number and edges of the bin.
    rows : how many rows lie in it.
    count : the sum of their weights; equal to `rows` (and whole) when there are none.
    sum_predicted, positives : weighted sums of the probabilities and of the outcomes.
    outside : weight of the rows that lie in no bin; only own edges can leave any.
    """

    index: NDArray[np.intp]
    lower: Floats
    upper: Floats
    rows: NDArray[np.int64]
    count: NDArray[Any]
    sum_predicted: Floats
    positives: NDArray[Any]
    outside: float
    rule: str

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which bins hold any weight."""
        return np.asarray(self.count > 0)

    @property
    def bins_used(self) -> int:
        """The number of filled bins."""
        return int(np.count_nonzero(self.filled))

    @property
    def mean_predicted(self) -> Floats:
        """What the model said on average, NaN in an empty bin."""
        return self._per_count(self.sum_predicted)

    @property
    def observed_rate(self) -> Floats:
        """How often it happened, NaN in an empty bin."""
        return self._per_count(self.positives)

    @property
    def gap(self) -> Floats:
        """Mean predicted minus observed rate: positive where the model says too much."""
        return self._per_count(self.sum_predicted - self.positives)

    @property
    def ece_terms(self) -> Floats:
        """Each bin's contribution to the ECE, 0 in an empty bin; NaN if rows lie outside."""
        if self.outside:
            return np.full(self.count.size, np.nan)
        return np.abs(self.sum_predicted - self.positives) / self.count.sum()

    @property
    def ece(self) -> float:
        """Expected calibration error in [0, 1]; NaN if rows lie outside the bins."""
        if self.outside:
            return float("nan")
        return float(np.abs(self.sum_predicted - self.positives).sum() / self.count.sum())

    @property
    def maximum_gap(self) -> float:
        """The largest absolute gap of a filled bin; NaN if none is filled."""
        gaps = np.abs(self.gap[self.filled])
        return float(gaps.max()) if gaps.size else float("nan")

    @property
    def unweighted_gap(self) -> float:
        """The plain mean of the filled bins' absolute gaps; often mistaken for the ECE."""
        gaps = np.abs(self.gap[self.filled])
        return float(gaps.mean()) if gaps.size else float("nan")

    def _per_count(self, sums: NDArray[Any]) -> Floats:
        rates = np.full(self.count.size, np.nan)
        return np.divide(sums, self.count, out=rates, where=self.filled)


def reliability_table(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    bins: int | BinRule = 10,
    weights: ArrayLike | None = None,
) -> ReliabilityTable:
    """Count, mean prediction and observed rate per bin.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    bins : a bin rule, or a number of bins of equal width.
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a bin count that is not a positive whole number.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    rule = as_rule(bins)
    edges = rule.edges(checked.probabilities, checked.weights)
    totals = _totals if checked.weights is None else _weighted_totals
    rows, count, said, positives, outside = totals(checked, edges)
    return ReliabilityTable(
        index=np.arange(edges.size - 1),
        lower=edges[:-1],
        upper=edges[1:],
        rows=rows,
        count=count,
        sum_predicted=said,
        positives=positives,
        outside=outside,
        rule=rule.describe(),
    )


def expected_calibration_error(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    bins: int | BinRule = 10,
    weights: ArrayLike | None = None,
) -> float:
    """The ECE of `reliability_table` in [0, 1]; NaN if rows lie outside own edges.

    Raises
    ------
    ValueError
        As `reliability_table`.
    """
    return reliability_table(outcomes, probabilities, bins=bins, weights=weights).ece


def top_label(
    outcomes: ArrayLike, probabilities: ArrayLike
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """The other reading of a binary model: was the decision right, and how sure was it?

    Returns
    -------
    correct : 1 where the decision at 0.5 equals the outcome.
    confidence : max(p, 1 - p), in [0.5, 1].
    """
    checked = check_predictions(outcomes, probabilities)
    decided = checked.probabilities >= 0.5
    correct = (decided == checked.outcomes.astype(bool)).astype(np.int8)
    return correct, np.maximum(checked.probabilities, 1.0 - checked.probabilities)


def _totals(
    predictions: Predictions, edges: Floats
) -> tuple[NDArray[np.int64], NDArray[Any], Floats, NDArray[Any], float]:
    """Rows, count, sum of predictions, positives per bin, and the rows outside, chunk by chunk.

    Twice the bin plus the outcome is counted, so that one pass gives rows and positives; the two
    lowest counters take the rows outside (bin -1).
    """
    locate = locator(edges)
    counters = 2 * edges.size
    tally = np.zeros(counters, dtype=np.int64)
    said = np.zeros(edges.size)
    for start in range(0, predictions.probabilities.size, CHUNK):
        chunk = predictions.probabilities[start : start + CHUNK]
        found = locate(chunk)
        found += 1
        said += np.bincount(found, weights=chunk, minlength=edges.size)
        found += found
        found += predictions.outcomes[start : start + CHUNK]
        tally += np.bincount(found, minlength=counters)
    positives = tally[1::2]
    rows = tally[::2] + positives
    return rows[1:], rows[1:], said[1:], positives[1:], float(rows[0])


def _weighted_totals(
    predictions: Predictions, edges: Floats
) -> tuple[NDArray[np.int64], NDArray[Any], Floats, NDArray[Any], float]:
    """Rows, weight, weighted predictions and positives per bin, and the weight outside."""
    assert predictions.weights is not None
    locate = locator(edges)
    rows = np.zeros(edges.size, dtype=np.int64)
    sums = np.zeros((3, edges.size))
    for start in range(0, predictions.probabilities.size, CHUNK):
        chunk = slice(start, start + CHUNK)
        weights = predictions.weights[chunk]
        found = locate(predictions.probabilities[chunk]) + 1
        rows += np.bincount(found, minlength=edges.size)
        parts = (
            weights,
            weights * predictions.probabilities[chunk],
            weights * predictions.outcomes[chunk],
        )
        for total, part in zip(sums, parts, strict=True):
            total += np.bincount(found, weights=part, minlength=edges.size)
    count, said, positives = sums
    return rows[1:], count[1:], said[1:], positives[1:], float(count[0])
