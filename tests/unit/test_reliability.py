"""The reliability table and the expected calibration error, on numbers one can check by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.reliability import (
    expected_calibration_error,
    reliability_table,
    top_label,
)

CONFIDENCES = [0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0]
OVERCONFIDENT = [1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
CALIBRATED = [1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
TRIVIA_BINS = OwnEdges([0.6, 0.8, 1.0, 1.0])

TEN = [0, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
TEN_OUTCOMES = [1, 1, 0, 1, 0, 1, 1, 1, 1, 0]


def test_the_trivia_lessons_table():
    table = reliability_table(OVERCONFIDENT, CONFIDENCES, bins=TRIVIA_BINS)
    assert table.count.tolist() == [3, 5, 2]
    assert table.sum_predicted == pytest.approx([1.9, 4.3, 2.0])
    assert table.positives.tolist() == [1, 2, 1]
    assert table.mean_predicted == pytest.approx([0.633, 0.860, 1.000], abs=5e-4)
    assert table.observed_rate == pytest.approx([0.333, 0.400, 0.500], abs=5e-4)
    assert table.gap == pytest.approx([0.300, 0.460, 0.500], abs=5e-4)
    assert table.ece_terms == pytest.approx([0.090, 0.230, 0.100], abs=5e-4)
    assert table.ece == pytest.approx(0.420, abs=1e-12)
    assert table.maximum_gap == pytest.approx(0.5)
    assert table.bins_used == 3


def test_the_same_confidences_kept_honest():
    table = reliability_table(CALIBRATED, CONFIDENCES, bins=TRIVIA_BINS)
    assert table.gap == pytest.approx([-0.033, 0.060, 0.000], abs=5e-4)
    assert table.ece == pytest.approx(0.040, abs=1e-12)


def test_five_equal_bins_tell_edge_rules_apart_on_the_trivia_answers():
    assert expected_calibration_error(CALIBRATED, CONFIDENCES, bins=5) == pytest.approx(0.040)
    linspace = OwnEdges(np.linspace(0, 1, 6))
    assert expected_calibration_error(CALIBRATED, CONFIDENCES, bins=linspace) == pytest.approx(0.18)


def test_ten_predictions_on_which_the_libraries_disagree():
    assert expected_calibration_error(TEN_OUTCOMES, TEN, bins=10) == pytest.approx(0.45, abs=1e-12)
    linspace = OwnEdges(np.linspace(0, 1, 11))
    assert expected_calibration_error(TEN_OUTCOMES, TEN, bins=linspace) == pytest.approx(0.37)


def test_the_spam_lessons_three_messages():
    table = reliability_table([0, 0, 1], [0.1, 0.2, 0.9], bins=2)
    assert table.count.tolist() == [2, 1]
    assert table.mean_predicted == pytest.approx([0.15, 0.9])
    assert table.observed_rate.tolist() == [0.0, 1.0]
    assert table.ece == pytest.approx(0.4 / 3)
    assert table.unweighted_gap == pytest.approx(0.125)
    assert expected_calibration_error([0, 0, 1], [0.1, 0.2, 0.9], bins=1) == pytest.approx(0.2 / 3)


def test_an_empty_bin_has_no_rate_and_no_part_in_any_mean():
    table = reliability_table([0, 1], [0.05, 0.95], bins=10)
    assert table.bins_used == 2
    assert np.isnan(table.mean_predicted[1:9]).all()
    assert np.isnan(table.observed_rate[1:9]).all()
    assert table.ece_terms[1:9].tolist() == [0.0] * 8
    assert table.unweighted_gap == pytest.approx(0.05)
    assert table.maximum_gap == pytest.approx(0.05)


def test_rows_outside_own_edges_leave_the_ece_undefined_and_are_counted():
    table = reliability_table([0, 1, 1], [0.1, 0.7, 0.9], bins=OwnEdges([0.5, 1.0]))
    assert table.outside == 1
    assert table.count.tolist() == [2]
    assert math.isnan(table.ece)
    assert np.isnan(table.ece_terms).all()
    assert table.gap == pytest.approx([-0.2])


def test_all_rows_outside_own_edges_leave_no_gap_at_all():
    table = reliability_table([0, 1], [0.1, 0.2], bins=OwnEdges([0.5, 1.0]))
    assert table.outside == 2
    assert math.isnan(table.maximum_gap)
    assert math.isnan(table.unweighted_gap)


def test_the_gap_is_positive_where_the_model_says_too_much():
    assert reliability_table([0, 0], [0.9, 0.9], bins=1).gap == pytest.approx([0.9])
    assert reliability_table([1, 1], [0.9, 0.9], bins=1).gap == pytest.approx([-0.1])


def test_the_rule_stands_beside_the_numbers():
    table = reliability_table([0, 1], [0.1, 0.9], bins=EqualWidth(4))
    assert table.rule == EqualWidth(4).describe()
    assert table.lower.tolist() == [0.0, 0.25, 0.5, 0.75]
    assert table.upper.tolist() == [0.25, 0.5, 0.75, 1.0]


def test_equal_mass_bins_report_how_many_there_are():
    table = reliability_table([0, 1, 1, 0], [0.2, 0.2, 0.2, 0.8], bins=EqualMass(4))
    assert table.bins_used == 2
    assert table.count.tolist() == [3, 1]


def test_a_table_over_many_chunks_equals_one_bin_at_a_time():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 10_001, 150_000) / 10_000
    y = (rng.random(p.size) < p).astype(int)
    w = rng.random(p.size)
    plain = reliability_table(y, p, bins=20)
    weighted = reliability_table(y, p, bins=20, weights=w)
    for j in range(20):
        inside = (p >= j / 20) & ((p < (j + 1) / 20) | (j == 19))
        assert plain.count[j] == weighted.rows[j] == inside.sum()
        assert plain.positives[j] == y[inside].sum()
        assert plain.sum_predicted[j] == pytest.approx(p[inside].sum(), rel=1e-12)
        assert weighted.count[j] == pytest.approx(w[inside].sum(), rel=1e-12)
        assert weighted.positives[j] == pytest.approx((w * y)[inside].sum(), rel=1e-12)
        assert weighted.sum_predicted[j] == pytest.approx((w * p)[inside].sum(), rel=1e-12)


def test_the_other_reading_asks_whether_the_decision_was_right():
    correct, confidence = top_label([1, 0, 0, 1], [0.9, 0.2, 0.7, 0.5])
    assert correct.tolist() == [1, 1, 0, 1]
    assert confidence == pytest.approx([0.9, 0.8, 0.7, 0.5])


@pytest.mark.parametrize("bins", [0, -1, 2.5, True, "10", None])
def test_an_impossible_bin_count_is_refused(bins):
    with pytest.raises(ValueError, match="positive whole number"):
        reliability_table([0, 1], [0.1, 0.9], bins=bins)


@pytest.mark.parametrize(
    ("outcomes", "probabilities"),
    [([], []), ([0, 1], [0.5]), ([0, 1], [0.5, 1.2]), ([0, 2], [0.5, 0.5])],
)
def test_wrong_input_is_refused(outcomes, probabilities):
    for function in (reliability_table, expected_calibration_error, top_label):
        with pytest.raises(ValueError):
            function(outcomes, probabilities)


rows = st.lists(
    st.tuples(st.integers(0, 1), st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=50
)
rules = st.one_of(
    st.integers(1, 30).map(EqualWidth),
    st.integers(1, 30).map(EqualMass),
    st.just(OwnEdges([0.0, 0.3, 0.9, 1.0, 1.0])),
)


@given(rows, rules)
def test_the_ece_lies_between_0_and_1_and_below_the_maximum_gap(cases, rule):
    y, p, _ = map(list, zip(*cases, strict=True))
    table = reliability_table(y, p, bins=rule)
    assert 0.0 <= table.ece <= 1.0
    assert table.ece <= table.maximum_gap + 1e-12
    assert table.ece == pytest.approx(table.ece_terms.sum(), abs=1e-12)
    assert table.count.sum() == len(y)


@given(rows, rules)
def test_integer_weights_equal_repeated_rows(cases, rule):
    y, p, w = (np.array(column) for column in zip(*cases, strict=True))
    if not w.sum():
        return
    weighted = reliability_table(y, p, bins=rule, weights=w)
    repeated = reliability_table(np.repeat(y, w), np.repeat(p, w), bins=rule)
    assert weighted.lower.tolist() == repeated.lower.tolist()
    assert weighted.count.tolist() == repeated.count.tolist()
    assert weighted.positives.tolist() == repeated.positives.tolist()
    assert weighted.sum_predicted == pytest.approx(repeated.sum_predicted, abs=1e-12)
    assert weighted.ece == pytest.approx(repeated.ece, abs=1e-12)
    assert weighted.bins_used == repeated.bins_used


@given(rows, rules, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(cases, rule, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    before, after = (
        reliability_table([c[0] for c in x], [c[1] for c in x], bins=rule)
        for x in (cases, shuffled)
    )
    assert before.count.tolist() == after.count.tolist()
    assert before.positives.tolist() == after.positives.tolist()
    assert before.ece == pytest.approx(after.ece, abs=1e-12)


@given(rows)
def test_merging_bins_never_raises_the_ece(cases):
    y, p, _ = map(list, zip(*cases, strict=True))
    fine = expected_calibration_error(y, p, bins=8)
    coarse = expected_calibration_error(y, p, bins=4)
    assert coarse <= fine + 1e-12
