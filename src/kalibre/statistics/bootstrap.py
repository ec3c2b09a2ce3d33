"""How far might a score have come out otherwise, with other rows of the same kind?

The bootstrap (Efron and Tibshirani 1993, *An Introduction to the Bootstrap*) draws the measured rows
anew with replacement and measures again. Two intervals are read off the resamples:

- `percentile` (chapter 13): their quantiles; at level 0.9 those at 5 % and 95 %.
- `bca` (chapter 14): quantiles moved for bias and for a spread that changes with the value, the
  second by a grouped jackknife.

Bins keep the edges of the full sample. Differences between two models are **paired**: both are
measured on the same resampled rows.

There is no interval for the plug-in ECE. Resampling adds a second helping of the noise that makes an
ECE too large, so that on a perfect model the estimate often lies outside its own interval: ECE has
its null band instead. The de-biased squared error suffers the same shift, but its size is known: the
resamples' mean is moved back onto the estimate, whichever method is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_count, check_number, check_predictions, check_scores
from kalibre.logits import logit
from kalibre.metrics.bins import BinRule
from kalibre.statistics.counted import DEBIASED, Counted, CountedRows, measures
from kalibre.statistics.resampling import Units, jackknife, resamples
from kalibre.statistics.rows import steady_order

Floats = NDArray[np.float64]
Method = Literal["percentile", "bca"]
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval.

    Attributes
    ----------
    estimate : the measure of all rows, NaN if it has no value.
    lower, upper : ends of the interval, NaN where `undefined` says why there is none.
    resamples : resamples in which the measure had a value.
    undefined : reason, or None.
    """

    estimate: float
    lower: float
    upper: float
    resamples: int
    undefined: str | None = None


@dataclass(frozen=True)
class Drawing:
    """How resamples are drawn and read.

    Attributes
    ----------
    seed : of the draws.
    resamples : their number.
    level : confidence level, a fraction: 0.9 means the quantiles at 5 % and 95 %.
    method : "percentile" or "bca"; the second is the surer one below a few hundred rows.
    stratified : keep the number of rows of each outcome; rows in groups cannot be stratified.
    """

    seed: int
    resamples: int = 1000
    level: float = 0.95
    method: Method = "bca"
    stratified: bool = False

    def __post_init__(self) -> None:
        check_count(self.resamples, "resamples")
        if not 0.0 < check_number(self.level, "level", low=0.0) < 1.0:
            raise ValueError(
                f"level: found {self.level!r}, expected a share between 0 and 1, such as 0.95"
            )
        if self.method not in ("percentile", "bca"):
            raise ValueError(f"method: found {self.method!r}, expected 'percentile' or 'bca'")


def bootstrap_intervals(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    drawing: Drawing,
    logits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    rules: Mapping[str, BinRule] | None = None,
) -> dict[str, Interval]:
    """Intervals of Brier score, log loss, accuracy, ROC AUC and the de-biased squared error.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    drawing : how resamples are drawn and read.
    logits : shape (n,), for log loss and ROC AUC; by default taken from the probabilities.
    weights : shape (n,); a row is one draw, whatever it weighs.
    groups : shape (n,), any values that sort; rows of one group are drawn together.
    rules : bin rules by name.

    Returns
    -------
    dict
        `brier`, `log_loss`, `accuracy`, `roc_auc`, and `<name>/debiased_squared_error` a rule.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; groups together with strata.
    """
    sample = _sample(outcomes, [(probabilities, logits)], weights, groups, drawing.stratified)
    (rows,), units = sample
    found, undefined = measures(rows, rules or {})
    return _intervals(rows, units, found, drawing) | _without_value(undefined)


def bootstrap_differences(
    outcomes: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    drawing: Drawing,
    first_logits: ArrayLike | None = None,
    second_logits: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    rules: Mapping[str, BinRule] | None = None,
) -> dict[str, Interval]:
    """Intervals of the second model's measures minus the first's, on the same resampled rows.

    Parameters
    ----------
    first, second : shape (n,), probabilities of the same rows by two models or calibrators.

    The others are those of `bootstrap_intervals`.
    """
    models = [(first, first_logits), (second, second_logits)]
    (before, after), units = _sample(outcomes, models, weights, groups, drawing.stratified)
    taken, undefined = measures(before, rules or {})
    given, also_undefined = measures(after, rules or {})
    found = {name: _difference(taken[name], given[name]) for name in taken if name in given}
    return _intervals(before, units, found, drawing) | _without_value(undefined | also_undefined)


