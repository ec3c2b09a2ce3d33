"""Each calibrator against its definition, an independent computation, and the laws it must keep."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.isotonic import IsotonicRegression

from kalibre.calibrators.base import CLIP_LOGIT, Fitted
from kalibre.calibrators.beta import Beta
from kalibre.calibrators.fixed import Sharpening
from kalibre.calibrators.isotonic import Isotonic, pool_adjacent_violators
from kalibre.calibrators.logistic import LogisticDescent, Platt
from kalibre.calibrators.registry import CALIBRATORS, fitted_from_dict, make_calibrator
from kalibre.calibrators.temperature import Temperature
from kalibre.logits import expit, softplus
from kalibre.metrics.ranking import roc_auc
from reference import calibration as lesson

LEARNERS = [name for name, method in CALIBRATORS.items() if method.learns]
ORDER_KEEPING = ["none", "sharpen", "temperature", "platt", "beta"]


def draw(
    rows: int, *, scale: float = 4.0, slope: float = 0.5, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident scores: the true logit is `slope` times the score's, less 0.3."""
    rng = np.random.default_rng(seed)
    z = rng.normal(scale=scale, size=rows)
    return z, (rng.random(rows) < expit(slope * z - 0.3)).astype(int)


def mapped(fitted: Fitted, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return fitted.transform(expit(z), z)


# Fixed maps


def test_no_calibration_returns_both_arrays_to_the_bit():
    p, z = np.array([0.1, 0.3, 1.0]), np.array([-2.19, -0.8, 40.0])
    after = make_calibrator("none").fit(z, [0, 1, 1]).transform(p, z)
    assert after[0].tolist() == p.tolist()
    assert after[1].tolist() == z.tolist()


@given(st.floats(0.001, 0.999), st.floats(0.1, 10))
def test_sharpening_is_the_lessons_formula(p, power):
    z = np.array([math.log(p / (1 - p))])
    after, _ = mapped(Sharpening(power=power).fit(z, [1]), z)
    assert after[0] == pytest.approx(lesson.sharpen(p, power), rel=1e-12)


def test_sharpening_with_power_three_is_the_default():
    assert make_calibrator("sharpen").fit([0.0], [1]).parameters() == {"power": 3.0}


# The lesson's gradient descent


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_the_descent_equals_the_lessons_in_plain_python(power):
    z, y = draw(300, scale=1.4, slope=1.0)
    sharp = power * z
    p = [lesson.sharpen(value, power) for value in expit(z).tolist()]
    expected = lesson.fit_logistic_map(y.tolist(), p)
    fitted = LogisticDescent().fit(sharp, y)
    assert fitted.parameters()["slope"] == pytest.approx(expected.slope, rel=1e-9)
    assert fitted.parameters()["intercept"] == pytest.approx(expected.intercept, rel=1e-9)
    after, logits = mapped(fitted, sharp)
    assert after == pytest.approx([expected(value) for value in p], rel=1e-8)
    assert expit(logits) == pytest.approx(after, abs=0)


def test_certain_scores_are_clipped_at_a_millionth_and_counted():
    z, y = draw(300)
    fitted = LogisticDescent().fit(np.append(z, [np.inf, -np.inf, 14.0]), [*y, 1, 0, 1])
    assert any("3 of 303 rows have a logit beyond 13.8155" in note for note in fitted.notes)
    after, _ = mapped(fitted, np.array([-np.inf, -CLIP_LOGIT, CLIP_LOGIT, np.inf]))
    assert after[0] == after[1] < after[2] == after[3]


def test_a_descent_that_swings_instead_of_settling_says_so():
    z, y = draw(300, scale=12.0, slope=0.1)
    assert any("had not settled" in note for note in LogisticDescent().fit(z, y).notes)
    assert LogisticDescent().fit(*draw(300, scale=1.4, slope=1.0)).notes == ()


def test_the_descent_keeps_its_logits_within_thirty():
    fitted = LogisticDescent(step=10.0).fit([-13.0, 13.0], [0, 1])
    assert np.abs(fitted.map_logits(np.array([-1e9, 1e9]))).max() <= 30.0


# Temperature


def temperature_loss(z: np.ndarray, y: np.ndarray, temperature: float) -> float:
    return float(np.mean(softplus(np.where(y == 1, -z, z) / temperature)))


@pytest.mark.parametrize(("slope", "rows"), [(0.1, 200), (0.5, 200), (1.0, 5000), (3.0, 500)])
def test_the_temperature_has_the_smallest_log_loss(slope, rows):
    z, y = draw(rows, slope=slope)
    found = Temperature().fit(z, y).parameters()["temperature"]
    peer = minimize_scalar(
        lambda t: temperature_loss(z, y, t), bounds=(0.05, 20), method="bounded"
    ).x
    assert found == pytest.approx(peer, rel=1e-4)
    assert temperature_loss(z, y, found) <= temperature_loss(z, y, peer)
    slope_at_found = float(np.mean(z * (expit(z / found) - y)))
    assert abs(slope_at_found) < 1e-14 * float(np.mean(np.abs(z)) + 1)


def test_the_temperature_of_scores_as_extreme_as_naive_bayes():
    rng = np.random.default_rng(1)
    z = rng.normal(scale=60.0, size=132)
    y = (rng.random(132) < expit(z / 30.0)).astype(int)
    found = Temperature(high=200.0).fit(z, y).parameters()["temperature"]
    assert abs(float(np.mean(z * (expit(z / found) - y)))) < 1e-12
    assert 15.0 < found < 60.0


def test_a_temperature_changes_no_decision_and_no_order():
    z, y = draw(500)
    after, logits = mapped(Temperature().fit(z, y), z)
    assert ((after >= 0.5) == (z >= 0)).all()
    assert roc_auc(y, logits) == roc_auc(y, z)


def test_separable_scores_run_to_the_lower_bound_and_say_so():
    fitted = Temperature().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert fitted.parameters() == {"temperature": 0.05}
    assert any("stopped at its bound 0.05" in note for note in fitted.notes)


def test_reversed_scores_run_to_the_upper_bound_and_say_so():
    z, y = draw(200)
    fitted = Temperature().fit(-z, y)
    assert fitted.parameters() == {"temperature": 20.0}
    assert any("bound 20" in note and "reversed" in note for note in fitted.notes)


def test_bounds_that_have_no_exact_inverse_are_hit_exactly():
    z, y = draw(200)
    fitted = Temperature(low=0.07, high=49.0).fit(-z, y)
    assert fitted.parameters() == {"temperature": 49.0}
    assert any("stopped at its bound 49" in note for note in fitted.notes)


def test_infinite_scores_are_drawn_in_for_learning_and_counted():
    z, y = draw(300)
    fitted = Temperature().fit(np.append(z, [np.inf, -np.inf]), [*y, 1, 1])
    assert any("2 of 302 rows have a probability of exactly 0 or 1" in n for n in fitted.notes)
    drawn = np.append(z, [max(CLIP_LOGIT, np.abs(z).max()), -max(CLIP_LOGIT, np.abs(z).max())])
    assert fitted.parameters() == Temperature().fit(drawn, [*y, 1, 1]).parameters()
    after, logits = mapped(fitted, np.array([-np.inf, np.inf]))
    assert after.tolist() == [0.0, 1.0]
    assert logits.tolist() == [-np.inf, np.inf]


def test_scores_that_are_all_zero_keep_temperature_one():
    fitted = Temperature().fit([0.0, 0.0], [0, 1])
    assert fitted.parameters() == {"temperature": 1.0}
    assert any("every logit is 0" in note for note in fitted.notes)


@given(st.floats(0.1, 5.0))
def test_the_temperature_follows_the_scale_of_the_scores(scale):
    z, y = draw(120)
    plain = Temperature(low=1e-3, high=1e3).fit(z, y).parameters()["temperature"]
    scaled = Temperature(low=1e-3, high=1e3).fit(z * scale, y).parameters()["temperature"]
    assert scaled == pytest.approx(plain * scale, rel=1e-9)


# Platt


def test_platt_minimises_the_log_loss_against_smoothed_targets():
    z, y = draw(150)
    positives, negatives = int(y.sum()), int((1 - y).sum())
    targets = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def loss(parameters: np.ndarray) -> float:
        line = parameters[0] * z + parameters[1]
        return float(np.sum(softplus(line) - targets * line))

    peer = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    found = Platt().fit(z, y).parameters()
    assert [found["slope"], found["intercept"]] == pytest.approx(list(peer.x), rel=1e-5)
    said = expit(found["slope"] * z + found["intercept"])
    assert abs(float(np.mean(said - targets))) < 1e-12
    assert abs(float(np.mean((said - targets) * z))) < 1e-11


def test_platt_stays_finite_on_separable_scores():
    found = Platt().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1]).parameters()
    assert 0.0 < found["slope"] < 5.0


