"""What is in a person's table, and what is each column for? The look before an experiment is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from kalibre.cli.glance import Suspicion, id_suspicion, suspicions
from kalibre.columns import Categories, Column
from kalibre.data.kinds import as_categories, first_missing
from kalibre.data.own_files import OwnFile
from kalibre.data.table import Table, make_table
from kalibre.errors import InputError
from kalibre.experiment.base import Block, plain
from kalibre.experiment.data import OwnTable

FEWEST_LABELS = 4
"""Rows of the rarer label below which no split leaves one in every part, and two to learn from."""

ENOUGH_LABELS = 40
"""Rows of the rarer label below which so few are measured that no number is sure."""

FEWEST_GROUPS = 20
"""Ids of fewer different values than this are taken for a category."""

_ID = re.compile(r"(.* )?(id|uuid|guid|key|nr|no|number|index)")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Look:
    """A table, and what there is to say of it.

    Attributes
    ----------
    data : dict
        The section `data`: only what a person gave, or what was found.
    table : Table
        What is read by it.
    columns : int
        Columns of the file that have a name.
    suspicions : tuple of Suspicion
        What to look at before a score is believed.
    reasons : mapping of str to str
        Key of the section, or column that is left out, to why.
    """

    data: dict[str, Any]
    table: Table
    columns: int
    suspicions: tuple[Suspicion, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> NDArray[np.int8]:
        """The label of each row, 0 or 1."""
        return np.asarray(self.table.roles["outcome"])

    @property
    def positive(self) -> str:
        """The label that counts as 1."""
        return str(self.table.result.params["positive"])


def look_at(options: Mapping[str, Any]) -> Look:
    """Read a table, find out what its columns may be for, and what is suspicious.

    Parameters
    ----------
    options : mapping
        Keys of the section `data` that a person gave, `file` and `target` among them.

    Raises
    ------
    InputError
        If the file is not there, is no table, or holds values that cannot be used.
    """
    data = {"source": "table", **options}
    table = read(OwnTable, data)
    few = _few_labels(data["file"], np.asarray(table.roles["outcome"]))
    file = OwnFile.open(
        data["file"], encoding=data.get("encoding"), delimiter=data.get("delimiter")
    )
    seen = suspicions(table.features, np.asarray(table.roles["outcome"]))
    roles, reasons = _likely_roles(file, data)
    unfit = {s.column: s.sentence for s in seen if s.is_label} | _infinite(table.features)
    unfit = {column: why for column, why in unfit.items() if column not in roles.values()}
    data |= roles
    if unfit:
        data["leave_out"] = [*data.get("leave_out", []), *unfit]
    if roles or unfit:
        table = _read_anew(data, unfit)
    seen = [s for s in seen if s.column not in roles.values()]
    if "id" in table.roles:
        of_id = id_suspicion(data["id"], table.roles["id"], np.asarray(table.roles["outcome"]))
        seen += [of_id] if of_id else []
    seen += few
    return Look(data, table, len(file.columns), tuple(seen), reasons | unfit)


def _read_anew(data: Mapping[str, Any], unfit: Mapping[str, str]) -> Table:
    """The table by its proposed section; if nothing is left, that it is the look which took it out."""
    try:
        return read(OwnTable, data)
    except InputError as error:
        said = "; ".join(f"{column}: {why}" for column, why in unfit.items())
        raise InputError(f"{error}" + (f" ({said})" if said else "")) from error


def read(section: type[Block], data: Mapping[str, Any]) -> Table:
    """The table that a section `data` describes.

    Raises
    ------
    InputError
        If the section or the file is wrong.
    """
    try:
        settings = section.model_validate(dict(data))
    except ValidationError as error:
        raise InputError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error
    return make_table(plain(settings))


def _few_labels(file: str, outcome: NDArray[np.int8]) -> list[Suspicion]:
    """What to say where one label is rare.

    Raises
    ------
    InputError
        If it is too rare to be learned from and measured.
    """
    positives = int(outcome.sum())
    rarer, which = min((positives, "positive"), (len(outcome) - positives, "negative"))
    rows = f"only {rarer} rows have" if rarer > 1 else "only one row has"
    if rarer < FEWEST_LABELS:
        raise InputError(
            f"{file}: {rows} the {which} label; to be learned from, calibrated and measured it takes at "
            f"least {FEWEST_LABELS}, and many more for a number that is sure"
        )
    if rarer >= ENOUGH_LABELS:
        return []
    return [
        Suspicion("", f"{rows} the {which} label: so few are measured that no number will be sure")
    ]


def looks_like_an_id(name: str) -> bool:
    """Whether a column is called an id: `id`, `customer_id`, `CustomerID`, `order no`."""
    return bool(_ID.fullmatch(" ".join(_WORD.findall(name)).lower()))


def _likely_roles(file: OwnFile, data: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The id and the group, where columns are called ids and nobody said which they are; and why."""
    named = {data[key] for key in ("target", "id", "group", "time", "weight") if key in data}
    called = [
        column
        for column in file.columns
        if looks_like_an_id(column) and column not in {*named, *data.get("leave_out", [])}
    ]
    roles: dict[str, str] = {}
    reasons: dict[str, str] = {}
    values = file.read(called, missing=data.get("missing", [])) if called else {}
    for column, found in values.items():
        if first_missing(found) is not None:
            continue
        rows = len(found)
        distinct = len(as_categories(found).names)
        if distinct == rows and "id" not in {*data, *roles}:
            roles["id"] = column
            reasons["id"] = "another value in every row"
        elif FEWEST_GROUPS <= distinct < rows and "group" not in {*data, *roles}:
            roles["group"] = column
            reasons["group"] = (
                f"{distinct} different values in {rows} rows: rows of one value stay in one part of the "
                "split. Delete the line if they do not belong together"
            )
    return roles, reasons


def _infinite(features: Mapping[str, Column]) -> dict[str, str]:
    """Columns of numbers with infinite ones among them, which most models refuse."""
    found = {}
    for name, column in features.items():
        if isinstance(column, Categories) or np.asarray(column).dtype.kind != "f":
            continue
        rows = np.flatnonzero(np.isinf(np.asarray(column)))
        if len(rows):
            found[name] = (
                f"infinite in {len(rows)} rows, first in row {rows[0] + 1}, which most models refuse: "
                "correct these values and delete this line"
            )
    return found
