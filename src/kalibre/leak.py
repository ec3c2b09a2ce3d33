"""How much of a score came from learning preparation outside the folds, and can it be told from
zero?

The leak of a rung is its score minus that of the rung with everything inside, on the same folds,
seed and model: **signed**, because learning outside the folds can flatter a score or spoil it
(Moscovich and Rosset 2022, "On the cross-validation bias due to unsupervised preprocessing"), in
the metric's own unit (a leak in a loss flatters where it is negative).

Scores of different folds are not independent: their training rows overlap. The naive interval takes
them as if they were and is too short; the corrected resampled interval widens it (Nadeau and Bengio
2003, "Inference for the generalization error"). With one run of four folds even that is a rough
guide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_number

NEGLIGIBLE = 1e-12
"""Differences that vary by less than this vary by rounding alone."""


@dataclass(frozen=True)
class Interval:
    """An interval of a mean, or the reason why there is none.

    Attributes
    ----------
    low, high : float or None
        Its ends.
    undefined : str or None
        Why it has none.
    p_value : float or None
        Two-sided, of a true mean of 0, by the same variance.
    """

    low: float | None = None
    high: float | None = None
    undefined: str | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Leak:
    """The paired difference of two rungs in one metric.

    Attributes
    ----------
    differences : ndarray, shape (J,)
        Outside minus inside, one per fold in which both have a value.
    mean : float or None
        Their mean; None if there is no such fold.
    spread : float or None
        Their population standard deviation.
    naive, corrected : Interval
        Intervals of the mean at `level`.
    ratio : float
        Mean measured rows over mean learned rows of the folds.
    level : float
        Confidence level, in (0, 1).
    """

    differences: NDArray[np.float64]
    mean: float | None
    spread: float | None
    naive: Interval
    corrected: Interval
    ratio: float
    level: float

    def numbers(self) -> tuple[dict[str, float], dict[str, str]]:
        """The leak as metrics: `leak`, its spread and the ends of both intervals; or why not."""
        metrics: dict[str, float] = {"leak_folds": len(self.differences)}
        undefined: dict[str, str] = {}
        if self.mean is None or self.spread is None:
            reason = "no fold has a value in both rungs"
            undefined |= {"leak": reason, "leak_spread": reason}
        else:
            metrics |= {"leak": self.mean, "leak_spread": self.spread}
        for name, interval in (("naive", self.naive), ("corrected", self.corrected)):
            for end, value in (("low", interval.low), ("high", interval.high)):
                if value is None:
                    undefined[f"leak_{name}_{end}"] = str(interval.undefined)
                else:
                    metrics[f"leak_{name}_{end}"] = value
        return metrics, undefined


def measure_leak(
    outside: ArrayLike,
    inside: ArrayLike,
    *,
    learned_rows: ArrayLike,
    measured_rows: ArrayLike,
    level: float = 0.95,
) -> Leak:
    """Compare two rungs fold by fold.

    Parameters
    ----------
    outside, inside : array, shape (J,)
        One metric of the two rungs, NaN where a fold has no value.
    learned_rows, measured_rows : array of int, shape (J,)
        Rows each fold learns from (those of a calibrator included) and measures.
    level : float
        Confidence level of the intervals.

    Raises
    ------
    ValueError
        If the lengths differ, or the level is no share.
    """
    values = [np.asarray(v, dtype=float) for v in (outside, inside, learned_rows, measured_rows)]
    first, second, learned, measured = values
    if any(v.ndim != 1 or v.shape != first.shape for v in values):
        raise ValueError(
            "outside, inside, learned_rows and measured_rows need one value per fold each, found "
            "shapes " + ", ".join(str(v.shape) for v in values)
        )
    both = np.isfinite(first) & np.isfinite(second)
    counted = both if both.any() else np.ones_like(both)
    ratio = float(measured[counted].mean() / learned[counted].mean()) if len(first) else 0.0
    differences = first[both] - second[both]
    return Leak(
        differences=differences,
        mean=float(differences.mean()) if len(differences) else None,
        spread=float(differences.std()) if len(differences) else None,
        naive=resampled_interval(differences, ratio=0.0, level=level),
        corrected=resampled_interval(differences, ratio=ratio, level=level),
        ratio=ratio,
        level=level,
    )


def resampled_interval(differences: ArrayLike, *, ratio: float, level: float = 0.95) -> Interval:
    """A Student t interval of the mean of paired differences over resamples.

    The variance of the mean is s^2 (1 / J + ratio), with s^2 the sample variance of the J
    differences and J - 1 degrees of freedom (Nadeau and Bengio 2003, equation for their corrected
    resampled t).

    Parameters
    ----------
    differences : array, shape (J,)
        One difference per fold (folds times repeats).
    ratio : float
        Rows measured over rows learned from in a fold; 0 gives the naive interval.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    Interval
        Undefined for fewer than two differences, and where they are all equal: without variance
        there is nothing to build an interval from.

    Raises
    ------
    ValueError
        If the level or the ratio is out of range.
    """
    if not 0.0 < check_number(level, "level", low=0.0) < 1.0:
        raise ValueError(f"level: found {level!r}, expected a share between 0 and 1, such as 0.95")
    check_number(ratio, "ratio", low=0.0)
    values = np.asarray(differences, dtype=float)
    count = len(values)
    if count < 2:
        return Interval(undefined=f"{count} difference: an interval needs at least two folds")
    if np.ptp(values) <= NEGLIGIBLE:
        return Interval(
            undefined=(
                f"no variance: all {count} differences are {round(float(values.mean()), 12):g}"
            )
        )
    # The special function alone: scipy.stats takes a second to import.
    from scipy.special import stdtr, stdtrit

    deviation = float(np.sqrt(values.var(ddof=1) * (1 / count + ratio)))
    half = float(stdtrit(count - 1, 0.5 + level / 2)) * deviation
    mean = float(values.mean())
    p_value = 2.0 * float(stdtr(count - 1, -abs(mean) / deviation))
    return Interval(mean - half, mean + half, p_value=p_value)