def test_platt_clips_certain_scores_counts_them_and_keeps_their_order():
    z, y = draw(300)
    wide = np.append(z, [50.0, 200.0, -np.inf])
    fitted = Platt().fit(wide, [*y, 1, 1, 0])
    clipped = Platt().fit(np.clip(wide, -CLIP_LOGIT, CLIP_LOGIT), [*y, 1, 1, 0])
    beyond = int(np.count_nonzero(np.abs(wide) > CLIP_LOGIT))
    assert any(f"{beyond} of 303 rows have a logit beyond" in note for note in fitted.notes)
    assert fitted.parameters()["slope"] == pytest.approx(clipped.parameters()["slope"], abs=1e-6)
    _, logits = mapped(fitted, np.array([-np.inf, -20.0, 13.0, 14.0, 50.0, 200.0, np.inf]))
    assert (np.diff(logits) > 0).all()
    assert np.isfinite(logits).all()
    assert logits[-1] - logits[3] < 1e-4


def test_reversed_scores_are_said_by_the_logistic_maps():
    z, y = draw(300)
    for method in (Platt(), LogisticDescent()):
        assert any("reversed" in note for note in method.fit(-z, y).notes)
        assert not any("reversed" in note for note in method.fit(z, y).notes)


def test_scores_that_are_all_equal_give_the_smoothed_rate():
    fitted = Platt().fit(np.full(200, 2.0), [0, 1] * 100)
    after, _ = mapped(fitted, np.array([2.0]))
    assert after[0] == pytest.approx(0.5, abs=1e-6)


