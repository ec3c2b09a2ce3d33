"""MLflow's runs as a projection of the records: what it shows can be rebuilt from disk at any time.

One parent run per snapshot (the state of all records of an experiment), one child run per record. A
snapshot's digest is its identity: the same one tracked again adds nothing, one left half done by a
kill is completed, and another one tags those before it as superseded.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalibre.digests import digest_bytes
from kalibre.errors import InputError
from kalibre.files import read_json
from kalibre.records import snapshot as snapshot_of
from kalibre.records import version as version_of
from kalibre.tracking import content, models, store
from kalibre.tracking.content import KIND_TAG, NOTE_TAG, RECORD_TAG
from kalibre.tracking.reach import plain_errors

if TYPE_CHECKING:
    from mlflow import MlflowClient

SNAPSHOT_TAG = "kalibre.snapshot"
SUPERSEDED_TAG = "kalibre.superseded_by"
PARENT_TAG = "mlflow.parentRunId"
FINISHED = "FINISHED"
KILLED = "KILLED"


@dataclass(frozen=True)
class Item:
    """A record on disk, its version and the log its rule left."""

    path: Path
    record: Mapping[str, Any]
    version: str
    log: Path | None

    @property
    def folder(self) -> Path:
        """The folder that the record's outputs are named from."""
        return self.path.parent


@dataclass(frozen=True)
class Target:
    """The experiment in a store that runs are written to."""

    client: MlflowClient
    uri: str
    experiment_id: str
    root: Path


def track(
    *,
    uri: str,
    experiment: str,
    experiment_id: str,
    records: Sequence[Path],
    root: Path,
    title: str = "",
    question: str = "",
    logs: Mapping[Path, Path] | None = None,
    artifacts: Sequence[Path] = (),
) -> dict[str, Any]:
    """Show an experiment's records in MLflow, and say where.

    Parameters
    ----------
    uri : str
        Address of the store.
    experiment : str
        The experiment's name.
    experiment_id : str
        Its id in the store, from `store.initialise`.
    records : sequence of Path
        All of its `record.json` files.
    root : Path
        The project folder; the receipt names records relative to it.
    title, question : str
        What the experiment file says of itself, for people.
    logs : mapping of Path to Path, optional
        A record's path to the log of the rule that wrote it.
    artifacts : sequence of Path
        Files of the whole experiment (its page, its metrics), kept with the parent run.

    Returns
    -------
    dict
        The receipt: `tracking_uri` (without a password), `experiment_id`, `parent_run_id`,
        `snapshot`, and `records`, which maps every record's path to its `digest` and `run_id`.

    Raises
    ------
    InputError
        If the store does not answer, has lost the experiment, or a record's file is gone.
    """
    root = Path(root).resolve()
    items = _read(records, experiment, logs or {})
    snapshot = snapshot_of(item.version for item in items)
    with plain_errors(uri):
        target = Target(store.connect(uri), uri, experiment_id, root)
        found = store.require_experiment(target.client, uri, experiment_id, experiment)
        _describe_experiment(target, found, title, question)
        parents = _runs(target, f"tags.`{KIND_TAG}` = 'snapshot'")
        parent = _finished_first(run for run in parents if run.data.tags[SNAPSHOT_TAG] == snapshot)
        children = {} if parent is None else _children(target, parent)
        if parent is None:
            parent = _create_parent(target, experiment, snapshot, title, question, len(items))
        runs = _complete_children(target, parent, items, children)
        _attach(target, parent, artifacts)
        if parent.info.status != FINISHED:
            target.client.set_terminated(parent.info.run_id, FINISHED)
        _supersede(target, parent, parents, snapshot)
    return {
        "tracking_uri": store.redact(uri),
        "experiment_id": experiment_id,
        "parent_run_id": parent.info.run_id,
        "snapshot": snapshot,
        "records": {
            content.relative(item.path, root): {
                "digest": item.version,
                "run_id": runs[item.version],
            }
            for item in items
        },
    }


