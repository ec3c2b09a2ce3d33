"""A person's own table and predictions, from the file to the model in MLflow, beside scikit-learn's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import own_data
from kalibre.columns import Columns
from kalibre.files import read_columns
from projects import Project

TABLE_EXPERIMENT = """\
title: Biopsies of forty clinics
data:
  source: table
  file: data/biopsies.csv
  target: finding
  positive: malignant
  id: biopsy
  group: clinic
  leave_out: [taken on]
split: {parts: {test: 0.25, calibration: 0.25}}
preparation:
  - {step: sklearn.impute.SimpleImputer, columns: numeric, params: {strategy: median}}
  - {step: sklearn.preprocessing.OneHotEncoder, columns: categorical}
models:
  logistic: {estimator: sklearn.linear_model.LogisticRegression, standardise: true}
  bagged:
    steps:
      - {estimator: sklearn.preprocessing.StandardScaler}
      - estimator: sklearn.ensemble.BaggingClassifier
        params: {n_estimators: 4, estimator: {estimator: sklearn.naive_bayes.GaussianNB}}
calibration:
  calibrators:
    none: {method: none}
    temperature: {method: temperature}
    crossed: {method: temperature, learn_on: [out_of_fold], models: [logistic]}
  folds: {count: 4}
  keep: temperature
"""
PREDICTIONS_EXPERIMENT = """\
title: What two models said
data:
  source: predictions
  file: data/said.csv
  outcome: malignant
  probability: [careful, bold]
  part: part
split: {method: column, values: [calibration, test]}
calibration: {calibrators: [none, platt]}
"""
NUMERIC = ["texture", "smoothness", "symmetry"]
WORDS = ["radius", "concavity, seen"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with both experiments, built."""
    made = Project.new(tmp_path_factory.mktemp("own") / "project", experiments=[])
    own_data.write_csv(made.root / "data/biopsies.csv", own_data.biopsies())
    own_data.write_csv(made.root / "data/said.csv", own_data.predictions(), sep=";", decimal=",")
    for name, text in (("clinics", TABLE_EXPERIMENT), ("said", PREDICTIONS_EXPERIMENT)):
        (made.root / f"config/experiments/{name}.yaml").write_text(text, encoding="utf-8")
    made.snakemake("clinics", "said", "--cores", "2").checked()
    return made


def metrics(project: Project, experiment: str) -> dict[str, Any]:
    return json.loads(project.read(f"results/{experiment}/metrics.json"))


def columns(project: Project, path: str) -> Columns:
    return read_columns(project.root / "results" / path)


def record(project: Project, path: str) -> dict[str, Any]:
    return json.loads(project.read(f"results/{path}/record.json"))


def ece(outcome: np.ndarray, probability: np.ndarray) -> float:
    """Ten bins of equal width, each by itself, as slowly as it is said."""
    total = 0.0
    for k in range(10):
        last = k == 9
        inside = (probability >= k / 10) & (
            (probability <= 1) if last else (probability < (k + 1) / 10)
        )
        total += abs(probability[inside].sum() - outcome[inside].sum())
    return total / len(outcome)


def check(found: dict[str, Any], path: str, outcome: np.ndarray, probability: np.ndarray) -> None:
    """The audit's numbers beside scikit-learn's."""
    expected = {
        "rows": len(outcome),
        "positives": outcome.sum(),
        "brier": brier_score_loss(outcome, probability),
        "log_loss": log_loss(outcome, probability),
        "roc_auc": roc_auc_score(outcome, probability),
        "tenths/ece": ece(outcome, probability),
    }
    measured = {name: found[f"{path}/{name}"] for name in expected}
    assert measured == pytest.approx(expected, rel=1e-6)


class Direct:
    """The same audit of the table in plain scikit-learn, on the parts the split gave."""

    def __init__(self, project: Project) -> None:
        table = pd.read_csv(project.root / "data/biopsies.csv")
        parts = columns(project, "clinics/split_rows/parts.parquet")
        self.rows = table.iloc[np.asarray(parts["row"])].reset_index(drop=True)
        self.part = parts["part"].values()  # type: ignore[union-attr]
        self.outcome = (self.rows["finding"] == "malignant").to_numpy().astype(int)
        self.train = self.part == "train"

    def fit(self, estimator: Any) -> np.ndarray:
        """Log odds of every row by a model learned on the training rows."""
        prepare = make_column_transformer(
            (SimpleImputer(strategy="median"), NUMERIC), (OneHotEncoder(), WORDS)
        )
        # The engine sees a category that is missing as NaN, as pandas reads it.
        model = make_pipeline(prepare, StandardScaler(), estimator)
        model.fit(self.rows[self.train], self.outcome[self.train])
        both = model.predict_log_proba(self.rows)
        return both[:, 1] - both[:, 0]


@pytest.fixture(scope="module")
def direct(project: Project) -> Direct:
    return Direct(project)


def temperature(outcome: np.ndarray, z: np.ndarray) -> float:
    def loss(t: float) -> float:
        return float(np.mean(np.logaddexp(0.0, np.where(outcome == 1, -z, z) / t)))

    return minimize_scalar(loss, bounds=(0.05, 20), method="bounded", options={"xatol": 1e-10}).x


def test_what_was_read_is_said(project: Project):
    made = record(project, "clinics/make_table")
    assert made["params"]["kinds/category"] == "radius, concavity, seen"
    assert made["params"]["kinds/number"] == "texture, smoothness, symmetry"
    assert made["params"]["positive"] == "malignant"
    assert made["metrics"]["rows"] == 569
    assert "values are missing" in made["notes"][0]
    assert len(made["inputs"]["file"]) == 32
    assert "columns are separated by semicolons" in project.read("results/said/summary.txt")


