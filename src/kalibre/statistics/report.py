"""Everything that makes one part's numbers honest, under the names they have in a record.

Each ECE gets its null band, each score its interval, and the calibration error is read in ways that
do not hang on bins. A name is what stands in a metric's path after the part:

- `<bins>/null_band/mean|lower|median|upper|extreme|p_value`, `<bins>/ece_excess`,
  `<bins>/ece_outside` (1 or 0), `<bins>/bin_<i>/null_lower|null_upper`;
- `<bins>/debiased_squared_error` (with `/lower`, `/upper`), `<bins>/debiased_rms` (with `/upper`),
  `<bins>/left_out`;
- `<bins>/top_label/ece|ece_excess|ece_outside` and `<bins>/top_label/null_band/...`;
- `brier|log_loss|accuracy|roc_auc` with `/lower` and `/upper`; the scores themselves are others';
- `smooth_ece`, `smooth_ece/null_band/...`, `smooth_ece_excess`;
- `corp/miscalibration|discrimination|uncertainty|levels`;
- `calibration_intercept`, `calibration_slope` (with `/lower`, `/upper`), `clipped_rows`;
- `spiegelhalter_z`, `spiegelhalter_p_value`;
- `spread/<reading>/<rule>_<count>/ece`, `spread/<reading>/lowest|highest`;
- `effective_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kalibre.metrics.bins import BinRule
from kalibre.statistics.bootstrap import Drawing, bootstrap_intervals
from kalibre.statistics.calibration_line import Coefficient, calibration_line
from kalibre.statistics.corp import corp
from kalibre.statistics.counted import DEBIASED
from kalibre.statistics.debiased import debiased_error
from kalibre.statistics.null_band import NullBand, null_bands
from kalibre.statistics.rows import effective_rows
from kalibre.statistics.smooth import smooth_band, smooth_ece
from kalibre.statistics.spiegelhalter import spiegelhalter
from kalibre.statistics.spread import (
    COUNTS,
    READINGS,
    SpreadRow,
    readings,
    spread_rows,
    spread_rules,
)

_BAND = ("mean", "lower", "median", "upper", "extreme", "p_value")
_SMOOTH_BAND = ("mean", "lower", "median", "upper", "p_value")
_SPREAD = "spread "
GROUPS_NOTE = (
    "the bootstrap draws whole groups; null bands, Spiegelhalter's z and the calibration line take rows for "
    "independent, so they find a deviation too often where groups differ"
)
_OUTSIDE = "rows lie outside the edges"


@dataclass(frozen=True)
class HonestSettings:
    """What a person may choose; the defaults take a fraction of a second on a thousand rows.

    Attributes
    ----------
    level : confidence level of all intervals, a fraction.
    interval : "bca" or "percentile".
    resamples : bootstrap samples; 0 leaves the intervals out.
    stratified : keep the number of rows of each outcome when drawing; not with groups.
    line_interval : "wald" or "profile", of calibration intercept and slope.
    simulations : draws of the null bands of bins.
    smooth_simulations : draws of the null band of smooth ECE.
    spread : numbers of bins of the spread; empty leaves it out.
    quick : leave out what takes many passes over the rows or needs them in order: intervals, spread,
        the top-label reading, CORP and the calibration line.
    seed : of all draws.
    """

    level: float = 0.95
    interval: str = "bca"
    resamples: int = 1000
    stratified: bool = False
    line_interval: str = "wald"
    simulations: int = 1000
    smooth_simulations: int = 100
    spread: tuple[int, ...] = COUNTS
    quick: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class _Rows:
    outcomes: ArrayLike
    probabilities: ArrayLike
    logits: ArrayLike | None
    weights: ArrayLike | None
    groups: ArrayLike | None
    bins: Mapping[str, BinRule]


@dataclass
class HonestNumbers:
    """Metrics by name, reasons where one has no value, tables as rows, and notes for people.

    Attributes
    ----------
    tables : `null_bands` (bins, bin, lower and upper rate), `spread`, `corp` and `intervals`.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def add(self, name: str, value: float, reason: str) -> None:
        """Add a number, or the reason why it is none."""
        if np.isfinite(value):
            self.metrics[name] = float(value)
        else:
            self.undefined[name] = reason


