"""What MLflow shows of an experiment's records, and that it shows each of them once."""

import json
import logging
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from fake_records import output, write_experiment, write_model, write_record, write_series
from kalibre.errors import InputError
from kalibre.files import read_json, write_json, write_text
from kalibre.records import version
from kalibre.tracking import content, failures, store
from kalibre.tracking.address import redact, resolve_uri, store_file, without_secrets
from kalibre.tracking.project import SUPERSEDED_TAG, track


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """No test sees a store named outside it, none leaves a variable behind."""
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
            del os.environ[name]
        yield


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store; migrating one takes seconds, copying it none."""
    folder = tmp_path_factory.mktemp("migrated")
    store.initialise(f"sqlite:///{folder}/mlflow.db", [], root=folder)
    return folder / "mlflow.db"


class Project:
    """A project folder with a store, and a look into that store."""

    def __init__(self, root: Path, migrated: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        shutil.copyfile(migrated, root / "mlflow.db")
        self.uri = resolve_uri(root)

    def initialise(self, name: str = "trivia") -> str:
        return store.initialise(self.uri, [name], root=self.root)[name]

    def track(self, records: list[Path], name: str = "trivia", **options: Any) -> dict[str, Any]:
        return track(
            uri=self.uri,
            experiment=name,
            experiment_id=self.initialise(name),
            records=records,
            root=self.root,
            **options,
        )

    @property
    def client(self) -> Any:
        return store.connect(self.uri)

    def runs(self, name: str = "trivia") -> list[Any]:
        found = self.client.get_experiment_by_name(name)
        return list(self.client.search_runs([found.experiment_id], max_results=1000))

    def run(self, run_name: str, name: str = "trivia") -> Any:
        (run,) = [run for run in self.runs(name) if run.info.run_name == run_name]
        return run

    def files(self, run: Any, folder: str | None = None) -> list[str]:
        return [file.path for file in self.client.list_artifacts(run.info.run_id, folder)]

    def everything(self) -> list[Any]:
        """All that a run shows, of every run."""
        return sorted(
            [run.info.run_id, run.info.end_time, sorted(run.data.tags.items()), *self.shape(run)]
            for run in self.runs()
        )

    def shape(self, run: Any) -> list[Any]:
        """What a run shows, without ids and times."""
        data, given, made = run.data, run.inputs.dataset_inputs, run.outputs.model_outputs
        return [
            run.info.status,
            sorted(data.params.items()),
            sorted(data.metrics.items()),
            sorted(self.histories(run).items()),
            self.files(run),
            len(given),
            len(made),
        ]

    def histories(self, run: Any) -> dict[str, int]:
        history = self.client.get_metric_history
        return {name: len(history(run.info.run_id, name)) for name in run.data.metrics}


@pytest.fixture
def project(tmp_path: Path, migrated: Path) -> Project:
    return Project(tmp_path / "my lab #1", migrated)


# The address of the store


def test_the_default_store_is_a_database_in_the_project_folder(tmp_path: Path) -> None:
    assert resolve_uri(tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"


def test_an_empty_variable_counts_as_none(tmp_path: Path) -> None:
    os.environ["MLFLOW_TRACKING_URI"] = " "
    assert resolve_uri(tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"


@pytest.mark.parametrize(
    ("named", "resolved"),
    [
        ("http://host:5000", "http://host:5000"),
        ("sqlite:///runs/own.db", "sqlite:///{root}/runs/own.db"),
        ("sqlite:///own.db?timeout=9", "sqlite:///{root}/own.db?timeout=9"),
        ("sqlite:////srv/own.db", "sqlite:////srv/own.db"),
    ],
)
def test_a_named_store_is_taken_and_made_absolute(
    tmp_path: Path, named: str, resolved: str
) -> None:
    os.environ["MLFLOW_TRACKING_URI"] = named
    assert resolve_uri(tmp_path) == resolved.format(root=tmp_path)


@pytest.mark.parametrize("named", ["sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_a_store_in_memory_is_refused(tmp_path: Path, named: str) -> None:
    os.environ["MLFLOW_TRACKING_URI"] = named
    with pytest.raises(InputError, match="in memory"):
        resolve_uri(tmp_path)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://ann:s3cr3t@db:5432/runs", "postgresql://ann:***@db:5432/runs"),
        ("postgresql://ann:s3/cr@3t@db/runs", "postgresql://ann:***@db/runs"),
        ("postgresql://ann@db/runs", "postgresql://ann@db/runs"),
        ("mysql://db/runs?user=a&password=s3cr3t", "mysql://db/runs?user=a&password=***"),
        ("https://token@host/path", "https://***@host/path"),
        ("http://host:5000", "http://host:5000"),
        ("sqlite:////home/a@b:c/mlflow.db", "sqlite:////home/a@b:c/mlflow.db"),
    ],
)
def test_a_password_is_never_shown(uri: str, shown: str) -> None:
    assert redact(uri) == shown


def test_a_password_that_a_library_repeats_is_taken_out() -> None:
    uri = "http://ann:pa%23ss@host"
    said = "request to http://ann:pa%23ss@host/api failed for ann with pa#ss and pa%23ss"
    assert (
        without_secrets(said, uri)
        == "request to http://ann:***@host/api failed for ann with *** and ***"
    )


def test_addresses_are_resolved_without_importing_mlflow() -> None:
    code = (
        "import sys; from kalibre.tracking import store, project, failures; "
        "store.resolve_uri('.'); print({'mlflow', 'sklearn', 'pandas'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"


# What a record becomes


def test_metrics_that_are_not_finite_become_tags_with_their_reason() -> None:
    metrics = {"test/brier": 0.2, "test/log_loss": math.inf, "test/gap": math.nan, "test/x": None}
    record = describe(metrics=metrics, undefined={"test/roc_auc": "one class only"})
    assert record.metrics == [("test/brier", 0.2, 0)]
    said = {key: tag for key, tag in record.tags.items() if key.startswith("kalibre.undefined.")}
    assert said == {
        "kalibre.undefined.test/log_loss": "not a finite number: inf",
        "kalibre.undefined.test/gap": "not a finite number: nan",
        "kalibre.undefined.test/x": "no value",
        "kalibre.undefined.test/roc_auc": "one class only",
    }


def test_names_mlflow_refuses_are_made_valid_and_stay_distinct() -> None:
    names = ["count > 0.99", "count ≥ 0.99", "a//b", "../up", "/root", "şüpheli", "x" * 300]
    valid = content.valid_names(dict.fromkeys(names))
    assert list(valid)[:6] == ["count _ 0.99", "count _ 0.99_2", "a/b", "_/up", "root", "şüpheli"]
    assert max(map(len, valid)) == content.NAME_LENGTH


def test_the_same_name_is_the_same_metric_in_every_experiment() -> None:
    one, other = describe(metrics={"test/brier": 0.1}), describe(metrics={"test/brier": 0.3})
    assert one.metrics[0].name == other.metrics[0].name == "test/brier"


def test_a_long_param_is_cut_with_a_note() -> None:
    text = describe(params={"features": "x" * 7000}).params["features"]
    assert len(text) == content.PARAM_LENGTH
    assert text.endswith("… (7000 characters, whole in record.json)")


def test_params_are_written_as_in_the_record() -> None:
    params = describe(params={"a": True, "b": None, "c": 0.1, "d": "text", "e": 3}).params
    assert params == {"a": "true", "b": "null", "c": "0.1", "d": "text", "e": "3"}


def test_a_batch_holds_no_more_than_a_server_takes() -> None:
    record = describe(
        params={f"p{i}": i for i in range(250)}, metrics={f"m{i}": i for i in range(2000)}
    )
    sizes = [(len(metrics), len(params)) for metrics, params in content.batches(record)]
    assert sizes == [(900, 100), (900, 100), (200, 50)]


@pytest.mark.parametrize("count", [1, 1000, 1001, 1999, 10_000])
def test_a_series_is_thinned_to_a_thousand_steps_with_both_ends(count: int) -> None:
    rows = content.thinned(count, 1000)
    assert len(rows) == len(set(rows)) == min(count, 1000)
    assert (rows[0], rows[-1]) == (0, count - 1)


def describe(**parts: Any) -> content.Content:
    empty = {"params": {}, "metrics": {}, "undefined": {}, "rows": {}, "notes": [], "outputs": {}}
    record = {"rule": "evaluate", "experiment": "trivia", "subject": {}, "sources": "s"} | empty
    return content.describe(record | {"packages": {}} | parts, "v" * 32, Path())


# The store


def test_a_fresh_store_gets_its_name_when_it_is_whole(tmp_path: Path) -> None:
    uri = resolve_uri(tmp_path)
    killed = mock.patch.object(store, "_client", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        store.initialise(uri, ["trivia"], root=tmp_path)
    assert list(tmp_path.iterdir()) == []
    store.initialise(uri, ["trivia"], root=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]


def test_initialising_twice_changes_nothing(project: Project) -> None:
    first = store.initialise(project.uri, ["trivia", "spam"], root=project.root)
    assert store.initialise(project.uri, ["trivia", "spam"], root=project.root) == first
    assert len(project.client.search_experiments()) == 3


def test_an_experiment_of_that_name_is_used_as_it_is(project: Project) -> None:
    own = project.client.create_experiment("trivia", artifact_location=str(project.root / "own"))
    assert project.initialise() == own


def test_artifacts_lie_beside_the_store(project: Project) -> None:
    project.track(write_experiment(project.root))
    assert (project.root / "mlartifacts/trivia").is_dir()
    assert not (project.root / "mlruns").exists()


def test_a_deleted_experiment_is_restored_and_that_is_said(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    first = project.track(write_experiment(project.root))
    project.client.delete_experiment(first["experiment_id"])
    assert project.track(write_experiment(project.root)) == first
    assert "'trivia' had been deleted" in caplog.text


def test_a_moved_project_gets_its_runs_and_artifacts_anew(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    first = project.track(write_experiment(project.root))
    moved = project.root.rename(project.root.with_name("elsewhere"))
    project.root, project.uri = moved, resolve_uri(moved)
    second = project.track(write_experiment(moved))
    assert second["experiment_id"] != first["experiment_id"]
    assert "reliability.csv" in project.files(project.run("evaluate linear none"))
    assert f"'trivia (moved, {first['experiment_id']})'" in caplog.text
    assert not (moved.parent / "my lab #1").exists()


def test_a_vanished_store_is_noticed_and_the_mending_command_named(project: Project) -> None:
    records, number = write_experiment(project.root), project.initialise()
    store_file(project.uri).unlink()  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"gone.*snakemake all --forcerun init_tracking"):
        track_into(project, number, records)
    assert not store_file(project.uri).exists()  # type: ignore[union-attr]


def test_an_emptied_store_is_noticed_and_the_mending_command_named(
    project: Project, migrated: Path
) -> None:
    records = write_experiment(project.root)
    with pytest.raises(InputError, match=r"no experiment 'trivia'.*--forcerun init_tracking"):
        track_into(project, "7", records)


def test_an_id_that_belongs_to_another_experiment_by_now_is_refused(project: Project) -> None:
    with pytest.raises(InputError, match="no experiment 'trivia' with id"):
        track_into(project, project.initialise("spam"), write_experiment(project.root))


def track_into(project: Project, experiment_id: str, records: list[Path]) -> dict[str, Any]:
    return track(
        uri=project.uri,
        experiment="trivia",
        experiment_id=experiment_id,
        records=records,
        root=project.root,
    )


def test_a_server_that_does_not_answer_is_named_within_seconds(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(InputError) as raised:
        store.initialise("http://ann:s3cr3t@127.0.0.1:9", ["trivia"], root=tmp_path)
    assert time.monotonic() - start < 5
    assert "http://ann:***@127.0.0.1:9 does not answer" in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


@pytest.mark.parametrize("uri", ["./mlruns", "file:///srv/mlruns", "mlruns"])
def test_a_folder_as_store_is_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(InputError, match="is a folder"):
        store.initialise(uri, ["trivia"], root=tmp_path)


def test_a_database_whose_driver_is_missing_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs the Python package 'MySQLdb'") as raised:
        store.initialise("mysql://ann:s3cr3t@127.0.0.1:9/runs", ["trivia"], root=tmp_path)
    assert "s3cr3t" not in str(raised.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("hello, I am a text file")
    with pytest.raises(InputError, match="not an SQLite database"):
        store.initialise(resolve_uri(tmp_path), ["trivia"], root=tmp_path)


def test_a_store_of_another_version_of_mlflow_is_one_message(project: Project) -> None:
    import sqlite3

    with sqlite3.connect(project.root / "mlflow.db") as database:
        database.execute("UPDATE alembic_version SET version_num = 'abc'")
    database.close()
    with pytest.raises(InputError, match=r"tracking store sqlite:.*out-of-date database schema"):
        project.initialise()


def test_an_older_file_store_that_hides_the_runs_is_pointed_out(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    write_text(project.root / "mlruns/0/meta.yaml", "name: Default")
    project.initialise()
    assert "mlflow ui --backend-store-uri sqlite:///mlflow.db" in caplog.text


# Runs


def test_one_parent_and_one_run_for_each_record(project: Project) -> None:
    records = write_experiment(project.root)
    receipt = project.track(records, title="Is 0.8 true?", question="Do 80 % happen?")
    runs = {run.info.run_id: run for run in project.runs()}
    parent = runs.pop(receipt["parent_run_id"])
    assert parent.info.run_name == f"Is 0.8 true? {receipt['snapshot'][:8]}"
    assert "Do 80 % happen?" in parent.data.tags["mlflow.note.content"]
    assert {run.info.run_name for run in runs.values()} == {
        "make_table",
        "read_scores linear",
        "evaluate linear none",
    }
    assert {run.data.tags["mlflow.parentRunId"] for run in runs.values()} == {parent.info.run_id}
    assert {run.info.status for run in (*runs.values(), parent)} == {"FINISHED"}


def test_the_receipt_says_where_every_record_is_shown(project: Project) -> None:
    records = write_experiment(project.root)
    receipt = project.track(records)
    assert receipt["tracking_uri"] == project.uri
    assert set(receipt["records"]) == {str(p.relative_to(project.root)) for p in records}
    entry = receipt["records"]["results/trivia/evaluate/linear/none/record.json"]
    assert entry["digest"] == version(records[2].read_bytes())
    assert entry["run_id"] == project.run("evaluate linear none").info.run_id
    json.dumps(receipt, allow_nan=False)


def test_a_run_shows_the_whole_record(project: Project) -> None:
    records = write_experiment(project.root)
    project.track(records)
    run = project.run("evaluate linear none")
    assert run.data.metrics == {"test/brier": 0.172, "test/fifths/ece": 0.04}
    assert run.data.params["bins/fifths/count"] == "5"
    tags = run.data.tags
    assert tags["kalibre.record"] == version(records[2].read_bytes())
    assert (tags["kalibre.rule"], tags["kalibre.model"]) == ("evaluate", "linear")
    assert tags["kalibre.undefined.test/roc_auc"] == "one class only"
    assert "3 rows were clipped" in tags["mlflow.note.content"]
    assert project.run("read_scores linear").data.params["rows/learned"] == "9"


def test_files_for_people_are_artifacts_and_large_tables_stay_on_disk(project: Project) -> None:
    records = write_experiment(project.root)
    write_text(project.root / "logs/evaluate.log", "3 rows were clipped\n")
    project.track(records, logs={records[2]: project.root / "logs/evaluate.log"})
    run = project.run("evaluate linear none")
    assert project.files(run) == ["log", "pages", "record.json", "reliability.csv"]
    assert project.files(run, "pages") == ["pages/page.html"]
    assert project.files(run, "log") == ["log/evaluate.log"]
    assert project.files(project.run("read_scores linear")) == ["record.json"]


def test_a_table_that_a_rule_read_is_a_data_set_with_its_digest(project: Project) -> None:
    records = write_experiment(project.root)
    project.track(records)
    (given,) = project.run("read_scores linear").inputs.dataset_inputs
    assert given.dataset.name == "make_table/table"
    assert given.dataset.digest == read_json(records[1])["inputs"]["make_table/table"]
    assert json.loads(given.dataset.source)["uri"] == "results/trivia/make_table/table.parquet"
    assert json.loads(given.dataset.profile) == {"num_rows": 12}
    columns = json.loads(given.dataset.schema)["mlflow_colspec"]
    assert [(column["name"], column["type"]) for column in columns] == [
        ("row", "long"),
        ("price", "double"),
        ("region", "string"),
    ]


def test_a_persons_own_file_is_a_data_set_and_a_model_is_none(project: Project) -> None:
    write_model(project.root / "results/trivia/fit_model/m/model.skops", [1, 2])
    fit = write_record(
        project.root,
        "trivia",
        "fit_model",
        "m",
        inputs={"churn.csv": "c" * 64},
        outputs={"model": output("model.skops", "model")},
    )
    inputs = {"fit_model/m/model": "d" * 32}
    score = write_record(project.root, "trivia", "score", "m", inputs=inputs)
    project.track([fit, score])
    (given,) = project.run("fit_model m").inputs.dataset_inputs
    assert (given.dataset.name, given.dataset.digest) == ("churn.csv", "c" * 36)
    assert project.run("score m").inputs.dataset_inputs == []


def test_a_series_becomes_stepped_metrics(project: Project) -> None:
    path = project.root / "results/trivia/join_repeats/splits.parquet"
    before = np.linspace(0, 1, 2500)
    before[-1] = np.nan
    write_series(path, 2500, before=before, after=np.ones(2500))
    series = {"splits": output("splits.parquet", "series")}
    project.track([write_record(project.root, "trivia", "join_repeats", outputs=series)])
    run = project.run("join_repeats")
    history = project.client.get_metric_history(run.info.run_id, "splits/after")
    assert len(history) == 1000
    assert (history[0].step, history[-1].step) == (0, 2499)
    assert project.histories(run)["splits/before"] == 999


def test_what_belongs_to_the_whole_experiment_lies_with_the_parent(project: Project) -> None:
    records, page = write_experiment(project.root), project.root / "report.html"
    write_text(page, "<p>first</p>")
    parent = project.track(records, artifacts=[page])["parent_run_id"]
    write_text(page, "<p>second</p>")
    project.track(records, artifacts=[page])
    local = project.client.download_artifacts(parent, "report.html")
    assert Path(local).read_text() == "<p>second</p>"


def test_a_record_whose_table_is_missing_is_one_message_and_no_run(project: Project) -> None:
    records = write_experiment(project.root)
    records[2].with_name("reliability.csv").unlink()
    with pytest.raises(InputError, match=r"reliability.csv.*snakemake --forcerun evaluate"):
        project.track(records)
    assert project.runs() == []


def test_a_run_named_in_the_environment_is_not_written_to(project: Project) -> None:
    other = project.client.create_run(project.initialise("spam"))
    os.environ["MLFLOW_RUN_ID"] = other.info.run_id
    os.environ["MLFLOW_EXPERIMENT_NAME"] = "spam"
    receipt = project.track([fitted(project.root)])
    assert other.info.run_id not in {entry["run_id"] for entry in receipt["records"].values()}
    assert project.client.get_run(other.info.run_id).data.tags.keys() == {"mlflow.runName"}


# Once and no more


def test_the_same_snapshot_tracked_again_adds_nothing(project: Project) -> None:
    records = [*write_experiment(project.root), fitted(project.root)]
    first = project.track(records)
    before = project.everything()
    assert project.track(records[::-1])["records"] == first["records"]
    assert project.everything() == before


@pytest.mark.parametrize("killed_in", ["_log_batches", "_log_data_sets", "_log_files", "_attach"])
def test_a_track_that_was_killed_is_completed_and_never_doubled(
    project: Project, migrated: Path, killed_in: str
) -> None:
    """The kill comes at the end of one of the steps, of the second record where there are many."""
    from kalibre.tracking import project as module

    records = write_experiment(project.root)
    step, calls = getattr(module, killed_in), []

    def last_words(*arguments: Any) -> None:
        step(*arguments)
        calls.append(arguments)
        if len(calls) == 2 or killed_in == "_attach":
            raise KeyboardInterrupt

    with mock.patch.object(module, killed_in, last_words), pytest.raises(KeyboardInterrupt):
        project.track(records)
    assert "RUNNING" in {run.info.status for run in project.runs()}
    project.track(records)
    whole = Project(project.root.with_name("whole"), migrated)
    whole.track(write_experiment(whole.root))
    assert shape(project) == shape(whole)


def shape(project: Project) -> list[Any]:
    """What the runs show, without ids and times."""
    return sorted([run.info.run_name, *project.shape(run)] for run in project.runs())


def test_another_snapshot_gets_runs_of_its_own_and_the_older_is_tagged(project: Project) -> None:
    first = project.track(write_experiment(project.root))
    second = project.track(write_experiment(project.root, metrics={"test/brier": 0.2}))
    assert first["snapshot"] != second["snapshot"]
    assert len(project.runs()) == 8
    assert superseded(project, first) == second["snapshot"]
    assert superseded(project, second) is None


def test_going_back_to_an_older_snapshot_makes_it_current_again(project: Project) -> None:
    first = project.track(write_experiment(project.root))
    second = project.track(write_experiment(project.root, metrics={"test/brier": 0.2}))
    assert project.track(write_experiment(project.root)) == first
    assert len(project.runs()) == 8
    assert superseded(project, first) is None
    assert superseded(project, second) == first["snapshot"]


def superseded(project: Project, receipt: dict[str, Any]) -> str | None:
    run = project.client.get_run(receipt["parent_run_id"])
    value: str | None = run.data.tags.get(SUPERSEDED_TAG)
    return value


def test_what_a_kill_left_of_another_snapshot_is_closed(project: Project) -> None:
    from kalibre.tracking import project as module

    killed = mock.patch.object(module, "_log_files", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        project.track(write_experiment(project.root))
    left = {run.info.run_id for run in project.runs()}
    project.track(write_experiment(project.root, metrics={"test/brier": 0.2}))
    status = {run.info.run_id: run.info.status for run in project.runs()}
    assert {status.pop(run_id) for run_id in left} == {"KILLED"}
    assert set(status.values()) == {"FINISHED"}


def test_a_run_someone_deleted_is_made_again(project: Project) -> None:
    records = write_experiment(project.root)
    receipt = project.track(records)
    project.client.delete_run(project.run("make_table").info.run_id)
    again = project.track(records)
    assert again["parent_run_id"] == receipt["parent_run_id"]
    assert len(project.runs()) == 4


def test_another_store_is_filled_from_the_same_records(project: Project, migrated: Path) -> None:
    records = write_experiment(project.root)
    first = project.track(records)
    other = Project(project.root.with_name("other"), migrated)
    second = other.track(records)
    assert second["snapshot"] == first["snapshot"]
    assert shape(other) == shape(project)


def test_a_record_of_another_experiment_is_a_mistake(project: Project) -> None:
    with pytest.raises(ValueError, match="a record of 'spam', not of 'trivia'"):
        project.track(write_experiment(project.root, "spam"))


# Models


def fitted(root: Path, model: Any = None) -> Path:
    """The record of a model that was fitted on the table of `write_experiment`."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    if model is None:
        encoder = OneHotEncoder(handle_unknown="ignore")
        model = make_pipeline(encoder, LogisticRegression()).fit(features(12), np.arange(12) > 5)
    write_model(root / "results/trivia/fit_model/linear/model.skops", model)
    return write_record(
        root,
        "trivia",
        "fit_model",
        "linear",
        inputs={"make_table/table": output("table.parquet", "data")["digest"]},
        outputs={"model": output("model.skops", "model")},
    )


