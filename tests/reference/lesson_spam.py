"""Every figure of the lesson on three messages (seed 003), measured as its text says.

A Brier score, and a calibration table whose bins are found by comparing with the edges
(j + 1) / k rather than by multiplying.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference.arithmetic import mean

Figures = dict[str, float]

PROBABILITIES = (0.1, 0.2, 0.9)
LABELS = (0, 0, 1)
BINS = 2


@dataclass(frozen=True)
class Line:
    """A filled bin of the calibration table."""

    index: int
    count: int
    mean_probability: float
    positive_fraction: float

    @property
    def gap(self) -> float:
        """Distance between mean probability and positive fraction."""
        return abs(self.mean_probability - self.positive_fraction)


def bin_of(probability: float, bins: int) -> int:
    """Return the first bin whose upper edge lies above the probability, or else the last."""
    for index in range(bins):
        if probability < (index + 1) / bins:
            return index
    return bins - 1


def brier(labels: Sequence[int], probabilities: Sequence[float]) -> float:
    """Return the mean squared difference between probability and label."""
    return mean([(p - y) ** 2 for y, p in zip(labels, probabilities, strict=True)])


def calibration_table(
    labels: Sequence[int], probabilities: Sequence[float], bins: int
) -> list[Line]:
    """Return the filled bins in ascending order; an empty one has no frequency to show."""
    members: list[list[int]] = [[] for _ in range(bins)]
    for at, probability in enumerate(probabilities):
        members[bin_of(probability, bins)].append(at)
    return [
        Line(
            index,
            len(inside),
            mean([probabilities[at] for at in inside]),
            mean([labels[at] for at in inside]),
        )
        for index, inside in enumerate(members)
        if inside
    ]


def calibration_error(labels: Sequence[int], probabilities: Sequence[float], bins: int) -> float:
    """Return the gaps of the calibration table, weighted by the bins' share of the rows."""
    total = 0.0
    for line in calibration_table(labels, probabilities, bins):
        total += line.count / len(labels) * line.gap
    return total


def figures() -> Figures:
    """Return the lesson's figures, unrounded, under the identifiers of the ledger."""
    measured: Figures = {
        "spam/data/messages": len(PROBABILITIES),
        "spam/setting/bins": BINS,
        "spam/brier/example": brier(LABELS, PROBABILITIES),
        "spam/brier/constant_half": brier(LABELS, [0.5] * len(LABELS)),
        "spam/brier/perfect": brier(LABELS, [float(label) for label in LABELS]),
    }
    for at, (label, probability) in enumerate(zip(LABELS, PROBABILITIES, strict=True)):
        measured[f"spam/message_{at}/residual"] = probability - label
        measured[f"spam/message_{at}/squared_error"] = brier([label], [probability])

    table = calibration_table(LABELS, PROBABILITIES, BINS)
    for line in table:
        path = f"spam/table/k2/bin_{line.index}"
        measured[f"{path}/count"] = line.count
        measured[f"{path}/mean_probability"] = line.mean_probability
        measured[f"{path}/positive_fraction"] = line.positive_fraction
        measured[f"{path}/gap"] = line.gap
    measured["spam/ece/k2"] = calibration_error(LABELS, PROBABILITIES, BINS)
    measured["spam/ece/k2_unweighted"] = mean([line.gap for line in table])

    (single,) = calibration_table(LABELS, PROBABILITIES, 1)
    measured["spam/table/k1/bin_0/mean_probability"] = single.mean_probability
    measured["spam/table/k1/bin_0/positive_count"] = single.positive_fraction * single.count
    measured["spam/ece/k1"] = calibration_error(LABELS, PROBABILITIES, 1)
    return measured