# Isotonic


@given(
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 1)), min_size=1, max_size=60),
    st.lists(st.floats(-3, 18), min_size=1, max_size=20),
)
def test_isotonic_equals_scikit_learns(rows, new):
    z, y = np.array([r[0] / 2 - 3 for r in rows]), np.array([r[1] for r in rows])
    peer = IsotonicRegression(out_of_bounds="clip").fit(z, y)
    at = np.concatenate([z, np.array(new)])
    after, _ = mapped(Isotonic().fit(z, y), at)
    assert after == pytest.approx(peer.predict(at), abs=1e-12)


def test_isotonic_on_many_weighted_rows_equals_scikit_learns():
    z, y = draw(20_000)
    w = np.random.default_rng(5).random(z.size)
    peer = IsotonicRegression(out_of_bounds="clip").fit(z, y, sample_weight=w)
    after, _ = mapped(Isotonic().fit(z, y, w), z)
    assert after == pytest.approx(peer.predict(z), abs=1e-10)


def test_pooling_takes_no_more_than_a_moment_on_an_awkward_order():
    # One row after the other has to be pooled back into those before it.
    values = np.concatenate([np.arange(20_000) / 20_000, [-1e6]])
    starts, levels = pool_adjacent_violators(values, np.ones(values.size))
    assert starts.tolist() == [0]
    assert levels[0] == pytest.approx(values.mean())


