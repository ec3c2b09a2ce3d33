"""MLflow's runs as a build leaves them: every record once, and failed rules too."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from built import LESSONS, Built
from kalibre.files import read_json
from kalibre.records import version
from projects import Done, Project

STATUSES = "select experiments.name, runs.run_uuid, runs.status from runs join experiments using (experiment_id)"


def rows(project: Project, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Rows of the tracking store, read past MLflow."""
    with closing(sqlite3.connect(project.root / "mlflow.db")) as store:
        return store.execute(query, values).fetchall()


def runs(project: Project) -> dict[str, str]:
    """Every run's status by its id."""
    return {run: status for _, run, status in rows(project, STATUSES)}


def tags(project: Project, run: str) -> dict[str, str]:
    return dict(rows(project, "select key, value from tags where run_uuid = ?", run))


@pytest.fixture(scope="module", params=LESSONS)
def receipt(request: pytest.FixtureRequest, built: Built) -> tuple[str, dict[str, Any]]:
    """An experiment's `tracked.json`."""
    return request.param, read_json(built.project.root / f"results/{request.param}/tracked.json")


# ---- tracked.json


def test_the_receipt_says_where_the_runs_are(built: Built, receipt: tuple[str, dict[str, Any]]):
    experiment, content = receipt
    assert content["tracking_uri"] == f"sqlite:///{built.project.root / 'mlflow.db'}"
    found = rows(
        built.project,
        "select name from experiments where experiment_id = ?",
        content["experiment_id"],
    )
    assert found == [(experiment,)]
    assert content["parent_run_id"] in runs(built.project)


def test_every_record_has_its_digest_and_its_run(built: Built, receipt: tuple[str, dict[str, Any]]):
    experiment, content = receipt
    expected = {
        path: version(record)
        for path, record in built.records.items()
        if path.startswith(f"results/{experiment}/")
    }
    assert {path: entry["digest"] for path, entry in content["records"].items()} == expected
    ids = [entry["run_id"] for entry in content["records"].values()]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= set(runs(built.project))


def test_every_run_is_finished_and_a_child_of_the_snapshots(
    built: Built, receipt: tuple[str, dict[str, Any]]
):
    _, content = receipt
    states = runs(built.project)
    assert states[content["parent_run_id"]] == "FINISHED"
    for entry in content["records"].values():
        assert states[entry["run_id"]] == "FINISHED"
        parent = tags(built.project, entry["run_id"])["mlflow.parentRunId"]
        assert parent == content["parent_run_id"]


def test_there_is_an_experiment_for_each_lesson(built: Built):
    names = {name for (name,) in rows(built.project, "select name from experiments")}
    assert set(LESSONS) <= names


def test_a_runs_metrics_are_its_records(built: Built, receipt: tuple[str, dict[str, Any]]):
    _, content = receipt
    for path, entry in content["records"].items():
        query = "select key, value from latest_metrics where run_uuid = ?"
        logged = dict(rows(built.project, query, entry["run_id"]))
        expected = json.loads(built.records[path])["metrics"]
        assert {key: logged.get(key) for key in expected} == pytest.approx(expected)


def test_metrics_have_the_same_names_across_experiments(built: Built):
    query = (
        "select distinct experiments.name from latest_metrics join runs using (run_uuid) "
        "join experiments using (experiment_id) where key = ?"
    )
    assert {("subscribers",)} < set(rows(built.project, query, "test/rows")) | {("none",)}
    for metric in ("learned_rows", "rows"):
        assert len(rows(built.project, query, metric)) > 1


# ---- again


def test_tracking_again_adds_no_run(built: Built):
    before = runs(built.project)
    receipts = {name: built.project.read(f"results/{name}/tracked.json") for name in LESSONS}
    done = built.project.snakemake("results/trivia/tracked.json", "--forcerun", "track").checked()
    assert "trivia: track the runs" in done.said
    assert runs(built.project) == before
    assert built.project.read("results/trivia/tracked.json") == receipts["trivia"]


def test_a_store_named_in_the_environment_is_filled_instead(built: Built, tmp_path: Path):
    project = built.project.clone(tmp_path / "clone")
    (project.root / "mlflow.db").unlink()
    other = tmp_path / "other.db"
    variables = {"MLFLOW_TRACKING_URI": f"sqlite:///{other}"}
    done = project.snakemake("results/trivia/tracked.json", variables=variables).checked()
    assert "trivia: evaluate" not in done.said
    assert other.exists()
    assert not (project.root / "mlflow.db").exists()
    content = read_json(project.root / "results/trivia/tracked.json")
    assert content["tracking_uri"] == f"sqlite:///{other}"


