"""The stage `evaluate`: every number of a part, or the reason why there is none."""

import math
from typing import Any

import numpy as np
import pytest

from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.evaluation import TABLES, bin_rule, drawing_settings, evaluate, level_name
from kalibre.experiment.base import plain
from kalibre.experiment.evaluation import Bins, Evaluation, Level
from kalibre.logits import logit
from kalibre.metrics.registry import METRICS
from kalibre.scores import Scores

# The trivia lesson's overconfident answers.
PROBABILITY = np.array([0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0])
OUTCOME = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1, 0], dtype=np.int8)
DECLARED = [{"stages": ["fit", "evaluate"], "part": "test", "reason": "on purpose"}]


def scores(**parts: Any) -> Scores:
    """Ten rows in one part, learned from by nobody."""
    with np.errstate(divide="ignore"):
        z = logit(PROBABILITY)
    filled: dict[str, Any] = {
        "row": np.arange(10),
        "part": Categories.constant("test", 10),
        "outcome": OUTCOME,
        "probability": PROBABILITY,
        "logit": z,
        "uncalibrated_logit": z,
        "fitted": np.zeros(10, dtype=bool),
        "calibrated": np.zeros(10, dtype=bool),
    }
    return Scores(**(filled | parts))


FEW_DRAWS = {"resamples": 0, "simulations": 20, "smooth_simulations": 0}


def measured(given: Scores | None = None, *, on: tuple[str, ...] = ("test",), **section: Any):
    """The evaluation of a section written as in an experiment file."""
    declared = section.pop("declared", [])
    section = {"statistics": FEW_DRAWS} | section
    section = plain(Evaluation.model_validate(section))
    return evaluate(given or scores(), on=on, evaluation=section, declared=declared)


# ---- names


def test_every_metric_of_the_registry_has_a_value_or_a_reason():
    result = measured().result
    for name in METRICS:
        assert (f"test/{name}" in result.metrics) != (f"test/{name}" in result.undefined)


def test_only_the_metrics_asked_for_are_reported():
    metrics = measured(metrics=["brier"], levels=[]).result.metrics
    assert "test/brier" in metrics
    assert "test/log_loss" not in metrics


def test_a_metric_is_named_by_its_part_and_a_bins_metric_by_its_rule_too():
    metrics = measured(bins={"fifths": {"count": 5}}).result.metrics
    assert metrics["test/brier"] == pytest.approx(0.432)
    assert metrics["test/fifths/ece"] == pytest.approx(0.42)
    assert metrics["test/fifths/bin_4/count"] == 7


def test_each_part_is_measured_on_its_own_rows():
    part = Categories.of(["train"] * 4 + ["test"] * 6)
    metrics = measured(scores(part=part), on=("train", "test")).result.metrics
    assert (metrics["train/rows"], metrics["test/rows"]) == (4, 6)
    assert metrics["train/brier"] == pytest.approx(np.mean((PROBABILITY - OUTCOME)[:4] ** 2))


def test_a_bin_rule_is_said_in_words_beside_its_numbers():
    params = measured(bins={"fifths": {"count": 5}}).result.params
    assert params["parts"] == ["test"]
    assert "fifths" in params["bins"]


# ---- bins


def test_an_empty_bin_has_a_count_and_no_rate():
    result = measured(bins={"fifths": {"count": 5}}).result
    assert result.metrics["test/fifths/bin_0/count"] == 0
    for name in ("mean_predicted", "observed_rate", "gap", "ece_term"):
        assert f"test/fifths/bin_0/{name}" not in result.metrics


def test_the_terms_of_the_bins_add_up_to_the_error():
    metrics = measured(bins={"tenths": {"count": 10}}).result.metrics
    terms = [v for name, v in metrics.items() if name.endswith("/ece_term")]
    assert math.fsum(terms) == pytest.approx(metrics["test/tenths/ece"], abs=1e-15)


def test_rows_outside_own_edges_leave_the_error_without_a_value_and_say_so():
    result = measured(bins={"high": {"edges": [0.8, 0.9, 1.0]}}).result
    assert result.undefined["test/high/ece"] == "3 rows lie outside the edges"
    assert result.metrics["test/high/bin_0/count"] == 2


