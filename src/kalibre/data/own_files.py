"""A person's own file: is it there, is it a table, and which columns does it have?

CSV (and its relatives) and Parquet are told apart by their content. Everything that the file itself can
be wrong about is met here, before a value is looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from kalibre.arrow import one_chunk
from kalibre.data.text_files import Layout, find_layout, read_text_file
from kalibre.digests import LENGTH
from kalibre.errors import InputError, nearest

PARQUET = b"PAR1"
_OTHERS = {
    b"PK\x03\x04": "an Excel workbook or a zip archive; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind; save the sheet as CSV",
    b"\x1f\x8b": "packed with gzip; unpack it",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it",
    b"ARROW1": "an Arrow file; save it as Parquet",
}
_INDEX = re.compile(r"__index_level_\d+__")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
SHOWN = 12


@dataclass(frozen=True)
class OwnFile:
    """A table in a file.

    Attributes
    ----------
    path : Path
        Where it lies.
    name : str
        What the experiment file calls it.
    columns : tuple of str
        Names of its columns, without blanks around them; a column without a name is not among them.
    notes : tuple of str
        What a person should know of the file.
    """

    path: Path
    name: str
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    _stored: Mapping[str, str]
    _layout: Layout | None

    @classmethod
    def open(
        cls, name: str, *, encoding: str | None = None, delimiter: str | None = None
    ) -> OwnFile:
        """Find a file and its columns.

        Parameters
        ----------
        name : str
            Its path, relative to the project's folder or absolute.
        encoding, delimiter : str, optional
            As in `kalibre.data.text_files.find_layout`.

        Raises
        ------
        InputError
            If there is no such file, it is no table, or its columns' names are not all different.
        """
        path = Path(name)
        if not path.exists():
            raise InputError(f"{name}: {_not_there(path)}")
        if path.is_dir():
            raise InputError(f"{name}: is a folder; name a CSV or Parquet file in it")
        with path.open("rb") as file:
            start = file.read(8)
        if not start.strip():
            raise InputError(f"{name}: is empty; a table has a line of column names and rows")
        for mark, kind in _OTHERS.items():
            if start.startswith(mark):
                raise InputError(f"{name}: is {kind}; kalibre reads CSV and Parquet")
        if start.startswith(PARQUET):
            layout, stored = None, _parquet_names(path, name)
            notes: tuple[str, ...] = ()
        else:
            layout = find_layout(path, name, encoding=encoding, delimiter=delimiter)
            stored, notes = layout.header, layout.notes
            if all(_NUMBER.fullmatch(field) for field in stored):
                raise InputError(
                    f"{name}: the first line holds numbers ({', '.join(stored[:3])}); it must name the "
                    "columns"
                )
        named, said = _named(stored, name)
        return cls(path, name, tuple(named), (*notes, *said), named, layout)

    def require(self, named: Mapping[str, str]) -> None:
        """Check that columns are there.

        Parameters
        ----------
        named : mapping of str to str
            Key of the experiment file to the column it names.

        Raises
        ------
        InputError
            Naming the key, the column, and the nearest column there is.
        """
        for key, column in named.items():
            if column not in self.columns:
                raise InputError(
                    f"{self.name}: has no column {column!r}, which `{key}` names; "
                    f"{self.suggestion(column)}"
                )

    def require_single_values(self, named: Mapping[str, str], values: Mapping[str, Any]) -> None:
        """Check that each row has one value in the columns that are named, not a list or a record.

        Parameters
        ----------
        named : mapping of str to str
            Key of the experiment file to the column it names.
        values : mapping of str to pyarrow.Array
            Column to its values.

        Raises
        ------
        InputError
            Naming the key, the column and its type.
        """
        import pyarrow as pa

        for key, column in named.items():
            kind = values[column].type
            if pa.types.is_nested(kind):
                raise InputError(
                    f"{self.name}: column {column!r} (`{key}`) is of the type {kind}; a row needs one "
                    "value there: write the column as plain numbers, text, booleans or dates"
                )

    def suggestion(self, column: str) -> str:
        """The column nearest in spelling, else the first few."""
        same = [name for name in self.columns if name.casefold() == column.casefold()]
        near = same[0] if same else nearest(column, self.columns)
        if near is not None:
            return f"did you mean {near!r}?"
        more = len(self.columns) - SHOWN
        listed = ", ".join(map(repr, self.columns[:SHOWN]))
        return f"its columns are {listed}" + (f" and {more} more" if more > 0 else "")

    def read(
        self, columns: Iterable[str], *, texts: Sequence[str] = (), missing: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Read columns.

        Parameters
        ----------
        columns : iterable of str
            Names among `columns`.
        texts, missing
            As in `kalibre.data.text_files.read_text_file`; a Parquet file has its own types.

        Returns
        -------
        dict of str to pyarrow.Array
            In the order asked for.

        Raises
        ------
        InputError
            If the file has no rows, or cannot be read.
        """
        stored = {column: self._stored[column] for column in columns}
        if self._layout is None:
            table = _read_parquet(self.path, self.name, list(stored.values()))
        else:
            table = read_text_file(
                self.path,
                self.name,
                self._layout,
                columns=list(stored.values()),
                texts=[stored[text] for text in texts if text in stored],
                missing=missing,
            )
        if not table.num_rows:
            raise InputError(
                f"{self.name}: has the names of {len(self.columns)} columns and no rows below them"
            )
        return {column: one_chunk(table.column(place)) for place, column in enumerate(stored)}

    def digest(self) -> str:
        """The digest of the file's bytes, in the form of `kalibre.digests.digest_bytes`."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def _not_there(path: Path) -> str:
    place = "" if path.is_absolute() else "; a path is relative to the project's folder"
    if path.is_symlink():
        return f"is a link to {str(path.readlink())!r}, where there is no file; mend the link"
    folder = path.parent
    files = [p.name for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []
    near = nearest(path.name, files)
    hint = f"; did you mean {str(folder / near)!r}?" if near else ""
    return f"there is no such file{place}{hint}"


def _named(stored: Sequence[str], name: str) -> tuple[dict[str, str], list[str]]:
    """Each column's name for people to its name in the file, and what there is to say."""
    notes = []
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    for place, column in enumerate(stored, start=1):
        shown = column.strip()
        if not shown or _INDEX.fullmatch(shown):
            notes.append(
                f"{name}: column {place} has no name and is left out (an index saved with the table?)"
            )
            continue
        if shown in places:
            raise InputError(
                f"{name}: the name {shown!r} stands twice, above columns {places[shown]} and {place}; "
                "give every column a name of its own"
            )
        places[shown], found[shown] = place, column
    if not found:
        raise InputError(f"{name}: no column has a name; the first line must name the columns")
    alike: dict[str, list[str]] = {}
    for column in found:
        alike.setdefault(column.casefold(), []).append(column)
    for same in alike.values():
        for one, other in combinations(same, 2):
            notes.append(f"{name}: {one!r} and {other!r} are two columns; they differ only in case")
    return found, notes


def _parquet_names(path: Path, name: str) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return tuple(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: is a damaged Parquet file ({error}); write it anew") from error


def _read_parquet(path: Path, name: str, columns: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            table = file.read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: is a damaged Parquet file ({error}); write it anew") from error
    return table.select(columns)
