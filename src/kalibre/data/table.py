"""A table as the engine sees it: what models learn from, apart from what each row is."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalibre.columns import Column
from kalibre.records import Result


@dataclass(frozen=True)
class Table:
    """The output of a data source.

    Attributes
    ----------
    features : mapping of str to column
        What a model may learn from; for predictions, the model's name and its scores.
    roles : mapping of str to column
        What each row is: `outcome` (int8, 1 is the positive label), and where there are any `id`,
        `group`, `time`, `weight`.
    result : Result
        Counts and settings for the record.
    """

    features: Mapping[str, Column]
    roles: Mapping[str, Column]
    result: Result


SOURCES = {
    "subscribers": "kalibre.data.subscriber_table.make_table",
    "biopsies": "kalibre.data.biopsies.make_table",
    "predictions": "kalibre.data.predictions.make_table",
}
"""Data source to the function that makes its table: by name, so that a rule uses one source's code only."""


def make_table(data: Mapping[str, Any]) -> Table:
    """Make the table that the section `data` describes."""
    module, name = SOURCES[data["source"]].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(data)


def outcome_counts(outcome: np.ndarray) -> dict[str, float]:
    """Rows, positives and their share: the first thing to know of any set of rows."""
    rows = len(outcome)
    positives = int(np.count_nonzero(outcome))
    counts: dict[str, float] = {"rows": rows, "positives": positives}
    return counts | ({"positive_rate": positives / rows} if rows else {})
