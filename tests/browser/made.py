"""Pages for tests: made in memory, their numbers measured by the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kalibre.calibrators.temperature import Temperature
from kalibre.columns import Categories, Columns
from kalibre.evaluation import evaluate
from kalibre.experiment.load import load_experiments
from kalibre.logits import expit, logit
from kalibre.metrics.reliability import ReliabilityTable
from kalibre.pages.material import Material
from kalibre.pages.page import Report, report
from kalibre.pages.static import chart_library
from kalibre.repeats.distribution import Numbers, add_difference
from kalibre.scores import Scores

ROOT = Path(__file__).parents[2]
BANDS = {"resamples": 50, "simulations": 50, "smooth_simulations": 0, "spread": [5, 10]}
"""Enough to be drawn; how good the numbers are is others' to test."""

library = cache(chart_library)


@dataclass(frozen=True)
class Made:
    """A page's material, and what its labs hold."""

    material: Material
    models: list[dict[str, Any]]
    scores: list[Columns]

    def report(self) -> Report:
        """The page."""
        return report(
            self.material,
            lab_models=self.models,
            lab_scores=self.scores,
            chart_library=library(),
        )


@cache
def settings(name: str) -> dict[str, Any]:
    """The settings of one of the lessons, all defaults filled in."""
    experiments = load_experiments(ROOT / "config/experiments", reserved=())
    whole = experiments[name].settings()
    whole["evaluation"]["statistics"] |= {
        key: value for key, value in BANDS.items() if key in whole["evaluation"]["statistics"]
    }
    return whole


def scores_of(
    outcome: np.ndarray, logits: np.ndarray, *, part: str, temperature: float = 1.0
) -> Scores:
    """Scores of rows that nothing was learned from."""
    rows = len(outcome)
    return Scores(
        row=np.arange(rows),
        part=Categories.constant(part, rows),
        outcome=outcome.astype(np.int8),
        probability=expit(logits / temperature),
        logit=logits / temperature,
        uncalibrated_logit=logits,
        fitted=np.zeros(rows, dtype=bool),
        calibrated=np.zeros(rows, dtype=bool),
    )


