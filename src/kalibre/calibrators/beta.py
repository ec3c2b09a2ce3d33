"""A map with one bend on each side: logistic regression on ln p and -ln(1 - p).

Kull, Silva Filho, Flach (2017), "Beta calibration: a well-founded and easily implemented
improvement on logistic calibration for binary classifiers": logit = a * ln(p) - b * ln(1 - p) + c
with a, b >= 0. With a = b it is a slope and an intercept on the logit; with a and b apart it also
mends scores that are pushed towards one end only.

The constraint is met exactly: log loss is convex, so its smallest value with a, b >= 0 is the best
of the fits with neither, either or both of them held at 0 that came out non-negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kalibre.calibrators.base import Calibrator, Fitted, Floats, finite_logits
from kalibre.calibrators.logistic import mean_log_loss, minimise_log_loss
from kalibre.logits import softplus


@dataclass(frozen=True)
class FittedBeta(Fitted):
    """a * ln(p) - b * ln(1 - p) + c."""

    method: ClassVar[str] = "beta"

    a: float = 1.0
    b: float = 1.0
    c: float = 0.0

    def map_logits(self, logits: Floats) -> Floats:
        """The curve, from logits, so that p may be as close to 0 or 1 as it likes."""
        mapped = np.full(logits.shape, self.c)
        # A coefficient held at 0 also switches off an infinite logarithm.
        if self.a:
            mapped -= self.a * softplus(-logits)
        if self.b:
            mapped += self.b * softplus(logits)
        return mapped


@dataclass(frozen=True)
class Beta(Calibrator):
    """Beta calibration with all three parameters."""

    name: ClassVar[str] = "beta"
    minimum_rows: ClassVar[int] = 150

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedBeta:
        scores, notes = finite_logits(logits)
        columns = np.column_stack([-softplus(-scores), softplus(scores), np.ones_like(scores)])
        best: Floats = np.zeros(3)
        lowest = np.inf
        for free in ((0, 1, 2), (0, 2), (1, 2), (2,)):
            coefficients = np.zeros(3)
            coefficients[list(free)] = minimise_log_loss(columns[:, free], outcomes, weights)
            if coefficients[:2].min() < 0.0:
                continue
            loss = mean_log_loss(columns, outcomes, weights / weights.sum(), coefficients)
            if loss < lowest:
                best, lowest = coefficients, loss
        a, b, c = (float(value) for value in best)
        return FittedBeta(a=a, b=b, c=c, notes=(*notes, *_bound_notes(best)))


def _bound_notes(coefficients: Floats) -> tuple[str, ...]:
    held = [name for name, value in zip("ab", coefficients, strict=False) if value == 0.0]
    if len(held) == 2:
        return ("beta holds a and b at 0: the scores are reversed or carry nothing",)
    if held:
        return (
            f"beta holds {held[0]} at 0: one side of the scores carries nothing or is reversed",
        )
    return ()
