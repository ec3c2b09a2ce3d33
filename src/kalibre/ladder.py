"""The leakage ladder: how does a score change when preparation is learned outside the folds?

Rung d learns the first d steps of the preparation once on the whole pool and the rest anew in the
training rows of each fold; besides these, each step is learned outside alone. All rungs share
folds, model and seed, so that a difference between two rungs is due to where the preparation was
learned.

With step j alone outside, the steps before it are learned in the fold and applied to the whole
pool, from which step j then learns: what leaks is step j's own. For the first d steps this is the
chain object of the cross-validation lesson, `BoruHatti.ogren`.

A rung's work is shared: what is learned outside is learned once for all folds, and rungs that begin
with the same steps in the same place share these steps in each fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from kalibre.errors import InputError
from kalibre.fitting import score
from kalibre.folds import Fold
from kalibre.metrics.registry import METRICS, Measured, Undefined
from kalibre.metrics.reliability import expected_calibration_error
from kalibre.overlaps import require_disjoint
from kalibre.preparation.chain import Chain, ColumnStep, check_numbers

ECE_BINS = 10
OF_PROBABILITIES = ("log_loss", "brier", "ece")
FOLD_METRICS = ("accuracy", "roc_auc", *OF_PROBABILITIES)
"""What is measured in every fold."""


@dataclass(frozen=True)
class Rung:
    """Where each step is learned: True is outside the folds."""

    name: str
    outside: tuple[bool, ...]


@dataclass(frozen=True)
class FoldScore:
    """What one model scored on the rows of one fold.

    Attributes
    ----------
    metrics, undefined : dict
        Metric to value, or to the reason why it has none.
    predicted : ndarray of 0 and 1
        The model's decision for each measured row.
    columns : tuple of str
        Columns that reached the model.
    learned, measured : ndarray of int64
        Positions of the rows the model learned from and of those it was measured on.
    """

    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    predicted: NDArray[np.int64]
    columns: tuple[str, ...]
    learned: NDArray[np.int64]
    measured: NDArray[np.int64]


@dataclass(frozen=True)
class RungResult:
    """One rung, fold by fold."""

    rung: Rung
    folds: tuple[FoldScore, ...]

    def values(self, metric: str) -> NDArray[np.float64]:
        """One metric in every fold, NaN where it has no value."""
        return np.array([fold.metrics.get(metric, np.nan) for fold in self.folds])

    def mean(self, metric: str) -> float | None:
        """Mean over the folds in which the metric has a value; None if in none."""
        values = self._known(metric)
        return float(values.sum() / len(values)) if len(values) else None

    def spread(self, metric: str) -> float | None:
        """Population standard deviation over the same folds, as the lesson's code has it."""
        values = self._known(metric)
        return (
            float(((values - values.sum() / len(values)) ** 2).mean() ** 0.5)
            if len(values)
            else None
        )

    def summary(self) -> tuple[dict[str, float], dict[str, str]]:
        """Mean and spread of every metric (`accuracy/mean`), and why there is none."""
        metrics, undefined = {}, {}
        for metric in FOLD_METRICS:
            for name, value in (("mean", self.mean(metric)), ("spread", self.spread(metric))):
                if value is None:
                    undefined[f"{metric}/{name}"] = self.gaps()[metric]
                else:
                    metrics[f"{metric}/{name}"] = value
        return metrics, undefined

    def gaps(self) -> dict[str, str]:
        """For each metric without a value in some fold: in how many, and why in the first."""
        said = {}
        for metric in FOLD_METRICS:
            reasons = [fold.undefined[metric] for fold in self.folds if metric in fold.undefined]
            if reasons:
                said[metric] = f"in {len(reasons)} of {len(self.folds)} folds: {reasons[0]}"
        return said

    def table(self) -> list[dict[str, Any]]:
        """One row per fold: rows learned from and measured, columns of the model, metrics."""
        return [
            {
                "rung": self.rung.name,
                "fold": number,
                "learned_rows": len(fold.learned),
                "measured_rows": len(fold.measured),
                "columns": len(fold.columns),
                **{metric: fold.metrics.get(metric) for metric in FOLD_METRICS},
            }
            for number, fold in enumerate(self.folds, start=1)
        ]

    def _known(self, metric: str) -> NDArray[np.float64]:
        values = self.values(metric)
        return values[np.isfinite(values)]


def cumulative_rungs(steps: int) -> list[Rung]:
    """`0_outside` to `n_outside`: the first 0, 1, ..., n steps are learned outside the folds."""
    return [Rung(f"{d}_outside", tuple(i < d for i in range(steps))) for d in range(steps + 1)]


