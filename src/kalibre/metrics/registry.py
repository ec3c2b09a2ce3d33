"""The metrics that have a name: one function and one line each.

A function takes the rows measured and returns a number, or raises `Undefined` with the reason why
there is none. `direction` says which way is better, None where neither is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_predictions, check_scores
from kalibre.logits import logit
from kalibre.metrics import proper, ranking

Direction = Literal["lower", "higher"] | None


class Undefined(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a metric that has no value for these rows; the message is the reason."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The rows a metric is computed on: outcome, probability, logit and, if any, weight of each."""

    outcomes: NDArray[np.int8]
    probabilities: NDArray[np.float64]
    logits: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        outcomes: ArrayLike,
        probabilities: ArrayLike,
        *,
        logits: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Measured:
        """The same from unchecked arrays; without logits they are taken from the probabilities.

        Raises
        ------
        ValueError
            As `kalibre.checks.check_predictions`; a logit that is NaN.
        """
        checked = check_predictions(outcomes, probabilities, weights=weights)
        given = logit(checked.probabilities) if logits is None else logits
        scored = check_scores(checked.outcomes, given)
        return cls(checked.outcomes, checked.probabilities, scored.scores, checked.weights)

    @property
    def total(self) -> float:
        """The number of rows, or the sum of the weights."""
        return self.outcomes.size if self.weights is None else float(self.weights.sum())

    @property
    def positives(self) -> float:
        """The number, or the weight, of the rows with outcome 1."""
        if self.weights is None:
            return int(np.count_nonzero(self.outcomes))
        return float(self.weights[self.outcomes == 1].sum())


@dataclass(frozen=True)
class Metric:
    """A metric's name, how to compute it, which way is better, and what it says."""

    name: str
    function: Callable[[Measured], float]
    direction: Direction
    description: str


def _observed_rate(rows: Measured) -> float:
    return rows.positives / rows.total


def _mean_probability(rows: Measured) -> float:
    return proper.mean(rows.probabilities, rows.weights)


def _sum_probability(rows: Measured) -> float:
    if rows.weights is None:
        return float(rows.probabilities.sum())
    return float((rows.weights * rows.probabilities).sum())


def _mean_gap(rows: Measured) -> float:
    return (_sum_probability(rows) - rows.positives) / rows.total


def _brier(rows: Measured) -> float:
    return proper.brier_score(rows.outcomes, rows.probabilities, weights=rows.weights)


def _squared_error_sum(rows: Measured) -> float:
    errors = proper.squared_errors(rows.outcomes, rows.probabilities)
    return float((errors if rows.weights is None else errors * rows.weights).sum())


def _log_loss(rows: Measured) -> float:
    losses = proper.log_losses(rows.outcomes, rows.probabilities, logits=rows.logits)
    value = proper.mean(losses, rows.weights)
    if np.isinf(value):
        wrong = np.isinf(losses)
        if rows.weights is not None:
            wrong &= rows.weights > 0.0
        raise Undefined(
            f"infinite: {np.count_nonzero(wrong)} of {rows.outcomes.size} rows got a probability "
            "of exactly 0 or 1 and it was wrong"
        )
    return value


def _roc_auc(rows: Measured) -> float:
    value = ranking.roc_auc(rows.outcomes, rows.logits, weights=rows.weights)
    if np.isnan(value):
        only = int(rows.positives > 0)
        raise Undefined(f"one class only: every row measured has outcome {only}")
    return value


def _accuracy(rows: Measured) -> float:
    return ranking.accuracy(rows.outcomes, rows.probabilities, weights=rows.weights)


def _correct(rows: Measured) -> float:
    right = (rows.probabilities >= 0.5) == (rows.outcomes == 1)
    if rows.weights is None:
        return int(np.count_nonzero(right))
    return float(rows.weights[right].sum())


def _mean_confidence(rows: Measured) -> float:
    return ranking.mean_confidence(rows.outcomes, rows.probabilities, weights=rows.weights)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("rows", lambda rows: rows.total, None, "Number of rows (sum of weights)."),
        Metric("positives", lambda rows: rows.positives, None, "Rows with outcome 1."),
        Metric("observed_rate", _observed_rate, None, "Share of rows with outcome 1."),
        Metric("mean_probability", _mean_probability, None, "What the model says on average."),
        Metric("sum_probability", _sum_probability, None, "Positives the model expects."),
        Metric("mean_gap", _mean_gap, None, "Mean probability minus observed rate."),
        Metric("brier", _brier, "lower", "Mean squared difference of probability and outcome."),
        Metric("squared_error_sum", _squared_error_sum, "lower", "Sum of the squared differences."),
        Metric("log_loss", _log_loss, "lower", "Mean -ln of the probability of what happened."),
        Metric("roc_auc", _roc_auc, "higher", "Chance that a positive scores above a negative."),
        Metric("accuracy", _accuracy, "higher", "Share of right decisions at 0.5."),
        Metric("correct", _correct, "higher", "Number of right decisions at 0.5."),
        Metric("mean_confidence", _mean_confidence, None, "Mean of max(p, 1 - p)."),
    )
}
