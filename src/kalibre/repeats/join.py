"""The stage `join_repeats`: the shards of a study as one table a model, and what the splits say together.

Metrics are named as in an `evaluate` record with the calibrator in front and the statistic behind:
`temperature/validation/brier/mean`. The difference that a calibrator makes stands under
`temperature/validation/brier/minus_none/`, that of one calibrator to another under `.../minus_isotonic/`.
What is measured after a calibrator that learned on 50 rows only has `rows_50` behind the calibrator:
`temperature/rows_50/validation/brier/minus_none/mean`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns
from kalibre.records import Result
from kalibre.repeats.distribution import (
    Numbers,
    add_difference,
    add_distribution,
    add_variances,
)
from kalibre.repeats.joining import check_same_settings, check_seeds
from kalibre.repeats.layout import (
    FURTHER,
    MODEL,
    NONE,
    NOTES,
    PARTS,
    SEED,
    UNDEFINED,
    fewer_rows,
)

STEPS = 1000
"""Most splits of which all are in the series; the tracking store takes some thousand values a second."""

THINNED = 500
"""Steps of a longer series."""

ROUGH = 10
"""With fewer further fits than this, the variance from a model's seed is a rough guide."""

SCORES = ("accuracy", "brier", "ece", "log_loss", "roc_auc")
"""What one calibrator is compared with another by."""

Table = dict[str, NDArray[Any]]
Params = Mapping[str, Any]
"""A model's params as they stand in a shard's record: flat, lists as text."""


@dataclass(frozen=True)
class Study:
    """All splits of one model.

    Attributes
    ----------
    splits : Columns
        One row a split: `seed`, `model`, `parts/PART/rows`, the measurements, and for every calibrator and
        part whether all decisions were kept; `undefined` and `notes` say what there is to say, a line each.
    further : Columns
        The same for fits with further seeds of the model's own; often without rows.
    series : Columns
        `step` (the seed) and at most six headline metrics; of more than 1,000 splits, 500 evenly spread.
    result : Result
        The summary.
    """

    splits: Columns
    further: Columns
    series: Columns
    result: Result


def join_repeats(
    tables: Sequence[Columns],
    records: Sequence[Mapping[str, Any]],
    *,
    model: str,
    splits: int,
    first_seed: int,
    quantiles: Sequence[float],
    level: float,
) -> Study:
    """Join the shards of one model.

    Parameters
    ----------
    tables : sequence of Columns
        The shards' tables, in any order.
    records : sequence of mapping
        Their records.
    model : str
        The model.
    splits, first_seed : int
        The splits there have to be.
    quantiles : sequence of float
        Quantiles over the splits to report.
    level : float
        Confidence level of the intervals.

    Raises
    ------
    InputError
        If the shards were made with different settings, or are not those splits.
    """
    params = _params(records, model)
    columns = _of_model(tables, model, seeded=params["seeded"])
    own = columns[FURTHER] == 0
    check_seeds(columns[SEED][own], splits, first_seed)
    numbers = _summarise(columns, own, params, quantiles=quantiles, level=level)
    result = Result(
        metrics={"splits": splits, **numbers.metrics},
        undefined=numbers.undefined,
        params={**params, "level": level, "first_seed": first_seed, "splits": splits},
        notes=(*_said(columns[NOTES][own], splits), *_seed_notes(columns, params)),
    )
    return Study(
        splits=_as_columns(columns, own, model),
        further=_as_columns(columns, ~own, model),
        series=_series(columns, own, params),
        result=result,
    )


