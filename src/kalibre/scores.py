"""Scores: what one model says of each row, with what happened and which stage learned from the row.

The table travels from the model through its calibrators to the evaluation. Probability and logit travel
together: a naive Bayes probability saturates to exactly 0 or 1 where its logit still orders the rows, and a
tree's 1/5 is exact as a probability but not as the inverse of its logit. The columns `fitted` and
`calibrated` are the row manifests: they say which rows an earlier stage has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns

Floats = NDArray[np.float64]

OUT_OF_FOLD = "out_of_fold"
"""In the place of a part a calibrator is learned on: the model's training rows, each scored by a model that
did not learn from it."""


@dataclass(frozen=True)
class Scores:
    """One row per scored row of the table, in the order the split gives them.

    Attributes
    ----------
    row : ndarray of int64, shape (n,)
        Position of the row in the experiment's table.
    part : Categories
        The part of the split.
    outcome : ndarray of int8, shape (n,)
        1 where the positive label happened.
    probability : ndarray of float64, shape (n,)
        Probability of the positive class, in [0, 1].
    logit : ndarray of float64, shape (n,)
        The same on the logit scale, infinite at 0 and 1.
    uncalibrated_logit : ndarray of float64, shape (n,)
        The model's own logit, before any calibrator.
    fitted, calibrated : ndarray of bool, shape (n,)
        The model, or a calibrator on the way, learned from this row.
    weight : ndarray of float64, shape (n,), or None
        Row weights.
    group : Categories, or None
        What rows belong together; a resample takes a whole group or none of it.
    """

    row: NDArray[np.int64]
    part: Categories
    outcome: NDArray[np.int8]
    probability: Floats
    logit: Floats
    uncalibrated_logit: Floats
    fitted: NDArray[np.bool_]
    calibrated: NDArray[np.bool_]
    weight: Floats | None = None
    group: Categories | None = None

    @classmethod
    def from_columns(cls, columns: Columns) -> Scores:
        """Take the columns of a scores table."""
        return cls(**columns)  # type: ignore[arg-type]

    def to_columns(self) -> Columns:
        """The columns of the scores table; `weight` and `group` only where there are any."""
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: column for name, column in columns.items() if column is not None}

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: NDArray[np.bool_]) -> Scores:
        """The chosen rows."""
        if chosen.all():
            return self
        columns = self.to_columns()
        return Scores(
            **{
                name: column.take(chosen) if isinstance(column, Categories) else column[chosen]
                for name, column in columns.items()
            }  # type: ignore[arg-type]
        )

    def in_parts(self, parts: Sequence[str]) -> NDArray[np.bool_]:
        """True for rows in one of the parts."""
        return self.part.isin(parts)

    def calibrate(self, probability: Floats, logit: Floats, learned: NDArray[np.bool_]) -> Scores:
        """The same rows with another probability, learned from the rows marked."""
        return replace(
            self, probability=probability, logit=logit, calibrated=self.calibrated | learned
        )
