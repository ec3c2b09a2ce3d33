"""Proper scores, ranking, decisions, and the registry that names them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from kalibre.logits import expit, logit
from kalibre.metrics.proper import (
    brier_score,
    log_loss,
    log_losses,
    residuals,
    squared_errors,
)
from kalibre.metrics.ranking import (
    Level,
    accuracy,
    count_at_level,
    mean_confidence,
    roc_auc,
)
from kalibre.metrics.registry import METRICS, Measured, Undefined
from reference import calibration as lesson


@pytest.fixture(scope="module")
def predictions() -> Measured:
    """A thousand rows with ties, saturated scores and both outcomes."""
    rng = np.random.default_rng(7)
    z = np.round(rng.normal(scale=3.0, size=1000), 1)
    return Measured.of((rng.random(1000) < expit(z / 2)).astype(int), expit(z), logits=z)


def value(name: str, rows: Measured) -> float:
    return METRICS[name].function(rows)


# Proper scores


def test_the_spam_lessons_three_messages():
    assert residuals([0, 0, 1], [0.1, 0.2, 0.9]) == pytest.approx([0.1, 0.2, -0.1])
    assert squared_errors([0, 0, 1], [0.1, 0.2, 0.9]) == pytest.approx([0.01, 0.04, 0.01])
    assert brier_score([0, 0, 1], [0.1, 0.2, 0.9]) == pytest.approx(0.02)


def test_always_saying_a_half_scores_a_quarter_and_the_truth_scores_nothing():
    assert brier_score([0, 1, 1], [0.5] * 3) == 0.25
    assert brier_score([0, 1, 1], [0, 1, 1]) == 0.0


def test_the_trivia_lessons_brier_scores():
    said = [0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0]
    assert brier_score([1, 0, 0, 1, 0, 1, 0, 0, 1, 0], said) == pytest.approx(0.432)
    assert brier_score([1, 1, 0, 1, 1, 1, 1, 0, 1, 1], said) == pytest.approx(0.172)


def test_brier_and_log_loss_equal_scikit_learns(predictions):
    y, p = predictions.outcomes, predictions.probabilities
    w = np.random.default_rng(0).random(y.size)
    assert brier_score(y, p) == pytest.approx(sklearn_metrics.brier_score_loss(y, p), rel=1e-12)
    assert log_loss(y, p) == pytest.approx(sklearn_metrics.log_loss(y, p), rel=1e-12)
    assert log_loss(y, p, weights=w) == pytest.approx(
        sklearn_metrics.log_loss(y, p, sample_weight=w), rel=1e-12
    )


def test_log_loss_on_logits_equals_that_on_probabilities_until_these_saturate():
    z = np.array([-3.0, 0.0, 5.0, 20.0])
    y = [1, 0, 1, 1]
    assert log_loss(y, expit(z), logits=z) == pytest.approx(log_loss(y, expit(z)), rel=1e-9)


def test_log_loss_on_logits_stays_finite_where_the_probability_is_exactly_one():
    assert expit(200.0) == 1.0
    assert log_loss([0], expit([200.0])) == math.inf
    assert log_loss([0], expit([200.0]), logits=[200.0]) == 200.0


def test_a_right_certainty_costs_nothing_and_a_wrong_one_everything():
    assert log_losses([1, 0], [1.0, 0.0]).tolist() == [0.0, 0.0]
    assert log_losses([0, 1], [1.0, 0.0]).tolist() == [math.inf, math.inf]
    assert log_losses([1, 0], [1.0, 0.0], logits=[math.inf, -math.inf]).tolist() == [0.0, 0.0]


def test_a_row_without_weight_cannot_make_the_loss_infinite():
    assert log_loss([0, 1], [1.0, 0.5], weights=[0, 1]) == pytest.approx(math.log(2))


# Ranking


def pairwise_auc(y: np.ndarray, z: np.ndarray, w: np.ndarray) -> float:
    """The definition: the share of positive-negative pairs in order, ties counting half."""
    won = total = Fraction(0)
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = Fraction(float(w[i])) * Fraction(float(w[j]))
            total += pair
            won += pair * (2 if z[i] > z[j] else int(z[i] == z[j])) / 2
    return float(won / total) if total else math.nan


scores = st.one_of(
    st.sampled_from([-math.inf, math.inf, -0.0, 0.0, 5e-324, -5e-324, 1.0, -1.0, 1e308]),
    st.floats(-40, 40),
    st.integers(-3, 3).map(float),
)
ranked = st.lists(st.tuples(st.integers(0, 1), scores, st.integers(0, 3)), min_size=1, max_size=25)


@given(ranked)
def test_auc_is_the_share_of_pairs_in_order(cases):
    y, z, w = (np.array(column) for column in zip(*cases, strict=True))
    expected = pairwise_auc(y, z, np.ones(y.size))
    assert roc_auc(y, z) == pytest.approx(expected, rel=1e-14, nan_ok=True)
    if w.sum():
        weighted = pairwise_auc(y, z, w)
        assert roc_auc(y, z, weights=w) == pytest.approx(weighted, rel=1e-12, nan_ok=True)


@given(ranked)
def test_integer_weights_rank_as_repeated_rows(cases):
    y, z, w = (np.array(column) for column in zip(*cases, strict=True))
    if not w.sum():
        return
    repeated = roc_auc(np.repeat(y, w), np.repeat(z, w))
    assert roc_auc(y, z, weights=w) == pytest.approx(repeated, rel=1e-12, nan_ok=True)


@given(ranked, st.floats(0.05, 20))
def test_an_order_preserving_map_keeps_the_auc(cases, power):
    y, z, _ = (np.array(column) for column in zip(*cases, strict=True))
    # A product of doubles keeps the order of scores that are not next to each other.
    z = np.round(np.clip(z, -40, 40), 6)
    assert roc_auc(y, z * power) == pytest.approx(roc_auc(y, z), nan_ok=True, abs=0)


@given(ranked, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_move_the_auc(cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    before, after = (roc_auc([c[0] for c in x], [c[1] for c in x]) for x in (cases, shuffled))
    assert before == pytest.approx(after, nan_ok=True, abs=0)


def test_auc_equals_the_lessons_and_scikit_learns(predictions):
    y, z, p = predictions.outcomes, predictions.logits, predictions.probabilities
    assert roc_auc(y, z) == pytest.approx(lesson.roc_auc(y.tolist(), p.tolist()), rel=1e-14)
    w = np.random.default_rng(0).random(y.size)
    assert roc_auc(y, z, weights=w) == pytest.approx(
        sklearn_metrics.roc_auc_score(y, z, sample_weight=w), rel=1e-12
    )


def test_auc_over_many_chunks_with_ties_across_them():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 5, 200_000) - 2.0
    y = rng.integers(0, 2, z.size)
    expected = roc_auc(y, z, weights=np.ones(y.size))
    assert roc_auc(y, z) == pytest.approx(expected, rel=1e-13)
    continuous = rng.normal(size=z.size)
    assert roc_auc(y, continuous) == pytest.approx(
        sklearn_metrics.roc_auc_score(y, continuous), rel=1e-13
    )


def test_neighbouring_doubles_are_not_a_tie():
    low = 3.0
    assert roc_auc([0, 1], [low, np.nextafter(low, 4)]) == 1.0
    assert roc_auc([0, 1], [-low, np.nextafter(-low, -4)]) == 0.0


def test_minus_zero_is_zero():
    assert roc_auc([0, 1], [0.0, -0.0]) == 0.5


def test_scores_too_far_apart_to_pack_are_still_ranked():
    z = [-1e308, -5e-324, 5e-324, 1e308]
    assert roc_auc([0, 0, 1, 1], z) == 1.0
    assert roc_auc([1, 0, 1, 0], z) == 0.25


def test_saturated_probabilities_tie_where_their_logits_do_not():
    z = np.array([100.0, 200.0])
    assert roc_auc([0, 1], expit(z)) == 0.5
    assert roc_auc([0, 1], z) == 1.0


def test_one_class_has_no_auc():
    assert math.isnan(roc_auc([1, 1], [0.1, 0.2]))
    assert math.isnan(roc_auc([0, 1], [0.1, 0.2], weights=[1, 0]))


# Decisions and levels


def test_one_is_decided_from_the_threshold_on():
    assert accuracy([1, 0], [0.5, 0.5]) == 0.5
    assert accuracy([1, 1], [0.3, 0.29], threshold=0.3) == 0.5


def test_confidence_is_the_larger_of_both_probabilities():
    assert mean_confidence([0, 1], [0.1, 0.7]) == pytest.approx(0.8)


def test_a_level_of_confidence_takes_in_both_ends():
    y, p = [0, 1, 1, 0, 1], [0.001, 0.002, 0.995, 0.5, 0.99]
    found = count_at_level(y, p, level=Level(of="confidence", above=0.99))
    assert (found.count, found.errors, found.positives) == (3, 1, 2)
    assert found.mean_probability == pytest.approx((0.001 + 0.002 + 0.995) / 3)
    assert found.observed_rate == pytest.approx(2 / 3)


def test_at_least_includes_the_level_and_above_does_not():
    y, p = [1, 0, 1], [0.9, 0.95, 0.2]
    at_least = count_at_level(y, p, level=Level(of="probability", at_least=0.9))
    above = count_at_level(y, p, level=Level(of="probability", above=0.9))
    assert (at_least.count, at_least.errors) == (2, 1)
    assert (above.count, above.errors) == (1, 1)


def test_a_level_nobody_reaches_has_no_means():
    found = count_at_level([0, 1], [0.4, 0.6], level=Level(above=0.99))
    assert (found.count, found.errors, found.positives) == (0, 0, 0)
    assert math.isnan(found.mean_probability)
    assert math.isnan(found.observed_rate)


def test_weighted_levels_count_weight():
    level = Level(of="probability", at_least=0.5)
    found = count_at_level([1, 0], [0.8, 0.6], level=level, weights=[3, 1])
    assert (found.count, found.errors, found.positives) == (4, 1, 3)
    assert found.mean_probability == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"of": "logit", "above": 0.9}, "found 'logit'"),
        ({}, "either"),
        ({"above": 0.9, "at_least": 0.9}, "either"),
        ({"above": 1.5}, r"level above: found 1\.5"),
        ({"at_least": "0.9"}, "level at_least: found '0.9'"),
    ],
)
def test_an_impossible_level_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Level(**settings)


# The registry


def test_the_registry_measures_the_trivia_lesson():
    said = [0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0]
    rows = Measured.of([1, 1, 0, 1, 1, 1, 1, 0, 1, 1], said)
    assert value("rows", rows) == 10
    assert value("positives", rows) == value("correct", rows) == 8
    assert value("accuracy", rows) == value("observed_rate", rows) == 0.8
    assert value("sum_probability", rows) == pytest.approx(8.2)
    assert value("mean_probability", rows) == value("mean_confidence", rows)
    assert value("mean_probability", rows) == pytest.approx(0.82)
    assert value("mean_gap", rows) == pytest.approx(0.02)
    assert value("squared_error_sum", rows) == pytest.approx(1.72)


def test_every_metric_has_a_name_a_direction_and_words():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.direction in ("lower", "higher", None)
        assert metric.description.endswith(".")


def test_a_metric_without_a_value_says_why():
    with pytest.raises(Undefined, match="one class only: every row measured has outcome 1"):
        value("roc_auc", Measured.of([1, 1], [0.2, 0.7]))
    with pytest.raises(Undefined, match="infinite: 1 of 2 rows"):
        value("log_loss", Measured.of([0, 1], [1.0, 0.7]))


def test_log_loss_and_auc_are_read_off_the_logits():
    z = np.array([100.0, 200.0])
    rows = Measured.of([0, 1], expit(z), logits=z)
    assert value("log_loss", rows) == pytest.approx(50.0)
    assert value("roc_auc", rows) == 1.0


def test_without_logits_they_come_from_the_probabilities():
    rows = Measured.of([0, 1], [0.2, 0.7])
    assert rows.logits == pytest.approx(logit([0.2, 0.7]))


measured = st.lists(
    st.tuples(st.integers(0, 1), st.floats(0.001, 0.999), st.integers(0, 4)),
    min_size=1,
    max_size=30,
)


def same(name: str, first: Measured, second: Measured) -> bool:
    """Whether a metric gives both the same value, or the same reason why there is none."""
    found: list[float | str] = []
    for rows in (first, second):
        try:
            found.append(value(name, rows))
        except Undefined as reason:
            found.append(str(reason))
    if isinstance(found[0], str) or isinstance(found[1], str):
        return found[0] == found[1]
    return math.isclose(found[0], found[1], rel_tol=1e-11, abs_tol=1e-12)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=30)
@given(cases=measured)
def test_every_metric_takes_integer_weights_as_repeated_rows(name, cases):
    y, p, w = (np.array(column) for column in zip(*cases, strict=True))
    if not w.sum():
        return
    weighted = Measured.of(y, p, weights=w)
    assert same(name, weighted, Measured.of(np.repeat(y, w), np.repeat(p, w)))


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=30)
@given(cases=measured, random=st.randoms(use_true_random=False))
def test_no_metric_depends_on_the_order_of_rows(name, cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    before, after = (Measured.of([c[0] for c in x], [c[1] for c in x]) for x in (cases, shuffled))
    assert same(name, before, after)


@pytest.mark.parametrize(
    ("outcomes", "probabilities"),
    [([], []), ([0, 1], [0.5]), ([0, 1], [0.5, 1.2]), ([0, 2], [0.5, 0.5]), ([0, 1], [0.5, None])],
)
def test_wrong_input_is_refused_by_every_measure(outcomes, probabilities):
    for function in (brier_score, log_loss, squared_errors, accuracy, mean_confidence, Measured.of):
        with pytest.raises(ValueError):
            function(outcomes, probabilities)