def _read(records: Sequence[Path], experiment: str, logs: Mapping[Path, Path]) -> list[Item]:
    """The records, all their files found before anything is written to the store."""
    items = []
    for path in map(Path, records):
        record = read_json(path)
        if record["experiment"] != experiment:
            raise ValueError(
                f"{path} is a record of {record['experiment']!r}, not of {experiment!r}"
            )
        for output in record["outputs"].values():
            if output["kind"] != "data" and not (path.parent / output["file"]).is_file():
                raise InputError(
                    f"{path.parent / output['file']}, which {path.name} names, is missing; rebuild "
                    f"it with: snakemake --forcerun {record['rule']}"
                )
        log = logs.get(path)
        items.append(Item(path, record, version_of(path.read_bytes()), log))
    return items


def _describe_experiment(target: Target, found: Any, title: str, question: str) -> None:
    """Show the experiment's title and question above its runs."""
    note = _paragraphs(title, question)
    if note and found.tags.get(NOTE_TAG) != note:
        target.client.set_experiment_tag(target.experiment_id, NOTE_TAG, note)


def _create_parent(
    target: Target, experiment: str, snapshot: str, title: str, question: str, count: int
) -> Any:
    tags = {
        KIND_TAG: "snapshot",
        SNAPSHOT_TAG: snapshot,
        "kalibre.experiment": experiment,
        "kalibre.question": question,
        NOTE_TAG: _paragraphs(
            title, question, f"Snapshot `{snapshot}`: {count} records, a run each."
        ),
        "mlflow.source.name": "workflow/scripts/track.py",
        "mlflow.source.type": "LOCAL",
    }
    return _create_run(target, f"{title or experiment} {snapshot[:8]}", tags)


def _create_run(target: Target, name: str, tags: Mapping[str, str]) -> Any:
    tags = {**tags, **user_tag()}
    return target.client.create_run(
        target.experiment_id, tags=content.short_tags(tags), run_name=name
    )


def user_tag() -> dict[str, str]:
    """Who started the run, where the system knows a name."""
    try:
        return {"mlflow.user": getpass.getuser()}
    except (KeyError, OSError, ImportError):
        return {}


def _complete_children(
    target: Target, parent: Any, items: Sequence[Item], children: Mapping[str, Any]
) -> dict[str, str]:
    """A finished run for every record; returns record version to run id."""
    made = content.origins((item.record, item.folder) for item in items)
    runs: dict[str, str] = {}
    for item in items:
        run = children.get(item.version)
        if item.version in runs:
            continue
        if run is None or run.info.status != FINISHED:
            run = _complete(target, parent, item, made, run)
        runs[item.version] = run.info.run_id
    return runs


def _complete(
    target: Target,
    parent: Any,
    item: Item,
    made: Mapping[str, tuple[str, Path]],
    run: Any | None,
) -> Any:
    """Fill a record's run, a new one or one an interrupted attempt left.

    Everything here may be done twice without a trace: tags come with the run itself, params are
    set to what they are, files are overwritten, and metrics carry the run's start as their time, so
    that the store knows them.
    """
    said = content.describe(item.record, item.version, item.folder)
    if run is None:
        own = {PARENT_TAG: parent.info.run_id, KIND_TAG: "record"}
        run = _create_run(target, said.name, said.tags | own)
    _log_batches(target, run, said)
    tables = content.data_sets(item.record, made, target.root)
    _log_data_sets(target, run, tables, item.record["rule"])
    _log_files(target, run, item)
    if models.has_model(item.record):
        files = [table.file for table in tables if table.file is not None]
        models.log_model(target.client, target.uri, run, item.record, item.folder, files)
    else:
        target.client.set_terminated(run.info.run_id, FINISHED)
    return run