def _sample(
    outcomes: ArrayLike,
    models: Iterable[tuple[ArrayLike, ArrayLike | None]],
    weights: ArrayLike | None,
    groups: ArrayLike | None,
    stratified: bool,
) -> tuple[list[CountedRows], Units]:
    """Checked rows of each model in one steady order, by the first model's logits, and the units."""
    rows = []
    for probabilities, logits in models:
        checked = check_predictions(outcomes, probabilities, weights=weights)
        given = logit(checked.probabilities) if logits is None else logits
        scores = check_scores(checked.outcomes, given).scores
        happened = checked.outcomes.astype(np.float64)
        rows.append(CountedRows(happened, checked.probabilities, scores, checked.weights))
    group = None if groups is None else _numbered(groups, rows[0].outcomes.size)
    order = steady_order(
        *(column for one in rows for column in (one.logits, one.probabilities)),
        rows[0].outcomes,
        rows[0].weights,
        group,
    )
    if group is not None and stratified:
        raise ValueError("stratified: rows in groups are drawn by group, leave one of the two out")
    if group is not None:
        units = Units.of_groups(group[order])
    elif stratified:
        units = Units.of_strata(rows[0].outcomes[order])
    else:
        units = Units.of_rows(order.size)
    return [_ordered(one, order) for one in rows], units


def _numbered(groups: ArrayLike, rows: int) -> NDArray[np.intp]:
    values = np.asarray(groups)
    if values.shape != (rows,):
        raise ValueError(f"groups: shape {values.shape} for {rows} rows, expected one a row")
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.intp)


def _ordered(rows: CountedRows, order: NDArray[np.intp]) -> CountedRows:
    return CountedRows(
        rows.outcomes[order],
        rows.probabilities[order],
        rows.logits[order],
        None if rows.weights is None else rows.weights[order],
    )


def _difference(first: Counted, second: Counted) -> Counted:
    return lambda counted: second(counted) - first(counted)


def _intervals(
    rows: CountedRows, units: Units, found: Mapping[str, Counted], drawing: Drawing
) -> dict[str, Interval]:
    generator = np.random.default_rng(drawing.seed)
    weight = rows.weights

    def measured(counts: Floats) -> Floats:
        counted = counts if weight is None else counts * weight
        # Groups of weight 0 alone can make a sample without any rows.
        empty = counted.sum(axis=1) == 0.0
        counted[empty] = rows.weight
        values = np.stack([measure(counted) for measure in found.values()])
        values[:, empty] = np.nan
        return values

    estimates = measured(np.ones((1, rows.outcomes.size)))[:, 0]
    drawn = np.concatenate(
        [measured(counts) for counts in resamples(units, drawing.resamples, generator)], axis=1
    )
    left_out = None
    if drawing.method == "bca":
        left_out = np.concatenate(
            [measured(counts) for counts in jackknife(units, generator)], axis=1
        )
    return {
        name: _interval(
            float(estimates[i]),
            drawn[i],
            None if left_out is None or name.endswith(DEBIASED) else left_out[i],
            drawing.level,
            recentred=name.endswith(DEBIASED),
        )
        for i, name in enumerate(found)
    }


def _interval(
    estimate: float, drawn: Floats, left_out: Floats | None, level: float, *, recentred: bool
) -> Interval:
    """Quantiles of what was drawn, or the reason why they say nothing."""
    values = drawn[np.isfinite(drawn)]
    nan = float("nan")
    if 2 * values.size < drawn.size:
        reason = f"{drawn.size - values.size} of {drawn.size} resamples have one class only"
        return Interval(estimate, nan, nan, values.size, reason)
    if np.ptp(values) <= 1e-12:
        reason = f"no variance: it is {round(estimate, 12):g} in every resample"
        return Interval(estimate, nan, nan, values.size, reason)
    if recentred:
        values = values - (values.mean() - estimate)
    shares = np.array([0.5 - level / 2.0, 0.5 + level / 2.0])
    if left_out is not None:
        shares = _corrected_shares(estimate, values, left_out[np.isfinite(left_out)], shares)
    lower, upper = np.quantile(values, shares)
    return Interval(estimate, float(lower), float(upper), values.size)


def _corrected_shares(estimate: float, drawn: Floats, left_out: Floats, shares: Floats) -> Floats:
    """Where BCa reads the quantiles (Efron and Tibshirani 1993, equations 14.10 to 14.15)."""
    below = np.count_nonzero(drawn < estimate) + 0.5 * np.count_nonzero(drawn == estimate)
    least = 0.5 / drawn.size
    bias = _NORMAL.inv_cdf(min(max(float(below) / drawn.size, least), 1.0 - least))
    pulls = left_out.mean() - left_out
    spread = float(np.square(pulls).sum()) ** 1.5
    acceleration = float((pulls**3).sum()) / (6.0 * spread) if spread > 0.0 else 0.0
    moved = []
    for share in shares.tolist():
        shift = bias + _NORMAL.inv_cdf(share)
        moved.append(_NORMAL.cdf(bias + shift / (1.0 - acceleration * shift)))
    return np.array(moved)


def _without_value(undefined: Mapping[str, str]) -> dict[str, Interval]:
    nan = float("nan")
    return {name: Interval(nan, nan, nan, 0, reason) for name, reason in undefined.items()}
