"""Any rising map at all: observed rates, pooled where they would fall.

Zadrozny and Elkan (2002), "Transforming classifier scores into accurate multiclass probability
estimates". The least-squares rising step function is found by pooling adjacent violators (Ayer
et al. 1955); rows of equal score are averaged first. It needs many rows: on few it follows the
noise, makes ties (so ROC AUC moves) and says exactly 0 or 1 at the ends, which a log loss does not
forgive.

Between two fitted scores the map is linear in the logit, as scikit-learn's is in the score it is
given; beyond the first and the last it stays level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.calibrators.base import Calibrator, Fitted, Floats, finite_logits
from kalibre.logits import logit

_CERTAIN = "isotonic says exactly 0 or 1 at an end: one wrong row there makes log loss infinite"


@dataclass(frozen=True)
class FittedIsotonic(Fitted):
    """The corners of the map: logits, strictly rising, and the probability at each."""

    method: ClassVar[str] = "isotonic"

    corners: tuple[float, ...] = (0.0,)
    rates: tuple[float, ...] = (0.5,)

    def map_logits(self, logits: Floats) -> Floats:
        """The logits of the mapped probabilities, infinite where these are 0 or 1."""
        return logit(self._rates_at(logits))

    def transform(self, probabilities: ArrayLike, logits: ArrayLike) -> tuple[Floats, Floats]:
        """Mapped probabilities, exactly as pooled, and their logits."""
        rates = self._rates_at(np.asarray(logits, dtype=np.float64))
        return rates, logit(rates)

    def parameters(self) -> dict[str, float]:
        """How many levels the map has: its only count of freedom."""
        return {"levels": float(len(set(self.rates)))}

    def _rates_at(self, logits: Floats) -> Floats:
        return np.asarray(np.interp(logits, self.corners, self.rates))


@dataclass(frozen=True)
class Isotonic(Calibrator):
    """Isotonic regression of the outcome on the logit."""

    name: ClassVar[str] = "isotonic"
    minimum_rows: ClassVar[int] = 1000

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedIsotonic:
        scores, notes = finite_logits(logits)
        distinct, group = np.unique(scores, return_inverse=True)
        weight = np.bincount(group, weights=weights).astype(np.float64)
        rate = np.bincount(group, weights=weights * outcomes) / weight
        starts, levels = pool_adjacent_violators(rate, weight)
        ends = np.append(starts[1:], distinct.size) - 1
        corners = np.concatenate([distinct[starts], distinct[ends]])
        corners, first = np.unique(corners, return_index=True)
        rates = np.concatenate([levels, levels])[first]
        if rates[0] == 0.0 or rates[-1] == 1.0:
            notes = (*notes, _CERTAIN)
        return FittedIsotonic(
            corners=tuple(corners.tolist()), rates=tuple(rates.tolist()), notes=notes
        )


def pool_adjacent_violators(values: Floats, weights: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The rising step function nearest to the values in weighted least squares.

    Parameters
    ----------
    values : shape (n,), in the order in which they should rise.
    weights : shape (n,), positive.

    Returns
    -------
    starts : first position of each level, rising from 0.
    levels : the value of each, strictly rising.
    """
    starts = np.arange(values.size)
    totals, sums = weights.astype(np.float64), weights * values
    shrinking = True
    while shrinking:
        levels = sums / totals
        # Neighbours that fall (or are level) share one level in the solution, so whole runs of
        # them can be pooled at once.
        keep = np.flatnonzero(np.concatenate(([True], levels[1:] > levels[:-1])))
        shrinking = keep.size < 0.9 * starts.size
        starts = starts[keep]
        totals, sums = np.add.reduceat(totals, keep), np.add.reduceat(sums, keep)
    return _pool_one_by_one(starts, totals, sums)


def _pool_one_by_one(
    starts: NDArray[np.intp], totals: Floats, sums: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """The classical pass with a stack, for the few levels that pooling whole runs has left."""
    stack: list[tuple[int, float, float]] = []
    for start, total, value in zip(starts.tolist(), totals.tolist(), sums.tolist(), strict=True):
        while stack and stack[-1][2] / stack[-1][1] >= value / total:
            start, before, below = stack.pop()
            total, value = total + before, value + below
        stack.append((start, total, value))
    return (
        np.array([start for start, _, _ in stack], dtype=np.intp),
        np.array([value / total for _, total, value in stack]),
    )
