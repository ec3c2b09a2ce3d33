"""The stage `fill_leak_sheet`: what the engine knows of an experiment's rows, for the eight types of leakage.

The pair of sets that counts is the one the headline rests on: the rows that model or calibrator learned from,
and those of the evaluated parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    sheet: Mapping[str, Any],
    leaks: Sequence[Mapping[str, str]],
) -> LeakFacts:
    """What is known of an experiment.

    Parameters
    ----------
    table, roles : Columns
        Its table.
    parts : Columns or None
        Its split; None where nothing is split.
    sheet : mapping
        What `kalibre.experiment.sheet.sheet_settings` makes of the experiment.
    leaks : sequence of mapping
        Rows of the ladder's leak tables.
    """
    declared = {key: Declaration(**statement) for key, statement in sheet["statements"].items()}
    if parts is None or sheet["predictions_given"]:
        return LeakFacts(
            predictions_given=True,
            measured_rows=len(np.asarray(roles["outcome"])),
            declared=declared,
            roles=sorted(roles),
        )
    part, row = parts["part"], np.asarray(parts["row"])
    assert isinstance(part, Categories)
    learned, measured = (row[part.isin(sheet[key])] for key in ("learned_on", "measured_on"))
    features = {name: table[name] for name in sheet["columns"] or table}
    digests = row_digests(features)
    shared = len(np.intersect1d(learned, measured))
    fresh = np.setdiff1d(measured, learned)
    return LeakFacts(
        measured_rows=len(measured),
        shared_rows=shared,
        steps=sheet["steps"],
        selecting_steps=sheet["selecting"],
        prepared_rows=shared if sheet["steps"] else None,
        step_leaks=list(_step_leaks(leaks, sheet)),
        duplicate_rows=duplicates(digests[learned], digests[fresh]),
        strongest_column=strongest_column(
            take_rows(features, measured), np.asarray(roles["outcome"])[measured]
        ),
        earlier_rows=_of_pair(roles, "time", learned, fresh, earlier_rows),
        shared_groups=_of_pair(roles, "group", learned, fresh, shared_groups),
        declared=declared,
        roles=sorted(roles),
        compared_sides=sheet["compared_sides"],
        compared_leaks=sheet["compared_leaks"],
        folds_method=sheet["folds_method"],
    )


def _step_leaks(leaks: Sequence[Mapping[str, str]], sheet: Mapping[str, Any]) -> Iterator[StepLeak]:
    """The leak of each step alone outside the folds, where it was measured."""
    for row in leaks:
        step = sheet["rungs"].get(row["rung"])
        if step is not None and row["metric"] == METRIC and row["leak"]:
            yield StepLeak(
                step=step,
                selects=step in sheet["selecting"],
                metric=METRIC,
                leak=float(row["leak"]),
                low=_number(row["leak_corrected_low"]),
                high=_number(row["leak_corrected_high"]),
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
