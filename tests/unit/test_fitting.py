"""The stage `fit_model`: one estimator learned on its parts, and its score of every row."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.models import Model
from kalibre.fitting import fit_model
from kalibre.logits import expit
from kalibre.records import manifest

ROWS = 120
DRAWS = np.random.default_rng(11)
X = DRAWS.normal(size=(ROWS, 3)) * [1.0, 10.0, 0.1]
OUTCOME = (X[:, 0] + DRAWS.normal(size=ROWS) > 0).astype(np.int8)
FEATURES = {f"x{i}": X[:, i].copy() for i in range(3)}
ROLES = {"outcome": OUTCOME}
ORDER = DRAWS.permutation(ROWS)
PART = Categories.of(["train"] * 80 + ["calibration"] * 20 + ["test"] * 20)
PARTS = {"row": ORDER, "part": PART}
TRAIN, TEST = ORDER[:80], ORDER[100:]

BAYES = "sklearn.naive_bayes.GaussianNB"
LOGISTIC = "sklearn.linear_model.LogisticRegression"


def fitted(
    estimator: str = BAYES,
    *,
    features: Any = FEATURES,
    roles: Any = ROLES,
    parts: Any = PARTS,
    preparation: Any = (),
    **settings: Any,
):
    """The stage's result for a model written as in an experiment file."""
    model = plain(Model.model_validate({"estimator": estimator, **settings}))
    columns = ["x0", "x1", "x2"]
    return fit_model(
        features, roles, parts, model=model, columns=columns, preparation=list(preparation)
    )


# ---- scores


def test_every_row_of_the_split_is_scored_in_the_splits_order():
    scores = fitted().scores
    assert scores.row.tolist() == ORDER.tolist()
    assert scores.part.values().tolist() == PART.values().tolist()
    assert scores.outcome.tolist() == OUTCOME[ORDER].tolist()


def test_probabilities_are_those_of_the_estimator_learned_on_its_parts():
    expected = GaussianNB().fit(X[TRAIN], OUTCOME[TRAIN]).predict_proba(X[ORDER])[:, 1]
    np.testing.assert_allclose(fitted().scores.probability, expected, rtol=1e-12)


def test_rows_of_other_parts_teach_the_model_nothing():
    changed = {name: column.copy() for name, column in FEATURES.items()}
    for column in changed.values():
        column[TEST] = 1e6
    before, after = fitted(), fitted(features=changed)
    np.testing.assert_array_equal(before.estimator.theta_, after.estimator.theta_)


def test_the_rows_learned_from_are_marked_and_said():
    result = fitted(learn_on=["train", "calibration"])
    assert result.scores.fitted.tolist() == [True] * 100 + [False] * 20
    assert result.result.rows["learned"] == manifest(ORDER[:100])
    assert result.result.metrics["learned_rows"] == 100


def test_the_logit_does_not_saturate_where_the_probability_does():
    far_apart = {**FEATURES, "x0": FEATURES["x0"] + np.where(OUTCOME == 1, 500.0, -500.0)}
    scores = fitted(features=far_apart).scores
    assert ((scores.probability == 0) | (scores.probability == 1)).any()
    assert np.isfinite(scores.logit).all()


def test_the_logit_is_that_of_the_probability():
    scores = fitted(LOGISTIC).scores
    np.testing.assert_allclose(expit(scores.logit), scores.probability, rtol=1e-12)
    assert scores.uncalibrated_logit.tolist() == scores.logit.tolist()


def test_an_estimator_without_log_probabilities_is_scored_by_its_probabilities():
    scores = fitted("kalibre.models.linear.GradientDescentLogistic").scores
    np.testing.assert_allclose(expit(scores.logit), scores.probability, rtol=1e-12)


def test_an_estimator_without_probabilities_gives_its_decision_function_as_the_logit():
    result = fitted("sklearn.linear_model.RidgeClassifier")
    model = RidgeClassifier(random_state=0).fit(X[TRAIN], OUTCOME[TRAIN])
    np.testing.assert_allclose(result.scores.logit, model.decision_function(X[ORDER]), rtol=1e-9)
    assert any("decision function" in note for note in result.result.notes)


# ---- settings


def test_columns_are_the_models_own_or_the_datas():
    assert fitted().estimator.n_features_in_ == 3
    model = fitted(columns=["x2", "x0"]).estimator
    assert model.feature_names_in_.tolist() == ["x2", "x0"]


