"""Bootstrap intervals of scores, and of differences on the same rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalibre.logits import expit, logit
from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.proper import brier_score, log_loss
from kalibre.metrics.ranking import accuracy, roc_auc
from kalibre.statistics.bootstrap import Drawing, bootstrap_differences, bootstrap_intervals
from kalibre.statistics.counted import CountedRows, measures
from kalibre.statistics.debiased import debiased_error
from kalibre.statistics.resampling import JACKKNIFE_BLOCKS, Units, jackknife, resamples

SCORES = ("brier", "log_loss", "accuracy", "roc_auc")
RULES = {"fifths": EqualWidth(5), "mass": EqualMass(4)}


def model(rows, seed=0, boldness=1.0):
    generator = np.random.default_rng(seed)
    z = generator.normal(0, 1.5, rows)
    return (generator.random(rows) < expit(z)).astype(int), expit(boldness * z)


def counted(outcomes, p, counts, rules=RULES, weights=None):
    """All measures of rows that count so often, by name."""
    rows = CountedRows(
        np.asarray(outcomes, dtype=float),
        np.asarray(p, dtype=float),
        logit(p),
        None if weights is None else np.asarray(weights, dtype=float),
    )
    found, _ = measures(rows, rules)
    return {name: measure(np.atleast_2d(counts).astype(float)) for name, measure in found.items()}


@given(st.integers(0, 2**31), st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_counted_rows_measure_as_repeated_rows_do(seed, rows):
    generator = np.random.default_rng(seed)
    outcomes, p = generator.integers(0, 2, rows), generator.random(rows).round(1).clip(0.05, 0.95)
    outcomes[:2] = 0, 1
    counts = generator.integers(0, 4, rows)
    counts[:2] += 1
    found = counted(outcomes, p, counts, rules={"tenths": EqualWidth(10)})
    y, q = np.repeat(outcomes, counts), np.repeat(p, counts)
    assert found["brier"][0] == pytest.approx(brier_score(y, q))
    assert found["log_loss"][0] == pytest.approx(log_loss(y, q))
    assert found["accuracy"][0] == pytest.approx(accuracy(y, q))
    assert found["roc_auc"][0] == pytest.approx(roc_auc(y, q))
    expected = debiased_error(y, q, bins=10).squared
    assert found["tenths/debiased_squared_error"][0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_the_estimate_is_the_score_itself(name):
    outcomes, p = model(300)
    whole = {
        "brier": brier_score(outcomes, p),
        "log_loss": log_loss(outcomes, p),
        "accuracy": accuracy(outcomes, p),
        "roc_auc": roc_auc(outcomes, p),
    }
    found = bootstrap_intervals(outcomes, p, drawing=Drawing(seed=1, resamples=200))[name]
    assert found.estimate == pytest.approx(whole[name])
    assert found.lower < found.estimate < found.upper
    assert found.undefined is None


def test_three_rows_have_27_resamples_and_the_quantiles_are_theirs():
    outcomes, p = np.array([0, 1, 1]), np.array([0.1, 0.4, 0.8])
    errors = np.square(p - outcomes)
    every = [np.mean(errors[list(rows)]) for rows in itertools.product(range(3), repeat=3)]
    drawing = Drawing(seed=1, resamples=60_000, level=0.6, method="percentile")
    found = bootstrap_intervals(outcomes, p, drawing=drawing)["brier"]
    expected = np.quantile(every, [0.2, 0.8], method="inverted_cdf")
    assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-9)


def test_the_level_is_a_fraction():
    outcomes, p = model(200)
    found = {
        level: bootstrap_intervals(
            outcomes, p, drawing=Drawing(seed=1, level=level, method="percentile")
        )["brier"]
        for level in (0.5, 0.9, 0.99)
    }
    assert found[0.99].lower < found[0.9].lower < found[0.5].lower
    # At 0.9 the ends are those of the mean's standard error times 1.645.
    errors = np.square(p - outcomes)
    half = 1.645 * errors.std() / np.sqrt(200)
    assert found[0.9].upper - found[0.9].lower == pytest.approx(2 * half, rel=0.08)
    with pytest.raises(ValueError, match="level: found 95"):
        Drawing(seed=1, level=95)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("name", ["brier", "accuracy", "log_loss"])
def test_intervals_of_means_are_those_of_scipy(name, method):
    from scipy.stats import bootstrap

    outcomes, p = model(80, seed=3, boldness=2.0)
    values = {
        "brier": np.square(p - outcomes),
        "accuracy": ((p >= 0.5) == outcomes).astype(float),
        "log_loss": -np.log(np.where(outcomes == 1, p, 1 - p)),
    }[name]
    expected = bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        method={"bca": "BCa"}.get(method, method),
        confidence_level=0.9,
        rng=np.random.default_rng(1),
    ).confidence_interval
    drawing = Drawing(seed=2, resamples=20_000, level=0.9, method=method)
    found = bootstrap_intervals(outcomes, p, drawing=drawing)[name]
    width = expected.high - expected.low
    assert found.lower == pytest.approx(expected.low, abs=0.03 * width)
    assert found.upper == pytest.approx(expected.high, abs=0.03 * width)


def test_bca_of_the_auc_is_that_of_scipy():
    from scipy.stats import bootstrap

    outcomes, p = model(60, seed=4)
    expected = bootstrap(
        (outcomes, p),
        lambda y, q: roc_auc(y, q),
        paired=True,
        vectorized=False,
        n_resamples=3_000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = bootstrap_intervals(outcomes, p, drawing=Drawing(seed=2, resamples=10_000))["roc_auc"]
    width = expected.high - expected.low
    assert found.lower == pytest.approx(expected.low, abs=0.06 * width)
    assert found.upper == pytest.approx(expected.high, abs=0.06 * width)


def test_differences_are_paired():
    outcomes, p = model(400, seed=5)
    nearly = np.clip(p + 0.001, 0, 1)
    drawing = Drawing(seed=1, resamples=400)
    found = bootstrap_differences(outcomes, p, nearly, drawing=drawing, rules=RULES)
    alone = bootstrap_intervals(outcomes, p, drawing=drawing)["brier"]
    paired = found["brier"]
    assert paired.estimate == pytest.approx(
        brier_score(outcomes, nearly) - brier_score(outcomes, p)
    )
    assert paired.upper - paired.lower < 0.05 * (alone.upper - alone.lower)
    assert set(found) == {*SCORES, "fifths/debiased_squared_error", "mass/debiased_squared_error"}


def test_an_order_preserving_map_changes_no_auc_in_any_resample():
    outcomes, p = model(200, seed=6)
    found = bootstrap_differences(outcomes, p, p**2, drawing=Drawing(seed=1, resamples=100))
    assert found["roc_auc"].estimate == pytest.approx(0.0, abs=1e-12)
    assert found["roc_auc"].undefined == "no variance: it is 0 in every resample"


def test_a_difference_turned_round_changes_its_sign():
    outcomes, p = model(150, seed=7)
    q = expit(2 * logit(p))
    drawing = Drawing(seed=1, resamples=300, method="percentile")
    one = bootstrap_differences(outcomes, p, q, drawing=drawing)["log_loss"]
    other = bootstrap_differences(outcomes, q, p, drawing=drawing)["log_loss"]
    assert one.estimate == pytest.approx(-other.estimate)
    assert one.lower == pytest.approx(-other.upper, rel=0.1)


def test_strata_keep_the_number_of_each_outcome():
    labels = np.array([0, 0, 0, 1, 1])
    for counts in resamples(Units.of_strata(labels), 500, np.random.default_rng(1)):
        assert (counts[:, :3].sum(axis=1) == 3).all()
        assert (counts[:, 3:].sum(axis=1) == 2).all()


def test_a_stratified_interval_does_not_vary_with_the_base_rate():
    # The score is the base rate alone: within strata nothing is left to vary.
    outcomes = np.repeat([0, 1], [30, 70])
    p = np.full(100, 0.8)
    drawing = Drawing(seed=1, resamples=100, stratified=True)
    found = bootstrap_intervals(outcomes, p, drawing=drawing)["brier"]
    assert found.undefined == f"no variance: it is {brier_score(outcomes, p):g} in every resample"


def test_groups_are_drawn_together():
    group = np.array([2, 0, 0, 1, 2, 2])
    units = Units.of_groups(group)
    for counts in resamples(units, 300, np.random.default_rng(1)):
        assert (counts[:, 1] == counts[:, 2]).all()
        assert (counts[:, 0] == counts[:, 4]).all()
        assert (counts[:, [1, 3, 0]].sum(axis=1) == 3).all()


def test_copies_of_each_row_are_no_news_when_drawn_by_group():
    outcomes, p = model(150, seed=8)
    drawing = Drawing(seed=1, resamples=2_000, method="percentile")
    once = bootstrap_intervals(outcomes, p, drawing=drawing)["brier"]
    copies = np.repeat(np.arange(150), 5)
    y, q = outcomes[copies], p[copies]
    together = bootstrap_intervals(y, q, drawing=drawing, groups=copies.astype(str))["brier"]
    apart = bootstrap_intervals(y, q, drawing=drawing)["brier"]
    width = once.upper - once.lower
    assert together.upper - together.lower == pytest.approx(width, rel=0.08)
    assert apart.upper - apart.lower == pytest.approx(width / np.sqrt(5), rel=0.08)


def test_groups_and_strata_exclude_each_other():
    drawing = Drawing(seed=1, stratified=True)
    with pytest.raises(ValueError, match="rows in groups are drawn by group"):
        bootstrap_intervals([0, 1], [0.2, 0.8], drawing=drawing, groups=[1, 2])


def test_a_weighted_row_is_one_draw():
    outcomes, p = model(200, seed=9)
    drawing = Drawing(seed=1, resamples=1_000)
    plain = bootstrap_intervals(outcomes, p, drawing=drawing)["brier"]
    heavy = bootstrap_intervals(outcomes, p, weights=np.full(200, 9.0), drawing=drawing)["brier"]
    assert (heavy.lower, heavy.upper) == pytest.approx((plain.lower, plain.upper))
    weights = np.random.default_rng(1).integers(1, 5, 200)
    found = bootstrap_intervals(outcomes, p, weights=weights, drawing=drawing)["brier"]
    repeated = brier_score(np.repeat(outcomes, weights), np.repeat(p, weights))
    assert found.estimate == pytest.approx(repeated)
    assert found.upper - found.lower > plain.upper - plain.lower


def test_bins_keep_the_edges_of_the_full_sample():
    """Ten rows in ten equal-mass bins: a resample that repeats rows must not make bins of its own."""
    outcomes, p = np.tile([0, 1], 5), np.arange(1, 11) / 11
    found = counted(outcomes, p, np.array([2, 2, 2, 2, 2, 0, 0, 0, 0, 0]), {"m": EqualMass(10)})
    expected = np.mean(np.square(p[:5] - outcomes[:5]))
    assert found["m/debiased_squared_error"][0] == pytest.approx(expected)


def test_there_is_no_interval_of_the_plug_in_ece():
    outcomes, p = model(50)
    found = bootstrap_intervals(outcomes, p, drawing=Drawing(seed=1, resamples=20), rules=RULES)
    assert not any("ece" in name for name in found)


def test_one_class_has_no_auc_and_an_infinite_log_loss_no_interval():
    found = bootstrap_intervals([1, 1, 1], [0.2, 0.5, 0.0], drawing=Drawing(seed=1, resamples=50))
    assert found["roc_auc"].undefined == "one class only: every row measured has outcome 1"
    assert found["log_loss"].undefined == "infinite: 1 certain predictions were wrong"
    assert np.isfinite(found["brier"].lower)


def test_resamples_without_a_second_class_are_left_out_and_counted():
    outcomes, p = np.array([1, 0, 0, 0, 0, 0]), np.linspace(0.9, 0.1, 6)
    p[0] = 0.5
    found = bootstrap_intervals(outcomes, p, drawing=Drawing(seed=1, resamples=2_000))["roc_auc"]
    # The one positive row is missing from (5/6)^6 = 33 % of the resamples.
    assert found.resamples / 2_000 == pytest.approx(1 - (5 / 6) ** 6, abs=0.03)
    assert np.isfinite(found.lower)


def test_rows_outside_own_edges_leave_the_debiased_error_without_an_interval():
    rules = {"half": OwnEdges([0.5, 1.0])}
    drawing = Drawing(seed=1, resamples=50)
    found = bootstrap_intervals([0, 1, 1], [0.1, 0.6, 0.9], drawing=drawing, rules=rules)
    assert found["half/debiased_squared_error"].undefined == "1 rows lie outside the edges"


def test_log_loss_and_auc_are_read_off_the_logits():
    outcomes, z = np.array([1, 0, 1, 0, 1]), np.array([90.0, 50.0, 80.0, -2.0, 0.5])
    found = bootstrap_intervals(
        outcomes, expit(z), logits=z, drawing=Drawing(seed=1, resamples=100)
    )
    assert found["log_loss"].estimate == pytest.approx(log_loss(outcomes, expit(z), logits=z))
    assert found["roc_auc"].estimate == pytest.approx(roc_auc(outcomes, z))


@given(st.integers(0, 2**31), st.sampled_from(["rows", "strata", "groups"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_nothing(seed, drawn, weighted):
    generator = np.random.default_rng(seed)
    outcomes, p = model(40, seed=seed % 1000)
    p = p.round(2).clip(0.01, 0.99)
    weights = generator.integers(1, 4, 40) if weighted else None
    groups = generator.integers(0, 9, 40) if drawn == "groups" else None
    drawing = Drawing(seed=3, resamples=60, stratified=drawn == "strata")
    order = generator.permutation(40)
    one = bootstrap_intervals(
        outcomes, p, weights=weights, groups=groups, drawing=drawing, rules=RULES
    )
    other = bootstrap_intervals(
        outcomes[order],
        p[order],
        weights=None if weights is None else weights[order],
        groups=None if groups is None else groups[order],
        drawing=drawing,
        rules=RULES,
    )
    for name, interval in one.items():
        assert interval.lower == pytest.approx(other[name].lower, abs=1e-9, nan_ok=True)
        assert interval.upper == pytest.approx(other[name].upper, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("rows", [7, 199, 1_000])
def test_a_jackknife_leaves_each_row_out_once(rows):
    left_out = sum(
        (1 - counts).sum(axis=0)
        for counts in jackknife(Units.of_rows(rows), np.random.default_rng(1))
    )
    assert (left_out == 1).all()
    blocks = sum(len(counts) for counts in jackknife(Units.of_rows(rows), np.random.default_rng(1)))
    assert blocks == min(rows, JACKKNIFE_BLOCKS)


def test_the_debiased_error_is_centred_on_its_estimate():
    """A resample adds the noise once more; the interval takes that off again."""
    outcomes, p = model(2_000, seed=10)
    drawing = Drawing(seed=1, resamples=1_000)
    found = bootstrap_intervals(outcomes, p, drawing=drawing, rules={"tenths": EqualWidth(10)})
    interval = found["tenths/debiased_squared_error"]
    assert interval.lower < 0.0 < interval.upper
    assert interval.lower < interval.estimate < interval.upper


# What the simulations below hold against is the truth of the drawn population, not another estimate.


def truths(boldness):
    """Expected scores of the model with standard deviation 1.5 of its logits, by a fine grid."""
    z = np.linspace(-12, 12, 400_001)
    mass = np.exp(-0.5 * (z / 1.5) ** 2)
    mass /= mass.sum()
    true, said = expit(z), expit(boldness * z)
    positive = np.cumsum(mass * true)
    gaps = np.add.reduceat(
        mass * (said - true), np.searchsorted(said, np.arange(10) / 10, side="left")
    )
    shares = np.add.reduceat(mass, np.searchsorted(said, np.arange(10) / 10, side="left"))
    negatives = np.cumsum(mass * (1 - true))
    return {
        "brier": (mass * (np.square(said - true) + true * (1 - true))).sum(),
        "log_loss": (mass * (np.logaddexp(0, boldness * z) - true * boldness * z)).sum(),
        "accuracy": (mass * np.where(said >= 0.5, true, 1 - true)).sum(),
        "roc_auc": (mass * true * negatives).sum() / (positive[-1] * negatives[-1]),
        "tenths/debiased_squared_error": (gaps**2 / shares).sum(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("boldness", [1.0, 2.5], ids=["perfect", "bold"])
@pytest.mark.parametrize(("rows", "repeats"), [(100, 300), (500, 200), (5_000, 60)])
def test_coverage(rows, repeats, boldness, method):
    expected = truths(boldness)
    hits = dict.fromkeys(expected, 0)
    for seed in range(repeats):
        outcomes, p = model(rows, seed=seed, boldness=boldness)
        drawing = Drawing(seed=seed, resamples=400, method=method)
        found = bootstrap_intervals(outcomes, p, drawing=drawing, rules={"tenths": EqualWidth(10)})
        for name, truth in expected.items():
            hits[name] += found[name].lower <= truth <= found[name].upper
    for name, count in hits.items():
        # Three standard deviations of a binomial around a nominal 95 %, and 2 % for few rows.
        allowed = 3 * np.sqrt(0.95 * 0.05 / repeats) + 0.02
        assert count / repeats >= 0.95 - allowed, name


@pytest.mark.slow
@pytest.mark.parametrize("boldness", [0.8, 1.5])
def test_coverage_of_paired_differences(boldness):
    expected = {name: truths(boldness)[name] - truths(1.0)[name] for name in ("brier", "log_loss")}
    hits = dict.fromkeys(expected, 0)
    for seed in range(200):
        outcomes, p = model(400, seed=seed)
        q = expit(boldness * logit(p))
        found = bootstrap_differences(outcomes, p, q, drawing=Drawing(seed=seed, resamples=400))
        for name, truth in expected.items():
            hits[name] += found[name].lower <= truth <= found[name].upper
    for name, count in hits.items():
        assert count / 200 >= 0.88, name
