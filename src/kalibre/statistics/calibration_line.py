"""Are the predictions too high on the whole, and are they too bold?

Logistic recalibration (Cox 1958, "Two further applications of a model for binary regression"), read
as Van Calster et al. (2016), "A calibration hierarchy for risk models was defined: from utopia to
empirical data", Journal of Clinical Epidemiology 74, do:

- **calibration intercept** (calibration in the large): a in logit P(y = 1) = a + z, the slope held
  at 1. Below 0 the predictions are too high on the whole; 0 is true.
- **calibration slope**: b in logit P(y = 1) = a + b z. Below 1 the predictions are too bold, above
  1 too timid; 1 is true.

Probabilities are clipped at 1e-6 and 1 - 1e-6, and the clipped rows counted. Intervals are those of
Wald, or of the profile likelihood (Venzon and Moolgavkar 1988), which are surer with few rows.
With weights a row is one draw: variances take squared weights (the sandwich form), and there is no
likelihood to profile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import Predictions, check_number, check_predictions
from kalibre.logits import logit
from kalibre.metrics.bins import CHUNK

Floats = NDArray[np.float64]
Method = Literal["wald", "profile"]

CLIP = 1e-6
"""Probabilities closer to 0 or 1 are moved here."""
_STEPS = 100
_CLOSE = 1e-8
_ROUNDING = 1e-13
_LARGEST = 1e4


@dataclass(frozen=True)
class Coefficient:
    """An estimate with its interval; all NaN where `undefined` gives a reason."""

    estimate: float
    lower: float
    upper: float
    undefined: str | None = None


@dataclass(frozen=True)
class CalibrationLine:
    """Intercept (slope held at 1) and slope of the outcomes' logit on the predictions' logit.

    Attributes
    ----------
    intercept, slope : with their intervals.
    intercept_at_slope : the intercept that goes with the slope, for drawing the line.
    clipped : number of rows whose probability was clipped.
    level : confidence level of the intervals.
    """

    intercept: Coefficient
    slope: Coefficient
    intercept_at_slope: float
    clipped: int
    level: float


def calibration_line(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    logits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    level: float = 0.95,
    method: Method = "wald",
) -> CalibrationLine:
    """Fit both lines by maximum likelihood.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    logits : shape (n,), their logits where known more exactly; by default taken from them.
    weights : shape (n,); integer weights give the estimates, not the intervals, of repeated rows.
    level : confidence level of the intervals, a fraction.
    method : "wald", or "profile" for unweighted rows.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a level outside (0, 1), or profiles with weights.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    if not 0.0 < check_number(level, "level", low=0.0) < 1.0:
        raise ValueError(f"level: found {level!r}, expected a share between 0 and 1, such as 0.95")
    if method not in ("wald", "profile"):
        raise ValueError(f"method: found {method!r}, expected 'wald' or 'profile'")
    if method == "profile" and weights is not None:
        raise ValueError("method: weighted rows have no likelihood to profile, use 'wald'")
    bound = float(logit(1.0 - CLIP))
    given = logit(checked.probabilities) if logits is None else np.asarray(logits, dtype=float)
    # What lies at the clip itself may be off it by rounding.
    clipped = int(np.count_nonzero(np.abs(given) > bound * (1.0 + 1e-9)))
    rows = _rows(checked, np.clip(given, -bound, bound))
    quantile = NormalDist().inv_cdf(0.5 + level / 2.0)
    intercept, _ = _fit(rows, free=(0,), quantile=quantile, method=method)
    slope, pair = _fit(rows, free=(0, 1), quantile=quantile, method=method)
    return CalibrationLine(intercept, slope, pair[0], clipped, level)


@dataclass(frozen=True, eq=False)
class _Fit:
    """The likelihood of one line: minus its logarithm, its gradient and curvature."""

    loss: float
    gradient: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False)
class _Rows:
    """Clipped logits, outcomes and weights (None: all 1) of the rows that count."""

    logits: Floats
    outcomes: Floats
    weights: Floats | None

    def fit(self, line: Floats) -> _Fit:
        """Judge the line intercept + slope * logit, chunk by chunk."""
        loss = 0.0
        slope, spread = np.zeros(2), np.zeros(3)
        for start in range(0, self.logits.size, CHUNK):
            chunk = slice(start, start + CHUNK)
            z, happened = self.logits[chunk], self.outcomes[chunk]
            said = line[0] + line[1] * z
            tail = np.exp(-np.abs(said))
            losses = np.maximum(said, 0.0) + np.log1p(tail) - happened * said
            chance = np.where(said >= 0.0, 1.0, tail) / (1.0 + tail)
            pull = chance - happened
            width = chance * (1.0 - chance)
            if self.weights is not None:
                weight = self.weights[chunk]
                losses, pull, width = losses * weight, pull * weight, width * weight
            loss += float(losses.sum())
            slope += pull.sum(), (pull * z).sum()
            wide = width * z
            spread += width.sum(), wide.sum(), (wide * z).sum()
        return _Fit(loss, slope, spread[[[0, 1], [1, 2]]])

    def gradient_variance(self, line: Floats) -> Floats:
        """Variance of the gradient when each row is one draw: squared weights."""
        assert self.weights is not None
        squared = _Rows(self.logits, self.outcomes, np.square(self.weights))
        return squared.fit(line).curvature


