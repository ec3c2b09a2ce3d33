"""The gradient-descent model, against the plain-Python one of the lessons."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from kalibre.models.linear import GradientDescentLogistic
from reference import linear
from reference import subscribers as plain

# The same sums in the same order: what is left is the last bit of the exponential function.
SAME = {"rtol": 0, "atol": 1e-12}


@pytest.fixture(scope="module")
def parts():
    return plain.split(plain.generate())


def arrays(rows, columns=plain.MODEL_COLUMNS):
    X = np.array([[row[column] for column in columns] for row in rows], dtype=float)
    return X, np.array([row["suspicious"] for row in rows])


def small_table(seed, count=40, width=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, width)) * rng.uniform(0.1, 50, width) + rng.normal(size=width)
    y = (X[:, 0] + rng.normal(size=count) * X[:, 0].std() > X[:, 0].mean()).astype(int)
    y[:2] = 0, 1
    return X, y


# The lessons' numbers


@pytest.mark.parametrize("positive_weight", [1.0, 3.5])
def test_the_lessons_rows_give_the_plain_model(parts, positive_weight):
    expected = linear.fit(parts.train, plain.MODEL_COLUMNS, positive_weight=positive_weight)
    fitted = GradientDescentLogistic(positive_weight=positive_weight).fit(*arrays(parts.train))
    np.testing.assert_allclose(fitted.coef_, expected.coefficients, **SAME)
    assert fitted.intercept_ == pytest.approx(expected.intercept, abs=1e-12)
    np.testing.assert_allclose(
        fitted.predict_proba(arrays(parts.test)[0])[:, 1],
        [expected.probability(row) for row in parts.test],
        **SAME,
    )


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 60), st.floats(0.01, 1), st.floats(0.2, 5))
def test_rounds_step_and_weight_of_the_positive_rows_are_the_plain_models(
    seed, rounds, step, weight
):
    X, y = small_table(seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    coefficients, intercept = linear.descend(
        X.tolist(), y.tolist(), positive_weight=weight, rounds=rounds, step=step
    )
    fitted = GradientDescentLogistic(
        rounds=rounds, step=step, positive_weight=weight, standardise=False
    ).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, coefficients, **SAME)
    assert fitted.intercept_ == pytest.approx(intercept, abs=1e-12)


def test_many_rounds_reach_the_maximum_of_the_likelihood():
    X, y = small_table(1, count=200)
    unpenalised = LogisticRegression(C=np.inf, tol=1e-10).fit(StandardScaler().fit_transform(X), y)
    fitted = GradientDescentLogistic(rounds=20_000).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, unpenalised.coef_[0], atol=1e-5)


# Standardising


def test_columns_are_standardised_by_the_population_deviation_of_the_training_rows():
    X, y = small_table(2)
    fitted = GradientDescentLogistic().fit(X, y)
    np.testing.assert_allclose(fitted.mean_, X.mean(axis=0))
    np.testing.assert_allclose(fitted.scale_, X.std(axis=0, ddof=0))


def test_a_column_that_does_not_vary_counts_for_nothing():
    X, y = small_table(3)
    fitted = GradientDescentLogistic().fit(np.column_stack([X, np.full(len(X), 7.0)]), y)
    assert fitted.scale_[-1] == 1.0
    assert fitted.coef_[-1] == 0.0


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-100, 100))
def test_rescaling_a_column_moves_no_probability(seed, factor, shift):
    X, y = small_table(seed)
    first = GradientDescentLogistic(rounds=50).fit(X, y).predict_proba(X)
    moved = X * factor + shift
    second = GradientDescentLogistic(rounds=50).fit(moved, y).predict_proba(moved)
    np.testing.assert_allclose(first, second, atol=1e-7)


def test_without_standardising_the_columns_are_taken_as_they_are():
    X, y = small_table(4)
    fitted = GradientDescentLogistic(standardise=False, rounds=1).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, 0.5 * ((y - 0.5)[:, None] * X).mean(axis=0))
    assert (fitted.mean_.tolist(), fitted.scale_.tolist()) == ([0.0] * 3, [1.0] * 3)


# The order of summation


def test_sums_run_over_the_rows_from_first_to_last():
    X = np.array([[1.0], [1e16], [-1e16], [1.0]])
    fitted = GradientDescentLogistic(standardise=False, rounds=1, step=8.0).fit(X, [1, 1, 1, 0])
    # Errors are -1/2, -1/2, -1/2, +1/2: (-0.5 - 5e15) + 5e15 + 0.5, where the first 0.5 is lost.
    running = ((-0.5 * 1.0 + -0.5 * 1e16) + -0.5 * -1e16) + 0.5 * 1.0
    assert fitted.coef_[0] == -8.0 * running / 4


def test_the_order_of_the_rows_is_not_felt_on_standardised_columns(parts):
    X, y = arrays(parts.train)
    order = np.random.default_rng(0).permutation(len(y))
    first = GradientDescentLogistic().fit(X, y)
    second = GradientDescentLogistic().fit(X[order], y[order])
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-12)


def test_the_order_of_the_rows_decides_on_raw_columns(parts):
    X, y = arrays(parts.train, plain.BASE_COLUMNS)
    X_test, y_test = arrays(parts.test, plain.BASE_COLUMNS)
    accuracies = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        fitted = GradientDescentLogistic(standardise=False).fit(X[order], y[order])
        accuracies.append(fitted.score(X_test, y_test))
    assert max(accuracies) - min(accuracies) > 0.05


# Weights


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_whole_weights_are_repeated_rows(seed):
    X, y = small_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[:2] = 1
    weighted = GradientDescentLogistic(rounds=50).fit(X, y, sample_weight=weight)
    repeated = GradientDescentLogistic(rounds=50).fit(
        np.repeat(X, weight, axis=0), y.repeat(weight)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-10)


# What is predicted


def test_logits_are_clipped_as_in_the_lessons():
    fitted = GradientDescentLogistic().fit([[-1.0], [1.0]] * 5, [0, 1] * 5)
    assert fitted.decision_function([[1e9], [-1e9]]).tolist() == [30.0, -30.0]
    assert fitted.predict_proba([[1e9]])[0, 1] == 1 / (1 + math.exp(-30.0))


def test_a_probability_of_one_half_is_predicted_positive():
    fitted = GradientDescentLogistic().fit([[-1.0], [1.0]], ["no", "yes"])
    assert fitted.predict_proba([[0.0]])[0, 1] == 0.5
    assert fitted.predict([[0.0]]).tolist() == ["yes"]


def test_log_probabilities_keep_the_logit_where_probabilities_round():
    fitted = GradientDescentLogistic(clip=100.0).fit([[-1.0], [1.0]] * 5, [0, 1] * 5)
    far = [[50.0]]
    logs = fitted.predict_log_proba(far)
    assert fitted.predict_proba(far)[0, 1] == 1.0
    assert logs[0, 1] - logs[0, 0] == pytest.approx(fitted.decision_function(far)[0])
    assert fitted.decision_function(far)[0] > 40


# What is accepted


@pytest.mark.parametrize("standardise", [True, False])
def test_it_is_a_scikit_learn_estimator(standardise):
    check_estimator(GradientDescentLogistic(standardise=standardise), on_skip=None)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rounds": 0}, "rounds is 0; it must be a whole number from 1"),
        ({"rounds": 10.0}, r"rounds is 10\.0"),
        ({"step": 0}, "step is 0; it must be a finite number above 0"),
        ({"step": float("nan")}, "step is nan"),
        ({"step": float("inf")}, "step is inf"),
        ({"positive_weight": -1.0}, r"positive_weight is -1\.0"),
        ({"clip": 1000.0}, r"clip is 1000\.0; it must be above 0 and at most 700"),
        ({"clip": "30"}, "clip is '30'"),
    ],
)
def test_parameters_out_of_range_are_refused_with_their_value(params, message):
    with pytest.raises(ValueError, match=message):
        GradientDescentLogistic(**params).fit([[0.0], [1]], [0, 1])


def test_rows_of_one_class_are_refused():
    with pytest.raises(ValueError, match="all 2 rows are of one class"):
        GradientDescentLogistic().fit([[0.0], [1]], [1, 1])
