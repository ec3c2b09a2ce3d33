"""The stage `fill_leak_sheet`: what the engine knows of an experiment's rows, for the eight types of leakage.

The pair of sets that counts is the one the headline rests on: the rows that model or calibrator learned from,
and those of the evaluated parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns, take_rows
from kalibre.leak_sheet import (
    Declaration,
    LeakFacts,
    StepLeak,
    duplicates,
    earlier_rows,
    row_digests,
    shared_groups,
    strongest_column,
)

METRIC = "accuracy"


def gather_facts(
    table: Columns,
    roles: Columns,
    parts: Columns | None,
    *,
    columns: Sequence[str],
    learned_on: Sequence[str],
    measured_on: Sequence[str],
    steps: Sequence[str],
    leaks: Sequence[Mapping[str, str]],
    rungs: Mapping[str, str],
    statements: Mapping[str, Mapping[str, str]],
    predictions_given: bool = False,
    compared_sides: Sequence[str] = (),
    compared_leaks: Sequence[str] = (),
    selecting: Sequence[str] = (),
    folds_method: str = "",
) -> LeakFacts:
    """What is known of an experiment.

    Parameters
    ----------
    table, roles : Columns
        Its table.
    parts : Columns or None
        Its split; None where nothing is split.
    columns : sequence of str
        The columns models learn from; empty for all of the table's.
    learned_on, measured_on : sequence of str
        Parts that a model or calibrator learned from, and parts that were measured.
    steps : sequence of str
        Names of the preparation steps.
    leaks : sequence of mapping
        Rows of the ladder's leak tables.
    rungs : mapping of str to str
        Rung with one step alone outside the folds to that step's name.
    statements : mapping
        The section `leak_sheet`.
    predictions_given : bool
        Whether the scores came with the data: what their models learned from is not known.
    compared_sides, compared_leaks : sequence of str
        Sides of comparisons that prepare columns, and those that learn it from the rows they measure.
    selecting : sequence of str
        Names of the steps that choose features.
    folds_method : str
        How the ladder's folds are cut; empty without a ladder.
    """
    declared = {key: Declaration(**statement) for key, statement in statements.items()}
    step_leaks = [
        StepLeak(
            step=rungs[row["rung"]],
            selects=rungs[row["rung"]] in selecting,
            metric=METRIC,
            leak=float(row["leak"]),
            low=_number(row["leak_corrected_low"]),
            high=_number(row["leak_corrected_high"]),
        )
        for row in leaks
        if row["rung"] in rungs and row["metric"] == METRIC and row["leak"]
    ]
    if parts is None or predictions_given:
        return LeakFacts(
            predictions_given=True,
            measured_rows=len(np.asarray(roles["outcome"])),
            declared=declared,
            roles=sorted(roles),
        )
    part, row = parts["part"], np.asarray(parts["row"])
    assert isinstance(part, Categories)
    learned, measured = row[part.isin(learned_on)], row[part.isin(measured_on)]
    features = {name: table[name] for name in columns or table}
    digests = row_digests(features)
    shared = len(np.intersect1d(learned, measured))
    fresh = np.setdiff1d(measured, learned)
    return LeakFacts(
        measured_rows=len(measured),
        shared_rows=shared,
        steps=steps,
        selecting_steps=selecting,
        prepared_rows=shared if steps else None,
        step_leaks=step_leaks,
        duplicate_rows=duplicates(digests[learned], digests[fresh]),
        strongest_column=strongest_column(
            take_rows(features, measured), np.asarray(roles["outcome"])[measured]
        ),
        earlier_rows=_of_pair(roles, "time", learned, fresh, earlier_rows),
        shared_groups=_of_pair(roles, "group", learned, fresh, shared_groups),
        declared=declared,
        roles=sorted(roles),
        compared_sides=compared_sides,
        compared_leaks=compared_leaks,
        folds_method=folds_method,
    )


def _of_pair(
    roles: Columns, name: str, learned: NDArray[np.int64], measured: NDArray[np.int64], count: Any
) -> int | None:
    if name not in roles:
        return None
    column = roles[name]
    values = column.codes if isinstance(column, Categories) else np.asarray(column)
    return int(count(values[learned], values[measured]))


def _number(text: str) -> float | None:
    return float(text) if text else None
