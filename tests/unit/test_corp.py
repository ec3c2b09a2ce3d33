"""CORP: the Brier score as miscalibration - discrimination + uncertainty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.metrics.proper import brier_score
from kalibre.statistics.corp import corp


def drawn(seed, rows):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2, rows), generator.random(rows).round(2)


def test_by_hand():
    # 0.1, 0.2 | 0.3, 0.4 pooled | 0.9: rates 0, 1/2, 1.
    found = corp([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9])
    assert found.lower.tolist() == [0.1, 0.3, 0.9]
    assert found.upper.tolist() == [0.2, 0.4, 0.9]
    assert found.count.tolist() == [2, 2, 1]
    assert found.observed_rate.tolist() == [0.0, 0.5, 1.0]
    assert found.mean_predicted == pytest.approx([0.15, 0.35, 0.9])
    assert found.recalibrated == pytest.approx(0.1)
    assert found.uncertainty == pytest.approx(0.24)
    assert found.discrimination == pytest.approx(0.14)
    assert found.miscalibration == pytest.approx((0.01 + 0.04 + 0.49 + 0.16 + 0.01) / 5 - 0.1)


@given(st.integers(1, 60), st.integers(0, 2**31))
@settings(max_examples=80, deadline=None)
def test_the_three_add_up_to_the_brier_score(rows, seed):
    outcomes, p = drawn(seed, rows)
    found = corp(outcomes, p)
    assert found.score == pytest.approx(brier_score(outcomes, p), abs=1e-12)
    total = found.miscalibration - found.discrimination + found.uncertainty
    assert total == pytest.approx(found.score, abs=1e-12)
    assert min(found.miscalibration, found.discrimination, found.uncertainty) >= 0.0
    assert (np.diff(found.observed_rate) > 0).all()
    assert found.count.sum() == rows


@given(st.integers(2, 60), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_recalibration_is_scikit_learns_isotonic_regression(rows, seed):
    from sklearn.isotonic import IsotonicRegression

    outcomes, p = drawn(seed, rows)
    fitted = IsotonicRegression().fit(p, outcomes).predict(p)
    found = corp(outcomes, p)
    assert found.recalibrated == pytest.approx(np.square(fitted - outcomes).mean(), abs=1e-9)
    level = np.searchsorted(found.upper, p)
    assert found.observed_rate[level] == pytest.approx(fitted, abs=1e-9)


@given(st.integers(1, 40), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_integer_weights_are_repeated_rows(rows, seed):
    outcomes, p = drawn(seed, rows)
    weights = np.random.default_rng(seed + 1).integers(0, 4, rows)
    weights[0] += 1
    weighted = corp(outcomes, p, weights=weights)
    repeated = corp(np.repeat(outcomes, weights), np.repeat(p, weights))
    for name in ("score", "miscalibration", "discrimination", "uncertainty"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), abs=1e-12)
    assert weighted.observed_rate == pytest.approx(repeated.observed_rate)


def test_a_rising_map_changes_no_discrimination():
    outcomes, p = drawn(4, 80)
    assert corp(outcomes, p**2).discrimination == pytest.approx(corp(outcomes, p).discrimination)


def test_the_base_rate_said_of_every_row_is_calibrated_and_tells_nothing():
    found = corp([1, 0, 0, 0], [0.25] * 4)
    assert (found.miscalibration, found.discrimination) == (0.0, 0.0)
    assert found.uncertainty == pytest.approx(0.1875)
