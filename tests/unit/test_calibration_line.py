"""Calibration intercept and slope, and how far they may be off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.logits import expit, logit
from kalibre.statistics.calibration_line import calibration_line


def model(rows, slope=1.0, intercept=0.0, seed=0):
    """Outcomes whose logit is intercept + slope times the model's."""
    generator = np.random.default_rng(seed)
    z = generator.normal(0, 1.5, rows)
    return (generator.random(rows) < expit(intercept + slope * z)).astype(int), expit(z)


def test_intercept_alone_matches_means():
    outcomes, p = model(500, intercept=0.7, seed=1)
    line = calibration_line(outcomes, p)
    assert expit(logit(p) + line.intercept.estimate).mean() == pytest.approx(outcomes.mean())


def test_a_single_probability_has_an_intercept_by_hand_and_no_slope():
    # 6 of 8 happened where 0.5 was said: ln 3, standard error 1 / sqrt(8 * 3/4 * 1/4).
    line = calibration_line([1] * 6 + [0] * 2, [0.5] * 8)
    assert line.intercept.estimate == pytest.approx(np.log(3))
    half = 1.959964 / np.sqrt(1.5)
    assert line.intercept.lower == pytest.approx(np.log(3) - half, abs=1e-6)
    assert line.intercept.upper == pytest.approx(np.log(3) + half, abs=1e-6)
    assert line.slope.undefined == "every row has the same probability: a slope needs at least two"
    assert np.isnan(line.slope.estimate)


def test_two_probabilities_have_a_slope_by_hand():
    # The line passes through both observed log odds.
    outcomes = [1, 0, 0, 0, 1, 1, 1, 1, 0]
    line = calibration_line(outcomes, [0.4] * 4 + [0.6] * 5)
    low, high = np.log(1 / 3), np.log(4)
    assert line.slope.estimate == pytest.approx((high - low) / (2 * logit(0.6)))
    assert line.intercept_at_slope == pytest.approx((high + low) / 2)
    error = np.sqrt(1 + 1 / 3 + 1 / 4 + 1) / (2 * float(logit(0.6)))
    assert line.slope.upper - line.slope.estimate == pytest.approx(1.959964 * error, rel=1e-6)


def test_slope_and_intercept_are_those_of_an_unpenalised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    outcomes, p = model(400, slope=0.6, intercept=0.3, seed=2)
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1_000).fit(
        logit(p)[:, None], outcomes
    )
    line = calibration_line(outcomes, p)
    assert line.slope.estimate == pytest.approx(fitted.coef_[0, 0], abs=1e-5)
    assert line.intercept_at_slope == pytest.approx(fitted.intercept_[0], abs=1e-5)


def test_a_bold_model_has_a_slope_below_1_and_a_timid_one_above():
    outcomes, p = model(3_000, slope=0.5, seed=3)
    assert calibration_line(outcomes, p).slope.upper < 1.0
    outcomes, p = model(3_000, slope=2.0, seed=3)
    assert calibration_line(outcomes, p).slope.lower > 1.0


def test_profile_ends_lie_where_the_likelihood_has_fallen_by_the_quantile():
    outcomes, p = model(60, seed=4)
    line = calibration_line(outcomes, p, method="profile", level=0.9)

    def loss(intercept, slope):
        said = expit(intercept + slope * logit(p))
        return -np.log(np.where(outcomes == 1, said, 1 - said)).sum()

    best = loss(line.intercept.estimate, 1.0)
    for end in (line.intercept.lower, line.intercept.upper):
        assert loss(end, 1.0) - best == pytest.approx(1.644854**2 / 2, abs=1e-5)
    best = loss(line.intercept_at_slope, line.slope.estimate)
    grid = np.linspace(-3, 3, 60_001)
    for end in (line.slope.lower, line.slope.upper):
        z = logit(p)
        lines = grid[::100, None] + end * z
        coarse = grid[::100][np.argmin((np.logaddexp(0, lines) - outcomes * lines).sum(axis=1))]
        fine = coarse + np.linspace(-0.02, 0.02, 401)
        lowest = min(loss(a, end) for a in fine)
        assert lowest - best == pytest.approx(1.644854**2 / 2, abs=1e-4)


def test_with_many_rows_both_intervals_agree():
    outcomes, p = model(20_000, slope=0.8, seed=5)
    wald = calibration_line(outcomes, p).slope
    profile = calibration_line(outcomes, p, method="profile").slope
    assert (profile.lower, profile.upper) == pytest.approx((wald.lower, wald.upper), abs=2e-4)


def test_logits_beyond_the_clip_are_counted_and_moved():
    outcomes, p = model(50, seed=6)
    p[:3] = [0.0, 1.0, 1e-9]
    line = calibration_line(outcomes, p)
    assert line.clipped == 3
    moved = np.clip(p, 1e-6, 1 - 1e-6)
    assert line.slope.estimate == pytest.approx(calibration_line(outcomes, moved).slope.estimate)
    exact = calibration_line(outcomes, p, logits=logit(moved))
    assert exact.clipped == 0


def test_one_class_and_separated_classes_have_no_estimate_but_a_reason():
    line = calibration_line([1, 1, 1], [0.2, 0.5, 0.7])
    assert line.intercept.undefined == "one class only: every row measured has outcome 1"
    for outcomes in ([0, 0, 1, 1], [1, 1, 0, 0]):
        line = calibration_line(outcomes, [0.1, 0.3, 0.6, 0.9])
        assert line.slope.undefined is not None
        assert "the slope is infinite" in line.slope.undefined
        assert line.intercept.undefined is None


@given(st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_integer_weights_are_repeated_rows_in_the_estimates(seed):
    generator = np.random.default_rng(seed)
    outcomes, p = model(40, seed=seed)
    weights = generator.integers(0, 4, 40)
    weights[:4] += 1
    weighted = calibration_line(outcomes, p, weights=weights)
    repeated = calibration_line(np.repeat(outcomes, weights), np.repeat(p, weights))
    for name in ("intercept", "slope"):
        found, expected = getattr(weighted, name), getattr(repeated, name)
        assert found.undefined == expected.undefined
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-6, nan_ok=True)


def test_in_an_interval_a_weighted_row_is_one_draw():
    outcomes, p = model(300, seed=7)
    plain = calibration_line(outcomes, p)
    heavy = calibration_line(outcomes, p, weights=np.full(300, 4.0))
    assert heavy.slope.lower == pytest.approx(plain.slope.lower)
    assert heavy.intercept.upper == pytest.approx(plain.intercept.upper)


def test_a_level_or_method_out_of_range_is_refused():
    with pytest.raises(ValueError, match="level: found 95"):
        calibration_line([0, 1], [0.2, 0.8], level=95)
    with pytest.raises(ValueError, match="method: found 'exact'"):
        calibration_line([0, 1], [0.2, 0.8], method="exact")
    with pytest.raises(ValueError, match="no likelihood to profile"):
        calibration_line([0, 1], [0.2, 0.8], weights=[1, 2], method="profile")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["wald", "profile"])
@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.5, 0.4)])
def test_coverage(method, slope, intercept):
    repeats, hits = 300, 0
    for seed in range(repeats):
        line = calibration_line(*model(200, slope, intercept, seed), method=method)
        hits += line.slope.lower <= slope <= line.slope.upper
    assert 0.91 <= hits / repeats <= 0.99