def single_rungs(steps: int) -> list[Rung]:
    """`only_1_outside` to `only_n_outside`: one step alone is learned outside the folds."""
    return [
        Rung(f"only_{j + 1}_outside", tuple(i == j for i in range(steps))) for j in range(steps)
    ]


def climb(
    frame: pd.DataFrame,
    outcomes: ArrayLike,
    *,
    chain: Chain,
    estimator: Any,
    folds: Sequence[Fold],
    rungs: Sequence[Rung] | None = None,
) -> list[RungResult]:
    """Measure rungs of the ladder.

    Parameters
    ----------
    frame : DataFrame, n rows
        The pool: all rows that steps outside the folds learn from. Its index is not used.
    outcomes : array of 0 and 1, shape (n,)
        What happened.
    chain : Chain
        The preparation, unfitted.
    estimator : object
        A scikit-learn classifier, unfitted; it is cloned for every fold.
    folds : sequence of Fold
        Positions in the pool.
    rungs : sequence of Rung, optional
        By default all: `cumulative_rungs`, then `single_rungs`.

    Returns
    -------
    list of RungResult
        One per rung, in the order asked for.

    Raises
    ------
    InputError
        If a fold measures rows it learns from, or a step or the model refuses the data.
    """
    steps = len(chain.steps)
    asked = [*cumulative_rungs(steps), *single_rungs(steps)] if rungs is None else list(rungs)
    for rung in asked:
        if len(rung.outside) != steps:
            raise ValueError(
                f"rung {rung.name!r} is of {len(rung.outside)} steps, the chain has {steps}"
            )
    for number, fold in enumerate(folds, start=1):
        require_disjoint({"the model": fold.learned}, fold.measured, where=f"fold {number}")
    pool = _Pool(frame.reset_index(drop=True), np.asarray(outcomes), chain)
    scores: dict[tuple[bool, ...], list[FoldScore]] = {rung.outside: [] for rung in asked}
    for fold in folds:
        for outside, prepared in pool.prepared(fold, list(scores)):
            scores[outside].append(_measured(prepared, pool.outcomes, estimator, fold))
    return [RungResult(rung, tuple(scores[rung.outside])) for rung in asked]


def measure_once(
    frame: pd.DataFrame,
    outcomes: ArrayLike,
    *,
    chain: Chain,
    estimator: Any,
    learned: ArrayLike,
    measured: ArrayLike,
) -> FoldScore:
    """Learn chain and model from some rows and measure others once.

    With the pool and the test rows it is the true number, with the training and the validation rows
    the single split's. Parameters and errors are those of `climb`; `learned` and `measured` are
    positions.
    """
    fold = Fold(np.asarray(learned, dtype=np.int64), np.asarray(measured, dtype=np.int64))
    inside = cumulative_rungs(len(chain.steps))[0]
    climbed = climb(frame, outcomes, chain=chain, estimator=estimator, folds=[fold], rungs=[inside])
    return climbed[0].folds[0]


def commoner_class_accuracy(learned_outcomes: ArrayLike, measured_outcomes: ArrayLike) -> float:
    """Accuracy of always answering the commoner class of the rows learned from (0 in a draw)."""
    learned, measured = np.asarray(learned_outcomes), np.asarray(measured_outcomes)
    commoner = int(2 * learned.sum() > len(learned))
    return float(np.mean(measured == commoner))


