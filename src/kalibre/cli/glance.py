"""Which leaks show at a glance, before anything is fitted?

A column that is the label under another name, one that is known for one label only, one that alone orders
the rows nearly perfectly, an id that goes with the label, rows that repeat one another across parts. None
of this proves a leak, and none of it is changed silently: it is said, and whoever knows the table decides.
The types are those of Kapoor and Narayanan (2023), "Leakage and the reproducibility crisis in
machine-learning-based science", Patterns 4.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Column, Columns
from kalibre.leak_sheet import duplicates, row_digests
from kalibre.metrics.ranking import roc_auc
from kalibre.single_column import auc_alone, sampled

STRONG = 0.95
"""ROC AUC of a single column from which on it is worth asking how it can know so much."""

FEW_VALUES = 20
"""A column of at most so many values may be the label under other names."""

BY_CHANCE = 1e-6
"""Chance below which it is no accident that all rows of a kind have one label."""

ID_DRIFT = 0.1
"""Distance of an id's ROC AUC from 0.5 that is worth a word, if it is not chance."""


ROOM = 10
"""Possible rows for each row there is, below which equal rows are no wonder."""

MARKS = 2
"""Texts among numbers that may stand for no value."""

_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Suspicion:
    """Something to look at before a score is believed.

    Attributes
    ----------
    column : str
        The column it is about; empty for the rows themselves.
    sentence : str
        What was seen, and what to ask.
    is_label : bool
        Whether the column is the label itself, so that no model should see it.
    """

    column: str
    sentence: str
    is_label: bool = False


def suspicions(features: Mapping[str, Column], outcome: NDArray[np.int8]) -> list[Suspicion]:
    """What shows in single columns.

    Parameters
    ----------
    features : mapping of str to column
        What models would learn from.
    outcome : ndarray of int8, shape (n,)
        The label.
    """
    return [one for name, column in features.items() for one in _of_column(name, column, outcome)]


def id_suspicion(name: str, ids: Column, outcome: NDArray[np.int8]) -> Suspicion | None:
    """Whether rows with higher ids have the positive label more or less often.

    Such an id tells of the label: rows were numbered by it, or it changed as time went by. No model sees
    the id, but what else went by the same order may carry it.
    """
    if isinstance(ids, Categories) or np.asarray(ids).dtype.kind not in "iuf":
        return None
    rows = sampled(len(outcome))
    labels = outcome[rows]
    auc = roc_auc(labels, np.asarray(ids, dtype=np.float64)[rows])
    positives = int(labels.sum())
    negatives = len(labels) - positives
    # The standard error of an AUC of 0.5: Hanley and McNeil (1982).
    error = np.sqrt((len(labels) + 1) / (12 * positives * negatives))
    if not abs(auc - 0.5) > max(ID_DRIFT, 5 * error):
        return None
    return Suspicion(
        name,
        f"the id goes with the label (ROC AUC {auc:.2f}): were the rows numbered by label, or by a time "
        "in which it changed? Then a split by time is the fair one",
    )


def repeated_rows(
    features: Columns, part: Categories, *, learned: list[str], measured: list[str], grouped: bool
) -> Suspicion | None:
    """Rows of the measured parts that equal a row learned from in every column a model sees.

    Nothing is said where columns have so few values that rows are bound to be alike.

    Parameters
    ----------
    features : Columns
        What models learn from.
    part : Categories
        The part of each row of the table.
    learned, measured : list of str
        Parts that are learned from, and parts that are measured.
    grouped : bool
        Whether a column says already which rows belong together.
    """
    if _combinations(features) < ROOM * len(part):
        return None
    digests = row_digests(features)
    among = digests[part.isin(measured)]
    count = duplicates(digests[part.isin(learned)], among)
    if not count:
        return None
    return Suspicion(
        "",
        f"{count} of the {len(among)} rows to be measured equal a row learned from in every column: if "
        "they are the same case twice, delete one of each pair"
        + ("" if grouped else ", or name the column that says so as `group`"),
    )


