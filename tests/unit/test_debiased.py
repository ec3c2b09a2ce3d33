"""The squared calibration error with the part that chance adds taken off."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.metrics.bins import EqualMass, OwnEdges
from kalibre.statistics.debiased import debiased_error


def test_by_hand():
    # One bin of four rows: gap 0.5 - 0.75, variance 0.75 * 0.25 / 3.
    found = debiased_error([1, 1, 1, 0], [0.4, 0.5, 0.5, 0.6], bins=1)
    assert found.squared == pytest.approx(0.0625 - 0.0625)
    found = debiased_error([1, 1, 1, 1, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.9, 0.9], bins=2)
    assert found.squared == pytest.approx((4 * 0.64 + 2 * 0.81) / 6)
    assert found.root == pytest.approx(np.sqrt((4 * 0.64 + 2 * 0.81) / 6))
    assert found.left_out == 0.0


def test_it_is_negative_where_rates_are_closer_than_chance_would_have_them():
    found = debiased_error([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5], bins=1)
    assert found.squared == pytest.approx(-0.25 / 3)
    assert found.root == 0.0


def test_bins_of_one_row_add_nothing_and_their_share_is_said():
    found = debiased_error([1, 1, 0, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9], bins=10)
    expected = 3 / 5 * ((0.3 - 1 / 3) ** 2 - (1 / 3 * 2 / 3) / 2)
    assert found.squared == pytest.approx(expected)
    assert found.left_out == pytest.approx(2 / 5)


def test_it_has_no_value_where_rows_lie_outside_the_bins():
    assert np.isnan(debiased_error([0, 1], [0.1, 0.9], bins=OwnEdges([0.5, 1.0])).squared)


def test_it_is_unbiased():
    """Averaged over all outcomes of six rows with their chances it is the true squared gap."""
    said = np.array([0.2, 0.3, 0.4, 0.6, 0.7, 0.9])
    truth = 0.35, 0.8
    chances = np.repeat(truth, 3)
    mean = 0.0
    for outcomes in itertools.product([0, 1], repeat=6):
        happened = np.array(outcomes)
        chance = np.where(happened == 1, chances, 1 - chances).prod()
        mean += chance * debiased_error(happened, said, bins=2).squared
    gaps = said[:3].mean() - truth[0], said[3:].mean() - truth[1]
    assert mean == pytest.approx(np.square(gaps).mean(), abs=1e-12)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_integer_weights_are_repeated_rows(data):
    rows = data.draw(st.integers(1, 25))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    outcomes, p = generator.integers(0, 2, rows), generator.random(rows).round(2)
    weights = generator.integers(0, 4, rows)
    weights[0] += 1
    bins = data.draw(st.sampled_from([5, EqualMass(4)]))
    weighted = debiased_error(outcomes, p, bins=bins, weights=weights)
    repeated = debiased_error(np.repeat(outcomes, weights), np.repeat(p, weights), bins=bins)
    assert weighted.squared == pytest.approx(repeated.squared, abs=1e-12)
    assert weighted.left_out == pytest.approx(repeated.left_out)
