"""Do the statistics keep their budgets of time and memory?

Run ``python -m benchmarks.statistics``. What has a bound in seconds is measured once; what has a bound as
a ratio runs in turn with the numpy pass it is held against, in one process, so that a busy machine
slows both, and the best of several runs counts. Exits with 1 if a bound is broken.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalibre.metrics.bins import EqualMass, EqualWidth
from kalibre.metrics.ranking import roc_auc
from kalibre.metrics.reliability import reliability_table
from kalibre.statistics.bootstrap import Drawing, bootstrap_differences, bootstrap_intervals
from kalibre.statistics.null_band import null_bands
from kalibre.statistics.report import honest_numbers

ROWS = 100_000
MANY = 10_000_000
RULES = {"tenths": EqualWidth(10), "mass": EqualMass(15)}


class Line(NamedTuple):
    """One measurement and what is promised for it."""

    name: str
    measured: float
    promised: float
    unit: str


def predictions(rows: int) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    generator = np.random.default_rng(1)
    p = generator.random(rows)
    return (generator.random(rows) < p).astype(np.int8), p


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(work: Callable[[], Any], yardstick: Callable[[], Any], runs: int = 5) -> float:
    """Best time of the work over best time of the yardstick, run in turn."""
    times = [(seconds(work), seconds(yardstick)) for _ in range(runs)]
    return min(t for t, _ in times) / min(t for _, t in times)


def megabytes() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resampling() -> list[Line]:
    outcomes, p = predictions(ROWS)
    bolder = p**2 / (p**2 + (1 - p) ** 2)
    drawing = Drawing(seed=1, resamples=1_000)
    before = megabytes()
    lines = [
        Line(
            "1,000 resamples of all measures, 100,000 rows",
            seconds(lambda: bootstrap_intervals(outcomes, p, drawing=drawing, rules=RULES)),
            20,
            "s",
        ),
        Line("memory they take", megabytes() - before, 100, "MB"),
        Line(
            "the same as paired differences of two models",
            seconds(
                lambda: bootstrap_differences(outcomes, p, bolder, drawing=drawing, rules=RULES)
            ),
            40,
            "s",
        ),
        Line(
            "null bands of two rules, 1,000 draws, 100,000 rows",
            seconds(lambda: null_bands(outcomes, p, rules=RULES, seed=1)),
            5,
            "s",
        ),
    ]
    outcomes, p = predictions(1_000)
    lesson = seconds(lambda: honest_numbers(outcomes, p, bins=RULES))
    return [*lines, Line("all honest numbers of 1,000 rows", lesson, 1, "s")]


def passes() -> list[Line]:
    outcomes, p = predictions(MANY)
    return [
        Line(
            "reliability table and ECE of 10,000,000 rows, over numpy.histogram",
            ratio(
                lambda: reliability_table(outcomes, p, bins=10).ece,
                lambda: np.histogram(p, bins=10, range=(0.0, 1.0)),
            ),
            2,
            "x",
        ),
        Line(
            "ROC AUC of 10,000,000 rows, over one sort",
            ratio(lambda: roc_auc(outcomes, p), lambda: np.sort(p), runs=3),
            1.3,
            "x",
        ),
    ]


def main() -> int:
    kept = True
    for group in (resampling, passes):
        for line in group():
            good = line.measured <= line.promised
            kept &= good
            print(
                f"{line.name:<68}{line.measured:>9.2f} {line.unit:<3}"
                f"promised {line.promised:g}{'' if good else '  broken'}",
                flush=True,
            )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
