"""How far is each probability from what happened? Proper scores: honesty minimises them.

The Brier score (Brier 1950) is the mean squared difference, the log loss the mean of -ln of the
probability given to what happened. Log loss is computed on logits where they are known, because a
probability that rounds to 0 or 1 would make it infinite although the score behind it is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_predictions, check_scores, check_weights
from kalibre.logits import softplus

Floats = NDArray[np.float64]


def residuals(outcomes: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Probability minus outcome, row by row, in [-1, 1].

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities)
    return checked.probabilities - checked.outcomes


def squared_errors(outcomes: ArrayLike, probabilities: ArrayLike) -> Floats:
    """The squared residual of each row, in [0, 1]."""
    return np.square(residuals(outcomes, probabilities))


def brier_score(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Mean squared residual in [0, 1]; lower is better, always saying 0.5 gives 0.25.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    return mean(np.square(checked.probabilities - checked.outcomes), checked.weights)


def log_losses(
    outcomes: ArrayLike, probabilities: ArrayLike, *, logits: ArrayLike | None = None
) -> Floats:
    """Minus the natural logarithm of the probability given to what happened, row by row.

    Infinite where a probability of exactly 0 or 1 (with logits: an infinite one) was wrong.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a logit that is NaN.
    """
    checked = check_predictions(outcomes, probabilities)
    happened = checked.outcomes == 1
    if logits is not None:
        scores = check_scores(checked.outcomes, logits).scores
        return softplus(np.where(happened, -scores, scores))
    with np.errstate(divide="ignore"):
        gain = np.where(happened, np.log(checked.probabilities), np.log1p(-checked.probabilities))
    return 0.0 - gain


def log_loss(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    logits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Mean log loss in nats, at least 0 and infinite when a certainty was wrong; lower is better.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    logits : shape (n,), the scores behind the probabilities; when given, the loss is theirs.
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a logit that is NaN.
    """
    losses = log_losses(outcomes, probabilities, logits=logits)
    return mean(losses, check_weights(weights, losses.size))


def mean(values: Floats, weights: Floats | None) -> float:
    """The weighted mean; a row of weight 0 counts as absent even where its value is infinite."""
    if weights is None:
        return float(values.mean())
    present = weights > 0.0
    return float((values[present] * weights[present]).sum() / weights[present].sum())
