"""The lessons' decision tree: which few questions part the positive rows from the others?

A binary tree by Gini impurity whose candidate thresholds are few: all values of a column but the
smallest where there are fewer than ten, otherwise nine of its deciles. Columns are tried in order
and the first of equally good splits wins, so that a tree is a function of its training rows alone.
A leaf's probability is the share of positives among its training rows, which is why the tree looks
perfectly calibrated where it learned.

Source: the function ``agac`` of the probability calibration and cross-validation lessons.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kalibre.models.checks import check_weight, two_classes, whole_number
from kalibre.models.gini import best_root_gain, decile_thresholds
from kalibre.models.growth import LEAF, grow

__all__ = ["GiniTree", "best_root_gain", "decile_thresholds"]


class GiniTree(ClassifierMixin, BaseEstimator):
    """The lessons' decision tree for two classes.

    Parameters
    ----------
    max_depth : int, default 8
        Splits on a path, from 0 (a single leaf).
    min_leaf : int, default 2
        Fewest training rows on either side of a split, from 1.

    Attributes
    ----------
    classes_ : ndarray
        The classes in ascending order; the last is the positive one.
    feature_ : ndarray of int64, shape (nodes,)
        Column a node asks for, -1 in a leaf. Nodes are numbered level by level, the root is 0.
    threshold_ : ndarray of float64, shape (nodes,)
        A row with a smaller value goes left, any other right; NaN in a leaf.
    left_, right_ : ndarray of int64, shape (nodes,)
        Node numbers, -1 in a leaf.
    probability_ : ndarray of float64, shape (nodes,)
        Share of positives among the training rows of each node.
    rows_ : ndarray of float64, shape (nodes,)
        Training rows of each node (their weight, if there are weights).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Values are only compared, so rescaling a column changes no decision. A whole weight is that many
    copies of the row; other weights too count in the place of rows, also for `min_leaf`.

    Examples
    --------
    >>> tree = GiniTree(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> float(tree.threshold_[0])
    3.0
    >>> tree.predict_proba([[2.5]]).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, *, max_depth: int = 8, min_leaf: int = 2) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or frame, shape (n, columns)
            Finite numbers.
        y : array, shape (n,)
            Two classes, the later in sorting order being positive. One class alone makes a leaf.
        sample_weight : array, shape (n,), optional
            Not negative; rows of weight 0 are left out.

        Raises
        ------
        ValueError
            For more than two classes, values that are not finite, and parameters out of range.
        """
        depth = whole_number("max_depth", self.max_depth, least=0)
        smallest = whole_number("min_leaf", self.min_leaf, least=1)
        values, target = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = two_classes(target)
        weight = None
        if sample_weight is not None:
            weight = check_weight(sample_weight, values)
            kept = weight > 0
            values, labels, weight = values[kept], labels[kept], weight[kept]
        nodes = grow(values, labels, weight, max_depth=depth, min_leaf=smallest)
        self.feature_, self.threshold_ = nodes.feature, nodes.threshold
        self.left_, self.right_ = nodes.left, nodes.right
        self.rows_, self.probability_ = nodes.rows, nodes.positives / nodes.rows
        return self

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """The leaf that each row falls into, as a node number."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        node = np.zeros(len(values), dtype=np.int64)
        moving = np.flatnonzero(self.feature_[node] != LEAF)
        while len(moving):
            at = node[moving]
            below = values[moving, self.feature_[at]] < self.threshold_[at]
            node[moving] = np.where(below, self.left_[at], self.right_[at])
            moving = moving[self.feature_[node[moving]] != LEAF]
        return node

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class, one column per entry of `classes_`."""
        leaves = self.apply(X)
        if len(self.classes_) == 1:
            return np.ones((len(leaves), 1))
        positive = self.probability_[leaves]
        return np.column_stack([1 - positive, positive])

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`, minus infinity where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The positive class where its share is above one half, otherwise the other one."""
        share = self.predict_proba(X)[:, -1]
        return self.classes_[np.where(share > 0.5, len(self.classes_) - 1, 0)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
