"""The squared calibration error without the part that chance adds.

A bin's observed rate varies around the true one, so the squared gap is too large by that variance
on average. Kumar, Liang and Ma (2019), "Verified uncertainty calibration", definition 5.1, take an
unbiased estimate of it off again: in a bin of n rows with observed rate r it is
r (1 - r) / (n - 1). What is left may be negative and often is, for a model without fault; it is
reported with its sign. Its root, as a distance between probabilities, is that of the positive part.

A bin of one row has no estimate of its variance: it is left out (adds nothing, as in the authors'
library), and the share of rows that stand in such bins is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.metrics.bins import BinRule
from kalibre.metrics.reliability import reliability_table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DebiasedError:
    """The de-biased squared calibration error of one bin rule.

    Attributes
    ----------
    rule : the bin rule in words.
    squared : signed estimate of the mean squared gap; NaN where rows lie outside the bins.
    left_out : share of the rows (of the weight) in bins of one row.
    """

    rule: str
    squared: float
    left_out: float

    @property
    def root(self) -> float:
        """Root of the positive part, on the scale of probabilities."""
        return float(np.sqrt(np.maximum(self.squared, 0.0)))


def debiased_error(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    bins: int | BinRule = 10,
    weights: ArrayLike | None = None,
) -> DebiasedError:
    """Estimate the mean squared gap of a bin rule's bins.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    bins : a bin rule, or a number of bins of equal width.
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.metrics.reliability.reliability_table`.
    """
    table = reliability_table(outcomes, probabilities, bins=bins, weights=weights)
    count = table.count.astype(np.float64)
    squared = float(debiased_from_sums(count, table.sum_predicted, table.positives))
    if table.outside:
        squared = float("nan")
    alone = (count > 0.0) & (count <= 1.0)
    total = float(count.sum())
    left_out = float(count[alone].sum()) / total if total else float("nan")
    return DebiasedError(table.rule, squared, left_out)


def debiased_from_sums(count: Floats, said: Floats, positives: NDArray[np.generic]) -> Floats:
    """The signed estimate from the sums of each bin, bins along the last axis.

    Parameters
    ----------
    count, said, positives : shape (..., bins), rows, sum of probabilities and of outcomes.

    Returns
    -------
    shape (...); 0 where every bin is left out, NaN where there are no rows.
    """
    counted = count > 1.0
    rows = np.where(counted, count, 2.0)
    rate = positives / rows
    gap = np.square(said / rows - rate) - rate * (1.0 - rate) / (rows - 1.0)
    total = count.sum(axis=-1)
    weighed = np.asarray(np.where(counted, gap * rows, 0.0).sum(axis=-1))
    return np.divide(weighed, total, out=np.full(weighed.shape, np.nan), where=total > 0.0)
