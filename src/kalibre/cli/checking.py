"""Would this experiment run? Its file and its data are read and cut as the workflow will do it.

Nothing is fitted but the preparation, on rows in memory, and nothing is written. What is found wrong is the
message that the workflow would end with, before the hour it would take to get there.

pandas and scikit-learn, which take a second to import, are imported in the functions that need them: an
experiment on predictions needs neither.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Column, Columns
from kalibre.data.table import Table, outcome_counts
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.experiment import Experiment
from kalibre.plan import dotted_paths
from kalibre.splitting import split_rows

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5000
"""Rows the preparation is tried on; of a larger part every category is among them."""


@dataclass(frozen=True)
class Examined:
    """An experiment that would run.

    Attributes
    ----------
    table : Table
        Its table.
    parts : Columns or None
        Its split.
    counts : mapping
        Part to its rows and positives; `all` where nothing is split.
    notes : tuple of str
        What there is to say of data and split.
    new_categories : tuple of str
        Categories that are in no row to learn from.
    """

    table: Table
    parts: Columns | None
    counts: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...]
    new_categories: tuple[str, ...] = ()


def examine(spec: Experiment, table: Table) -> Examined:
    """Check an experiment against its data.

    Parameters
    ----------
    spec : Experiment
        The experiment; its file has been validated.
    table : Table
        Its table, as the section `data` gives it.

    Raises
    ------
    InputError
        With the first thing that is wrong.
    """
    notes = list(table.result.notes)
    for path in dotted_paths(spec.comparisons) if spec.comparisons else []:
        _import(path)
    if spec.split is None:
        return Examined(table, None, {"all": outcome_counts(_outcome(table))}, tuple(notes))
    parts, split = split_rows(dict(table.roles), spec.split_settings())
    notes += split.notes
    counts = {part: outcome_counts(_outcome(table)[_rows(parts, [part])]) for part in spec.parts()}
    new: list[str] = []
    for name, model in spec.models.items():
        _check_classes(f"models.{name}.learn_on", model.learn_on, parts, table)
        notes += _try(spec, name, table, parts)
        new += _new_categories(table.features, *_both(parts, model.learn_on))
    _check_folds(spec, table, parts)
    _check_repeats(spec, parts)
    return Examined(table, parts, counts, tuple(notes), tuple(dict.fromkeys(new)))


def _outcome(table: Table) -> NDArray[np.int8]:
    return np.asarray(table.roles["outcome"])


def _rows(parts: Columns, names: list[str]) -> NDArray[np.int64]:
    """Positions in the table of some parts' rows, in the split's order."""
    return _both(parts, names)[0]


def _both(parts: Columns, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of some parts, and all others."""
    row, part = np.asarray(parts["row"]), parts["part"]
    assert isinstance(part, Categories)
    chosen = part.isin(names)
    return row[chosen], row[~chosen]


def _import(path: str) -> None:
    """Import a class, or a function, that a configuration names."""
    from kalibre.estimators import import_class

    module, _, name = path.rpartition(".")
    try:
        if callable(getattr(importlib.import_module(module), name, None)):
            return
    except ImportError:
        pass
    import_class(path, needs=())


def _check_classes(key: str, names: list[str], parts: Columns, table: Table) -> None:
    labels = _outcome(table)[_rows(parts, names)]
    if len(labels) and 0 < labels.sum() < len(labels):
        return
    which = "positive" if labels.sum() else "negative"
    raise InputError(
        f"{key}: the {len(labels)} rows of {', '.join(names)} all have the {which} label; a model needs rows "
        "of both to learn from: choose another split or other parts"
    )


def _check_folds(spec: Experiment, table: Table, parts: Columns) -> None:
    """Cut the folds as the ladder will."""
    if spec.folds is None:
        return
    from kalibre.folds import make_folds

    settings = spec.folds_settings()
    pool = _rows(parts, settings["pool"])
    roles = {
        role: _plain(table.roles[role])[pool] for role in ("group", "time") if role in table.roles
    }
    try:
        make_folds(
            _outcome(table)[pool],
            method=settings["method"],
            count=settings["count"],
            repeats=settings["repeats"],
            seed=settings["seed"],
            groups=roles.get("group"),
            times=roles.get("time"),
        )
    except ValueError as error:
        raise InputError(f"folds: {error}") from error


def _check_repeats(spec: Experiment, parts: Columns) -> None:
    """Whether the parts of calibrators have the rows that a study takes of them."""
    from kalibre.repeats.fewer import check_enough

    asked = spec.repeats.calibration_rows if spec.repeats else []
    variants = [v for model in spec.models for v in spec.variants(model).values()]
    for part in dict.fromkeys(v.learn_on for v in variants if v.learn_on in spec.parts()):
        check_enough(asked, part, len(_rows(parts, [part])))