def honest_numbers(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    logits: ArrayLike | None = None,
    *,
    bins: Mapping[str, BinRule],
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    settings: HonestSettings | Mapping[str, Any] | None = None,
) -> HonestNumbers:
    """All of this package's numbers for one model's predictions on one part.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    logits : shape (n,); by default taken from the probabilities.
    bins : bin rules by name.
    weights : shape (n,).
    groups : shape (n,); rows of a group are drawn together.
    settings : `HonestSettings`, or its fields as a mapping.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a setting out of range.
    """
    chosen = (
        settings if isinstance(settings, HonestSettings) else HonestSettings(**(settings or {}))
    )
    rows = _Rows(outcomes, probabilities, logits, weights, groups, bins)
    numbers = HonestNumbers()
    numbers.metrics["effective_rows"] = effective_rows(np.size(probabilities), weights=weights)
    _add_bands(numbers, rows, chosen)
    _add_debiased(numbers, rows)
    _add_smooth(numbers, rows, chosen)
    _add_spiegelhalter(numbers, rows)
    if groups is not None and np.unique(np.asarray(groups)).size < np.size(probabilities):
        numbers.notes += (GROUPS_NOTE,)
    if chosen.quick:
        return numbers
    _add_corp(numbers, rows)
    _add_line(numbers, rows, chosen)
    if chosen.resamples:
        _add_intervals(numbers, rows, chosen)
    return numbers


def _add_bands(numbers: HonestNumbers, rows: _Rows, chosen: HonestSettings) -> None:
    """Null bands of the named rules and of the spread's, from the same draws."""
    rules = {} if chosen.quick else spread_rules(chosen.spread)
    spread: list[SpreadRow] = []
    for reading, (happened, said) in _readings(rows, chosen).items():
        bands = null_bands(
            happened,
            said,
            rules={**rows.bins, **{_SPREAD + name: rule for name, rule in rules.items()}},
            weights=rows.weights,
            seed=chosen.seed,
            simulations=chosen.simulations,
        )
        for name in rows.bins:
            if reading == "top_label":
                numbers.add(f"{name}/top_label/ece", bands[name].ece, _OUTSIDE)
                _add_band(numbers, f"{name}/top_label", bands[name])
            else:
                _add_band(numbers, name, bands[name])
                _add_rates(numbers, name, bands[name])
        drawn = {name: bands[_SPREAD + name] for name in rules}
        spread += spread_rows(
            reading, happened, said, rules=rules, bands=drawn, weights=rows.weights
        )
    if spread:
        _add_spread(numbers, spread)


def _readings(rows: _Rows, chosen: HonestSettings) -> Mapping[str, tuple[ArrayLike, ArrayLike]]:
    if chosen.quick:
        return {"class_1": (rows.outcomes, rows.probabilities)}
    return readings(rows.outcomes, rows.probabilities)


def _add_band(numbers: HonestNumbers, path: str, band: NullBand) -> None:
    for name in _BAND:
        numbers.add(f"{path}/null_band/{name}", getattr(band, name), _OUTSIDE)
    numbers.add(f"{path}/ece_excess", band.excess, _OUTSIDE)
    numbers.add(
        f"{path}/ece_outside", float(band.outside) if np.isfinite(band.ece) else np.nan, _OUTSIDE
    )


def _add_rates(numbers: HonestNumbers, path: str, band: NullBand) -> None:
    table = numbers.tables.setdefault("null_bands", [])
    for i in np.flatnonzero(np.isfinite(band.rate_lower)):
        low, high = float(band.rate_lower[i]), float(band.rate_upper[i])
        numbers.metrics[f"{path}/bin_{i}/null_lower"] = low
        numbers.metrics[f"{path}/bin_{i}/null_upper"] = high
        table.append({"bins": path, "bin": int(i), "null_lower": low, "null_upper": high})


def _add_debiased(numbers: HonestNumbers, rows: _Rows) -> None:
    for name, rule in rows.bins.items():
        found = debiased_error(rows.outcomes, rows.probabilities, bins=rule, weights=rows.weights)
        numbers.add(f"{name}/{DEBIASED}", found.squared, _OUTSIDE)
        numbers.add(f"{name}/debiased_rms", found.root, _OUTSIDE)
        numbers.add(f"{name}/left_out", found.left_out, _OUTSIDE)


