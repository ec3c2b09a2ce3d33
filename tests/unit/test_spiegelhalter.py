"""Spiegelhalter's z: is the Brier score what the predictions say it should be?"""

from __future__ import annotations

import numpy as np
import pytest

from kalibre.statistics.spiegelhalter import spiegelhalter


def test_by_hand():
    # Two rows at 0.2, one happened: (1 - 0.4) 0.8 - (1 - 0.4) 0.2 over the root of 2 * 0.36 * 0.16.
    found = spiegelhalter([1, 0], [0.2, 0.2])
    assert found.z == pytest.approx(0.36 / np.sqrt(0.1152))


def test_it_is_the_brier_score_standardised_by_its_own_mean_and_variance():
    generator = np.random.default_rng(2)
    p = generator.random(50)
    outcomes = generator.integers(0, 2, 50)
    brier = np.square(outcomes - p).mean()
    drawn = np.square((generator.random((200_000, 50)) < p) - p).mean(axis=1)
    assert spiegelhalter(outcomes, p).z == pytest.approx(
        (brier - drawn.mean()) / drawn.std(), abs=0.03
    )


@pytest.mark.parametrize(("z", "p_value"), [(1.959964, 0.05), (2.575829, 0.01)])
def test_its_p_value_is_two_sided(z, p_value):
    # A single row at p < 1/2 that happened has z = sqrt((1 - p) / p).
    found = spiegelhalter([1], [1 / (1 + z**2)])
    assert found.z == pytest.approx(z)
    assert found.p_value == pytest.approx(p_value, abs=1e-6)


def test_overconfidence_is_positive_and_timidity_negative():
    generator = np.random.default_rng(1)
    p = generator.random(2_000)
    outcomes = (generator.random(2_000) < p).astype(int)
    assert abs(spiegelhalter(outcomes, p).z) < 3
    assert spiegelhalter(outcomes, p**3 / (p**3 + (1 - p) ** 3)).z > 5
    assert spiegelhalter(outcomes, np.sqrt(p) / (np.sqrt(p) + np.sqrt(1 - p))).z < -5


def test_predictions_without_variance_have_none():
    found = spiegelhalter([0, 1, 1], [0.0, 0.5, 1.0])
    assert np.isnan([found.z, found.p_value]).all()


def test_a_weighted_row_is_one_draw():
    outcomes, p = [1, 0, 1], [0.2, 0.3, 0.6]
    plain = spiegelhalter(outcomes, p)
    assert spiegelhalter(outcomes, p, weights=[7, 7, 7]).z == pytest.approx(plain.z)
    alone = spiegelhalter(outcomes[:2], p[:2])
    assert spiegelhalter(outcomes, p, weights=[1, 1, 0]).z == pytest.approx(alone.z)


@pytest.mark.slow
def test_it_is_standard_normal_for_true_probabilities():
    generator = np.random.default_rng(9)
    p = generator.random(400)
    found = [spiegelhalter(generator.random(400) < p, p) for _ in range(4_000)]
    z = np.array([each.z for each in found])
    assert z.mean() == pytest.approx(0.0, abs=0.05)
    assert z.std() == pytest.approx(1.0, abs=0.04)
    assert np.mean([each.p_value < 0.05 for each in found]) == pytest.approx(0.05, abs=0.012)
