"""How much of an ECE is the choice of its bins?

"ECE" without its bins is not a number: more bins mean more noise and so a larger one, equal-mass
bins answer differently from equal-width ones, and the probability of the positive class differs
from the confidence in the decision ("top label"; Nixon et al. 2019, "Measuring calibration in deep
learning"; Roelofs et al. 2022, "Mitigating bias in calibration error estimation"). This table shows
the same predictions under all of them, each beside its own null band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kalibre.metrics.bins import BinRule, EqualMass, EqualWidth
from kalibre.metrics.reliability import reliability_table, top_label
from kalibre.statistics.debiased import debiased_error
from kalibre.statistics.null_band import null_bands

COUNTS = (5, 10, 15, 20)
READINGS = ("class_1", "top_label")


@dataclass(frozen=True)
class SpreadRow:
    """One ECE of a spread.

    Attributes
    ----------
    reading : `class_1` (probability of the positive class) or `top_label` (of the decision).
    bins, count : kind of rule and number of bins asked for.
    bins_used : bins that hold rows.
    ece, maximum_gap, debiased_squared_error : measured.
    null_mean, null_upper : mean and 95 % quantile of a perfect model's ECE.
    excess : ECE minus that quantile.
    p_value : share of a perfect model's ECEs at least as large.
    """

    reading: str
    bins: str
    count: int
    bins_used: int
    ece: float
    maximum_gap: float
    debiased_squared_error: float
    null_mean: float
    null_upper: float
    excess: float
    p_value: float

    @property
    def name(self) -> str:
        """Part of a metric's path, such as `class_1/equal_mass_15`."""
        return f"{self.reading}/{self.bins}_{self.count}"


def ece_spread(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    counts: Sequence[int] = COUNTS,
    seed: int,
    simulations: int = 1000,
) -> list[SpreadRow]:
    """ECE in bins of equal width and of equal mass, for both readings.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,); integer weights give the ECEs, not the bands, of repeated rows.
    counts : numbers of bins.
    seed, simulations : of the null bands.

    Raises
    ------
    ValueError
        As `kalibre.metrics.reliability.reliability_table`.
    """
    correct, confidence = top_label(outcomes, probabilities)
    said = {
        "class_1": (np.asarray(outcomes), np.asarray(probabilities)),
        "top_label": (correct, confidence),
    }
    rules: dict[tuple[str, int], BinRule] = {}
    for count in counts:
        rules["equal_width", count] = EqualWidth(count)
        rules["equal_mass", count] = EqualMass(count)
    return [
        row
        for reading in READINGS
        for row in _rows(reading, *said[reading], rules, weights, seed, simulations)
    ]


def _rows(
    reading: str,
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    rules: dict[tuple[str, int], BinRule],
    weights: ArrayLike | None,
    seed: int,
    simulations: int,
) -> list[SpreadRow]:
    bands = null_bands(
        outcomes,
        probabilities,
        rules={f"{kind}_{count}": rule for (kind, count), rule in rules.items()},
        weights=weights,
        seed=seed,
        simulations=simulations,
    )
    rows = []
    for (kind, count), rule in rules.items():
        table = reliability_table(outcomes, probabilities, bins=rule, weights=weights)
        debiased = debiased_error(outcomes, probabilities, bins=rule, weights=weights)
        band = bands[f"{kind}_{count}"]
        rows.append(
            SpreadRow(
                reading=reading,
                bins=kind,
                count=count,
                bins_used=table.bins_used,
                ece=table.ece,
                maximum_gap=table.maximum_gap,
                debiased_squared_error=debiased.squared,
                null_mean=band.mean,
                null_upper=band.upper,
                excess=band.excess,
                p_value=band.p_value,
            )
        )
    return rows
