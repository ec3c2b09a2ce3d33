"""What a build leaves on disk: records that are the same on every machine, and their numbers."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from getpass import getuser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from built import LESSONS, Built
from kalibre.columns import Categories
from kalibre.digests import digest_bytes, digest_columns, digest_json
from kalibre.files import read_columns, read_json
from kalibre.records import manifest
from kalibre.scores import Scores
from projects import Project

KEYS = [
    "rule",
    "experiment",
    "subject",
    "params",
    "metrics",
    "undefined",
    "rows",
    "notes",
    "inputs",
    "outputs",
    "sources",
    "packages",
]


@pytest.fixture(scope="module")
def records(built: Built) -> dict[str, dict[str, Any]]:
    """Every record by its path."""
    return {path: json.loads(content) for path, content in built.records.items()}


@pytest.fixture(scope="module")
def root(built: Built) -> Path:
    return built.project.root


def strings(value: Any) -> Iterator[str]:
    """Every word in a record, keys included."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


# ---- the same everywhere


def test_one_core_or_two_here_or_there_every_record_is_equal_byte_by_byte(
    built: Built, computed: Project
):
    elsewhere = computed.records()
    assert set(built.records) <= set(elsewhere)
    for path, content in built.records.items():
        assert elsewhere[path] == content, path


STAGES = (
    "results/folds/climb_ladder/tree/1_outside/record.json",
    "results/course/compare/record.json",
    "results/study/join_repeats/naive_bayes/record.json",
)
"""Stages that the lessons above do not have."""


def test_rungs_decisions_and_shards_give_the_same_records_on_two_cores(computed: Project):
    before = computed.records()
    forced = ("climb_ladder", "compare", "repeat_splits")
    done = computed.snakemake(*STAGES, "--forcerun", *forced, "--cores", "2").checked()
    for lesson in ("folds", "course", "study"):
        assert f"{lesson}: " in done.said
    after = computed.records()
    assert [path for path in before if before[path] != after[path]] == []


def test_no_computing_rule_imports_mlflow(computed: Project):
    """Where importing it is an error, all lessons were built."""
    assert "a computing rule imports" in computed.read("src/mlflow/__init__.py")
    assert len(list(computed.root.glob("results/*/metrics.json"))) > 3
    assert not (computed.root / "mlflow.db").exists()


def test_a_record_holds_no_path_host_or_person(records: dict[str, Any], root: Path):
    own = {str(root), str(Path.home()), socket.gethostname()} - {"/", "localhost"}
    for path, record in records.items():
        for text in strings(record):
            assert not text.startswith(("/", "~")), (path, text)
            assert not any(word in text for word in own), (path, text)
            assert getuser() not in text.split(), (path, text)


def test_a_record_holds_no_time(records: dict[str, Any]):
    clock = re.compile(r"\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b")
    for path, record in records.items():
        assert not any(clock.search(text) for text in strings(record)), path
        assert not {"time", "date", "host", "seconds"} & set(record), path


# ---- what a record says


def test_every_record_has_the_same_keys(records: dict[str, Any]):
    for path, record in records.items():
        assert list(record) == KEYS, path


def test_a_record_lies_where_its_rule_and_subject_say(records: dict[str, Any]):
    for path, record in records.items():
        where = Path(record["experiment"], record["rule"], *record["subject"].values())
        assert path == f"results/{where}/record.json"


def test_an_undefined_metric_has_a_reason_and_no_value(records: dict[str, Any]):
    assert any(record["undefined"] for record in records.values())
    for record in records.values():
        assert not set(record["undefined"]) & set(record["metrics"])
        assert all(record["undefined"].values())


DIGESTS: dict[str, Callable[[Path], str]] = {
    "data": lambda path: digest_columns(read_columns(path)),
    "series": lambda path: digest_columns(read_columns(path)),
    "json": lambda path: digest_json(read_json(path)),
}


def test_every_output_is_there_and_has_the_digest_of_its_content(
    records: dict[str, Any], root: Path
):
    for path, record in records.items():
        for output in record["outputs"].values():
            file = root / Path(path).parent / output["file"]
            if output["kind"] == "model":
                assert file.exists()
                continue
            digest = DIGESTS.get(output["kind"], lambda p: digest_bytes(p.read_bytes()))
            assert digest(file) == output["digest"], file


def test_an_input_has_the_digest_of_the_output_it_is(records: dict[str, Any]):
    made = {
        (record["experiment"], "/".join([record["rule"], *record["subject"].values(), name])): o
        for record in records.values()
        for name, o in record["outputs"].items()
    }
    linked = 0
    for record in records.values():
        for name, digest in record["inputs"].items():
            assert made[record["experiment"], name]["digest"] == digest
            linked += 1
    assert linked > len(records) / 2


@pytest.mark.parametrize("rule", ["split_rows", "fit_model", "calibrate", "evaluate", "summarise"])
def test_a_stage_names_what_it_took(records: dict[str, Any], rule: str):
    for path, record in records.items():
        if record["rule"] == rule:
            assert record["inputs"], path