def test_the_reliability_table_has_a_row_a_bin_and_leaves_an_empty_ones_cells_out():
    rows = measured(bins={"fifths": {"count": 5}, "halves": {"count": 2}}).tables["reliability"]
    assert [(row["bins"], row["bin"]) for row in rows] == [
        *(("fifths", i) for i in range(5)),
        *(("halves", i) for i in range(2)),
    ]
    assert set(rows[0]) == {"part", "bins", "bin", "lower", "upper", "count"}
    assert set(rows[4]) == set(TABLES["reliability"])
    assert (rows[4]["lower"], rows[4]["upper"], rows[4]["positives"]) == (0.8, 1.0, 3)


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ({"count": 4}, "EqualWidth"),
        ({"count": 4, "rule": "equal_mass"}, "EqualMass"),
        ({"edges": [0.0, 0.5, 1.0]}, "OwnEdges"),
    ],
)
def test_a_bin_rule_is_made_from_its_section(section: dict[str, Any], kind: str):
    assert type(bin_rule(plain(Bins.model_validate(section)))).__name__ == kind


# ---- how sure the numbers are


def test_an_error_stands_beside_its_null_band():
    metrics = measured(bins={"fifths": {"count": 5}}).result.metrics
    band = [metrics[f"test/fifths/null_band/{end}"] for end in ("lower", "median", "upper")]
    assert band == sorted(band)
    excess = metrics["test/fifths/ece"] - metrics["test/fifths/null_band/upper"]
    assert metrics["test/fifths/ece_excess"] == pytest.approx(excess, abs=1e-12)


def test_a_score_stands_beside_its_interval():
    statistics = FEW_DRAWS | {"resamples": 200}
    evaluation = measured(statistics=statistics)
    metrics = evaluation.result.metrics
    assert metrics["test/brier/lower"] < metrics["test/brier"] < metrics["test/brier/upper"]
    rows = {row["metric"]: row for row in evaluation.tables["intervals"]}
    assert rows["brier"]["lower"] == metrics["test/brier/lower"]


def test_every_table_has_its_own_columns_and_no_others():
    for name, rows in measured(statistics=FEW_DRAWS | {"resamples": 50}).tables.items():
        assert all(set(row) <= set(TABLES[name]) for row in rows), name


def test_what_is_drawn_is_left_out_of_very_large_parts_and_that_is_said():
    statistics = plain(Evaluation().statistics)
    few, none = (drawing_settings(statistics, rows) for rows in (1000, 1_000_000))
    assert (few[0]["resamples"], few[1]) == (1000, ())
    assert none[0]["resamples"] == 0
    assert "bootstrap intervals left out; set evaluation.statistics.resamples" in none[1][0]
    asked = drawing_settings(statistics | {"resamples": 50}, 1_000_000)
    assert asked[0]["resamples"] == 50


def test_what_takes_many_passes_is_left_out_of_huge_parts_and_that_is_said():
    everything, rest = (measured(statistics=FEW_DRAWS | {"most_rows": m}) for m in (1000, 9))
    left_out = {"calibration_intercept", "calibration_slope", "clipped_rows"}
    left_out |= {"corp", "spread", "top_label", "lower", "upper"}
    assert rest.result.metrics.items() <= everything.result.metrics.items()
    assert "test/tenths/ece_excess" in rest.result.metrics
    for name in set(everything.result.metrics) - set(rest.result.metrics):
        assert left_out & set(name.split("/")), name
    assert "set evaluation.statistics.most_rows to have them" in rest.result.notes[-1]


# ---- levels


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ({"above": 0.99}, "confidence_above_0.99"),
        ({"of": "probability", "at_least": 0.9}, "probability_at_least_0.9"),
    ],
)
def test_a_level_is_named_by_what_passes_it(section: dict[str, Any], name: str):
    assert level_name(plain(Level.model_validate(section))) == name


def test_rows_at_a_level_are_counted_with_their_errors():
    metrics = measured(levels=[{"of": "probability", "at_least": 0.9}]).result.metrics
    assert metrics["test/probability_at_least_0.9/count"] == 5
    assert metrics["test/probability_at_least_0.9/errors"] == 3