class _Failed:
    """Prepared rows that do not exist, and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


_State = pd.DataFrame | _Failed


class _Pool:
    """The rows of the pool, and what steps learned from all of them give."""

    def __init__(self, frame: pd.DataFrame, outcomes: NDArray[Any], chain: Chain) -> None:
        if len(frame) != len(outcomes):
            raise ValueError(f"{len(frame)} rows and {len(outcomes)} outcomes; they go together")
        self.outcomes = outcomes
        self._chain = chain
        self._outside: list[_State] = [frame]

    def prepared(
        self, fold: Fold, patterns: Iterable[tuple[bool, ...]]
    ) -> Iterator[tuple[tuple[bool, ...], _State]]:
        """The pool as each pattern prepares it for a fold; patterns share what they begin with."""
        yield from self._descend(fold, self._outside[0], (), list(patterns))

    def _descend(
        self,
        fold: Fold,
        state: _State,
        begun: tuple[bool, ...],
        patterns: Sequence[tuple[bool, ...]],
    ) -> Iterator[tuple[tuple[bool, ...], _State]]:
        if len(begun) == len(self._chain.steps):
            yield begun, state
            return
        for where in (False, True):
            further = [p for p in patterns if p[len(begun)] is where]
            if further:
                next_state = self._next(fold, state, (*begun, where))
                yield from self._descend(fold, next_state, (*begun, where), further)

    def _next(self, fold: Fold, state: _State, begun: tuple[bool, ...]) -> _State:
        if isinstance(state, _Failed):
            return state
        step = self._chain.steps[len(begun) - 1]
        if not begun[-1]:
            return self._inside(step, state, fold)
        if not all(begun):
            return clone(step).fit(state, self.outcomes).transform(state)
        # Every step so far was learned outside: the same for all folds.
        if len(self._outside) == len(begun):
            self._outside.append(clone(step).fit(state, self.outcomes).transform(state))
        return self._outside[len(begun)]

    def _inside(self, step: ColumnStep, state: pd.DataFrame, fold: Fold) -> _State:
        """Learn from the fold's training rows, apply to all others."""
        fitted = clone(step)
        rest = np.setdiff1d(np.arange(len(state)), fold.learned)
        labels = self.outcomes[fold.learned]
        try:
            learned = fitted.fit_transform(state.iloc[fold.learned], labels)
        except InputError as error:
            if len(np.unique(labels)) > 1:
                raise
            return _Failed(f"{_one_class(labels)}; {error}")
        others = fitted.transform(state.iloc[rest])
        return pd.concat([learned, others]).sort_index()


def _measured(state: _State, outcomes: NDArray[Any], estimator: Any, fold: Fold) -> FoldScore:
    if isinstance(state, _Failed):
        return _without_value(fold, state.reason)
    learned, measured = state.iloc[fold.learned], state.iloc[fold.measured]
    labels = outcomes[fold.learned]
    try:
        model = fit_on(estimator, learned, labels)
    except InputError as error:
        if len(np.unique(labels)) > 1:
            raise
        return _without_value(fold, f"{_one_class(labels)}; {error}")
    predicted = np.asarray(model.predict(measured), dtype=np.int64)
    metrics, undefined = measure_rows(model, measured, outcomes[fold.measured], predicted)
    return FoldScore(metrics, undefined, predicted, tuple(state.columns), *fold)


def fit_on(estimator: Any, rows: pd.DataFrame, labels: NDArray[Any]) -> Any:
    """A clone of the estimator, learned on prepared rows.

    Where preparation kept no column at all, the model can only give the share of its training rows.

    Raises
    ------
    InputError
        If a column is text, or the estimator refuses the data.
    """
    check_numbers(rows)
    model = clone(estimator) if rows.shape[1] else DummyClassifier(strategy="prior")
    try:
        return model.fit(rows, labels)
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        coded = [name for name, kind in rows.dtypes.items() if kind == "category"]
        hint = f" (categories: {', '.join(map(repr, coded))}; does it take them?)" if coded else ""
        raise InputError(f"the model refuses the data: {reason}{hint}") from error


def measure_rows(
    model: Any, rows: pd.DataFrame, outcomes: NDArray[Any], predicted: NDArray[np.int64]
) -> tuple[dict[str, float], dict[str, str]]:
    """The metrics of a fitted model on some rows, and the reasons where there are none.

    Accuracy is that of the model's own decisions (`predict`); the others are of its probabilities,
    read off the logits where they only order the rows.
    """
    metrics = {"accuracy": float(np.sum(predicted == outcomes) / len(outcomes))}
    undefined: dict[str, str] = {}
    classes = getattr(model, "classes_", np.array([0, 1]))
    if len(classes) == 1:
        only = np.full(len(outcomes), float(classes[0]))
        scored = Measured.of(outcomes, only)
    else:
        probability, z, _ = score(model, rows)
        scored = Measured.of(outcomes, probability, logits=z)
    for name in FOLD_METRICS[1:]:
        if name in OF_PROBABILITIES and not hasattr(model, "predict_proba"):
            undefined[name] = "the model gives no probabilities"
            continue
        try:
            metrics[name] = _metric(name, scored)
        except Undefined as reason:
            undefined[name] = str(reason)
    return metrics, undefined


def _metric(name: str, scored: Measured) -> float:
    if name == "ece":
        return expected_calibration_error(scored.outcomes, scored.probabilities, bins=ECE_BINS)
    return float(METRICS[name].function(scored))


def _without_value(fold: Fold, reason: str) -> FoldScore:
    return FoldScore(
        {}, dict.fromkeys(FOLD_METRICS, reason), np.zeros(0, dtype=np.int64), (), *fold
    )


def _one_class(labels: NDArray[Any]) -> str:
    only = int(labels[0]) if len(labels) else "none"
    return f"one class only: all {len(labels)} rows to learn from have outcome {only}"
