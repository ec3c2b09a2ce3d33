"""The stage `calibrate`: one map from score to probability, fixed or learned on named rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.calibrators.registry import fitted_from_dict, make_calibrator
from kalibre.errors import InputError
from kalibre.manifests import check_overlap
from kalibre.records import Result, manifest
from kalibre.scores import OUT_OF_FOLD, Scores


def calibrate(
    scores: Scores,
    *,
    method: str,
    params: Mapping[str, Any],
    learn_on: str | None,
    declared: Sequence[Mapping[str, Any]],
    out_of_fold: Scores | None = None,
    before: Sequence[Mapping[str, Any]] = (),
) -> tuple[Scores, dict[str, Any], Result]:
    """Learn a calibrator and apply it to every row.

    Parameters
    ----------
    scores : Scores
        The scores to map.
    method : str
        Name in the registry of calibrators.
    params : mapping
        The method's parameters.
    learn_on : str or None
        The part it learns from, or `out_of_fold`; None for a fixed map.
    declared : sequence of mapping
        The experiment's declared overlaps.
    out_of_fold : Scores, optional
        Where it learns out of fold: the training rows' scores by models that did not learn from them.
    before : sequence of mapping
        Then also the fitted calibrators on the way from the model to `scores`, as plain built-ins.

    Returns
    -------
    Scores
        With mapped probability and logit, and the learned rows marked.
    dict
        The fitted calibrator as plain built-ins.
    Result
        Its parameters as metrics, its row manifest, and what there is to say.

    Raises
    ------
    InputError
        If the rows overlap with the model's without a declaration, or are too few.
    """
    learned = _learned_from(scores, learn_on, out_of_fold, before)
    said: tuple[str, ...] = ()
    if learn_on:
        everything = np.ones(len(learned), dtype=bool)
        said = check_overlap(
            learned, everything, stage="calibrate", part=learn_on, declared=declared
        )
    try:
        calibrator = make_calibrator(method, params)
        fitted = calibrator.fit(learned.logit, learned.outcome, learned.weight)
    except ValueError as error:
        raise InputError(f"calibrator {method!r} on part {learn_on!r}: {error}") from error
    probability, z = fitted.transform(scores.probability, scores.logit)
    rows = {"learned": manifest(learned.row)} if learn_on else {}
    result = Result(
        metrics=fitted.parameters() | ({"learned_rows": len(learned)} if learn_on else {}),
        params={"method": method, "learn_on": learn_on or "", "params": calibrator.params()},
        rows=rows,
        notes=(*said, *fitted.notes),
    )
    marked = _marked(scores, learned, learn_on)
    return scores.calibrate(probability, z, marked), fitted.to_dict(), result


def _learned_from(
    scores: Scores,
    learn_on: str | None,
    out_of_fold: Scores | None,
    before: Sequence[Mapping[str, Any]],
) -> Scores:
    """The rows a calibrator learns from, with the scores it learns from; all for a fixed map."""
    if learn_on != OUT_OF_FOLD:
        return scores.take(scores.in_parts([learn_on])) if learn_on else scores
    if out_of_fold is None:
        raise ValueError("a calibrator that learns out of fold needs the out-of-fold scores")
    probability, z = out_of_fold.probability, out_of_fold.logit
    for content in before:
        probability, z = fitted_from_dict(content).transform(probability, z)
    return replace(out_of_fold, probability=probability, logit=z)


def _marked(scores: Scores, learned: Scores, learn_on: str | None) -> NDArray[np.bool_]:
    """The rows of `scores` that the calibrator learned from."""
    if learn_on == OUT_OF_FOLD:
        return np.isin(scores.row, learned.row)
    return scores.in_parts([learn_on] if learn_on else [])