def features(rows: int) -> Any:
    import pandas as pd

    count = np.arange(rows)
    return pd.DataFrame({"region": np.take(["north", "south"], count % 2), "price": count / 7})


def test_a_model_can_be_loaded_from_its_run_and_predicts_the_same(project: Project) -> None:
    import mlflow.sklearn
    import skops.io

    record = fitted(project.root)
    project.track([record])
    run = project.run("fit_model linear")
    assert run.info.status == "FINISHED"
    with store.active_store(project.uri):
        loaded = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/model")
    model = skops.io.load(record.with_name("model.skops"))
    assert np.array_equal(loaded.predict_proba(features(7)), model.predict_proba(features(7)))


def test_the_engines_own_estimators_are_trusted(project: Project) -> None:
    import mlflow.sklearn

    from kalibre.models.linear import GradientDescentLogistic

    table = np.column_stack([np.arange(12) / 7, np.arange(12) % 5])
    model = GradientDescentLogistic(rounds=20).fit(table, np.arange(12) > 5)
    project.track([fitted(project.root, model)])
    run = project.run("fit_model linear")
    with store.active_store(project.uri):
        loaded = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/model")
    assert np.array_equal(loaded.predict_proba(table), model.predict_proba(table))


def test_a_model_carries_signature_and_pinned_requirements(project: Project) -> None:
    import mlflow.models

    project.track([*write_experiment(project.root), fitted(project.root)])
    run = project.run("fit_model linear")
    with store.active_store(project.uri):
        info = mlflow.models.get_model_info(f"runs:/{run.info.run_id}/model")
    assert info.signature.inputs.input_dict().keys() == {"region", "price"}
    assert [str(kind) for kind in info.signature.inputs.input_types()] == [
        "DataType.string",
        "DataType.double",
    ]
    assert info.signature.outputs is not None
    (logged,) = run.outputs.model_outputs
    place = project.client.get_logged_model(logged.model_id).artifact_location
    required = Path(mlflow.artifacts.download_artifacts(f"{place}/requirements.txt")).read_text()
    assert "numpy==2.4.6" in required
    assert "scikit-learn==1.9.1" in required
    assert "kalibre" not in required


