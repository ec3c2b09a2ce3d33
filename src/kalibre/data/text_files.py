"""What does a text file of columns say? CSV and its relatives, read the way a person meant them.

The separator and the decimal sign are taken from the file's beginning and said; what cannot be read is
refused with the place in the file. Rows are counted as a person counts them: from 1, the header not among
them, blank lines left out.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kalibre.errors import InputError

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 200
BLOCK_BYTES = 8 << 20
"""What one thread reads at once; a row must fit in."""
CONSISTENT = 0.9
"""Share of the rows of the sample that must have as many fields as the header."""

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
UTF8 = "utf-8"

# Those of pandas, so that a table means the same in both.
MISSING = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)
_WITH_POINT = re.compile(r"[+-]?\d+\.\d+")
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out.

    Attributes
    ----------
    header : tuple of str
        The first line's fields, as they stand there.
    delimiter : str
        What stands between two fields.
    decimal : {".", ","}
        The decimal sign.
    encoding : str
        A codec's name.
    notes : tuple of str
        What differs from plain CSV.
    """

    header: tuple[str, ...]
    delimiter: str
    decimal: str
    encoding: str
    notes: tuple[str, ...]


def find_layout(
    path: Path, name: str, *, encoding: str | None = None, delimiter: str | None = None
) -> Layout:
    """Look at the beginning of a text file.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What messages call it.
    encoding, delimiter : str, optional
        What the experiment file says of them; by default UTF-8, and what separates the fields of the
        file's first rows into equally many.

    Raises
    ------
    InputError
        If the file is not text, or its first line holds no names.
    """
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
    notes = []
    codec = encoding or UTF8
    mark = next((known for mark, known in _MARKS.items() if sample.startswith(mark)), None)
    if mark == "utf-8-sig":
        codec = mark
        notes.append(f"{name} begins with a byte order mark, which is not part of the first name")
    elif mark and not encoding:
        raise InputError(
            f"{name}: is text in UTF-16; say `encoding: utf-16` under `data`, or save it as UTF-8"
        )
    text = _decoded(sample, codec, path, name)
    if "\0" in text[:10_000]:
        raise InputError(f"{name}: holds zero bytes, so it is no text; give a CSV or Parquet file")
    whole = len(sample) < SAMPLE_BYTES
    chosen = delimiter or _delimiter(text, whole)
    rows = _rows(text, chosen, whole)
    if not rows:
        raise InputError(f"{name}: is empty; a table has a line of column names and rows")
    if delimiter is None and chosen != ",":
        notes.append(f"{name}: columns are separated by {DELIMITERS[chosen]}")
    decimal = _decimal(rows[1:], chosen)
    if decimal == ",":
        notes.append(f"{name}: numbers have decimal commas")
    return Layout(tuple(rows[0]), chosen, decimal, codec, tuple(notes))


