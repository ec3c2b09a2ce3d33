"""What did one preparation decision add? The same measurement before it and after it.

Each side is a variant: the table (perhaps altered), its columns, the preparation and the rows it is
learned on, copies of positive rows, the model, and how it is measured: on a part, or as the mean
over folds. A side whose preparation was learned on rows that are measured says so, or is refused.

Source: the closing table of the cross-validation lesson, one row a lesson. Its rule: a preparation
step is worth what it adds on held-out rows, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kalibre.alterations import alter
from kalibre.errors import InputError, suggestion
from kalibre.fitting import build_model
from kalibre.folds import make_folds
from kalibre.ladder import climb
from kalibre.measuring import commoner_class_accuracy, fit_on, measure_rows
from kalibre.overlaps import require_disjoint
from kalibre.preparation.chain import Chain, build_chain
from kalibre.preparation.frames import check_columns
from kalibre.rungs import RungResult, cumulative_rungs

Positions = NDArray[np.int64]
Parts = Mapping[str, Positions]


@dataclass(frozen=True)
class Side:
    """One side of a comparison, measured.

    Attributes
    ----------
    metrics, undefined : dict
        Metric to value, or to the reason why it has none. Always: `accuracy`; `columns` that
        reached the model, `columns_given` before preparation, `steps` of preparation. On a part
        also: `rows` measured, `positives` among them, `flagged` by the model, `caught` (flagged
        positives), `learned_rows` (copies counted), `baseline` (accuracy of the commoner class of
        the learned rows), and, where the model was learned in several row orders,
        `accuracy_lowest`, `accuracy_median`, `accuracy_highest`. As a mean over folds also:
        `accuracy_spread`, `folds`.
    learned : dict
        Stage to positions in the table of the rows it learned from.
    measured : ndarray of int64
        Positions of the measured rows.
    notes : tuple of str
        Overlaps that were declared.
    """

    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    learned: Mapping[str, Positions]
    measured: Positions
    notes: tuple[str, ...] = field(default=())


def measure_variant(
    frame: pd.DataFrame,
    outcomes: ArrayLike,
    *,
    parts: Parts,
    variant: Mapping[str, Any],
    models: Mapping[str, Mapping[str, Any]],
    column_sets: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Side:
    """Measure one side of a comparison.

    Parameters
    ----------
    frame : DataFrame, n rows
        The whole table in its own order.
    outcomes : array of 0 and 1, shape (n,)
        The label.
    parts : mapping of str to array of int64
        Part to the positions of its rows, in the order in which stages take them.
    variant : mapping
        The settings of `kalibre.experiment.comparisons.Variant`.
    models : mapping
        Name to settings (`estimator`, `params`, `standardise`, `seed`) of the models variants name.
    column_sets : mapping, optional
        Name to columns; a variant may name a set among its columns.
    seed : int
        `random_state` of preparation steps, and of the row orders.

    Raises
    ------
    InputError
        If a part, column, model, step or alteration does not exist, a step or the model refuses the
        data, or measured rows were learned from without a declaration.
    """
    labels = np.asarray(outcomes)
    _check_named("model", variant["model"], models)
    altered = alter(frame, labels, variant["alterations"])
    columns = expand_columns(variant["columns"], column_sets or {})
    check_columns(columns, altered.columns, "the table of the comparison")
    table = altered[columns]
    chain = build_chain(variant["preparation"], seed=seed)
    estimator = build_model(models[variant["model"]])
    measure = _over_folds if variant["folds"] is not None else _on_part
    side = measure(table, labels, parts, variant, chain, estimator, seed)
    given = {"columns_given": len(columns), "steps": len(chain.steps)}
    return Side({**side.metrics, **given}, side.undefined, side.learned, side.measured, side.notes)


def expand_columns(columns: Sequence[str], column_sets: Mapping[str, Sequence[str]]) -> list[str]:
    """Columns with the names of sets replaced by the sets' columns, each column once."""
    expanded = [c for name in columns for c in column_sets.get(name, [name])]
    return list(dict.fromkeys(expanded))


def contribution(before: Side, after: Side) -> dict[str, float]:
    """What the decision changed: after minus before, for every metric both sides have."""
    shared = [name for name in before.metrics if name in after.metrics]
    return {name: after.metrics[name] - before.metrics[name] for name in shared}


def closing_counts(
    comparisons: Sequence[Mapping[str, Any]], contributions: Sequence[float]
) -> dict[str, int]:
    """The counts a course's closing text draws from its table.

    Parameters
    ----------
    comparisons : sequence of mapping
        The settings of each comparison: `before` and `after` as variants.
    contributions : sequence of float
        Change of accuracy of each.

    Returns
    -------
    dict of str to int
        `rows`; `nonpositive`, contributions of zero or less; `looks`, sides times rows, each a look
        at held-out rows; `part_looks`, those of them that are read off a part and not off folds;
        `of_<model>`, rows both sides of which use that model.
    """
    sides = [row[side] for row in comparisons for side in ("before", "after")]
    counts = {
        "rows": len(comparisons),
        "nonpositive": sum(change <= 0 for change in contributions),
        "looks": len(sides),
        "part_looks": sum(side["folds"] is None for side in sides),
    }
    for name in sorted({side["model"] for side in sides}):
        both = [
            row for row in comparisons if row["before"]["model"] == row["after"]["model"] == name
        ]
        counts[f"of_{name}"] = len(both)
    return counts


