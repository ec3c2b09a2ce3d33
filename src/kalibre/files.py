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

    arrays = {
        name: pa.DictionaryArray.from_arrays(pa.array(column.codes), pa.array(column.names))
        if isinstance(column, Categories)
        else pa.array(column, from_pandas=column.dtype == object)
        for name, column in columns.items()
    }
    table = pa.table(arrays)
    replace_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read_columns(path: Target, names: Sequence[str] | None = None) -> Columns:
    """Read a Parquet table as columns; dictionary columns come back as `Categories`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=None if names is None else list(names))
    columns: Columns = {}
    for name in table.column_names:
        values = table.column(name).combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else values.type.empty()
        if pa.types.is_dictionary(values.type):
            codes = values.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
            columns[name] = Categories(codes, tuple(values.dictionary.to_pylist()))
        else:
            columns[name] = values.to_numpy(zero_copy_only=False)
    return columns


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
