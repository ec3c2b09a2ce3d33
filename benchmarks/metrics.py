"""How fast are the measures? Ratios to a pass or a sort over the same array, in one run.

`python -m benchmarks.metrics` prints a table. Absolute times differ between machines; what the
engine promises is the ratio, taken from medians of runs that alternate with their yardstick:

- reliability table and ECE of 10,000,000 predictions: at most 2 times one `numpy.histogram`;
- ROC AUC of 10,000,000 scores: at most 1.3 times one `numpy.sort`;
- a temperature: less time than SciPy's bounded search for the same minimum.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from kalibre.calibrators.temperature import Temperature
from kalibre.logits import expit
from kalibre.metrics.ranking import roc_auc
from kalibre.metrics.reliability import reliability_table

ROWS = 10_000_000
REPEATS = 7

Timings = tuple[float, float]


def draw(rows: int) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.float64]]:
    """Outcomes, probabilities and logits of an overconfident model."""
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3.0, size=rows)
    outcomes = (rng.random(rows) < expit(logits / 2.0)).astype(np.int8)
    return outcomes, expit(logits), logits


def alternate(
    ours: Callable[[], object], yardstick: Callable[[], object], repeats: int = REPEATS
) -> Timings:
    """Median seconds of both, taken in turns so that a busy machine slows both."""
    seconds: dict[Callable[[], object], list[float]] = {ours: [], yardstick: []}
    for function in (ours, yardstick):
        function()
    for _ in range(repeats):
        for function, taken in seconds.items():
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return statistics.median(seconds[ours]), statistics.median(seconds[yardstick])


def search_temperature(outcomes: NDArray[np.int8], logits: NDArray[np.float64]) -> float:
    """The temperature as the biopsy lesson's page finds it."""

    def loss(temperature: float) -> float:
        wrong = np.logaddexp(0, -logits / temperature) * outcomes
        return float(np.mean(wrong + np.logaddexp(0, logits / temperature) * (1 - outcomes)))

    return float(minimize_scalar(loss, bounds=(0.05, 20), method="bounded").x)


def main(arguments: Sequence[str] = ()) -> None:
    """Print one line a measure; a number of rows may be given."""
    rows = int(arguments[0]) if arguments else ROWS
    outcomes, probabilities, logits = draw(rows)

    def report(name: str, limit: float, timings: Timings) -> None:
        ours, yardstick = timings
        ratio = ours / yardstick
        print(f"{name:<58}{ours:>9.4f} s{yardstick:>9.4f} s{ratio:>7.2f}{limit:>7.2f}")

    print(f"{'measure / yardstick':<58}{'ours':>11}{'yardstick':>11}{'ratio':>7}{'limit':>7}")
    for bins in (10, 15, 100):
        report(
            f"table and ECE, {bins} bins, {rows:,} rows / numpy.histogram",
            2.0,
            alternate(
                lambda bins=bins: reliability_table(outcomes, probabilities, bins=bins).ece,
                lambda bins=bins: np.histogram(probabilities, bins=bins, range=(0.0, 1.0)),
            ),
        )
    rounded = np.round(logits, 3)
    for name, scores in (("logits", logits), ("probabilities", probabilities), ("ties", rounded)):
        report(
            f"ROC AUC on {name}, {rows:,} rows / numpy.sort",
            1.3,
            alternate(
                lambda scores=scores: roc_auc(outcomes, scores),
                lambda scores=scores: np.sort(scores),
                3,
            ),
        )
    for size in (132, 10_000, 1_000_000):
        few = min(size, rows)
        report(
            f"temperature, {few:,} rows / scipy.optimize.minimize_scalar",
            1.0,
            alternate(
                lambda few=few: Temperature().fit(logits[:few], outcomes[:few]),
                lambda few=few: search_temperature(outcomes[:few], logits[:few]),
            ),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
