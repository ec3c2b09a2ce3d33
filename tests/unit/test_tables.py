"""A person's own table: what is read, what is said of it, and what is refused with its place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kalibre.columns import Categories
from kalibre.data.table import Table, make_table
from kalibre.digests import digest_bytes
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.data import OwnTable

Read = Callable[..., Table]
GOOD = "y,age,town\n0,31,Gouda\n1,,Delft\n1,45,\n0,28,Gouda\n"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read a file's content as the experiment file's section `data` asks."""
    monkeypatch.chdir(tmp_path)

    def make(content: str | bytes | pd.DataFrame | pa.Table, **section: Any) -> Table:
        name = "t.parquet" if isinstance(content, (pd.DataFrame, pa.Table)) else "t.csv"
        if isinstance(content, pd.DataFrame):
            content.to_parquet(name)
        elif isinstance(content, pa.Table):
            pq.write_table(content, name)
        else:
            data = content.encode() if isinstance(content, str) else content
            Path(name).write_bytes(data)
        return make_table(
            plain(OwnTable(source="table", **{"file": name, "target": "y"} | section))
        )

    return make


def values(table: Table, column: str) -> list[Any]:
    """A feature's values."""
    found = table.features[column]
    return found.values().tolist() if isinstance(found, Categories) else np.asarray(found).tolist()


def notes(table: Table) -> str:
    """All that is said."""
    return "\n".join(table.result.notes)


# ---- kinds


def test_numbers_categories_and_gaps(read: Read):
    table = read(GOOD)
    np.testing.assert_array_equal(table.features["age"], [31, np.nan, 45, 28])
    assert values(table, "town") == ["Gouda", "Delft", None, "Gouda"]
    assert np.asarray(table.roles["outcome"]).tolist() == [0, 1, 1, 0]
    assert "values are missing (of 4 rows): 'age' in 1, 'town' in 1" in notes(table)


def test_the_record_says_the_kinds_the_counts_and_the_files_digest(read: Read):
    table = read(GOOD)
    assert table.result.params["kinds"] == {"category": ["town"], "number": ["age"]}
    assert table.result.params["positive"] == "1"
    assert table.result.metrics == {
        "rows": 4,
        "positives": 2,
        "positive_rate": 0.5,
        "columns": 2,
        "missing_values": 2,
    }
    assert table.inputs == {"file": digest_bytes(GOOD.encode())}


def test_booleans_are_booleans_and_with_gaps_numbers(read: Read):
    table = read("y,member,active\n0,true,True\n1,false,\n")
    assert values(table, "member") == [True, False]
    np.testing.assert_array_equal(table.features["active"], [1.0, np.nan])
    assert table.result.params["kinds"] == {"boolean": ["member", "active"]}


def test_dates_become_days_and_that_is_said(read: Read):
    table = read("y,since\n0,1970-01-02\n1,1969-12-31\n")
    assert values(table, "since") == [1.0, -1.0]
    assert "column 'since' holds dates: models see the days since 1970-01-01" in notes(table)


def test_a_time_of_day_is_a_fraction_of_the_day(read: Read):
    assert values(read("y,at\n0,1970-01-01 06:00\n1,1970-01-02 12:00\n"), "at") == [0.25, 1.5]


def test_text_with_another_value_in_most_rows_is_left_out_and_that_is_said(read: Read):
    rows = "".join(f"{i % 2},{i % 7},note number {i}\n" for i in range(120))
    table = read("y,x,remark\n" + rows)
    assert list(table.features) == ["x"]
    assert "'remark' holds 120 different texts in 120 rows, so it looks like an id" in notes(table)


def test_text_that_is_named_is_kept(read: Read):
    rows = "".join(f"{i % 2},{i % 7},note number {i}\n" for i in range(120))
    table = read("y,x,remark\n" + rows, columns=["remark"])
    assert list(table.features) == ["remark"]


def test_a_column_without_values_is_left_out_and_that_is_said(read: Read):
    table = read("y,a,b\n0,,1\n1,,2\n")
    assert list(table.features) == ["b"]
    assert "column 'a' has no values: left out" in notes(table)


