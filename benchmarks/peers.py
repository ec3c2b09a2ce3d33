"""The same arrays through kalibre and through other libraries: do they agree, and who is faster?

Run ``python -m benchmarks.peers`` where the extra ``bench`` is installed. Compared is what both define
alike; where rules differ the difference is shown by the ten predictions below, not hidden in a
tolerance. Times are the best of several runs in turn. Exits with 1 if a number differs by more than
its tolerance or a peer is faster.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kalibre.metrics.bins import EqualMass
from kalibre.metrics.reliability import expected_calibration_error, reliability_table
from kalibre.statistics.calibration_line import calibration_line
from kalibre.statistics.corp import corp
from kalibre.statistics.debiased import debiased_error
from kalibre.statistics.smooth import smooth_ece
from kalibre.statistics.spiegelhalter import spiegelhalter

ROWS = 200_000
TEN = np.array([0, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
TEN_OUTCOMES = np.array([1, 1, 0, 1, 0, 1, 1, 1, 1, 0])


class Pair(NamedTuple):
    """One quantity, by kalibre and by a peer."""

    quantity: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    tolerance: float


def pairs() -> Iterator[Pair]:
    import calibration as uncertainty_calibration
    import relplot
    from calzone.metrics import cox_regression_analysis, spiegelhalter_z_test
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression

    generator = np.random.default_rng(1)
    p = generator.uniform(0.001, 0.999, ROWS)
    z = np.log(p / (1 - p))
    outcomes = (generator.random(ROWS) < 1 / (1 + np.exp(0.2 - 0.7 * z))).astype(np.int64)
    both = np.column_stack([1 - p, p])

    def curve() -> Any:
        table = reliability_table(outcomes, p, bins=10)
        return table.observed_rate, table.mean_predicted

    def recalibrated() -> float:
        fitted = IsotonicRegression().fit(p, outcomes).predict(p)
        return float(np.square(fitted - outcomes).mean())

    def unbiased() -> float:
        bins = uncertainty_calibration.get_equal_bins(p, num_bins=15)
        data = uncertainty_calibration.bin(list(zip(p, outcomes, strict=True)), bins)
        return float(uncertainty_calibration.unbiased_square_ce(data))

    yield Pair(
        "reliability table, 10 bins",
        "scikit-learn calibration_curve",
        curve,
        lambda: calibration_curve(outcomes, p, n_bins=10),
        1e-12,
    )
    yield Pair(
        "ECE, 10 bins of equal width",
        "uncertainty-calibration get_ece",
        lambda: expected_calibration_error(outcomes, p, bins=10),
        lambda: uncertainty_calibration.get_ece(p, outcomes, num_bins=10),
        1e-12,
    )
    yield Pair(
        "de-biased error, 15 bins of equal mass",
        "uncertainty-calibration",
        lambda: debiased_error(outcomes, p, bins=EqualMass(15)).squared,
        unbiased,
        # The peer closes bins on the right at midpoints of neighbours; a row a bin may move.
        1e-5,
    )
    yield Pair(
        "smooth ECE",
        "relplot smECE",
        lambda: smooth_ece(outcomes, p),
        lambda: relplot.smECE(p, outcomes.astype(float)),
        1e-3,
    )
    yield Pair(
        "Spiegelhalter's z",
        "calzone spiegelhalter_z_test",
        lambda: spiegelhalter(outcomes, p).z,
        lambda: spiegelhalter_z_test(outcomes.copy(), both)[0],
        1e-9,
    )
    yield Pair(
        "calibration slope",
        "calzone cox_regression_analysis",
        lambda: calibration_line(outcomes, p).slope.estimate,
        lambda: cox_regression_analysis(outcomes.copy(), both, epsilon=1e-6)[0],
        1e-7,
    )
    yield Pair(
        "Brier score after recalibration (CORP)",
        "scikit-learn IsotonicRegression",
        lambda: corp(outcomes, p).recalibrated,
        recalibrated,
        1e-9,
    )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def compare(pair: Pair) -> tuple[float, float, float]:
    """Largest difference, and the best seconds of either; two or three runs in turn."""
    ours, theirs, difference, spent = [], [], 0.0, 0.0
    while len(ours) < 2 or (spent < 1.0 and len(ours) < 20):
        our_time, our_result = timed(pair.ours)
        their_time, their_result = timed(pair.theirs)
        ours.append(our_time)
        theirs.append(their_time)
        spent += our_time + their_time
        gap = np.abs(np.asarray(our_result) - np.asarray(their_result)).max()
        difference = max(difference, float(gap))
    return difference, min(ours), min(theirs)


def show_where_rules_differ() -> None:
    """The ECE of ten predictions on bin edges, by each library's own rule."""
    import calibration as uncertainty_calibration
    from sklearn.calibration import calibration_curve

    rate, said = calibration_curve(TEN_OUTCOMES, TEN, n_bins=10)
    rows = np.bincount(np.searchsorted(np.linspace(0, 1, 11)[1:-1], TEN))
    curve = float((np.abs(rate - said) * rows[rows > 0]).sum() / 10)
    ours = expected_calibration_error(TEN_OUTCOMES, TEN)
    print("\nECE of ten predictions on the edges of ten bins, where rules differ")
    print(f"  kalibre, edges j/10, closed on the left              {ours:.2f}")
    print(f"  scikit-learn's curve, linspace, closed on the right  {curve:.2f}")
    other = uncertainty_calibration.get_ece(TEN, TEN_OUTCOMES, num_bins=10)
    print(f"  uncertainty-calibration, closed on the right         {other:.2f}")


def main() -> int:
    warnings.filterwarnings("ignore")
    try:
        found = list(pairs())
    except ModuleNotFoundError as missing:
        print(f"{missing.name} is not installed; install the extra `bench` of the project")
        return 2
    print(f"{ROWS:,} rows, milliseconds (best)")
    print(f"{'quantity':<42}{'peer':<34}{'differs by':>11}{'ours':>10}{'theirs':>11}{'ratio':>8}")
    kept = True
    for pair in found:
        difference, ours, theirs = compare(pair)
        good = difference <= pair.tolerance and ours <= theirs
        kept &= good
        print(
            f"{pair.quantity:<42}{pair.peer:<34}{difference:>11.1e}{ours * 1e3:>10.2f}"
            f"{theirs * 1e3:>11.2f}{theirs / ours:>8.1f}{'' if good else '  broken'}",
            flush=True,
        )
    show_where_rules_differ()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
