"""Scores: one row per scored row, with the manifests of the stages before."""

from typing import Any

import numpy as np

from kalibre.columns import Categories
from kalibre.files import read_columns, write_columns
from kalibre.scores import Scores

COLUMNS = [
    "row",
    "part",
    "outcome",
    "probability",
    "logit",
    "uncalibrated_logit",
    "fitted",
    "calibrated",
]


def scores(**parts: Any) -> Scores:
    """Four rows, the first two learned from."""
    filled: dict[str, Any] = {
        "row": np.array([3, 0, 2, 1]),
        "part": Categories.of(["train", "train", "calibration", "test"]),
        "outcome": np.array([1, 0, 1, 0], dtype=np.int8),
        "probability": np.array([0.9, 0.2, 0.6, 0.4]),
        "logit": np.array([2.2, -1.4, 0.4, -0.4]),
        "uncalibrated_logit": np.array([2.2, -1.4, 0.4, -0.4]),
        "fitted": np.array([True, True, False, False]),
        "calibrated": np.zeros(4, dtype=bool),
    }
    return Scores(**(filled | parts))


def test_the_table_has_a_weight_only_where_rows_have_one():
    assert list(scores().to_columns()) == COLUMNS
    assert list(scores(weight=np.ones(4)).to_columns()) == [*COLUMNS, "weight"]


def test_scores_come_back_from_their_file(tmp_path):
    write_columns(tmp_path / "scores.parquet", scores(weight=np.arange(4.0)).to_columns())
    back = Scores.from_columns(read_columns(tmp_path / "scores.parquet"))
    for name, column in scores(weight=np.arange(4.0)).to_columns().items():
        found = getattr(back, name)
        if isinstance(column, Categories):
            found, column = found.values(), column.values()
        np.testing.assert_array_equal(found, column)


def test_taking_rows_takes_them_of_every_column():
    taken = scores(weight=np.arange(4.0)).take(np.array([False, True, False, True]))
    assert len(taken) == 2
    assert taken.row.tolist() == [0, 1]
    assert taken.part.values().tolist() == ["train", "test"]
    assert taken.weight is not None
    assert taken.weight.tolist() == [1.0, 3.0]


def test_rows_are_found_by_their_parts():
    assert scores().in_parts(["train", "test"]).tolist() == [True, True, False, True]
    assert not scores().in_parts([]).any()


def test_calibrating_changes_the_probability_and_marks_the_rows_it_learned_from():
    before = scores()
    learned = before.in_parts(["calibration"])
    after = before.calibrate(before.probability / 2, before.logit - 1, learned)
    assert after.probability.tolist() == (before.probability / 2).tolist()
    assert after.logit.tolist() == (before.logit - 1).tolist()
    assert after.calibrated.tolist() == learned.tolist()


def test_calibrating_keeps_the_models_own_logit_and_its_manifest():
    before = scores()
    after = before.calibrate(before.probability / 2, before.logit - 1, before.fitted)
    assert after.uncalibrated_logit.tolist() == before.logit.tolist()
    assert after.fitted.tolist() == before.fitted.tolist()


def test_a_second_calibrator_adds_its_rows_to_those_of_the_first():
    before = scores(calibrated=np.array([False, False, True, False]))
    after = before.calibrate(before.probability, before.logit, before.in_parts(["test"]))
    assert after.calibrated.tolist() == [False, False, True, True]
