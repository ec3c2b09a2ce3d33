"""The stage `fit_model`: one estimator learned on its parts, and its score for every row of the split."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from kalibre import estimators
from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.logits import expit, logit
from kalibre.preparation.chain import build_chain, check_numbers
from kalibre.preparation.frames import named_columns, to_frame
from kalibre.records import Result, manifest
from kalibre.scores import Scores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ModelRows:
    """The rows of a split as one model sees them, in the split's order.

    Attributes
    ----------
    frame : DataFrame
        Its columns.
    row : ndarray of int64
        Positions in the experiment's table.
    part : Categories
        The part of each.
    outcome, weight : ndarray, or None for no weights
        What happened, and how much a row counts.
    group : Categories, or None
        What rows belong together.
    learned : ndarray of bool
        The rows it learns from.
    """

    frame: pd.DataFrame
    row: NDArray[np.int64]
    part: Categories
    outcome: NDArray[np.int8]
    weight: Floats | None
    group: Categories | None
    learned: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        features: Columns,
        roles: Columns,
        parts: Columns,
        *,
        model: Mapping[str, Any],
        columns: Sequence[str],
    ) -> ModelRows:
        """Take the table and its split, and of the model's settings `columns` and `learn_on`.

        Raises
        ------
        InputError
            If the table lacks one of the columns.
        """
        row, part = np.asarray(parts["row"]), parts["part"]
        assert isinstance(part, Categories)
        frame = to_frame(features, named_columns(features, model["columns"], columns))
        group = roles.get("group")
        return cls(
            frame=frame.iloc[row].reset_index(drop=True),
            row=row,
            part=part,
            outcome=np.asarray(roles["outcome"])[row],
            weight=np.asarray(roles["weight"])[row] if "weight" in roles else None,
            group=group.take(row) if isinstance(group, Categories) else None,
            learned=part.isin(model["learn_on"]),
        )


@dataclass(frozen=True)
class FittedModel:
    """A fitted estimator, its scores and its record."""

    estimator: Any
    scores: Scores
    result: Result


def fit_model(
    features: Columns,
    roles: Columns,
    parts: Columns,
    *,
    model: Mapping[str, Any],
    preparation: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
) -> FittedModel:
    """Fit one model of the section `models`.

    Parameters
    ----------
    features, roles, parts : Columns
        The table and its split.
    model : mapping
        The model's settings.
    preparation : sequence of mapping
        The section `preparation`; its steps are learned from the model's rows and saved with it.
    columns : sequence of str
        The data's columns, where the model names none of its own; empty for all of the table's.

    Raises
    ------
    InputError
        If a column is missing, the estimator cannot be built, or it refuses the data.
    """
    rows = ModelRows.of(features, roles, parts, model=model, columns=columns)
    estimator = build_model(model, preparation)
    if not preparation:
        check_numbers(rows.frame)
    said = fit_rows(estimator, rows, rows.learned)
    probability, z, notes = score_rows(estimator, rows.frame)
    scores = Scores(
        row=rows.row,
        part=rows.part,
        outcome=rows.outcome,
        probability=probability,
        logit=z,
        uncalibrated_logit=z,
        fitted=rows.learned,
        calibrated=np.zeros(len(rows.row), dtype=bool),
        weight=rows.weight,
        group=rows.group,
    )
    result = Result(
        metrics={"learned_rows": int(rows.learned.sum()), "columns": rows.frame.shape[1]},
        params={"estimator": model["estimator"], "params": model_params(estimator)},
        rows={"learned": manifest(rows.row[rows.learned])},
        notes=(*said, *notes),
    )
    return FittedModel(estimator, scores, result)


def build_model(model: Mapping[str, Any], preparation: Sequence[Mapping[str, Any]] = ()) -> Any:
    """The unfitted estimator of a model's settings, behind its preparation and scaler if there are any.

    Raises
    ------
    InputError
        If it is no classifier that gives probabilities or a score.
    """
    needs = ("fit", "predict", "get_params")
    estimator = estimators.build(
        model["estimator"], model["params"], needs=needs, seed=model["seed"]
    )
    _require_classifier(estimator, model["estimator"])
    before = [build_chain(preparation, seed=model["seed"])] if preparation else []
    before += [StandardScaler()] if model["standardise"] else []
    return make_pipeline(*before, estimator) if before else estimator


def score_rows(estimator: Any, frame: pd.DataFrame) -> tuple[Floats, Floats, tuple[str, ...]]:
    """As `score`, for rows of a person's own, which a fitted model may refuse.

    Raises
    ------
    InputError
        If the model cannot score the rows, or what it gives are no probabilities.
    """
    try:
        probability, z, notes = score(estimator, frame)
    except (ValueError, TypeError) as error:
        raise InputError(f"the model cannot score the rows: {_reason(error, frame)}") from error
    if not ((probability >= 0.0) & (probability <= 1.0)).all() or np.isnan(z).any():
        raise InputError(
            f"the model's probabilities are not all between 0 and 1: {_range(probability)}; calibrate "
            "it inside its own class, or name another one"
        )
    return probability, z, notes


def score(estimator: Any, frame: pd.DataFrame) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Probability and logit of the positive class for every row.

    The logit is the difference of the log probabilities, which does not saturate where the probability
    rounds to 0 or 1. An estimator without probabilities gives its decision function as the logit.
    """
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        if not hasattr(estimator, "predict_proba"):
            z = np.asarray(estimator.decision_function(frame), dtype=np.float64)
            return (
                expit(z),
                z,
                ("the estimator gives no probabilities: its decision function is the logit",),
            )
        positive = list(getattr(estimator, "classes_", (0, 1))).index(1)
        probability = np.asarray(estimator.predict_proba(frame)[:, positive], dtype=np.float64)
        if not hasattr(estimator, "predict_log_proba"):
            return probability, logit(probability), ()
        log_probability = np.asarray(estimator.predict_log_proba(frame), dtype=np.float64)
        z = log_probability[:, positive] - log_probability[:, 1 - positive]
    return probability, z, ()


