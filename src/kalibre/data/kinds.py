"""What kind of column is this, and what does a model get to see of it?

A column is a number, a boolean, a category or a date, by all of its values; what is none of these, or
nothing at all, is left out. Every choice that a person may want otherwise is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalibre.arrow import from_arrow, known_values, numbers, times
from kalibre.columns import Categories, Column, as_text
from kalibre.errors import InputError

Kind = Literal["number", "boolean", "category", "date"]

FEW_VALUES = 50
"""So many different texts are categories in a table of any size."""

NEARLY_ALL = 0.9
"""Share of a column's rows that hold numbers, from which on the others are taken for a mistake."""

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


@dataclass(frozen=True)
class Seen:
    """A column as a model may see it.

    Attributes
    ----------
    kind : str
        Its kind, or `left out`.
    column : Column or None
        Numbers as floats or integers, NaN where one is missing; booleans (0, 1 and NaN where some are
        missing); categories; a date as days since 1970-01-01. None if it is left out.
    missing : int
        Rows without a value.
    notes : tuple of str
        What there is to say.
    """

    kind: Kind | Literal["left out"]
    column: Column | None
    missing: int
    notes: tuple[str, ...] = ()


def see_column(
    values: Any, name: str, *, file: str, wanted: Kind | None = None, named: bool = False
) -> Seen:
    """The kind of a column, and its values.

    Parameters
    ----------
    values : pyarrow.Array
        The column as it was read.
    name, file : str
        What messages call it.
    wanted : {"number", "category"}, optional
        The kind it has to be.
    named : bool
        Whether the experiment file asks for it by name: then text of many values is not left out.

    Raises
    ------
    InputError
        If it is text that nearly always is a number, or cannot be of the kind wanted.
    """
    import pyarrow as pa

    kind = values.type
    missing = int(values.null_count)
    if missing == len(values):
        return _left_out(name, missing, "has no values")
    if pa.types.is_dictionary(kind):
        text = _is_text(kind.value_type)
        kind = kind.value_type
        values = values if text or wanted == "category" else values.cast(kind)
    if wanted == "category":
        return Seen("category", sorted_categories(as_categories(values)), missing)
    if _is_text(kind):
        if wanted == "number":
            return Seen("number", _as_numbers(values, name, file), missing)
        return _see_text(sorted_categories(as_categories(values)), name, file, missing, named)
    if pa.types.is_boolean(kind):
        return Seen("boolean", from_arrow(values), missing, _constant(from_arrow(values), name))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _see_numbers(values, name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        days = days_since_1970(times(values))
        note = f"column {name!r} holds dates: models see the days since 1970-01-01"
        return Seen("date", days, missing, (note, *_constant(days, name)))
    return _left_out(name, missing, f"is of the type {kind}, which no model takes")


def days_since_1970(moments: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Dates as numbers: days, with the time of day as a fraction; NaN where there is none."""
    passed = moments.astype("datetime64[us]") - np.datetime64("1970-01-01", "us")
    return np.asarray(passed / np.timedelta64(1, "D"), dtype=np.float64)


def as_categories(values: Any) -> Categories:
    """Any column as text, in codes; numbers and booleans as they are written."""
    import pyarrow as pa

    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = np.asarray(from_arrow(values.indices))
    if codes.dtype.kind == "f":
        codes = np.where(np.isnan(codes), -1, codes)
    # Two values may be one text: 1 and 1.0, or a dictionary that holds a value twice.
    words = [as_text(value) for value in values.dictionary.to_pylist()]
    place = {word: i for i, word in enumerate(dict.fromkeys(words))}
    places = np.array([*(place[word] for word in words), -1], dtype=np.int32)
    return Categories(places[codes.astype(np.int32)], tuple(place))


def sorted_categories(column: Categories) -> Categories:
    """The same column with its names in ascending order, each of which some row has."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda place: column.names[place])
    place = np.full(len(column.names) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return Categories(place[column.codes], tuple(column.names[i] for i in order))


def _see_text(column: Categories, name: str, file: str, missing: int, named: bool) -> Seen:
    _refuse_nearly_numbers(column, name, file)
    rows, distinct = len(column) - missing, len(column.names)
    if not named and distinct > max(FEW_VALUES, rows / 2):
        return _left_out(
            name,
            missing,
            f"holds {distinct} different texts in {rows} rows, so it looks like an id or free text; "
            "name it in `columns` if models are to see it as a category",
        )
    notes = () if distinct > 1 else (_one_value(name, column.names[0]),)
    return Seen("category", column, missing, notes)


def _refuse_nearly_numbers(column: Categories, name: str, file: str) -> None:
    """A column of numbers with a few texts among them is a mistake that nobody would notice."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
    for pattern, kind in ((_NUMBER, "numbers"), (_WITH_COMMA, "numbers with decimal commas")):
        fits = np.array([bool(pattern.fullmatch(text)) for text in column.names])
        share = counts[fits].sum() / counts.sum()
        if kind != "numbers" and share >= NEARLY_ALL:
            raise InputError(
                f"{file}: column {name!r} holds {kind}, such as {column.names[0]!r}; write them with "
                f"points, or say `kinds: {{{name!r}: category}}` under `data` if they are names"
            )
        if NEARLY_ALL <= share < 1:
            odd = int(np.flatnonzero(~fits[column.codes] & (column.codes >= 0))[0])
            text = column.names[column.codes[odd]]
            others = int(counts[~fits].sum())
            raise InputError(
                f"{file}: column {name!r}, row {odd + 1}: found {text!r} among numbers ({others} of "
                f"{int(counts.sum())} rows are no number); correct it, say `missing: [{text!r}]` under "
                f"`data` if it stands for no value, or `kinds: {{{name!r}: category}}` if the numbers are "
                "names"
            )


def _as_numbers(values: Any, name: str, file: str) -> NDArray[np.float64]:
    import pyarrow as pa

    try:
        return numbers(values.cast(pa.string()).cast(pa.float64()))
    except pa.ArrowInvalid as error:
        texts = as_categories(values)
        wrong = np.array([not _NUMBER.fullmatch(text) for text in texts.names] + [False])
        row = int(np.flatnonzero(wrong[texts.codes])[0])
        raise InputError(
            f"{file}: column {name!r}, row {row + 1}: found {texts.names[texts.codes[row]]!r}, which is "
            f"no number, but `kinds` says the column holds numbers; correct the value or `kinds`"
        ) from error


def _see_numbers(values: Any, name: str) -> Seen:
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    found = numbers(values)
    if found.dtype.kind == "f":
        found = found.astype(np.float64)
    missing = int(np.count_nonzero(np.isnan(found))) if found.dtype.kind == "f" else 0
    if missing == len(found):
        return _left_out(name, missing, "has no values")
    notes = list(_constant(found, name))
    if found.dtype.kind == "f" and np.isinf(found).any():
        rows = np.flatnonzero(np.isinf(found))
        notes.append(
            f"column {name!r} is infinite in {len(rows)} rows, first in row {rows[0] + 1}; most models "
            "refuse that"
        )
    if _looks_like_an_id(values, found):
        notes.append(
            f"column {name!r} has another whole number in every row: if it is an id, say so (`id`), or "
            "leave it out (`leave_out`)"
        )
    return Seen("number", found, missing, tuple(notes))


def _looks_like_an_id(values: Any, found: NDArray[Any]) -> bool:
    if found.dtype.kind not in "iu" or len(found) < FEW_VALUES or values.null_count:
        return False
    # Counting distinct values takes a while: first a look at the beginning.
    start = found[:1000]
    return len(np.unique(start)) == len(start) and len(np.unique(found)) == len(found)


def _constant(found: Column, name: str) -> tuple[str, ...]:
    values = np.asarray(found)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if len(known) and (known == known[0]).all():
        return (_one_value(name, as_text(known[0].item())),)
    return ()


def _one_value(name: str, value: str) -> str:
    return f"column {name!r} has one value in every row that has any, {value!r}: it says nothing"


def _left_out(name: str, missing: int, why: str) -> Seen:
    return Seen("left out", None, missing, (f"column {name!r} {why}: left out",))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def missing_note(missing: dict[str, int], rows: int, shown: int = 10) -> tuple[str, ...]:
    """One sentence on the columns that miss values, those that miss most first."""
    found = sorted(((n, c) for c, n in missing.items() if n), key=lambda pair: (-pair[0], pair[1]))
    if not found:
        return ()
    listed = ", ".join(f"{column!r} in {count}" for count, column in found[:shown])
    more = f" and {len(found) - shown} more columns" if len(found) > shown else ""
    return (f"values are missing (of {rows} rows): {listed}{more}",)


def first_missing(values: Any) -> int | None:
    """The first row without a value, as a person counts rows; None where every row has one."""
    known = known_values(values)
    if known is None and str(values.type) in ("double", "float"):
        known = ~np.isnan(numbers(values))
    if known is None or known.all():
        return None
    return row_number(~known)


def row_number(marked: NDArray[np.bool_]) -> int:
    """The first row that is marked, counted from 1."""
    return int(np.argmax(marked)) + 1
