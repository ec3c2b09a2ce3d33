"""What do many splits say that one cannot: how far does a number move, and is a difference more than that?

Splits of one table share most of their rows, so their scores are not independent. The naive interval of a
mean difference takes them as if they were and shrinks with every further split; the corrected resampled one
(Nadeau and Bengio 2003, "Inference for the generalization error") does not shrink below what one table can
tell.

Where a model draws by itself, its own seed adds to the variance over splits. The same splits learned with
further seeds tell the two apart: the variance within a split is the seed's, and what the variance over
splits has beyond it is the split's (one-way analysis of variance; unbiased, so it can fall below 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.leak import Interval, resampled_interval

Floats = NDArray[np.float64]


@dataclass
class Numbers:
    """Metrics by name, and reasons where there are none."""

    metrics: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)

    def add_interval(self, name: str, interval: Interval) -> None:
        """Both ends of an interval, as `NAME_low` and `NAME_high`, and its test's `NAME_p_value`."""
        for end in ("low", "high", "p_value"):
            value = getattr(interval, end)
            if value is None:
                self.undefined[f"{name}_{end}"] = str(interval.undefined)
            else:
                self.metrics[f"{name}_{end}"] = value


def quantile_name(share: float) -> str:
    """`quantile_0.025`, `quantile_0.5`."""
    return f"quantile_{share:g}"


def add_distribution(
    numbers: Numbers, name: str, values: ArrayLike, *, quantiles: Sequence[float], reason: str
) -> None:
    """Mean, sample standard deviation and quantiles of one measurement over the splits.

    Parameters
    ----------
    numbers : Numbers
        Takes `NAME/mean` and so on, and `NAME/splits` where the measurement has no value in some split.
    name : str
        The measurement.
    values : array, shape (n,)
        One value a split, NaN where there is none.
    quantiles : sequence of float
        Shares in [0, 1]; linear between neighbouring values.
    reason : str
        Why there is no value, where there is none.
    """
    given = np.asarray(values, dtype=np.float64)
    known = given[np.isfinite(given)]
    if len(known) < len(given):
        numbers.metrics[f"{name}/splits"] = len(known)
    if not len(known):
        numbers.undefined[f"{name}/mean"] = f"in none of {len(given)} splits: {reason}"
        return
    numbers.metrics[f"{name}/mean"] = float(known.mean())
    if len(known) > 1:
        numbers.metrics[f"{name}/standard_deviation"] = float(known.std(ddof=1))
    for share, value in zip(quantiles, np.quantile(known, quantiles), strict=True):
        numbers.metrics[f"{name}/{quantile_name(share)}"] = float(value)


def add_difference(
    numbers: Numbers,
    name: str,
    after: ArrayLike,
    before: ArrayLike,
    *,
    ratio: float,
    level: float,
) -> None:
    """The paired difference of a measurement, after minus before, split by split.

    Parameters
    ----------
    numbers : Numbers
        Takes `NAME/mean`, `NAME/lower`, `NAME/equal` and `NAME/higher` (numbers of splits, unrounded
        values compared), and both intervals of the mean with the p-values of a mean of 0.
    name : str
        What the difference is called.
    after, before : array, shape (n,)
        One value a split, NaN where there is none.
    ratio : float
        Rows measured over rows learned from, those of a calibrator included.
    level : float
        Confidence level of the intervals.
    """
    first, second = np.asarray(before, np.float64), np.asarray(after, np.float64)
    both = np.isfinite(first) & np.isfinite(second)
    differences = second[both] - first[both]
    numbers.metrics[f"{name}/lower"] = int(np.count_nonzero(differences < 0))
    numbers.metrics[f"{name}/equal"] = int(np.count_nonzero(differences == 0))
    numbers.metrics[f"{name}/higher"] = int(np.count_nonzero(differences > 0))
    if len(differences):
        numbers.metrics[f"{name}/mean"] = float(differences.mean())
    else:
        numbers.undefined[f"{name}/mean"] = "in no split have both a value"
    for kind, share in (("naive", 0.0), ("corrected", ratio)):
        interval = (
            resampled_interval(differences, ratio=share, level=level)
            if len(differences) > 1
            else Interval(undefined="an interval needs two splits at least")
        )
        numbers.add_interval(f"{name}/{kind}", interval)


def add_variances(
    numbers: Numbers, name: str, values: ArrayLike, seeds: ArrayLike, further: ArrayLike
) -> None:
    """The variance of a measurement, and how much of it is the split's and how much the model's own seed's.

    Parameters
    ----------
    numbers : Numbers
        Takes `NAME/variance`, `NAME/variance_from_model_seed` and `NAME/variance_from_split`.
    name : str
        The measurement.
    values : array, shape (n,)
        One value a fit, NaN where there is none.
    seeds : array of int, shape (n,)
        The split of each fit.
    further : array of int, shape (n,)
        0 where the model has its own seed, more where it has another.
    """
    given, split = np.asarray(values, np.float64), np.asarray(seeds)
    known = np.isfinite(given)
    own = given[known & (np.asarray(further) == 0)]
    if len(own) < 2:
        numbers.undefined[f"{name}/variance"] = "a variance needs two splits at least"
        return
    total = float(own.var(ddof=1))
    numbers.metrics[f"{name}/variance"] = total
    _, group, fits = np.unique(split[known], return_inverse=True, return_counts=True)
    spare = len(group) - len(fits)
    if not spare:
        reason = "no split was learned with two seeds"
        numbers.undefined[f"{name}/variance_from_model_seed"] = reason
        numbers.undefined[f"{name}/variance_from_split"] = reason
        return
    centred = given[known] - (np.bincount(group, weights=given[known]) / fits)[group]
    from_seed = float(np.square(centred).sum() / spare)
    numbers.metrics[f"{name}/variance_from_model_seed"] = from_seed
    numbers.metrics[f"{name}/variance_from_split"] = total - from_seed


def percentile(values: ArrayLike, printed: float, *, decimals: int) -> float | None:
    """Where a printed figure stands among the same figure of many splits, in percent.

    Parameters
    ----------
    values : array, shape (n,)
        The figure in every split, in the printed unit; NaN where it has no value.
    printed : float
        The figure as it is printed.
    decimals : int
        Digits it is printed with; values that print alike count as equal.

    Returns
    -------
    float or None
        Share of the splits below it, and half of those equal to it, in [0, 100]; None without splits.
    """
    given = np.asarray(values, dtype=np.float64)
    known = np.array([float(f"{v:.{decimals}f}") for v in given[np.isfinite(given)].tolist()])
    if not len(known):
        return None
    figure = float(f"{printed:.{decimals}f}")
    below, equal = np.count_nonzero(known < figure), np.count_nonzero(known == figure)
    return 100.0 * float(below + equal / 2) / len(known)
