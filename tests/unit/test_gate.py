"""The gate: limits on what was measured, and what a perfect model does to them."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from kalibre.experiment.base import plain
from kalibre.experiment.gate import Gate
from kalibre.gate import check_gate, gate_summary
from kalibre.logits import expit
from kalibre.statistics.null_band import null_band

ONE = "evaluate/linear/none/test/tenths"


def limits(**given):
    return plain(Gate.model_validate(given))


def failed(checks):
    return [(check.limit, check.where) for check in checks if not check.passed]


def test_an_excess_at_the_limit_passes_and_one_above_it_fails_by_the_difference():
    metrics = {f"{ONE}/ece_excess": 0.02}
    (check,) = check_gate(limits(ece_excess=0.02), metrics)
    assert check.passed
    assert check.by == pytest.approx(0.0)
    (check,) = check_gate(limits(ece_excess=0.02), {f"{ONE}/ece_excess": 0.05})
    assert not check.passed
    assert check.by == pytest.approx(0.03)
    assert check.where == f"{ONE}/ece_excess"
    assert check.sentence() == f"FAILED  ece_excess  {ONE}/ece_excess: 0.05, limit 0.02, by 0.03"


def test_an_ece_inside_its_band_has_room_to_spare():
    (check,) = check_gate(limits(ece_excess=0.02), {f"{ONE}/ece_excess": -0.01})
    assert check.passed
    assert check.sentence().endswith("-0.01, limit 0.02, 0.03 to spare")


def test_only_limits_that_are_named_are_checked():
    metrics = {f"{ONE}/ece_excess": 0.5, f"{ONE}/debiased_rms/upper": 0.04}
    (check,) = check_gate(limits(debiased_rms_upper=0.05), metrics)
    assert (check.limit, check.passed) == ("debiased_rms_upper", True)


def test_an_empty_section_limits_the_excess_beyond_chance():
    assert limits()["ece_excess"] == 0.02
    assert limits()["beyond_chance"] is True
    assert limits(models=["linear"])["ece_excess"] == 0.02
    assert limits(ece_excess=0.1)["beyond_chance"] is False
    assert limits(ece_excess=0)["ece_excess"] == 0.0


def test_beyond_chance_the_limit_reaches_to_the_999th_of_1000_perfect_models():
    metrics = {
        f"{ONE}/ece_excess": 0.05,
        f"{ONE}/null_band/upper": 0.20,
        f"{ONE}/null_band/extreme": 0.26,
    }
    (check,) = check_gate(limits(), metrics)
    assert check.passed
    assert check.bound == pytest.approx(0.06)
    assert "raised from 0.02" in check.reason
    (check,) = check_gate(limits(), metrics | {f"{ONE}/ece_excess": 0.07})
    assert check.by == pytest.approx(0.01)
    (check,) = check_gate(limits(ece_excess=0.02), metrics)
    assert not check.passed


def test_every_model_calibrator_part_and_bin_rule_is_checked_unless_named():
    metrics = {
        f"evaluate/{model}/{calibrator}/{part}/tenths/ece_excess": 0.1
        for model in ("linear", "tree")
        for calibrator in ("none", "platt")
        for part in ("test", "validation")
    }
    # Another reading is another number, and has no limit unless one is set on its path.
    metrics["evaluate/linear/none/test/tenths/top_label/ece_excess"] = 0.9
    assert len(check_gate(limits(ece_excess=0.02), metrics)) == 8
    narrow = limits(ece_excess=0.02, models=["tree"], calibrators=["platt"], parts=["test"])
    (check,) = check_gate(narrow, metrics)
    assert check.where == "evaluate/tree/platt/test/tenths/ece_excess"


def test_a_limit_that_finds_nothing_fails():
    for name in ("ece_excess", "debiased_rms_upper", "step_leak", "step_leak_upper"):
        (check,) = check_gate(limits(**{name: 0.1}), {"evaluate/linear/none/test/brier": 0.1})
        assert not check.passed
        assert "nothing was measured" in check.sentence()


def test_a_number_without_a_value_fails_with_its_reason():
    path = f"{ONE}/ece_excess"
    (check,) = check_gate(
        limits(ece_excess=0.02), {path: None}, undefined={path: "3 rows lie outside the edges"}
    )
    assert not check.passed
    assert check.sentence() == f"FAILED  ece_excess  {path}: 3 rows lie outside the edges"


def leaks(**given):
    found = {
        "measure_leak/tree/0_outside/accuracy/distance": 0.3,
        "measure_leak/tree/1_outside/accuracy/leak": 0.004,
        "measure_leak/tree/only_2_outside/accuracy/leak": -0.015,
        "measure_leak/tree/only_2_outside/log_loss/leak": 0.5,
    }
    return found | given


def test_a_leak_counts_by_its_size_whichever_its_sign():
    checks = check_gate(limits(step_leak=0.01), leaks())
    assert failed(checks) == [("step_leak", "measure_leak/tree/only_2_outside/accuracy/leak")]
    assert checks[0].by == pytest.approx(0.005)
    assert len(checks) == 2
    assert not failed(check_gate(limits(step_leak=0.02), leaks()))
    other = limits(step_leak=0.02, leak_metrics=["log_loss"])
    assert len(failed(check_gate(other, leaks()))) == 1


def test_the_upper_end_of_a_leak_is_the_one_further_from_zero():
    path = "measure_leak/tree/1_outside/accuracy"
    metrics = {
        f"{path}/leak": 0.004,
        f"{path}/leak_corrected_low": -0.03,
        f"{path}/leak_corrected_high": 0.02,
    }
    (check,) = check_gate(limits(step_leak_upper=0.025), metrics)
    assert check.measured == pytest.approx(0.03)
    assert not check.passed


def test_folds_that_all_leak_alike_have_no_interval_and_count_as_they_are():
    path = "measure_leak/tree/1_outside/accuracy"
    metrics = {
        f"{path}/leak": 0.0,
        f"{path}/leak_spread": 0.0,
        f"{path}/leak_folds": 4,
        f"{path}/leak_corrected_low": None,
        f"{path}/leak_corrected_high": None,
    }
    (check,) = check_gate(limits(step_leak_upper=0.01), metrics)
    assert check.passed
    (check,) = check_gate(limits(step_leak_upper=0.01), metrics | {f"{path}/leak_folds": 1})
    assert not check.passed


def test_auc_may_not_fall_against_an_earlier_record():
    now = {"evaluate/linear/none/test/roc_auc": 0.790, "evaluate/tree/none/test/roc_auc": 0.7}
    before = {"evaluate/linear/none/test/roc_auc": 0.800, "evaluate/old/none/test/roc_auc": 0.9}
    drop = limits(auc_drop={"against": "kept/record.json"})
    (check,) = check_gate(drop, now, earlier=before)
    assert not check.passed
    assert check.by == pytest.approx(0.005)
    assert "it was 0.8" in check.sentence()
    assert not failed(check_gate(drop, now, earlier=now))
    (check,) = check_gate(drop, now, earlier={})
    assert "kept/record.json" in check.sentence()


def test_any_metric_may_have_a_bound():
    metrics = {"evaluate/linear/none/test/brier": 0.2, "evaluate/tree/none/test/brier": 0.3}
    bounds = limits(metrics={"evaluate/*/none/test/brier": {"at_most": 0.25, "at_least": 0.1}})
    checks = check_gate(bounds, metrics)
    assert len(checks) == 4
    assert failed(checks) == [("metrics/at_most", "evaluate/tree/none/test/brier")]
    assert checks[0].by == pytest.approx(0.05)
    low = check_gate(
        limits(metrics={"evaluate/linear/none/test/brier": {"at_least": 0.5}}), metrics
    )
    assert low[0].by == pytest.approx(0.3)
    (missing,) = check_gate(limits(metrics={"evaluate/*/brier": {"at_most": 1}}), metrics)
    assert "nothing was measured" in missing.sentence()


def test_a_summary_counts_what_failed_and_puts_it_first():
    metrics = {f"{ONE}/ece_excess": 0.0, "evaluate/tree/none/test/tenths/ece_excess": 0.5}
    summary = gate_summary(check_gate(limits(ece_excess=0.02), metrics))
    assert summary["passed"] is False
    assert summary["failed"] == 1
    assert [check["passed"] for check in summary["checks"]] == [False, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ece_excess": -0.1}, "greater than or equal to 0"),
        ({"ece_excess": True}, "not true or false"),
        ({"ece_exces": 0.1}, "ece_exces"),
        ({"metrics": {"a/b": {}}}, "give `at_most`, `at_least` or both"),
        ({"metrics": {"a/b": {"at_most": 1, "at_least": 2}}}, "nothing can pass"),
        ({"auc_drop": {"limit": 0.01}}, "against"),
    ],
)
def test_an_impossible_gate_is_refused(given, message):
    with pytest.raises(ValidationError, match=message):
        Gate.model_validate(given)


def gate_metrics(outcomes, p, seed):
    band = null_band(outcomes, p, seed=seed)
    return {
        f"{ONE}/ece_excess": band.excess,
        f"{ONE}/null_band/upper": band.upper,
        f"{ONE}/null_band/extreme": band.extreme,
    }


@pytest.mark.slow
@pytest.mark.parametrize("rows", [5, 20, 50, 200, 1_000, 5_000, 50_000])
def test_a_perfect_model_passes_the_default_limits_at_every_size(rows):
    repeats = 300 if rows <= 5_000 else 30
    broken = 0
    for seed in range(repeats):
        generator = np.random.default_rng([seed, rows])
        p = expit(generator.normal(0, 1.5, rows))
        outcomes = (generator.random(rows) < p).astype(int)
        broken += bool(failed(check_gate(limits(), gate_metrics(outcomes, p, seed))))
    # One in a thousand breaks by chance; four of 300 would be a miracle.
    assert broken <= 3


@pytest.mark.slow
@pytest.mark.parametrize("rows", [500, 5_000])
def test_an_overconfident_model_fails_the_default_limits(rows):
    broken = 0
    for seed in range(50):
        generator = np.random.default_rng([seed, rows])
        z = generator.normal(0, 1.5, rows)
        outcomes = (generator.random(rows) < expit(z)).astype(int)
        broken += bool(failed(check_gate(limits(), gate_metrics(outcomes, expit(3 * z), seed))))
    assert broken == 50
