"""What would a perfectly calibrated model score with these predictions at this number of rows?

Even true probabilities have an ECE above zero, because the rates observed in bins vary by chance:
about 0.17 for 50 rows in 15 bins. An ECE says something only beside its **null band**: keep the
predictions, draw outcomes that happen with just these probabilities, measure, many times over
(Bröcker and Smith 2007, "Increasing the reliability of reliability diagrams", call the bands of
single bins consistency bars; Vaicenavicius et al. 2019, "Evaluating model calibration in
classification", test the ECE with it). The share of draws that reach the measured ECE, itself
counted among them, is a p-value (Davison and Hinkley 1997, *Bootstrap Methods*, section 4.2).

Rows with weights are one draw each, whatever they weigh. Above a million rows the sum of each bin
is drawn from the normal distribution of its mean and variance instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import Predictions, check_count, check_predictions
from kalibre.metrics.bins import CHUNK, BinRule, as_rule, assign, locator
from kalibre.metrics.reliability import reliability_table
from kalibre.statistics.rows import batch_rows, effective_rows, steady_order

Floats = NDArray[np.float64]

SIMULATED_ROWS = 1_000_000
"""Up to so many rows outcomes are drawn one by one."""
PICTURED_BINS = 2_000
"""Up to so many filled bins each one gets a band of its own."""
LOWER, UPPER, EXTREME = 0.05, 0.95, 0.999
# Far below what a digit could show, far above what the order of a summation can move.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class NullBand:
    """The ECE of a perfectly calibrated model, and the measured one beside it.

    Attributes
    ----------
    rule : the bin rule in words.
    ece : the measured ECE.
    mean, lower, median, upper, extreme : of a perfect model's ECE, its mean and its quantiles at
        5 %, 50 %, 95 % and 99.9 %.
    p_value : share of a perfect model's ECEs at least as large as the measured one, which counts
        among them.
    rate_lower, rate_upper : per bin, the quantiles at 5 % and 95 % of the rate observed when the
        model is perfect; NaN in an empty bin, and in all above `PICTURED_BINS` filled bins.
    simulations : number of draws.
    approximated : True where bins are drawn as normal sums.
    effective_rows : Kish's effective number of rows.

    All numbers on the ECE are NaN where rows lie outside the bins: it has no value there.
    """

    rule: str
    ece: float
    mean: float
    lower: float
    median: float
    upper: float
    extreme: float
    p_value: float
    rate_lower: Floats
    rate_upper: Floats
    simulations: int
    approximated: bool
    effective_rows: float

    @property
    def excess(self) -> float:
        """Measured ECE minus the 95 % quantile: positive outside the band."""
        return self.ece - self.upper

    @property
    def outside(self) -> bool:
        """Whether the measured ECE lies above the band."""
        return bool(self.excess > 0.0)


def null_band(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    bins: int | BinRule = 10,
    weights: ArrayLike | None = None,
    seed: int,
    simulations: int = 1000,
) -> NullBand:
    """The null band of one bin rule.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1; only the measured ECE depends on them.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    bins : a bin rule, or a number of bins of equal width.
    weights : shape (n,).
    seed : of the draws.
    simulations : number of draws.

    Raises
    ------
    ValueError
        As `kalibre.metrics.reliability.reliability_table`; a number of simulations below 1.
    """
    return null_bands(
        outcomes,
        probabilities,
        rules={"": as_rule(bins)},
        weights=weights,
        seed=seed,
        simulations=simulations,
    )[""]


def null_bands(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    rules: Mapping[str, BinRule],
    weights: ArrayLike | None = None,
    seed: int,
    simulations: int = 1000,
) -> dict[str, NullBand]:
    """The null bands of several bin rules, all from the same draws; parameters as `null_band`."""
    checked = check_predictions(outcomes, probabilities, weights=weights)
    check_count(simulations, "simulations")
    sums = {name: _Sums(checked, rule, simulations) for name, rule in rules.items()}
    generator = np.random.default_rng(seed)
    approximated = checked.probabilities.size > SIMULATED_ROWS
    if approximated:
        for each in sums.values():
            each.take_normal(checked, generator)
    else:
        cells = _cells(checked)
        for each in sums.values():
            each.find(cells)
        for drawn in _drawn_outcomes(cells, generator, simulations):
            for each in sums.values():
                each.take(drawn)
    kish = effective_rows(checked.probabilities.size, weights=checked.weights)
    return {name: each.band(approximated, kish) for name, each in sums.items()}


@dataclass(frozen=True, eq=False)
class _Cells:
    """Predictions in rising order; without weights equal ones are one cell that counts its rows."""

    values: Floats
    counts: NDArray[np.int64] | None
    weights: Floats | None


def _cells(checked: Predictions) -> _Cells:
    if checked.weights is not None:
        order = steady_order(checked.probabilities, checked.weights)
        order = order[checked.weights[order] > 0.0]
        return _Cells(checked.probabilities[order], None, checked.weights[order])
    values, counts = np.unique(checked.probabilities, return_counts=True)
    # One binomial draw costs about as much as eight plain ones.
    if 8 * values.size <= checked.probabilities.size:
        return _Cells(values, counts, None)
    return _Cells(np.sort(checked.probabilities), None, None)


def _drawn_outcomes(
    cells: _Cells, generator: np.random.Generator, simulations: int
) -> Iterator[NDArray[Any]]:
    """Weight of the positives up to each cell (one row more, from 0), a batch of draws at a time."""
    size = cells.values.size
    step = batch_rows(size)
    for start in range(0, simulations, step):
        shape = (min(step, simulations - start), size)
        positives: NDArray[Any]
        if cells.counts is not None:
            positives = generator.binomial(cells.counts, cells.values, size=shape)
        else:
            positives = generator.random(shape) < cells.values
        if cells.weights is not None:
            positives = positives * cells.weights
        kind = np.int64 if cells.weights is None else np.float64
        below: NDArray[Any] = np.zeros((shape[0], size + 1), dtype=kind)
        np.cumsum(positives, axis=1, dtype=kind, out=below[:, 1:])
        yield below


def _variances(checked: Predictions, edges: Floats) -> Floats:
    """The variance of each bin's positives: the sum of p (1 - p), times the squared weight."""
    locate = locator(edges)
    total = np.zeros(edges.size)
    for start in range(0, checked.probabilities.size, CHUNK):
        chunk = checked.probabilities[start : start + CHUNK]
        spread = chunk * (1.0 - chunk)
        if checked.weights is not None:
            spread *= np.square(checked.weights[start : start + CHUNK])
        total += np.bincount(locate(chunk) + 1, weights=spread, minlength=edges.size)
    return total[1:]


