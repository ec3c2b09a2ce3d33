"""Slope and intercept on the logit: the score is stretched and moved, its order kept.

Two ways to learn the same map a * z + b:

- `logistic_descent` is the subscriber lesson's own: batch gradient descent from slope 1 and
  intercept 0, logits clipped at probabilities of 1e-6, the sigmoid's argument at 30.
- `platt` is Platt (1999), "Probabilistic outputs for support vector machines": the minimum of the
  log loss against his smoothed targets, found by Newton steps with a halving line search as in Lin,
  Lin and Weng (2007), "A note on Platt's probabilistic outputs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kalibre.calibrators.base import (
    CLIP,
    CLIP_LOGIT,
    Calibrator,
    Fitted,
    Floats,
    clip_note,
    reversed_note,
)
from kalibre.checks import check_count, check_number
from kalibre.logits import expit, softplus

# Just enough ridge for scores that are all equal, far below what a digit could show.
_RIDGE = 1e-12
# A last step below this leaves the digits that the lesson prints where they are.
_SETTLED = 1e-3


@dataclass(frozen=True)
class FittedDescent(Fitted):
    """slope * z + intercept, with z and the result kept within bounds as in the lesson."""

    method: ClassVar[str] = "logistic_descent"

    slope: float = 1.0
    intercept: float = 0.0
    clip_logit: float = CLIP_LOGIT
    bound: float = 30.0

    def map_logits(self, logits: Floats) -> Floats:
        """The line through the clipped logits, itself clipped; ties appear beyond the clips."""
        inside = np.clip(logits, -self.clip_logit, self.clip_logit)
        return np.clip(self.slope * inside + self.intercept, -self.bound, self.bound)

    def parameters(self) -> dict[str, float]:
        """Slope and intercept; the clips are settings."""
        return {"slope": self.slope, "intercept": self.intercept}


@dataclass(frozen=True)
class LogisticDescent(Calibrator):
    """The lesson's correction: `rounds` steps of batch gradient descent on the log loss."""

    name: ClassVar[str] = "logistic_descent"
    minimum_rows: ClassVar[int] = 100

    rounds: int = 600
    step: float = 0.5
    clip: float = CLIP
    bound: float = 30.0

    def __post_init__(self) -> None:
        check_count(self.rounds, "logistic_descent rounds")
        check_number(self.step, "logistic_descent step", low=0.0, low_allowed=False)
        check_number(self.clip, "logistic_descent clip", low=0.0, high=0.4, low_allowed=False)
        check_number(self.bound, "logistic_descent bound", low=0.0, low_allowed=False)

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedDescent:
        clip_logit = float(np.log((1.0 - self.clip) / self.clip))
        scores = np.clip(logits, -clip_logit, clip_logit)
        shares = weights / weights.sum()
        slope, intercept, moved = 1.0, 0.0, 0.0
        for _ in range(self.rounds):
            line = np.clip(slope * scores + intercept, -self.bound, self.bound)
            error = (expit(line) - outcomes) * shares
            moved = self.step * float((error * scores).sum())
            slope -= moved
            intercept -= self.step * float(error.sum())
        notes = (
            *clip_note(logits, clip_logit),
            *reversed_note(self.name, slope),
            *self._settled_note(moved),
        )
        return FittedDescent(
            slope=slope, intercept=intercept, clip_logit=clip_logit, bound=self.bound, notes=notes
        )

    def _settled_note(self, moved: float) -> tuple[str, ...]:
        """Wide scores make a fixed step swing about the minimum, at worst without any order."""
        if abs(moved) <= _SETTLED:
            return ()
        note = (
            f"{self.name} had not settled: round {self.rounds} still moved the slope by "
            f"{abs(moved):.4f}; a smaller step helps, platt has none to choose"
        )
        return (note,)


@dataclass(frozen=True)
class FittedPlatt(Fitted):
    """slope * z + intercept on logits drawn in to the clip."""

    method: ClassVar[str] = "platt"

    slope: float = 1.0
    intercept: float = 0.0

    def map_logits(self, logits: Floats) -> Floats:
        """The line through the logits, which keep their order beyond the clip."""
        return self.slope * drawn_in(logits) + self.intercept


@dataclass(frozen=True)
class Platt(Calibrator):
    """Platt scaling on the logit, with his target smoothing."""

    name: ClassVar[str] = "platt"
    minimum_rows: ClassVar[int] = 100

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedPlatt:
        positives = float(weights[outcomes == 1.0].sum())
        negatives = float(weights.sum()) - positives
        targets = np.where(
            outcomes == 1.0, (positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0)
        )
        scores = drawn_in(logits)
        columns = np.column_stack([scores, np.ones_like(scores)])
        slope, intercept = minimise_log_loss(columns, targets, weights)
        notes = (*clip_note(logits, CLIP_LOGIT), *reversed_note(self.name, slope))
        return FittedPlatt(slope=slope, intercept=intercept, notes=notes)


def drawn_in(logits: Floats) -> Floats:
    """Logits clipped at probabilities of 1e-6, but for a trace that keeps their order.

    A plain clip would tie all scores beyond it, which would move ROC AUC; the trace stays below
    3e-5 and so out of sight.
    """
    inside = np.clip(logits, -CLIP_LOGIT, CLIP_LOGIT)
    beyond = np.clip(logits, -1e9, 1e9) - inside
    return inside + 1e-6 * np.arcsinh(beyond)


def minimise_log_loss(columns: Floats, targets: Floats, weights: Floats) -> list[float]:
    """Coefficients of the logit, linear in the columns, with the smallest weighted log loss.

    Parameters
    ----------
    columns : shape (n, k).
    targets : shape (n,), probabilities in [0, 1].
    weights : shape (n,), positive.
    """
    shares = weights / weights.sum()
    coefficients = np.zeros(columns.shape[1])
    loss = mean_log_loss(columns, targets, shares, coefficients)
    for _ in range(100):
        said = expit((columns * coefficients).sum(axis=1))
        slope = (columns * ((said - targets) * shares)[:, None]).sum(axis=0) + _RIDGE * coefficients
        spread = (said * (1.0 - said) * shares)[:, None]
        curvature = np.array(
            [(columns * spread * column[:, None]).sum(axis=0) for column in columns.T]
        )
        step = np.linalg.solve(curvature + _RIDGE * np.eye(coefficients.size), slope)
        size = 1.0
        while size > 1e-10:
            tried = coefficients - size * step
            lower = mean_log_loss(columns, targets, shares, tried)
            if lower <= loss:
                break
            size /= 2.0
        else:
            break
        moved = np.abs(tried - coefficients).max()
        coefficients, loss = tried, lower
        if moved <= 1e-13 * max(1.0, float(np.abs(coefficients).max())):
            break
    return [float(value) for value in coefficients]


def mean_log_loss(columns: Floats, targets: Floats, shares: Floats, coefficients: Floats) -> float:
    """The log loss of a logit linear in the columns, and the trace of ridge that bounds it."""
    line = (columns * coefficients).sum(axis=1)
    ridge = 0.5 * _RIDGE * float(np.square(coefficients).sum())
    return float((shares * (softplus(line) - targets * line)).sum()) + ridge
