"""The stage `read_scores`: one model's predictions out of a table of them, as scores like any model's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns, take_rows
from kalibre.logits import expit, logit
from kalibre.records import Result, manifest
from kalibre.scores import Scores

WHOLE = "all"
STACKED = ("row", "model")
SCALES = ("probability", "logit")


def columns_of(model: str, table: Iterable[str]) -> list[str]:
    """The columns of a table of predictions that a model's scores need.

    Parameters
    ----------
    model : str
        The model.
    table : iterable of str
        Names of the table's columns: `MODEL/probability` or `MODEL/logit` where a row is a case, else
        `row`, `model` and the scales.
    """
    own = [f"{model}/{scale}" for scale in SCALES]
    return [name for name in table if name in (*own, *STACKED, *SCALES)]


def read_scores(
    features: Columns, roles: Columns, parts: Columns | None, *, model: str
) -> tuple[Scores, Result]:
    """Take a model's predictions.

    Parameters
    ----------
    features : Columns
        The model's columns, as `columns_of` names them.
    roles : Columns
        `outcome`, and `weight` and `group` where there are any.
    parts : Columns or None
        The split, where there is one.
    model : str
        The model.

    Returns
    -------
    Scores
        Its predictions, in one part named `all` where nothing is split; nothing was learned from any row.
    Result
        Row count and manifest.
    """
    stacked = features.get("model")
    if isinstance(stacked, Categories):
        own = {scale: features[scale] for scale in SCALES if scale in features}
        row = np.asarray(features["row"])
        mine = stacked.isin([model])
    else:
        own = {s: features[f"{model}/{s}"] for s in SCALES if f"{model}/{s}" in features}
        row = np.arange(len(np.asarray(roles["outcome"])), dtype=np.int64)
        mine = np.ones(len(row), dtype=bool)
    part = Categories.constant(WHOLE, len(row))
    if parts is not None:
        order, named = np.asarray(parts["row"]), parts["part"]
        assert isinstance(named, Categories)
        part, chosen = named, mine[order]
        taken = take_rows({**own, **roles, "row": row}, order)
        taken = taken | {"part": part}
    else:
        chosen, taken = mine, {**own, **roles, "row": row, "part": part}
    if not chosen.all():
        taken = take_rows(taken, chosen)
    scores = _scores(taken)
    return scores, Result(metrics={"rows": len(scores)}, rows={"read": manifest(scores.row)})


def _scores(taken: Columns) -> Scores:
    probability, z = _both_scales(taken)
    part, group = taken["part"], taken.get("group")
    assert isinstance(part, Categories)
    nothing = np.zeros(len(probability), dtype=bool)
    return Scores(
        row=np.asarray(taken["row"]),
        part=part,
        outcome=np.asarray(taken["outcome"]),
        probability=probability,
        logit=z,
        uncalibrated_logit=z,
        fitted=nothing,
        calibrated=nothing,
        weight=np.asarray(taken["weight"]) if "weight" in taken else None,
        group=group if isinstance(group, Categories) else None,
    )


def _both_scales(taken: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if "probability" not in taken:
        z = np.asarray(taken["logit"])
        return expit(z), z
    p = np.asarray(taken["probability"])
    return p, np.asarray(taken["logit"]) if "logit" in taken else logit(p)