class _Sums:
    """What a rule's bins hold in each draw: the ECEs, and the positives where a picture needs them."""

    def __init__(self, checked: Predictions, rule: BinRule, simulations: int):
        self._table = reliability_table(
            checked.outcomes, checked.probabilities, bins=rule, weights=checked.weights
        )
        self._edges = np.append(self._table.lower, self._table.upper[-1])
        self._bins = np.flatnonzero(self._table.filled)
        self._expected = self._table.sum_predicted[self._bins]
        self._starts = self._ends = np.zeros(0, dtype=np.intp)
        self._total = np.nan if self._table.outside else float(self._table.count.sum())
        self._eces = np.empty(simulations)
        pictured = 0 < self._bins.size <= PICTURED_BINS
        self._positives = np.empty((simulations, self._bins.size)) if pictured else None
        self._done = 0

    def find(self, cells: _Cells) -> None:
        """Find where among the cells each filled bin begins and ends."""
        found = assign(cells.values, self._edges)
        inside = np.flatnonzero(found >= 0)
        borders = inside[np.diff(found[inside], prepend=-1) != 0]
        self._starts, self._ends = borders, np.append(borders[1:], inside[-1:] + 1)

    def take(self, below: NDArray[Any]) -> None:
        """Add draws given as the weight of positives up to each cell."""
        self._keep(below[:, self._ends] - below[:, self._starts])

    def take_normal(self, checked: Predictions, generator: np.random.Generator) -> None:
        """Make all draws as normal sums of each bin; no row needs a place in an order for it."""
        deviation = np.sqrt(_variances(checked, self._edges)[self._bins])
        step = batch_rows(deviation.size)
        while self._done < self._eces.size:
            draws = min(step, self._eces.size - self._done)
            self._keep(
                self._expected + deviation * generator.standard_normal((draws, deviation.size))
            )

    def _keep(self, positives: NDArray[Any]) -> None:
        until = self._done + len(positives)
        gaps = np.abs(positives - self._expected).sum(axis=1)
        self._eces[self._done : until] = gaps / self._total
        if self._positives is not None:
            self._positives[self._done : until] = positives
        self._done = until

    def band(self, approximated: bool, kish: float) -> NullBand:
        """Mean and quantiles of what was drawn."""
        measured, eces = self._table.ece, self._eces
        levels = np.quantile(eces, [LOWER, 0.5, UPPER, EXTREME])
        reached = int(np.count_nonzero(eces >= measured - _ROUNDING))
        rates = np.full((2, self._table.count.size), np.nan)
        if self._positives is not None:
            shares = self._positives / self._table.count[self._bins]
            rates[:, self._bins] = np.clip(np.quantile(shares, [LOWER, UPPER], axis=0), 0.0, 1.0)
        return NullBand(
            rule=self._table.rule,
            ece=measured,
            mean=float(eces.mean()),
            lower=float(levels[0]),
            median=float(levels[1]),
            upper=float(levels[2]),
            extreme=float(levels[3]),
            p_value=(reached + 1) / (eces.size + 1) if np.isfinite(measured) else float("nan"),
            rate_lower=rates[0],
            rate_upper=rates[1],
            simulations=self._eces.size,
            approximated=approximated,
            effective_rows=kish,
        )