def test_isotonic_gives_equal_scores_one_probability_and_is_level_outside():
    fitted = Isotonic().fit([0.0, 0.0, 1.0, 1.0], [0, 1, 1, 1])
    after, _ = mapped(fitted, np.array([-5.0, 0.0, 0.5, 1.0, 9.0, -np.inf, np.inf]))
    assert after == pytest.approx([0.5, 0.5, 0.75, 1.0, 1.0, 0.5, 1.0])


def test_isotonic_says_when_it_is_certain():
    fitted = Isotonic().fit(*draw(1500))
    assert fitted.notes == (
        "isotonic says exactly 0 or 1 at an end: one wrong row there makes log loss infinite",
    )


def test_isotonic_probabilities_rise_with_the_score():
    z, y = draw(400)
    after, logits = mapped(Isotonic().fit(z, y), np.sort(z))
    assert (np.diff(after) >= 0).all()
    assert expit(logits) == pytest.approx(after, abs=1e-15)


# Beta


def beta_peer(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    columns = np.column_stack([-softplus(-z), softplus(z), np.ones_like(z)])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        line = columns @ parameters
        return (
            float(np.mean(softplus(line) - y * line)),
            columns.T @ (expit(line) - y) / y.size,
        )

    bounds = [(0, None), (0, None), (None, None)]
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000}
    return minimize(loss, [1, 1, 0], jac=True, bounds=bounds, method="L-BFGS-B", options=options).x


@pytest.mark.parametrize("case", ["both", "only_a", "only_b", "neither"])
def test_beta_is_the_best_fit_with_a_and_b_not_negative(case):
    z, y = draw(400)
    rng = np.random.default_rng(9)
    if case == "only_a":
        y = (rng.random(400) < expit(1.0 - 0.8 * softplus(-z) - 0.4 * softplus(z))).astype(int)
    elif case == "only_b":
        y = (rng.random(400) < expit(-1.0 + 0.8 * softplus(z) + 0.4 * softplus(-z))).astype(int)
    elif case == "neither":
        y = 1 - y
    found = Beta().fit(z, y).parameters()
    assert list(found.values()) == pytest.approx(list(beta_peer(z, y)), abs=2e-4)
    held = [name for name in "ab" if found[name] == 0.0]
    assert held == {"both": [], "only_a": ["b"], "only_b": ["a"], "neither": ["a", "b"]}[case]
    assert bool(Beta().fit(z, y).notes) == bool(held)


def test_beta_contains_a_slope_and_an_intercept():
    z = np.linspace(-5, 5, 11)
    fitted = fitted_from_dict({"method": "beta", "a": 2.0, "b": 2.0, "c": 0.5, "notes": []})
    assert fitted.map_logits(z) == pytest.approx(2 * z + 0.5)


def test_beta_maps_certain_scores():
    fitted = fitted_from_dict({"method": "beta", "a": 0.0, "b": 0.7, "c": 0.5, "notes": []})
    assert fitted.map_logits(np.array([-np.inf, np.inf])).tolist() == [0.5, np.inf]


# What holds for all


@pytest.mark.parametrize("name", ORDER_KEEPING)
@settings(max_examples=20)
@given(seed=st.integers(0, 20))
def test_order_keeping_maps_keep_the_auc(name, seed):
    z, y = draw(200, seed=seed)
    z = np.round(z, 3)
    _, logits = mapped(make_calibrator(name).fit(z, y), z)
    assert roc_auc(y, logits) == pytest.approx(roc_auc(y, z), abs=1e-12)


@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_fitted_calibrator_survives_json_to_the_bit(name):
    z, y = draw(300)
    fitted = make_calibrator(name).fit(np.append(z, np.inf), [*y, 1])
    back = fitted_from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert back == fitted
    assert type(back) is type(fitted)
    for before, after in zip(mapped(fitted, z), mapped(back, z), strict=True):
        assert before.tolist() == after.tolist()


