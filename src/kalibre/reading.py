"""The stage `read_scores`: one model's rows of a table of predictions, as scores like any model's."""

from __future__ import annotations

import numpy as np

from kalibre.columns import Categories, Columns, take_rows
from kalibre.records import Result, manifest
from kalibre.scores import Scores

WHOLE = "all"


def read_scores(features: Columns, roles: Columns, *, model: str) -> tuple[Scores, Result]:
    """Take a model's predictions.

    Parameters
    ----------
    features : Columns
        `row`, `model`, `probability` and `logit`.
    roles : Columns
        `outcome`, and `weight` where there are weights.
    model : str
        The model.

    Returns
    -------
    Scores
        Its predictions, in one part named `all`; nothing was learned from any row.
    Result
        Row count and manifest.
    """
    names = features["model"]
    assert isinstance(names, Categories)
    chosen = names.isin([model])
    taken = take_rows({**features, **roles}, chosen)
    rows = int(np.count_nonzero(chosen))
    logit = np.asarray(taken["logit"])
    scores = Scores(
        row=np.asarray(taken["row"]),
        part=Categories.constant(WHOLE, rows),
        outcome=np.asarray(taken["outcome"]),
        probability=np.asarray(taken["probability"]),
        logit=logit,
        uncalibrated_logit=logit,
        fitted=np.zeros(rows, dtype=bool),
        calibrated=np.zeros(rows, dtype=bool),
        weight=np.asarray(taken["weight"]) if "weight" in taken else None,
    )
    return scores, Result(metrics={"rows": rows}, rows={"read": manifest(scores.row)})
