"""What a person reads at the end: the tables as text."""

from typing import Any

import pytest

from kalibre.summary import cell_text, summary_text, table_text

SETTINGS = {"title": "Is it kept?", "question": "Whose promise holds?"}


def evaluated(model: str = "linear", calibrator: str = "none", **parts: Any) -> dict[str, Any]:
    """The record of an evaluation."""
    metrics = {
        "test/rows": 252,
        "test/observed_rate": 0.25,
        "test/brier": 0.17241,
        "test/fifths/ece": 0.02424,
    }
    record = {
        "rule": "evaluate",
        "subject": {"model": model, "calibrator": calibrator},
        "params": {},
        "metrics": metrics,
        "undefined": {},
        "notes": [],
    }
    return record | parts


def calibrated(**parts: Any) -> dict[str, Any]:
    record = evaluated(calibrator="temperature") | {"rule": "calibrate"}
    record["metrics"] = {"temperature": 4.125, "learned_rows": 132}
    record["params"] = {"method": "temperature", "learn_on": "calibration"}
    return record | parts


def bins(part: str = "test", rule: str = "fifths") -> list[dict[str, str]]:
    """The rows of a reliability table as its file has them."""
    filled = {"count": "3", "mean_predicted": "0.1", "observed_rate": "0.2", "gap": "-0.1"}
    empty = dict.fromkeys(filled, "") | {"count": "0"}
    place = {"part": part, "bins": rule}
    return [
        place | {"bin": "0", "lower": "0.0", "upper": "0.5"} | filled,
        place | {"bin": "1", "lower": "0.5", "upper": "1.0"} | empty,
        place | {"bin": "2", "lower": "1.0", "upper": "1.0"} | filled,
    ]


def text(*records: dict[str, Any], tables: Any = None, settings: Any = None) -> str:
    reliability = {("linear", "none"): bins()} if tables is None else tables
    return summary_text("trivia", SETTINGS if settings is None else settings, records, reliability)


def line_of(printed: str, start: str) -> list[str]:
    (line,) = [line for line in printed.splitlines() if line.startswith(start)]
    return line.split()


# ---- cells


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.02424, "0.0242"),
        (-0.13018, "-0.1302"),
        (252, "252"),
        ("0.02424", "0.0242"),
        ("252", "252"),
        ("1e-05", "0.0000"),
        ("", "-"),
        (None, "-"),
        ("none", "none"),
        ("linear", "linear"),
    ],
)
def test_a_number_has_four_decimals_a_count_none_and_nothing_is_a_dash(value: Any, shown: str):
    assert cell_text(value) == shown


def test_words_stand_to_the_left_and_numbers_to_the_right():
    rows = [{"model": "linear", "rows": 5}, {"model": "tree", "rows": 1000}]
    assert table_text(rows, ["model", "rows"]).splitlines() == [
        "model   rows",
        "linear     5",
        "tree    1000",
    ]


# ---- the whole


def test_it_opens_with_what_was_asked():
    lines = text(evaluated()).splitlines()
    assert lines[0] == "trivia: Is it kept?"
    assert lines[2] == "Whose promise holds?"


def test_without_a_title_the_name_is_enough():
    assert text(evaluated(), settings={}).splitlines()[0] == "trivia: trivia"


def test_every_model_calibrator_and_part_has_a_line():
    both = evaluated(metrics={"train/rows": 7, "test/rows": 3})
    printed = text(both, evaluated("tree", "temperature"))
    assert line_of(printed, "tree")[:4] == ["tree", "temperature", "test", "252"]
    starts = [line.split()[:3] for line in printed.splitlines() if line.startswith("linear ")]
    assert starts == [["linear", "none", "train"], ["linear", "none", "test"]]


def test_a_bin_rules_error_is_a_column_of_its_name():
    printed = text(evaluated())
    assert "ECE fifths" in printed
    assert "0.0242" in line_of(printed, "linear  none")


def test_what_is_not_measured_is_a_dash_and_its_reason_stands_below():
    printed = text(evaluated(undefined={"test/roc_auc": "one class only"}))
    assert "-" in line_of(printed, "linear  none")
    assert "no ROC AUC on test: one class only" in printed


