"""One set of predictions under many rules, and all honest numbers under their names."""

from __future__ import annotations

import numpy as np
import pytest

from kalibre.logits import expit
from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.proper import brier_score
from kalibre.metrics.reliability import expected_calibration_error, top_label
from kalibre.statistics.report import HonestSettings, honest_numbers
from kalibre.statistics.spread import ece_spread

BINS = {"tenths": EqualWidth(10)}


def model(rows, seed=0, boldness=1.0):
    generator = np.random.default_rng(seed)
    z = generator.normal(0, 1.5, rows)
    return (generator.random(rows) < expit(z)).astype(int), expit(boldness * z)


def test_a_spread_has_both_readings_both_rules_and_all_counts():
    outcomes, p = model(200)
    rows = ece_spread(outcomes, p, seed=1, simulations=50)
    assert len({row.name for row in rows}) == 2 * 2 * 4
    found = {row.name: row for row in rows}
    for count in (5, 10, 15, 20):
        assert found[f"class_1/equal_width_{count}"].ece == expected_calibration_error(
            outcomes, p, bins=EqualWidth(count)
        )
        assert found[f"class_1/equal_mass_{count}"].ece == expected_calibration_error(
            outcomes, p, bins=EqualMass(count)
        )
        correct, confidence = top_label(outcomes, p)
        assert found[f"top_label/equal_width_{count}"].ece == expected_calibration_error(
            correct, confidence, bins=count
        )


def test_more_bins_have_a_larger_ece_and_a_larger_band_for_an_honest_model():
    outcomes, p = model(400)
    rows = ece_spread(outcomes, p, counts=(5, 40), seed=1, simulations=200)
    found = {row.name: row for row in rows}
    few, many = found["class_1/equal_width_5"], found["class_1/equal_width_40"]
    assert many.ece > few.ece
    assert many.null_mean > few.null_mean
    assert max(row.excess for row in rows) < 0.02


def test_weights_count_as_repeated_rows_in_a_spread():
    outcomes, p = model(60)
    weights = np.random.default_rng(1).integers(1, 4, 60)
    weighted = ece_spread(outcomes, p, weights=weights, seed=1, simulations=5)
    y, q = np.repeat(outcomes, weights), np.repeat(p, weights)
    repeated = ece_spread(y, q, seed=1, simulations=5)
    assert [row.ece for row in weighted] == pytest.approx([row.ece for row in repeated])


def test_ties_leave_fewer_equal_mass_bins():
    rows = ece_spread([0, 1] * 20, [0.2, 0.8] * 20, counts=(10,), seed=1, simulations=5)
    assert {row.name: row.bins_used for row in rows}["class_1/equal_mass_10"] == 2


def test_every_honest_number_has_a_name_and_a_value():
    outcomes, p = model(300, boldness=2.0)
    numbers = honest_numbers(outcomes, p, bins=BINS)
    metrics = numbers.metrics
    assert numbers.undefined == {}
    assert metrics["tenths/ece_outside"] == 1.0
    ece = expected_calibration_error(outcomes, p)
    assert metrics["tenths/ece_excess"] == pytest.approx(ece - metrics["tenths/null_band/upper"])
    assert metrics["brier/lower"] < brier_score(outcomes, p) < metrics["brier/upper"]
    assert metrics["calibration_slope/upper"] < 1.0
    assert metrics["spiegelhalter_z"] > 1.96
    assert metrics["smooth_ece_excess"] > 0.0
    assert metrics["tenths/debiased_rms"] < metrics["tenths/debiased_rms/upper"]
    parts = metrics["corp/miscalibration"] - metrics["corp/discrimination"]
    assert parts + metrics["corp/uncertainty"] == pytest.approx(brier_score(outcomes, p))
    assert metrics["spread/class_1/lowest"] <= ece <= metrics["spread/class_1/highest"]
    assert metrics["effective_rows"] == 300.0
    assert set(numbers.tables) == {"null_bands", "spread", "corp", "intervals"}
    assert all(np.isfinite(value) and isinstance(value, float) for value in metrics.values())