def _summarise(
    columns: Table,
    own: NDArray[np.bool_],
    params: Params,
    *,
    quantiles: Sequence[float],
    level: float,
) -> Numbers:
    """Distributions, differences and variances of all measurements."""
    numbers = Numbers()
    reasons = _reasons(columns[UNDEFINED][own])
    for name in _measurements(columns):
        values = columns[name][own]
        if name.startswith(PARTS):
            numbers.metrics[f"{name}/mean"] = float(values.mean())
            continue
        reason = reasons.get(name) or reasons.get(MODEL) or "no value"
        add_distribution(numbers, name, values, quantiles=quantiles, reason=reason)
        if not own.all():
            add_variances(numbers, name, columns[name], columns[SEED], columns[FURTHER])
    for name, base in _pairs(columns, params):
        add_difference(
            numbers,
            f"{name}/minus_{base.partition('/')[0]}",
            columns[name][own],
            columns[base][own],
            ratio=_ratio(columns, own, name, params),
            level=level,
        )
    for name, kept in _decisions_kept(columns).items():
        numbers.metrics[f"{name}/count"] = int(np.count_nonzero(kept[own]))
    return numbers


def _params(records: Sequence[Mapping[str, Any]], model: str) -> dict[str, Any]:
    """What the shards say of a model and its calibrators; all shards have to say the same."""
    check_same_settings(records, "repeat_splits")
    prefix = f"models/{model}/"
    params = records[0]["params"]
    return {k.removeprefix(prefix): v for k, v in params.items() if k.startswith(prefix)}


def _of_model(tables: Sequence[Columns], model: str, *, seeded: bool) -> Table:
    """The columns of one model, its name left out, in the order of seeds.

    Rows of further seeds are other models', if this one takes no seed.
    """
    prefix = f"{model}/"
    rows = [len(table[SEED]) for table in tables]
    seeds, further = (
        np.concatenate([np.asarray(table[name]) for table in tables]) for name in (SEED, FURTHER)
    )
    order = np.lexsort((further, seeds))
    if not seeded:
        order = order[further[order] == 0]
    joined: Table = {SEED: seeds[order], FURTHER: further[order]}
    shared = {n for table in tables for n in table if n.startswith(PARTS)}
    named = {n.removeprefix(prefix) for table in tables for n in table if n.startswith(prefix)}
    texts = {UNDEFINED, NOTES}
    for name in (*sorted(shared), *sorted(named - texts), *sorted(texts)):
        full = name if name in shared else prefix + name
        parts = [_column(table, full, count) for table, count in zip(tables, rows, strict=True)]
        joined[name] = np.concatenate(parts)[order]
    return joined


def _column(table: Columns, name: str, rows: int) -> NDArray[Any]:
    column = table.get(name)
    if column is None:
        # Nothing of that name was measured in this shard.
        return np.full(rows, np.nan)
    return column.values() if isinstance(column, Categories) else column


def _measurements(columns: Table) -> Iterator[str]:
    return (name for name in columns if name not in (SEED, FURTHER, NOTES, UNDEFINED))


def _calibrators(params: Params) -> list[str]:
    """The calibrators whose scores are measured, `none` left out, learned ones first."""
    found = [
        name.split("/")[1]
        for name in params
        if name.startswith("calibrators/") and name.endswith("/method") and name.count("/") == 2
    ]
    others = [name for name in found if name != NONE]
    return sorted(others, key=lambda name: (not params[f"calibrators/{name}/learn_on"], name))


def _pairs(columns: Table, params: Params) -> Iterator[tuple[str, str]]:
    """Each measurement after a calibrator with the same one before it, and scores with another's after it."""
    calibrators = _calibrators(params)
    for name in _measurements(columns):
        whole, fewer = fewer_rows(name)
        calibrator, _, measurement = whole.partition("/")
        if calibrator not in calibrators:
            continue
        others = calibrators[: calibrators.index(calibrator)]
        compared = fewer is None and measurement.rpartition("/")[2] in SCORES
        for other in (NONE, *others) if compared else (NONE,):
            base = f"{other}/{measurement}"
            if base in columns:
                yield name, base


