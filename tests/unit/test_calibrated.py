"""The model to use elsewhere: it says what the audit measured, and is loaded without unpickling."""

import functools
import os
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from kalibre.calibrated import CalibratedClassifier
from kalibre.calibrating import calibrate
from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.models import Model
from kalibre.fitting import fit_model
from kalibre.persistence import dump_model, load_model
from kalibre.saving import save_model

ROWS = 400
DRAWS = np.random.default_rng(8)
NUMBER = DRAWS.normal(size=ROWS)
TOWN = Categories(DRAWS.integers(0, 3, ROWS).astype(np.int32), ("Assen", "Delft", "Gouda"))
GAPS = np.where(DRAWS.random(ROWS) < 0.1, np.nan, DRAWS.normal(size=ROWS))
FEATURES = {
    "number": NUMBER,
    "gaps": GAPS,
    "town": TOWN,
}
OUTCOME = (NUMBER + TOWN.isin(["Delft"]) + DRAWS.normal(size=ROWS) > 0.5).astype(np.int8)
PART = Categories.of(["train"] * 240 + ["calibration"] * 80 + ["test"] * 80)
PARTS = {"row": DRAWS.permutation(ROWS), "part": PART}
RAW = pd.DataFrame(
    {
        "town": TOWN.values(),
        "unused": "x",
        "number": NUMBER,
        "gaps": GAPS,
    }
)
BOOSTED = {
    "estimator": "sklearn.ensemble.HistGradientBoostingClassifier",
    "params": {"max_iter": 20},
}
PREPARED = [
    {"step": "sklearn.impute.SimpleImputer", "columns": "numeric"},
    {"step": "sklearn.preprocessing.OneHotEncoder", "columns": "categorical"},
]
MODELS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "native categories": (BOOSTED, []),
    "prepared": ({"estimator": "sklearn.linear_model.LogisticRegression"}, PREPARED),
    "without probabilities": ({"estimator": "sklearn.svm.LinearSVC"}, PREPARED),
    "pipeline": (
        {
            "steps": [
                {"estimator": "sklearn.preprocessing.StandardScaler"},
                {
                    "estimator": "sklearn.ensemble.BaggingClassifier",
                    "params": {
                        "estimator": {"estimator": "sklearn.naive_bayes.GaussianNB"},
                        "n_estimators": 4,
                    },
                },
            ]
        },
        PREPARED,
    ),
    "numbers only": (
        {
            "estimator": "kalibre.models.tree.GiniTree",
            "columns": ["number"],
            "params": {"max_depth": 4},
        },
        [],
    ),
}
CHAINS = (["temperature"], ["platt", "isotonic"], ["beta"], [])


def saved(model: dict[str, Any], preparation: list[Any], methods: list[str]) -> Any:
    """The stages from the table to the saved model: the last scores, the classifier, its bytes."""
    settings = plain(Model.model_validate(model))
    fitted = fit_model(
        FEATURES, {"outcome": OUTCOME}, PARTS, model=settings, preparation=preparation, columns=[]
    )
    scores, chain = fitted.scores, []
    for method in methods:
        declared = [{"stages": ["calibrate", "evaluate"], "part": "calibration", "reason": "chain"}]
        scores, content, _ = calibrate(
            scores, method=method, params={}, learn_on="calibration", declared=declared
        )
        chain.append(content)
    result = save_model(
        dump_model(fitted.estimator),
        FEATURES,
        scores,
        model=settings,
        columns=[],
        calibrators=chain,
    )
    return scores, *result


@pytest.mark.parametrize("methods", CHAINS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_loaded_it_says_of_raw_rows_what_the_audit_measured(name: str, methods: list[str]):
    scores, _, content, result = saved(*MODELS[name], methods)
    probability = load_model(content).predict_proba(RAW)[:, 1]
    np.testing.assert_allclose(probability[scores.row], scores.probability, rtol=0, atol=1e-12)
    assert result.metrics["checked_rows"] == ROWS
    assert result.metrics["largest_difference"] <= 1e-12
    assert result.notes == ()


def test_it_is_a_classifier_that_is_fitted():
    classifier = saved(*MODELS["prepared"], ["temperature"])[1]
    assert is_classifier(classifier)
    check_is_fitted(classifier)
    assert classifier.classes_.tolist() == [0, 1]
    assert classifier.feature_names_in_.tolist() == ["number", "gaps", "town"]
    assert classifier.fit(RAW, OUTCOME) is classifier


def test_it_decides_at_a_half_and_its_probabilities_add_up():
    classifier = saved(*MODELS["prepared"], ["temperature"])[1]
    both = classifier.predict_proba(RAW)
    np.testing.assert_allclose(both.sum(axis=1), 1.0, rtol=1e-15)
    assert classifier.predict(RAW).tolist() == (both[:, 1] >= 0.5).astype(int).tolist()


def test_text_it_has_never_seen_is_no_error_for_a_model_that_takes_categories():
    classifier = saved(*MODELS["native categories"], [])[1]
    strange = classifier.predict_proba(RAW.assign(town="Zwolle"))
    missing = classifier.predict_proba(RAW.assign(town=None))
    np.testing.assert_array_equal(strange, missing)


def test_dates_are_taken_as_the_audit_took_them():
    classifier = CalibratedClassifier(_Days(), columns=["since"])
    dates = pd.DataFrame({"since": pd.to_datetime(["1970-01-01", "1970-01-11"])})
    assert classifier.predict_proba(dates)[:, 1].tolist() == [0.0, 0.1]


class _Days:
    """Says a hundredth of the number it is given."""

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        p = frame["since"].to_numpy() / 100.0
        return np.column_stack([1.0 - p, p])


def test_a_missing_column_is_named():
    classifier = saved(*MODELS["prepared"], [])[1]
    with pytest.raises(InputError, match="has no column 'number'; did you mean 'nummer'"):
        classifier.predict_proba(RAW.rename(columns={"number": "nummer"}))


def test_a_model_that_does_not_repeat_itself_is_said():
    scores, *_ = saved(*MODELS["prepared"], [])
    settings = plain(Model.model_validate(MODELS["prepared"][0]))
    fitted = fit_model(
        FEATURES, {"outcome": OUTCOME}, PARTS, model=settings, preparation=PREPARED, columns=[]
    )
    fitted.estimator.steps[-1][1].intercept_ += 0.1
    _, _, result = save_model(
        dump_model(fitted.estimator), FEATURES, scores, model=settings, columns=[], calibrators=[]
    )
    assert result.metrics["largest_difference"] > 1e-3
    assert "differ from the measured ones" in result.notes[0]


# ---- loading


def test_what_calls_a_function_of_nobodys_is_not_loaded():
    content = skops.io.dumps(functools.partial(os.system, "exit 1"))
    with pytest.raises(InputError, match=r"types of packages that nobody named: posix\.system"):
        load_model(content)


def test_a_package_that_the_experiment_names_is_trusted():
    content = skops.io.dumps({"path": functools.partial(os.getcwd)})
    assert "path" in load_model(content, also=["posix.something"])
