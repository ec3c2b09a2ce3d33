"""Records: what a rule did, in bytes that depend on nothing else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.records import (
    Record,
    Result,
    experiment_values,
    flatten,
    manifest,
    merge_metrics,
    metric_path,
    plain_number,
    read_records,
    snapshot,
    version,
)


def record(rule: str = "evaluate", *, result: Result | None = None, **parts: Any) -> Record:
    """A record of a small job."""
    subject = {"model": "linear", "calibrator": "none"} if rule == "evaluate" else {}
    filled: dict[str, Any] = {
        "rule": rule,
        "experiment": "trivia",
        "subject": subject,
        "result": result or Result(),
        "inputs": {},
        "outputs": {},
        "sources": "5" * 32,
        "packages": {"numpy": "2.4.6"},
    }
    return Record(**(filled | parts))


def content(made: Record) -> dict[str, Any]:
    return json.loads(made.to_bytes())


def test_a_record_says_what_was_done_to_what_with_which_result():
    result = Result(
        metrics={"test/brier": 0.1},
        undefined={"test/roc_auc": "one class only"},
        params={"bins": {"fifths": {"count": 5}}},
        rows={"measured": {"count": 2, "digest": "0" * 32}},
        notes=("3 rows were clipped",),
    )
    outputs = {"reliability": {"file": "reliability.csv", "kind": "table", "digest": "1" * 32}}
    made = record(result=result, inputs={"read_scores/linear/scores": "2" * 32}, outputs=outputs)
    assert content(made) == {
        "rule": "evaluate",
        "experiment": "trivia",
        "subject": {"model": "linear", "calibrator": "none"},
        "params": {"bins/fifths/count": 5},
        "metrics": {"test/brier": 0.1},
        "undefined": {"test/roc_auc": "one class only"},
        "rows": {"measured": {"count": 2, "digest": "0" * 32}},
        "notes": ["3 rows were clipped"],
        "inputs": {"read_scores/linear/scores": "2" * 32},
        "outputs": outputs,
        "sources": "5" * 32,
        "packages": {"numpy": "2.4.6"},
    }


def _parts(order: int) -> dict[str, Any]:
    """The same content with its keys in one order or the other."""

    def turned(mapping: dict[str, Any]) -> dict[str, Any]:
        return dict(list(mapping.items())[::order])

    result = Result(
        metrics=turned({"a": 1, "b": 2.5}),
        undefined=turned({"c": "no rows", "d": "no rows"}),
        params=turned({"x": {"y": 1}, "z": 2}),
        rows=turned({"learned": {"count": 1}, "measured": {"count": 2}}),
    )
    return {
        "result": result,
        "inputs": turned({"m": "1", "n": "2"}),
        "outputs": turned({"p": {"file": "p"}, "q": {"file": "q"}}),
        "packages": turned({"numpy": "2", "scipy": "1"}),
    }


def test_the_same_content_gives_the_same_bytes_in_whatever_order_it_was_gathered():
    assert record(**_parts(1)).to_bytes() == record(**_parts(-1)).to_bytes()


def test_the_order_of_the_subject_stays_because_it_is_the_order_of_the_path():
    subject = {"model": "b", "calibrator": "a"}
    assert list(content(record(subject=subject))["subject"].values()) == ["b", "a"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_metric_keeps_every_bit(number: float):
    made = record(result=Result(metrics={"x": np.float64(number)}))
    assert content(made)["metrics"]["x"] == number


@pytest.mark.parametrize("value", [np.int8(3), np.int64(3), 3, np.uint16(3)])
def test_a_count_is_a_whole_number(value: Any):
    assert repr(plain_number(value)) == "3"


@pytest.mark.parametrize("value", [True, np.True_])
def test_a_truth_is_a_number_too(value: Any):
    assert repr(plain_number(value)) == "1"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_metric_without_a_value_is_refused_and_asked_for_its_reason(value: float):
    with pytest.raises(ValueError, match="give it a reason in `undefined`"):
        record(result=Result(metrics={"x": value})).to_bytes()


# ---- identity


def test_a_version_is_the_digest_of_the_records_bytes():
    one, other = (record(result=Result(metrics={"x": x})).to_bytes() for x in (1, 2))
    assert version(one) == version(bytes(one))
    assert version(one) != version(other)
    assert len(version(one)) == 32


def test_a_snapshot_hangs_on_every_version_and_not_on_their_order():
    assert snapshot(["a", "b"]) == snapshot(["b", "a"])
    assert snapshot(["a", "b"]) != snapshot(["a", "c"])
    assert snapshot(["a"]) != snapshot(["a", "b"])


def test_a_manifest_says_how_many_rows_and_which_but_not_in_which_order():
    assert manifest(np.array([5, 2]))["count"] == 2
    assert manifest(np.array([5, 2])) == manifest(np.array([2, 5], dtype=np.int32))
    assert manifest(np.array([5, 2])) != manifest(np.array([5, 3]))


# ---- flat names


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ({"a": {"b": {"c": 1}}, "d": None}, {"a/b/c": 1, "d": None}),
        ({"parts": ["train", "test"]}, {"parts": "train, test"}),
        (
            {"levels": [{"above": 0.9}, {"above": 0.99}]},
            {"levels/0/above": 0.9, "levels/1/above": 0.99},
        ),
        ({"cuts": [["validation", 171]]}, {"cuts/0": "validation, 171"}),
        ({"empty": {}, "none": []}, {"none": ""}),
    ],
)
def test_nested_settings_become_one_level_of_names(nested: dict[str, Any], flat: dict[str, Any]):
    assert flatten(nested) == flat


def test_a_metrics_path_is_rule_subject_and_name():
    assert metric_path(content(record()), "test/brier") == "evaluate/linear/none/test/brier"
    assert metric_path(content(record("make_table")), "rows") == "make_table/rows"


def test_all_metrics_are_one_flat_object_with_null_where_there_is_no_value():
    table = record("make_table", result=Result(metrics={"rows": 10}))
    measured = Result(metrics={"test/brier": 0.1}, undefined={"test/roc_auc": "one class"})
    assert merge_metrics([content(record(result=measured)), content(table)]) == {
        "evaluate/linear/none/test/brier": 0.1,
        "evaluate/linear/none/test/roc_auc": None,
        "make_table/rows": 10,
    }


def test_settings_stand_flat_beside_what_the_rules_made_of_them():
    settings = {"data": {"seed": 7}, "title": "T"}
    fitted = record("fit_model", subject={"model": "tree"}, result=Result(params={"depth": 8}))
    assert experiment_values(settings, [content(fitted)]) == {
        "data/seed": 7,
        "params/fit_model/tree/depth": 8,
        "title": "T",
    }


def test_records_are_read_in_the_order_given(tmp_path: Path):
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(record(name).to_bytes())
    assert [r["rule"] for r in read_records([tmp_path / "b", tmp_path / "a"])] == ["b", "a"]
