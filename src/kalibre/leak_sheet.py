"""Which kinds of leakage were looked for, what was found, and what nobody can see from here?

Kapoor and Narayanan (2023), "Leakage and the reproducibility crisis in machine-learning-based
science", Patterns 4, found eight types of leakage behind published results that could not be
repeated, and ask every claim for a **model info sheet** that speaks on each. This one is filled in by
the engine: `tested` with a number where rows can tell, `declared` where the experiment file states
it, `not testable here` with the reason where neither is so. A clean test says that this leak was not
found, not that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.columns import Categories, Column
from kalibre.single_column import auc_alone

Status = Literal["tested", "declared", "not testable here"]

TYPES = {
    "no_test_set": ("L1.1", "No test set"),
    "preprocessing": ("L1.2", "Preparation learned from training and test rows"),
    "feature_selection": ("L1.3", "Features selected on training and test rows"),
    "duplicates": ("L1.4", "Duplicates across training and test rows"),
    "illegitimate_features": (
        "L2",
        "Features that would not be known, or that stand for the answer",
    ),
    "temporal": ("L3.1", "Training rows later than test rows"),
    "dependence": ("L3.2", "Training and test rows that belong together"),
    "sampling_bias": ("L3.3", "Test rows unlike those the claim is about"),
}
"""The eight types in the paper's order: key in an experiment file -> number and name."""

HEADER = ("type", "key", "name", "status", "number", "measure", "finding", "declared", "by")


@dataclass(frozen=True)
class StepLeak:
    """What one preparation step changed when learned outside the folds.

    Attributes
    ----------
    step : its name.
    selects : whether it chooses features.
    metric : in which metric.
    leak : outside minus inside, signed.
    low, high : ends of the corrected interval; None where it has none.
    """

    step: str
    selects: bool
    metric: str
    leak: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Declaration:
    """What the experiment file states on a type of leakage, and who states it."""

    statement: str
    by: str = "the experiment file"


@dataclass(frozen=True)
class LeakFacts:
    """What the engine knows of an experiment; None where it does not know.

    Attributes
    ----------
    predictions_given : predictions come from a file: nothing was learned here.
    measured_rows : rows the models were measured on.
    shared_rows : measured rows that some stage learned from, declared overlaps included.
    steps : names of the preparation steps; empty without any.
    selecting_steps : those that choose features.
    prepared_rows : measured rows that the preparation of the measured models learned from; None where
        no fitted model was measured.
    step_leaks : leaks of steps learned outside the folds, where a ladder was climbed.
    duplicate_rows : measured rows whose features equal those of a row learned from.
    strongest_column : name of the single column that orders the measured rows best, and its ROC AUC.
    earlier_rows : measured rows earlier than the latest row learned from; None without a time.
    shared_groups : groups with rows both learned from and measured; None without groups.
    declared : statements by key of `TYPES`.
    roles : roles that the data have, such as `group`.
    compared_sides : sides of comparisons that prepare columns.
    compared_leaks : those whose preparation learned from the rows they measure.
    folds_method : how the ladder's folds are cut; empty without a ladder.
    """

    predictions_given: bool = False
    measured_rows: int | None = None
    shared_rows: int | None = None
    steps: Sequence[str] = ()
    selecting_steps: Sequence[str] = ()
    prepared_rows: int | None = None
    step_leaks: Sequence[StepLeak] = ()
    duplicate_rows: int | None = None
    strongest_column: tuple[str, float] | None = None
    earlier_rows: int | None = None
    shared_groups: int | None = None
    declared: Mapping[str, Declaration] = field(default_factory=dict)
    roles: Sequence[str] = ()
    compared_sides: Sequence[str] = ()
    compared_leaks: Sequence[str] = ()
    folds_method: str = ""


@dataclass(frozen=True)
class Finding:
    """A number with its unit and a sentence; without a number, why there is none."""

    sentence: str
    number: float | None = None
    measure: str = ""


def leak_sheet(facts: LeakFacts) -> list[dict[str, Any]]:
    """One row for each of the eight types, in the paper's order.

    Parameters
    ----------
    facts : what is known of the experiment.

    Returns
    -------
    list of dict
        With the keys of `HEADER`; `number` is None where nothing was tested, `declared` and `by` are
        empty where nothing was declared. A tested type keeps its number beside a declaration.

    Raises
    ------
    ValueError
        A declaration on a type that does not exist.
    """
    unknown = sorted(set(facts.declared) - set(TYPES))
    if unknown:
        raise ValueError(f"leak sheet: declared {unknown[0]!r}, expected one of {', '.join(TYPES)}")
    findings = {
        "no_test_set": _no_test_set(facts),
        "preprocessing": _preparation(facts, selects=False),
        "feature_selection": _preparation(facts, selects=True),
        "duplicates": _duplicates(facts),
        "illegitimate_features": _illegitimate_features(facts),
        "temporal": _temporal(facts),
        "dependence": _dependence(facts),
        "sampling_bias": Finding("only who knows the population can say whom the rows stand for"),
    }
    return [_row(key, findings[key], facts.declared.get(key)) for key in TYPES]


