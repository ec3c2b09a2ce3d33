"""Is the Brier score what the predictions themselves say it should be?

Spiegelhalter (1986), "Probabilistic prediction in patient management and clinical trials",
Statistics in Medicine 5: if outcomes happen with the predicted probabilities, the Brier score has a
known mean and variance; the difference over its standard deviation is standard normal for many
rows. Positive z: outcomes are further off than the predictions admit (overconfidence).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kalibre.checks import check_predictions


@dataclass(frozen=True)
class Spiegelhalter:
    """The statistic and its two-sided p-value; both NaN where the predictions leave no variance."""

    z: float
    p_value: float


def spiegelhalter(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> Spiegelhalter:
    """Spiegelhalter's z.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,); a row is one draw, so that its variance counts with its squared weight.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    said = checked.probabilities
    weight = np.ones(said.size) if checked.weights is None else checked.weights
    lean = weight * (1.0 - 2.0 * said)
    surprise = float((lean * (checked.outcomes - said)).sum())
    variance = float((np.square(lean) * said * (1.0 - said)).sum())
    if variance <= 0.0:
        return Spiegelhalter(float("nan"), float("nan"))
    z = surprise / math.sqrt(variance)
    return Spiegelhalter(z, math.erfc(abs(z) / math.sqrt(2.0)))