@pytest.mark.parametrize("name", LEARNERS)
def test_integer_weights_equal_repeated_rows(name):
    z, y = draw(200)
    w = np.random.default_rng(4).integers(0, 4, z.size)
    weighted = make_calibrator(name).fit(z, y, w)
    repeated = make_calibrator(name).fit(np.repeat(z, w), np.repeat(y, w))
    at = np.linspace(-10, 10, 41)
    assert mapped(weighted, at)[0] == pytest.approx(mapped(repeated, at)[0], abs=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_order_of_rows_changes_nothing(name):
    z, y = draw(200)
    order = np.random.default_rng(4).permutation(z.size)
    at = np.linspace(-10, 10, 41)
    before = mapped(make_calibrator(name).fit(z, y), at)[0]
    after = mapped(make_calibrator(name).fit(z[order], y[order]), at)[0]
    assert after == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_from_few_rows_is_said_with_the_number(name):
    fitted = make_calibrator(name).fit(*draw(20))
    below = CALIBRATORS[name].minimum_rows
    note = f"{name} was learned from 20 rows; below {below} it is unreliable"
    assert note in fitted.notes


@pytest.mark.parametrize("name", LEARNERS)
def test_one_class_is_said_and_does_not_crash(name):
    z, _ = draw(50)
    fitted = make_calibrator(name).fit(z, np.ones(50))
    assert any("have outcome 1: there was nothing to tell apart" in note for note in fitted.notes)
    after, _ = mapped(fitted, z)
    assert ((after >= 0) & (after <= 1)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_calibrating_lowers_the_log_loss_of_overconfident_scores(name):
    z, y = draw(4000)
    new_z, new_y = draw(4000, seed=1)
    after, _ = mapped(make_calibrator(name).fit(z, y), new_z)
    loss = np.mean(np.square(after - new_y))
    assert loss < np.mean(np.square(expit(new_z) - new_y)) - 0.01


@pytest.mark.parametrize("name", CALIBRATORS)
def test_wrong_rows_are_refused(name):
    method = make_calibrator(name)
    for logits, outcomes in (([], []), ([0.0], [0, 1]), ([np.nan, 1.0], [0, 1]), ([0, 1], [0, 2])):
        with pytest.raises(ValueError):
            method.fit(logits, outcomes)


# The registry


def test_an_unknown_method_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"found 'temprature'; did you mean 'temperature'\?"):
        make_calibrator("temprature")


def test_an_unknown_setting_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"sharpen: found setting 'powr'; did you mean 'power'\?"):
        make_calibrator("sharpen", {"powr": 2})
    with pytest.raises(ValueError, match="platt: found setting 'step'; it has none"):
        make_calibrator("platt", {"step": 1})


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("sharpen", {"power": 0}),
        ("sharpen", {"power": "3"}),
        ("sharpen", {"power": True}),
        ("temperature", {"low": 0}),
        ("temperature", {"low": 2, "high": 1}),
        ("logistic_descent", {"rounds": 2.5}),
        ("logistic_descent", {"step": -1}),
        ("logistic_descent", {"clip": 0.6}),
        ("logistic_descent", {"bound": float("inf")}),
    ],
)
def test_a_setting_out_of_range_is_refused(name, params):
    with pytest.raises(ValueError, match=rf"{name}.*found"):
        make_calibrator(name, params)


def test_settings_are_kept_and_listed():
    method = make_calibrator("temperature", {"high": 50})
    assert method.params() == {"low": 0.05, "high": 50}


def test_what_another_method_wrote_is_refused():
    content = Temperature().fit(*draw(100)).to_dict()
    with pytest.raises(ValueError, match="found method 'temprature'"):
        fitted_from_dict({**content, "method": "temprature"})
    with pytest.raises(ValueError, match=r"temperature: found .* expected"):
        fitted_from_dict({"method": "temperature", "slope": 1.0, "notes": []})


def test_importing_the_calibrators_loads_nothing_heavy():
    code = (
        "import sys, kalibre.calibrators.registry, kalibre.metrics.registry;"
        "print([m for m in ('scipy', 'sklearn', 'pandas', 'mlflow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
