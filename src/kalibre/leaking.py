"""The stage `measure_leak`: every rung against the rung with all preparation inside the folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.leak import measure_leak
from kalibre.records import Result
from kalibre.rungs import MEASURED_METRICS

INSIDE = "0_outside"
LEAK_HEADER = (
    "rung",
    "metric",
    "folds",
    "mean",
    "spread",
    "distance",
    "leak",
    "leak_naive_low",
    "leak_naive_high",
    "leak_corrected_low",
    "leak_corrected_high",
)
FEW_FOLDS = 10


def compare_rungs(
    rungs: Mapping[str, Sequence[Mapping[str, str]]],
    *,
    held_out: Mapping[str, float],
    level: float,
) -> tuple[Result, list[dict[str, Any]]]:
    """Signed differences between rungs, per metric, and each rung's distance from the true number.

    Parameters
    ----------
    rungs : mapping of str to rows
        Rung to its table, one row a fold, the same folds for all.
    held_out : mapping of str to float
        The true number of each metric; empty where no part is held out.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    Result
        `<rung>/<metric>/leak` with its intervals, and `<rung>/<metric>/distance`.
    list of dict
        One row a rung and metric.
    """
    metrics: dict[str, float] = {}
    undefined: dict[str, str] = {}
    table: list[dict[str, Any]] = []
    inside = rungs[INSIDE]
    learned, measured = _column(inside, "learned_rows"), _column(inside, "measured_rows")
    for rung, rows in rungs.items():
        for metric in MEASURED_METRICS:
            path = f"{rung}/{metric}"
            values = _column(rows, metric)
            known = values[np.isfinite(values)]
            row: dict[str, Any] = {"rung": rung, "metric": metric, "folds": len(known)}
            if len(known):
                row |= {"mean": float(known.mean()), "spread": float(known.std())}
                if metric in held_out:
                    row["distance"] = float(known.mean()) - held_out[metric]
                    metrics[f"{path}/distance"] = row["distance"]
            if rung != INSIDE:
                leak = measure_leak(
                    values,
                    _column(inside, metric),
                    learned_rows=learned,
                    measured_rows=measured,
                    level=level,
                )
                numbers, reasons = leak.numbers()
                metrics |= {f"{path}/{name}": value for name, value in numbers.items()}
                undefined |= {f"{path}/{name}": why for name, why in reasons.items()}
                row |= {name: numbers[name] for name in LEAK_HEADER if name in numbers}
            table.append(row)
    notes: tuple[str, ...] = ()
    if len(inside) < FEW_FOLDS:
        notes = (f"{len(inside)} folds: the intervals of a leak are a rough guide",)
    return Result(metrics, undefined, {"level": level}, notes=notes), table


def _column(rows: Sequence[Mapping[str, str]], name: str) -> NDArray[np.float64]:
    return np.array([float(row[name]) if row[name] != "" else np.nan for row in rows])
