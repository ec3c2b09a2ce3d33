"""The data source `predictions` with a file: what models said of each case, and what happened.

Either one row a case with a column for each model, or one row a model and case with a column that names
the model. Nothing is fitted; every probability is looked at once, and one that cannot be is refused with
its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns, as_text, take_rows
from kalibre.data.kinds import as_categories, first_missing, row_number
from kalibre.data.labels import Outcomes, as_outcomes
from kalibre.data.own_files import OwnFile
from kalibre.data.own_roles import NAMES, as_floats, read_roles, role_columns
from kalibre.data.table import Table, outcome_counts
from kalibre.errors import InputError, suggestion
from kalibre.records import Result

Scale = Literal["probability", "logit"]
Floats = NDArray[np.float64]

_ALLOWED: dict[Scale, str] = {
    "probability": "a probability of the positive outcome, from 0 to 1",
    "logit": "a finite number, ln(p / (1 - p))",
}


def make_table(data: Mapping[str, Any]) -> Table:
    """Read the file of predictions that the section `data` names.

    Parameters
    ----------
    data : mapping
        The section after defaults, `kalibre.experiment.data.Predictions`.

    Returns
    -------
    Table
        Its features are `MODEL/probability` or `MODEL/logit` for every model; or, from a file with a row
        for each model and case, `model`, `row` (the case's place among the model's) and the score.

    Raises
    ------
    InputError
        If the file is not there, is no table, or holds values that cannot be used; names the place.
    """
    file = OwnFile.open(data["file"], encoding=data["encoding"], delimiter=data["delimiter"])
    scores = _score_columns(data)
    roles = role_columns(data)
    values = _read_columns(file, data, scores, roles)
    outcomes = as_outcomes(
        values[data["outcome"]],
        file=file.name,
        column=data["outcome"],
        key="data.outcome",
        positive=data["positive"],
    )
    role_values, notes = read_roles(values, roles, file)
    table: Columns = {"outcome": outcomes.values, **role_values}
    if data["model"]:
        (scale, column), *_ = scores.values()
        features, table, said = _one_row_a_model(
            file, values, table, data["model"], data["models"], scale, column
        )
        counts = _counts_by_model(features, table)
    else:
        said = ()
        features = {
            f"{model}/{scale}": _checked(values[column], scale, column, file)
            for model, (scale, column) in scores.items()
        }
        common = outcome_counts(outcomes.values)
        counts = {f"{model}/{name}": n for model in scores for name, n in common.items()}
    result = Result(
        metrics=counts,
        params=_params(file, data, outcomes),
        notes=(*file.notes, *outcomes.notes, *notes, *said),
    )
    return Table(features, table, result, inputs={"file": file.digest()})


def _read_columns(
    file: OwnFile,
    data: Mapping[str, Any],
    scores: Mapping[str, tuple[Scale, str]],
    roles: Mapping[str, str],
) -> dict[str, Any]:
    """The columns that the section names, all of which the file must have."""
    named = {"data.outcome": data["outcome"]}
    named |= {"data.model": data["model"]} if data["model"] else {}
    named |= {f"data.{role}": column for role, column in roles.items()}
    file.require(named)
    for scale, column in scores.values():
        file.require({f"data.{scale}": column})
    columns = [*named.values(), *(column for _, column in scores.values())]
    names = [roles[role] for role in NAMES if role in roles]
    values = file.read(dict.fromkeys(columns), texts=names, missing=data["missing"])
    file.require_single_values(named, values)
    for scale, column in scores.values():
        file.require_single_values({f"data.{scale}": column}, values)
    return values


def _score_columns(data: Mapping[str, Any]) -> dict[str, tuple[Scale, str]]:
    """Model to the scale and the column of its predictions."""
    scales: tuple[Scale, ...] = ("probability", "logit")
    return {
        model: (scale, column) for scale in scales for model, column in (data[scale] or {}).items()
    }


def _params(file: OwnFile, data: Mapping[str, Any], outcomes: Outcomes) -> dict[str, Any]:
    # The name without its folder: a record says nothing of a machine.
    return {
        "file": Path(file.name).name,
        "outcome": data["outcome"],
        "positive": outcomes.positive,
    }


def _one_row_a_model(
    file: OwnFile,
    values: Mapping[str, Any],
    roles: Columns,
    model_column: str,
    models: Mapping[str, Any],
    scale: Scale,
    column: str,
) -> tuple[Columns, Columns, tuple[str, ...]]:
    """The rows of the models asked for, each with its place among its model's."""
    where = f"{file.name}: column {model_column!r} (`data.model`)"
    gap = first_missing(values[model_column])
    if gap is not None:
        raise InputError(f"{where}, row {gap}: found no value; every row needs its model's name")
    found = as_categories(values[model_column])
    labels = {as_text(label): name for name, label in models.items()}
    for label in labels:
        if label not in found.names:
            raise InputError(
                f"{where}: no row has {label!r}, which `data.models` names; "
                f"{suggestion(label, found.names)}"
            )
    chosen = found.isin(list(labels))
    names = tuple(models)
    codes = np.array([names.index(labels[n]) if n in labels else -1 for n in found.names] or [-1])
    model = Categories(codes[found.codes][chosen].astype(np.int32), names)
    row = np.empty(len(model), dtype=np.int64)
    for code in range(len(names)):
        own = np.flatnonzero(model.codes == code)
        row[own] = np.arange(len(own))
    scores = _checked(values[column], scale, column, file, chosen)
    left = len(found) - len(model)
    others = [name for name in found.names if name not in labels]
    notes = (
        (f"{left} rows of models that `models` does not name are left out: {', '.join(others)}",)
        if left
        else ()
    )
    features: Columns = {"row": row, "model": model, scale: scores[chosen]}
    return features, take_rows(roles, chosen), notes


def _counts_by_model(features: Columns, roles: Columns) -> dict[str, float]:
    model, outcome = features["model"], np.asarray(roles["outcome"])
    assert isinstance(model, Categories)
    return {
        f"{name}/{metric}": value
        for name in model.names
        for metric, value in outcome_counts(outcome[model.isin([name])]).items()
    }


def _checked(
    values: Any,
    scale: Scale,
    column: str,
    file: OwnFile,
    chosen: NDArray[np.bool_] | None = None,
) -> Floats:
    """A column of predictions, all of the (chosen) rows good."""
    where = f"{file.name}: column {column!r} (`data.{scale}`)"
    scores = as_floats(values, where, _ALLOWED[scale])
    # NaN fails both comparisons.
    good = (scores >= 0.0) & (scores <= 1.0) if scale == "probability" else np.abs(scores) < np.inf
    if chosen is not None:
        good |= ~chosen
    if good.all():
        return scores
    row = row_number(~good)
    found = "no value" if np.isnan(scores[row - 1]) else repr(float(scores[row - 1]))
    bad = len(good) - int(np.count_nonzero(good))
    raise InputError(
        f"{where}, row {row}: found {found}; allowed is {_ALLOWED[scale]} ({bad} of "
        f"{len(good)} rows){_remedy(scores, scale)}"
    )


def _remedy(scores: Floats, scale: Scale) -> str:
    if np.isnan(scores).any():
        return "; fill the value in or delete the row"
    if scale == "logit":
        return "; a certain prediction has no logit: give `probability` instead"
    low, high = float(scores.min()), float(scores.max())
    if low >= 0.0 and high <= 100.0 and np.count_nonzero(scores > 1.0) * 2 > len(scores):
        return "; the column looks like percent: divide it by 100"
    if low < 0.0:
        return "; if the column holds logits, name it as `logit`"
    return ""