def test_standardising_learns_from_the_models_own_rows():
    scaler, model = fitted(LOGISTIC, standardise=True).estimator
    scaled = StandardScaler().fit_transform(X[TRAIN])
    expected = LogisticRegression(random_state=0).fit(scaled, OUTCOME[TRAIN])
    np.testing.assert_allclose(scaler.mean_, X[TRAIN].mean(axis=0))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


def test_weights_reach_the_estimator():
    weight = np.linspace(0.5, 3, ROWS)
    result = fitted(roles={**ROLES, "weight": weight})
    expected = GaussianNB().fit(X[TRAIN], OUTCOME[TRAIN], sample_weight=weight[TRAIN])
    np.testing.assert_allclose(result.estimator.theta_, expected.theta_, rtol=1e-12)
    assert result.scores.weight is not None
    assert result.scores.weight.tolist() == weight[ORDER].tolist()


def test_weights_reach_the_estimator_behind_a_scaler():
    weight = np.where(OUTCOME == 1, 5.0, 1.0)
    plainly, weighted = (
        fitted(LOGISTIC, standardise=True, roles=roles)
        for roles in (ROLES, {**ROLES, "weight": weight})
    )
    assert weighted.scores.probability.mean() > plainly.scores.probability.mean() + 0.1


def test_the_record_says_the_estimator_with_its_own_defaults():
    params = fitted(LOGISTIC, params={"C": 0.5}).result.params
    assert params["estimator"] == LOGISTIC
    assert params["params"]["C"] == 0.5
    assert params["params"]["max_iter"] == 100


def test_behind_a_scaler_the_record_still_says_the_estimators_parameters():
    params = fitted(LOGISTIC, params={"C": 0.5}, standardise=True).result.params
    assert params["params"]["C"] == 0.5


# ---- what cannot be learned


def test_a_missing_column_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"no column 'x_1'; did you mean 'x1'\?"):
        fitted(columns=["x_1"])


def test_one_class_is_refused_with_the_number_of_rows():
    with pytest.raises(InputError, match="the 80 rows to learn from have one class only"):
        fitted(roles={"outcome": np.zeros(ROWS, dtype=np.int8)})


def test_a_part_without_rows_is_refused():
    with pytest.raises(InputError, match="the 0 rows to learn from"):
        fitted(learn_on=["validation"])


def test_an_estimator_that_refuses_the_data_is_heard():
    with_gap = {**FEATURES, "x1": np.where(np.arange(ROWS) == TRAIN[0], np.nan, FEATURES["x1"])}
    with pytest.raises(InputError, match=r"the estimator refuses the data: .*NaN"):
        fitted(features=with_gap)


@pytest.mark.parametrize(
    "estimator", ["sklearn.linear_model.LinearRegression", "sklearn.linear_model.Perceptronn"]
)
def test_what_gives_no_score_of_a_class_is_refused(estimator: str):
    with pytest.raises(InputError, match="estimator"):
        fitted(estimator)


# ---- a person's own models and columns

WORDS = Categories.of(["red", "green", "blue"]).take(np.arange(ROWS) % 3)
MIXED = {**FEATURES, "colour": WORDS}
ONE_HOT = {"step": "sklearn.preprocessing.OneHotEncoder", "columns": "categorical"}


def own(**settings: Any):
    """A model on a table with a category, all of whose columns are used."""
    estimator, columns = settings.pop("estimator", None), settings.pop("columns", None)
    preparation = settings.pop("preparation", [])
    roles = settings.pop("roles", ROLES)
    chosen = {"columns": columns} if columns else {}
    path = {"estimator": estimator} if estimator else {}
    model = plain(Model.model_validate({**path, **chosen, **settings}))
    return fit_model(MIXED, roles, PARTS, model=model, columns=[], preparation=preparation)


@pytest.mark.parametrize(
    ("columns", "seen"),
    [
        ("numeric", ["x0", "x1", "x2"]),
        ("all", ["x0", "x1", "x2", "colour_blue", "colour_green", "colour_red"]),
        ("categorical", ["colour_blue", "colour_green", "colour_red"]),
    ],
)
def test_columns_may_be_named_by_their_kind(columns: str, seen: list[str]):
    result = own(estimator=LOGISTIC, columns=columns, preparation=[ONE_HOT])
    assert result.estimator[-1].feature_names_in_.tolist() == seen


