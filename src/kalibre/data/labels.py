"""Which label counts as 1? The target column as outcomes.

A label is named, never numbered: which of two sorts first says nothing (and may change with the data).
Only of 0 and 1, and of false and true, everybody knows which is which.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.arrow import numbers, numbers_in_place
from kalibre.columns import Categories, as_text
from kalibre.data.kinds import as_categories, first_missing
from kalibre.errors import InputError, nearest

Label = str | int | float | bool

KNOWN_PAIRS = {frozenset({"0", "1"}): "1", frozenset({"false", "true"}): "true"}
"""Two labels of which one needs no naming."""

AFFIRMATIVE = frozenset({"yes", "y", "true", "t", "1", "+", "positive", "pos", "case", "event"})
"""Labels that say of themselves that they are the positive one."""

_BARE = re.compile(r"\w[\w.-]*")
_WORDS_OF_YAML = frozenset({"true", "false", "null"})

MOST_LABELS = 20
"""More different labels than this, in a column of numbers, are a quantity."""


@dataclass(frozen=True)
class Outcomes:
    """A target as 0 and 1.

    Attributes
    ----------
    values : ndarray of int8, shape (n,)
        1 where the positive label stands.
    positive : str
        The positive label.
    notes : tuple of str
        What there is to say of the labels.
    """

    values: NDArray[np.int8]
    positive: str
    notes: tuple[str, ...] = ()


def as_outcomes(
    values: Any, *, file: str, column: str, key: str, positive: Label | None
) -> Outcomes:
    """The target column as outcomes.

    Parameters
    ----------
    values : pyarrow.Array
        The column as it was read.
    file, column, key : str
        The file, the column, and the key of the experiment file that names it, for messages.
    positive : str, int, float or bool, optional
        The label that counts as 1; may be left out where the labels are 0 and 1, or false and true.

    Raises
    ------
    InputError
        If a row has no label, all rows have the same one, or the positive one is not there.
    """
    where = f"{file}: column {column!r} (`{key}`)"
    gap = first_missing(values)
    if gap is not None:
        count = values.null_count or int(np.isnan(numbers(values)).sum())
        raise InputError(
            f"{where}, row {gap}: found no value ({count} of {len(values)} rows); every row needs a "
            "label: fill it in or delete the row"
        )
    if positive is None or as_text(positive) == "1":
        plain = _zeros_and_ones(values)
        if plain is not None:
            return Outcomes(plain, "1")
    labels = as_categories(values)
    if len(labels.names) == 1:
        raise InputError(
            f"{where}: all rows ({len(labels)}) have the label {labels.names[0]!r}; a classifier needs "
            "rows of two labels"
        )
    chosen = _positive(labels, positive, where)
    notes: tuple[str, ...] = ()
    if len(labels.names) > 2:
        others = [name for name in labels.names if name != chosen]
        notes = (
            (
                f"the target {column!r} has {len(labels.names)} labels: {chosen!r} counts as 1, all others "
                f"({_listed(others)}) as 0"
            ),
        )
    return Outcomes(labels.isin([chosen]).astype(np.int8), chosen, notes)


def _zeros_and_ones(values: Any) -> NDArray[np.int8] | None:
    """The column itself where it holds whole numbers 0 and 1, both of them."""
    if str(values.type) not in ("int8", "int16", "int32", "int64", "uint8"):
        return None
    found = numbers_in_place(values)
    return found.astype(np.int8) if found.min() == 0 and found.max() == 1 else None


def _positive(labels: Categories, positive: Label | None, where: str) -> str:
    if len(labels.names) > MOST_LABELS and all(map(_is_number, labels.names)):
        raise InputError(
            f"{where}: holds {len(labels.names)} different numbers, so it looks like a quantity; name a "
            "column of labels"
        )
    if positive is None:
        known = KNOWN_PAIRS.get(frozenset(labels.names))
        if known is not None:
            return known
        raise InputError(
            f"{where}: its labels (and their rows) are {_counted(labels)}; say which counts as 1: `positive: "
            f"{_in_yaml(_likely(labels))}` under `data`"
        )
    wanted = as_text(positive)
    alike = [name for name in labels.names if name == wanted]
    # What a file of text calls True is a boolean in a typed one.
    alike = alike or [n for n in labels.names if n.casefold() == wanted.casefold()]
    if len(alike) == 1:
        return alike[0]
    near = nearest(wanted, labels.names)
    hint = f"did you mean {near!r}?" if near else "allowed is one of these"
    raise InputError(
        f"{where}: no row has the label {wanted!r}, which `positive` names; its labels (and their rows) are "
        f"{_counted(labels)}; {hint}"
    )


def _likely(labels: Categories) -> str:
    """The label that a person most likely means by positive: one that says so, else the rarer."""
    saying = [name for name in labels.names if name.strip().casefold() in AFFIRMATIVE]
    counts = np.bincount(labels.codes, minlength=len(labels.names))
    return saying[0] if saying else labels.names[int(counts.argmin())]


def _in_yaml(label: str) -> str:
    """A label as YAML keeps it a text."""
    bare = _BARE.fullmatch(label) and label.casefold() not in _WORDS_OF_YAML
    return label if bare else json.dumps(label, ensure_ascii=False)


def _counted(labels: Categories) -> str:
    counts = np.bincount(labels.codes, minlength=len(labels.names)).tolist()
    return _listed([f"{n!r} ({c})" for n, c in zip(labels.names, counts, strict=True)])


def _listed(names: list[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
