"""What a record says, in the words MLflow has for it: params, metrics, tags, data sets.

Pure: no store, no network. MLflow stores infinity as 1.797e308 and its run page breaks on NaN, so
only finite numbers become metrics; a metric without a value becomes a tag that holds its reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# MLflow's own limits are 250, 6,000 and 8,000; servers before 2.8 keep 5,000 characters of a tag.
NAME_LENGTH = 250
PARAM_LENGTH = 6000
TAG_LENGTH = 5000
STEPS = 1000
COLUMNS = 1000
PARAMS_PER_BATCH = 100
ENTITIES_PER_BATCH = 1000

RECORD_TAG = "kalibre.record"
KIND_TAG = "kalibre.kind"
RULE_TAG = "kalibre.rule"
NOTE_TAG = "mlflow.note.content"

# Kinds of output that are not files for people: a table too large, a model, a series of steps.
NOT_FILES = ("data", "model", "series")

_FORBIDDEN = re.compile(r"[^\w.\- ]")


class Step(NamedTuple):
    """One value of a metric; a metric without steps has the single step 0."""

    name: str
    value: float
    step: int


class DataSet(NamedTuple):
    """A table that a rule read, and the Parquet file it lies in where a rule of ours made it."""

    name: str
    digest: str
    file: Path | None
    source: str


@dataclass(frozen=True)
class Content:
    """All that a run holds besides files and model."""

    name: str
    tags: dict[str, str]
    params: dict[str, str]
    metrics: list[Step] = field(default_factory=list)


def describe(record: Mapping[str, Any], version: str, folder: Path) -> Content:
    """The content of the run that shows `record`.

    Parameters
    ----------
    record : mapping
        The content of a `record.json`.
    version : str
        The record's version.
    folder : Path
        Where the record lies, which its outputs' file names are relative to.
    """
    values = finite_metrics(record["metrics"])
    undefined = without_value(record["metrics"]) | dict(record["undefined"])
    tags = subject_tags(record) | {RECORD_TAG: version, "kalibre.sources": record["sources"]}
    tags["kalibre.packages"] = json.dumps(record["packages"], sort_keys=True)
    tags |= {f"kalibre.undefined.{name}": reason for name, reason in undefined.items()}
    tags |= {f"kalibre.rows.{role}": rows["digest"] for role, rows in record["rows"].items()}
    if note := _note(record["notes"], undefined):
        tags[NOTE_TAG] = note
    params = dict(record["params"])
    params |= {f"rows/{role}": rows["count"] for role, rows in record["rows"].items()}
    steps = [Step(name, value, 0) for name, value in valid_names(values).items()]
    return Content(
        name=run_name(record),
        tags=short_tags(tags),
        params={key: _param(value) for key, value in valid_names(params).items()},
        metrics=steps + list(_series(record, folder)),
    )


def run_name(record: Mapping[str, Any]) -> str:
    """A run is named like its rule, and its subject."""
    return " ".join([record["rule"], *record["subject"].values()])


def subject_tags(record: Mapping[str, Any]) -> dict[str, str]:
    """Tags that say which rule a run shows, of which experiment, on which subject."""
    tags = {
        "kalibre.experiment": record["experiment"],
        RULE_TAG: record["rule"],
        "mlflow.source.name": f"workflow/scripts/{record['rule']}.py",
        "mlflow.source.type": "LOCAL",
    }
    return tags | {f"kalibre.{key}": str(value) for key, value in record["subject"].items()}


def finite_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """The metrics that MLflow can store."""
    return {name: float(value) for name, value in metrics.items() if _is_finite(value)}


def without_value(metrics: Mapping[str, Any]) -> dict[str, str]:
    """The metrics that MLflow cannot store, with the reason."""
    return {
        name: "no value" if value is None else f"not a finite number: {value}"
        for name, value in metrics.items()
        if not _is_finite(value)
    }


def valid_names(named: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping under names MLflow takes: word characters, `.`, `-`, space and single slashes.

    Names that would become equal are told apart by a number.
    """
    valid: dict[str, Any] = {}
    for name, value in named.items():
        new = shorter = _valid_name(name)
        count = 1
        while new in valid:
            count += 1
            new = f"{shorter[: NAME_LENGTH - 8]}_{count}"
        valid[new] = value
    return valid


