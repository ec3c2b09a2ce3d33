"""Steps that mend records row by row, and one that turns a note into numbers.

They learn nothing from other rows, so it makes no difference to a score whether they come before or
after a split. Sign errors need no step of ours: `sklearn.preprocessing.FunctionTransformer` with
`numpy.absolute` mends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kalibre.preparation.frames import check_columns
from kalibre.preparation.steps import FrameStep


class RestoreUnit(FrameStep):
    """Divide the values of a record that was written in a smaller unit.

    The record is recognised by one column whose size cannot be in the right unit; all the step's
    columns of that record are then divided, since small values alone cannot tell.

    Parameters
    ----------
    told_by : str
        The column that tells, one of the step's columns.
    above : float
        The record is in the smaller unit where the absolute value of `told_by` is above this.
    factor : float
        Smaller units in one unit.
    digits : int
        Decimals the right unit is written with.
    """

    def __init__(self, told_by: str, above: float, factor: float = 1000.0, digits: int = 2) -> None:
        self.told_by = told_by
        self.above = above
        self.factor = factor
        self.digits = digits

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Only look at the columns."""
        check_columns([self.told_by], self._note_columns(X).columns, "the step RestoreUnit")
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns in one unit."""
        frame = self._same_columns(X).astype(float)
        wrong = (frame[self.told_by].abs() > self.above).to_numpy()
        restored = frame[wrong] / self.factor
        frame.loc[wrong] = restored.map(lambda value: round(value, self.digits))
        return frame


class TidyText(FrameStep):
    """Write each label in one way: no space at its ends, none doubled, small letters."""

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Only look at the columns."""
        self._note_columns(X)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns as tidy text; missing values stay missing."""
        frame = self._same_columns(X)
        return frame.apply(
            lambda column: column.astype("str").str.split().str.join(" ").str.lower()
        )


class TextNumbers(FrameStep):
    """Numbers read from a note: its length in words, the figures in it, and whether it holds each
    phrase.

    A column `note` becomes `note_words`, `note_figures` and one 0/1 column per phrase, in that
    order.

    Parameters
    ----------
    phrases : sequence of str
        Phrases looked for, without regard to case.
    """

    def __init__(self, phrases: Sequence[str] = ()) -> None:
        self.phrases = phrases

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Only look at the columns."""
        self._note_columns(X)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The numbers; a missing note counts as an empty one."""
        frame = self._same_columns(X)
        numbers: list[pd.Series] = []
        for name in frame.columns:
            text = frame[name].fillna("").astype("str").str.lower()
            numbers += [text.str.count(r"\S+"), text.str.count(r"\d+")]
            numbers += [text.str.contains(p.lower(), regex=False) for p in self.phrases]
        columns = zip(self.get_feature_names_out(), numbers, strict=True)
        return pd.DataFrame({name: column.astype(np.int64) for name, column in columns})

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the columns that `transform` gives."""
        ends = ["words", "figures", *(p.lower().replace(" ", "_") for p in self.phrases)]
        columns = super().get_feature_names_out()
        return np.array([f"{name}_{end}" for name in columns for end in ends], dtype=object)
