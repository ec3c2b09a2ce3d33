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

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kalibre.errors import InputError
from kalibre.folds import Fold
from kalibre.measuring import fit_on, measure_rows
from kalibre.overlaps import require_disjoint
from kalibre.preparation.chain import Chain, ColumnStep
from kalibre.rungs import (
    MEASURED_METRICS,
    FoldScore,
    Rung,
    RungResult,
    cumulative_rungs,
    single_rungs,
)


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


def _without_value(fold: Fold, reason: str) -> FoldScore:
    return FoldScore(
        {}, dict.fromkeys(MEASURED_METRICS, reason), np.zeros(0, dtype=np.int64), (), *fold
    )


def _one_class(labels: NDArray[Any]) -> str:
    only = int(labels[0]) if len(labels) else "none"
    return f"one class only: all {len(labels)} rows to learn from have outcome {only}"
