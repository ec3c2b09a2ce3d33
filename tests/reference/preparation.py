"""Where is the preparation learned: inside the folds, or once outside them?

The chain of the lesson on cross-validation (seed 002): fill the gaps of the satisfaction, code
the tariff by its share of suspicious subscribers, keep the columns that tell something, grow the
course's tree. Any number of its first steps can be learned on other rows than the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from reference import trees
from reference.subscribers import BASE_COLUMNS
from reference.trees import TARGET, positive_share

Row = dict[str, Any]

FILLED = "satisfaction_masked"
CODE = "tariff_code"
CODED = "tariff_target"
TREE_DEPTH = 6
TREE_MIN_LEAF = 2
SELECTION_MIN_SIDE = 20
SELECTION_MIN_GAIN = 0.004

CHAIN_COLUMNS = (
    *(FILLED if column == "satisfaction" else column for column in BASE_COLUMNS),
    "per_person",
    "seal_broken",
    CODED,
)
"""The fourteen columns that the selection chooses from, in the order it tries them."""


class Step(Protocol):
    """A preparation step: it learns from rows, then changes rows in place."""

    def learn(self, rows: list[Row]) -> None: ...

    def apply(self, rows: list[Row]) -> None: ...


class MedianFill:
    """Fills the gaps of the satisfaction with its median, the upper one of an even number."""

    def learn(self, rows: list[Row]) -> None:
        known = sorted(row[FILLED] for row in rows if row[FILLED] is not None)
        self.median = known[len(known) // 2]

    def apply(self, rows: list[Row]) -> None:
        for row in rows:
            if row[FILLED] is None:
                row[FILLED] = self.median


class TargetCoding:
    """Gives each tariff its share of suspicious rows; the overall share where it is unseen."""

    def learn(self, rows: list[Row]) -> None:
        outcomes: dict[int, list[int]] = {}
        for row in rows:
            outcomes.setdefault(row[CODE], []).append(row[TARGET])
        self.overall = positive_share(rows)
        self.shares = {code: sum(seen) / len(seen) for code, seen in outcomes.items()}

    def apply(self, rows: list[Row]) -> None:
        for row in rows:
            row[CODED] = round(self.shares.get(row[CODE], self.overall), 4)


class GainSelection:
    """Keeps the columns whose best split of all rows lowers the impurity enough."""

    def __init__(self, columns: Sequence[str] = CHAIN_COLUMNS) -> None:
        self.columns = tuple(columns)

    def learn(self, rows: list[Row]) -> None:
        self.kept = [
            column for column in self.columns if self._best_gain(rows, column) >= SELECTION_MIN_GAIN
        ]

    def apply(self, rows: list[Row]) -> None:
        """Change nothing: the selection acts on what the tree is given."""

    @staticmethod
    def _best_gain(rows: list[Row], column: str) -> float:
        gains = (gain for gain, *_ in trees.splits(rows, column, SELECTION_MIN_SIDE))
        return max(gains, default=0.0)


class Chain:
    """The preparation steps and the tree at their end."""

    def __init__(self) -> None:
        self.selection = GainSelection()
        self.steps: list[Step] = [MedianFill(), TargetCoding(), self.selection]

    def fit(
        self, rows: Sequence[Row], outside: Sequence[Row] = (), steps_outside: int = 0
    ) -> Chain:
        """Learn the first `steps_outside` steps on `outside`, the rest and the tree on `rows`."""
        inside_copy, outside_copy = _copy(rows), _copy(outside)
        for number, step in enumerate(self.steps):
            if number < steps_outside:
                step.learn(outside_copy)
                step.apply(outside_copy)
            else:
                step.learn(inside_copy)
            step.apply(inside_copy)
        self.tree = trees.grow(
            inside_copy,
            self.selection.kept,
            TREE_DEPTH,
            leaf=trees.label_leaf,
            min_leaf=TREE_MIN_LEAF,
        )
        return self

    def prepare(self, rows: Sequence[Row]) -> list[Row]:
        """Return copies of `rows` as the tree sees them."""
        prepared = _copy(rows)
        for step in self.steps:
            step.apply(prepared)
        return prepared

    def accuracy(self, rows: Sequence[Row]) -> float:
        """Return the share of rows whose label the chain gets right."""
        return trees.accuracy(self.tree, self.prepare(rows))


def _copy(rows: Sequence[Row]) -> list[Row]:
    return [dict(row) for row in rows]
