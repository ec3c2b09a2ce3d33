"""How much faster does the lessons' tree grow than by the plain-Python procedure?

Run ``python -m benchmarks.tree``. Both grow a tree on the same subscribers, in turn and in one
process; times are medians of the processor time, and the trees have to be the same.
Exits with 1 if a ratio is below what the project promises.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalibre.data.subscribers import generate_subscribers
from kalibre.models.tree import GiniTree
from kalibre.splits import shuffle_order
from reference import trees
from reference.subscribers import MODEL_COLUMNS

SEED = 20260218


class Case(NamedTuple):
    """A size to measure, and the least ratio that is promised for it."""

    rows: int
    candidates: int
    depth: int
    runs: int
    promised: float


CASES = (
    Case(rows=756, candidates=1_400, depth=6, runs=9, promised=8),
    Case(rows=756, candidates=1_400, depth=8, runs=9, promised=8),
    Case(rows=7_560, candidates=8_600, depth=6, runs=3, promised=15),
    Case(rows=7_560, candidates=8_600, depth=8, runs=3, promised=15),
)


def subscribers(case: Case) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Shuffled subscribers: the twelve columns of the calibration lesson, and the label."""
    table = generate_subscribers(seed=SEED, candidates=case.candidates)
    order = shuffle_order(len(table["id"]), seed=SEED + 90_000)[: case.rows]
    X = np.column_stack([table[name] for name in MODEL_COLUMNS]).astype(np.float64)
    return X[order], table["suspicious"][order]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def plain_nodes(tree: trees.Tree) -> list[tuple[Any, ...]]:
    """Column and threshold, or probability, of each node of an oracle's tree, level by level."""
    nodes, level = [], [tree]
    while level:
        nodes += [
            (n["column"], n["threshold"]) if "column" in n else (n["probability"],) for n in level
        ]
        level = [n[side] for n in level if "column" in n for side in ("below", "others")]
    return nodes


def engine_nodes(tree: GiniTree) -> list[tuple[Any, ...]]:
    return [
        (MODEL_COLUMNS[feature], threshold) if feature >= 0 else (probability,)
        for feature, threshold, probability in zip(
            tree.feature_, tree.threshold_, tree.probability_, strict=True
        )
    ]


def measure(case: Case) -> tuple[float, float]:
    """Median seconds of the plain and of the engine's tree.

    Raises
    ------
    AssertionError
        If the trees differ.
    """
    X, y = subscribers(case)
    rows = trees.as_rows(MODEL_COLUMNS, X.tolist(), y.tolist())
    plain_times, engine_times = [], []
    for _ in range(case.runs):
        plain_time, plain = seconds(lambda: trees.grow(rows, MODEL_COLUMNS, case.depth))
        # The engine is short work: several of its fits for each plain one steady the median.
        for _ in range(5):
            engine_time, engine = seconds(lambda: GiniTree(max_depth=case.depth).fit(X, y))
            engine_times.append(engine_time)
        plain_times.append(plain_time)
        if plain_nodes(plain) != engine_nodes(engine):
            raise AssertionError(f"the trees differ on {case}")
    return statistics.median(plain_times), statistics.median(engine_times)


def lines() -> Iterator[tuple[str, bool]]:
    for case in CASES:
        plain, engine = measure(case)
        ratio = plain / engine
        text = (
            f"{case.rows:>6} x {len(MODEL_COLUMNS):<3}{case.depth:>6}{plain * 1e3:>12.1f}"
            f"{engine * 1e3:>12.2f}{ratio:>9.1f}{case.promised:>12.0f}"
        )
        yield text, ratio >= case.promised


def main() -> int:
    print("The same trees, milliseconds of processor time a fit (medians)")
    print("  rows x col depth       plain      engine    ratio    promised")
    kept = True
    for text, good in lines():
        print(text if good else f"{text}  below", flush=True)
        kept &= good
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