def _rows(checked: Predictions, logits: Floats) -> _Rows:
    outcomes = checked.outcomes.astype(np.float64)
    if checked.weights is None:
        return _Rows(logits, outcomes, None)
    present = checked.weights > 0.0
    return _Rows(logits[present], outcomes[present], checked.weights[present])


def _fit(
    rows: _Rows, *, free: tuple[int, ...], quantile: float, method: Method
) -> tuple[Coefficient, tuple[float, float]]:
    """The last of the free coefficients, and both coefficients."""
    reason = _no_maximum(rows, slope_free=1 in free)
    if reason:
        nan = float("nan")
        return Coefficient(nan, nan, nan, reason), (nan, nan)
    wanted = list(free)
    best, fit = _maximise(rows, np.array([0.0, 1.0]), wanted)
    inverse = np.linalg.inv(fit.curvature[np.ix_(wanted, wanted)])
    variance = inverse
    if rows.weights is not None:
        drawn = rows.gradient_variance(best)[np.ix_(wanted, wanted)]
        variance = inverse @ drawn @ inverse
    estimate = float(best[wanted[-1]])
    half = quantile * float(np.sqrt(variance[-1, -1]))
    lower, upper = estimate - half, estimate + half
    if method == "profile":
        excess = _profile(rows, best, wanted, fit.loss + 0.5 * quantile**2)
        lower = _crossing(excess, estimate, -half)
        upper = _crossing(excess, estimate, half)
    return Coefficient(estimate, lower, upper), (float(best[0]), float(best[1]))


def _no_maximum(rows: _Rows, *, slope_free: bool) -> str | None:
    """Why the likelihood has no maximum, if it has none."""
    happened = rows.outcomes == 1.0
    if happened.all() or not happened.any():
        return f"one class only: every row measured has outcome {int(happened[0])}"
    if not slope_free:
        return None
    logits = rows.logits
    if np.ptp(logits) == 0.0:
        return "every row has the same probability: a slope needs at least two"
    yes, no = logits[happened], logits[~happened]
    if yes.min() >= no.max() or yes.max() <= no.min():
        return "the predictions part the outcomes without an error: the slope is infinite"
    return None


def _maximise(rows: _Rows, start: Floats, free: list[int]) -> tuple[Floats, _Fit]:
    """Newton steps on the free coefficients, halved until the likelihood rises."""
    best, fit = start, rows.fit(start)
    # Close to the top the likelihood is level to rounding, and a good step may seem to lose.
    slack = _ROUNDING * (1.0 + fit.loss)
    for _ in range(_STEPS):
        curvature = fit.curvature[np.ix_(free, free)]
        step = np.zeros(2)
        step[free] = np.linalg.lstsq(curvature, fit.gradient[free], rcond=None)[0]
        tried, found = best - step, rows.fit(best - step)
        while found.loss > fit.loss + slack and np.abs(step).max() > _CLOSE:
            step /= 2.0
            tried, found = best - step, rows.fit(best - step)
        if found.loss <= fit.loss + slack:
            best, fit = tried, found
        # Steps shrink by their square: after one this small the next would be rounding.
        if np.abs(step).max() <= _CLOSE * max(1.0, float(np.abs(best).max())):
            break
    return best, fit


def _profile(
    rows: _Rows, best: Floats, free: list[int], allowed: float
) -> Callable[[float], float]:
    """By how much the loss, at its best for a held coefficient, exceeds what is allowed."""
    held, others = free[-1], free[:-1]

    def excess(value: float) -> float:
        start = best.copy()
        start[held] = value
        fit = _maximise(rows, start, others)[1] if others else rows.fit(start)
        return fit.loss - allowed

    return excess


def _crossing(excess: Callable[[float], float], estimate: float, half: float) -> float:
    """Where the profile crosses its bound, beyond the estimate in the direction of `half`."""
    inside, outside = estimate, estimate + half
    while excess(outside) < 0.0:
        inside, outside = outside, estimate + 2.0 * (outside - estimate)
        if abs(outside - estimate) > _LARGEST:
            return float(np.copysign(np.inf, half))
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if excess(middle) < 0.0:
            inside = middle
        else:
            outside = middle
    return 0.5 * (inside + outside)
