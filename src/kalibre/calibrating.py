"""The stage `calibrate`: one map from score to probability, fixed or learned on named rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kalibre.calibrators.registry import make_calibrator
from kalibre.errors import InputError
from kalibre.manifests import check_overlap
from kalibre.records import Result, manifest
from kalibre.scores import Scores


def calibrate(
    scores: Scores,
    *,
    method: str,
    params: Mapping[str, Any],
    learn_on: str | None,
    declared: Sequence[Mapping[str, Any]],
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
        The part it learns from; None for a fixed map.
    declared : sequence of mapping
        The experiment's declared overlaps.

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
    chosen = scores.in_parts([learn_on] if learn_on else [])
    said: tuple[str, ...] = ()
    if learn_on:
        said = check_overlap(scores, chosen, stage="calibrate", part=learn_on, declared=declared)
    learned = scores.take(chosen) if learn_on else scores
    try:
        calibrator = make_calibrator(method, params)
        fitted = calibrator.fit(learned.logit, learned.outcome, learned.weight)
    except ValueError as error:
        raise InputError(f"calibrator {method!r} on part {learn_on!r}: {error}") from error
    probability, z = fitted.transform(scores.probability, scores.logit)
    rows = {"learned": manifest(scores.row[chosen])} if learn_on else {}
    metrics = fitted.parameters() | (
        {"learned_rows": int(np.count_nonzero(chosen))} if learn_on else {}
    )
    result = Result(
        metrics=metrics,
        params={"method": method, "learn_on": learn_on or "", "params": calibrator.params()},
        rows=rows,
        notes=(*said, *fitted.notes),
    )
    return scores.calibrate(probability, z, chosen), fitted.to_dict(), result
