"""Alterations: seeded, general, and each doing what it says and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from kalibre.alterations import ALTERATIONS, alter
from kalibre.errors import InputError

FRAME = pd.DataFrame(
    {"a": np.arange(1.0, 1001), "b": np.ones(1000), "name": ["north", "south"] * 500}
)
LABELS = np.arange(1000) % 2


def altered(name: str, seed: int = 0, **params: Any) -> pd.DataFrame:
    return alter(FRAME, LABELS, [{"alter": name, "seed": seed, "params": params}])


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    for seed, same in ((0, True), (1, False)):
        first = altered("outliers", columns=["a"], share=0.5, factor=2)
        second = altered("outliers", seed, columns=["a"], share=0.5, factor=2)
        assert first.equals(second) is same


def test_the_table_that_is_given_stays_as_it_is():
    before = FRAME.copy()
    for name, params in {
        "wrong_sign": {"columns": ["a"], "share": 1.0},
        "varied_spelling": {"columns": ["name"], "share": 1.0},
        "missing_by_label": {"columns": ["a"], "share": 1.0, "share_positive": 1.0},
    }.items():
        altered(name, **params)
    pd.testing.assert_frame_equal(FRAME, before)


def test_a_wrong_unit_takes_all_columns_of_the_record():
    found = altered("wrong_unit", columns=["a", "b"], share=0.3)
    wrong = found["b"] == 1000
    assert 0.25 < wrong.mean() < 0.35
    np.testing.assert_allclose(found["a"] / FRAME["a"], found["b"])


def test_a_wrong_sign_is_the_sign_alone():
    found = altered("wrong_sign", columns=["a"], share=0.2)
    assert found["a"].abs().equals(FRAME["a"])
    assert 0.15 < (found["a"] < 0).mean() < 0.25


def test_a_varied_spelling_is_the_same_word():
    found = altered("varied_spelling", columns=["name"], share=0.5)["name"]
    assert found.str.strip().str.lower().tolist() == FRAME["name"].tolist()
    assert set(found) == {
        *("north", "NORTH", "North", "north "),
        *("south", "SOUTH", "South", "south "),
    }


def test_values_go_missing_by_the_label():
    found = altered("missing_by_label", columns=["a"], share=0.1, share_positive=0.5)
    missing = found["a"].isna()
    assert missing[LABELS == 0].mean() == pytest.approx(0.1, abs=0.04)
    assert missing[LABELS == 1].mean() == pytest.approx(0.5, abs=0.06)


def test_outliers_are_drawn_for_each_column():
    found = altered("outliers", columns=["a", "b"], share=0.2, factor=10)
    assert set(found["b"]) == {1.0, 10.0}
    assert not np.array_equal(found["b"] == 10, found["a"] / FRAME["a"] == 10)


def test_noise_columns_tell_nothing():
    found = altered("noise_columns", count=3)
    assert list(found.columns[-3:]) == ["noise_1", "noise_2", "noise_3"]
    assert abs(np.corrcoef(found["noise_1"], LABELS)[0, 1]) < 0.1


def test_a_noisy_copy_is_like_its_column():
    found = altered("noisy_copies", columns=["a"], noise=0.5)
    expected = 1 / np.sqrt(1 + 0.5**2)
    assert np.corrcoef(found["a"], found["a_copy"])[0, 1] == pytest.approx(expected, abs=0.03)


def test_a_note_holds_its_phrases_as_often_as_said():
    phrases = [
        {"text": "seal broken", "share": 0.1, "share_positive": 0.5},
        {"text": "value {b:.0f}", "share": 1.0},
    ]
    notes = altered("note", column="note", phrases=phrases)["note"]
    broken = notes.str.contains("seal broken")
    assert broken[LABELS == 0].mean() == pytest.approx(0.1, abs=0.04)
    assert broken[LABELS == 1].mean() == pytest.approx(0.5, abs=0.06)
    assert notes.str.contains("value 1").all()
    assert {"seal broken. value 1", "value 1. seal broken", "value 1"} == set(notes)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("outlier", {}, "no alteration 'outlier'; did you mean 'outliers'"),
        ("outliers", {"colums": ["a"]}, "did you mean 'columns'"),
        ("outliers", {"columns": ["a"]}, "needs share, factor"),
        ("wrong_sign", {"columns": ["aa"], "share": 0.1}, "has no column 'aa'"),
        ("wrong_sign", {"columns": ["a"], "share": 5}, r"a share lies in \[0, 1\], found 5"),
    ],
)
def test_a_mistake_is_named(name, params, message):
    with pytest.raises(InputError, match=message):
        altered(name, **params)


def test_every_alteration_says_what_it_does():
    assert all(function.__doc__ for function in ALTERATIONS.values())