def test_the_code_a_rule_used_is_part_of_its_record(records: dict[str, Any]):
    sources = {record["rule"]: record["sources"] for record in records.values()}
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in sources.values())
    assert len(set(sources.values())) == len(sources)


# ---- rows


def _scores(root: Path, record: dict[str, Any]) -> Scores:
    """The scores that a record of `fit_model` or `calibrate` lies beside."""
    where = Path("results", record["experiment"], record["rule"], *record["subject"].values())
    return Scores.from_columns(read_columns(root / where / "scores.parquet"))


def test_the_rows_a_model_learned_from_are_those_of_its_parts(records: dict[str, Any], root: Path):
    fitted = [r for r in records.values() if r["rule"] == "fit_model"]
    assert fitted
    for record in fitted:
        scores = _scores(root, record)
        assert record["rows"]["learned"] == manifest(scores.row[scores.fitted])
        assert record["metrics"]["learned_rows"] == np.count_nonzero(scores.fitted)


def test_measured_rows_were_learned_from_only_where_that_is_declared(
    records: dict[str, Any], root: Path
):
    for record in (r for r in records.values() if r["rule"] == "evaluate"):
        calibrated = Path("results", record["experiment"], "calibrate", *record["subject"].values())
        fitted = Path("results", record["experiment"], "fit_model", record["subject"]["model"])
        place = root / (calibrated if (root / calibrated).exists() else fitted)
        if not place.exists():
            continue  # predictions that exist already
        scores = Scores.from_columns(read_columns(place / "scores.parquet"))
        parts = record["params"]["parts"].split(", ")
        seen = scores.in_parts(parts) & (scores.fitted | scores.calibrated)
        assert seen.any() == any("used to" in note for note in record["notes"])


# ---- metrics.json


@pytest.fixture(scope="module", params=LESSONS)
def metrics(request: pytest.FixtureRequest, root: Path) -> tuple[str, dict[str, Any]]:
    """An experiment's metrics."""
    return request.param, read_json(root / f"results/{request.param}/metrics.json")


def test_metrics_are_one_flat_object_of_numbers_and_nulls(metrics: tuple[str, dict[str, Any]]):
    _, values = metrics
    assert values
    for path, value in values.items():
        assert value is None or type(value) in (int, float), path


def test_a_metric_is_that_of_its_record_to_the_last_bit(
    metrics: tuple[str, dict[str, Any]], records: dict[str, Any]
):
    experiment, values = metrics
    rules = {path.split("/")[0] for path in values}
    assert {"make_table", "evaluate"} <= rules
    expected: dict[str, Any] = {}
    for record in records.values():
        if record["experiment"] == experiment and record["rule"] in rules:
            prefix = "/".join([record["rule"], *record["subject"].values()])
            expected |= {f"{prefix}/{name}": value for name, value in record["metrics"].items()}
            expected |= {f"{prefix}/{name}": None for name in record["undefined"]}
    assert values == expected


def test_a_metric_without_a_value_is_null(root: Path):
    values = read_json(root / "results/trivia/metrics.json")
    assert values["evaluate/overconfident/none/all/log_loss"] is None
    assert values["evaluate/overconfident/none/all/brier"] == pytest.approx(0.432)


def test_metrics_have_all_their_digits(root: Path):
    """Read off the scores anew: equal to the last bits, not at the printed ones."""
    values = read_json(root / "results/subscribers/metrics.json")
    scores = Scores.from_columns(
        read_columns(root / "results/subscribers/fit_model/linear/scores.parquet")
    )
    test = scores.take(scores.in_parts(["test"]))
    brier = np.mean((test.probability - test.outcome) ** 2)
    assert values["evaluate/linear/none/test/brier"] == pytest.approx(brier, abs=1e-15)
    assert len(repr(values["evaluate/linear/none/test/brier"])) > 12


def test_experiments_name_their_metrics_alike(root: Path):
    """So that their runs compare: what differs is the part, the model and the calibrator."""
    for name, path in (
        ("trivia", "evaluate/overconfident/none/all"),
        ("subscribers", "evaluate/linear/none/test"),
        ("biopsy", "evaluate/logistic/none/validation"),
    ):
        values = read_json(root / f"results/{name}/metrics.json")
        for metric in ("rows", "observed_rate", "brier", "roc_auc", "accuracy", "log_loss"):
            assert f"{path}/{metric}" in values


def test_settings_hold_defaults_and_the_estimators_own(root: Path):
    settings = read_json(root / "results/biopsy/settings.json")
    assert settings["split/method"] == "stratified"
    assert settings["calibration/calibrators/temperature/method"] == "temperature"
    assert settings["params/fit_model/logistic/params/max_iter"] == 100
    assert settings["params/fit_model/naive_bayes/params/var_smoothing"] == 1e-09


# ---- scores


def test_scores_say_which_part_each_row_is_in(root: Path):
    columns = read_columns(root / "results/subscribers/fit_model/linear/scores.parquet")
    part = columns["part"]
    assert isinstance(part, Categories)
    assert {name: int(part.isin([name]).sum()) for name in part.names} == {
        "train": 756,
        "validation": 252,
        "test": 252,
    }
