"""The null band: what a perfectly calibrated model would score with the same predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.reliability import expected_calibration_error
from kalibre.statistics import null_band as module
from kalibre.statistics.null_band import null_band, null_bands
from kalibre.statistics.rows import effective_rows


def perfect(rows, seed=0, spread=1.5):
    generator = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-generator.normal(0, spread, rows)))
    return (generator.random(rows) < p).astype(int), p


@pytest.mark.parametrize(
    ("rows", "mean"), [(50, 0.167), (200, 0.086), (1_000, 0.039), (10_000, 0.012)]
)
def test_mean_ece_of_a_perfect_model_with_uniform_predictions_in_15_bins(rows, mean):
    means = []
    for seed in range(40 if rows < 10_000 else 4):
        p = np.random.default_rng(seed).random(rows)
        means.append(null_band(np.zeros(rows), p, bins=15, seed=seed, simulations=400).mean)
    assert np.mean(means) == pytest.approx(mean, abs=0.0015 if rows < 1_000 else 0.0006)


def test_one_bin_follows_the_binomial_distribution():
    # 40 rows at 0.5: the ECE is |S - 20| / 40, and P(|S - 20| >= 7) = 0.0385 for S ~ B(40, 1/2).
    outcomes = np.repeat([1, 0], [27, 13])
    band = null_band(outcomes, np.full(40, 0.5), bins=1, seed=1, simulations=20_000)
    assert band.ece == pytest.approx(7 / 40)
    assert band.p_value == pytest.approx(0.0385, abs=0.005)
    # Mean absolute deviation of B(40, 1/2): 20 C(40, 20) / 2^40 = 2.5074, over 40 rows.
    assert band.mean == pytest.approx(2.5074 / 40, abs=0.0008)
    assert band.rate_lower == pytest.approx([15 / 40])
    assert band.rate_upper == pytest.approx([25 / 40])


def test_a_bin_of_different_predictions_follows_their_sum():
    p = np.array([0.1, 0.2, 0.3])
    band = null_band([0, 0, 0], p, bins=OwnEdges([0.0, 0.5, 1.0]), seed=3, simulations=40_000)
    chances = np.convolve(np.convolve([0.9, 0.1], [0.8, 0.2]), [0.7, 0.3])
    expected = (np.abs(np.arange(4) - 0.6) * chances).sum() / 3
    assert band.mean == pytest.approx(expected, abs=0.002)
    assert band.p_value == pytest.approx(chances[[0, 2, 3]].sum(), abs=0.01)


def test_few_distinct_predictions_are_drawn_together_with_the_same_law(monkeypatch):
    generator = np.random.default_rng(5)
    p = generator.choice([0.1, 0.35, 0.8], 500)
    outcomes = (generator.random(500) < p).astype(int)
    together = null_band(outcomes, p, bins=10, seed=1, simulations=5_000)
    apart = null_band(
        outcomes, p + generator.uniform(0, 1e-9, 500), bins=10, seed=2, simulations=5_000
    )
    assert together.mean == pytest.approx(apart.mean, rel=0.03)
    assert together.upper == pytest.approx(apart.upper, rel=0.03)


def test_an_honest_model_lies_inside_and_an_overconfident_one_outside():
    outcomes, p = perfect(1_000)
    honest = null_band(outcomes, p, seed=1)
    assert honest.lower < honest.median < honest.upper < honest.extreme
    assert not honest.outside
    bold = null_band(outcomes, p**3 / (p**3 + (1 - p) ** 3), seed=1)
    assert bold.outside
    assert bold.excess == pytest.approx(bold.ece - bold.upper)
    assert bold.p_value == pytest.approx(1 / 1_001)


def test_the_band_depends_on_the_outcomes_for_the_measured_ece_alone():
    outcomes, p = perfect(300)
    one, other = null_band(outcomes, p, seed=4), null_band(1 - outcomes, p, seed=4)
    assert one.mean == other.mean
    assert one.upper == other.upper
    assert one.ece == expected_calibration_error(outcomes, p)
    assert one.ece != other.ece


def test_the_normal_approximation_agrees_with_simulation_where_both_run(monkeypatch):
    outcomes, p = perfect(20_000, seed=8)
    rules = {"width": EqualWidth(10), "mass": EqualMass(15)}
    drawn = null_bands(outcomes, p, rules=rules, seed=1, simulations=4_000)
    monkeypatch.setattr(module, "SIMULATED_ROWS", 1_000)
    normal = null_bands(outcomes, p, rules=rules, seed=2, simulations=4_000)
    for name in rules:
        assert normal[name].approximated
        assert not drawn[name].approximated
        for level in ("mean", "lower", "median", "upper"):
            assert getattr(normal[name], level) == pytest.approx(
                getattr(drawn[name], level), rel=0.03
            )
        assert normal[name].rate_lower == pytest.approx(drawn[name].rate_lower, abs=0.003)
        assert normal[name].rate_upper == pytest.approx(drawn[name].rate_upper, abs=0.003)


def test_above_a_million_rows_bins_are_drawn_as_normal_sums():
    p = np.linspace(0.0, 1.0, 1_000_001)
    band = null_band(np.zeros(p.size), p, bins=10, seed=1, simulations=500)
    assert band.approximated
    variance = np.add.reduceat(p * (1 - p), np.arange(0, 1_000_000, 100_000))
    expected = np.sqrt(2 / np.pi * variance).sum() / p.size
    assert band.mean == pytest.approx(expected, rel=0.02)


def test_a_weighted_row_is_one_draw_whatever_it_weighs():
    # One row in each of two bins, weights 3 and 1: four outcomes, each as likely as its row says.
    band = null_band([0, 1], [0.2, 0.7], bins=2, weights=[3, 1], seed=1, simulations=40_000)
    gaps = {(0, 0): 0.6 + 0.7, (0, 1): 0.6 + 0.3, (1, 0): 2.4 + 0.7, (1, 1): 2.4 + 0.3}
    chance = {a: [0.8, 0.2][a[0]] * [0.3, 0.7][a[1]] for a in gaps}
    assert band.mean == pytest.approx(sum(gaps[a] * chance[a] for a in gaps) / 4, abs=0.004)
    assert band.ece == pytest.approx(0.9 / 4)
    assert band.effective_rows == pytest.approx(16 / 10)
    # Rows of equal weight draw as rows without weights do, only the measured ECE counts them.
    outcomes, p = perfect(200)
    plain = null_band(outcomes, p, seed=1, simulations=4_000)
    heavy = null_band(outcomes, p, weights=np.full(200, 5), seed=2, simulations=4_000)
    assert heavy.ece == pytest.approx(plain.ece)
    assert heavy.upper == pytest.approx(plain.upper, rel=0.05)


def test_rows_of_weight_0_count_as_absent():
    outcomes, p = perfect(100)
    kept = np.arange(100) < 60
    band = null_band(outcomes, p, weights=kept.astype(float), seed=1)
    alone = null_band(outcomes[kept], p[kept], weights=np.ones(60), seed=1)
    assert band.mean == alone.mean
    assert band.upper == alone.upper


def test_rows_outside_own_edges_leave_no_band_of_the_ece_but_bands_of_the_bins():
    band = null_band([0, 1, 1, 0], [0.1, 0.6, 0.7, 0.65], bins=OwnEdges([0.5, 1.0]), seed=1)
    assert np.isnan([band.ece, band.mean, band.upper, band.excess, band.p_value]).all()
    assert not band.outside
    assert np.isfinite(band.rate_upper).all()
    nowhere = null_band([0, 1], [0.1, 0.2], bins=OwnEdges([0.5, 1.0]), seed=1)
    assert np.isnan(nowhere.rate_upper).all()


def test_an_empty_bin_has_no_band():
    band = null_band([0, 1], [0.05, 0.95], bins=10, seed=1)
    assert np.isnan(band.rate_lower[1:9]).all()
    assert np.isfinite(band.rate_lower[[0, 9]]).all()


def test_certain_predictions_leave_nothing_to_chance():
    band = null_band([0, 1, 1], [0.0, 1.0, 1.0], bins=10, seed=1)
    assert (band.mean, band.upper, band.ece, band.p_value) == (0.0, 0.0, 0.0, 1.0)


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_nothing(seed, weighted):
    generator = np.random.default_rng(seed)
    outcomes, p = generator.integers(0, 2, 40), generator.random(40).round(2)
    weights = generator.integers(1, 4, 40) if weighted else None
    order = generator.permutation(40)
    one = null_band(outcomes, p, weights=weights, seed=7, simulations=50)
    moved = None if weights is None else weights[order]
    other = null_band(outcomes[order], p[order], weights=moved, seed=7, simulations=50)
    assert one.mean == pytest.approx(other.mean, abs=1e-12)
    assert one.upper == pytest.approx(other.upper, abs=1e-12)


def test_the_same_seed_gives_the_same_band_and_another_one_another():
    outcomes, p = perfect(150)
    assert null_band(outcomes, p, seed=1).mean == null_band(outcomes, p, seed=1).mean
    assert null_band(outcomes, p, seed=1).mean != null_band(outcomes, p, seed=2).mean


def test_a_number_of_simulations_has_to_be_a_positive_whole_number():
    with pytest.raises(ValueError, match="simulations: found 0"):
        null_band([0, 1], [0.2, 0.8], seed=1, simulations=0)


@pytest.mark.parametrize(
    ("weights", "kish"),
    [(None, 4.0), ([2, 2, 2, 2], 4.0), ([1, 0, 0, 0], 1.0), ([3, 1, 1, 1], 3.0)],
)
def test_kish_effective_number_of_rows(weights, kish):
    assert effective_rows(4, weights=weights) == pytest.approx(kish)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [50, 300, 2_000])
def test_one_perfect_model_in_twenty_lies_outside(rows):
    repeats = 600
    outside = sum(null_band(*perfect(rows, seed=s), seed=s).outside for s in range(repeats))
    # Binomial(600, 0.05) has a standard deviation of 0.9 %.
    assert outside / repeats == pytest.approx(0.05, abs=0.027)
