"""The stage `evaluate`: are one model's probabilities true on the rows it is measured on?

Every number is a metric of one part: the registry's metrics, each bin rule's reliability table and ECE,
and the counts at the levels asked for. What has no value (an AUC with one class) has a reason instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kalibre.errors import InputError
from kalibre.manifests import check_overlap
from kalibre.metrics.bins import BinRule, EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.changes import decisions_changed, order_kept
from kalibre.metrics.ranking import Level, count_at_level
from kalibre.metrics.registry import METRICS, Measured, Undefined
from kalibre.metrics.reliability import ReliabilityTable, reliability_table
from kalibre.records import Result, manifest
from kalibre.scores import Scores
from kalibre.statistics.report import HonestNumbers, honest_numbers

EACH_ROW_LIMIT = 1000
TABLES = {
    "reliability": (
        "part",
        "bins",
        "bin",
        "lower",
        "upper",
        "count",
        "mean_predicted",
        "observed_rate",
        "gap",
        "positives",
        "ece_term",
        "null_lower",
        "null_upper",
    ),
    "intervals": (
        "part",
        "metric",
        "estimate",
        "lower",
        "upper",
        "level",
        "resamples",
        "undefined",
    ),
    "spread": (
        "part",
        "reading",
        "bins",
        "bins_used",
        "ece",
        "maximum_gap",
        "debiased_squared_error",
        "null_mean",
        "null_upper",
        "excess",
        "p_value",
    ),
    "corp": ("part", "level", "lower", "upper", "count", "mean_predicted", "observed_rate"),
}
"""The tables of an evaluation and their columns."""

LARGE = 100_000
"""Above so many rows what is drawn again and again is left out unless asked for."""

_DRAWN = (
    ("resamples", 1000, "bootstrap intervals"),
    ("smooth_simulations", 100, "the null band of smooth ECE"),
)


@dataclass(frozen=True)
class Evaluation:
    """The numbers of one model and calibrator, and its tables as rows.

    Attributes
    ----------
    result : Result
        Metrics by `<part>/<metric>`.
    tables : dict
        `reliability`, `intervals`, `spread` and `corp`.
    """

    result: Result
    tables: dict[str, list[dict[str, Any]]]


class _Numbers:
    """Collects metrics, and reasons where there are none."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.undefined: dict[str, str] = {}

    def add(self, name: str, value: float, reason: str = "no rows") -> None:
        if np.isfinite(value):
            self.metrics[name] = value
        else:
            self.undefined[name] = reason


def evaluate(
    scores: Scores,
    *,
    on: Sequence[str],
    evaluation: Mapping[str, Any],
    declared: Sequence[Mapping[str, Any]],
) -> Evaluation:
    """Measure one model's scores on each part.

    Parameters
    ----------
    scores : Scores
        Scores with the manifests of the stages before.
    on : sequence of str
        Parts to measure on.
    evaluation : mapping
        The section `evaluation` after defaults.
    declared : sequence of mapping
        The experiment's declared overlaps.

    Raises
    ------
    InputError
        If a measured row was learned from without a declaration, or a part has no rows.
    """
    numbers = _Numbers()
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    notes: list[str] = []
    measured_rows = np.zeros(len(scores), dtype=bool)
    rules = {name: bin_rule(spec) for name, spec in evaluation["bins"].items()}
    for part in on:
        chosen = scores.in_parts([part])
        if not chosen.any():
            raise InputError(f"evaluation: part {part!r} has no rows to measure on")
        notes += check_overlap(scores, chosen, stage="evaluate", part=part, declared=declared)
        measured_rows |= chosen
        measured = scores.take(chosen)
        _add_scalars(numbers, part, measured, evaluation)
        honest, said = _honest(measured, evaluation, rules)
        numbers.metrics |= {f"{part}/{name}": value for name, value in honest.metrics.items()}
        numbers.undefined |= {f"{part}/{name}": why for name, why in honest.undefined.items()}
        notes += [f"{part}: {note}" for note in (*honest.notes, *said)]
        for name in ("intervals", "spread", "corp"):
            tables[name] += [_table_row(part, row) for row in honest.tables.get(name, [])]
        bands = {(row["bins"], row["bin"]): row for row in honest.tables.get("null_bands", [])}
        for name, rule in rules.items():
            table = reliability_table(
                measured.outcome, measured.probability, bins=rule, weights=measured.weight
            )
            _add_reliability(numbers, f"{part}/{name}", table)
            tables["reliability"] += _reliability_rows(part, name, table, bands)
    result = Result(
        metrics=numbers.metrics,
        undefined=numbers.undefined,
        params={
            "parts": list(on),
            "bins": {name: rule.describe() for name, rule in rules.items()},
        },
        rows={"measured": manifest(scores.row[measured_rows])},
        notes=tuple(notes),
    )
    return Evaluation(result, tables)


def bin_rule(spec: Mapping[str, Any]) -> BinRule:
    """The bin rule of one entry of `evaluation.bins`."""
    if spec["edges"] is not None:
        return OwnEdges(tuple(spec["edges"]))
    return EqualMass(spec["count"]) if spec["rule"] == "equal_mass" else EqualWidth(spec["count"])


