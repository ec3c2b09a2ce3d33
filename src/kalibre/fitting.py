"""The stage `fit_model`: one estimator learned on its parts, and its score for every row of the split."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kalibre import estimators
from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.logits import expit, logit
from kalibre.preparation.chain import build_chain, check_numbers
from kalibre.preparation.frames import to_frame
from kalibre.records import Result, manifest
from kalibre.scores import Scores


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
        The data's columns, where the model names none of its own.

    Raises
    ------
    InputError
        If a column is missing, the estimator cannot be built, or it refuses the data.
    """
    row = np.asarray(parts["row"])
    part = parts["part"]
    assert isinstance(part, Categories)
    outcome = np.asarray(roles["outcome"])[row]
    weight = np.asarray(roles["weight"])[row] if "weight" in roles else None
    frame = to_frame(features, model["columns"] or columns).iloc[row].reset_index(drop=True)
    learned = part.isin(model["learn_on"])
    estimator = build_model(model, preparation)
    if not preparation:
        check_numbers(frame)
    _fit(
        estimator, frame[learned], outcome[learned], weight[learned] if weight is not None else None
    )
    probability, z, notes = score(estimator, frame)
    scores = Scores(
        row=row,
        part=part,
        outcome=outcome,
        probability=probability,
        logit=z,
        uncalibrated_logit=z,
        fitted=learned,
        calibrated=np.zeros(len(row), dtype=bool),
        weight=weight,
    )
    result = Result(
        metrics={"learned_rows": int(learned.sum()), "columns": frame.shape[1]},
        params={"estimator": model["estimator"], "params": model_params(estimator)},
        rows={"learned": manifest(row[learned])},
        notes=notes,
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
    if not any(hasattr(estimator, method) for method in ("predict_proba", "decision_function")):
        raise InputError(
            f"estimator {model['estimator']!r} gives neither probabilities (predict_proba) nor a score "
            "(decision_function); name a classifier that does"
        )
    before = [build_chain(preparation, seed=model["seed"])] if preparation else []
    before += [StandardScaler()] if model["standardise"] else []
    return make_pipeline(*before, estimator) if before else estimator


def score(
    estimator: Any, frame: pd.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
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
        probability = np.asarray(estimator.predict_proba(frame)[:, 1], dtype=np.float64)
        if not hasattr(estimator, "predict_log_proba"):
            return probability, logit(probability), ()
        log_probability = np.asarray(estimator.predict_log_proba(frame), dtype=np.float64)
        z = log_probability[:, 1] - log_probability[:, 0]
    return probability, z, ()


def model_params(estimator: Any) -> dict[str, Any]:
    """The estimator's parameters after its own defaults; inside a scaling pipeline, the last step's."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    simple = (bool, int, float, str, type(None))
    params = last.get_params(deep=False)
    return {k: v if isinstance(v, simple) else type(v).__name__ for k, v in sorted(params.items())}


def _fit(
    estimator: Any,
    frame: pd.DataFrame,
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64] | None,
) -> None:
    if len(np.unique(outcome)) < 2:
        raise InputError(
            f"models: the {len(outcome)} rows to learn from have one class only; "
            "choose parts (`learn_on`) with both"
        )
    try:
        if weight is None:
            estimator.fit(frame, outcome)
        else:
            last = estimator.steps[-1][0] + "__" if hasattr(estimator, "steps") else ""
            estimator.fit(frame, outcome, **{f"{last}sample_weight": weight})
    except (ValueError, TypeError) as error:
        raise InputError(f"the estimator refuses the data: {error}") from error
