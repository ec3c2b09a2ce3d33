"""The leak: its sign, its intervals against an independent formula, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from kalibre.leak import measure_leak, resampled_interval

scores = st.lists(st.floats(0, 1), min_size=2, max_size=30)


def leak_of(outside, inside, learned=756, measured=252, **settings):
    count = len(outside)
    return measure_leak(
        outside,
        inside,
        learned_rows=[learned] * count,
        measured_rows=[measured] * count,
        **settings,
    )


def test_the_leak_is_outside_minus_inside_with_its_sign():
    leak = leak_of([0.8, 0.7], [0.7, 0.8])
    np.testing.assert_allclose(leak.differences, [0.1, -0.1])
    assert leak.mean == pytest.approx(0)
    assert leak.spread == pytest.approx(0.1)


@given(scores)
def test_swapping_the_rungs_turns_the_sign_and_mirrors_the_interval(values):
    outside, inside = np.array(values), np.array(values)[::-1]
    one, other = leak_of(outside, inside), leak_of(inside, outside)
    assert one.mean == pytest.approx(-other.mean, abs=1e-12)
    if one.corrected.low is not None:
        assert one.corrected.low == pytest.approx(-other.corrected.high, abs=1e-12)


@given(scores, st.floats(0.01, 2))
def test_the_corrected_interval_is_wider_than_the_naive_one(values, ratio):
    assume(np.ptp(values) > 1e-6)
    naive, corrected = resampled_interval(values, ratio=0), resampled_interval(values, ratio=ratio)
    assert corrected.low < naive.low
    assert corrected.high > naive.high


def test_the_naive_interval_is_students():
    values = [0.01, 0.03, -0.02, 0.05, 0.02]
    interval = resampled_interval(values, ratio=0, level=0.9)
    expected = stats.t.interval(0.9, 4, loc=np.mean(values), scale=stats.sem(values))
    np.testing.assert_allclose([interval.low, interval.high], expected, rtol=1e-12)


def test_the_correction_adds_the_ratio_of_measured_to_learned_rows():
    # Nadeau and Bengio: s^2 (1/J + n_measured / n_learned), J - 1 degrees of freedom.
    differences = np.array([0.01, 0.03, -0.02, 0.05])
    leak = leak_of(differences, np.zeros(4), learned=300, measured=100)
    half = stats.t.ppf(0.975, 3) * np.sqrt(differences.var(ddof=1) * (1 / 4 + 1 / 3))
    assert leak.ratio == pytest.approx(1 / 3)
    assert leak.corrected.high - leak.mean == pytest.approx(half)
    assert leak.mean - leak.corrected.low == pytest.approx(half)


def test_the_ratio_is_that_of_the_mean_numbers_of_rows():
    leak = measure_leak(
        [0.5, 0.6, 0.7], [0.4, 0.6, 0.6], learned_rows=[10, 20, 30], measured_rows=[10, 10, 10]
    )
    assert leak.ratio == pytest.approx(10 / 20)


def test_one_fold_has_no_interval_and_says_so():
    leak = leak_of([0.8], [0.7])
    assert leak.mean == pytest.approx(0.1)
    assert leak.corrected.low is None
    assert "needs at least two" in leak.corrected.undefined


@pytest.mark.parametrize("rise", [0.0, 0.1])
def test_equal_differences_have_no_variance_and_no_interval(rise):
    inside = np.array([0.7, 0.8, 0.6])
    leak = leak_of(inside + rise, inside)
    assert leak.mean == pytest.approx(rise)
    assert "no variance: all 3 differences are" in leak.naive.undefined
    assert leak.corrected.undefined == leak.naive.undefined


def test_a_fold_without_a_value_is_left_out_of_the_pairs():
    leak = measure_leak(
        [0.8, np.nan, 0.6], [0.7, 0.5, 0.7], learned_rows=[10, 90, 10], measured_rows=[5, 5, 5]
    )
    np.testing.assert_allclose(leak.differences, [0.1, -0.1])
    assert leak.ratio == 0.5


def test_a_leak_is_metrics_or_reasons():
    metrics, undefined = leak_of([0.8, 0.9, 0.7], [0.7, 0.7, 0.7]).numbers()
    assert metrics["leak"] == pytest.approx(0.1)
    assert metrics["leak_corrected_low"] < metrics["leak_naive_low"] < metrics["leak"]
    assert undefined == {}
    metrics, undefined = leak_of([0.8], [np.nan]).numbers()
    assert metrics == {"leak_folds": 0}
    assert set(undefined) == {
        *("leak", "leak_spread", "leak_naive_low", "leak_naive_high"),
        *("leak_corrected_low", "leak_corrected_high"),
    }


def test_no_fold_with_a_value_is_no_leak():
    leak = leak_of([np.nan, np.nan], [np.nan, np.nan])
    assert leak.mean is None
    assert leak.spread is None
    assert "0 difference" in leak.corrected.undefined


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, True])
def test_a_level_is_a_share(level):
    with pytest.raises(ValueError, match="level: found"):
        resampled_interval([0.1, 0.2], ratio=0.5, level=level)


def test_rungs_of_different_folds_are_refused():
    with pytest.raises(ValueError, match="one value per fold"):
        measure_leak([0.1, 0.2], [0.1], learned_rows=[1], measured_rows=[1])