def model_params(estimator: Any) -> dict[str, Any]:
    """The estimator's parameters after its own defaults; of a pipeline, the last step's."""
    last = _last_step(estimator)[1]
    simple = (bool, int, float, str, type(None))
    params = last.get_params(deep=False)
    return {k: v if isinstance(v, simple) else type(v).__name__ for k, v in sorted(params.items())}


def fit_rows(estimator: Any, rows: ModelRows, learned: NDArray[np.bool_]) -> tuple[str, ...]:
    """Fit an estimator on some rows.

    Parameters
    ----------
    estimator : object
        A classifier, unfitted.
    rows : ModelRows
        The rows there are.
    learned : ndarray of bool
        Those it learns from.

    Returns
    -------
    tuple of str
        What it warned of, and whether it could not take the weights.

    Raises
    ------
    InputError
        If the rows are of one class, or the estimator refuses them.
    """
    outcome = rows.outcome[learned]
    if len(np.unique(outcome)) < 2:
        raise InputError(
            f"models: the {len(outcome)} rows to learn from have one class only; "
            "choose parts (`learn_on`) with both"
        )
    weights, notes = weight_parameter(estimator, rows.weight, learned)
    frame = rows.frame if learned.all() else rows.frame[learned]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            estimator.fit(frame, outcome, **weights)
        except (ValueError, TypeError) as error:
            raise InputError(f"the estimator refuses the data: {_reason(error, frame)}") from error
    notes += dict.fromkeys(str(w.message).strip().split("\n")[0] for w in warned)
    return tuple(notes)


def weight_parameter(
    estimator: Any, weight: Floats | None, learned: NDArray[Any]
) -> tuple[dict[str, Floats], list[str]]:
    """How the weights of the rows learned from reach an estimator's `fit`.

    Parameters
    ----------
    estimator : object
        A classifier, or a pipeline that ends with one.
    weight : ndarray of float64, or None
        The weight of every row.
    learned : ndarray
        The rows learned from, as marks or positions.

    Returns
    -------
    dict
        The parameter's name and value; empty without weights, or where the classifier takes none.
    list of str
        That it takes none, if so.
    """
    if weight is None:
        return {}, []
    path, last = _last_step(estimator)
    if has_fit_parameter(last, "sample_weight"):
        return {f"{path}sample_weight": weight[learned]}, []
    said = (
        f"{type(last).__name__} takes no sample weights: it learned from all rows alike; the weights "
        "count where it is measured"
    )
    return {}, [said]


def _require_classifier(estimator: Any, path: str) -> None:
    if not any(hasattr(estimator, method) for method in ("predict_proba", "decision_function")):
        raise InputError(
            f"estimator {path!r} gives neither probabilities (predict_proba) nor a score "
            "(decision_function); name a classifier that does"
        )
    # A class without scikit-learn's tags is taken at its word.
    if hasattr(estimator, "__sklearn_tags__") and not is_classifier(estimator):
        kind = get_tags(estimator).estimator_type or "no classifier"
        raise InputError(
            f"estimator {path!r} is a {kind}; a model is a classifier"
            if kind != "no classifier"
            else f"estimator {path!r} is no classifier; name one"
        )


def _last_step(estimator: Any) -> tuple[str, Any]:
    """The last step of a pipeline, however deep, and the prefix of its parameters."""
    path = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        path += f"{name}__"
    return path, estimator


def _reason(error: Exception, frame: pd.DataFrame) -> str:
    """What the estimator said, and what about the columns may be behind it."""
    text = str(error).strip()
    reason = text.split("\n")[0]
    hints = []
    words = [str(name) for name, kind in frame.dtypes.items() if kind == "category"]
    if words and ("convert" in text or "categor" in text.lower()):
        hints.append(
            f"categories: {_few(words)}; encode them in `preparation`, for instance with "
            "sklearn.preprocessing.OneHotEncoder (handle_unknown: ignore)"
        )
    if "NaN" in text or "missing" in text:
        gaps = [str(name) for name, any_ in frame.isna().any().items() if any_]
        hints.append(
            f"values are missing in {_few(gaps)}; fill them in `preparation`, for instance with "
            "sklearn.impute.SimpleImputer"
        )
    if "infinity" in text:
        numbers = frame.select_dtypes("number")
        endless = [str(name) for name in numbers if np.isinf(numbers[name].to_numpy()).any()]
        hints += [f"infinite values in {_few(endless)}"] if endless else []
    return f"{reason} ({'; '.join(hints)})" if hints else reason


def _few(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _range(probability: Floats) -> str:
    return f"they lie from {np.nanmin(probability):g} to {np.nanmax(probability):g}"
