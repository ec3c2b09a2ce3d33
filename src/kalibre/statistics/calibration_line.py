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
from kalibre.logits import expit, logit, softplus

Floats = NDArray[np.float64]
Method = Literal["wald", "profile"]

CLIP = 1e-6
"""Probabilities closer to 0 or 1 are moved here."""
_STEPS = 100
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
    clipped = int(np.count_nonzero(np.abs(given) > bound))
    rows = _rows(checked, np.clip(given, -bound, bound))
    quantile = NormalDist().inv_cdf(0.5 + level / 2.0)
    intercept, _ = _fit(rows, free=(0,), quantile=quantile, method=method)
    slope, pair = _fit(rows, free=(0, 1), quantile=quantile, method=method)
    return CalibrationLine(intercept, slope, pair[0], clipped, level)


@dataclass(frozen=True, eq=False)
class _Rows:
    """A row of ones and the logits, with outcomes and weights; columns are rows of the table."""

    columns: Floats
    outcomes: Floats
    weights: Floats

    def loss(self, coefficients: Floats) -> float:
        """Minus the log likelihood."""
        line = coefficients @ self.columns
        return float((self.weights * (softplus(line) - self.outcomes * line)).sum())

    def derivatives(self, coefficients: Floats, free: list[int]) -> tuple[Floats, Floats, Floats]:
        """Gradient, curvature and the gradient's variance, of the free coefficients."""
        columns = self.columns[free]
        said = expit(coefficients @ self.columns)
        slope = (columns * (self.weights * (said - self.outcomes))).sum(axis=1)
        spread = self.weights * said * (1.0 - said)
        curvature = (columns[:, None] * columns[None] * spread).sum(axis=2)
        variance = (columns[:, None] * columns[None] * spread * self.weights).sum(axis=2)
        return slope, curvature, variance


def _rows(checked: Predictions, logits: Floats) -> _Rows:
    weights = np.ones(logits.size) if checked.weights is None else checked.weights
    present = weights > 0.0
    logits = logits[present]
    return _Rows(
        np.vstack([np.ones(logits.size), logits]),
        checked.outcomes[present].astype(np.float64),
        weights[present],
    )


def _fit(
    rows: _Rows, *, free: tuple[int, ...], quantile: float, method: Method
) -> tuple[Coefficient, tuple[float, float]]:
    """The last of the free coefficients, and both coefficients."""
    reason = _no_maximum(rows, slope_free=1 in free)
    if reason:
        nan = float("nan")
        return Coefficient(nan, nan, nan, reason), (nan, nan)
    wanted = list(free)
    best = _maximise(rows, np.array([0.0, 1.0]), wanted)
    _, curvature, variance = rows.derivatives(best, wanted)
    inverse = np.linalg.inv(curvature)
    error = float(np.sqrt((inverse @ variance @ inverse)[-1, -1]))
    estimate = float(best[wanted[-1]])
    half = quantile * error
    lower, upper = estimate - half, estimate + half
    if method == "profile":
        excess = _profile(rows, best, wanted, 0.5 * quantile**2)
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
    logits = rows.columns[1]
    if np.ptp(logits) == 0.0:
        return "every row has the same probability: a slope needs at least two"
    yes, no = logits[happened], logits[~happened]
    if yes.min() >= no.max() or yes.max() <= no.min():
        return "the predictions part the outcomes without an error: the slope is infinite"
    return None


def _maximise(rows: _Rows, start: Floats, free: list[int]) -> Floats:
    """Newton steps on the free coefficients, halved until the likelihood rises."""
    best, loss = start.copy(), rows.loss(start)
    for _ in range(_STEPS):
        slope, curvature, _ = rows.derivatives(best, free)
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
        size = 1.0
        while size > 1e-10:
            tried = best.copy()
            tried[free] -= size * step
            found = rows.loss(tried)
            if found <= loss:
                break
            size /= 2.0
        else:
            return best
        moved = float(np.abs(tried - best).max())
        best, loss = tried, found
        if moved <= 1e-12 * max(1.0, float(np.abs(best).max())):
            return best
    return best


def _profile(
    rows: _Rows, best: Floats, free: list[int], allowed: float
) -> Callable[[float], float]:
    """By how much the log likelihood, at its best for a held coefficient, falls short of allowed."""
    held, others = free[-1], free[:-1]
    lowest = rows.loss(best)

    def excess(value: float) -> float:
        start = best.copy()
        start[held] = value
        found = _maximise(rows, start, others) if others else start
        return rows.loss(found) - lowest - allowed

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