def test_a_store_that_has_gone_is_noticed_and_the_command_that_refills_it_works(
    built: Built, tmp_path: Path
):
    project = built.project.clone(tmp_path / "clone")
    (project.root / "mlflow.db").unlink()
    said = project.snakemake("-n", "trivia").checked().said
    assert "--forcerun init_tracking" in said
    project.snakemake(
        "results/trivia/tracked.json", "--forcerun", "init_tracking", "track"
    ).checked()
    content = read_json(project.root / "results/trivia/tracked.json")
    assert set(runs(project)) == {
        content["parent_run_id"],
        *(entry["run_id"] for entry in content["records"].values()),
    }


# ---- failures


@pytest.fixture(scope="module")
def failed(
    built: Built, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Project, Done]]:
    """A project in which a person's mistake, a mistake of ours and undeclared code stop three jobs."""
    project = built.project.clone(tmp_path_factory.mktemp("failed") / "project")
    # A column that is not there: only the job that reads the table can know.
    project.replace(
        "config/experiments/biopsy.yaml",
        "source: biopsies",
        "source: biopsies\n  columns: [radius]",
    )
    # A mistake of ours, after the job's first file is written.
    project.replace("workflow/scripts/evaluate.py", "    job.finish(", "    1 / 0\n    job.finish(")
    # A module that no import statement of the script names.
    project.replace(
        "workflow/scripts/read_scores.py",
        "    job.finish(",
        '    __import__("importlib").import_module("kalibre.models.tree")\n    job.finish(',
    )
    done = project.snakemake(
        "results/biopsy/fit_model/logistic/record.json",
        "results/subscribers/evaluate/base_rate/none/record.json",
        "results/trivia/read_scores/calibrated/record.json",
        "--keep-going",
    )
    return project, done


FIT = "fit_model biopsy logistic: the table has no column 'radius'; did you mean 'mean_radius'?"
EVALUATE = "evaluate subscribers base_rate none: ZeroDivisionError: division by zero"
READ = (
    "read_scores trivia calibrated: RuntimeError: rule read_scores uses modules that are not among"
)


def test_a_failed_job_ends_the_build_with_exit_code_1(failed: tuple[Project, Done]):
    assert failed[1].code == 1


@pytest.mark.parametrize("message", [FIT, EVALUATE, READ])
def test_its_message_stands_before_snakemakes_own(failed: tuple[Project, Done], message: str):
    said = failed[1].err
    assert message in said
    rule = message.split()[0]
    assert said.index(message) < said.index(f"Error in rule {rule}")


def test_no_traceback_of_ours_is_shown(failed: tuple[Project, Done]):
    assert "Traceback" not in failed[1].said
    assert 'File "' not in failed[1].said


def test_a_mistake_of_ours_has_its_traceback_in_the_log(failed: tuple[Project, Done]):
    project, _ = failed
    assert "Traceback" in project.read("logs/subscribers/evaluate/base_rate/none.log")
    assert "Traceback" not in project.read("logs/biopsy/fit_model/logistic.log")


@pytest.mark.parametrize(
    "folder",
    [
        "results/biopsy/fit_model/logistic",
        "results/subscribers/evaluate/base_rate/none",
        "results/trivia/read_scores/calibrated",
    ],
)
def test_what_a_failed_job_had_written_is_gone(failed: tuple[Project, Done], folder: str):
    assert failed[0].files(folder) == set()


def test_code_that_a_rule_uses_and_does_not_declare_is_named(failed: tuple[Project, Done]):
    assert "kalibre/models/tree.py" in failed[1].err


def test_a_failed_rule_is_a_failed_run_with_its_message_and_its_log(failed: tuple[Project, Done]):
    project, _ = failed
    found = {
        experiment: tags(project, run)
        for experiment, run, status in rows(project, STATUSES)
        if status == "FAILED"
    }
    assert set(found) == {"biopsy", "subscribers", "trivia"}
    assert found["biopsy"]["kalibre.message"] == FIT.partition(": ")[2]
    assert "division by zero" in found["subscribers"]["kalibre.message"]
    assert "Traceback" in found["subscribers"]["mlflow.note.content"]


def test_word_of_a_failure_is_taken_away_once_it_is_shown(failed: tuple[Project, Done]):
    assert [path for path in failed[0].files("logs") if ".failed." in path] == []