def drawing_settings(
    statistics: Mapping[str, Any], rows: int
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings of what is drawn at random, and what is left out because there are many rows.

    Parameters
    ----------
    statistics : mapping
        The section `evaluation.statistics` after defaults.
    rows : int
        Rows measured.
    """
    settings = {**statistics, "spread": tuple(statistics["spread"])}
    settings["quick"] = rows > settings.pop("most_rows")
    if settings["quick"]:
        said = (
            f"{rows} rows: intervals, ECE spread, top-label reading, CORP and calibration line left out; "
            "set evaluation.statistics.most_rows to have them"
        )
        return {**settings, "resamples": 0, "smooth_simulations": 0}, (said,)
    notes = []
    for name, usual, title in _DRAWN:
        if settings[name] is None:
            settings[name] = usual if rows <= LARGE else 0
            if rows > LARGE:
                key = f"evaluation.statistics.{name}"
                notes.append(f"{rows} rows: {title} left out; set {key} to have it")
    return settings, tuple(notes)


def _honest(
    scores: Scores, evaluation: Mapping[str, Any], rules: Mapping[str, BinRule]
) -> tuple[HonestNumbers, tuple[str, ...]]:
    settings, notes = drawing_settings(evaluation["statistics"], len(scores))
    honest = honest_numbers(
        scores.outcome,
        scores.probability,
        scores.logit,
        bins=rules,
        weights=scores.weight,
        groups=None if scores.group is None else scores.group.codes,
        settings=settings,
    )
    return honest, notes


def level_name(spec: Mapping[str, Any]) -> str:
    """The name of a level in a metric's path, such as `confidence_above_0.99`."""
    if spec["above"] is not None:
        return f"{spec['of']}_above_{spec['above']}"
    return f"{spec['of']}_at_least_{spec['at_least']}"


def _add_scalars(
    numbers: _Numbers, part: str, scores: Scores, evaluation: Mapping[str, Any]
) -> None:
    measured = Measured(scores.outcome, scores.probability, scores.logit, scores.weight)
    for name in evaluation["metrics"] or METRICS:
        try:
            numbers.add(f"{part}/{name}", METRICS[name].function(measured))
        except Undefined as reason:
            numbers.undefined[f"{part}/{name}"] = str(reason)
    for spec in evaluation["levels"]:
        counts = count_at_level(
            scores.outcome, scores.probability, level=Level(**spec), weights=scores.weight
        )
        for name, value in asdict(counts).items():
            numbers.add(f"{part}/{level_name(spec)}/{name}", value, "no row reaches the level")
    before, after = scores.uncalibrated_logit, scores.logit
    numbers.add(f"{part}/decisions_changed", decisions_changed(before, after))
    numbers.add(f"{part}/order_kept", order_kept(before, after))
    if evaluation["each_row"]:
        _add_rows(numbers, part, scores)


def _add_rows(numbers: _Numbers, part: str, scores: Scores) -> None:
    if len(scores) > EACH_ROW_LIMIT:
        raise InputError(
            f"evaluation.each_row: part {part!r} has {len(scores)} rows; at most {EACH_ROW_LIMIT} rows "
            "are reported one by one"
        )
    for i, residual in enumerate(scores.probability - scores.outcome):
        numbers.add(f"{part}/row_{i}/residual", residual)
        numbers.add(f"{part}/row_{i}/squared_error", residual**2)


def _add_reliability(numbers: _Numbers, path: str, table: ReliabilityTable) -> None:
    outside = f"{_whole(table.outside)} rows lie outside the edges"
    reason = outside if table.outside else "no rows"
    for name in ("ece", "maximum_gap", "unweighted_gap", "bins_used"):
        numbers.add(f"{path}/{name}", getattr(table, name), reason)
    for i in range(len(table.count)):
        numbers.add(f"{path}/bin_{i}/count", table.count[i])
        if not table.rows[i]:
            continue
        for name in ("mean_predicted", "observed_rate", "gap", "positives", "sum_predicted"):
            numbers.add(f"{path}/bin_{i}/{name}", getattr(table, name)[i])
        numbers.add(f"{path}/bin_{i}/ece_term", table.ece_terms[i], reason)


def _reliability_rows(
    part: str,
    name: str,
    table: ReliabilityTable,
    bands: Mapping[tuple[str, int], Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The table as people read it; an empty bin has its edges and nothing else."""
    rows = []
    for i in range(len(table.count)):
        row: dict[str, Any] = {
            "part": part,
            "bins": name,
            "bin": i,
            "lower": float(table.lower[i]),
            "upper": float(table.upper[i]),
            "count": _whole(table.count[i]),
        }
        if table.rows[i]:
            row |= {
                "mean_predicted": float(table.mean_predicted[i]),
                "observed_rate": float(table.observed_rate[i]),
                "gap": float(table.gap[i]),
                "positives": _whole(table.positives[i]),
                "ece_term": _finite(table.ece_terms[i]),
            }
            band = bands.get((name, i), {})
            row |= {end: band.get(end) for end in ("null_lower", "null_upper")}
        rows.append(row)
    return rows


def _table_row(part: str, row: Mapping[str, Any]) -> dict[str, Any]:
    known = {k: _finite(v) if isinstance(v, float) else v for k, v in row.items()}
    return {"part": part, **known}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)
