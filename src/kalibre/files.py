"""Reading and writing files: the only module that writes.

Every file is written under a temporary name beside its place and then renamed, so that a killed process
never leaves half a file under a name that others read.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kalibre.columns import Categories, Column, Columns

Target = str | os.PathLike[str]


def write_bytes(path: Target, content: bytes) -> None:
    """Write a whole file or nothing."""
    replace_file(path, lambda temporary: Path(temporary).write_bytes(content))


def write_text(path: Target, text: str) -> None:
    """Write a UTF-8 text file."""
    write_bytes(path, text.encode())


def write_json(path: Target, value: Any) -> None:
    """Write plain built-ins as indented JSON, keys in their order; NaN and infinity are refused."""
    write_bytes(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """The bytes `write_json` writes; floats keep their full double precision."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def read_json(path: Target) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_bytes())


def write_csv(path: Target, rows: Sequence[Mapping[str, Any]], header: Sequence[str]) -> None:
    """Write rows as CSV; None becomes an empty field, floats keep their full precision."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


def read_csv(path: Target) -> list[dict[str, str]]:
    """Read one of our own small CSV files as a list of rows."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_columns(path: Target, columns: Mapping[str, Column]) -> None:
    """Write a table of columns as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: _to_arrow(column) for name, column in columns.items()})
    replace_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read_columns(path: Target, names: Sequence[str] | None = None) -> Columns:
    """Read a Parquet table as columns; dictionary columns come back as `Categories`."""
    import pyarrow.parquet as pq

    # Not `read_table`, which imports the data-set module for another tenth of a second.
    wanted = None if names is None else list(names)
    table = pq.ParquetFile(path).read(columns=wanted, use_threads=False)
    return {name: _from_arrow(table.column(name)) for name in table.column_names}


def _to_arrow(column: Column) -> Any:
    """A column as an Arrow array; numbers by their buffer, because `pa.array` imports pandas."""
    import pyarrow as pa

    if isinstance(column, Categories):
        return pa.DictionaryArray.from_arrays(_to_arrow(column.codes), _strings(column.names))
    if column.dtype == object:
        return pa.array(column.tolist())
    if column.dtype == bool:
        return _to_arrow(column.astype(np.uint8)).cast(pa.bool_())
    if column.dtype.kind in "iuf":
        values = np.ascontiguousarray(column)
        kind = pa.from_numpy_dtype(values.dtype)
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
    return pa.array(column)


def _strings(values: Sequence[str]) -> Any:
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


_ARROW_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}


def _from_arrow(column: Any) -> Column:
    """A column of a table; numbers by their buffer, because `to_numpy` imports pandas."""
    import pyarrow as pa

    values = column.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        codes = _from_arrow(pa.chunked_array([values.indices]))
        return Categories(np.asarray(codes, np.int32), tuple(values.dictionary.to_pylist()))
    if values.null_count:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if pa.types.is_boolean(values.type):
        return np.asarray(_from_arrow(pa.chunked_array([values.cast(pa.uint8())]))).astype(bool)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        kind = np.dtype(_ARROW_FLOATS.get(str(values.type), str(values.type)))
        start = values.offset * kind.itemsize
        return np.frombuffer(values.buffers()[1], kind, len(values), start).copy()
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return np.array(values.to_pylist(), dtype=object)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def replace_file(path: Target, write: Callable[[str], Any]) -> None:
    """Call `write` with a temporary name beside `path`, then rename what it wrote to `path`."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        write(str(temporary))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
