"""Records: what a rule did, on disk, before anything is told to anybody.

A record is one JSON file beside a rule's artifacts. It holds no time, no host and no path of a machine, so
two clean builds give the same bytes; the digest of those bytes is the artifacts' version. MLflow's runs and
`metrics.json` are projections of the records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kalibre.digests import digest_bytes, digest_columns, digest_json
from kalibre.files import json_bytes, read_json

Number = float | int


@dataclass(frozen=True)
class Result:
    """What a stage's pure function returns besides its artifacts: numbers and what to say about them.

    Attributes
    ----------
    metrics : dict
        Metric name to number. A value that is not finite belongs in `undefined`.
    undefined : dict
        Metric name to the reason why it has no value.
    params : dict
        Settings worth showing beside the metrics, after defaults.
    rows : dict
        Role (`learned`, `measured`) to the row manifest of `manifest`.
    notes : tuple of str
        Sentences a person should read: clipped rows, a parameter at its bound, a declared overlap.
    """

    metrics: Mapping[str, Number] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """The content of a `record.json`."""

    rule: str
    experiment: str
    subject: Mapping[str, str]
    result: Result
    inputs: Mapping[str, str]
    outputs: Mapping[str, Mapping[str, str]]
    sources: str
    packages: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """The file's bytes; the same content gives the same bytes."""
        return json_bytes(
            {
                "rule": self.rule,
                "experiment": self.experiment,
                "subject": dict(self.subject),
                "params": _sorted(flatten(self.result.params)),
                "metrics": _sorted({k: plain_number(v) for k, v in self.result.metrics.items()}),
                "undefined": _sorted(self.result.undefined),
                "rows": _sorted(self.result.rows),
                "notes": list(self.result.notes),
                "inputs": _sorted(self.inputs),
                "outputs": {k: dict(v) for k, v in _sorted(self.outputs).items()},
                "sources": self.sources,
                "packages": _sorted(self.packages),
            }
        )


def plain_number(value: Any) -> Number:
    """A built-in number of full precision.

    Raises
    ------
    ValueError
        If the value is NaN or infinite: such a metric belongs in `undefined`, with its reason.
    """
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(
            f"a metric must be finite, found {number}; give it a reason in `undefined`"
        )
    return number


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings and lists as one flat mapping, keys joined by `/`; scalars stay as they are."""
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[str, Any]] = ((str(k), v) for k, v in value.items())
    elif isinstance(value, (list, tuple)) and any(isinstance(v, (Mapping, list)) for v in value):
        pairs = ((str(i), v) for i, v in enumerate(value))
    elif isinstance(value, (list, tuple)):
        return {prefix: ", ".join(map(str, value))}
    else:
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, item in pairs:
        flat |= flatten(item, f"{prefix}/{key}" if prefix else key)
    return flat


def _sorted(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(mapping.items()))


def version(record: bytes) -> str:
    """The version of a rule's artifacts: the digest of their record's bytes."""
    return digest_bytes(record)


def snapshot(versions: Iterable[str]) -> str:
    """The identity of an experiment's whole state: the digest of its records' versions."""
    return digest_json(sorted(versions))


def manifest(rows: np.ndarray) -> dict[str, Any]:
    """The row manifest of a stage: how many rows, and the digest of which."""
    positions = np.asarray(rows, dtype=np.int64)
    if (positions[1:] < positions[:-1]).any():
        positions = np.sort(positions)
    return {"count": len(positions), "digest": digest_columns({"row": positions})}


def metric_path(record: Mapping[str, Any], metric: str) -> str:
    """The path of a metric in `metrics.json`: rule, subject and name."""
    return "/".join([record["rule"], *record["subject"].values(), metric])


def merge_metrics(records: Iterable[Mapping[str, Any]]) -> dict[str, Number | None]:
    """All records' metrics as one flat object; an undefined metric is null."""
    merged: dict[str, Number | None] = {}
    for record in records:
        for name, value in record["metrics"].items():
            merged[metric_path(record, name)] = value
        for name in record["undefined"]:
            merged[metric_path(record, name)] = None
    return dict(sorted(merged.items()))


def merge_undefined(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Why metrics have no value, by their paths."""
    return {
        metric_path(record, name): reason
        for record in records
        for name, reason in record["undefined"].items()
    }


def read_records(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Read record files, in the order given."""
    return [read_json(path) for path in paths]


def experiment_values(
    settings: Mapping[str, Any], records: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Every setting of an experiment, flat.

    Its sections, and under `params/` what the rules made of them, the estimators' and calibrators' own
    defaults included.
    """
    values = flatten(settings)
    for record in records:
        for name, value in record["params"].items():
            values["params/" + metric_path(record, name)] = value
    return _sorted(values)