def test_a_column_of_one_value_is_said(read: Read):
    assert "column 'a' has one value in every row that has any, '7'" in notes(
        read("y,a,b\n0,7,1\n1,7,2\n")
    )


def test_whole_numbers_that_differ_in_every_row_may_be_an_id(read: Read):
    table = read("y,number\n" + "".join(f"{i % 2},{i + 1000}\n" for i in range(60)))
    assert "column 'number' has another whole number in every row: if it is an id" in notes(table)


def test_infinite_values_are_said_with_their_row(read: Read):
    table = read("y,a\n0,1\n1,inf\n1,2\n")
    assert "column 'a' is infinite in 1 rows, first in row 2" in notes(table)


def test_kinds_can_be_said(read: Read):
    table = read("y,post code,b\n0,0101,1\n1,2000,2\n", kinds={"post code": "category"})
    assert values(table, "post code") == ["0101", "2000"]


def test_missing_values_can_be_said(read: Read):
    table = read("y,a,b\n0,?,1\n1,5,2\n", missing=["?"])
    np.testing.assert_array_equal(table.features["a"], [np.nan, 5])


def test_the_names_of_a_category_are_in_order_each_of_some_row(read: Read):
    column = read("y,a\n0,z\n1,b\n1,k\n").features["a"]
    assert isinstance(column, Categories)
    assert column.names == ("b", "k", "z")


# ---- columns


def test_columns_come_in_the_order_asked_for(read: Read):
    content = "a,y,b,c\n1,0,2,3\n4,1,5,6\n"
    assert list(read(content).features) == ["a", "b", "c"]
    assert list(read(content, columns=["c", "a"]).features) == ["c", "a"]
    assert list(read(content, leave_out=["b"]).features) == ["a", "c"]


def test_no_model_sees_a_role(read: Read):
    content = "y,who,home,day,w,fold,a\n" + "".join(
        f"{i % 2},p{i},h{i // 2},2024-01-0{i + 1},{i + 1},{'ab'[i % 2]},{i}\n" for i in range(4)
    )
    table = read(content, id="who", group="home", time="day", weight="w", part="fold")
    assert list(table.features) == ["a"]
    assert list(table.roles) == ["outcome", "id", "group", "time", "weight", "part"]
    assert np.asarray(table.roles["time"]).dtype == "datetime64[us]"
    assert np.asarray(table.roles["weight"]).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_repeated_ids_without_a_group_are_said(read: Read):
    said = notes(read("y,who,a\n0,p,1\n1,p,2\n1,q,3\n", id="who"))
    assert "1 rows repeat an id of column 'who'" in said
    assert "repeat an id" not in notes(
        read("y,who,a\n0,p,1\n1,p,2\n1,q,3\n", id="who", group="who")
    )


@pytest.mark.parametrize("name", ["with space", 'said "no"', "one, two", "🙂", "größe", "a.b/c"])
def test_any_name_will_do(read: Read, name: str):
    quoted = '"' + name.replace('"', '""') + '"'
    assert values(read(f"{quoted},y\n1,0\n2,1\n"), name) == [1, 2]


def test_names_that_differ_only_in_case_are_two_columns(read: Read):
    table = read("y,age,Age\n0,1,2\n1,3,5\n")
    assert (values(table, "age"), values(table, "Age")) == ([1, 3], [2, 5])
    assert "'age' and 'Age' are two columns; they differ only in case" in notes(table)


def test_blanks_around_a_name_are_not_part_of_it(read: Read):
    assert list(read("y, a ,b\n0,1,2\n1,3,5\n").features) == ["a", "b"]


def test_a_column_without_a_name_is_left_out_and_that_is_said(read: Read):
    table = read(",y,a\n0,1,5\n1,0,6\n")
    assert list(table.features) == ["a"]
    assert "column 1 has no name and is left out" in notes(table)


# ---- labels


