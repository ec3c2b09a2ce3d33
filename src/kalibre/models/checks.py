"""What the lessons' classifiers accept: two classes, weights, and numbers within their range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight


def two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in ascending order, and 1 for each row of the last one, 0 for the others.

    Raises
    ------
    ValueError
        If there are more than two classes, or the labels are not classes.
    """
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        check_classification_targets(y)
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    classes, codes = np.unique(y, return_inverse=True)
    return classes, (codes == len(classes) - 1).astype(np.int64)


def check_weight(weight: ArrayLike, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of the rows of `X`.

    Raises
    ------
    ValueError
        If there is not one weight a row, or one is negative or not finite, or all are 0.
    """
    return _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)


def whole_number(name: str, value: Any, *, least: int) -> int:
    """The value, if it is a whole number of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number from {least}")
    return int(value)


def positive_number(name: str, value: Any, *, most: float = math.inf) -> float:
    """The value, if it is a number above 0, finite and at most `most`."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
    if not number or not 0 < value <= most or value == math.inf:
        allowed = "a finite number above 0" if most == math.inf else f"above 0 and at most {most:g}"
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")
    return float(value)
