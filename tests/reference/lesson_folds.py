"""Every figure of the lesson on cross-validation (seed 002), measured by the oracles.

The leakage ladder: the same folds and the same chain, with its first 0, 1, 2 and 3 steps learned
on the whole pool instead of inside each fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from reference import preparation, trees
from reference.arithmetic import mean, spread
from reference.preparation import Chain
from reference.subscribers import CANDIDATES, SEED, Parts, generate, split

Row = dict[str, Any]
Item = TypeVar("Item")
Figures = dict[str, float]

FOLDS = 4


def figures(seed: int = SEED, candidates: int = CANDIDATES) -> Figures:
    """Return the lesson's figures, unrounded, under the identifiers of the ledger."""
    parts = split(generate(seed, candidates), seed)
    rungs = ladder(seed, candidates)
    true_number = Chain().fit(parts.pool).accuracy(parts.test)
    single = Chain().fit(parts.train).accuracy(parts.validation)
    measured: Figures = {
        "folds/data/pool": len(parts.pool),
        "folds/data/fold_rows": len(parts.pool) // FOLDS,
        "folds/setting/folds": FOLDS,
        "folds/setting/tree_depth": preparation.TREE_DEPTH,
        "folds/setting/tree_min_leaf": preparation.TREE_MIN_LEAF,
        "folds/setting/chain_steps": len(rungs) - 1,
        "folds/setting/selection_min_side": preparation.SELECTION_MIN_SIDE,
        "folds/setting/selection_min_gain": preparation.SELECTION_MIN_GAIN,
        "folds/single_split/accuracy": single,
        "folds/single_split/difference": single - true_number,
        "folds/test/accuracy": true_number,
        "folds/test/baseline": _commoner_class_accuracy(parts),
    }
    for steps_outside, accuracies in enumerate(rungs):
        path = f"folds/ladder/{steps_outside}_outside"
        for number, accuracy in enumerate(accuracies, start=1):
            measured[f"{path}/fold_{number}"] = accuracy
        measured[f"{path}/mean"] = mean(accuracies)
        measured[f"{path}/spread"] = spread(accuracies)
        measured[f"{path}/difference"] = mean(accuracies) - true_number
    return measured


@lru_cache(maxsize=4)
def ladder(seed: int = SEED, candidates: int = CANDIDATES) -> tuple[tuple[float, ...], ...]:
    """Return the accuracy of every fold, a tuple for each number of steps learned outside."""
    pool = split(generate(seed, candidates), seed).pool
    return tuple(
        tuple(_climb(pool, fold, steps_outside) for fold in range(FOLDS))
        for steps_outside in range(len(Chain().steps) + 1)
    )


def cut(items: Sequence[Item], fold: int, folds: int = FOLDS) -> tuple[list[Item], list[Item]]:
    """Return what a fold learns from and what it measures: a contiguous block of the items.

    Items left over by the division are in no block: every fold learns from them.
    """
    size = len(items) // folds
    start, end = fold * size, (fold + 1) * size
    return [*items[:start], *items[end:]], list(items[start:end])


def _climb(pool: Sequence[Row], fold: int, steps_outside: int) -> float:
    learned, measured = cut(pool, fold)
    return Chain().fit(learned, pool, steps_outside).accuracy(measured)


def _commoner_class_accuracy(parts: Parts) -> float:
    commoner = int(trees.positive_share(parts.pool) > 0.5)
    return mean([int(row[trees.TARGET] == commoner) for row in parts.test])
