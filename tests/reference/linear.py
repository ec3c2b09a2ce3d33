"""Which linear model do the lessons fit?

A logistic regression by plain gradient descent: every column is standardised by its training
rows, the coefficients start at zero, and each round moves them against the mean gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from reference.arithmetic import add_up

Row = dict[str, Any]

TARGET = "suspicious"
ROUNDS = 300
STEP = 0.5
CLIP = 30.0


def sigmoid(score: float) -> float:
    """Return the logistic function of a score, which is first clipped to [-30, 30]."""
    return 1 / (1 + math.exp(-max(-CLIP, min(CLIP, score))))


def descend(
    matrix: Sequence[Sequence[float]],
    outcomes: Sequence[int],
    *,
    positive_weight: float = 1.0,
    rounds: int = ROUNDS,
    step: float = STEP,
) -> tuple[list[float], float]:
    """Return coefficients and intercept after `rounds` rounds of gradient descent from zero.

    `matrix` is taken as it is: rows by columns, standardised or not.
    """
    width = len(matrix[0])
    coefficients, intercept = [0.0] * width, 0.0
    weights = [positive_weight if outcome else 1.0 for outcome in outcomes]
    total = add_up(weights)
    for _ in range(rounds):
        slopes, lift = [0.0] * width, 0.0
        for values, outcome, weight in zip(matrix, outcomes, weights, strict=True):
            error = (sigmoid(score(values, coefficients, intercept)) - outcome) * weight
            lift += error
            for column, value in enumerate(values):
                slopes[column] += error * value
        intercept -= step * lift / total
        for column in range(width):
            coefficients[column] -= step * slopes[column] / total
    return coefficients, intercept


def score(values: Sequence[float], coefficients: Sequence[float], intercept: float) -> float:
    """Return the intercept plus the weighted sum of a row's values."""
    weighted = 0.0
    for coefficient, value in zip(coefficients, values, strict=True):
        weighted += coefficient * value
    return intercept + weighted


class LinearModel(NamedTuple):
    """A fitted linear model: what it subtracts and divides by, and what it weighs with."""

    columns: tuple[str, ...]
    means: list[float]
    scales: list[float]
    coefficients: list[float]
    intercept: float

    def standardise(self, row: Row) -> list[float]:
        """Return the row's columns less their training means, over their training scales."""
        return [
            (row[column] - mean) / scale
            for column, mean, scale in zip(self.columns, self.means, self.scales, strict=True)
        ]

    def logit(self, row: Row) -> float:
        """Return the unclipped score of a row."""
        return score(self.standardise(row), self.coefficients, self.intercept)

    def probability(self, row: Row) -> float:
        """Return the probability that a row is positive."""
        return sigmoid(self.logit(row))


def fit(
    rows: Sequence[Row],
    columns: Sequence[str],
    *,
    positive_weight: float = 1.0,
    rounds: int = ROUNDS,
    step: float = STEP,
) -> LinearModel:
    """Return the linear model of `columns` learned on `rows`.

    A column's scale is its population standard deviation, or 1 where it never varies.
    """
    means, scales = [], []
    for column in columns:
        mean = add_up(row[column] for row in rows) / len(rows)
        variance = add_up((row[column] - mean) ** 2 for row in rows) / len(rows)
        means.append(mean)
        scales.append(variance**0.5 or 1.0)
    blank = LinearModel(tuple(columns), means, scales, [], 0.0)
    coefficients, intercept = descend(
        [blank.standardise(row) for row in rows],
        [row[TARGET] for row in rows],
        positive_weight=positive_weight,
        rounds=rounds,
        step=step,
    )
    return blank._replace(coefficients=coefficients, intercept=intercept)
