"""The metrics of a part of one split, for thousands of splits.

A part has some hundred rows, and of a metric's time on so few most goes into checks of its input. Here the
rows have been checked once, and the arithmetic is that of `kalibre.metrics`: a test holds the two together
to the last bit. What is rare (weights, other bin rules, a metric without a value) is left to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.logits import softplus
from kalibre.metrics.bins import BinRule, EqualWidth, locator
from kalibre.metrics.ranking import Level, LevelCounts, count_at_level
from kalibre.metrics.registry import METRICS, Measured
from kalibre.metrics.reliability import reliability_table


def metric(name: str) -> Callable[[Measured], float]:
    """The registry's metric of this name, as a function of checked rows.

    It raises `kalibre.metrics.registry.Undefined`, with the reason, where there is no value.
    """
    full = METRICS[name].function
    quick = _QUICK.get(name)
    if quick is None:
        return full

    def measured(rows: Measured) -> float:
        value = quick(rows) if rows.weights is None else np.nan
        return value if np.isfinite(value) else full(rows)

    return measured


def calibration_error(rule: BinRule) -> Callable[[Measured], float]:
    """The ECE of a bin rule, as a function of checked rows; NaN if rows lie outside its edges."""
    locate = locator(rule.edges()) if isinstance(rule, EqualWidth) else None

    def ece(rows: Measured) -> float:
        if locate is None or rows.weights is not None:
            return reliability_table(
                rows.outcomes, rows.probabilities, bins=rule, weights=rows.weights
            ).ece
        found = locate(rows.probabilities)
        gaps = np.bincount(found, rows.probabilities) - np.bincount(found, rows.outcomes)
        return _sum(np.abs(gaps)) / rows.outcomes.size

    return ece


def counts(rows: Measured, level: Level) -> LevelCounts:
    """The checked rows at a level; its two means are NaN if there is none."""
    if rows.weights is not None:
        return count_at_level(rows.outcomes, rows.probabilities, level=level, weights=rows.weights)
    chosen = level.select(rows.probabilities)
    said, happened = rows.probabilities[chosen], rows.outcomes[chosen] == 1
    positives = int(np.count_nonzero(happened))
    return LevelCounts(
        count=said.size,
        errors=int(np.count_nonzero((said >= 0.5) != happened)),
        positives=positives,
        mean_probability=_sum(said) / said.size if said.size else np.nan,
        observed_rate=positives / said.size if said.size else np.nan,
    )


def _sum(values: NDArray[Any]) -> float:
    return float(np.add.reduce(values))


def _mean(values: NDArray[Any]) -> float:
    return _sum(values) / values.size


def _mean_confidence(rows: Measured) -> float:
    return _mean(np.maximum(rows.probabilities, 1.0 - rows.probabilities))


def _accuracy(rows: Measured) -> float:
    right = (rows.probabilities >= 0.5) == (rows.outcomes == 1)
    return int(np.count_nonzero(right)) / right.size


def _brier(rows: Measured) -> float:
    return _mean(np.square(rows.probabilities - rows.outcomes))


def _log_loss(rows: Measured) -> float:
    return _mean(softplus(np.where(rows.outcomes == 1, -rows.logits, rows.logits)))


def _roc_auc(rows: Measured) -> float:
    """Each positive against the negatives below it and half of those beside it, in whole numbers."""
    happened = rows.outcomes == 1
    positive, negative = rows.logits[happened], np.sort(rows.logits[~happened])
    if not positive.size or not negative.size:
        return np.nan
    below = int(negative.searchsorted(positive, "left").sum())
    below += int(negative.searchsorted(positive, "right").sum())
    return below / (2 * positive.size * negative.size)


_QUICK: dict[str, Callable[[Measured], float]] = {
    "mean_confidence": _mean_confidence,
    "accuracy": _accuracy,
    "brier": _brier,
    "log_loss": _log_loss,
    "roc_auc": _roc_auc,
}
