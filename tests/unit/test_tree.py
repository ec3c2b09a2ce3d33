"""The tree, against the plain-Python recursion of the lessons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from kalibre.models.tree import GiniTree, best_root_gain, decile_thresholds
from reference import subscribers as plain
from reference import trees

ATTRIBUTES = ("feature_", "threshold_", "left_", "right_", "probability_", "rows_")


def random_table(seed):
    """A table with ties, constant and binary columns, continuous ones, and duplicated rows."""
    rng = np.random.default_rng(seed)
    count, width = int(rng.integers(2, 150)), int(rng.integers(1, 6))
    kinds = (
        lambda: rng.integers(0, rng.integers(1, 30), count),
        lambda: rng.normal(size=count).round(int(rng.integers(0, 3))),
        lambda: rng.normal(size=count),
    )
    X = np.column_stack([kinds[rng.integers(0, 3)]() for _ in range(width)]).astype(float)
    noise = rng.normal(size=count) * rng.choice([0.0, 1.0, 10.0])
    y = (X[:, 0] + noise > np.median(X[:, 0])).astype(int)
    if rng.random() < 0.5:
        again = rng.integers(0, count, count)
        X, y = X[again], y[again]
    if rng.random() < 0.3:
        X = np.column_stack([X, X[:, ::-1]])
    return X, y, int(rng.integers(0, 11)), int(rng.integers(1, 7))


def plain_tree(X, y, depth, min_leaf):
    columns = [str(column) for column in range(X.shape[1])]
    rows = trees.as_rows(columns, X.tolist(), y.tolist())
    return trees.grow(rows, columns, depth, min_leaf=min_leaf)


def assert_same(tree, expected, node=0):
    """Column, threshold and leaf probability are equal, not merely close."""
    if "probability" in expected:
        assert tree.feature_[node] == tree.left_[node] == tree.right_[node] == -1
        assert tree.probability_[node] == expected["probability"]
        return
    assert str(tree.feature_[node]) == expected["column"]
    assert tree.threshold_[node] == expected["threshold"]
    assert_same(tree, expected["below"], tree.left_[node])
    assert_same(tree, expected["others"], tree.right_[node])


def lesson_arrays(rows, columns):
    X = np.array([[row[column] for column in columns] for row in rows], dtype=float)
    return X, np.array([row["suspicious"] for row in rows])


# The same trees


@pytest.mark.parametrize("seed", range(400))
def test_random_tables_grow_the_plain_tree(seed):
    X, y, depth, min_leaf = random_table(seed)
    if y.min() == y.max():
        y[0] = 1 - y[0]
    tree = GiniTree(max_depth=depth, min_leaf=min_leaf).fit(X, y)
    assert_same(tree, plain_tree(X, y, depth, min_leaf))


@pytest.mark.parametrize("depth", [6, 8])
@pytest.mark.parametrize("seed", [plain.SEED, 1])
def test_the_lessons_rows_grow_the_plain_tree(depth, seed):
    rows = plain.split(plain.generate(seed), seed).train
    X, y = lesson_arrays(rows, plain.MODEL_COLUMNS)
    assert_same(GiniTree(max_depth=depth).fit(X, y), plain_tree(X, y, depth, 2))


def test_every_row_gets_the_plain_trees_probability():
    parts = plain.split(plain.generate())
    X, y = lesson_arrays(parts.train, plain.MODEL_COLUMNS)
    expected = trees.grow(parts.train, plain.MODEL_COLUMNS, 8)
    fitted = GiniTree().fit(X, y)
    for rows in (parts.train, parts.validation, parts.test):
        found = fitted.predict_proba(lesson_arrays(rows, plain.MODEL_COLUMNS)[0])[:, 1]
        assert found.tolist() == [trees.probability(expected, row) for row in rows]


def test_the_first_of_equal_columns_is_asked():
    column = np.array([0.0, 0, 1, 1])
    tree = GiniTree(max_depth=1, min_leaf=1).fit(np.column_stack([column, column]), [0, 0, 1, 1])
    assert tree.feature_[0] == 0


def test_the_first_of_equally_good_thresholds_is_taken():
    tree = GiniTree(max_depth=1, min_leaf=1).fit([[0.0], [1], [2], [3]], [1, 0, 0, 1])
    assert tree.threshold_[0] == 1.0


def test_a_split_that_gains_nothing_is_not_made():
    tree = GiniTree(min_leaf=1).fit([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert tree.feature_.tolist() == [-1]
    assert tree.probability_.tolist() == [0.5]


def test_no_side_of_a_split_has_fewer_rows_than_min_leaf():
    rng = np.random.default_rng(0)
    tree = GiniTree(max_depth=20, min_leaf=7).fit(
        rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    )
    assert tree.rows_.min() >= 7


def test_depth_nought_is_a_single_leaf():
    tree = GiniTree(max_depth=0).fit([[0.0], [1], [2], [3]], [0, 0, 1, 1])
    assert tree.probability_.tolist() == [0.5]


def test_nodes_are_numbered_level_by_level_from_left_to_right():
    X, y = lesson_arrays(plain.split(plain.generate()).train, plain.MODEL_COLUMNS)
    tree = GiniTree().fit(X, y)
    children = np.column_stack([tree.left_, tree.right_])[tree.feature_ >= 0].ravel()
    assert children.tolist() == list(range(1, len(tree.feature_)))


def test_each_leaf_has_the_share_of_its_training_rows():
    X, y = lesson_arrays(plain.split(plain.generate()).train, plain.MODEL_COLUMNS)
    tree = GiniTree().fit(X, y)
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        assert tree.probability_[node] == y[leaf == node].mean()
        assert tree.rows_[node] == np.count_nonzero(leaf == node)


# Weights


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000))
def test_whole_weights_are_repeated_rows(seed):
    X, y, depth, min_leaf = random_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[[0, 1]] = 1
    y[0], y[1] = 0, 1
    weighted = GiniTree(max_depth=depth, min_leaf=min_leaf).fit(X, y, sample_weight=weight)
    repeated = GiniTree(max_depth=depth, min_leaf=min_leaf).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match="at least one non-zero"):
        GiniTree().fit([[0.0], [1]], [0, 1], sample_weight=[0, 0])


# Laws


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_the_order_of_the_rows_changes_nothing(seed):
    X, y, depth, min_leaf = random_table(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    first = GiniTree(max_depth=depth, min_leaf=min_leaf).fit(X, y)
    second = clone(first).fit(X[order], y[order])
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_rescaling_a_column_moves_no_training_row(seed):
    X, y, depth, min_leaf = random_table(seed)
    first = GiniTree(max_depth=depth, min_leaf=min_leaf).fit(X, y)
    second = clone(first).fit(4 * X, y)
    np.testing.assert_array_equal(first.apply(X), second.apply(4 * X))


def test_a_share_of_one_half_is_predicted_negative():
    tree = GiniTree(max_depth=0).fit([[0.0], [1]], ["no", "yes"])
    assert tree.predict([[0.0]]).tolist() == ["no"]


# What is accepted


@pytest.mark.parametrize("params", [{}, {"max_depth": 2, "min_leaf": 5}])
def test_it_is_a_scikit_learn_estimator(params):
    check_estimator(GiniTree(**params), on_skip=None)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_depth": -1}, "max_depth is -1; it must be a whole number from 0"),
        ({"max_depth": 2.5}, r"max_depth is 2\.5"),
        ({"max_depth": None}, "max_depth is None"),
        ({"min_leaf": 0}, "min_leaf is 0; it must be a whole number from 1"),
        ({"min_leaf": True}, "min_leaf is True"),
    ],
)
def test_parameters_out_of_range_are_refused_with_their_value(params, message):
    with pytest.raises(ValueError, match=message):
        GiniTree(**params).fit([[0.0], [1]], [0, 1])


def test_one_class_alone_makes_a_leaf():
    tree = GiniTree().fit([[0.0], [1]], ["yes", "yes"])
    assert tree.predict([[5.0]]).tolist() == ["yes"]
    assert tree.predict_proba([[5.0]]).tolist() == [[1.0]]


# Thresholds and the gain of one split


@given(st.lists(st.integers(-20, 20), max_size=60))
def test_thresholds_are_those_of_the_plain_procedure(values):
    rows = [{"column": value} for value in values]
    assert decile_thresholds(values).tolist() == trees.candidate_thresholds(rows, "column")


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_the_best_root_gain_is_that_of_the_plain_procedure(seed, min_side):
    X, y, _, _ = random_table(seed)
    rows = trees.as_rows(["column"], X[:, :1].tolist(), y.tolist())
    gains = [split[0] for split in trees.splits(rows, "column", min_side)]
    assert best_root_gain(X[:, 0], y, min_side) == max([0.0, *gains])


def test_a_column_that_tells_the_outcomes_apart_gains_their_whole_impurity():
    assert best_root_gain([0, 0, 1, 1], [0, 0, 1, 1], 1) == 0.5


def test_without_an_allowed_threshold_nothing_is_gained():
    assert best_root_gain([0, 0, 1, 1], [0, 0, 1, 1], 3) == 0.0
    assert best_root_gain([1, 1, 1], [0, 1, 0], 1) == 0.0


@pytest.mark.parametrize(
    ("column", "outcomes", "message"),
    [
        ([1, 2], [0, 1, 1], "of one length"),
        ([1, 2], [0, 2], "outcomes are 0 or 1, found"),
        ([1, float("nan")], [0, 1], "the value nan in row 1"),
    ],
)
def test_a_gain_of_what_cannot_be_split_is_refused(column, outcomes, message):
    with pytest.raises(ValueError, match=message):
        best_root_gain(column, outcomes, 1)