@pytest.mark.parametrize(
    ("labels", "positive", "expected", "name"),
    [
        (("0", "1"), None, [0, 1], "1"),
        (("0.0", "1.0"), None, [0, 1], "1"),
        (("False", "True"), None, [0, 1], "true"),
        (("no", "yes"), "yes", [0, 1], "yes"),
        (("no", "yes"), "no", [1, 0], "no"),
        (("NO", "YES"), "yes", [0, 1], "YES"),
        (("1", "2"), 2, [0, 1], "2"),
        (("1.0", "2.0"), 2, [0, 1], "2"),
        (("1.0", "2.0"), "2", [0, 1], "2"),
        (("1.5", "2.5"), 1.5, [1, 0], "1.5"),
        (("true", "false"), False, [0, 1], "false"),
        (("true", "false"), "True", [1, 0], "true"),
    ],
)
def test_the_positive_label_is_named_whatever_its_type(
    read: Read, labels: tuple[str, str], positive: Any, expected: list[int], name: str
):
    section = {} if positive is None else {"positive": positive}
    table = read(f"y,a\n{labels[0]},1\n{labels[1]},2\n", **section)
    assert np.asarray(table.roles["outcome"]).tolist() == expected
    assert table.result.params["positive"] == name


def test_of_more_than_two_labels_one_stands_against_the_rest_and_that_is_said(read: Read):
    table = read("y,a\nred,1\ngreen,2\nblue,3\n", positive="green")
    assert np.asarray(table.roles["outcome"]).tolist() == [0, 1, 0]
    assert "has 3 labels: 'green' counts as 1, all others (red, blue) as 0" in notes(table)


# ---- formats


def test_semicolons_and_decimal_commas_are_read_and_said(read: Read):
    table = read("y;a;b\n0;1,5;x\n1;-2,25;y\n")
    assert values(table, "a") == [1.5, -2.25]
    assert "columns are separated by semicolons" in notes(table)
    assert "numbers have decimal commas" in notes(table)


@pytest.mark.parametrize(("mark", "name"), [("\t", "tabs"), ("|", "vertical bars")])
def test_other_separators_are_read_and_said(read: Read, mark: str, name: str):
    table = read(GOOD.replace(",", mark))
    assert list(table.features) == ["age", "town"]
    assert f"columns are separated by {name}" in notes(table)


def test_the_separator_can_be_said(read: Read):
    assert values(read("y:a\n0:1\n1:2\n", delimiter=":"), "a") == [1, 2]


def test_a_byte_order_mark_is_no_part_of_the_first_name(read: Read):
    table = read(b"\xef\xbb\xbf" + GOOD.encode())
    assert list(table.features) == ["age", "town"]
    assert "begins with a byte order mark" in notes(table)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_another_encoding_can_be_said(read: Read, encoding: str):
    table = read("y,a,größe\n0,é,1\n1,ü,2\n".encode(encoding), encoding=encoding)
    assert values(table, "a") == ["é", "ü"]
    assert "größe" in table.features


def test_a_value_may_hold_separators_quotation_marks_and_lines(read: Read):
    table = read('y,a,b\n0,"one, two",1\n1,"said ""no""\nand left",2\n')
    assert values(table, "a") == ["one, two", 'said "no"\nand left']


def test_a_list_is_no_label_and_no_group(read: Read):
    table = pa.table({"y": [[0], [1]], "a": [1.0, 2.0], "g": [{"x": 1}, {"x": 2}]})
    with pytest.raises(InputError, match=r"column 'y' \(`data.target`\) is of the type list"):
        read(table)
    with pytest.raises(InputError, match=r"column 'g' \(`data.group`\) is of the type struct"):
        read(table.set_column(0, "y", [[0, 1]]), group="g")


def test_a_link_that_leads_nowhere_is_said_to_be_one(read: Read):
    Path("link.csv").symlink_to("gone.csv")
    with pytest.raises(InputError, match=r"link\.csv: is a link to 'gone\.csv', where there is no"):
        read(NUMBERS, file="link.csv")


