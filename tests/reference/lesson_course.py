"""The rows of the course's summary table (seed 002) that the lesson's text determines.

Only the last of the twelve lessons has its code printed. The rows below follow from its table,
its model and its columns alone; the others rest on data that were never published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference import lesson_folds, linear, trees
from reference.arithmetic import mean
from reference.preparation import TREE_DEPTH, TREE_MIN_LEAF, Chain
from reference.subscribers import BASE_COLUMNS, CANDIDATES, SEED, Parts, generate, split
from reference.trees import TARGET, Tree

Row = dict[str, Any]
Figures = dict[str, float]

MODELS = {
    "cleaning": "tree",
    "scaling": "linear",
    "categorical": "tree",
    "missing": "tree",
    "imbalance": "tree",
    "outliers": "linear",
    "creation": "tree",
    "time_text": "tree",
    "selection": "tree",
    "reduction": "tree",
    "pipelines": "tree",
    "cross_validation": "tree",
}
"""The twelve lessons and the model each is read off."""

WITHOUT_REGION = tuple(column for column in BASE_COLUMNS if not column.startswith("region_"))
WITH_RATIO = (*BASE_COLUMNS, "per_person")
WITH_SEAL = (*WITH_RATIO, "seal_broken")
COPIES = 2


def figures(seed: int = SEED, candidates: int = CANDIDATES) -> Figures:
    """Return the determined figures, unrounded, under the identifiers of the ledger."""
    parts = split(generate(seed, candidates), seed)
    return {
        **_cells(parts),
        **_imbalance(parts),
        **_pipelines(parts),
        **_cross_validation(seed, candidates),
        **_closing_text(),
    }


def tree_of(rows: Sequence[Row], columns: Sequence[str]) -> Tree:
    """Return the course's fixed tree of `columns`, learned on `rows`."""
    return trees.grow(rows, columns, TREE_DEPTH, leaf=trees.label_leaf, min_leaf=TREE_MIN_LEAF)


def _cells(parts: Parts) -> Figures:
    def of_tree(columns: Sequence[str]) -> float:
        return trees.accuracy(tree_of(parts.train, columns), parts.test)

    base, ratio, seal = of_tree(BASE_COLUMNS), of_tree(WITH_RATIO), of_tree(WITH_SEAL)
    return {
        "course/cleaning/after": base,
        "course/scaling/after": _linear_accuracy(parts),
        **_row("categorical", of_tree(WITHOUT_REGION), base),
        **_row("creation", base, ratio),
        "course/time_text/before": ratio,
        "course/selection/after": seal,
        "course/reduction/before": seal,
    }


def _row(lesson: str, before: float, after: float) -> Figures:
    return {
        f"course/{lesson}/before": before,
        f"course/{lesson}/after": after,
        f"course/{lesson}/contribution": after - before,
    }


def _linear_accuracy(parts: Parts) -> float:
    model = linear.fit(parts.train, BASE_COLUMNS)
    return mean([int((model.probability(row) >= 0.5) == row[TARGET]) for row in parts.test])


def _imbalance(parts: Parts) -> Figures:
    positives = [row for row in parts.train if row[TARGET]]
    plain = tree_of(parts.train, BASE_COLUMNS)
    doubled = tree_of(parts.train + positives * (COPIES - 1), BASE_COLUMNS)
    return {
        **_row("imbalance", *(trees.accuracy(tree, parts.test) for tree in (plain, doubled))),
        "course/imbalance/caught_before": _caught(plain, parts.test),
        "course/imbalance/caught_after": _caught(doubled, parts.test),
        "course/imbalance/copies": COPIES,
    }


def _caught(tree: Tree, rows: Sequence[Row]) -> int:
    return trees.right_answers(tree, [row for row in rows if row[TARGET]])


def _pipelines(parts: Parts) -> Figures:
    by_hand, chain = Chain(), Chain()
    everything = parts.pool + parts.test
    by_hand.fit(parts.train, everything, steps_outside=len(by_hand.steps))
    chain.fit(parts.train)
    return _row("pipelines", by_hand.accuracy(parts.test), chain.accuracy(parts.test))


def _cross_validation(seed: int, candidates: int) -> Figures:
    rungs = lesson_folds.ladder(seed, candidates)
    return _row("cross_validation", mean(rungs[-1]), mean(rungs[0]))


def _closing_text() -> Figures:
    return {
        "course/lessons": len(MODELS),
        "course/tree_rows": list(MODELS.values()).count("tree"),
        "course/creation/columns_before": len(BASE_COLUMNS),
        "course/time_text/columns_before": len(WITH_RATIO),
        "course/reduction/columns_before": len(WITH_SEAL),
    }