def evaluation_record(
    scores: Scores, model: str, calibrator: str, *, part: str, evaluation: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """What the rule `evaluate` leaves: the record, and the reliability table as its file has it."""
    made = evaluate(scores, on=[part], evaluation=evaluation, declared=[])
    found = record(
        "evaluate",
        {"model": model, "calibrator": calibrator},
        made.result.metrics,
        undefined=dict(made.result.undefined),
        notes=list(made.result.notes),
    )
    return found, [as_text(row) for row in made.tables["reliability"]]


def record(
    rule: str, subject: Mapping[str, str], metrics: Mapping[str, float], **parts: Any
) -> dict[str, Any]:
    """A record with what a page reads of it."""
    empty: dict[str, Any] = {"undefined": {}, "notes": [], "params": {}}
    return {"rule": rule, "subject": dict(subject), "metrics": dict(metrics)} | empty | parts


def reliability_rows(table: ReliabilityTable, *, part: str, rule: str) -> list[dict[str, str]]:
    """A reliability table as its file has it, without bands."""
    names = ("lower", "upper", "count", "mean_predicted", "observed_rate", "gap")
    return [
        {"part": part, "bins": rule, "bin": str(i)}
        | {name: str(getattr(table, name)[i]) for name in names}
        for i in range(len(table.count))
        if table.count[i]
    ]


def as_text(row: Mapping[str, Any]) -> dict[str, str]:
    """A row as a CSV file has it."""
    return {key: "" if value is None else str(value) for key, value in row.items()}


@cache
def trivia() -> Made:
    """The lesson of the ten answers."""
    whole = settings("trivia")
    records, tables, models, columns = [], {}, [], []
    for model, given in sorted(whole["data"]["inline"].items()):
        probability = np.array(given["probability"], dtype=float)
        outcome = np.array(given["outcome"])
        scores = scores_of(outcome, logit(probability), part="all")
        found, table = evaluation_record(
            scores, model, "none", part="all", evaluation=whole["evaluation"]
        )
        records.append(found)
        tables["evaluate", model, "none"] = table
        models.append({"kind": "answers", "model": model, "calibrator": "none", "learned_on": None})
        columns.append({"probability": probability, "outcome": outcome.astype(np.int8)})
    return Made(Material("trivia", whole, records, tables), models, columns)


@cache
def biopsy() -> Made:
    """Naive Bayes and a logistic model on biopsies, each with a temperature."""
    whole = settings("biopsy")
    features, label = load_breast_cancer(return_X_y=True)
    features, outcome = features[:, :10], 1 - label
    rows = np.random.default_rng(0).permutation(len(outcome))
    validation, calibration, train = rows[:171], rows[171:303], rows[303:]
    records, tables, models, columns = [], {}, [], []
    for model, estimator in (
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ("naive_bayes", GaussianNB()),
    ):
        logs = estimator.fit(features[train], outcome[train]).predict_log_proba(features)
        z = logs[:, 1] - logs[:, 0]
        learned = Temperature().fit(z[calibration], outcome[calibration])
        temperature = learned.parameters()["temperature"]
        subject = {"model": model, "calibrator": "temperature"}
        numbers = {"temperature": temperature, "learned_rows": 132}
        records.append(record("calibrate", subject, numbers))
        for calibrator, value in (("none", 1.0), ("temperature", temperature)):
            scores = scores_of(
                outcome[validation], z[validation], part="validation", temperature=value
            )
            found, table = evaluation_record(
                scores, model, calibrator, part="validation", evaluation=whole["evaluation"]
            )
            records.append(found)
            tables["evaluate", model, calibrator] = table
        models.append(
            {
                "kind": "temperature",
                "model": model,
                "calibrator": "temperature",
                "learned_on": "calibration",
            }
        )
        columns.append(
            {
                "logit": z[validation],
                "outcome": outcome[validation].astype(np.int8),
                "part": Categories.constant("validation", 171),
            }
        )
    return Made(Material("biopsy", whole, records, tables), models, columns)


@cache
def everything() -> Material:
    """Material that has every stage: a ladder, decisions, a study, differences, a sheet and a gate."""
    made = biopsy().material
    records, tables = list(made.records), dict(made.tables)
    for rule, subject, table, more in (*_ladder(), _decisions(), _differences(), _sheet()):
        records.append(record(rule, subject, more.pop("metrics", {}), **more))
        tables[(rule, *subject.values())] = [as_text(row) for row in table]
    study, splits = _study()
    return Material(
        "everything",
        made.settings,
        [*records, study],
        tables,
        {"naive_bayes": splits},
        gate=_GATE,
        figures=_FIGURES,
    )


_GATE = {
    "passed": False,
    "failed": 1,
    "checks": [
        {
            "limit": "ece_excess",
            "where": "evaluate/naive_bayes/none/validation/tenths/ece_excess",
            "measured": 0.03,
            "bound": 0.02,
            "passed": False,
            "reason": "",
        }
    ],
}
_FIGURES = [
    {"what": "A figure.", "printed": "0.100", "measured": 0.0874, "status": "open"},
    {"what": "Another.", "printed": "171", "measured": 171, "status": "match"},
]


def _ladder() -> list[tuple[str, dict[str, str], list[dict[str, Any]], dict[str, Any]]]:
    rungs = ("0_outside", "1_outside", "2_outside", "only_2_outside")
    stages = []
    leaks = []
    for place, rung in enumerate(rungs):
        folds = [
            {
                "rung": rung,
                "fold": fold,
                "learned_rows": 300,
                "measured_rows": 100,
                "accuracy": 0.75 + 0.01 * place + 0.02 * fold,
                "roc_auc": 0.7 + 0.02 * place + 0.01 * fold,
                "brier": 0.2 - 0.01 * place,
                "ece": 0.1,
                "log_loss": None,
            }
            for fold in (1, 2)
        ]
        stages.append(("climb_ladder", {"model": "naive_bayes", "rung": rung}, folds, {}))
        leaks += [_leak(rung, place, metric) for metric in ("accuracy", "roc_auc")]
    held_out = {
        "metrics": {"held_out/accuracy": 0.76, "held_out/roc_auc": 0.71},
        "params": {"steps": "fill, target_code"},
    }
    subject = {"model": "naive_bayes"}
    metrics = {"2_outside/accuracy/leak": 0.02, "2_outside/accuracy/distance": 0.04}
    return [
        *stages,
        ("measure_held_out", subject, [], held_out),
        ("measure_leak", subject, leaks, {"metrics": metrics}),
    ]


def _leak(rung: str, place: int, metric: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "rung": rung,
        "metric": metric,
        "folds": 2,
        "mean": 0.78 + 0.01 * place,
        "spread": 0.02,
        "distance": 0.02,
    }
    if place == 0:
        return row
    leak = 0.01 * place
    return row | {
        "leak": leak,
        "leak_naive_low": leak - 0.02,
        "leak_naive_high": leak + 0.02,
        "leak_corrected_low": leak - 0.05,
        "leak_corrected_high": leak + 0.05,
    }


def _decisions() -> tuple[str, dict[str, str], list[dict[str, Any]], dict[str, Any]]:
    rows = []
    for name, before, after in (("scaling", 0.6, 0.8), ("selection", 0.8, 0.75)):
        row: dict[str, Any] = {"name": name, "title": f"feature {name}"}
        cells = {"before": before, "after": after, "contribution": after - before}
        for cell, value in cells.items():
            row |= {
                f"{cell}_label": f"{cell} it",
                f"{cell}_printed": round(value, 2),
                f"{cell}_measured": value,
                f"{cell}_difference": 0.0,
                f"{cell}_status": "match",
            }
        if name == "scaling":
            row |= {"before_lowest": 0.4, "before_highest": 0.7}
        rows.append(row)
    return "tabulate_comparisons", {}, rows, {}


def _differences() -> tuple[str, dict[str, str], list[dict[str, Any]], dict[str, Any]]:
    rows = [
        {
            "part": "validation",
            "first": first,
            "second": second,
            "metric": metric,
            "difference": -0.01,
            "lower": -0.02,
            "upper": -0.001,
        }
        for first, second in (
            ("naive_bayes", "naive_bayes.temperature"),
            ("logistic", "naive_bayes"),
        )
        for metric in ("brier", "log_loss")
    ]
    return "compare_scores", {}, rows, {}


def _sheet() -> tuple[str, dict[str, str], list[dict[str, Any]], dict[str, Any]]:
    row = {
        "type": "L1.1",
        "name": "No test set",
        "status": "tested",
        "finding": "none of the rows measured was learned from",
        "declared": "",
    }
    return "fill_leak_sheet", {}, [row], {}


def _study() -> tuple[dict[str, Any], Columns]:
    """Thirty splits on which two calibrators, learned on few rows too, lower the Brier score of most."""
    random = np.random.default_rng(1)
    before = random.uniform(0.07, 0.1, 30)
    after = before - random.uniform(-0.002, 0.02, 30)
    splits: Columns = {"seed": np.arange(30), "parts/calibration/rows": np.full(30, 133.0)}
    briers = {
        "none": before,
        "temperature": after,
        "beta": after + 0.003 * random.random(30),
        "temperature/rows_20": before + random.uniform(-0.001, 0.01, 30),
        "beta/rows_20": before + random.uniform(0.0, 0.02, 30),
    }
    for calibrator, brier in briers.items():
        path = f"{calibrator}/validation"
        splits |= {
            f"{path}/brier": brier,
            f"{path}/tenths/ece": brier + 0.01,
            f"{path}/mean_confidence": random.uniform(0.9, 0.99, 30),
            f"{path}/accuracy": random.uniform(0.88, 0.95, 30),
        }
    numbers = Numbers()
    for calibrator, brier in briers.items():
        others = ("none",) if "/" in calibrator else ("none", "temperature")
        for other in others:
            name = f"{calibrator}/validation/brier/minus_{other}"
            if other != calibrator:
                add_difference(numbers, name, brier, briers[other], ratio=0.4, level=0.95)
    made = record(
        "join_repeats",
        {"model": "naive_bayes"},
        {"splits": 30, **numbers.metrics},
        notes=["on 2 of 30 splits: a remark"],
        params={
            "level": 0.95,
            "calibrators/temperature/learn_on": "calibration",
            "calibrators/beta/learn_on": "calibration",
        },
    )
    return made, splits
