"""The stage `split_rows`: which part each row belongs to, and in which order a stage takes the rows.

The order is part of the split: sums of floating-point numbers, contiguous folds and an estimator's result
depend on it, and the lessons' pages take the rows as their shuffle leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre.columns import Categories, Columns
from kalibre.cutting import make_split
from kalibre.data.table import outcome_counts
from kalibre.errors import InputError
from kalibre.records import Result
from kalibre.splits import Split


def split_rows(roles: Columns, split: Mapping[str, Any]) -> tuple[Columns, Result]:
    """Cut the table into parts.

    Parameters
    ----------
    roles : Columns
        The table's roles: `outcome`, and what the method goes by.
    split : mapping
        As `kalibre.cutting.make_split` takes it.

    Returns
    -------
    parts : Columns
        `row` (position in the table) and `part`, in the order in which stages take the rows.
    result : Result
        Rows, positives and their share in each part.

    Raises
    ------
    InputError
        If the rows cannot be cut so.
    """
    outcome = np.asarray(roles["outcome"])
    try:
        made = make_split(roles, split)
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
    notes += _parted_groups(roles, made) + _order_lost(roles, split)
    columns: Columns = {"row": made.order, "part": made.ordered_part()}
    params = {name: split[name] for name in ("method", "seed", "rest_is") if name in split}
    return columns, Result(metrics=metrics, params=params, notes=tuple(notes))


def _parted_groups(roles: Columns, split: Split) -> list[str]:
    """Groups with rows in several parts: what one part knows of them, another one's score shows."""
    group = roles.get("group")
    if not isinstance(group, Categories):
        return []
    parts = len(split.names)
    pairs = np.unique(group.codes.astype(np.int64) * parts + split.part.codes)
    parted = int(np.count_nonzero(np.bincount(pairs // parts) > 1))
    if not parted:
        return []
    return [
        (
            f"{parted} of {len(group.names)} groups have rows in several parts, so a model may know a group "
            "it is measured on; `method: group` keeps each in one part"
        )
    ]


def _order_lost(roles: Columns, split: Mapping[str, Any]) -> list[str]:
    if "time" not in roles or split["method"] in ("time", "column"):
        return []
    return [
        (
            "the data names a time, and the split does not keep its order: rows may be measured by what was "
            "learned from later ones; `method: time` keeps it"
        )
    ]
