"""The leakage ladder on many splits: is a leak there whenever the rows are cut anew?

Every split gives another pool, or the same rows in another order, and folds of its own; all rungs of a split
share them. What comes of it is a long table, one row a split, rung and fold, in which a difference between
two rungs is taken fold by fold. Its corrected interval has J = folds times splits (Nadeau and Bengio 2003;
Bouckaert and Frank 2004, "Evaluating the replicability of significance tests", for repeated folds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns
from kalibre.leak import measure_leak
from kalibre.records import Result
from kalibre.repeats.distribution import Numbers, add_distribution
from kalibre.repeats.joining import check_same_settings, check_seeds
from kalibre.repeats.layout import SEED
from kalibre.rungs import MEASURED_METRICS

INSIDE = "0_outside"
"""The rung with every step inside the folds, which the others are compared with."""

COUNTED = ("fold", "learned_rows", "measured_rows", "columns")


@dataclass(frozen=True)
class LadderStudy:
    """One model's ladders on all splits: the long table, and the summary."""

    folds: Columns
    result: Result


def join_ladders(
    tables: Sequence[Columns],
    records: Sequence[Mapping[str, Any]],
    *,
    model: str,
    splits: int,
    first_seed: int,
    quantiles: Sequence[float],
    level: float,
) -> LadderStudy:
    """Join the shards of one model's ladders.

    Parameters are those of `kalibre.repeats.join.join_repeats`.

    Raises
    ------
    InputError
        If the shards were made with different settings, or are not those splits.
    """
    check_same_settings(records, "repeat_ladder")
    columns = _of_model(tables, model)
    check_seeds(np.unique(columns[SEED]), splits, first_seed)
    rungs = list(dict.fromkeys(columns["rung"].tolist()))
    numbers = Numbers({"splits": splits, "folds": len(columns[SEED]) // len(rungs)})
    for rung in rungs:
        for metric in MEASURED_METRICS:
            _add_rung(numbers, columns, rung, metric, quantiles)
            if rung != INSIDE:
                _add_leak(numbers, columns, rung, metric, level)
    table: Columns = {
        name: Categories.of(column) if column.dtype == object else column
        for name, column in columns.items()
    }
    params = {"splits": splits, "first_seed": first_seed, "level": level, "rungs": rungs}
    return LadderStudy(table, Result(numbers.metrics, numbers.undefined, params))


def _of_model(tables: Sequence[Columns], model: str) -> dict[str, NDArray[Any]]:
    """The rows of one model, split by split in the order of their seeds."""
    joined = {}
    for name in tables[0]:
        parts = [table[name] for table in tables]
        joined[name] = np.concatenate(
            [p.values() if isinstance(p, Categories) else p for p in parts]
        )
    own = joined.pop("model") == model
    order = np.flatnonzero(own)[np.argsort(joined[SEED][own], kind="stable")]
    return {name: column[order] for name, column in joined.items()}


def _add_rung(
    numbers: Numbers,
    columns: Mapping[str, NDArray[Any]],
    rung: str,
    metric: str,
    quantiles: Sequence[float],
) -> None:
    """The distribution over the splits of a rung's mean over the folds."""
    chosen = columns["rung"] == rung
    means = _means(columns[SEED][chosen], columns[metric][chosen])
    name = f"{rung}/{metric}"
    add_distribution(numbers, name, means, quantiles=quantiles, reason="no fold has a value")


def _add_leak(
    numbers: Numbers, columns: Mapping[str, NDArray[Any]], rung: str, metric: str, level: float
) -> None:
    """Outside minus inside on the same folds, and in how many splits it is on which side of 0."""
    outside, inside = (columns["rung"] == name for name in (rung, INSIDE))
    leak = measure_leak(
        columns[metric][outside],
        columns[metric][inside],
        learned_rows=columns["learned_rows"][outside],
        measured_rows=columns["measured_rows"][outside],
        level=level,
    )
    name = f"{rung}/{metric}/leak"
    if leak.mean is None:
        numbers.undefined[f"{name}/mean"] = "in no fold have both rungs a value"
        return
    numbers.metrics[f"{name}/mean"] = leak.mean
    numbers.add_interval(f"{name}/naive", leak.naive)
    numbers.add_interval(f"{name}/corrected", leak.corrected)
    each = _means(columns[SEED][outside], columns[metric][outside] - columns[metric][inside])
    known = each[np.isfinite(each)]
    numbers.metrics[f"{name}/lower"] = int(np.count_nonzero(known < 0))
    numbers.metrics[f"{name}/equal"] = int(np.count_nonzero(known == 0))
    numbers.metrics[f"{name}/higher"] = int(np.count_nonzero(known > 0))


def _means(seeds: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each split's values, NaN where it has none."""
    _, group = np.unique(seeds, return_inverse=True)
    known = np.isfinite(values)
    counts = np.bincount(group, weights=known)
    sums = np.bincount(group, weights=np.where(known, values, 0.0))
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
