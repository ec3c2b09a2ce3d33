"""A table as the engine sees it: what models learn from, apart from what each row is."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
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
        What a model may learn from; for predictions, the scores of every model.
    roles : mapping of str to column
        What each row is: `outcome` (int8, 1 is the positive label), and where there are any `id`,
        `group`, `time`, `weight`, and `part` (the part of the split it belongs to).
    result : Result
        Counts and settings for the record.
    inputs : mapping of str to str
        Name to digest of each file it was read from.
    """

    features: Mapping[str, Column]
    roles: Mapping[str, Column]
    result: Result
    inputs: Mapping[str, str] = field(default_factory=dict)


SOURCES = {
    "subscribers": "kalibre.data.subscriber_table.make_table",
    "biopsies": "kalibre.data.biopsies.make_table",
    "table": "kalibre.data.tables.make_table",
    "predictions": "kalibre.data.predictions.make_table",
    "prediction_file": "kalibre.data.prediction_files.make_table",
}
"""Data source to the function that makes its table: by name, so that a rule uses one source's code only."""


def source_function(data: Mapping[str, Any]) -> str:
    """The function that makes the table of a section `data`; predictions in a file have their own."""
    in_file = data["source"] == "predictions" and data.get("file")
    return SOURCES["prediction_file" if in_file else data["source"]]


def make_table(data: Mapping[str, Any]) -> Table:
    """Make the table that the section `data` describes."""
    module, name = source_function(data).rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(data)


def outcome_counts(outcome: np.ndarray) -> dict[str, float]:
    """Rows, positives and their share: the first thing to know of any set of rows."""
    rows = len(outcome)
    positives = int(np.count_nonzero(outcome))
    counts: dict[str, float] = {"rows": rows, "positives": positives}
    return counts | ({"positive_rate": positives / rows} if rows else {})
