"""Do the cases that happened get the higher scores, and are the decisions right?

ROC AUC is the chance that a random positive scores above a random negative, ties counting half
(Hanley and McNeil 1982): averaged ranks. It is read off the logits, because a probability saturates
to exactly 0 or 1 and so makes ties the score never had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import Scores, check_number, check_predictions, check_scores
from kalibre.metrics.bins import CHUNK
from kalibre.metrics.proper import mean

# The bits of a double but its sign, and those of infinity.
_SIZE = (1 << 63) - 1
_INFINITE = 0x7FF << 52


def roc_auc(outcomes: ArrayLike, scores: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Area under the ROC curve in [0, 1], ties counting half; NaN when there is one class only.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    scores : shape (n,), any scale that orders the rows (logits rather than probabilities).
    weights : shape (n,); integer weights give what repeated rows would.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_scores`.
    """
    checked = check_scores(outcomes, scores, weights=weights)
    keys = _pack(checked) if checked.weights is None else None
    if keys is None:
        return _auc_by_order(checked)
    keys.sort()
    return _auc_of_sorted(keys)


def _pack(checked: Scores) -> NDArray[np.uint64] | None:
    """Score and outcome of a row in one whole number that sorts as the score; None if too wide.

    Sorting bare numbers is several times faster than sorting positions and following them. A
    double's bits, read as a whole number, rise with its size; counted from the smallest and to the
    largest size that occur they leave the lowest bit free for the outcome.
    """
    bits = checked.scores.view(np.int64)
    smallest, largest = _sizes(bits)
    levels = largest - smallest + 2
    if levels >= 1 << 62:
        return None
    keys = np.empty(bits.size, dtype=np.int64)
    for start in range(0, bits.size, CHUNK):
        chunk = bits[start : start + CHUNK]
        level = chunk & _SIZE
        # Zero, of either sign, lies below the smallest size, infinity just above the largest.
        np.clip(level, smallest - 1, largest + 1, out=level)
        level -= smallest - 1
        sign = chunk >> 63
        level ^= sign
        level -= sign
        level += levels
        level <<= 1
        level |= checked.outcomes[start : start + CHUNK]
        keys[start : start + CHUNK] = level
    return keys.view(np.uint64)


def _sizes(bits: NDArray[np.int64]) -> tuple[int, int]:
    """The smallest size that is not zero and the largest that is finite, as whole numbers."""
    smallest, largest = _INFINITE, 0
    for start in range(0, bits.size, CHUNK):
        size = bits[start : start + CHUNK] & _SIZE
        low, high = int(size.min()), int(size.max())
        if high == _INFINITE:
            high = int(size.max(initial=0, where=size < _INFINITE))
        if low == 0:
            low = int(size.min(initial=_INFINITE, where=size > 0))
        smallest, largest = min(smallest, low), max(largest, high)
    return (smallest, largest) if smallest <= largest else (1, 1)


def _auc_of_sorted(keys: NDArray[np.uint64]) -> float:
    """Positives counted against the negatives before them, in whole numbers, so without rounding.

    Among equal scores the negatives stand first; half of those pairs is taken back.
    """
    positives, places, tied = 0, 0, 0
    for start in range(0, keys.size, CHUNK):
        chunk = keys[start : start + CHUNK + 1].view(np.int64)
        label = chunk[:CHUNK] & 1
        found = int(label.sum())
        positives += found
        places += start * found + int((label * np.arange(label.size)).sum())
        last_negative = start + np.flatnonzero((chunk[1:] ^ chunk[:-1]) == 1)
        if last_negative.size:
            tied += _tied_pairs(keys, last_negative)
    negatives = keys.size - positives
    if not positives or not negatives:
        return float("nan")
    pairs = places - positives * (positives - 1) // 2
    return (2 * pairs - tied) / (2 * positives * negatives)


def _tied_pairs(keys: NDArray[np.uint64], last_negative: NDArray[np.intp]) -> int:
    """Pairs of a negative and a positive of equal score, given where each group changes over."""
    first = np.searchsorted(keys, keys[last_negative], side="left")
    end = np.searchsorted(keys, keys[last_negative + 1], side="right")
    return int(((last_negative + 1 - first) * (end - last_negative - 1)).sum())


def _auc_by_order(checked: Scores) -> float:
    """Negatives below each group of equal scores, plus half of those within it."""
    order = np.argsort(checked.scores, kind="stable")
    ordered = checked.scores[order]
    positive = checked.outcomes[order].astype(np.float64)
    weights = np.ones(order.size) if checked.weights is None else checked.weights[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    positives = np.add.reduceat(weights * positive, starts)
    negatives = np.add.reduceat(weights * (1.0 - positive), starts)
    pairs = positives.sum() * negatives.sum()
    if pairs == 0.0:
        return float("nan")
    below = np.cumsum(negatives) - negatives
    return float((positives * (below + 0.5 * negatives)).sum() / pairs)


def accuracy(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    threshold: float = 0.5,
    weights: ArrayLike | None = None,
) -> float:
    """Share of right decisions, where 1 is decided from `threshold` on.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    right = (checked.probabilities >= threshold) == (checked.outcomes == 1)
    return mean(right.astype(np.float64), checked.weights)


def mean_confidence(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Mean of max(p, 1 - p), in [0.5, 1]: how sure the decisions at 0.5 claim to be.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    return mean(np.maximum(checked.probabilities, 1.0 - checked.probabilities), checked.weights)


@dataclass(frozen=True)
class Level:
    """Rows whose probability, or confidence max(p, 1 - p), lies above or at least at a level."""

    of: Literal["probability", "confidence"] = "confidence"
    above: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if self.of not in ("probability", "confidence"):
            raise ValueError(f"level of: found {self.of!r}, expected 'probability' or 'confidence'")
        if (self.above is None) == (self.at_least is None):
            raise ValueError("level: give either `above` or `at_least`, not both and not neither")
        name = "above" if self.at_least is None else "at_least"
        check_number(getattr(self, name), f"level {name}", low=0.0, high=1.0)

    def select(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows the level takes in."""
        value = probabilities
        if self.of == "confidence":
            value = np.maximum(probabilities, 1.0 - probabilities)
        if self.at_least is not None:
            return np.asarray(value >= self.at_least)
        return np.asarray(value > cast(float, self.above))


@dataclass(frozen=True)
class LevelCounts:
    """The rows at a level: how many (in weight), how many of them wrong, and how true they are.

    `errors` are decisions at 0.5 that differ from the outcome; the two means are NaN when no row
    is at the level.
    """

    count: float
    errors: float
    positives: float
    mean_probability: float
    observed_rate: float


def count_at_level(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    level: Level,
    weights: ArrayLike | None = None,
) -> LevelCounts:
    """Count, errors, positives, mean probability and observed rate of the rows at a level.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    chosen = level.select(checked.probabilities)
    said = checked.probabilities[chosen]
    happened = checked.outcomes[chosen] == 1
    weight = np.ones(said.size) if checked.weights is None else checked.weights[chosen]
    count = float(weight.sum())
    positives = float(weight[happened].sum())
    return LevelCounts(
        count=_whole(count),
        errors=_whole(float(weight[(said >= 0.5) != happened].sum())),
        positives=_whole(positives),
        mean_probability=float((weight * said).sum()) / count if count else float("nan"),
        observed_rate=positives / count if count else float("nan"),
    )


def _whole(value: float) -> Any:
    """A count as a whole number where it is one."""
    return int(value) if value.is_integer() else value
