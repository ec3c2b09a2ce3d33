"""The stage `score_out_of_fold`: scores of the training rows by models that did not learn from them.

A calibrator needs scores of rows the model has not seen, and a part of its own costs the model a fifth of
its rows. Cross-fitting gives both: the training rows are cut into folds, each fold is scored by the model
learned on the others, and the calibrator is learned from these scores; the model itself learns from all
training rows (`CalibratedClassifierCV(ensemble=False)` in scikit-learn; Platt 1999, section 2.2).

The folds keep groups together, or look forward in time, where the data names them. The rows are marked as
not fitted, because the score beside each is of a model that has not learned from it; the calibrator then
marks them as its own, so that nothing measures them by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.fitting import ModelRows, build_model, fit_rows, score_rows
from kalibre.folds import Fold, make_folds
from kalibre.preparation.chain import check_numbers
from kalibre.records import Result, manifest
from kalibre.scores import Scores


def score_out_of_fold(
    features: Columns,
    roles: Columns,
    parts: Columns,
    *,
    model: Mapping[str, Any],
    preparation: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    folds: Mapping[str, Any],
) -> tuple[Scores, Result]:
    """Score a model's training rows fold by fold.

    Parameters
    ----------
    features, roles, parts, model, preparation, columns
        As in `kalibre.fitting.fit_model`; preparation is learned anew in each fold.
    folds : mapping
        `method`, `count` and `seed`, as in `kalibre.folds.make_folds`.

    Returns
    -------
    Scores
        The training rows that some fold measures, in the split's order.
    Result
        How many rows, and those each fold's model learned from.

    Raises
    ------
    InputError
        If the rows cannot be cut so, or a fold's model refuses its rows.
    """
    rows = ModelRows.of(features, roles, parts, model=model, columns=columns)
    if not preparation:
        check_numbers(rows.frame)
    learned = np.flatnonzero(rows.learned)
    cut = _folds(rows, roles, folds)
    probability = np.full(len(rows.row), np.nan)
    z = np.full(len(rows.row), np.nan)
    manifests: dict[str, Any] = {}
    notes: list[str] = []
    for number, fold in enumerate(cut, start=1):
        estimator = build_model(model, preparation)
        own, measured = learned[fold.learned], learned[fold.measured]
        try:
            said = fit_rows(estimator, rows, _marked(own, len(rows.row)))
            frame = rows.frame.iloc[measured]
            probability[measured], z[measured], more = score_rows(estimator, frame)
        except InputError as error:
            raise InputError(f"out-of-fold scores, fold {number}: {error}") from error
        notes += [*said, *more]
        manifests[f"fold {number}: learned"] = manifest(rows.row[own])
        manifests[f"fold {number}: scored"] = manifest(rows.row[measured])
    scored = ~np.isnan(z)
    left = len(learned) - int(scored.sum())
    if left:
        notes.append(
            f"{left} of {len(learned)} training rows have no out-of-fold score: no fold learned before them"
        )
    scores = Scores(
        row=rows.row,
        part=rows.part,
        outcome=rows.outcome,
        probability=probability,
        logit=z,
        uncalibrated_logit=z,
        fitted=np.zeros(len(rows.row), dtype=bool),
        calibrated=np.zeros(len(rows.row), dtype=bool),
        weight=rows.weight,
        group=rows.group,
    ).take(scored)
    result = Result(
        metrics={"folds": len(cut), "rows": len(scores)},
        params={"folds": dict(folds)},
        rows=manifests,
        notes=tuple(dict.fromkeys(notes)),
    )
    return scores, result


def _folds(rows: ModelRows, roles: Columns, folds: Mapping[str, Any]) -> list[Fold]:
    """Folds of the training rows, as positions among them."""
    own = rows.row[rows.learned]
    columns = {
        name: column.values()[own] if isinstance(column, Categories) else np.asarray(column)[own]
        for name, column in roles.items()
        if name in ("group", "time")
    }
    try:
        return make_folds(
            rows.outcome[rows.learned],
            method=folds["method"],
            count=folds["count"],
            seed=folds["seed"],
            groups=columns.get("group"),
            times=columns.get("time"),
        )
    except ValueError as error:
        raise InputError(f"calibration.folds: {error}") from error


def _marked(positions: np.ndarray, rows: int) -> np.ndarray:
    marked = np.zeros(rows, dtype=bool)
    marked[positions] = True
    return marked
