"""Columns to Arrow and back: what is missing stays missing, what is not keeps its type."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.arrow import from_arrow, to_arrow
from kalibre.columns import Categories

TEXTS = st.lists(st.none() | st.text(max_size=3), max_size=40)


@given(TEXTS)
def test_categories_come_back_with_their_gaps(texts: list[str | None]):
    back = from_arrow(to_arrow(Categories.of(texts)))
    assert isinstance(back, Categories)
    assert back.values().tolist() == texts


@given(st.lists(st.none() | st.floats(allow_nan=False), max_size=40), st.integers(0, 5))
def test_numbers_from_any_file_have_nan_where_there_is_none(values: list[float | None], start: int):
    array = pa.array([*([1.0] * start), *values], pa.float64()).slice(start)
    expected = [np.nan if v is None else v for v in values]
    np.testing.assert_array_equal(from_arrow(array), expected)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None, 3], pa.int16()), np.array([1.0, np.nan, 3.0])),
        (pa.array([1, 2], pa.uint8()), np.array([1, 2], dtype=np.uint8)),
        (pa.array([True, None]), np.array([1.0, np.nan])),
        (pa.array([True, False]), np.array([True, False])),
        (pa.array([None, None], pa.float32()), np.array([np.nan, np.nan])),
    ],
    ids=str,
)
def test_a_gap_makes_whole_numbers_and_booleans_floats(array: pa.Array, expected: np.ndarray):
    back = np.asarray(from_arrow(array))
    assert back.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(back, expected)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_times_come_back_to_the_microsecond(unit: str):
    times = np.array(["2024-02-29", "NaT", "1969-12-31"], dtype=f"datetime64[{unit}]")
    back = from_arrow(to_arrow(times))
    assert np.asarray(back).dtype == "datetime64[us]"
    np.testing.assert_array_equal(back, times)


def test_a_time_with_a_zone_is_the_same_moment_in_utc():
    moment = datetime.datetime(2024, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    array = pa.array([moment], pa.timestamp("s", tz="+01:00"))
    assert np.asarray(from_arrow(array))[0] == np.datetime64("2024-01-01T00:00")


def test_a_dictionary_in_several_pieces_is_one_column():
    pieces = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()]
    back = from_arrow(pa.chunked_array(pieces))
    assert isinstance(back, Categories)
    assert back.values().tolist() == ["a", "b", "c", None]


def test_a_dictionary_of_numbers_is_a_column_of_numbers():
    array = pa.array([7, 8, 7]).dictionary_encode()
    assert np.asarray(from_arrow(array)).tolist() == [7, 8, 7]


def test_other_values_come_as_they_are():
    array = pa.array([Decimal("1.5"), None])
    assert np.asarray(from_arrow(array)).tolist() == [Decimal("1.5"), None]
