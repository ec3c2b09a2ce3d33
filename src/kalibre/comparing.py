"""The stage `compare`: every row of a table of comparisons, before and after its decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre.columns import Categories, Columns
from kalibre.comparison import Side, closing_counts, contribution, measure_variant
from kalibre.errors import InputError
from kalibre.preparation.frames import to_frame
from kalibre.records import Result, manifest
from kalibre.tables import CLOSING, HEADLINE


def compare(
    features: Columns, roles: Columns, parts: Columns, comparisons: Mapping[str, Any]
) -> Result:
    """Measure both sides of every row.

    Parameters
    ----------
    features, roles, parts : Columns
        The table and its split.
    comparisons : mapping
        The section `comparisons` after defaults.

    Returns
    -------
    Result
        `<row>/before/<metric>`, `<row>/after/<metric>`, `<row>/contribution/<metric>`, and the counts
        of the whole table under `closing/`.

    Raises
    ------
    InputError
        Naming the row, if one of its sides cannot be measured.
    """
    frame = to_frame(features)
    row, part = np.asarray(parts["row"]), parts["part"]
    assert isinstance(part, Categories)
    positions = {name: row[part.isin([name])] for name in part.names}
    metrics: dict[str, float] = {}
    undefined: dict[str, str] = {}
    rows: dict[str, Any] = {}
    notes: list[str] = []
    changes = []
    for spec in comparisons["rows"]:
        name = spec["name"]
        sides = {}
        for side in ("before", "after"):
            try:
                measured = measure_variant(
                    frame,
                    np.asarray(roles["outcome"]),
                    parts=positions,
                    variant=spec[side],
                    models=comparisons["models"],
                    column_sets=comparisons["column_sets"],
                )
            except InputError as error:
                raise InputError(f"comparisons, row {name!r}, {side}: {error}") from error
            sides[side] = measured
            metrics |= {f"{name}/{side}/{k}": v for k, v in measured.metrics.items()}
            undefined |= {f"{name}/{side}/{k}": why for k, why in measured.undefined.items()}
            rows |= _manifests(f"{name}/{side}", measured)
            notes += [f"{name}, {side}: {note}" for note in measured.notes]
        change = contribution(sides["before"], sides["after"])
        metrics |= {f"{name}/contribution/{k}": v for k, v in change.items()}
        changes.append(change[HEADLINE])
    closing = closing_counts(comparisons["rows"], changes)
    metrics |= {f"{CLOSING}{name}": count for name, count in closing.items()}
    return Result(metrics, undefined, rows=rows, notes=tuple(notes))


def _manifests(path: str, side: Side) -> dict[str, Any]:
    learned = {f"{path}: {stage}": manifest(rows) for stage, rows in side.learned.items()}
    return {**learned, f"{path}: measured": manifest(side.measured)}