def test_a_model_whose_table_is_not_there_is_logged_without_a_signature(project: Project) -> None:
    project.track([fitted(project.root)])
    assert len(project.run("fit_model linear").outputs.model_outputs) == 1


def test_logging_a_model_leaves_the_environment_as_it_was(project: Project) -> None:
    project.track([fitted(project.root)])
    assert "MLFLOW_TRACKING_URI" not in os.environ


def test_a_model_that_refuses_its_example_is_logged_without_a_signature(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(features(12)[["price"]], np.arange(12) > 5)
    model.n_features_in_ = 2
    project.track([*write_experiment(project.root), fitted(project.root, model)])
    assert len(project.run("fit_model linear").outputs.model_outputs) == 1
    assert "logged without a signature" in caplog.text


class Stranger:
    """A type that no library of ours defines."""


def test_a_model_of_unknown_types_is_kept_as_a_file_and_the_run_says_so(project: Project) -> None:
    project.track([fitted(project.root, model=Stranger())])
    run = project.run("fit_model linear")
    assert run.info.status == "FINISHED"
    assert "model.skops" in project.files(run)
    assert run.outputs.model_outputs == []
    assert run.data.tags["kalibre.model_not_loaded"].endswith("Stranger")


@pytest.mark.parametrize("after_the_model", [False, True])
def test_a_model_half_logged_by_a_kill_is_logged_once(
    project: Project, after_the_model: bool
) -> None:
    import mlflow.sklearn

    whole = mlflow.sklearn.log_model

    def killed(*arguments: Any, **options: Any) -> None:
        if after_the_model:
            whole(*arguments, **options)
        else:
            mlflow.initialize_logged_model(options["name"])
        raise KeyboardInterrupt

    records = [fitted(project.root)]
    with mock.patch.object(mlflow.sklearn, "log_model", killed), pytest.raises(KeyboardInterrupt):
        project.track(records)
    project.track(records)
    run = project.run("fit_model linear")
    experiment = [run.info.experiment_id]
    ready = [m for m in project.client.search_logged_models(experiment) if m.status == "READY"]
    assert len(ready) == 1
    assert run.info.status == "FINISHED"


# Failures


def failure(root: Path, message: str = "column 'churned' has no value 'yes'") -> dict[str, Any]:
    log = root / "logs/trivia/fit_model/linear.log"
    write_text(log, "\n".join(f"line {i}" for i in range(200)))
    left = {
        "experiment": "trivia",
        "rule": "fit_model",
        "subject": {"model": "linear"},
        "message": message,
        "log": "logs/trivia/fit_model/linear.log",
    }
    write_json(log.with_suffix(".failed.json"), left)
    return left


def test_a_failed_rule_is_a_failed_run_with_the_end_of_its_log(project: Project) -> None:
    left = failure(project.root)
    assert failures.project_failures(project.uri, [left], root=project.root) == [left]
    run = project.run("fit_model linear failed")
    assert run.info.status == "FAILED"
    assert run.data.tags["kalibre.message"] == left["message"]
    assert run.data.tags["kalibre.model"] == "linear"
    text = Path(project.client.download_artifacts(run.info.run_id, "log/linear.log")).read_text()
    assert text.splitlines() == [f"line {i}" for i in range(150, 200)]


def test_a_failure_is_projected_once_and_its_file_removed(project: Project) -> None:
    failure(project.root)
    arguments = ["--root", str(project.root)]
    assert failures.main(arguments) == failures.main(arguments) == 0
    assert [run.info.run_name for run in project.runs()] == ["fit_model linear failed"]
    assert [path.name for path in project.root.glob("logs/**/*.*")] == ["linear.log"]


def test_a_failure_before_there_is_a_store_makes_the_store(tmp_path: Path, migrated: Path) -> None:
    left = failure(tmp_path) | {"experiment": "", "rule": "init_tracking", "subject": {}}
    project = Project(tmp_path, migrated)
    failures.project_failures(project.uri, [left], root=tmp_path)
    assert project.run("init_tracking failed", "workflow").info.status == "FAILED"


def test_a_failure_without_a_log_is_shown_all_the_same(project: Project) -> None:
    left = failure(project.root)
    (project.root / left["log"]).unlink()
    failures.project_failures(project.uri, [left], root=project.root)
    assert project.run("fit_model linear failed").info.status == "FAILED"


def test_failures_are_no_snapshots(project: Project) -> None:
    failures.project_failures(project.uri, [failure(project.root)], root=project.root)
    receipt = project.track(write_experiment(project.root))
    assert superseded(project, receipt) is None
    assert SUPERSEDED_TAG not in project.run("fit_model linear failed").data.tags


def test_an_unreachable_store_is_one_line_and_keeps_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.environ["MLFLOW_TRACKING_URI"] = "http://ann:s3cr3t@127.0.0.1:9"
    failure(tmp_path)
    assert failures.main(["--root", str(tmp_path)]) == 0
    said = capfd.readouterr()
    assert len((said.out + said.err).splitlines()) == 1
    assert "s3cr3t" not in said.err
    assert list(tmp_path.glob("logs/**/*.failed.json"))


def test_broken_failure_files_are_passed_over(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    write_text(project.root / "logs/a.failed.json", "{")
    write_text(project.root / "logs/b.failed.json", "[1]")
    failure(project.root)
    assert failures.main(["--root", str(project.root)]) == 0
    assert len(project.runs()) == 1
    assert capfd.readouterr().err == ""


def test_no_failures_cost_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from kalibre.tracking import failures; "
        f"failures.main(['--root', {str(tmp_path)!r}]); print('mlflow' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


def test_mlflow_is_quiet(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.track([*write_experiment(project.root), fitted(project.root)])
    assert logging.getLogger("mlflow").level == logging.WARNING
    assert capfd.readouterr().out == ""