def test_a_level_that_no_row_reaches_counts_none_and_says_why_there_is_no_rate():
    result = measured(
        scores(probability=np.full(10, 0.5), logit=np.zeros(10)), levels=[{"above": 0.99}]
    ).result
    assert result.metrics["test/confidence_above_0.99/count"] == 0
    assert "no row reaches the level" in result.undefined.values()


# ---- what has no value


def test_one_class_has_no_area_under_the_curve_and_says_so():
    result = measured(scores(outcome=np.ones(10, dtype=np.int8))).result
    assert "test/roc_auc" not in result.metrics
    assert "one class" in result.undefined["test/roc_auc"]


def test_an_infinite_log_loss_has_a_reason_instead():
    result = measured().result
    assert "test/log_loss" not in result.metrics
    assert "exactly 0 or 1" in result.undefined["test/log_loss"]


def test_every_reported_number_is_finite():
    result = measured(bins={"one": {"count": 1}, "own": {"edges": [0.8, 1.0]}}).result
    assert all(math.isfinite(value) for value in result.metrics.values())


# ---- what a calibrator changed


def test_an_uncalibrated_score_keeps_its_order_and_its_decisions():
    metrics = measured().result.metrics
    assert (metrics["test/order_kept"], metrics["test/decisions_changed"]) == (10, 0)


def test_changed_decisions_and_places_are_counted():
    given = scores(logit=np.linspace(1, -1, 10), uncalibrated_logit=np.linspace(-1, 1, 10))
    metrics = measured(given).result.metrics
    assert (metrics["test/order_kept"], metrics["test/decisions_changed"]) == (0, 10)


# ---- single rows


def test_each_row_is_reported_where_that_is_asked_for():
    metrics = measured(each_row=True).result.metrics
    assert metrics["test/row_1/residual"] == pytest.approx(0.6)
    assert metrics["test/row_1/squared_error"] == pytest.approx(0.36)
    assert not any("/row_" in name for name in measured().result.metrics)


def test_too_many_rows_are_not_reported_one_by_one():
    many = 1001
    given = Scores(
        row=np.arange(many),
        part=Categories.constant("test", many),
        outcome=np.zeros(many, dtype=np.int8),
        probability=np.full(many, 0.5),
        logit=np.zeros(many),
        uncalibrated_logit=np.zeros(many),
        fitted=np.zeros(many, dtype=bool),
        calibrated=np.zeros(many, dtype=bool),
    )
    with pytest.raises(InputError, match="part 'test' has 1001 rows; at most 1000"):
        measured(given, each_row=True)


# ---- rows


def test_weights_count_as_repeated_rows():
    weight = np.array([1, 2, 1, 3, 1, 1, 1, 2, 1, 1], dtype=float)
    repeat = weight.astype(int)
    plain_scores = scores()
    repeated = Scores(
        **{
            name: column.take(np.repeat(np.arange(10), repeat))
            if isinstance(column, Categories)
            else np.repeat(column, repeat)
            for name, column in plain_scores.to_columns().items()
        }
    )
    weighted = measured(scores(weight=weight), bins={"fifths": {"count": 5}}).result.metrics
    expected = measured(repeated, bins={"fifths": {"count": 5}}).result.metrics
    bins = [f"fifths/bin_{i}/{name}" for i in (3, 4) for name in ("count", "gap", "ece_term")]
    for name in (*METRICS, "fifths/ece", "fifths/unweighted_gap", *bins):
        if f"test/{name}" in expected:
            assert weighted[f"test/{name}"] == pytest.approx(expected[f"test/{name}"], abs=1e-12)


def test_the_record_says_which_rows_were_measured():
    part = Categories.of(["train"] * 4 + ["test"] * 6)
    given = scores(part=part)
    assert measured(given).result.rows["measured"]["count"] == 6
    assert measured(given, on=("train", "test")).result.rows["measured"]["count"] == 10


def test_rows_that_were_learned_from_are_not_measured_unless_that_is_declared():
    given = scores(fitted=np.arange(10) < 3)
    with pytest.raises(InputError, match="3 of 10 rows of part 'test' are used both to fit"):
        measured(given)
    result = measured(given, declared=DECLARED).result
    assert "3 rows of part test used to fit and to evaluate: on purpose" in result.notes


def test_a_part_without_rows_cannot_be_measured():
    with pytest.raises(InputError, match="part 'validation' has no rows"):
        measured(on=("validation",))