def test_what_has_no_value_has_a_reason():
    numbers = honest_numbers([1, 1], [1.0, 0.0], bins={"half": OwnEdges([0.5, 1.0])})
    assert numbers.undefined["half/ece_excess"] == "rows lie outside the edges"
    assert numbers.undefined["calibration_slope/lower"].startswith("one class only")
    assert numbers.undefined["log_loss/lower"].startswith("infinite")
    assert numbers.undefined["spiegelhalter_z"].startswith("every prediction is 0, 0.5 or 1")
    assert all(numbers.undefined.values())
    assert not set(numbers.metrics) & set(numbers.undefined)
    assert numbers.notes == ("calibration intercept and slope: 2 rows clipped at 1e-6 from 0 or 1",)


def test_a_single_row_and_equal_predictions_are_measured():
    for outcomes, p in (([1], [0.3]), ([0, 1, 1], [0.5, 0.5, 0.5]), ([0] * 5, [0.0] * 5)):
        numbers = honest_numbers(outcomes, p, bins=BINS | {"mass": EqualMass(10)})
        assert "tenths/null_band/mean" in numbers.metrics


def test_weights_and_groups_reach_the_intervals():
    outcomes, p = model(200)
    settings = HonestSettings(resamples=300, simulations=50, smooth_simulations=5)
    plain = honest_numbers(outcomes, p, bins=BINS, settings=settings).metrics
    groups = np.arange(200) // 20
    grouped = honest_numbers(outcomes, p, bins=BINS, groups=groups, settings=settings).metrics
    assert grouped["brier/lower"] != plain["brier/lower"]
    weights = np.where(np.arange(200) < 20, 10.0, 1.0)
    weighted = honest_numbers(outcomes, p, bins=BINS, weights=weights, settings=settings).metrics
    assert weighted["effective_rows"] == pytest.approx(380**2 / (20 * 100 + 180))


def test_stages_that_are_switched_off_leave_nothing_behind():
    settings = {"resamples": 0, "spread": (), "smooth_simulations": 0}
    outcomes, p = model(50)
    metrics = honest_numbers(outcomes, p, bins=BINS, settings=settings).metrics
    assert not any(name.startswith(("spread/", "brier/", "smooth_ece/")) for name in metrics)
    assert "smooth_ece" in metrics


def test_the_same_seed_gives_the_same_numbers():
    outcomes, p = model(120)
    settings = {"resamples": 100, "simulations": 100, "seed": 4}
    one = honest_numbers(outcomes, p, bins=BINS, settings=settings)
    order = np.random.default_rng(1).permutation(120)
    other = honest_numbers(outcomes[order], p[order], bins=BINS, settings=settings)
    assert one.metrics == pytest.approx(other.metrics, abs=1e-9)


# This value, from this paper or package, on this input.

