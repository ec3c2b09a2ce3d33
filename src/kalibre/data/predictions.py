"""The data source `predictions`: probabilities that exist already, written in the experiment file.

One row of the table is one model's prediction for one case; `row` is the case's place among the model's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre.columns import Categories, Columns
from kalibre.data.table import Table, outcome_counts
from kalibre.logits import expit, logit
from kalibre.records import Result


def make_table(data: Mapping[str, Any]) -> Table:
    """Lay the models' inline predictions under one another."""
    models = data["inline"]
    probabilities, logits, outcomes, rows = [], [], [], []
    for spec in models.values():
        p, z = _both_scales(spec)
        probabilities.append(p)
        logits.append(z)
        outcomes.append(np.asarray(spec["outcome"], dtype=np.int8))
        rows.append(np.arange(len(p), dtype=np.int64))
    names = [name for name, spec in models.items() for _ in spec["outcome"]]
    features: Columns = {
        "row": np.concatenate(rows),
        "model": Categories.of(names),
        "probability": np.concatenate(probabilities),
        "logit": np.concatenate(logits),
    }
    counts = {
        f"{name}/{metric}": value
        for name, spec in models.items()
        for metric, value in outcome_counts(np.asarray(spec["outcome"])).items()
    }
    return Table(features, {"outcome": np.concatenate(outcomes)}, Result(metrics=counts))


def _both_scales(spec: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    if spec.get("probability") is not None:
        p = np.asarray(spec["probability"], dtype=np.float64)
        return p, logit(p)
    z = np.asarray(spec["logit"], dtype=np.float64)
    return expit(z), z
