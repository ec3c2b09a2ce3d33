"""The lessons' linear model: a logistic regression learned by a fixed number of gradient steps.

Columns are standardised by the training rows, coefficients and intercept start at 0, and each round
moves them against the gradient of the mean log loss. Positive rows may weigh more. With
standardised columns 300 rounds at step 0.5 come close to the maximum of the likelihood. On raw
columns the same procedure is chaotic: the coefficients swing, and the rounding of the sums alone
decides where they stand when it stops.

Source: the function ``dogrusal`` of the probability calibration lesson.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kalibre.models.checks import check_weight, positive_number, two_classes, whole_number

Floats = NDArray[np.float64]

_LARGEST_CLIP = 700.0  # beyond it the exponential of a double overflows


class GradientDescentLogistic(ClassifierMixin, BaseEstimator):
    """The lessons' logistic regression for two classes.

    Parameters
    ----------
    rounds : int, default 300
        Gradient steps, from 1.
    step : float, default 0.5
        Step length, above 0.
    positive_weight : float, default 1.0
        Weight of a positive row in the gradient, above 0.
    clip : float, default 30.0
        The logit is clipped to [-clip, clip], while learning and in what is predicted; above 0 and
        at most 700.
    standardise : bool, default True
        Subtract each column's mean and divide by its population standard deviation (by 1 where it
        does not vary), both of the training rows. Without it the columns are taken as they are.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The classes in ascending order; the last is the positive one.
    coef_ : ndarray of float64, shape (columns,)
        Coefficients of the standardised columns.
    intercept_ : float
        Logit of a row whose standardised columns are all 0.
    mean_, scale_ : ndarray of float64, shape (columns,)
        What is subtracted from a column and what it is divided by.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Sums run over the rows from first to last and over the columns from first to last, one addition
    at a time and never by a linear algebra library, so the result hangs neither on the number of
    threads nor on that library. It does hang on the order of the rows, by rounding: hardly
    measurable on standardised columns, decisive on raw ones. To see by how much, fit the same rows
    in several orders.
    """

    def __init__(
        self,
        *,
        rounds: int = 300,
        step: float = 0.5,
        positive_weight: float = 1.0,
        clip: float = 30.0,
        standardise: bool = True,
    ) -> None:
        self.rounds = rounds
        self.step = step
        self.positive_weight = positive_weight
        self.clip = clip
        self.standardise = standardise

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array or frame, shape (n, columns)
            Finite numbers.
        y : array, shape (n,)
            Two classes, the later in sorting order being positive.
        sample_weight : array, shape (n,), optional
            Not negative. Weights also count in the means and standard deviations: a whole weight is
            that many copies of the row.

        Raises
        ------
        ValueError
            For another number of classes than two, values that are not finite, and parameters out
            of range.
        """
        rounds = whole_number("rounds", self.rounds, least=1)
        step = positive_number("step", self.step)
        clip = positive_number("clip", self.clip, most=_LARGEST_CLIP)
        positive_weight = positive_number("positive_weight", self.positive_weight)
        values, target = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = two_classes(target)
        if len(self.classes_) < 2:
            raise ValueError(
                f"all {len(target)} rows are of one class, {self.classes_[0]!r}; the model needs "
                "rows of two classes"
            )
        weight = np.ones(len(target))
        if sample_weight is not None:
            weight = check_weight(sample_weight, values)
        self.mean_, self.scale_ = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if self.standardise:
            self.mean_, self.scale_ = _mean_and_scale(values, weight)
        self.coef_, self.intercept_ = _descend(
            (values - self.mean_) / self.scale_,
            labels,
            weight * np.where(labels == 1, positive_weight, 1.0),
            rounds=rounds,
            step=step,
            clip=clip,
        )
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """The logit of the positive class, within [-clip, clip]."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        columns = ((values - self.mean_) / self.scale_).T
        return np.clip(_logit(columns, self.coef_, self.intercept_), -self.clip, self.clip)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probability of each class, one column per entry of `classes_`."""
        positive = _sigmoid(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Logarithm of the probabilities, taken from the logit: exact also close to 0 and 1."""
        z = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0, z), -np.logaddexp(0, -z)])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The positive class where its probability is at least one half."""
        positive = _sigmoid(self.decision_function(X)) >= 0.5
        return self.classes_[positive.astype(np.int64)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _mean_and_scale(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    total = weight.sum()
    mean = _down(X * weight[:, None]) / total
    scale = np.sqrt(_down((X - mean) ** 2 * weight[:, None]) / total)
    return mean, np.where(scale == 0.0, 1.0, scale)


def _descend(
    X: Floats, labels: NDArray[np.int64], weight: Floats, *, rounds: int, step: float, clip: float
) -> tuple[Floats, float]:
    columns = np.ascontiguousarray(X.T)
    # A last column of ones has the intercept's gradient.
    widened = np.column_stack([X, np.ones(len(X))])
    coefficients, intercept, total = np.zeros(len(columns)), 0.0, weight.sum()
    for _ in range(rounds):
        z = np.clip(_logit(columns, coefficients, intercept), -clip, clip)
        errors = (_sigmoid(z) - labels) * weight
        move = step * _down(widened * errors[:, None]) / total
        intercept -= float(move[-1])
        coefficients -= move[:-1]
    return coefficients, intercept


def _logit(columns: Floats, coefficients: Floats, intercept: float) -> Floats:
    """Logits from `columns` of shape (columns, n)."""
    return intercept + _down(columns * coefficients[:, None])


def _sigmoid(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-z))


def _down(values: Floats) -> Floats:
    """Sums of the columns of a matrix, each added up from the first row to the last."""
    return np.add.reduce(values, axis=0)
