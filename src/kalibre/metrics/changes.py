"""What a calibrator changed besides the probabilities: decisions, and places in the order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def decisions_changed(before: Floats, after: Floats) -> int:
    """Rows that one of two scores calls positive at 0.5 and the other does not.

    Parameters
    ----------
    before, after : ndarray of float64, shape (n,)
        Logits; a row is called positive at or above 0.
    """
    return int(np.count_nonzero((before >= 0.0) != (after >= 0.0)))


def order_kept(before: Floats, after: Floats) -> int:
    """Rows in the same place when ordered by one score and by the other, equal scores sharing a place.

    Parameters
    ----------
    before, after : ndarray of float64, shape (n,)
        Two scores of the same rows.
    """
    if np.array_equal(before, after):
        return before.size
    return int(np.count_nonzero(_places(before) == _places(after)))


def _places(scores: Floats) -> NDArray[np.int64]:
    """Twice the averaged rank of each row: a whole number, also where scores are equal."""
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, side="left")
    return below + np.searchsorted(ordered, scores, side="right")