def _add_smooth(numbers: HonestNumbers, rows: _Rows, chosen: HonestSettings) -> None:
    value = smooth_ece(rows.outcomes, rows.probabilities, weights=rows.weights)
    numbers.metrics["smooth_ece"] = value
    if not chosen.smooth_simulations:
        return
    band = smooth_band(
        rows.outcomes,
        rows.probabilities,
        weights=rows.weights,
        seed=chosen.seed,
        simulations=chosen.smooth_simulations,
    )
    for name in _SMOOTH_BAND:
        numbers.metrics[f"smooth_ece/null_band/{name}"] = getattr(band, name)
    numbers.metrics["smooth_ece_excess"] = value - band.upper


def _add_corp(numbers: HonestNumbers, rows: _Rows) -> None:
    found = corp(rows.outcomes, rows.probabilities, weights=rows.weights)
    for name in ("miscalibration", "discrimination", "uncertainty"):
        numbers.metrics[f"corp/{name}"] = getattr(found, name)
    numbers.metrics["corp/levels"] = float(found.count.size)
    columns = ("lower", "upper", "count", "mean_predicted", "observed_rate")
    numbers.tables["corp"] = [
        {"level": i, **{name: float(getattr(found, name)[i]) for name in columns}}
        for i in range(found.count.size)
    ]


def _add_line(numbers: HonestNumbers, rows: _Rows, chosen: HonestSettings) -> None:
    line = calibration_line(
        rows.outcomes,
        rows.probabilities,
        logits=rows.logits,
        weights=rows.weights,
        level=chosen.level,
        method="wald" if rows.weights is not None else chosen.line_interval,  # type: ignore[arg-type]
    )
    _add_coefficient(numbers, "calibration_intercept", line.intercept)
    _add_coefficient(numbers, "calibration_slope", line.slope)
    numbers.metrics["clipped_rows"] = float(line.clipped)
    if line.clipped:
        numbers.notes += (
            f"calibration intercept and slope: {line.clipped} rows clipped at 1e-6 from 0 or 1",
        )


def _add_coefficient(numbers: HonestNumbers, name: str, found: Coefficient) -> None:
    numbers.add(name, found.estimate, found.undefined or "")
    for end in ("lower", "upper"):
        reason = found.undefined or "the likelihood has no bound on this side"
        numbers.add(f"{name}/{end}", getattr(found, end), reason)


def _add_spiegelhalter(numbers: HonestNumbers, rows: _Rows) -> None:
    found = spiegelhalter(rows.outcomes, rows.probabilities, weights=rows.weights)
    reason = "every prediction is 0, 0.5 or 1: the Brier score has no variance"
    numbers.add("spiegelhalter_z", found.z, reason)
    numbers.add("spiegelhalter_p_value", found.p_value, reason)


def _add_spread(numbers: HonestNumbers, spread: list[SpreadRow]) -> None:
    for row in spread:
        numbers.metrics[f"spread/{row.name}/ece"] = row.ece
    for reading in READINGS:
        eces = [row.ece for row in spread if row.reading == reading]
        numbers.metrics[f"spread/{reading}/lowest"] = min(eces)
        numbers.metrics[f"spread/{reading}/highest"] = max(eces)
    numbers.tables["spread"] = [asdict(row) for row in spread]


def _add_intervals(numbers: HonestNumbers, rows: _Rows, chosen: HonestSettings) -> None:
    drawing = Drawing(
        seed=chosen.seed,
        resamples=chosen.resamples,
        level=chosen.level,
        method=chosen.interval,  # type: ignore[arg-type]
        stratified=chosen.stratified and rows.groups is None,
    )
    found = bootstrap_intervals(
        rows.outcomes,
        rows.probabilities,
        drawing=drawing,
        logits=rows.logits,
        weights=rows.weights,
        groups=rows.groups,
        rules=rows.bins,
    )
    table = []
    for name, interval in found.items():
        reason = interval.undefined or ""
        for end in ("lower", "upper"):
            numbers.add(f"{name}/{end}", getattr(interval, end), reason)
        if name.endswith(DEBIASED):
            root = np.sqrt(np.maximum(interval.upper, 0.0))
            numbers.add(f"{name.removesuffix(DEBIASED)}debiased_rms/upper", root, reason)
        table.append({"metric": name, "level": chosen.level, **asdict(interval)})
    numbers.tables["intervals"] = table
