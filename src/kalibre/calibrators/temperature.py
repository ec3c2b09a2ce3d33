"""How many times too loud is the model? One number T divides every logit.

Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks"; the lesson on the
biopsies. T is the one with the smallest log loss. In b = 1 / T the loss is convex, so its minimum
is where the derivative is zero, and safeguarded Newton steps reach it to rounding: no tolerance to
choose, and fewer passes over the data than a search that only looks at the loss.

Dividing by a positive number changes no order and no decision at 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kalibre.calibrators.base import Calibrator, Fitted, Floats, finite_logits
from kalibre.checks import check_number

_STEPS = 200


@dataclass(frozen=True)
class FittedTemperature(Fitted):
    """Logits divided by `temperature`."""

    method: ClassVar[str] = "temperature"

    temperature: float = 1.0

    def map_logits(self, logits: Floats) -> Floats:
        """The logits divided by T."""
        return logits / self.temperature


@dataclass(frozen=True)
class Temperature(Calibrator):
    """The T in [low, high] with the smallest log loss."""

    name: ClassVar[str] = "temperature"
    minimum_rows: ClassVar[int] = 50

    low: float = 0.05
    high: float = 20.0

    def __post_init__(self) -> None:
        check_number(self.low, "temperature low", low=0.0, low_allowed=False)
        check_number(self.high, "temperature high", low=self.low, low_allowed=False)

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedTemperature:
        scores, notes = finite_logits(logits)
        margins = np.where(outcomes == 1.0, scores, -scores)
        if not margins.any():
            note = "every logit is 0: no temperature is better than another, 1 was kept"
            return FittedTemperature(temperature=1.0, notes=(*notes, note))
        shares = weights / weights.sum()
        inverse = _minimise(margins, shares, 1.0 / self.high, 1.0 / self.low)
        temperature = self._within_bounds(inverse)
        notes = (*notes, *self._bound_note(margins, shares, temperature))
        return FittedTemperature(temperature=temperature, notes=notes)

    def _within_bounds(self, inverse: float) -> float:
        """1 / b, and at a bound the bound itself, which 1 / (1 / bound) may miss by rounding."""
        if inverse <= 1.0 / self.high:
            return float(self.high)
        if inverse >= 1.0 / self.low:
            return float(self.low)
        return 1.0 / inverse

    def _bound_note(self, margins: Floats, shares: Floats, temperature: float) -> tuple[str, ...]:
        if temperature not in (self.low, self.high):
            return ()
        if temperature == self.low:
            why = (
                "no row, or hardly one, is on the wrong side of 0: sharper always looks better here"
            )
        elif float((margins * shares).sum()) <= 0.0:
            why = "the scores are reversed or carry nothing: higher ones went with fewer positives"
        else:
            why = "the scores carry almost nothing about the outcome"
        return (f"temperature stopped at its bound {temperature:g}: {why}",)


def _minimise(margins: Floats, shares: Floats, low: float, high: float) -> float:
    """The b in [low, high] where the mean of ln(1 + exp(-b * margin)) is smallest.

    A Newton step that leaves the bracket known to hold the minimum is replaced by the bracket's
    geometric middle, so that the search cannot diverge.
    """
    if _slope_and_curvature(margins, shares, low)[0] >= 0.0:
        return low
    if _slope_and_curvature(margins, shares, high)[0] <= 0.0:
        return high
    inside = min(max(1.0, low), high)
    for _ in range(_STEPS):
        slope, curvature = _slope_and_curvature(margins, shares, inside)
        if slope == 0.0:
            break
        step = inside - slope / curvature if curvature > 0.0 else np.inf
        # So much the rounding of the sums moves it; a step to the bracket's middle would lead astray.
        if abs(step - inside) <= 1e-14 * inside:
            break
        low, high = (inside, high) if slope < 0.0 else (low, inside)
        if not low < step < high:
            step = float(np.sqrt(low * high))
        if not low < step < high:
            break
        inside = step
    return inside


def _slope_and_curvature(margins: Floats, shares: Floats, b: float) -> tuple[float, float]:
    """First and second derivative of the mean log loss with respect to b."""
    size = np.abs(margins)
    tail = np.exp(-b * size)
    below = 1.0 / (1.0 + tail)
    wrong = np.where(margins >= 0.0, tail, 1.0) * below
    slope = -float((shares * margins * wrong).sum())
    curvature = float((shares * size * size * tail * below * below).sum())
    return slope, curvature
