"""A fitted model and its fitted calibrators as one classifier: what an audit has measured, ready for use.

It is a scikit-learn estimator that gives the audit's own probabilities, takes the columns of the audit's
table, and is made of plain numbers and the model itself, so that it can be saved without pickling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from kalibre.calibrators.registry import fitted_from_dict
from kalibre.data.kinds import days_since_1970
from kalibre.fitting import score
from kalibre.preparation.frames import check_columns

THRESHOLD = 0.5


class CalibratedClassifier(ClassifierMixin, BaseEstimator):
    """A model and the calibrators its scores pass through, all fitted.

    Parameters
    ----------
    estimator : object
        A fitted classifier of the outcomes 0 and 1.
    calibrators : sequence of mapping
        Fitted calibrators as plain built-ins, in the order in which they are applied.
    columns : sequence of str
        The columns the model was fitted on, in its order.
    categories : mapping of str to sequence of str
        The columns of text, and the texts there were.

    Attributes
    ----------
    classes_ : ndarray
        0 and 1, in the order of the columns of `predict_proba`.
    feature_names_in_ : ndarray of str
        The columns.
    """

    def __init__(
        self,
        estimator: Any,
        calibrators: Sequence[Mapping[str, Any]] = (),
        columns: Sequence[str] = (),
        categories: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrators = calibrators
        self.columns = columns
        self.categories = categories

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The outcomes: 1 is the positive label."""
        return np.array([0, 1])

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The columns the model takes."""
        return np.array(list(self.columns), dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns the model takes."""
        return len(self.columns)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Leave everything as it is: model and calibrators are those that were measured."""
        return self

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.float64]:
        """Calibrated probabilities of the outcomes 0 and 1, shape (n, 2).

        Parameters
        ----------
        X : DataFrame with the columns by name, or an array with them in order
            Text as text or categoricals, dates as dates or as days since 1970-01-01.

        Raises
        ------
        InputError
            If a column is missing.
        """
        probability, z, _ = score(self.estimator, self._frame(X))
        for content in self.calibrators:
            probability, z = fitted_from_dict(content).transform(probability, z)
        return np.column_stack([1.0 - probability, probability])

    def predict(self, X: pd.DataFrame | ArrayLike) -> NDArray[np.int64]:
        """1 where the calibrated probability is at least 0.5, else 0."""
        return (self.predict_proba(X)[:, 1] >= THRESHOLD).astype(np.int64)

    def _frame(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """The rows as the model saw them when it was fitted."""
        if not isinstance(X, pd.DataFrame):
            X = pd.DataFrame(np.asarray(X), columns=list(self.columns))
        check_columns(self.columns, X.columns, "the table given to the model")
        frame = X[list(self.columns)]
        changed: dict[str, Any] = {
            name: _categorical(frame[name], names)
            for name, names in (self.categories or {}).items()
        }
        changed |= {
            name: days_since_1970(frame[name].to_numpy())
            for name in frame.select_dtypes("datetime").columns
        }
        return frame.assign(**changed) if changed else frame


def _categorical(column: pd.Series, names: Sequence[str]) -> pd.Series:
    """Text with the categories there were; a text never seen comes after them."""
    known = list(names)
    present = column.dropna().unique().tolist()
    new = sorted(str(value) for value in present if str(value) not in set(known))
    texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    return pd.Series(pd.Categorical(texts, categories=known + new), index=column.index)
