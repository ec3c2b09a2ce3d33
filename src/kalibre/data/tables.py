"""The data source `table`: a person's own file, as an experiment's table.

What models may learn from goes into the features, what a row is (its outcome, group, time, weight, part
and id) into the roles, and no column into both. The kinds of the columns are inferred from all of their
values, and the record says them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kalibre.data.kinds import Seen, missing_note, see_column
from kalibre.data.labels import as_outcomes
from kalibre.data.own_files import OwnFile
from kalibre.data.own_roles import NAMES, read_roles, role_columns
from kalibre.data.table import Table, outcome_counts
from kalibre.errors import InputError
from kalibre.records import Result

LEFT_OUT = "left out"


def make_table(data: Mapping[str, Any]) -> Table:
    """Read the file that the section `data` names.

    Parameters
    ----------
    data : mapping
        The section after defaults, `kalibre.experiment.data.OwnTable`.

    Raises
    ------
    InputError
        If the file is not there, is no table, or holds values that cannot be used; names the place.
    """
    file = OwnFile.open(data["file"], encoding=data["encoding"], delimiter=data["delimiter"])
    roles = role_columns(data)
    _require_columns(file, data, roles)
    wanted = _wanted(file, data, roles)
    values = file.read(
        dict.fromkeys([data["target"], *roles.values(), *wanted]),
        texts=[
            *(column for column, kind in data["kinds"].items() if kind == "category"),
            *(roles[role] for role in NAMES if role in roles),
        ],
        missing=data["missing"],
    )
    file.require_single_values(_named(data, roles), values)
    outcomes = as_outcomes(
        values[data["target"]],
        file=file.name,
        column=data["target"],
        key="data.target",
        positive=data["positive"],
    )
    role_values, role_notes = read_roles(values, roles, file)
    seen = _see_features(values, wanted, data, file)
    features = {name: one.column for name, one in seen.items() if one.column is not None}
    result = _result(file, data, seen, outcomes.positive, outcome_counts(outcomes.values))
    notes = (*file.notes, *outcomes.notes, *role_notes, *result.notes)
    return Table(
        features,
        {"outcome": outcomes.values, **role_values},
        Result(metrics=result.metrics, params=result.params, notes=notes),
        inputs={"file": file.digest()},
    )


def _see_features(
    values: dict[str, Any], wanted: Sequence[str], data: Mapping[str, Any], file: OwnFile
) -> dict[str, Seen]:
    """The columns as models may see them; `values` gives up each column as it is looked at."""
    seen = {
        column: see_column(
            values.pop(column),
            column,
            file=file.name,
            wanted=data["kinds"].get(column),
            named=column in (data["columns"] or []),
        )
        for column in wanted
    }
    if all(one.column is None for one in seen.values()):
        raise InputError(
            f"{file.name}: no column is left for a model to learn from; "
            + "; ".join(note for one in seen.values() for note in one.notes)
        )
    return seen


def _require_columns(file: OwnFile, data: Mapping[str, Any], roles: Mapping[str, str]) -> None:
    file.require(_named(data, roles))
    for key in ("columns", "leave_out", "kinds"):
        for column in data[key] or ():
            file.require({f"data.{key}": column})


def _named(data: Mapping[str, Any], roles: Mapping[str, str]) -> dict[str, str]:
    """Key to the column it names, for the target and the roles."""
    return {"data.target": data["target"]} | {f"data.{role}": name for role, name in roles.items()}


def _wanted(file: OwnFile, data: Mapping[str, Any], roles: Mapping[str, str]) -> list[str]:
    """The columns a model may see, in the file's order or in the one `columns` gives."""
    taken = {data["target"], *roles.values(), *data["leave_out"]}
    wanted = [column for column in data["columns"] or file.columns if column not in taken]
    if not wanted:
        raise InputError(
            f"{file.name}: every column is the target, a role or left out; models need at least one to "
            "learn from"
        )
    return wanted


def _result(
    file: OwnFile,
    data: Mapping[str, Any],
    seen: Mapping[str, Seen],
    positive: str,
    counts: dict[str, float],
) -> Result:
    """Counts and kinds for the record."""
    kinds: dict[str, list[str]] = {}
    for column, one in seen.items():
        kinds.setdefault(one.kind, []).append(column)
    missing = {column: one.missing for column, one in seen.items() if one.kind != LEFT_OUT}
    notes = [note for one in seen.values() for note in one.notes]
    notes += missing_note(missing, int(counts["rows"]))
    params = {
        # The name without its folder: a record says nothing of a machine.
        "file": Path(file.name).name,
        "target": data["target"],
        "positive": positive,
        "kinds": dict(sorted(kinds.items())),
    }
    metrics = counts | {
        "columns": sum(one.column is not None for one in seen.values()),
        "missing_values": sum(missing.values()),
    }
    return Result(metrics=metrics, params=params, notes=tuple(notes))
