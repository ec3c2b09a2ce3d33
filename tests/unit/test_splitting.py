"""The stage `split_rows`: the part of each row, in the order in which stages take the rows."""

from typing import Any

import numpy as np
import pytest

from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.splitting import split_rows
from reference import subscribers


def roles(rows: int = 100, positives: int = 20) -> Columns:
    outcome = np.zeros(rows, dtype=np.int8)
    outcome[:positives] = 1
    return {"outcome": outcome}


def split(given: Columns | None = None, **settings: Any):
    filled: dict[str, Any] = {
        "method": "stratified",
        "parts": [["test", 25], ["calibration", 15]],
        "rest": "train",
        "seed": 0,
    }
    return split_rows(roles() if given is None else given, filled | settings)


@pytest.mark.parametrize("method", ["shuffle", "stratified", "random"])
def test_every_row_is_in_one_part(method: str):
    columns, _ = split(method=method)
    assert sorted(columns["row"].tolist()) == list(range(100))
    assert len(columns["part"]) == 100


@pytest.mark.parametrize("method", ["shuffle", "stratified", "random"])
def test_parts_have_the_sizes_asked_for_and_the_rest_what_remains(method: str):
    _, result = split(method=method)
    sizes = {name: result.metrics[f"{name}/rows"] for name in ("test", "calibration", "train")}
    assert sizes == {"test": 25, "calibration": 15, "train": 60}


def test_a_stratified_part_has_the_labels_share():
    _, result = split()
    assert result.metrics["test/positives"] == 5
    assert result.metrics["calibration/positive_rate"] == pytest.approx(0.2)


def test_a_share_is_of_what_the_earlier_cuts_have_left():
    _, result = split(parts=[["test", 0.2], ["calibration", 0.25]])
    assert [result.metrics[f"{n}/rows"] for n in ("test", "calibration", "train")] == [20, 20, 60]


@pytest.mark.parametrize("method", ["shuffle", "stratified", "random"])
def test_another_seed_is_another_split_and_the_same_seed_the_same(method: str):
    one, other, again = (split(method=method, seed=seed)[0] for seed in (0, 1, 0))
    assert one["row"].tolist() == again["row"].tolist()
    assert one["row"].tolist() != other["row"].tolist()


def test_the_lessons_shuffle_is_that_of_its_page():
    table = subscribers.generate(seed=5, candidates=1200)
    parts = subscribers.split(table, 5)
    outcome = np.array([row["suspicious"] for row in table], dtype=np.int8)
    sizes = [["train", len(parts.train)], ["validation", len(parts.validation)]]
    columns, _ = split(
        {"outcome": outcome}, method="shuffle", parts=sizes, rest="test", seed=5 + 90000
    )
    expected = [row["id"] for part in parts for row in part]
    assert [table[row]["id"] for row in columns["row"].tolist()] == expected


def test_the_record_says_how_the_rows_were_split():
    _, result = split(seed=3)
    assert result.params["method"] == "stratified"
    assert result.params["seed"] == 3


def test_a_part_with_one_class_is_said():
    _, result = split(roles(positives=0), method="random")
    assert any("test" in note for note in result.notes)


def test_cuts_that_leave_nothing_are_refused():
    with pytest.raises(InputError, match="split: "):
        split(parts=[["test", 101]])


# ---- by what the rows are

HOMES = Categories.of([f"home {i // 3}" for i in range(100)])
DAYS = np.datetime64("2024-01-01") + np.random.default_rng(2).permutation(100)
FOLDS = Categories.of(["a", "b", "c", "d"]).take(np.arange(100) % 4)


def part_of(columns: Columns) -> list[str]:
    """The part of each row of the table, by its position there."""
    part = columns["part"]
    assert isinstance(part, Categories)
    named = np.empty(100, dtype=object)
    named[np.asarray(columns["row"])] = part.values()
    return named.tolist()


def test_by_group_no_group_is_in_two_parts():
    columns, result = split({**roles(), "group": HOMES}, method="group")
    parts = part_of(columns)
    homes = HOMES.values().tolist()
    assert len(set(zip(homes, parts, strict=True))) == len(set(homes))
    assert {result.metrics[f"{n}/rows"] for n in ("test", "calibration")} <= {24, 15}
    assert "no group is parted" in result.notes[0]


@pytest.mark.parametrize(
    ("rest_is", "in_time"),
    [
        ("earliest", ["train", "calibration", "test"]),
        ("latest", ["test", "calibration", "train"]),
    ],
)
def test_by_time_no_row_is_in_an_earlier_part_than_an_earlier_row(rest_is: str, in_time: list[str]):
    columns, result = split({**roles(), "time": DAYS}, method="time", rest_is=rest_is)
    parts = np.array(part_of(columns))
    first = [DAYS[parts == name].min() for name in in_time]
    last = [DAYS[parts == name].max() for name in in_time]
    assert all(before < after for before, after in zip(last, first[1:], strict=False))
    assert result.params["rest_is"] == rest_is
    assert f"part 'test': {DAYS[parts == 'test'].min()}" in "\n".join(result.notes)


def test_by_column_each_row_is_where_its_column_says():
    asked = {"values": [["train", ["a", "b"]], ["test", ["c"]]], "rest": "calibration"}
    columns, result = split({**roles(), "part": FOLDS}, method="column", **asked)
    assert columns["row"].tolist() == list(range(100))
    assert part_of(columns)[:4] == ["train", "train", "test", "calibration"]
    assert result.metrics["train/rows"] == 50


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [["train", ["a", "b"]], ["test", ["c"]]],
            r"split: row 4: found the part 'd', which `split.values` does not name \(25 such rows\)",
        ),
        (
            [["train", ["a", "b", "c", "d"]], ["test", ["e"]]],
            "split: part 'test' has no rows; the column's values are a, b, c, d",
        ),
    ],
)
def test_a_column_that_does_not_fit_its_values_is_refused(values: Any, message: str):
    with pytest.raises(InputError, match=message):
        split({**roles(), "part": FOLDS}, method="column", values=values, rest=None)


@pytest.mark.parametrize(("method", "role"), [("group", "group"), ("time", "time")])
def test_a_split_by_a_role_that_nobody_named_is_refused(method: str, role: str):
    with pytest.raises(
        InputError, match=f"needs a column that says each row's {role}: data.{role}"
    ):
        split(method=method)


def test_groups_that_a_split_parts_are_counted_and_said():
    _, result = split({**roles(), "group": HOMES}, method="random")
    said = "\n".join(result.notes)
    assert "of 34 groups have rows in several parts" in said
    assert "`method: group` keeps each in one part" in said


def test_an_order_in_time_that_a_split_does_not_keep_is_said():
    _, result = split({**roles(), "time": DAYS})
    assert "the split does not keep its order" in "\n".join(result.notes)
