"""Files are written whole or not at all, and read back as they were."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre import files
from kalibre.columns import Categories, Columns


def test_a_file_is_written_into_a_folder_that_is_made_for_it(tmp_path: Path):
    files.write_text(tmp_path / "a/b/words.txt", "é\n")
    assert (tmp_path / "a/b/words.txt").read_bytes() == "é\n".encode()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "table.csv"
    files.write_text(path, "old")

    def break_off(temporary: str) -> None:
        Path(temporary).write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        files.replace_file(path, break_off)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_appears_under_its_name_only_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "table.csv"

    def look(temporary: str) -> None:
        Path(temporary).write_text("whole")
        assert not path.exists()
        assert Path(temporary).parent == path.parent

    files.replace_file(path, look)
    assert path.read_text() == "whole"


# ---- JSON


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_json_keeps_every_bit_of_a_number(number: float):
    assert json.loads(files.json_bytes({"x": number}))["x"] == number


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_refuses_what_is_no_number(value: float):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.json_bytes({"x": value})


def test_json_keeps_the_order_of_keys_and_letters_of_every_language(tmp_path: Path):
    path = tmp_path / "x.json"
    files.write_json(path, {"z": 1, "a": "şüpheli"})
    assert list(files.read_json(path)) == ["z", "a"]
    assert "şüpheli" in path.read_text(encoding="utf-8")
    assert path.read_text().endswith("}\n")


# ---- CSV


@given(st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_csv_keeps_every_bit_of_a_number(tmp_path_factory, number: float, numpy: bool):
    path = tmp_path_factory.getbasetemp() / "number.csv"
    files.write_csv(path, [{"x": np.float64(number) if numpy else number}], ["x"])
    assert float(files.read_csv(path)[0]["x"]) == number


def test_csv_has_the_columns_of_its_header_and_an_empty_field_for_nothing(tmp_path: Path):
    path = tmp_path / "x.csv"
    files.write_csv(path, [{"b": None, "a": 'said "no", twice'}, {"a": 1}], ["a", "b"])
    assert path.read_bytes() == b'a,b\n"said ""no"", twice",\n1,\n'
    assert files.read_csv(path) == [{"a": 'said "no", twice', "b": ""}, {"a": "1", "b": ""}]


def test_csv_refuses_a_column_that_its_header_lacks(tmp_path: Path):
    with pytest.raises(ValueError, match="unknown"):
        files.write_csv(tmp_path / "x.csv", [{"unknown": 1}], ["a"])
    assert not (tmp_path / "x.csv").exists()


# ---- Parquet

COLUMNS: Columns = {
    "part": Categories.of(["train", "test", "train"]),
    "row": np.array([2, 0, 1]),
    "outcome": np.array([1, 0, 1], dtype=np.int8),
    "fitted": np.array([True, False, True]),
    "logit": np.array([-np.inf, np.nan, 0.1]),
    "name": np.array(["a", None, "c"], dtype=object),
}


def test_a_table_comes_back_column_by_column(tmp_path: Path):
    files.write_columns(tmp_path / "t.parquet", COLUMNS)
    back = files.read_columns(tmp_path / "t.parquet")
    assert list(back) == list(COLUMNS)
    for name, column in COLUMNS.items():
        if isinstance(column, Categories):
            assert back[name].names == column.names
            np.testing.assert_array_equal(back[name].codes, column.codes)
        else:
            assert back[name].dtype == column.dtype
            np.testing.assert_array_equal(back[name], column)


def test_only_the_columns_asked_for_are_read(tmp_path: Path):
    files.write_columns(tmp_path / "t.parquet", COLUMNS)
    assert list(files.read_columns(tmp_path / "t.parquet", ["outcome"])) == ["outcome"]


def test_names_of_a_category_that_no_row_has_are_kept(tmp_path: Path):
    column = Categories.of(["train", "test"]).take(np.array([0]))
    files.write_columns(tmp_path / "t.parquet", {"part": column})
    assert files.read_columns(tmp_path / "t.parquet")["part"].names == ("train", "test")


@pytest.mark.parametrize("column", [Categories.of([]), np.zeros(0), np.zeros(0, dtype=np.int8)])
def test_a_table_without_rows_keeps_the_kinds_of_its_columns(tmp_path: Path, column):
    files.write_columns(tmp_path / "t.parquet", {"x": column})
    back = files.read_columns(tmp_path / "t.parquet")["x"]
    assert type(back) is type(column)
    assert len(back) == 0


def test_a_table_of_several_row_groups_comes_back(tmp_path: Path):
    rows = 1_100_000  # a row group is 1,048,576 rows
    table = {"row": np.arange(rows), "part": Categories.of(["a", "b"]).take(np.arange(rows) % 2)}
    files.write_columns(tmp_path / "t.parquet", table)
    back = files.read_columns(tmp_path / "t.parquet")
    np.testing.assert_array_equal(back["row"], table["row"])
    np.testing.assert_array_equal(back["part"].codes, table["part"].codes)


def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path: Path):
    with pytest.raises(NotImplementedError):
        files.write_columns(tmp_path / "t.parquet", {"x": np.array([1j])})
    assert list(tmp_path.iterdir()) == []
