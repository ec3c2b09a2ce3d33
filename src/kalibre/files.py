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

from kalibre.arrow import from_arrow, to_arrow
from kalibre.columns import Column, Columns

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

    table = pa.table({name: to_arrow(column) for name, column in columns.items()})
    # A dictionary of numbers is given up after a megabyte of distinct ones, which takes longer than
    # all the rest: numbers have an encoding of their own.
    kinds = {field.name: _ENCODINGS.get(str(field.type)) for field in table.schema}
    options = {
        "use_dictionary": [name for name, encoding in kinds.items() if encoding is None],
        "column_encoding": {name: encoding for name, encoding in kinds.items() if encoding},
        "compression": "lz4",
    }
    replace_file(path, lambda temporary: pq.write_table(table, temporary, **options))


_ENCODINGS = {"double": "BYTE_STREAM_SPLIT", "int64": "DELTA_BINARY_PACKED"}


def column_names(path: Target) -> list[str]:
    """The names of a Parquet table's columns."""
    import pyarrow.parquet as pq

    return list(pq.ParquetFile(path).schema_arrow.names)


def read_columns(path: Target, names: Sequence[str] | None = None) -> Columns:
    """Read a Parquet table as columns; dictionary columns come back as `Categories`."""
    import pyarrow.parquet as pq

    # Not `read_table`, which imports the data-set module for another tenth of a second.
    wanted = None if names is None else list(names)
    table = pq.ParquetFile(path).read(columns=wanted, use_threads=False)
    return {name: from_arrow(table.column(name)) for name in table.column_names}


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
