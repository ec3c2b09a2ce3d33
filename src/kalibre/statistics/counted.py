"""Brier score, log loss, accuracy, ROC AUC and de-biased error of rows that are counted.

All resamples of a bootstrap are measured here: each measure takes how often every row counts, many
samples at a time, and sorts nothing anew. A sample that has no value (one class only) gives NaN.
Sums are numpy's own, not those of a linear-algebra library, so that they do not depend on the
number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.logits import softplus
from kalibre.metrics.bins import BinRule, assign
from kalibre.statistics.debiased import debiased_from_sums

Floats = NDArray[np.float64]
Counted = Callable[[Floats], Floats]
"""From counts times weights, shape (b, n), to values, shape (b,)."""

PLAIN = ("brier", "log_loss", "accuracy", "roc_auc")
DEBIASED = "debiased_squared_error"


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows in one fixed order, as all measures see them."""

    outcomes: Floats
    probabilities: Floats
    logits: Floats
    weights: Floats | None

    @property
    def weight(self) -> Floats:
        """The weight of each row, 1 without weights."""
        return np.ones(self.outcomes.size) if self.weights is None else self.weights


def measures(
    rows: CountedRows, rules: Mapping[str, BinRule]
) -> tuple[dict[str, Counted], dict[str, str]]:
    """All measures by name, and the reasons of those without a value.

    Parameters
    ----------
    rows : the rows.
    rules : bin rules by name, each with a measure `<name>/debiased_squared_error`; their edges are
        those of all rows, whatever is drawn.
    """
    present = rows.weight > 0.0
    happened = rows.outcomes == 1.0
    losses = softplus(np.where(happened, -rows.logits, rows.logits))
    right = (rows.probabilities >= 0.5) == happened
    found: dict[str, Counted] = {
        "brier": _mean_of(np.square(rows.probabilities - rows.outcomes)),
        "log_loss": _mean_of(losses),
        "accuracy": _mean_of(right.astype(np.float64)),
        "roc_auc": _roc_auc(rows),
    }
    undefined = {}
    infinite = int(np.count_nonzero(np.isinf(losses) & present))
    if infinite:
        del found["log_loss"]
        undefined["log_loss"] = f"infinite: {infinite} certain predictions were wrong"
    if np.ptp(rows.outcomes[present]) == 0.0:
        del found["roc_auc"]
        only = int(rows.outcomes[present][0])
        undefined["roc_auc"] = f"one class only: every row measured has outcome {only}"
    for name, rule in rules.items():
        edges = rule.edges(rows.probabilities, rows.weights)
        places = assign(rows.probabilities, edges)
        outside = int(np.count_nonzero((places < 0) & present))
        if outside:
            undefined[f"{name}/{DEBIASED}"] = f"{outside} rows lie outside the edges"
        else:
            found[f"{name}/{DEBIASED}"] = _debiased(rows, places)
    return found, undefined


def _mean_of(values: Floats) -> Counted:
    # A row of weight 0 may hold an infinity that must not reach the sum.
    finite = np.where(np.isfinite(values), values, 0.0)

    def measure(counted: Floats) -> Floats:
        return np.asarray(np.einsum("bn,n->b", counted, finite) / counted.sum(axis=1))

    return measure


def _roc_auc(rows: CountedRows) -> Counted:
    order = _order_by(rows.logits)
    scores = rows.logits if order is None else rows.logits[order]
    positive = rows.outcomes if order is None else rows.outcomes[order]
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    tied = starts.size < scores.size

    def measure(counted: Floats) -> Floats:
        ordered = counted if order is None else counted[:, order]
        positives = ordered * positive
        negatives = ordered - positives
        if tied:
            positives = np.add.reduceat(positives, starts, axis=1)
            negatives = np.add.reduceat(negatives, starts, axis=1)
        below = np.cumsum(negatives, axis=1)
        pairs = positives.sum(axis=1) * below[:, -1]
        below -= 0.5 * negatives
        won = np.einsum("bn,bn->b", positives, below)
        return np.divide(won, pairs, out=np.full(pairs.size, np.nan), where=pairs > 0.0)

    return measure


def _debiased(rows: CountedRows, places: NDArray[np.intp]) -> Counted:
    order = _order_by(places)
    bins = places if order is None else places[order]
    starts = np.flatnonzero(np.concatenate(([True], bins[1:] != bins[:-1])))
    said = rows.probabilities if order is None else rows.probabilities[order]
    positive = rows.outcomes if order is None else rows.outcomes[order]

    def measure(counted: Floats) -> Floats:
        ordered = counted if order is None else counted[:, order]
        sums = [
            np.add.reduceat(part, starts, axis=1)
            for part in (ordered, ordered * said, ordered * positive)
        ]
        return debiased_from_sums(*sums)

    return measure


def _order_by(values: NDArray[Any]) -> NDArray[np.intp] | None:
    """An order in which the values rise; None if they do as they stand."""
    if (values[1:] >= values[:-1]).all():
        return None
    return np.asarray(np.argsort(values, kind="stable"), dtype=np.intp)