def test_a_calibrator_is_shown_with_what_it_learned():
    printed = text(evaluated(), calibrated())
    row = line_of(printed, "linear  temperature")
    assert row == ["linear", "temperature", "calibration", "132", "temperature", "4.1250"]


def test_a_fixed_map_learned_nothing_and_is_not_among_them():
    fixed = calibrated(params={"method": "sharpen", "learn_on": ""})
    assert "learned on" not in text(evaluated(), fixed)


# ---- reliability tables


def test_a_bin_is_an_interval_closed_where_its_rows_are():
    printed = text(evaluated())
    rows = [line for line in printed.splitlines() if line.startswith("[")]
    assert [row.split("  ")[0] for row in rows] == ["[0, 0.5)", "[0.5, 1)", "[1]"]


def test_an_empty_bin_has_a_count_and_dashes():
    assert line_of(text(evaluated()), "[0.5, 1)")[2:] == ["0", "-", "-", "-"]


def test_the_last_bin_is_closed_on_both_sides():
    tables = {("linear", "none"): bins()[:2]}
    assert "[0.5, 1]" in text(evaluated(), tables=tables)


def test_the_table_is_that_of_the_test_part_where_there_is_one():
    tables = {("linear", "none"): bins("train") + bins("test")}
    printed = text(evaluated(), tables=tables)
    assert "linear: reliability on test, fifths" in printed
    assert "reliability on train" not in printed


def test_each_bin_rule_has_a_table_of_its_own():
    tables = {("linear", "none"): bins() + bins(rule="tenths")}
    printed = text(evaluated(), tables=tables)
    assert "reliability on test, fifths" in printed
    assert "reliability on test, tenths" in printed


def test_a_calibrated_models_table_says_so():
    tables = {("linear", "temperature"): bins()}
    assert "linear, temperature: reliability on test" in text(evaluated(), tables=tables)


def test_a_rule_whose_bins_hold_no_row_is_said():
    tables = {("linear", "none"): [bins()[1]]}
    assert "no row lies in the bins of fifths" in text(evaluated(), tables=tables)


# ---- what there is to know


def test_notes_are_said_once_with_who_said_them():
    note = "3 rows were clipped"
    printed = text(evaluated(notes=[note]), evaluated("tree", notes=[note]))
    assert printed.count(note) == 1
    assert f"- {note} (evaluate linear none and 1 more)" in printed


def test_without_anything_to_know_nothing_is_said():
    assert "To know" not in text(evaluated())


def test_what_needs_no_bins_has_a_table_of_its_own():
    record = evaluated()
    record["metrics"] |= {"test/smooth_ece": 0.0301, "test/calibration_slope": 0.6612}
    printed = text(record)
    assert "true probabilities have slope 1 and intercept 0" in printed
    below = printed[printed.index("Without bins") :]
    assert line_of(below, "linear  none")[2:5] == ["test", "0.6612", "-"]


def test_a_declaration_does_not_hide_what_was_found():
    row = {
        "type": "L1.4",
        "name": "Duplicates",
        "status": "tested",
        "finding": "53 of the rows",
        "declared": "there are none",
        "by": "Ann",
    }
    printed = summary_text("trivia", SETTINGS, [evaluated()], {}, [row])
    assert "L1.4  Duplicates: tested; 53 of the rows; Ann declares: there are none" in printed


def test_a_study_shows_how_the_score_moves_with_the_calibration_rows():
    metrics = {"splits": 4}
    for name, mean in (("temperature/rows_25", 0.01), ("temperature", -0.02)):
        metrics[f"{name}/test/brier/minus_none/mean"] = mean
        metrics[f"{name}/test/brier/minus_none/lower"] = 3
    joined = {
        "rule": "join_repeats",
        "subject": {"model": "linear"},
        "params": {"parts": "test"},
        "metrics": metrics,
        "undefined": {},
        "notes": [],
    }
    printed = text(joined, tables={})
    below = printed[printed.index("by the rows a calibrator learned from") :]
    assert line_of(below, "linear  temperature")[2:5] == ["test", "25", "+0.0100"]


def test_it_ends_with_one_line_break():
    assert text(evaluated()).endswith("\n")
    assert not text(evaluated()).endswith("\n\n")