def test_no_clinic_is_in_two_parts(direct: Direct):
    clinics = pd.Series(direct.part).groupby(direct.rows["clinic"]).nunique()
    assert clinics.max() == 1


def test_a_models_numbers_are_scikit_learns(project: Project, direct: Direct):
    found = metrics(project, "clinics")
    test = direct.part == "test"
    bagged = BaggingClassifier(GaussianNB(), n_estimators=4, random_state=0)
    for name, estimator in (("logistic", LogisticRegression()), ("bagged", bagged)):
        z = direct.fit(estimator)
        check(found, f"evaluate/{name}/none/test", direct.outcome[test], expit(z[test]))


def test_a_calibrator_learned_on_its_part_gives_scikit_learns_numbers(
    project: Project, direct: Direct
):
    found = metrics(project, "clinics")
    z = direct.fit(LogisticRegression())
    held, test = direct.part == "calibration", direct.part == "test"
    t = temperature(direct.outcome[held], z[held])
    assert found["calibrate/logistic/temperature/temperature"] == pytest.approx(t, rel=1e-4)
    path = "evaluate/logistic/temperature/test"
    learned = found["calibrate/logistic/temperature/temperature"]
    check(found, path, direct.outcome[test], expit(z[test] / learned))


def test_a_calibrator_out_of_fold_learns_from_folds_that_keep_clinics_together(
    project: Project, direct: Direct
):
    scores = columns(project, "clinics/score_out_of_fold/logistic/scores.parquet")
    rows = np.asarray(columns(project, "clinics/split_rows/parts.parquet")["row"])
    assert np.asarray(scores["row"]).tolist() == rows[direct.train].tolist()
    assert not np.asarray(scores["fitted"]).any()
    t = temperature(np.asarray(scores["outcome"]), np.asarray(scores["logit"]))
    found = metrics(project, "clinics")
    assert found["calibrate/logistic/crossed/temperature"] == pytest.approx(t, rel=1e-4)
    assert (
        record(project, "clinics/score_out_of_fold/logistic")["params"]["folds/method"] == "group"
    )


def test_predictions_in_a_file_are_measured_as_they_stand(project: Project):
    found = metrics(project, "said")
    table = own_data.predictions()
    test = table[table["part"] == "test"]
    for name in ("careful", "bold"):
        outcome, said = test["malignant"].to_numpy(), test[name].to_numpy()
        check(found, f"evaluate/{name}/none/test", outcome, said)
        assert f"evaluate/{name}/platt/test/brier" in found


@pytest.mark.parametrize("model", ["logistic", "bagged"])
def test_the_model_in_mlflow_says_of_the_persons_rows_what_the_audit_measured(
    project: Project, model: str, monkeypatch: pytest.MonkeyPatch
):
    uri = f"sqlite:///{project.root / 'mlflow.db'}"
    path = f"results/clinics/save_model/{model}/temperature/record.json"
    run_id = json.loads(project.read("results/clinics/tracked.json"))["records"][path]["run_id"]
    client = MlflowClient(uri)
    (logged,) = client.get_run(run_id).outputs.model_outputs
    # Through the environment, which is put back: other tests have stores of their own.
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    address = f"models:/{logged.model_id}"
    loaded = mlflow.sklearn.load_model(address)
    scores = columns(project, f"clinics/calibrate/{model}/temperature/scores.parquet")
    rows = pd.read_csv(project.root / "data/biopsies.csv").iloc[np.asarray(scores["row"])]
    said = loaded.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(said, scores["probability"], rtol=0, atol=1e-12)
    about = mlflow.models.get_model_info(address)
    assert about.signature is not None
    assert about.signature.inputs.input_names() == [*NUMERIC, *WORDS]
    assert about.saved_input_example_info is not None


def test_another_content_of_the_file_reruns_what_lies_behind_it_and_nothing_else(project: Project):
    assert project.plan("clinics", "said").pending == set()
    path = "data/said.csv"
    with project.edited(path, lambda text: text.replace(";calibration;", ";test;", 1)):
        plan = project.plan("clinics", "said")
    assert "said/make_table" in plan.pending
    assert {name.split("/")[0] for name in plan.pending} == {"said"}


def test_a_file_that_is_touched_reruns_nothing(project: Project):
    Path(project.root / "data/biopsies.csv").touch()
    assert project.plan("clinics").pending == set()


def test_a_gate_compares_with_an_earlier_build_and_none_is_measured_unasked(tmp_path: Path) -> None:
    project = Project.new(tmp_path / "project", experiments=[])
    file = project.root / "config" / "experiments" / "again.yaml"
    path = "sklearn.linear_model.LogisticRegression"
    model = f"{{estimator: {path}, standardise: true, params: {{class_weight: {{0: 1, 1: 3}}}}}}"
    file.write_text(
        "data: {source: biopsies}\n"
        "split: {method: stratified, parts: {test: 0.3, calibration: 0.3}, rest: train}\n"
        f"models: {{logistic: {model}}}\n"
        "calibration: {calibrators: [platt]}\n",
        encoding="utf-8",
    )
    metrics = project.root / "results" / "again" / "metrics.json"
    project.snakemake("results/again/metrics.json").checked()
    assert "evaluate/logistic/none/test/brier" in json.loads(metrics.read_text())
    (project.root / "kept.json").write_bytes(metrics.read_bytes())
    with file.open("a", encoding="utf-8") as text:
        text.write("gate: {auc_drop: {against: kept.json}}\n")
    project.snakemake("results/again/gate.json").checked()
    gate = json.loads((project.root / "results" / "again" / "gate.json").read_text())
    assert [check["measured"] for check in gate["checks"]] == [0.0, 0.0]
