"""What a rung of the leakage ladder is, and what was measured on it.

A rung says where each preparation step is learned: inside every fold, or once outside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.folds import Fold, fold_name

OF_PROBABILITIES = ("log_loss", "brier", "ece")
MEASURED_METRICS = ("accuracy", "roc_auc", *OF_PROBABILITIES)
"""What is measured of a model, in this order."""


@dataclass(frozen=True)
class Rung:
    """Where each step is learned: True is outside the folds."""

    name: str
    outside: tuple[bool, ...]


@dataclass(frozen=True)
class FoldScore:
    """What one model scored on the rows of one fold.

    Attributes
    ----------
    metrics, undefined : dict
        Metric to value, or to the reason why it has none.
    predicted : ndarray of 0 and 1
        The model's decision for each measured row.
    columns : tuple of str
        Columns that reached the model.
    learned, measured : ndarray of int64
        Positions of the rows the model learned from and of those it was measured on.
    """

    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    predicted: NDArray[np.int64]
    columns: tuple[str, ...]
    learned: NDArray[np.int64]
    measured: NDArray[np.int64]


@dataclass(frozen=True)
class RungResult:
    """One rung, fold by fold."""

    rung: Rung
    folds: tuple[FoldScore, ...]

    def values(self, metric: str) -> NDArray[np.float64]:
        """One metric in every fold, NaN where it has no value."""
        return np.array([fold.metrics.get(metric, np.nan) for fold in self.folds])

    def mean(self, metric: str) -> float | None:
        """Mean over the folds in which the metric has a value; None if in none."""
        values = self._known(metric)
        return float(values.sum() / len(values)) if len(values) else None

    def spread(self, metric: str) -> float | None:
        """Population standard deviation over the same folds, as the lesson's code has it."""
        values = self._known(metric)
        return (
            float(((values - values.sum() / len(values)) ** 2).mean() ** 0.5)
            if len(values)
            else None
        )

    def summary(self) -> tuple[dict[str, float], dict[str, str]]:
        """Mean and spread of every metric (`accuracy/mean`), and why there is none."""
        metrics, undefined = {}, {}
        for metric in MEASURED_METRICS:
            for name, value in (("mean", self.mean(metric)), ("spread", self.spread(metric))):
                if value is None:
                    undefined[f"{metric}/{name}"] = self.gaps()[metric]
                else:
                    metrics[f"{metric}/{name}"] = value
        return metrics, undefined

    def numbers(self, *, repeats: int = 1) -> tuple[dict[str, float], dict[str, str]]:
        """Every fold's metrics (`fold_1/accuracy`) with `summary`, and the reasons where none."""
        metrics, undefined = self.summary()
        for index, fold in enumerate(self.folds):
            name = fold_name(index, len(self.folds) // repeats, repeats)
            metrics |= {f"{name}/{metric}": value for metric, value in fold.metrics.items()}
            undefined |= {f"{name}/{metric}": why for metric, why in fold.undefined.items()}
        return metrics, undefined

    def gaps(self) -> dict[str, str]:
        """For each metric without a value in some fold: in how many, and why in the first."""
        said = {}
        for metric in MEASURED_METRICS:
            reasons = [fold.undefined[metric] for fold in self.folds if metric in fold.undefined]
            if reasons:
                said[metric] = f"in {len(reasons)} of {len(self.folds)} folds: {reasons[0]}"
        return said

    def table(self) -> list[dict[str, Any]]:
        """One row per fold: rows learned from and measured, columns of the model, metrics."""
        return [
            {
                "rung": self.rung.name,
                "fold": number,
                "learned_rows": len(fold.learned),
                "measured_rows": len(fold.measured),
                "columns": len(fold.columns),
                **{metric: fold.metrics.get(metric) for metric in MEASURED_METRICS},
            }
            for number, fold in enumerate(self.folds, start=1)
        ]

    def _known(self, metric: str) -> NDArray[np.float64]:
        values = self.values(metric)
        return values[np.isfinite(values)]


def cumulative_rungs(steps: int) -> list[Rung]:
    """`0_outside` to `n_outside`: the first 0, 1, ..., n steps are learned outside the folds."""
    return [Rung(f"{d}_outside", tuple(i < d for i in range(steps))) for d in range(steps + 1)]


def single_rungs(steps: int) -> list[Rung]:
    """`only_1_outside` to `only_n_outside`: one step alone is learned outside the folds."""
    return [
        Rung(f"only_{j + 1}_outside", tuple(i == j for i in range(steps))) for j in range(steps)
    ]


def rung_of(name: str, steps: int) -> Rung:
    """The rung of this name on a ladder of so many steps.

    Raises
    ------
    ValueError
        If the ladder has no such rung.
    """
    for rung in (*cumulative_rungs(steps), *single_rungs(steps)):
        if rung.name == name:
            return rung
    raise ValueError(f"no rung {name!r} on a ladder of {steps} steps")


def rows_of_stages(
    rung: Rung, steps: Sequence[str], fold: Fold, pool_rows: int
) -> dict[str, NDArray[np.int64]]:
    """Which rows of the pool each stage of one fold learns from.

    Parameters
    ----------
    rung : Rung
        Where the steps are learned.
    steps : sequence of str
        Their names.
    fold : Fold
        The fold.
    pool_rows : int
        Rows of the pool, all of which a step outside the folds learns from.

    Returns
    -------
    dict of str to array of int64
        `step <name>` for every step, and `model`.
    """
    everything = np.arange(pool_rows)
    learned = {
        f"step {name}": everything if outside else fold.learned
        for name, outside in zip(steps, rung.outside, strict=True)
    }
    return {**learned, "model": fold.learned}
