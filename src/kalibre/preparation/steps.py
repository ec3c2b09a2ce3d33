"""The lessons' own preparation steps, with scikit-learn's fit/transform interface.

Each step learns something from rows (`fit`) and applies it to any rows (`transform`); whether it
may see the label, and from which rows it learns, is what leakage is about. They take and give a
pandas DataFrame.

Sources: the cross-validation lesson's classes for filling, target coding and selection; Tukey
(1977), *Exploratory Data Analysis*, for the fences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kalibre.models.gini import best_root_gain
from kalibre.preparation.frames import require_frame


class FrameStep(TransformerMixin, BaseEstimator):
    """A step on a DataFrame that gives back the columns it got, unless it says otherwise."""

    uses_label = False

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, too, whether the step needs the label."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.uses_label
        tags.input_tags.allow_nan = True
        return tags

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self, "feature_names_in_")
        return np.asarray(self.feature_names_in_, dtype=object)

    def _note_columns(self, rows: object) -> pd.DataFrame:
        frame = require_frame(rows, self)
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        return frame

    def _same_columns(self, rows: object) -> pd.DataFrame:
        check_is_fitted(self, "feature_names_in_")
        frame = require_frame(rows, self)
        if list(frame.columns) != list(self.feature_names_in_):
            raise ValueError(
                f"{type(self).__name__} learned from columns {list(self.feature_names_in_)}, "
                f"found {list(frame.columns)}"
            )
        return frame


class UpperMedianFill(FrameStep):
    """Fill missing values with the upper median, `v[len(v) // 2]` of the sorted values that are
    there.

    The ordinary median of an even number of values may be a value that nobody has; the upper one is
    always a value that occurs.
    """

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Learn each column's upper median.

        Raises
        ------
        ValueError
            If a column has no value at all.
        """
        frame = self._note_columns(X)
        self.medians_: dict[str, float] = {}
        for name in frame.columns:
            values = np.sort(frame[name].dropna().to_numpy(dtype=np.float64))
            if not len(values):
                raise ValueError(
                    f"column {name!r} has no value in the {len(frame)} rows to learn from"
                )
            self.medians_[name] = values[len(values) // 2].item()
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns without missing values."""
        return self._same_columns(X).fillna(self.medians_)


class MeanTargetCode(FrameStep):
    """Replace a code by the mean outcome of the rows that carry it, a code never seen by the
    overall rate.

    The value is written with Python's `round`, as the lesson does, and a missing code counts as one
    never seen. Nothing is shrunk or cross-fitted: a code of one row becomes that row's label, which
    is why this step leaks when it learns from rows that are measured later.

    Parameters
    ----------
    names : mapping of str to str, optional
        Column to the name of the column that replaces it; by default `<column>_target`.
    digits : int
        Decimals kept.
    """

    uses_label = True

    def __init__(self, names: Mapping[str, str] | None = None, digits: int = 4) -> None:
        self.names = names
        self.digits = digits

    def fit(self, X: pd.DataFrame, y: ArrayLike) -> Self:
        """Learn each code's mean outcome.

        Raises
        ------
        ValueError
            If `names` speaks of a column that is not there, or there are no rows.
        """
        frame = self._note_columns(X)
        outcomes = np.asarray(y, dtype=np.float64)
        if not len(outcomes):
            raise ValueError("no rows to learn a mean outcome from")
        strange = set(self.names or {}) - set(frame.columns)
        if strange:
            raise ValueError(f"names speaks of {sorted(strange)}, not among {list(frame.columns)}")
        self.overall_ = round(float(outcomes.sum()) / len(outcomes), self.digits)
        self.codes_ = {name: self._means(frame[name], outcomes) for name in frame.columns}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """One column of mean outcomes for each column of codes."""
        frame = self._same_columns(X)
        coded = {}
        for name, new in zip(frame.columns, self.get_feature_names_out(), strict=True):
            values, means = self.codes_[name]
            # One look-up per distinct code, not per row.
            position = pd.Index(values).get_indexer(frame[name])
            # Position -1, a code never seen, takes the last entry.
            coded[new] = np.append(means, self.overall_)[position]
        return pd.DataFrame(coded, index=frame.index)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the columns that `transform` gives."""
        columns = super().get_feature_names_out()
        names = self.names or {}
        return np.array([names.get(name, f"{name}_target") for name in columns], dtype=object)

    def _means(
        self, codes: pd.Series, outcomes: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        position, values = pd.factorize(codes)
        known = position >= 0
        rows = np.bincount(position[known], minlength=len(values))
        positive = np.bincount(position[known], weights=outcomes[known], minlength=len(values))
        means = [
            round(p / n, self.digits) for p, n in zip(positive.tolist(), rows.tolist(), strict=True)
        ]
        return np.asarray(values), np.array(means, dtype=np.float64)


class RootGainSelect(FrameStep):
    """Keep the columns that would lower Gini impurity by enough if a tree began with them.

    A column's gain is that of its best decile threshold with at least `min_side` rows on either
    side. The columns that are kept stand in the order in which they came.

    Parameters
    ----------
    min_gain : float
        Smallest gain, in [0, 0.5], that keeps a column.
    min_side : int
        Fewest rows on either side of a threshold that counts.
    """

    uses_label = True

    def __init__(self, min_gain: float = 0.004, min_side: int = 20) -> None:
        self.min_gain = min_gain
        self.min_side = min_side

    def fit(self, X: pd.DataFrame, y: ArrayLike) -> Self:
        """Learn which columns to keep; it may be that none is worth keeping."""
        frame = self._note_columns(X)
        outcomes = np.asarray(y)
        self.gains_ = {
            name: best_root_gain(frame[name].to_numpy(), outcomes, self.min_side)
            for name in frame.columns
        }
        self.kept_ = [name for name, gain in self.gains_.items() if gain >= self.min_gain]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The kept columns."""
        return self._same_columns(X)[self.kept_]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the kept columns."""
        check_is_fitted(self, "kept_")
        return np.asarray(self.kept_, dtype=object)


class TukeyFences(FrameStep):
    """Move values beyond Tukey's fences onto the fence.

    The fences stand `width` interquartile ranges below the first and above the third quartile
    (quartiles by linear interpolation) of the rows the step learns from.

    Parameters
    ----------
    width : float
        Interquartile ranges between a quartile and its fence.
    """

    def __init__(self, width: float = 1.5) -> None:
        self.width = width

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Learn the fences of each column."""
        frame = self._note_columns(X)
        values = frame.astype(float)
        first, third = values.quantile(0.25).to_numpy(), values.quantile(0.75).to_numpy()
        self.lower_ = first - self.width * (third - first)
        self.upper_ = third + self.width * (third - first)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The columns, no value beyond its fences; missing values stay missing."""
        return self._same_columns(X).astype(float).clip(self.lower_, self.upper_, axis="columns")