def _plain(column: Any) -> NDArray[Any]:
    return column.values() if isinstance(column, Categories) else np.asarray(column)


def _try(spec: Experiment, name: str, table: Table, parts: Columns) -> Iterator[str]:
    """Build a model, and send rows through its preparation."""
    from kalibre.fitting import build_model, named_columns
    from kalibre.preparation.chain import build_chain
    from kalibre.preparation.frames import to_frame

    settings, steps = plain(spec.models[name]), plain(spec.preparation)
    chain = build_chain(steps, seed=settings["seed"])
    try:
        estimator = build_model({**settings, "standardise": False})
    except InputError as error:
        raise InputError(f"models.{name}: {error}") from error
    names = named_columns(table.features, settings["columns"], spec.feature_columns())
    frame = to_frame(table.features, names)
    features = {column: table.features[column] for column in names}
    learned, others = _both(parts, settings["learn_on"])
    tried, others = _chosen(features, learned), _chosen(features, others)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            prepared = [chain.fit_transform(frame.iloc[tried], _outcome(table)[tried])]
            prepared += [chain.transform(frame.iloc[others])] if len(others) else []
        except InputError as error:
            if len(tried) == len(learned):
                raise
            yield f"{name}: on {len(tried)} of its {len(learned)} rows, {error}"
            return
    for said in dict.fromkeys(str(one.message).split("\n")[0] for one in warned):
        yield f"{name}: {said}"
    for rows in prepared:
        _check_columns(name, estimator, rows, standardised=settings["standardise"])


def _new_categories(
    features: Mapping[str, Column], learned: NDArray[np.int64], others: NDArray[np.int64]
) -> Iterator[str]:
    """Categories that no row to learn from has: the preparation must know what to do with them."""
    for name, column in features.items():
        if not isinstance(column, Categories):
            continue
        known = np.zeros(len(column.names) + 1, dtype=bool)
        known[column.codes[learned]] = True
        # The last place is that of a missing value, code -1.
        known[-1] = True
        codes = column.codes[others]
        new = codes[~known[codes]]
        if len(new):
            kinds = len(np.unique(new))
            which = f"{kinds} categories, such as" if kinds > 1 else "the category"
            yield (
                f"column {name!r}: no row to learn from has {which} {column.names[new[0]]!r} "
                f"(rows of other parts: {len(new)})"
            )


def _chosen(features: Columns, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most about `MOST_ROWS` of the rows, the first of each category among them."""
    if len(rows) <= MOST_ROWS:
        return rows
    chosen = [np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)]
    for column in features.values():
        if isinstance(column, Categories):
            _, first = np.unique(column.codes[rows], return_index=True)
            chosen.append(rows[first])
    return np.unique(np.concatenate(chosen))


def _check_columns(name: str, estimator: Any, rows: pd.DataFrame, *, standardised: bool) -> None:
    """Refuse text, and gaps and infinite values where the estimator says that it cannot take them."""
    from sklearn.utils import get_tags

    kind = type(estimator)
    if hasattr(estimator, "steps"):
        # A pipeline of its own fills gaps and encodes text itself.
        return
    numbers = rows.select_dtypes(include=["number", "bool"])
    text = [column for column in rows.columns if column not in set(numbers.columns)]
    takes_text = "categorical_features" in estimator.get_params() and not standardised
    if text and kind.__module__.startswith("sklearn.") and not takes_text:
        raise InputError(
            f"models.{name}: column {text[0]!r} still holds text when it reaches {kind.__name__}; encode it "
            "in `preparation` (for instance sklearn.preprocessing.OneHotEncoder), or leave the column out"
        )
    try:
        takes_gaps = get_tags(estimator).input_tags.allow_nan
    except (AttributeError, TypeError):
        # Not of scikit-learn, and says nothing of itself: the workflow will see.
        return
    missing = rows.columns[rows.isna().any(axis=0)]
    if len(missing) and not takes_gaps:
        raise InputError(
            f"models.{name}: column {missing[0]!r} still has missing values when it reaches {kind.__name__}, "
            "which takes none; fill them in `preparation` (for instance sklearn.impute.SimpleImputer), or "
            "leave the column out"
        )
    infinite = numbers.columns[np.isinf(numbers.to_numpy(dtype=float)).any(axis=0)]
    if len(infinite) and (standardised or not takes_gaps):
        raise InputError(
            f"models.{name}: column {infinite[0]!r} holds infinite values, which {kind.__name__} does not "
            "take; correct them, or leave the column out"
        )
