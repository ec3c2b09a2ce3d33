"""How long does an audit of a person's file take beside reading it?

`python -m benchmarks.own_data` draws a file of ten million predictions and prints seconds of wall clock and
of processor time: what pandas takes to read it, and what the engine takes to read and check it, to lay its
scores out, and to measure reliability, ECE, Brier score and ROC AUC. pandas reads in several threads, so
that the ratio of processor times is the one that says how much is done.

The engine works in one process here. In the workflow each stage is a process of its own and writes its
table and its record; `logs/<experiment>/*.tsv` has what they took.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kalibre.data.table import Table, make_table
from kalibre.experiment.base import plain
from kalibre.experiment.data import Predictions
from kalibre.logits import expit
from kalibre.metrics.registry import METRICS, Measured
from kalibre.metrics.reliability import reliability_table
from kalibre.reading import read_scores
from kalibre.scores import Scores

ROWS = 10_000_000
REPEATS = 5
PROMISED = 4.0

Seconds = tuple[float, float]


def draw(path: Path, rows: int) -> None:
    """A file of probabilities and outcomes."""
    rng = np.random.default_rng(0)
    probability = expit(rng.normal(scale=2.0, size=rows))
    outcome = (rng.random(rows) < probability).astype(np.int8)
    pd.DataFrame({"probability": probability, "outcome": outcome}).to_csv(path, index=False)


def read(path: Path) -> Table:
    """The file as the stage `make_table` reads and checks it, its digest included."""
    section = Predictions(
        source="predictions", file=str(path), outcome="outcome", probability="probability"
    )
    return make_table(plain(section))


def lay_out(table: Table) -> Scores:
    """The scores as the stage `read_scores` lays them out."""
    return read_scores(dict(table.features), dict(table.roles), None, model="probability")[0]


def measure(scores: Scores) -> dict[str, float]:
    """Reliability, ECE, Brier score and ROC AUC."""
    rows = Measured(scores.outcome, scores.probability, scores.logit)
    values = {name: METRICS[name].function(rows) for name in ("brier", "roc_auc")}
    return {**values, "ece": reliability_table(scores.outcome, scores.probability).ece}


def timed(function: Callable[[], Any]) -> tuple[Any, Seconds]:
    """What a function gives, and its seconds on the wall and on the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    return result, (time.perf_counter() - wall, time.process_time() - processor)


def once(path: Path) -> dict[str, Seconds]:
    """One round of everything."""
    _, pandas = timed(lambda: pd.read_csv(path))
    table, reading = timed(lambda: read(path))
    scores, laying = timed(lambda: lay_out(table))
    _, measuring = timed(lambda: measure(scores))
    return {
        "pandas.read_csv": pandas,
        "read and check": reading,
        "lay out": laying,
        "measure": measuring,
    }


def main(rows: int = ROWS) -> int:
    """Print the table; 1 if the engine takes more processor time than promised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.csv"
        draw(path, rows)
        rounds = [once(path) for _ in range(REPEATS)]
    best = {
        name: tuple(min(r[name][clock] for r in rounds) for clock in (0, 1)) for name in rounds[0]
    }
    print(f"{rows} rows, the best of {REPEATS} rounds{'wall':>20}{'processor':>12}")
    for name, (wall, processor) in best.items():
        print(f"{name:<46}{wall:8.2f} s{processor:10.2f} s")
    ours = [sum(v[clock] for k, v in best.items() if k != "pandas.read_csv") for clock in (0, 1)]
    ratios = [ours[clock] / best["pandas.read_csv"][clock] for clock in (0, 1)]
    print(f"{'the audit, in times pandas':<46}{ratios[0]:8.2f}  {ratios[1]:10.2f}")
    return int(ratios[1] > PROMISED)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:2])))
