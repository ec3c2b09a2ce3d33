"""The stage `split_rows`: which part each row belongs to, and in which order a stage takes the rows.

The order is part of the split: sums of floating-point numbers, contiguous folds and an estimator's result
depend on it, and the lessons' pages take the rows as their shuffle leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre import splits
from kalibre.columns import Columns
from kalibre.data.table import outcome_counts
from kalibre.errors import InputError
from kalibre.records import Result


def split_rows(roles: Columns, split: Mapping[str, Any]) -> tuple[Columns, Result]:
    """Cut the table into parts.

    Parameters
    ----------
    roles : Columns
        The table's roles; `outcome` is stratified on.
    split : mapping
        `method`, `parts` as a list of (name, size) in the order of the cuts, `rest` and `seed`.

    Returns
    -------
    parts : Columns
        `row` (position in the table) and `part`, in the order in which stages take the rows.
    result : Result
        Rows, positives and their share in each part.

    Raises
    ------
    InputError
        If a part is larger than what the earlier cuts have left.
    """
    outcome = np.asarray(roles["outcome"])
    sizes = dict(split["parts"])
    try:
        made = _METHODS[split["method"]](outcome, sizes, split["rest"], split["seed"])
    except ValueError as error:
        raise InputError(f"split: {error}") from error
    metrics: dict[str, float] = {}
    notes = list(made.notes)
    for part in made.names:
        counts = outcome_counts(outcome[made.rows(part)])
        metrics |= {f"{part}/{name}": value for name, value in counts.items()}
        if counts["positives"] in (0, counts["rows"]):
            notes.append(
                f"part {part} has one class only: {counts['positives']} of {counts['rows']}"
            )
    columns: Columns = {"row": made.order, "part": made.ordered_part()}
    params = {"method": split["method"], "seed": split["seed"]}
    return columns, Result(metrics=metrics, params=params, notes=tuple(notes))


def _shuffle(outcome: np.ndarray, sizes: dict[str, Any], rest: str, seed: int) -> splits.Split:
    return splits.lesson_split(len(outcome), sizes=sizes, rest=rest, seed=seed)


def _stratified(outcome: np.ndarray, sizes: dict[str, Any], rest: str, seed: int) -> splits.Split:
    return splits.stratified_split(outcome, sizes=sizes, rest=rest, seed=seed)


def _random(outcome: np.ndarray, sizes: dict[str, Any], rest: str, seed: int) -> splits.Split:
    return splits.random_split(len(outcome), sizes=sizes, rest=rest, seed=seed)


_METHODS = {"shuffle": _shuffle, "stratified": _stratified, "random": _random}