def _combinations(features: Columns) -> float:
    """In how many ways a row could differ from others: the product of the columns' numbers of values."""
    product = 1.0
    for column in features.values():
        codes = column.codes if isinstance(column, Categories) else np.asarray(column)
        product *= max(1, len(np.unique(codes[sampled(len(codes))])))
    return product


def _of_column(name: str, column: Column, outcome: NDArray[np.int8]) -> Iterator[Suspicion]:
    if isinstance(column, Categories):
        yield from _nearly_numbers(name, column)
    label = _as_label(name, column, outcome)
    if label is not None:
        yield label
        return
    for known in (True, False):
        one_sided = _one_sided(name, column, outcome, known=known)
        if one_sided is not None:
            yield one_sided
    auc = auc_alone(column, outcome)
    if auc is not None and auc >= STRONG:
        yield Suspicion(
            name,
            f"this column alone orders the rows with a ROC AUC of {auc:.2f}: is it known before the label "
            "is?",
        )


def _nearly_numbers(name: str, column: Categories) -> Iterator[Suspicion]:
    """Whether all texts but one or two are numbers: then those may stand for no value."""
    others = [text for text in column.names if not _NUMBER.fullmatch(text)]
    if not 0 < len(others) <= MARKS or len(column.names) < FEW_VALUES:
        return
    marks = " and ".join(map(repr, others))
    options = " ".join(f"--missing {shlex.quote(text)}" for text in others)
    yield Suspicion(
        name,
        f"all its values but {marks} are numbers: if {marks} stands for no value, say so (`{options}`, or "
        f"`missing: {json.dumps(others, ensure_ascii=False)}` under `data`)",
    )


def _as_label(name: str, column: Column, outcome: NDArray[np.int8]) -> Suspicion | None:
    """Whether each of the column's few values goes with one label only."""
    coded = _few_values(column)
    if coded is None:
        return None
    codes, values = coded
    rows = np.bincount(codes, minlength=len(values))
    positives = np.bincount(codes, weights=outcome, minlength=len(values))
    used = rows > 0
    pure = (positives == 0) | (positives == rows)
    if not pure[used].all() or used.sum() < 2 or len(outcome) < 10 * used.sum():
        return None
    ones = [value for value, count in zip(values, positives, strict=True) if count]
    listed = " or ".join(map(repr, ones[:3])) + (" or others" if len(ones) > 3 else "")
    return Suspicion(
        name,
        f"this column is the label under another name: it is {listed} in all rows of the positive label "
        "and in no other",
        is_label=True,
    )


def _few_values(column: Column) -> tuple[NDArray[np.int64], list[str]] | None:
    """Codes from 0, and the values they stand for; None if there are many."""
    if isinstance(column, Categories):
        if len(column.names) > FEW_VALUES:
            return None
        return column.codes.astype(np.int64) + 1, ["no value", *column.names]
    values = np.asarray(column)
    if len(np.unique(values[sampled(len(values))])) > FEW_VALUES:
        return None
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) > FEW_VALUES:
        return None
    return codes.astype(np.int64), [_shown(value) for value in distinct.tolist()]


def _shown(value: float | bool) -> str:
    if value != value:
        return "no value"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


def _one_sided(
    name: str, column: Column, outcome: NDArray[np.int8], *, known: bool
) -> Suspicion | None:
    """Whether all rows with a value, or all without one, have the same label."""
    chosen = outcome[_missing(column) != known]
    count, positives = len(chosen), int(chosen.sum())
    if count in (0, len(outcome)) or positives not in (0, count):
        return None
    share = outcome.mean() if positives else 1 - outcome.mean()
    if share**count >= BY_CHANCE:
        return None
    which = "positive" if positives else "negative"
    has = "a value" if known else "no value"
    return Suspicion(
        name,
        f"this column has {has} in {count} rows, and all of these have the {which} label: is it written "
        "down only after the label is known?",
    )


def _missing(column: Column) -> NDArray[np.bool_]:
    if isinstance(column, Categories):
        return column.codes < 0
    values = np.asarray(column)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
