"""Our columns as Arrow arrays, and Arrow arrays as our columns.

Values are handed over by their buffers: `pa.array` and `to_numpy` import pandas, which costs a light
job half of its time. A missing value is NaN in a column of numbers, NaT among times, code -1 among
categories and None among other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Column

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


def to_arrow(column: Column) -> Any:
    """A column as an Arrow array.

    Parameters
    ----------
    column : Column
        Categories; numbers, booleans or times; or an array of objects.
    """
    import pyarrow as pa

    if isinstance(column, Categories):
        known = column.codes >= 0
        codes = _from_values(pa.int32(), column.codes, None if known.all() else known)
        return pa.DictionaryArray.from_arrays(codes, _strings(column.names))
    if column.dtype == object:
        return pa.array(column.tolist())
    if column.dtype == bool:
        return to_arrow(column.astype(np.uint8)).cast(pa.bool_())
    if column.dtype.kind == "M":
        times = column.astype("datetime64[us]")
        known = ~np.isnat(times)
        return _from_values(pa.timestamp("us"), times, None if known.all() else known)
    if column.dtype.kind in "iuf":
        return _from_values(pa.from_numpy_dtype(column.dtype), column, None)
    return pa.array(column)


def from_arrow(column: Any) -> Column:
    """An Arrow array or chunked array as a column.

    Dictionaries of text come back as `Categories`; whole numbers and booleans of which some are
    missing as floats.
    """
    import pyarrow as pa

    values = one_chunk(column)
    kind = values.type
    if pa.types.is_dictionary(kind):
        if not _is_text(kind.value_type):
            return from_arrow(values.cast(kind.value_type))
        codes = numbers(values.indices)
        codes = np.where(np.isnan(codes), -1, codes) if codes.dtype.kind == "f" else codes
        return Categories(np.asarray(codes, np.int32), tuple(values.dictionary.to_pylist()))
    if pa.types.is_boolean(kind):
        flags = numbers(values.cast(pa.uint8()))
        return flags if flags.dtype.kind == "f" else flags.astype(bool)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numbers(values)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return times(values)
    return np.array([*values.to_pylist(), None], dtype=object)[:-1]


def one_chunk(column: Any) -> Any:
    """The values of a chunked array in one piece, dictionaries made one."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    values = column.unify_dictionaries().combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        return values.chunk(0) if values.num_chunks else pa.array([], values.type)
    return values


def numbers(values: Any) -> NDArray[Any]:
    """An Arrow array of numbers in its own type; as floats with NaN where some are missing."""
    found = numbers_in_place(values).copy()
    known = known_values(values)
    if known is None:
        return found
    if found.dtype.kind != "f":
        found = found.astype(np.float64)
    found[~known] = np.nan
    return found


def numbers_in_place(values: Any) -> NDArray[Any]:
    """The numbers of an Arrow array where they lie, not to be written to; anything where one is missing."""
    return _buffer_values(values, np.dtype(_FLOATS.get(str(values.type), str(values.type))))


def times(values: Any) -> NDArray[np.datetime64]:
    """An Arrow array of dates or times as datetime64 in microseconds, without a zone (UTC)."""
    import pyarrow as pa

    # What is finer than a microsecond is cut off.
    fine = getattr(values.type, "unit", "") == "ns"
    stamps = values.cast(pa.timestamp("us", tz=getattr(values.type, "tz", None)), safe=not fine)
    found = _buffer_values(stamps, np.dtype("datetime64[us]")).copy()
    known = known_values(stamps)
    if known is not None:
        found[~known] = np.datetime64("NaT")
    return found


def known_values(values: Any) -> NDArray[np.bool_] | None:
    """True where an Arrow array has a value; None where it has one everywhere."""
    if not values.null_count:
        return None
    bitmap = values.buffers()[0]
    if bitmap is None:
        return np.zeros(len(values), dtype=bool)
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(bool)


def _from_values(kind: Any, values: NDArray[Any], known: NDArray[np.bool_] | None) -> Any:
    import pyarrow as pa

    bitmap = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    content = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8).data)
    return pa.Array.from_buffers(kind, len(values), [bitmap, content])


def _buffer_values(values: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    content = values.buffers()[1]
    if content is None or not len(values):
        return np.zeros(len(values), kind)
    return np.frombuffer(content, kind, len(values), values.offset * kind.itemsize)


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