def _log_batches(target: Target, run: Any, said: content.Content) -> None:
    from mlflow.entities import Metric, Param

    at = run.info.start_time
    for metrics, params in content.batches(said):
        target.client.log_batch(
            run.info.run_id,
            metrics=[Metric(m.name, m.value, at, m.step) for m in metrics],
            params=[Param(key, value) for key, value in params.items()],
        )


def _log_data_sets(target: Target, run: Any, tables: Sequence[content.DataSet], rule: str) -> None:
    if not tables:
        return
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = []
    for table in tables:
        columns, rows = content.table_shape(table.file) if table.file else ("", None)
        data_set = Dataset(
            name=table.name,
            digest=table.digest,
            source_type="local",
            source=json.dumps({"uri": table.source}),
            schema=columns or None,
            profile=None if rows is None else json.dumps({"num_rows": rows}),
        )
        inputs.append(DatasetInput(data_set, [InputTag("mlflow.data.context", rule)]))
    target.client.log_inputs(run.info.run_id, datasets=inputs)


def _log_files(target: Target, run: Any, item: Item) -> None:
    """The record itself, the files it made for people, and its log."""
    run_id = run.info.run_id
    target.client.log_artifact(run_id, str(item.path))
    for output in item.record["outputs"].values():
        if output["kind"] not in content.NOT_FILES:
            # A file above the record's folder (metrics.json) lies at the top of the run as well.
            below = [step for step in Path(output["file"]).parent.parts if step != ".."]
            target.client.log_artifact(
                run_id, str(item.folder / output["file"]), "/".join(below) or None
            )
    if item.log is not None and item.log.is_file() and item.log.stat().st_size:
        target.client.log_artifact(run_id, str(item.log), "log")


def _attach(target: Target, parent: Any, artifacts: Iterable[Path]) -> None:
    """Files of the whole experiment, those that the parent run does not hold yet."""
    for path in map(Path, artifacts):
        tag, digest = f"kalibre.artifact.{path.name}", digest_bytes(path.read_bytes())
        if parent.data.tags.get(tag) != digest:
            target.client.log_artifact(parent.info.run_id, str(path))
            target.client.set_tag(parent.info.run_id, tag, digest)


def _supersede(target: Target, parent: Any, parents: Iterable[Any], snapshot: str) -> None:
    """Make `parent` the current snapshot: tag the one before, close what a kill left running."""
    if SUPERSEDED_TAG in parent.data.tags:
        target.client.delete_tag(parent.info.run_id, SUPERSEDED_TAG)
    for other in parents:
        if other.info.run_id == parent.info.run_id:
            continue
        if SUPERSEDED_TAG not in other.data.tags:
            target.client.set_tag(other.info.run_id, SUPERSEDED_TAG, snapshot)
        if other.info.status == "RUNNING":
            for run in (*_children(target, other).values(), other):
                if run.info.status == "RUNNING":
                    target.client.set_terminated(run.info.run_id, KILLED)


def _children(target: Target, parent: Any) -> dict[str, Any]:
    """The parent's runs by the version of the record they show."""
    by_version: dict[str, list[Any]] = {}
    for run in _runs(target, f"tags.`{PARENT_TAG}` = '{parent.info.run_id}'"):
        by_version.setdefault(run.data.tags.get(RECORD_TAG, ""), []).append(run)
    return {version: _finished_first(runs) for version, runs in by_version.items()}


def _finished_first(runs: Iterable[Any]) -> Any | None:
    """A finished run, else the oldest, else None."""
    ranked = sorted(runs, key=lambda run: (run.info.status != FINISHED, run.info.start_time))
    return ranked[0] if ranked else None


def _runs(target: Target, condition: str) -> list[Any]:
    """All runs of the experiment that meet a condition."""
    found: list[Any] = []
    token = None
    while True:
        page = target.client.search_runs(
            [target.experiment_id], condition, max_results=1000, page_token=token
        )
        found += page
        token = page.token
        if not token:
            return found


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
