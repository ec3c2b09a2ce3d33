"""How do the lessons measure and mend probabilities?

The reliability table and the calibration error over equal-width bins, the area under the ROC
curve, the sharpening that keeps the order, and the correction with a slope and an intercept.
Everything takes outcomes first, then probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reference.arithmetic import add_up
from reference.linear import sigmoid

BINS = 5
SHARPENING_POWER = 3.0
ROUNDS = 600
STEP = 0.5
EDGE = 1e-6


@dataclass
class Bin:
    """A line of the reliability table, as counts and sums."""

    count: int = 0
    sum_predicted: float = 0.0
    positives: int = 0

    @property
    def mean_predicted(self) -> float:
        return self.sum_predicted / self.count

    @property
    def observed_rate(self) -> float:
        return self.positives / self.count

    @property
    def gap(self) -> float:
        """Mean predicted less observed rate."""
        return self.mean_predicted - self.observed_rate


def reliability(
    outcomes: Sequence[int], probabilities: Sequence[float], bins: int = BINS
) -> list[Bin]:
    """Return the reliability table over equal-width bins, empty ones too.

    The bin is the whole part of probability times `bins`, as in the calibration lesson; this may
    place a probability beside an edge j / bins otherwise than a comparison with that edge does.
    """
    table = [Bin() for _ in range(bins)]
    for outcome, probability in zip(outcomes, probabilities, strict=True):
        line = table[min(bins - 1, int(probability * bins))]
        line.count += 1
        line.sum_predicted += probability
        line.positives += outcome
    return table


def calibration_error(
    outcomes: Sequence[int], probabilities: Sequence[float], bins: int = BINS
) -> float:
    """Return the expected calibration error: |sum predicted - positives| over the rows."""
    table = reliability(outcomes, probabilities, bins)
    return add_up(abs(line.sum_predicted - line.positives) for line in table) / len(outcomes)


def roc_auc(outcomes: Sequence[int], probabilities: Sequence[float]) -> float:
    """Return the area under the ROC curve by the rank sum, ties taking their mean rank."""
    ranked = sorted(zip(probabilities, outcomes, strict=True))
    positives = sum(outcomes)
    rank_sum, start = 0.0, 0
    while start < len(ranked):
        end = start
        while end < len(ranked) and ranked[end][0] == ranked[start][0]:
            end += 1
        mean_rank = (start + end + 1) / 2.0
        rank_sum += mean_rank * sum(outcome for _, outcome in ranked[start:end])
        start = end
    best = positives * (len(ranked) - positives)
    return (rank_sum - positives * (positives + 1) / 2) / best


def sharpen(probability: float, power: float = SHARPENING_POWER) -> float:
    """Return the probability pushed towards 0 or 1, in an order-preserving way."""
    towards_one = probability**power
    return towards_one / (towards_one + (1 - probability) ** power)


def clipped_logit(probability: float, edge: float = EDGE) -> float:
    """Return the log odds of a probability kept at least `edge` away from 0 and 1."""
    kept = min(1 - edge, max(edge, probability))
    return math.log(kept / (1 - kept))


class LogisticMap(NamedTuple):
    """The correction that sees nothing but the score: a slope and an intercept on its logit."""

    slope: float
    intercept: float

    def __call__(self, probability: float) -> float:
        return sigmoid(self.slope * clipped_logit(probability) + self.intercept)


def fit_logistic_map(
    outcomes: Sequence[int],
    probabilities: Sequence[float],
    *,
    rounds: int = ROUNDS,
    step: float = STEP,
) -> LogisticMap:
    """Return the correction after `rounds` rounds of descent from slope 1 and intercept 0."""
    logits = [clipped_logit(probability) for probability in probabilities]
    slope, intercept = 1.0, 0.0
    for _ in range(rounds):
        tilt = lift = 0.0
        for logit, outcome in zip(logits, outcomes, strict=True):
            error = sigmoid(slope * logit + intercept) - outcome
            tilt += error * logit
            lift += error
        slope -= step * tilt / len(logits)
        intercept -= step * lift / len(logits)
    return LogisticMap(slope, intercept)