def _on_part(
    table: pd.DataFrame,
    labels: NDArray[Any],
    parts: Parts,
    variant: Mapping[str, Any],
    chain: Chain,
    estimator: Any,
    seed: int,
) -> Side:
    learned = _rows(parts, variant["learned_on"])
    prepared_on = _rows(parts, variant["preparation_learned_on"] or variant["learned_on"])
    measured = _rows(parts, [variant["measured_on"]])
    stages = {"the model": learned}
    if chain.steps:
        stages["the preparation"] = prepared_on
    notes = require_disjoint(
        stages,
        measured,
        where=f"comparison side {variant['label']!r}",
        declared=variant["declared_overlap"],
    )
    learned_frame, measured_frame = _prepared(table, labels, chain, prepared_on, learned, measured)
    copied = _with_copies(labels[learned], variant["positives_copies"])
    models = [
        fit_on(estimator, learned_frame.iloc[order], labels[learned][order])
        for order in _orders(copied, variant["row_orders"], seed)
    ]
    predictions = [np.asarray(m.predict(measured_frame), dtype=np.int64) for m in models]
    metrics, undefined = measure_rows(models[0], measured_frame, labels[measured], predictions[0])
    metrics |= _counts(predictions[0], labels[measured])
    metrics |= {
        "columns": learned_frame.shape[1],
        "learned_rows": len(copied),
        "baseline": commoner_class_accuracy(labels[learned], labels[measured]),
    }
    if len(models) > 1:
        metrics |= _range([float(np.mean(p == labels[measured])) for p in predictions])
    return Side(metrics, undefined, stages, measured, notes)


def _over_folds(
    table: pd.DataFrame,
    labels: NDArray[Any],
    parts: Parts,
    variant: Mapping[str, Any],
    chain: Chain,
    estimator: Any,
    seed: int,
) -> Side:
    spec = variant["folds"]
    pool = _rows(parts, variant["learned_on"])
    if spec["outside"] > len(chain.steps):
        raise InputError(
            f"comparison side {variant['label']!r}: {spec['outside']} steps are to be learned "
            f"outside the folds, the preparation has {len(chain.steps)}"
        )
    try:
        folds = make_folds(
            labels[pool],
            method=spec["method"],
            count=spec["count"],
            repeats=spec["repeats"],
            seed=spec["seed"],
        )
    except ValueError as error:
        raise InputError(f"comparison side {variant['label']!r}: {error}") from error
    result = climb(
        table.iloc[pool],
        labels[pool],
        chain=chain,
        estimator=estimator,
        folds=folds,
        rungs=[cumulative_rungs(len(chain.steps))[spec["outside"]]],
    )[0]
    stages = {"the model, fold by fold": pool}
    outside = chain.names[: spec["outside"]]
    notes: tuple[str, ...] = ()
    if outside:
        stages["the preparation, outside the folds"] = pool
        notes = (f"learned outside the folds on purpose: {', '.join(outside)}",)
    return Side(*_fold_means(result), stages, pool, notes)


def _fold_means(result: RungResult) -> tuple[dict[str, float], dict[str, str]]:
    summary, undefined = result.summary()
    metrics = {
        name.removesuffix("/mean").replace("/", "_"): value for name, value in summary.items()
    }
    columns = [len(fold.columns) for fold in result.folds]
    metrics |= {"folds": len(result.folds), "columns": float(np.mean(columns))}
    return metrics, {
        name.removesuffix("/mean").replace("/", "_"): r for name, r in undefined.items()
    }


def _prepared(
    table: pd.DataFrame,
    labels: NDArray[Any],
    chain: Chain,
    prepared_on: Positions,
    learned: Positions,
    measured: Positions,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Learned and measured rows as the chain prepares them; see `kalibre.preparation.chain`."""
    fitted = clone(chain)
    source = table.iloc[prepared_on]
    if np.array_equal(prepared_on, learned):
        return fitted.fit_transform(source, labels[prepared_on]), fitted.transform(
            table.iloc[measured]
        )
    fitted.fit(source, labels[prepared_on])
    return fitted.transform(table.iloc[learned]), fitted.transform(table.iloc[measured])


def _with_copies(labels: NDArray[Any], copies: int) -> Positions:
    """Every row once, then the positive rows again until each is there `copies` times."""
    positive = np.flatnonzero(labels == 1)
    return np.concatenate([np.arange(len(labels)), np.tile(positive, copies - 1)])


def _orders(rows: Positions, count: int, seed: int) -> list[Positions]:
    """The rows in their own order, then in `count` - 1 random ones."""
    rng = np.random.default_rng(seed)
    return [rows, *(rng.permutation(rows) for _ in range(count - 1))]


def _counts(predicted: NDArray[np.int64], labels: NDArray[Any]) -> dict[str, float]:
    return {
        "rows": len(labels),
        "positives": int(np.sum(labels == 1)),
        "flagged": int(np.sum(predicted == 1)),
        "caught": int(np.sum((predicted == 1) & (labels == 1))),
    }


def _range(accuracies: Sequence[float]) -> dict[str, float]:
    return {
        "accuracy_lowest": min(accuracies),
        "accuracy_median": float(np.median(accuracies)),
        "accuracy_highest": max(accuracies),
        "row_orders": len(accuracies),
    }


def _rows(parts: Parts, names: Sequence[str]) -> Positions:
    for name in names:
        _check_named("part", name, parts)
    return np.concatenate([parts[name] for name in names])


def _check_named(what: str, name: str, allowed: Mapping[str, Any]) -> None:
    if name not in allowed:
        raise InputError(f"no {what} {name!r}; {suggestion(name, allowed)}")
