"""Tracking into a real MLflow server, and a bare `mlflow ui` over the default store.

One server plays both parts: it is started in a project folder as `mlflow ui` is, without a word about
stores, and others send it their runs over HTTP.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import requests

from fake_records import output, write_experiment, write_model, write_record
from kalibre.files import write_json, write_text
from kalibre.tracking import store
from kalibre.tracking.project import track

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def environment() -> Iterator[None]:
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
            del os.environ[name]
        yield


@pytest.fixture(scope="module")
def local(
    environment: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """A project whose runs are in its default store, and the receipt."""
    root = tmp_path_factory.mktemp("a project")
    return root, track_into(store.resolve_uri(root), "local", root, write_experiment(root, "local"))


@pytest.fixture(scope="module")
def server(local: tuple[Path, dict[str, Any]]) -> Iterator[str]:
    """The address of a server that was started in the project folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "ui", "--workers", "1", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (local[0] / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=local[0],
            env=os.environ | quiet,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            wait_for(f"{address}/health", process)
            yield address
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(address, timeout=2).ok:
                return
        except requests.exceptions.RequestException:
            time.sleep(0.1)
    raise RuntimeError("the MLflow server did not start")


def track_into(
    uri: str, name: str, root: Path, records: list[Path], **options: Any
) -> dict[str, Any]:
    return track(
        uri=uri,
        experiment=name,
        experiment_id=store.initialise(uri, [name], root=root)[name],
        records=records,
        root=root,
        **options,
    )


def runs(uri: str, name: str) -> dict[str, Any]:
    client = store.connect(uri)
    found = client.get_experiment_by_name(name)
    return {run.info.run_name: run for run in client.search_runs([found.experiment_id])}


def test_a_bare_ui_in_the_project_folder_shows_runs_and_artifacts(
    local: tuple[Path, dict[str, Any]], server: str
) -> None:
    (entry,) = [e for path, e in local[1]["records"].items() if "evaluate" in path]
    found = requests.get(
        f"{server}/ajax-api/2.0/mlflow/runs/get", params={"run_id": entry["run_id"]}, timeout=20
    ).json()["run"]
    assert found["info"]["run_name"] == "evaluate linear none"
    assert {"key": "test/brier", "value": 0.172}.items() <= found["data"]["metrics"][0].items()
    table = requests.get(
        f"{server}/get-artifact",
        params={"run_id": entry["run_id"], "path": "reliability.csv"},
        timeout=20,
    )
    assert table.text == "bin,count\n0,5\n1,7\n"


def test_a_server_takes_all_runs_once(server: str, tmp_path: Path) -> None:
    records = write_experiment(
        tmp_path, "remote", metrics={f"test/m{i}": i / 7 for i in range(1200)}
    )
    first = track_into(server, "remote", tmp_path, records, title="Remote")
    before = {name: run.to_dictionary() for name, run in runs(server, "remote").items()}
    assert track_into(server, "remote", tmp_path, records, title="Remote") == first
    assert {name: run.to_dictionary() for name, run in runs(server, "remote").items()} == before
    assert set(before) == {
        f"Remote {first['snapshot'][:8]}",
        "make_table",
        "read_scores linear",
        "evaluate linear none",
    }
    evaluate = runs(server, "remote")["evaluate linear none"]
    assert len(evaluate.data.metrics) == 1202
    assert evaluate.data.params["group"] == "null"
    assert {run.info.status for run in runs(server, "remote").values()} == {"FINISHED"}


def test_artifacts_travel_through_the_server(server: str, tmp_path: Path) -> None:
    track_into(server, "files", tmp_path, write_experiment(tmp_path, "files"))
    run = runs(server, "files")["evaluate linear none"]
    assert run.info.artifact_uri.startswith("mlflow-artifacts:")
    client = store.connect(server)
    local = client.download_artifacts(run.info.run_id, "pages/page.html", str(tmp_path))
    assert Path(local).read_text() == "<p>0.8</p>"


def test_a_model_travels_through_the_server(server: str, tmp_path: Path) -> None:
    import mlflow.sklearn
    from sklearn.linear_model import LogisticRegression

    features = np.arange(16).reshape(8, 2) / 7
    model = LogisticRegression().fit(features, np.arange(8) > 3)
    write_model(tmp_path / "results/models/fit_model/linear/model.skops", model)
    outputs = {"model": output("model.skops", "model")}
    record = write_record(tmp_path, "models", "fit_model", "linear", outputs=outputs)
    track_into(server, "models", tmp_path, [record])
    run = runs(server, "models")["fit_model linear"]
    with store.active_store(server):
        loaded = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/model")
    assert np.array_equal(loaded.predict_proba(features), model.predict_proba(features))


def test_a_deleted_experiment_is_restored_on_a_server_too(server: str, tmp_path: Path) -> None:
    records = write_experiment(tmp_path, "binned")
    first = track_into(server, "binned", tmp_path, records)
    store.connect(server).delete_experiment(first["experiment_id"])
    assert track_into(server, "binned", tmp_path, records) == first


def test_what_a_kill_left_is_completed_on_a_server_too(server: str, tmp_path: Path) -> None:
    from kalibre.tracking import project

    records = write_experiment(tmp_path, "killed")
    killed = mock.patch.object(project, "_log_files", side_effect=KeyboardInterrupt)
    with killed, pytest.raises(KeyboardInterrupt):
        track_into(server, "killed", tmp_path, records)
    receipt = track_into(server, "killed", tmp_path, records)
    assert len(runs(server, "killed")) == len(receipt["records"]) + 1
    assert {run.info.status for run in runs(server, "killed").values()} == {"FINISHED"}


def test_the_command_that_snakemake_runs_on_an_error(server: str, tmp_path: Path) -> None:
    write_text(tmp_path / "logs/fit_model.log", "reading\nfailed\n")
    left = {"experiment": "remote", "rule": "fit_model", "subject": {"model": "tree"}}
    write_json(
        tmp_path / "logs/fit_model.failed.json",
        left | {"message": "no rows", "log": "logs/fit_model.log"},
    )
    said = subprocess.run(
        [sys.executable, "-m", "kalibre.tracking.failures", "--root", str(tmp_path)],
        env=os.environ | {"MLFLOW_TRACKING_URI": server},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout + said.stderr == ""
    failed = runs(server, "remote")["fit_model tree failed"]
    assert failed.info.status == "FAILED"
    assert not (tmp_path / "logs/fit_model.failed.json").exists()
