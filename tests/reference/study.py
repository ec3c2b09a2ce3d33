"""Does one temperature mend naive Bayes on every split, or did one split flatter it?

The loop of the lesson on biopsies (seed 004), which repeats its experiment on random splits. It
makes the same calls as the lesson in the same order, wasteful ones too, so that it can stand on
the other side of a benchmark.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SPLITS = 50
FIRST_SEED = 0
MEASUREMENTS = 10
VALIDATION_SHARE = 0.3
CALIBRATION_SHARE = 1 / 3
TEMPERATURE_LOW = 0.05
TEMPERATURE_HIGH = 20


class SplitResult(NamedTuple):
    """What one split measures of one model, on its validation rows."""

    declared: float
    accuracy: float
    brier_raw: float
    brier_temperature: float
    temperature: float
    decisions_kept: bool


class Biopsies(NamedTuple):
    """The mean measurements of the biopsies, and 1 where one is malignant."""

    measurements: np.ndarray
    outcomes: np.ndarray


class Cut(NamedTuple):
    """Row positions of one split."""

    train: np.ndarray
    calibration: np.ndarray
    validation: np.ndarray


def load_biopsies() -> Biopsies:
    """Return the breast-cancer data with its ten mean columns and malignant as positive."""
    measurements, benign = load_breast_cancer(return_X_y=True)
    return Biopsies(measurements[:, :MEASUREMENTS], 1 - benign)


def make_models() -> dict[str, Any]:
    """Return the study's two models, not yet fitted."""
    return {
        "naive_bayes": GaussianNB(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    }


def run_study(splits: int = SPLITS, first_seed: int = FIRST_SEED) -> dict[str, np.ndarray]:
    """Return, for each model, an array of one row a split and one column a `SplitResult` field."""
    biopsies = load_biopsies()
    seeds = range(first_seed, first_seed + splits)
    return {
        name: np.array([measure_split(model, biopsies, seed) for seed in seeds])
        for name, model in make_models().items()
    }


def cut(outcomes: np.ndarray, seed: int) -> Cut:
    """Return one stratified split: the validation rows first, then the calibration rows."""
    rest, validation = train_test_split(
        np.arange(len(outcomes)), test_size=VALIDATION_SHARE, stratify=outcomes, random_state=seed
    )
    train, calibration = train_test_split(
        rest, test_size=CALIBRATION_SHARE, stratify=outcomes[rest], random_state=seed
    )
    return Cut(train, calibration, validation)


def measure_split(model: Any, biopsies: Biopsies, seed: int) -> SplitResult:
    """Return what a model does on one split, before and after its temperature."""
    measurements, outcomes = biopsies
    rows = cut(outcomes, seed)
    fitted = model.fit(measurements[rows.train], outcomes[rows.train])
    calibration_scores = _log_odds(fitted, measurements[rows.calibration])
    scores = _log_odds(fitted, measurements[rows.validation])
    truth = outcomes[rows.validation]
    temperature = _fit_temperature(calibration_scores, outcomes[rows.calibration])
    raw, tempered = expit(scores), expit(scores / temperature)
    return SplitResult(
        declared=np.maximum(raw, 1 - raw).mean(),
        accuracy=((raw >= 0.5) == truth).mean(),
        brier_raw=brier_score_loss(truth, raw),
        brier_temperature=brier_score_loss(truth, tempered),
        temperature=temperature,
        decisions_kept=((raw >= 0.5) == (tempered >= 0.5)).all(),
    )


def _log_odds(model: Any, measurements: np.ndarray) -> np.ndarray:
    logs = model.predict_log_proba(measurements)
    return logs[:, 1] - logs[:, 0]


def _fit_temperature(scores: np.ndarray, outcomes: np.ndarray) -> float:
    def log_loss(temperature: float) -> float:
        return np.mean(
            np.logaddexp(0, -scores / temperature) * outcomes
            + np.logaddexp(0, scores / temperature) * (1 - outcomes)
        )

    bounds = (TEMPERATURE_LOW, TEMPERATURE_HIGH)
    return minimize_scalar(log_loss, bounds=bounds, method="bounded").x