TEN = np.array([0, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
TEN_OUTCOMES = np.array([1, 1, 0, 1, 0, 1, 1, 1, 1, 0])
TEN_INSIDE = np.clip(TEN, 0.01, 0.99)
_I = np.arange(200)
LATTICE = (_I + 0.5) / 200
LATTICE_OUTCOMES = ((_I * _I * 7 + _I * 3) % 11 < 11 * (0.15 + 0.7 * LATTICE)).astype(int)
ONCE = {"resamples": 0, "spread": (), "simulations": 1, "smooth_simulations": 0}
FIFTEENTHS = {f"bins_{count}": EqualWidth(count) for count in (5, 10, 15)}

VALUES = [
    # Smooth ECE, relplot 1.0.3, smECE(eps=1e-5); it searches the bandwidth in steps of 1/1024.
    ("lattice", "smooth_ece", 0.1729043, 5e-4),
    ("ten_inside", "smooth_ece", 0.2413684, 6e-3),
    # De-biased squared error, uncertainty-calibration 0.1.4, unbiased_square_ce on the same bins.
    ("ten", "bins_5/debiased_squared_error", -0.074, 1e-12),
    ("ten", "bins_10/debiased_squared_error", -0.0415, 1e-12),
    ("ten", "bins_15/debiased_squared_error", -0.032, 1e-12),
    ("lattice", "bins_5/debiased_squared_error", 0.042102564102564126, 1e-12),
    ("lattice", "bins_10/debiased_squared_error", 0.0385, 1e-12),
    ("lattice", "bins_15/debiased_squared_error", 0.034128870192307696, 1e-12),
    ("lattice", "bins_5/debiased_rms", 0.20518909352732206, 1e-12),
    # Spiegelhalter's z and p-value, calzone-tool 0.1.0, spiegelhalter_z_test.
    ("ten", "spiegelhalter_z", 3.9085593456147105, 1e-12),
    ("ten", "spiegelhalter_p_value", 9.284814101717664e-05, 1e-15),
    ("lattice", "spiegelhalter_z", 6.302115218985258, 1e-12),
    # Slope with its 95 % interval, calzone-tool 0.1.0, cox_regression_analysis(epsilon=1e-6).
    ("ten", "calibration_slope", -0.20583765433343046, 1e-9),
    ("ten", "calibration_slope/lower", -0.58028933, 1e-7),
    ("ten", "calibration_slope/upper", 0.16861402, 1e-7),
    ("lattice", "calibration_slope", 0.35371867790385414, 1e-9),
    ("lattice", "calibration_slope/lower", 0.16667945, 1e-7),
    ("lattice", "calibration_slope/upper", 0.54075791, 1e-7),
    # Intercept with the slope held at 1, statsmodels 0.15.0, GLM(Binomial) with an offset.
    ("ten", "calibration_intercept", 1.21595955, 1e-7),
    ("ten", "calibration_intercept/lower", -0.55944492, 1e-7),
    ("ten", "calibration_intercept/upper", 2.99136403, 1e-7),
    ("lattice", "calibration_intercept", 0.99135839, 1e-7),
    ("lattice", "calibration_intercept/lower", 0.63494941, 1e-7),
    ("lattice", "calibration_intercept/upper", 1.34776738, 1e-7),
    # CORP, from scikit-learn 1.9.1's IsotonicRegression.
    ("ten", "corp/miscalibration", 0.159, 1e-12),
    ("ten", "corp/discrimination", 0.01, 1e-12),
    ("ten", "corp/uncertainty", 0.21, 1e-12),
    ("lattice", "corp/miscalibration", 0.052047483766233776, 1e-12),
    ("lattice", "corp/discrimination", 0.028416233766233756, 1e-12),
    ("lattice", "corp/uncertainty", 0.2244, 1e-12),
]


@pytest.fixture(scope="module")
def measured():
    inputs = {
        "ten": (TEN_OUTCOMES, TEN),
        "ten_inside": (TEN_OUTCOMES, TEN_INSIDE),
        "lattice": (LATTICE_OUTCOMES, LATTICE),
    }
    return {
        name: honest_numbers(*given, bins=FIFTEENTHS, settings=ONCE).metrics
        for name, given in inputs.items()
    }


@pytest.mark.parametrize(("given", "metric", "value", "tolerance"), VALUES)
def test_values_from_papers_and_other_packages(measured, given, metric, value, tolerance):
    assert measured[given][metric] == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize(
    ("edges", "value"),
    [
        (EqualWidth(10), 0.45),
        # numpy.linspace puts 0.6 and 0.7 one bin low.
        (OwnEdges(np.linspace(0, 1, 11)), 0.37),
    ],
)
def test_ten_predictions_on_which_the_libraries_disagree(edges, value):
    assert expected_calibration_error(TEN_OUTCOMES, TEN, bins=edges) == pytest.approx(value)


def test_the_right_closed_rule_of_other_libraries_on_the_same_ten():
    """uncertainty-calibration's get_ece gives 0.47: (0, 0.1], (0.1, 0.2], ... by ceil(10 p)."""
    place = np.ceil(np.round(TEN * 10, 9)).astype(int).clip(1) - 1
    gaps = np.bincount(place, weights=TEN - TEN_OUTCOMES, minlength=10)
    assert np.abs(gaps).sum() / 10 == pytest.approx(0.47)
