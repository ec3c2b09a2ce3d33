"""The logit and its inverse, far out in both tails."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.logits import expit, logit, softplus


@given(st.floats(-700, 700))
def test_expit_equals_the_textbook_formula_in_both_tails(z):
    expected = 1.0 / (1.0 + math.exp(-z))
    assert float(expit(z)) == pytest.approx(expected, rel=1e-15, abs=0.0)


@given(st.floats(-1e6, 1e6))
def test_the_two_sides_mirror_each_other(z):
    assert float(expit(z)) + float(expit(-z)) == pytest.approx(1.0, abs=1e-15)


@given(st.floats(1e-300, 1.0, exclude_max=True))
def test_logit_undoes_expit(p):
    assert float(expit(logit(p))) == pytest.approx(p, rel=1e-12)


def test_certainty_is_infinite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert logit([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
        assert expit([-np.inf, 0.0, np.inf]).tolist() == [0.0, 0.5, 1.0]
        assert expit([-1e308, 1e308]).tolist() == [0.0, 1.0]


def test_a_clip_bounds_the_logit_on_both_sides():
    bound = math.log((1 - 1e-6) / 1e-6)
    assert logit([0.0, 1.0, 1e-9], clip=1e-6) == pytest.approx([-bound, bound, -bound])


def test_softplus_is_the_log_loss_of_a_wrong_answer():
    for z in (-40.0, -1.0, 0.0, 1.0, 30.0):
        assert float(softplus(z)) == pytest.approx(math.log1p(math.exp(z)), rel=1e-15)
    assert float(softplus(1000.0)) == 1000.0
    assert softplus([-np.inf, np.inf]).tolist() == [0.0, np.inf]