def test_steps_are_a_pipeline_of_scikit_learns():
    steps = [{"estimator": "sklearn.preprocessing.StandardScaler"}, {"estimator": LOGISTIC}]
    result = own(steps=steps, columns=["x0", "x1", "x2"])
    frame = X[ORDER]
    model = make_pipeline(StandardScaler(), LogisticRegression(random_state=0))
    expected = model.fit(frame[:80], OUTCOME[ORDER[:80]]).predict_proba(frame)[:, 1]
    np.testing.assert_allclose(result.scores.probability, expected, rtol=1e-12)
    assert result.result.params["params"]["max_iter"] == 100


def test_a_parameter_may_be_an_estimator_with_parameters_of_its_own():
    inner = {"estimator": "sklearn.tree.DecisionTreeClassifier", "params": {"max_depth": 2}}
    result = own(
        estimator="sklearn.ensemble.BaggingClassifier",
        params={"estimator": inner, "n_estimators": 5},
        columns="numeric",
    )
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=5, random_state=0
    )
    expected = model.fit(X[TRAIN], OUTCOME[TRAIN]).predict_proba(X[ORDER])[:, 1]
    np.testing.assert_allclose(result.scores.probability, expected, rtol=1e-12)


def test_weights_reach_the_last_step_however_deep_it_lies():
    weight = np.where(OUTCOME == 1, 5.0, 1.0)
    steps = [{"estimator": "sklearn.preprocessing.StandardScaler"}, {"estimator": LOGISTIC}]
    plainly, weighted = (
        own(steps=steps, preparation=[ONE_HOT], roles=roles)
        for roles in (ROLES, {**ROLES, "weight": weight})
    )
    assert weighted.scores.probability.mean() > plainly.scores.probability.mean() + 0.1


def test_an_estimator_that_takes_no_weights_learns_without_them_and_that_is_said():
    weight = np.linspace(0.5, 3, ROWS)
    neighbours = "sklearn.neighbors.KNeighborsClassifier"
    result = own(estimator=neighbours, columns="numeric", roles={**ROLES, "weight": weight})
    assert "KNeighborsClassifier takes no sample weights" in result.result.notes[0]
    assert result.scores.weight is not None


def test_groups_travel_with_the_scores():
    group = Categories.of([f"home {i // 4}" for i in range(ROWS)])
    result = own(estimator=BAYES, columns="numeric", roles={**ROLES, "group": group})
    assert result.scores.group is not None
    assert result.scores.group.values().tolist() == group.values()[ORDER].tolist()


def test_what_the_estimator_warns_of_is_said():
    result = own(estimator=LOGISTIC, columns="numeric", params={"max_iter": 1})
    assert "failed to converge" in result.result.notes[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": LOGISTIC}, r"categories: 'colour'; encode them in `preparation`"),
        (
            {"estimator": "sklearn.mixture.GaussianMixture"},
            r"estimator 'sklearn.mixture.GaussianMixture' is a density_estimator; a model is a",
        ),
        ({"estimator": "sklearn.neighbors.KNeighborsRegressor"}, "gives neither probabilities"),
        ({"estimator": LOGISTIC, "params": {"depth": 3}}, "takes no parameter 'depth'"),
        (
            {"estimator": LOGISTIC, "params": {"C": -1.0}},
            "refuses its parameters: The 'C' parameter",
        ),
        ({"estimator": "sklearn.nosuch.Model"}, "module 'sklearn.nosuch' cannot be imported"),
    ],
)
def test_what_cannot_be_a_model_of_these_rows_is_refused(settings: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        own(**settings)


def test_values_that_are_missing_are_named_with_their_columns():
    gaps = {**FEATURES, "x1": np.where(np.arange(ROWS) == TRAIN[0], np.nan, FEATURES["x1"])}
    with pytest.raises(InputError, match=r"values are missing in 'x1'; fill them in `preparation`"):
        fitted(LOGISTIC, features=gaps)


def test_a_category_that_only_later_rows_have_is_named():
    late = Categories.of(["red", "green", "late"]).take((np.arange(ROWS) % 2).astype(np.int64))
    late.codes[TEST[0]] = 2
    with pytest.raises(
        InputError, match=r"cannot change column 'colour': Found unknown categories"
    ):
        fitted(LOGISTIC, features={"colour": late}, columns=["colour"], preparation=[ONE_HOT])
