"""Experiment files on a person's own data: what follows from the roles of the columns, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kalibre.errors import InputError
from kalibre.experiment.experiment import Experiment
from kalibre.experiment.load import load_experiment
from kalibre.plan import Plan

TABLE: dict[str, Any] = {
    "data": {"source": "table", "file": "t.csv", "target": "y"},
    "split": {"parts": {"test": 0.2, "calibration": 0.25}},
    "models": {"bayes": {"estimator": "sklearn.naive_bayes.GaussianNB"}},
    "calibration": {"calibrators": ["none", "temperature"]},
}
GIVEN: dict[str, Any] = {
    "data": {"source": "predictions", "file": "p.csv", "outcome": "y", "probability": ["a", "b"]},
}
Load = Callable[..., Experiment]


def written(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An experiment with other settings in some of its sections."""
    merged = dict(content)
    for section, value in changes.items():
        merged[section] = {**merged.get(section, {}), **value}
    return merged


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads an experiment written as the file `x.yaml`."""

    def loaded(content: dict[str, Any], **changes: Any) -> Experiment:
        path = tmp_path / "x.yaml"
        path.write_text(yaml.safe_dump(written(content, **changes), sort_keys=False))
        return load_experiment(path)

    return loaded


def refused(load: Load, content: dict[str, Any], **changes: Any) -> str:
    """The message with which an experiment is refused."""
    with pytest.raises(InputError) as error:
        load(content, **changes)
    return str(error.value)


# ---- what follows from the data's roles


@pytest.mark.parametrize(
    ("roles", "method"),
    [
        ({}, "stratified"),
        ({"group": "home"}, "group"),
        ({"time": "day"}, "time"),
        ({"group": "home", "time": "day"}, "time"),
    ],
    ids=str,
)
def test_split_folds_and_cross_fitting_go_by_time_or_group_where_the_data_names_one(
    load: Load, roles: dict[str, str], method: str
):
    spec = load(TABLE, data=roles, folds={"count": 3})
    assert spec.split_settings()["method"] == method
    assert spec.folds_settings()["method"] == method
    assert spec.cross_fitting()["method"] == method


def test_a_method_that_is_named_is_taken(load: Load):
    spec = load(TABLE, data={"group": "home"}, split={"method": "random"})
    assert spec.split_settings()["method"] == "random"


@pytest.mark.parametrize(
    ("parts", "rest", "rest_is", "in_time"),
    [
        ({"test": 0.2, "calibration": 0.25}, "train", "earliest", ["train", "calibration", "test"]),
        ({"train": 0.6, "calibration": 0.5}, "test", "latest", ["train", "calibration", "test"]),
    ],
)
def test_in_time_the_part_that_is_measured_is_the_latest_however_it_is_written(
    load: Load, parts: dict[str, float], rest: str, rest_is: str, in_time: list[str]
):
    spec = load(TABLE, data={"time": "day"}, split={"parts": parts, "rest": rest})
    assert spec.split_settings()["rest_is"] == rest_is
    assert spec.split is not None
    assert spec.split.in_time(spec.rest_is()) == in_time


def test_measuring_what_lies_before_the_rows_learned_from_is_refused(load: Load):
    said = refused(
        load,
        TABLE,
        data={"time": "day"},
        split={"parts": {"calibration": 0.2, "test": 0.25}},
    )
    assert "part 'test' would lie before 'calibration', which is learned from" in said
    assert "in time the parts are train, test, calibration" in said
    assert "line 7: split.parts" in said


def test_an_evaluated_part_that_is_learned_from_too_is_an_overlap_and_no_looking_back(load: Load):
    content = written(TABLE, data={"time": "day"}, evaluation={"on": ["test", "train"]})
    overlap = {"stages": ["fit", "evaluate"], "part": "train", "reason": "to see"}
    assert load({**content, "declared_overlap": [overlap]}).evaluated_parts() == ["test", "train"]
    assert "used both to fit and to evaluate" in refused(load, content)


@pytest.mark.parametrize(("method", "role"), [("group", "group"), ("time", "time")])
def test_a_split_by_a_role_needs_the_role(load: Load, method: str, role: str):
    said = refused(load, TABLE, split={"method": method})
    assert f"split.method: a split by {method} needs the column that says it: `data.{role}`" in said


def test_folds_by_time_are_not_repeated(load: Load):
    said = refused(load, TABLE, data={"time": "day"}, folds={"repeats": 3})
    assert "folds.repeats: folds by time can be cut in one way only" in said


# ---- parts by a column

BY_COLUMN = {"data": {"source": "table", "file": "t.csv", "target": "y", "part": "year"}}


def by_column(**split: Any) -> dict[str, Any]:
    """An experiment whose parts a column names."""
    return {**TABLE, **BY_COLUMN, "split": {"method": "column", **split}}


def test_parts_of_a_column_are_named_as_a_list_or_with_their_values(load: Load):
    listed = load(by_column(values=["train", "calibration", "test"]))
    assert listed.parts() == ["train", "calibration", "test"]
    years = {"train": [2021, 2022], "calibration": 2023, "test": "2024"}
    spec = load(by_column(values=years))
    assert spec.split_settings() == {
        "method": "column",
        "values": [["train", ["2021", "2022"]], ["calibration", ["2023"]], ["test", ["2024"]]],
        "rest": None,
        "seed": 0,
    }


def test_other_values_are_the_rest_if_there_is_one(load: Load):
    spec = load(by_column(values={"test": 2024, "calibration": 2023}, rest="train"))
    assert spec.parts() == ["test", "calibration", "train"]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ({}, "`values` is missing: the names of the parts"),
        ({"parts": {"test": 0.2}, "values": ["a"]}, "`parts` does not go with method 'column'"),
        (
            {"values": ["train", "test"], "rest": "test"},
            "`rest` is 'test', which `values` cuts already",
        ),
    ],
)
def test_a_split_by_column_that_contradicts_itself_is_refused(
    load: Load, split: dict[str, Any], message: str
):
    assert message in refused(load, by_column(**split))


def test_a_split_by_column_needs_the_column(load: Load):
    content = by_column(values=["train", "calibration", "test"])
    content["data"] = TABLE["data"]
    assert "a split by column needs the column that says it: `data.part`" in refused(load, content)


# ---- calibrators out of fold, and which is kept


def out_of_fold(**changes: Any) -> dict[str, Any]:
    """An experiment whose calibrators are cross-fitted."""
    calibration = {"calibrators": ["none", "temperature"], "learn_on": ["out_of_fold"]}
    return written({**TABLE, "split": {"parts": {"test": 0.2}}}, calibration=calibration, **changes)


def test_a_calibrator_may_be_learned_out_of_fold_and_needs_no_part_of_its_own(load: Load):
    variant = load(out_of_fold()).variants("bayes")["temperature"]
    assert variant.learn_on == "out_of_fold"


def test_out_of_fold_the_training_rows_are_the_calibrators_as_well(load: Load):
    overlap = {"stages": ["fit", "evaluate"], "part": "train", "reason": "to see"}
    content = {**out_of_fold(evaluation={"on": ["train"]}), "declared_overlap": [overlap]}
    said = refused(load, content)
    assert "part 'train' of model 'bayes' is used both to calibrate and to evaluate" in said


def test_predictions_have_no_out_of_fold_scores(load: Load):
    calibration = {"calibrators": ["temperature"], "learn_on": ["out_of_fold"]}
    said = refused(load, GIVEN, calibration=calibration)
    assert "'out_of_fold' needs models that are fitted here" in said


@pytest.mark.parametrize(
    ("calibrators", "keep", "kept"),
    [
        (["none"], None, None),
        (["none", "isotonic", "temperature", "beta"], None, "temperature"),
        (["isotonic", "beta"], None, "isotonic"),
        (["none", "temperature"], "none", "none"),
        (["none", "platt", "temperature"], "platt", "platt"),
    ],
)
def test_the_calibrator_that_is_kept(
    load: Load, calibrators: list[str], keep: str | None, kept: str | None
):
    asked = {"keep": keep} if keep else {}
    assert load(TABLE, calibration={"calibrators": calibrators, **asked}).kept("bayes") == kept


def test_a_calibrator_learned_on_measured_rows_is_not_kept_by_default(load: Load):
    overlap = {"stages": ["calibrate", "evaluate"], "part": "calibration", "reason": "to show it"}
    shown = {**TABLE, "declared_overlap": [overlap]}
    assert load(shown, evaluation={"on": ["calibration"]}).kept("bayes") is None


def test_a_calibrator_that_is_not_there_cannot_be_kept(load: Load):
    said = refused(load, TABLE, calibration={"keep": "temprature"})
    assert "calibration.keep: found 'temprature'; did you mean 'temperature'?" in said


def test_of_given_predictions_there_is_no_model_to_keep(load: Load):
    split = {"parts": {"calibration": 0.5}, "rest": "test"}
    spec = load(GIVEN, split=split, calibration={"calibrators": ["none", "temperature"]})
    assert spec.kept("a") is None


# ---- models


def test_a_list_of_steps_is_a_pipeline(load: Load):
    steps = [
        {"estimator": "sklearn.preprocessing.StandardScaler"},
        {"estimator": "sklearn.decomposition.PCA", "params": {"n_components": 2}, "name": "few"},
        {"estimator": "sklearn.linear_model.LogisticRegression"},
    ]
    model = load({**TABLE, "models": {"chain": {"steps": steps}}}).models["chain"]
    assert model.estimator == "sklearn.pipeline.Pipeline"
    assert [name for name, _ in model.params["steps"]] == [
        "standardscaler",
        "few",
        "logisticregression",
    ]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({}, "`estimator` is missing"),
        (
            {"steps": [], "estimator": "a.B"},
            "give either `estimator` (with its `params`) or `steps`",
        ),
        (
            {"steps": [{"estimater": "a.B"}]},
            "estimater is not a known key; did you mean 'estimator'?",
        ),
    ],
)
def test_a_model_is_an_estimator_or_steps(load: Load, model: dict[str, Any], message: str):
    assert message in refused(load, {**TABLE, "models": {"chain": model}})


# ---- the plan


def plan(spec: Experiment) -> Plan:
    """The plan of one experiment called `x`."""
    return Plan({"x": spec}, ("x",), Path("workflow/scripts"))


def test_a_calibrator_out_of_fold_takes_the_scores_it_maps_and_those_it_learns_from(load: Load):
    calibrators = {
        "sharp": {"method": "sharpen"},
        "mended": {"method": "platt", "after": "sharp", "learn_on": ["out_of_fold"]},
    }
    spec = load(TABLE, calibration={"calibrators": calibrators})
    assert plan(spec).learning_records("x", "bayes", "mended") == {
        "scores": ["results/x/calibrate/bayes/sharp/record.json"],
        "out_of_fold": ["results/x/score_out_of_fold/bayes/record.json"],
        "before": ["results/x/calibrate/bayes/sharp/record.json"],
    }
    assert plan(spec).chain("x", "bayes", "mended") == ["sharp", "mended"]
    assert "results/x/score_out_of_fold/bayes/record.json" in plan(spec).records("x")
    assert "results/x/save_model/bayes/mended/record.json" in plan(spec).records("x")


def test_the_persons_file_is_an_input_where_it_is(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    spec = load(TABLE)
    assert plan(spec).data_file("x") == []
    Path("t.csv").touch()
    assert plan(spec).data_file("x") == ["t.csv"]


def test_only_the_code_of_the_experiments_own_source_is_used(load: Load):
    assert plan(load(TABLE)).source("x") == "kalibre.data.tables.make_table"
    assert plan(load(GIVEN)).source("x") == "kalibre.data.prediction_files.make_table"
