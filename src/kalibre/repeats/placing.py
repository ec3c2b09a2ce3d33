"""A page prints a figure of one split and does not say which: is it one that splits like this would give?

The figure is placed among the same figure of many splits. That says whether it is ordinary, not whether the
page's split was one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kalibre.columns import Categories, Columns
from kalibre.repeats.distribution import percentile
from kalibre.repeats.layout import FURTHER, SEED


class Place(NamedTuple):
    """The percentile of a figure, the number of splits it is among, and the sentence that says so."""

    percentile: float
    splits: int
    note: str


def place(
    measure: Callable[[Mapping[str, float]], float | None],
    printed: float,
    *,
    decimals: int,
    studies: Mapping[str, Columns],
) -> Place | None:
    """Place a figure of one split among many.

    Parameters
    ----------
    measure : callable
        Makes the figure, in its printed unit, from the metrics of one split by their paths, such as
        `evaluate/naive_bayes/none/validation/brier` and `calibrate/naive_bayes/temperature/temperature`.
    printed : float
        The figure.
    decimals : int
        Digits it is printed with.
    studies : mapping of str to Columns
        Model to its table of splits, as `join_repeats` writes it.

    Returns
    -------
    Place or None
        None if no split has such a figure.
    """
    splits = _metrics_by_split(studies)
    values = np.array([_number(measure(metrics)) for metrics in splits.values()])
    share = percentile(values, printed, decimals=decimals)
    if share is None:
        return None
    count = int(np.count_nonzero(np.isfinite(values)))
    note = f"at percentile {share:.0f} among {count} splits (seeds {min(splits)} to {max(splits)})"
    return Place(share, count, note)


def _metrics_by_split(studies: Mapping[str, Columns]) -> dict[int, dict[str, float]]:
    """Seed to the split's metrics, under the paths they have in an experiment of one split."""
    splits: dict[int, dict[str, float]] = {}
    for model, table in studies.items():
        measured = {
            _path(model, name): _numbers(column)
            for name, column in table.items()
            if name not in (SEED, FURTHER) and not isinstance(column, Categories)
        }
        for row, seed in enumerate(_numbers(table[SEED])):
            values = {path: column[row] for path, column in measured.items()}
            splits.setdefault(int(seed), {}).update(values)
    return splits


def _path(model: str, measurement: str) -> str:
    """A calibrator's parameter is a metric of the rule `calibrate`, everything else of `evaluate`."""
    calibrator, _, rest = measurement.partition("/")
    rule = "evaluate" if "/" in rest else "calibrate"
    return f"{rule}/{model}/{calibrator}/{rest}"


def _numbers(column: Any) -> Sequence[float]:
    return np.asarray(column).tolist()


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