def read_text_file(
    path: Path,
    name: str,
    layout: Layout,
    *,
    columns: Sequence[str],
    texts: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Any:
    """Read columns of a text file.

    Parameters
    ----------
    path, name, layout
        As in `find_layout`, and what it gave.
    columns : sequence of str
        The columns wanted, by their names in the header.
    texts : sequence of str
        Those whose values are kept as the text that stands there.
    missing : sequence of str
        Values that count as missing besides `MISSING`.

    Returns
    -------
    pyarrow.Table
        The columns, their kinds inferred from all rows.

    Raises
    ------
    InputError
        If a row has more or fewer fields than the header, or the text is in another encoding.
    """
    import pyarrow as pa
    import pyarrow.csv

    encoding = UTF8 if layout.encoding == "utf-8-sig" else layout.encoding
    convert = pyarrow.csv.ConvertOptions(
        include_columns=list(columns),
        column_types=dict.fromkeys(texts, pa.string()),
        null_values=[*MISSING, *missing],
        strings_can_be_null=True,
        decimal_point=layout.decimal,
    )
    parse = pyarrow.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    try:
        table = _read(path, encoding, parse, convert, use_threads=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"{name}: {_explain(error, path, encoding, parse, convert)}") from error
    except UnicodeDecodeError as error:
        raise InputError(_undecodable(path, name, layout.encoding, layout)) from error
    if any(pa.types.is_binary(field.type) for field in table.schema):
        raise InputError(_undecodable(path, name, layout.encoding, layout))
    if _count(path, b'"') % 2 and _last_row_runs_on(path, encoding, layout.delimiter):
        raise InputError(
            f"{name}: row {table.num_rows}: a quotation mark is not closed, so that the rest of the file "
            "became one value; close it, or write a quotation mark inside a value twice"
        )
    return table


def _last_row_runs_on(path: Path, encoding: str, delimiter: str) -> bool:
    """Whether the file's last row, in whatever column, holds a value of several lines."""
    last: list[str] = []
    with path.open(encoding=encoding, newline="") as file:
        try:
            for row in csv.reader(file, delimiter=delimiter):
                last = row or last
        except csv.Error:
            # A value longer than the reader takes: what follows the mark, to the end of the file.
            return True
    return any("\n" in value or "\r" in value for value in last)


def _count(path: Path, byte: bytes) -> int:
    with path.open("rb") as file:
        return sum(block.count(byte) for block in iter(lambda: file.read(1 << 24), b""))


def _read(path: Path, encoding: str, parse: Any, convert: Any, *, use_threads: bool) -> Any:
    import pyarrow.csv

    read = pyarrow.csv.ReadOptions(
        encoding=encoding, use_threads=use_threads, block_size=BLOCK_BYTES
    )
    return pyarrow.csv.read_csv(
        str(path), read_options=read, parse_options=parse, convert_options=convert
    )


def _explain(error: Exception, path: Path, encoding: str, parse: Any, convert: Any) -> str:
    """The reader's complaint with the row, which it knows only when it reads in one thread."""
    import pyarrow as pa

    try:
        _read(path, encoding, parse, convert, use_threads=False)
    except pa.ArrowInvalid as known:
        error = known
    found = _RAGGED.search(str(error))
    if found is None:
        return str(error).removeprefix("CSV parse error: ")
    row, expected, got, line = found.groups()
    where = f"row {int(row) - 1}" if row else "a row"
    hint = (
        "; is a quotation mark not closed?"
        if line.count('"') % 2
        else f"; a value that holds {DELIMITERS.get(parse.delimiter, 'the separator')} stands in "
        'quotation marks: "..."'
    )
    shown = line if len(line) <= 80 else line[:77] + "..."
    return f"{where} has {got} values where the header has {expected}: {shown!r}{hint}"


def _decoded(sample: bytes, codec: str, path: Path, name: str) -> str:
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        return decoder.decode(sample, final=len(sample) < SAMPLE_BYTES)
    except UnicodeDecodeError as error:
        raise InputError(_undecodable(path, name, codec)) from error


def _delimiter(text: str, whole: bool) -> str:
    """The separator under which the first rows have the most fields, equally many in each."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        rows = _rows(text, delimiter, whole)
        if not rows:
            continue
        fields = len(rows[0])
        alike = sum(len(row) == fields for row in rows) / len(rows)
        if fields > most and alike >= CONSISTENT:
            best, most = delimiter, fields
    return best


def _rows(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """The fields of the first rows; the last row of a sample may be cut and is left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = list(islice((row for row in reader if row), SAMPLE_ROWS))
    except csv.Error:
        return []
    return rows[:-1] if not whole and 1 < len(rows) < SAMPLE_ROWS else rows


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """The decimal sign: a comma where numbers with one are seen, and none with a point."""
    if delimiter == ",":
        return "."
    fields = [field.strip() for row in rows for field in row]
    commas = any(_WITH_COMMA.fullmatch(field) for field in fields)
    points = any(_WITH_POINT.fullmatch(field) for field in fields)
    return "," if commas and not points else "."


def _undecodable(path: Path, name: str, codec: str, layout: Layout | None = None) -> str:
    """Where the first byte stands that is not text in this encoding, and what it may be."""
    where, found = "", b""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            try:
                line.decode(codec)
            except UnicodeDecodeError as error:
                found = line[error.start : error.start + 1]
                column = _column_at(line[: error.start], layout)
                where = f"row {number}{column}" if number else "the header"
                break
    other = "latin-1"
    shown = found.decode("cp1252", errors="replace")
    return (
        f"{name}: {where}: byte 0x{found.hex().upper()} is not {codec.upper()} text; the file looks like "
        f"Latin-1, where it is {shown!r}: say `encoding: {other}` under `data`, or save the file as UTF-8"
    )


def _column_at(before: bytes, layout: Layout | None) -> str:
    if layout is None:
        return ""
    place = before.count(layout.delimiter.encode())
    return f", column {layout.header[place]!r}" if place < len(layout.header) else ""
