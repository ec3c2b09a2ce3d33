"""A table as plain columns: arrays, and strings as codes beside their names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.columns import Categories, row_count, take_rows

WORDS = st.lists(st.sampled_from(["train", "validation", "test", "", "é"]), max_size=30)


@given(WORDS)
def test_encoded_strings_come_back(words: list[str]):
    assert Categories.of(words).values().tolist() == words


@given(WORDS)
def test_names_stand_in_the_order_in_which_they_first_appear_each_once(words: list[str]):
    assert Categories.of(words).names == tuple(dict.fromkeys(words))


@given(WORDS, st.sets(st.sampled_from(["train", "test", "elsewhere"])))
def test_a_row_is_in_a_set_of_names_when_its_value_is(words: list[str], names: set[str]):
    found = Categories.of(words).isin(sorted(names))
    assert found.dtype == bool
    assert found.tolist() == [word in names for word in words]


def test_a_constant_column_has_one_name_in_every_row():
    column = Categories.constant("all", 3)
    assert len(column) == 3
    assert column.values().tolist() == ["all"] * 3


@pytest.mark.parametrize("rows", [np.array([2, 0]), np.array([True, False, True])])
def test_taking_rows_keeps_the_names(rows: np.ndarray):
    column = Categories.of(["train", "test", "rest"])
    taken = column.take(rows)
    assert taken.names == column.names
    assert taken.values().tolist() == column.values()[rows].tolist()


def test_taking_rows_of_a_table_takes_them_of_every_column():
    table = {"part": Categories.of(["a", "b", "a"]), "x": np.array([0.1, 0.2, 0.3])}
    taken = take_rows(table, np.array([2, 1]))
    assert list(taken) == ["part", "x"]
    assert taken["part"].values().tolist() == ["a", "b"]
    assert taken["x"].tolist() == [0.3, 0.2]


def test_rows_are_counted_by_any_column():
    assert row_count({"part": Categories.constant("all", 4)}) == 4
    assert row_count({"x": np.zeros(2)}) == 2
    assert row_count({}) == 0