def _ratio(columns: Table, own: NDArray[np.bool_], name: str, params: Params) -> float:
    """Rows measured over rows learned from, on average over the splits; a calibrator's rows are learned."""
    whole, fewer = fewer_rows(name)
    first, part = whole.split("/")[:2]

    def rows(part: str) -> float:
        return float(columns[f"{PARTS}{part}/rows"][own].mean())

    learned = {p: rows(p) for p in _listed(params["learn_on"])}
    if fewer is not None:
        learned[params[f"calibrators/{first}/learn_on"]] = fewer
    calibrator = first
    while calibrator:
        for p in _listed(params[f"calibrators/{calibrator}/learn_on"]):
            learned.setdefault(p, rows(p))
        calibrator = params[f"calibrators/{calibrator}/after"]
    return rows(part) / sum(learned.values())


def _decisions_kept(columns: Table) -> dict[str, NDArray[np.bool_]]:
    """For each calibrator and part: whether every decision at 0.5 is as it was, split by split."""
    return {
        name.removesuffix("changed") + "kept": values == 0
        for name, values in columns.items()
        if name.endswith("/decisions_changed")
    }


def _reasons(texts: NDArray[Any]) -> dict[str, str]:
    """Measurement to the reason why it has no value in the first split in which it has none."""
    reasons: dict[str, str] = {}
    for text in texts:
        for line in str(text).split("\n") if text else ():
            name, _, reason = line.partition(": ")
            reasons.setdefault(name, reason)
    return reasons


def _said(texts: NDArray[Any], splits: int) -> tuple[str, ...]:
    """What was said on the splits, sentences that differ in numbers only taken together."""
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for text in texts:
        for sentence in set(str(text).split("\n")) if text else ():
            kind = re.sub(r"\d+(\.\d+)?", "#", sentence)
            first.setdefault(kind, sentence)
            counts[kind] = counts.get(kind, 0) + 1
    return tuple(f"on {counts[kind]} of {splits} splits: {first[kind]}" for kind in sorted(first))


def _seed_notes(columns: Table, params: Params) -> tuple[str, ...]:
    if not params["seeded"]:
        return ("the model takes no seed of its own: what varies, varies by the split",)
    fits = int(np.count_nonzero(columns[FURTHER]))
    if not fits:
        return ("no split was learned with a second model seed: what varies may vary by either",)
    if fits < ROUGH:
        return (f"the variance from the model's seed rests on {fits} further fits: a rough guide",)
    return ()


def _as_columns(columns: Table, rows: NDArray[np.bool_], model: str) -> Columns:
    table: Columns = {
        name: Categories.of(values[rows]) if name in (NOTES, UNDEFINED) else values[rows]
        for name, values in columns.items()
    }
    count = int(np.count_nonzero(rows))
    kept = {name: values[rows] for name, values in _decisions_kept(columns).items()}
    return {SEED: table.pop(SEED), "model": Categories.constant(model, count), **table, **kept}


def _series(columns: Table, own: NDArray[np.bool_], params: Params) -> Columns:
    """Headlines of the first part: certainty and rightness before, Brier score and ECE before and after."""
    part = _listed(params["parts"])[0]
    after = [NONE, *_calibrators(params)[:1]]
    bins = next((name.split("/")[1] for name in params if name.startswith("bins/")), "")
    wanted = [f"{NONE}/{part}/mean_confidence", f"{NONE}/{part}/accuracy"]
    wanted += [f"{calibrator}/{part}/brier" for calibrator in after]
    wanted += [f"{calibrator}/{part}/{bins}/ece" for calibrator in after]
    rows = np.flatnonzero(own)
    if len(rows) > STEPS:
        rows = rows[np.round(np.linspace(0, len(rows) - 1, THINNED)).astype(int)]
    chosen = [name for name in wanted if name in columns]
    return {"step": columns[SEED][rows], **{name: columns[name][rows] for name in chosen}}


def _listed(text: str) -> list[str]:
    """The names in a list that a record holds as text."""
    return [name.strip() for name in text.split(",") if name.strip()]