def short_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Tags under valid names, cut at the length every server keeps."""
    return {key: shorten(value, TAG_LENGTH) for key, value in valid_names(tags).items()}


def shorten(text: str, length: int) -> str:
    """The text, or its beginning and a note of what is missing."""
    if len(text) <= length:
        return text
    note = f" … ({len(text)} characters, whole in record.json)"
    return text[: length - len(note)] + note


def batches(content: Content) -> Iterator[tuple[list[Step], dict[str, str]]]:
    """Metrics and params in portions that one request to a server may hold."""
    metrics, params = list(content.metrics), list(content.params.items())
    most = ENTITIES_PER_BATCH - PARAMS_PER_BATCH
    while metrics or params:
        yield metrics[:most], dict(params[:PARAMS_PER_BATCH])
        del metrics[:most], params[:PARAMS_PER_BATCH]


def origins(records: Iterable[tuple[Mapping[str, Any], Path]]) -> dict[str, tuple[str, Path]]:
    """Kind and file of every output, under the name that later records call it by."""
    return {
        "/".join([record["rule"], *record["subject"].values(), name]): (
            output["kind"],
            folder / output["file"],
        )
        for record, folder in records
        for name, output in record["outputs"].items()
    }


def data_sets(
    record: Mapping[str, Any], made: Mapping[str, tuple[str, Path]], root: Path
) -> list[DataSet]:
    """The tables a rule read: another rule's, or the person's own, known by its digest alone."""
    found = []
    for name, digest in record["inputs"].items():
        kind, path = made.get(name, ("data", None))
        if kind not in ("data", "table"):
            continue
        source = name if path is None else relative(path, root)
        file = path if path and path.suffix == ".parquet" and path.is_file() else None
        found.append(DataSet(name, digest[:36], file, source))
    return found


def relative(path: Path, root: Path) -> str:
    """The path as people in the project folder know it."""
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path)


def table_shape(path: Path) -> tuple[str, int]:
    """Columns of a Parquet table as MLflow's UI wants them, and its number of rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        fields = [
            {"name": column.name, "type": _type(column.type), "required": True}
            for column in file.schema_arrow
        ]
        columns = json.dumps({"mlflow_colspec": fields}) if len(fields) <= COLUMNS else ""
        return columns, file.metadata.num_rows


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _valid_name(name: str) -> str:
    parts = [_FORBIDDEN.sub("_", part) for part in name.split("/") if part]
    parts = [part if part.strip(". ") else "_" for part in parts] or ["_"]
    valid = "/".join(parts)
    if len(valid) <= NAME_LENGTH:
        return valid
    digest = hashlib.sha256(valid.encode()).hexdigest()[:8]
    return f"{valid[: NAME_LENGTH - 9]}_{digest}"


def _param(value: Any) -> str:
    text = (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    )
    return shorten(text, PARAM_LENGTH)


def _note(notes: Iterable[str], undefined: Mapping[str, str]) -> str:
    """Markdown for the run page: what the rule said, and which metrics have no value."""
    lines = [f"- {note}" for note in notes]
    lines += [f"- `{name}` is undefined: {reason}" for name, reason in undefined.items()]
    return "\n".join(lines)


def _series(record: Mapping[str, Any], folder: Path) -> Iterator[Step]:
    """The stepped metrics of a record, thinned to at most `STEPS` steps."""
    for name, output in record["outputs"].items():
        if output["kind"] != "series":
            continue
        # Here alone, and only where MLflow has imported it already.
        import pyarrow.parquet as pq

        table = pq.read_table(folder / output["file"]).to_pydict()
        steps = table.pop("step")
        columns = valid_names({f"{name}/{column}": values for column, values in table.items()})
        for column, values in columns.items():
            for row in thinned(len(steps), STEPS):
                if _is_finite(values[row]):
                    yield Step(column, float(values[row]), int(steps[row]))


def thinned(count: int, most: int) -> list[int]:
    """Positions of at most `most` of `count` things, evenly spread, first and last among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def _type(kind: Any) -> str:
    import pyarrow.types as of

    if of.is_boolean(kind):
        return "boolean"
    if of.is_integer(kind):
        return "long" if kind.bit_width == 64 else "integer"
    if of.is_floating(kind):
        return "double" if kind.bit_width == 64 else "float"
    return "datetime" if of.is_temporal(kind) else "string"
