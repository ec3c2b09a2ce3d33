"""What is refused at the door, and in which words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kalibre.checks import check_count, check_number, check_predictions, check_scores


def test_lists_arrays_and_series_come_out_as_int8_and_float64():
    for outcomes, probabilities in (
        ([0, 1], [0.25, 1]),
        (np.array([0.0, 1.0]), np.array([0.25, 1.0], dtype=np.float32)),
        (pd.Series([False, True]), pd.Series([0.25, 1.0])),
        (np.array([0, 1], dtype=object), np.array([0.25, 1], dtype=object)),
        (np.array([0, 1], dtype=np.uint8), (0.25, 1.0)),
    ):
        checked = check_predictions(outcomes, probabilities)
        assert checked.outcomes.dtype == np.int8
        assert checked.outcomes.tolist() == [0, 1]
        assert checked.probabilities.dtype == np.float64
        assert checked.probabilities.tolist() == [0.25, 1.0]
        assert checked.weights is None


def test_zero_and_one_are_probabilities():
    assert check_predictions([0, 1], [0, 1]).probabilities.tolist() == [0.0, 1.0]


def test_the_input_is_left_as_it_was():
    outcomes, probabilities = np.array([0, 1]), np.array([0.2, 0.7])
    outcomes.flags.writeable = probabilities.flags.writeable = False
    check_predictions(outcomes, probabilities)
    assert outcomes.dtype == np.int64


@pytest.mark.parametrize(
    ("outcomes", "probabilities", "message"),
    [
        ([], [], "probabilities: empty"),
        ([0, 1], [0.5], "2 and 1 rows, expected equal lengths"),
        ([[0, 1]], [[0.5, 0.5]], r"shape \(1, 2\), expected one dimension"),
        (1, 0.5, r"shape \(\), expected one dimension"),
        ([0, 1], [0.5, 1.2], r"1\.2 in row 1 .*expected a number in \[0, 1\]"),
        ([0, 1], [-0.1, 0.5], r"-0\.1 in row 0"),
        ([0, 1], [0.5, float("nan")], "nan in row 1"),
        ([0, 1], [0.5, float("inf")], "inf in row 1"),
        ([0, 1], [0.5, None], "None in row 1"),
        ([0, 1], [0.5, "0.5"], "'0.5'|row 0"),
        ([0, 1], ["0.5", "0.7"], "'0.5' in row 0"),
        ([0, 1], [True, False], "True in row 0"),
        ([0, 1], [1 + 0j, 0j], "expected a number"),
        ([0, 2], [0.5, 0.5], "outcomes: 2 in row 1 .*expected 0 or 1"),
        ([-1, 1], [0.5, 0.5], "outcomes: -1 in row 0"),
        ([0, 0.5], [0.5, 0.5], r"outcomes: 0\.5 in row 1"),
        ([0, float("nan")], [0.5, 0.5], "outcomes: nan in row 1"),
        (["no", "yes"], [0.5, 0.5], "outcomes: 'no' in row 0"),
        ([1, None], [0.5, 0.5], "outcomes: None in row 1"),
        (["0", "1"], [0.5, 0.5], "outcomes: '0' in row 0"),
        ([[0], [0, 1]], [0.5, 0.5], "outcomes: rows of unequal length"),
    ],
)
def test_a_wrong_array_is_refused_with_what_was_found(outcomes, probabilities, message):
    with pytest.raises(ValueError, match=message):
        check_predictions(outcomes, probabilities)


def test_all_wrong_rows_are_counted():
    with pytest.raises(ValueError, match=r"row 1 .*\(2 such rows\)"):
        check_predictions([0, 1, 1], [0.5, 1.5, -1.0])


def test_percent_is_recognised():
    with pytest.raises(ValueError, match="they look like percent, divide them by 100"):
        check_predictions([0, 1, 1], [0.5, 80.0, 100.0])


def test_a_single_value_above_one_is_not_called_percent():
    with pytest.raises(ValueError, match=r"1\.2") as refused:
        check_predictions([0, 1, 1], [0.5, 0.8, 1.2])
    assert "percent" not in str(refused.value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 values for 2 rows"),
        ([1.0, -2.0], r"-2\.0 in row 1 .*at least 0"),
        ([1.0, float("inf")], "inf in row 1"),
        ([float("nan"), 1.0], "nan in row 0"),
        ([0.0, 0.0], r"sum is 0\.0"),
        ([1.0, "2"], "expected a number"),
    ],
)
def test_a_wrong_weight_is_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_predictions([0, 1], [0.5, 0.5], weights=weights)


def test_scores_may_be_infinite_but_not_nan():
    assert check_scores([0, 1], [-np.inf, np.inf]).scores.tolist() == [-np.inf, np.inf]
    with pytest.raises(ValueError, match="scores: nan in row 1"):
        check_scores([0, 1], [0.0, np.nan])


@pytest.mark.parametrize("count", [1, 10, np.int64(7), np.uint8(3)])
def test_a_positive_whole_number_is_a_count(count):
    assert check_count(count, "bins") == int(count)
    assert type(check_count(count, "bins")) is int


@pytest.mark.parametrize("count", [0, -1, 2.5, 10.0, True, np.True_, "10", None, float("nan"), [3]])
def test_anything_else_is_no_count(count):
    with pytest.raises(ValueError, match=r"bins: found .*expected a positive whole number"):
        check_count(count, "bins")


@pytest.mark.parametrize("value", [True, "3", None, float("nan"), float("inf"), 0.0, 5.5])
def test_a_number_out_of_range_or_no_number_is_refused(value):
    with pytest.raises(ValueError, match=r"power: found .*above 0 and at most 5"):
        check_number(value, "power", low=0.0, high=5.0, low_allowed=False)