def test_parquet_keeps_its_types(read: Read):
    frame = pd.DataFrame(
        {
            "y": pd.Categorical(["no", "yes", "no"]),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "f": np.array([1.5, np.nan, 2.5], dtype=np.float32),
            "c": pd.Categorical(["x", None, "z"], categories=["z", "unused", "x"]),
            "k": pd.Categorical([7, 8, 7]),
            "d": pd.to_datetime(["1970-01-02", None, "1970-01-04"]),
            "b": pd.array([True, None, False], dtype="boolean"),
        }
    )
    table = read(frame, positive="yes")
    assert np.asarray(table.roles["outcome"]).tolist() == [0, 1, 0]
    np.testing.assert_array_equal(table.features["n"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.features["f"], [1.5, np.nan, 2.5])
    assert values(table, "c") == ["x", None, "z"]
    assert table.features["c"].names == ("x", "z")  # type: ignore[union-attr]
    assert values(table, "k") == [7, 8, 7]
    np.testing.assert_array_equal(table.features["d"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.features["b"], [1, np.nan, 0])


def test_a_column_no_model_takes_is_left_out_and_that_is_said(read: Read):
    content = pa.table({"y": [0, 1], "a": [1, 2], "l": [[1], [2, 3]]})
    table = read(content)
    assert list(table.features) == ["a"]
    assert "column 'l' is of the type list<" in notes(table)


def test_a_table_says_the_same_from_csv_and_parquet(read: Read):
    from_csv = read(GOOD)
    from_parquet = read(pd.read_csv("t.csv"))
    assert from_csv.result.metrics == from_parquet.result.metrics
    assert from_csv.result.params["kinds"] == from_parquet.result.params["kinds"]
    for name in from_csv.features:
        np.testing.assert_array_equal(values(from_csv, name), values(from_parquet, name))


# ---- what is refused

NUMBERS = "y,a\n" + "".join(f"{i % 2},{i}.5\n" for i in range(30))
REFUSED: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "no such file": (
        GOOD,
        {"file": "tt.csv"},
        "tt.csv: there is no such file; a path is relative to the project's folder; did you mean 't.csv'?",
    ),
    "a folder": (GOOD, {"file": "."}, ".: is a folder; name a CSV or Parquet file in it"),
    "empty file": (b"", {}, "t.csv: is empty; a table has a line of column names and rows"),
    "blank file": (b"\n\n  \n", {}, "t.csv: is empty; a table has a line of column names and rows"),
    "header only": (b"y,a\n", {}, "t.csv: has the names of 2 columns and no rows below them"),
    "no header": (
        b"1,0.5\n0,0.7\n",
        {},
        "t.csv: the first line holds numbers (1, 0.5); it must name the columns",
    ),
    "workbook": (
        b"PK\x03\x04rest",
        {},
        "t.csv: is an Excel workbook or a zip archive; save the sheet as CSV; kalibre reads CSV and Parquet",
    ),
    "packed": (
        b"\x1f\x8brest....",
        {},
        "t.csv: is packed with gzip; unpack it; kalibre reads CSV and Parquet",
    ),
    "damaged Parquet": (b"PAR1rest....", {}, "t.csv: is a damaged Parquet file"),
    "duplicate names": (
        "y,a,b,a\n0,1,2,3\n",
        {},
        "t.csv: the name 'a' stands twice, above columns 2 and 4; give every column a name of its own",
    ),
    "a row too long": (
        "y,a\n0,1\n1,2,3\n",
        {},
        (
            "t.csv: row 2 has 3 values where the header has 2: '1,2,3'; a value that holds commas stands in "
            'quotation marks: "..."'
        ),
    ),
    "a row too short": (
        "y,a\n0,1\n1\n0,3\n",
        {},
        "t.csv: row 2 has 1 values where the header has 2: '1'",
    ),
    "an open quotation mark": (
        'y,a\n0,"1\n1,2\n',
        {},
        "t.csv: row 1: a quotation mark is not closed, so that the rest of the file became one value",
    ),
    "an open quotation mark in a column that is not read": (
        'y,a,b\n0,1,2\n1,1,"2\n0,3,4\n1,2,3\n',
        {"leave_out": ["b"]},
        "t.csv: row 2: a quotation mark is not closed, so that the rest of the file became one value",
    ),
    "an open quotation mark before others": (
        'y,a,b\n0,"1,2\n1,2,3\n',
        {},
        "t.csv: row 1 has 2 values where the header has 3: '0,\"1,2\\n1,2,3'; is a quotation mark not closed?",
    ),
    "Latin-1 in a value": (
        "y,a,b\n0,1,x\n1,2,é\n".encode("latin-1"),
        {},
        (
            "t.csv: row 2: byte 0xE9 is not UTF-8 text; the file looks like Latin-1, where it is 'é': say "
            "`encoding: latin-1` under `data`, or save the file as UTF-8"
        ),
    ),
    "Latin-1 far below": (
        ("y,a\n" + "0,word word word\n" * 80_000 + "1,é\n").encode("latin-1"),
        {},
        "t.csv: row 80001, column 'a': byte 0xE9 is not UTF-8 text",
    ),
    "Latin-1 in a name": (
        "y,é\n0,1\n".encode("latin-1"),
        {},
        "t.csv: the header: byte 0xE9 is not",
    ),
    "UTF-16": (
        "y,a\n0,1\n".encode("utf-16"),
        {},
        "t.csv: is text in UTF-16; say `encoding: utf-16` under `data`, or save it as UTF-8",
    ),
    "no text": (
        b"y,a\n0\0\0,1\n",
        {},
        "t.csv: holds zero bytes, so it is no text; give a CSV or Parquet file",
    ),
    "no target": (
        "label,a\n0,1\n",
        {"target": "lable"},
        "t.csv: has no column 'lable', which `data.target` names; did you mean 'label'?",
    ),
    "another case": (
        "Y,a\n0,1\n",
        {},
        "t.csv: has no column 'y', which `data.target` names; did you mean 'Y'?",
    ),
    "no column like it": (
        "p,q\n0,1\n",
        {"target": "outcome"},
        "t.csv: has no column 'outcome', which `data.target` names; its columns are 'p', 'q'",
    ),
    "no such role": (
        GOOD,
        {"group": "home"},
        "t.csv: has no column 'home', which `data.group` names",
    ),
    "no such feature": (
        GOOD,
        {"columns": ["agee"]},
        "'agee', which `data.columns` names; did you mean 'age'?",
    ),
    "nothing to leave out": (
        GOOD,
        {"leave_out": ["x"]},
        "has no column 'x', which `data.leave_out` names",
    ),
    "target with a gap": (
        "y,a\n0,1\n,2\n1,3\n",
        {},
        (
            "t.csv: column 'y' (`data.target`), row 2: found no value (1 of 3 rows); every row needs a label: "
            "fill it in or delete the row"
        ),
    ),
    "constant target": (
        "y,a\n1,1\n1,2\n",
        {},
        (
            "t.csv: column 'y' (`data.target`): all rows (2) have the label '1'; a classifier needs rows of two "
            "labels"
        ),
    ),
    "positive not said": (
        "y,a\nno,1\nyes,2\nno,3\n",
        {},
        (
            "t.csv: column 'y' (`data.target`): its labels (and their rows) are 'no' (2), 'yes' (1); say which "
            "counts as 1: `positive: yes` under `data`"
        ),
    ),
    "positive not said, labels that say nothing": (
        "y,a\n-1 ,1\n-1 ,2\nno go,3\n",
        {},
        'say which counts as 1: `positive: "no go"` under `data`',
    ),
    "positive absent": (
        "y,a\nno,1\nyes,2\n",
        {"positive": "yess"},
        (
            "t.csv: column 'y' (`data.target`): no row has the label 'yess', which `positive` names; its labels "
            "(and their rows) are 'no' (1), 'yes' (1); did you mean 'yes'?"
        ),
    ),
    "a quantity as target": (
        NUMBERS.replace("y,a", "b,y"),
        {},
        "holds 30 different numbers, so it looks like a quantity; name a column of labels",
    ),
    "all columns missing": (
        "y,a\n0,\n1,\n",
        {},
        "no column is left for a model to learn from; column 'a' has",
    ),
    "only the target": ("y\n0\n1\n", {}, "every column is the target, a role or left out"),
    "text among numbers": (
        NUMBERS + "1,unknown\n",
        {},
        (
            "t.csv: column 'a', row 31: found 'unknown' among numbers (1 of 31 rows are no number); correct it, "
            "say `missing: ['unknown']` under `data` if it stands for no value, or `kinds: {'a': category}` if "
            "the numbers are names"
        ),
    ),
    "decimal commas between commas": (
        'y,a\n0,"1,5"\n1,"2,5"\n',
        {},
        "t.csv: column 'a' holds numbers with decimal commas, such as '1,5'; write them with points",
    ),
    "no number": (
        "y,a,b\n0,x,1\n1,2,2\n",
        {"kinds": {"a": "number"}},
        "t.csv: column 'a', row 1: found 'x', which is no number, but `kinds` says the column holds numbers",
    ),
    "one group": (
        "y,g,a\n0,A,1\n1,A,2\n",
        {"group": "g"},
        (
            "t.csv: column 'g' (`data.group`): all rows (2) belong to the group 'A'; groups are there to be kept "
            "apart, so name a column with several, or leave it out"
        ),
    ),
    "a group missing": (
        "y,g,a\n0,A,1\n1,,2\n",
        {"group": "g"},
        "t.csv: column 'g' (`data.group`), row 2: found no value; every row needs its group",
    ),
    "a time that is none": (
        "y,t,a\n0,2024-01-31,1\n1,31.01.2024,2\n",
        {"time": "t"},
        (
            "t.csv: column 't' (`data.time`), row 2: found '31.01.2024'; a time is a number, a date like "
            "2024-01-31 or a date and time like 2024-01-31 18:00: write the column so"
        ),
    ),
    "a negative weight": (
        "y,w,a\n0,1,1\n1,-2,2\n",
        {"weight": "w"},
        "t.csv: column 'w' (`data.weight`), row 2: found -2; a weight is a finite number of at least 0",
    ),
    "a weight in words": (
        "y,w,a\n0,1,1\n1,much,2\n",
        {"weight": "w"},
        "t.csv: column 'w' (`data.weight`), row 2: found 'much'; allowed is a number of at least 0",
    ),
    "no weight": (
        "y,w,a\n0,0,1\n1,0,2\n",
        {"weight": "w"},
        "every weight is 0; at least one row must count",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_one_message_with_its_place(read: Read, case: str):
    content, section, message = REFUSED[case]
    with pytest.raises(InputError) as refused:
        read(content, **section)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"group": "y"}, "`group` is 'y', which is the `target` already"),
        ({"columns": ["y"]}, "`columns` names 'y', which is the `target`: a model must not see it"),
        ({"columns": ["a"], "leave_out": ["a"]}, "'a' stands in `columns` and in `leave_out`"),
        ({"columns": ["a", "a"]}, "`columns` names 'a' twice"),
        ({"encoding": "utf-9"}, "no such encoding"),
        ({"delimiter": ";;"}, "a separator is one character"),
    ],
)
def test_a_section_that_contradicts_itself_is_refused_before_any_file_is_read(
    section: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        OwnTable(source="table", file="t.csv", target="y", **section)


def test_groups_that_look_like_numbers_keep_their_names(read: Read):
    rows = "".join(
        f"{i % 2},{i},{g}\n" for i, g in enumerate(["01", "1", "12345678901234560001"] * 4)
    )
    group = read("y,a,g\n" + rows, group="g").roles["group"]
    assert isinstance(group, Categories)
    assert set(group.names) == {"01", "1", "12345678901234560001"}