def sheet_counts(sheet: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many types are tested, declared and not testable, as metrics."""
    return {
        name: sum(row["status"] == status for row in sheet)
        for name, status in (
            ("tested", "tested"),
            ("declared", "declared"),
            ("not_testable", "not testable here"),
        )
    }


def row_digests(columns: Mapping[str, Column]) -> NDArray[np.uint64]:
    """One number a row that equal rows share and others, but for chance of 1 in 10^19, do not.

    Parameters
    ----------
    columns : the features, all of length n; numbers of any width, booleans and `Categories`.

    Returns
    -------
    ndarray of uint64, shape (n,)
        Missing values are equal to each other, and 0.0 to -0.0.
    """
    total: NDArray[np.uint64] | None = None
    for name, column in sorted(columns.items()):
        mixed = _mixed(_bits(column) ^ _text_key(name))
        total = mixed if total is None else _mixed(total * np.uint64(31) + mixed)
    return np.zeros(0, dtype=np.uint64) if total is None else total


def duplicates(learned: ArrayLike, measured: ArrayLike) -> int:
    """How many measured rows have the digest of a row learned from.

    Parameters
    ----------
    learned, measured : digests, as `row_digests` gives them.
    """
    return int(np.count_nonzero(np.isin(np.asarray(measured), np.asarray(learned))))


def shared_groups(learned: ArrayLike, measured: ArrayLike) -> int:
    """How many groups have rows among both.

    Parameters
    ----------
    learned, measured : the group of each row learned from, and of each row measured.
    """
    return int(np.intersect1d(np.asarray(learned), np.asarray(measured)).size)


def earlier_rows(learned: ArrayLike, measured: ArrayLike) -> int:
    """How many measured rows are earlier than the latest row learned from.

    Parameters
    ----------
    learned, measured : the time of each row, numbers or dates that compare.
    """
    times = np.asarray(learned)
    if not times.size:
        return 0
    return int(np.count_nonzero(np.asarray(measured) < times.max()))


def strongest_column(
    columns: Mapping[str, Column], outcomes: ArrayLike
) -> tuple[str, float] | None:
    """The column that orders the outcomes best by itself, and its ROC AUC.

    Parameters
    ----------
    columns : features of the rows, all of length n.
    outcomes : shape (n,), 0 or 1.

    Returns
    -------
    tuple of str and float, or None
        None where no column can be judged.
    """
    happened = np.asarray(outcomes, dtype=np.int8)
    best: tuple[str, float] | None = None
    for name, column in sorted(columns.items()):
        auc = auc_alone(column, happened)
        if auc is not None and (best is None or auc > best[1]):
            best = (name, auc)
    return best


def _row(key: str, finding: Finding, declared: Declaration | None) -> dict[str, Any]:
    number, name = TYPES[key]
    status: Status = "not testable here"
    if finding.number is not None:
        status = "tested"
    elif declared is not None:
        status = "declared"
    return {
        "type": number,
        "key": key,
        "name": name,
        "status": status,
        "number": finding.number,
        "measure": finding.measure,
        "finding": finding.sentence,
        "declared": declared.statement if declared else "",
        "by": declared.by if declared else "",
    }


def _no_test_set(facts: LeakFacts) -> Finding:
    if facts.shared_rows is None or facts.measured_rows is None:
        return Finding(_given(facts, "which rows the model learned from is not known"))
    sentence = (
        f"none of the {facts.measured_rows} rows measured was learned from"
        if not facts.shared_rows
        else f"{facts.shared_rows} of the {facts.measured_rows} rows measured were learned from by a model "
        "or a calibrator, as the experiment declares (`declared_overlap`)"
    )
    return Finding(sentence, float(facts.shared_rows), "measured rows learned from")


def _preparation(facts: LeakFacts, *, selects: bool) -> Finding:
    kind = "selects features" if selects else "prepares columns"
    chosen = set(facts.selecting_steps)
    steps = [step for step in facts.steps if (step in chosen) == selects]
    if facts.predictions_given:
        return Finding(_given(facts, "how their columns came about is not known"))
    measure = "measured rows learned from"
    if not steps and facts.compared_sides and not selects:
        return _compared(facts)
    if not steps:
        return Finding(
            f"no step of this experiment {kind}; whether the table was made so beforehand, no row can tell"
        )
    named = f"the step{'s' if len(steps) > 1 else ''} {', '.join(steps)}"
    leaks = [leak for leak in facts.step_leaks if leak.selects == selects]
    largest = max(leaks, key=lambda leak: abs(leak.leak), default=None)
    if facts.prepared_rows is not None:
        rows = facts.prepared_rows or "none"
        sentence = f"{named} learned from {rows} of the rows measured"
        if largest is not None:
            sentence += (
                f"; learned outside the folds they would move a score by up to {_said(largest)}"
            )
        return Finding(sentence, float(facts.prepared_rows), measure)
    if largest is not None:
        sentence = f"{named} learned outside the folds move a score by up to {_said(largest)}"
        return Finding(sentence, largest.leak, f"largest leak, in {largest.metric}")
    return Finding(f"{named}: no model was measured with them here")


def _compared(facts: LeakFacts) -> Finding:
    sides, leaking = len(facts.compared_sides), list(facts.compared_leaks)
    sentence = f"{sides} sides of the comparisons prepare columns; "
    if leaking:
        sentence += f"on purpose, {', '.join(leaking)} learned it from the rows measured as well"
    else:
        sentence += "none of them learned it from the rows measured"
    return Finding(sentence, float(len(leaking)), "sides prepared with the rows measured")


def _said(leak: StepLeak) -> str:
    said = f"{leak.leak:+.4f} in {leak.metric} ({leak.step}"
    if leak.low is not None and leak.high is not None:
        said += f", interval {leak.low:+.4f} to {leak.high:+.4f}"
    return said + ")"


def _duplicates(facts: LeakFacts) -> Finding:
    if facts.duplicate_rows is None:
        return Finding(_given(facts, "the rows' features are not there to compare"))
    measured = (
        f"of the {facts.measured_rows} rows measured" if facts.measured_rows else "of the rows"
    )
    count = facts.duplicate_rows or "none"
    return Finding(
        f"{count} {measured} equal a row learned from in every feature",
        float(facts.duplicate_rows),
        "measured rows equal to one learned from",
    )


def _illegitimate_features(facts: LeakFacts) -> Finding:
    """No data can prove a feature legitimate; a column that knows nearly all is worth a look."""
    sentence = (
        "whether a feature is known in time, and is not the answer in disguise, no row can tell"
    )
    if facts.strongest_column is not None:
        name, auc = facts.strongest_column
        sentence += f"; the strongest single column is {name} (ROC AUC {auc:.4f})"
    return Finding(sentence)


def _temporal(facts: LeakFacts) -> Finding:
    if facts.earlier_rows is None:
        return Finding(
            _given(facts, "when the rows were that the model learned from is not known")
            if "time" in facts.roles
            else _given(facts, "no column is named as the rows' time")
        )
    count = facts.earlier_rows or "none"
    return Finding(
        f"{count} of the rows measured are earlier than the latest row learned from",
        float(facts.earlier_rows),
        "measured rows earlier than one learned from",
    )


def _dependence(facts: LeakFacts) -> Finding:
    if facts.shared_groups is None:
        return Finding(
            _given(facts, "which groups the model learned from is not known")
            if "group" in facts.roles
            else _given(facts, "no column says which rows belong together")
        )
    count = facts.shared_groups or "none"
    sentence = f"{count} of the groups have rows both learned from and measured"
    if facts.folds_method not in ("", "group"):
        sentence += f"; the ladder's folds part groups (folds.method: {facts.folds_method})"
    return Finding(
        sentence,
        float(facts.shared_groups),
        "groups on both sides",
    )


def _given(facts: LeakFacts, otherwise: str) -> str:
    return f"predictions were given: {otherwise}" if facts.predictions_given else otherwise


def _bits(column: Column) -> NDArray[np.uint64]:
    """A column as whole numbers that are equal exactly where its values are."""
    if isinstance(column, Categories):
        keys = [_text_key(name) for name in column.names]
        names = np.array(keys or [np.uint64(0)], dtype=np.uint64)
        # A code below 0 is a missing value.
        return np.where(column.codes < 0, np.uint64(0), names[column.codes])
    array = np.asarray(column)
    if array.dtype.kind in "biu":
        return array.astype(np.int64).view(np.uint64)
    if array.dtype.kind == "f":
        # Adding 0.0 turns -0.0 into 0.0.
        values = np.where(np.isnan(array), np.nan, array.astype(np.float64) + 0.0)
        return values.view(np.uint64)
    return np.array([_text_key(str(value)) for value in array.tolist()], dtype=np.uint64)


def _text_key(text: str) -> np.uint64:
    """A whole number that depends on the text alone (Fowler, Noll and Vo's hash, 64 bits)."""
    key = 0xCBF29CE484222325
    for byte in text.encode():
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(key)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread each number over all 64 bits (the finishing steps of Steele et al.'s splitmix64)."""
    mixed = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)
