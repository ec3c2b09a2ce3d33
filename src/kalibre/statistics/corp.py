"""How much of the Brier score is miscalibration, and how much is lack of knowledge?

Dimitriadis, Gneiting and Jordan (2021), "Stable reliability diagrams for probabilistic classifiers",
Proceedings of the National Academy of Sciences 118 (CORP: consistent, optimally binned,
reproducible, by pooling adjacent violators). The best rising map of the predictions, isotonic
regression, says what the predictions could have scored had they been calibrated:

    Brier score = miscalibration - discrimination + uncertainty

with miscalibration = score - recalibrated score, discrimination = score of the constant base rate -
recalibrated score, uncertainty = score of the constant base rate. All three are at least 0. The
levels of the map are the bins of a reliability diagram that nobody chose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.calibrators.isotonic import pool_adjacent_violators
from kalibre.checks import check_predictions

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Corp:
    """The decomposition, and the diagram: one entry a level of the recalibration map, rising.

    Attributes
    ----------
    score, recalibrated : Brier score of the predictions, and after isotonic recalibration.
    miscalibration, discrimination, uncertainty : at least 0 each.
    lower, upper : smallest and largest prediction of the level.
    count : number of rows (sum of weights).
    mean_predicted, observed_rate : of the level; the second is the recalibrated probability.
    """

    score: float
    recalibrated: float
    uncertainty: float
    lower: Floats
    upper: Floats
    count: Floats
    mean_predicted: Floats
    observed_rate: Floats

    @property
    def miscalibration(self) -> float:
        """What recalibration would take off the score."""
        return max(self.score - self.recalibrated, 0.0)

    @property
    def discrimination(self) -> float:
        """What the predictions, recalibrated, know beyond the base rate."""
        return max(self.uncertainty - self.recalibrated, 0.0)


def corp(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> Corp:
    """Decompose the Brier score and give the points of the CORP reliability diagram.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    weight = np.ones(checked.outcomes.size) if checked.weights is None else checked.weights
    present = weight > 0.0
    values, place = np.unique(checked.probabilities[present], return_inverse=True)
    count = np.bincount(place, weights=weight[present]).astype(np.float64)
    positives = np.bincount(place, weights=weight[present] * checked.outcomes[present])
    starts, rates = pool_adjacent_violators(positives / count, count)
    ends = np.append(starts[1:], values.size) - 1
    total = count.sum()
    level_count = np.add.reduceat(count, starts)
    base_rate = positives.sum() / total
    # The squared error of a level's constant rate is that of its outcomes: count r (1 - r).
    recalibrated = (level_count * rates * (1.0 - rates)).sum() / total
    errors = (count - positives) * values**2 + positives * (1.0 - values) ** 2
    return Corp(
        score=float(errors.sum() / total),
        recalibrated=float(recalibrated),
        uncertainty=float(base_rate * (1.0 - base_rate)),
        lower=values[starts],
        upper=values[ends],
        count=level_count,
        mean_predicted=np.add.reduceat(count * values, starts) / level_count,
        observed_rate=rates,
    )
