"""The data source `subscribers`: the lessons' synthetic subscribers as an experiment's table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalibre.data.subscribers import generate_subscribers
from kalibre.data.table import Table, outcome_counts
from kalibre.records import Result

LABEL = "suspicious"


def make_table(data: Mapping[str, Any]) -> Table:
    """Generate the subscribers of the seed; the outcome is `suspicious`."""
    columns = generate_subscribers(seed=data["seed"], candidates=data["candidates"])
    outcome = columns.pop(LABEL).astype("int8")
    roles = {"id": columns.pop("id"), "outcome": outcome}
    return Table(columns, roles, Result(metrics=outcome_counts(outcome), params={"label": LABEL}))
