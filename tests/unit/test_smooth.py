"""Smooth ECE: the calibration error without bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.statistics.smooth import NARROWEST, smooth_band, smooth_ece, smooth_ece_at

TEN = np.array([0, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
TEN_OUTCOMES = np.array([1, 1, 0, 1, 0, 1, 1, 1, 1, 0])


def by_definition(outcomes, p, bandwidth, points=4_000, images=3):
    """Integral of the absolute mean of residuals times the reflected Gaussian, by midpoints."""
    t = (np.arange(points) + 0.5) / points
    smoothed = np.zeros(points)
    for said, happened in zip(p, outcomes, strict=True):
        for turn in range(-images, images + 1):
            for place in (2 * turn + said, 2 * turn - said):
                smoothed += (said - happened) * np.exp(-0.5 * ((t - place) / bandwidth) ** 2)
    smoothed /= bandwidth * np.sqrt(2 * np.pi) * len(p)
    return np.abs(smoothed).mean()


@pytest.mark.parametrize("bandwidth", [0.02, 0.05, 0.1, 0.5, 1.0])
def test_it_is_the_integral_of_the_reflected_kernel(bandwidth):
    expected = by_definition(TEN_OUTCOMES, TEN, bandwidth)
    found = smooth_ece_at(TEN_OUTCOMES, TEN, bandwidth=bandwidth)
    assert found == pytest.approx(expected, rel=1e-4)


def test_the_bandwidth_chosen_is_the_one_it_equals():
    value = smooth_ece(TEN_OUTCOMES, TEN)
    assert smooth_ece_at(TEN_OUTCOMES, TEN, bandwidth=value) == pytest.approx(value, abs=2e-5)
    assert value == pytest.approx(by_definition(TEN_OUTCOMES, TEN, value), abs=2e-5)


def test_it_falls_where_the_bandwidth_rises():
    values = [smooth_ece_at(TEN_OUTCOMES, TEN, bandwidth=b) for b in np.linspace(0.01, 1.0, 40)]
    assert (np.diff(values) <= 1e-9).all()


def test_a_wide_bandwidth_leaves_the_mean_gap():
    gap = abs(TEN.mean() - TEN_OUTCOMES.mean())
    assert smooth_ece_at(TEN_OUTCOMES, TEN, bandwidth=5.0) == pytest.approx(gap, abs=1e-6)


def test_certain_and_right_predictions_have_none():
    assert smooth_ece([0, 1, 1], [0.0, 1.0, 1.0]) == 0.0


def test_always_wrong_predictions_have_all():
    assert smooth_ece([1] * 10, [0.0] * 10) > 0.99


def test_a_constant_prediction_off_by_a_tenth():
    # All residuals have one sign and one place: the integral is their size at any bandwidth.
    assert smooth_ece([1, 1, 1, 0, 0], [0.5] * 5) == pytest.approx(0.1, abs=2e-5)


def test_equal_predictions_next_to_each_other_move_it_little():
    """It is continuous in the predictions, which no binned ECE is."""
    outcomes = np.tile([0, 1], 50)
    below = np.where(outcomes, 0.5 - 1e-9, 0.5 + 1e-9)
    assert smooth_ece(outcomes, below) == pytest.approx(
        smooth_ece(outcomes, np.full(100, 0.5)), abs=1e-3
    )


@given(st.integers(1, 30), st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_integer_weights_are_repeated_rows(rows, seed):
    generator = np.random.default_rng(seed)
    outcomes, p = generator.integers(0, 2, rows), generator.random(rows)
    weights = generator.integers(0, 4, rows)
    weights[0] += 1
    repeated = smooth_ece(np.repeat(outcomes, weights), np.repeat(p, weights))
    value = smooth_ece(outcomes, p, weights=weights)
    assert value == pytest.approx(repeated, abs=1e-9)
    assert 0.0 <= value <= 1.0


def test_its_null_band_holds_an_honest_model_and_not_a_bold_one():
    generator = np.random.default_rng(3)
    p = generator.random(800)
    outcomes = (generator.random(800) < p).astype(int)
    honest = smooth_band(outcomes, p, seed=1)
    assert honest.lower < honest.median < honest.upper
    assert honest.p_value > 0.05
    bold = p**2 / (p**2 + (1 - p) ** 2)
    assert smooth_ece(outcomes, bold) > smooth_band(outcomes, bold, seed=1).upper
    assert smooth_band(outcomes, bold, seed=1).p_value == pytest.approx(1 / 201)


def test_its_null_band_draws_a_weighted_row_once():
    generator = np.random.default_rng(4)
    p = generator.random(300)
    outcomes = (generator.random(300) < p).astype(int)
    plain = smooth_band(outcomes, p, seed=1, simulations=400)
    heavy = smooth_band(outcomes, p, weights=np.full(300, 9.0), seed=2, simulations=400)
    assert heavy.median == pytest.approx(plain.median, rel=0.05)
    assert heavy.upper == pytest.approx(plain.upper, rel=0.08)


def test_a_bandwidth_narrower_than_the_grid_is_refused():
    with pytest.raises(ValueError, match="bandwidth: found "):
        smooth_ece_at([0, 1], [0.1, 0.9], bandwidth=NARROWEST / 10)
