"""How much of an ECE is the choice of its bins?

"ECE" without its bins is not a number: more bins mean more noise and so a larger one, equal-mass
bins answer differently from equal-width ones, and the probability of the positive class differs
from the confidence in the decision ("top label"; Nixon et al. 2019, "Measuring calibration in deep
learning"; Roelofs et al. 2022, "Mitigating bias in calibration error estimation"). This table shows
the same predictions under all of them, each beside its own null band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from kalibre.metrics.bins import BinRule, EqualMass, EqualWidth
from kalibre.metrics.reliability import reliability_table, top_label
from kalibre.statistics.debiased import debiased_error
from kalibre.statistics.null_band import NullBand, null_bands

COUNTS = (5, 10, 15, 20)
READINGS = ("class_1", "top_label")


@dataclass(frozen=True)
class SpreadRow:
    """One ECE of a spread.

    Attributes
    ----------
    reading : `class_1` (probability of the positive class) or `top_label` (of the decision).
    bins : kind of rule and number of bins asked for, such as `equal_mass_15`.
    bins_used : bins that hold rows.
    ece, maximum_gap, debiased_squared_error : measured.
    null_mean, null_upper : mean and 95 % quantile of a perfect model's ECE.
    excess : ECE minus that quantile.
    p_value : share of a perfect model's ECEs at least as large.
    """

    reading: str
    bins: str
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
        return f"{self.reading}/{self.bins}"


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
    rules = spread_rules(counts)
    rows = []
    for reading, (happened, said) in readings(outcomes, probabilities).items():
        bands = null_bands(
            happened, said, rules=rules, weights=weights, seed=seed, simulations=simulations
        )
        rows += spread_rows(reading, happened, said, rules=rules, bands=bands, weights=weights)
    return rows


def readings(
    outcomes: ArrayLike, probabilities: ArrayLike
) -> dict[str, tuple[ArrayLike, ArrayLike]]:
    """Outcome and probability of the positive class, and of the decision being right."""
    return {"class_1": (outcomes, probabilities), "top_label": top_label(outcomes, probabilities)}


def spread_rules(counts: Sequence[int] = COUNTS) -> dict[str, BinRule]:
    """The bin rules of a spread by name: `equal_width_<count>` and `equal_mass_<count>`."""
    rules: dict[str, BinRule] = {}
    for count in counts:
        rules[f"equal_width_{count}"] = EqualWidth(count)
        rules[f"equal_mass_{count}"] = EqualMass(count)
    return rules


def spread_rows(
    reading: str,
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    rules: Mapping[str, BinRule],
    bands: Mapping[str, NullBand],
    weights: ArrayLike | None = None,
) -> list[SpreadRow]:
    """One reading's rows, from null bands that have been drawn already."""
    rows = []
    for name, rule in rules.items():
        table = reliability_table(outcomes, probabilities, bins=rule, weights=weights)
        debiased = debiased_error(outcomes, probabilities, bins=rule, weights=weights)
        band = bands[name]
        rows.append(
            SpreadRow(
                reading=reading,
                bins=name,
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
