"""The stage `split_rows`: the part of each row, in the order in which stages take the rows."""

from typing import Any

import numpy as np
import pytest

from kalibre.errors import InputError
from kalibre.splitting import split_rows
from reference import subscribers


def roles(rows: int = 100, positives: int = 20) -> dict[str, np.ndarray]:
    outcome = np.zeros(rows, dtype=np.int8)
    outcome[:positives] = 1
    return {"outcome": outcome}


def split(given: dict[str, np.ndarray] | None = None, **settings: Any):
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
