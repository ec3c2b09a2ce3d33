"""Is this input something a calibration measure has a meaning for?

Every public function of the engine passes its arrays through here, so that a wrong value is
refused where it enters, with a `ValueError` that says what was found, where, and what is allowed.
The lesson on the Brier score asks for exactly this: no empty input, no unequal lengths, no
probability outside [0, 1], no label but 0 and 1, no bin count but a positive whole number.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Predictions(NamedTuple):
    """Outcomes and probabilities that passed the checks, one entry a row."""

    outcomes: NDArray[np.int8]
    probabilities: NDArray[np.float64]
    weights: NDArray[np.float64] | None


class Scores(NamedTuple):
    """Outcomes and scores on any scale (logits may be infinite) that passed the checks."""

    outcomes: NDArray[np.int8]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None


def check_predictions(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> Predictions:
    """Outcomes as int8, probabilities and weights as float64, or a message that says what is wrong.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1 (True and False count as such).
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,), finite and not negative, not all zero; None counts every row once.

    Raises
    ------
    ValueError
        Empty, unequal lengths, not one-dimensional, a probability outside [0, 1] or not finite,
        a label other than 0 and 1, a negative or infinite weight. Rows are counted from 0.
    """
    values = as_numbers(probabilities, "probabilities")
    labels = _labels(outcomes)
    _same_length(labels, values, "probabilities")
    low, high = values.min(), values.max()
    if not (low >= 0.0 and high <= 1.0):
        raise ValueError(_outside_unit_interval(values))
    return Predictions(labels, values, check_weights(weights, values.size))


def check_scores(
    outcomes: ArrayLike, scores: ArrayLike, *, weights: ArrayLike | None = None
) -> Scores:
    """The same for scores that only order the rows: any number but NaN, infinity allowed.

    Raises
    ------
    ValueError
        As `check_predictions`, with NaN in place of the unit interval.
    """
    values = as_numbers(scores, "scores")
    labels = _labels(outcomes)
    _same_length(labels, values, "scores")
    if np.isnan(values.min()):
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise ValueError(f"scores: nan in row {row} (counted from 0), expected a number")
    return Scores(labels, values, check_weights(weights, values.size))


def check_weights(weights: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """Weights as float64, one a row, or None.

    Raises
    ------
    ValueError
        Other than `rows` entries, a weight that is negative or not finite, or a sum of zero.
    """
    if weights is None:
        return None
    values = as_numbers(weights, "weights")
    if values.size != rows:
        raise ValueError(f"weights: {values.size} values for {rows} rows, expected one a row")
    wrong = np.flatnonzero(~((values >= 0.0) & (values < np.inf)))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"weights: {float(values[row])!r} in row {row} (counted from 0), "
            f"expected a finite number of at least 0{_more(wrong.size)}"
        )
    total = float(values.sum())
    if not 0.0 < total < np.inf:
        raise ValueError(f"weights: their sum is {total!r}, expected a positive finite number")
    return values


def check_count(value: Any, name: str) -> int:
    """A positive whole number as int; True is not a number.

    Raises
    ------
    ValueError
        Anything else, 10.0 and "10" included.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise ValueError(f"{name}: found {value!r}, expected a positive whole number")
    return operator.index(value)


def check_number(
    value: Any, name: str, *, low: float, high: float = np.inf, low_allowed: bool = True
) -> float:
    """A finite number between `low` and `high` as float; True is not a number.

    Raises
    ------
    ValueError
        Anything else, text that looks like a number included.
    """
    number = isinstance(value, int | float | np.integer | np.floating)
    if number and not isinstance(value, bool) and np.isfinite(value):
        above = value >= low if low_allowed else value > low
        if above and value <= high:
            return float(value)
    least = f"at least {low:g}" if low_allowed else f"above {low:g}"
    most = "" if high == np.inf else f" and at most {high:g}"
    raise ValueError(f"{name}: found {value!r}, expected a finite number {least}{most}")


def as_numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A one-dimensional, non-empty float64 array; text, booleans and None are not read as numbers.

    Raises
    ------
    ValueError
        Not one-dimensional, empty, or an entry that is not a number.
    """
    array = _one_dimension(values, name)
    if array.dtype.kind not in "fiu":
        row, value = _first(array, _is_number)
        if row is not None:
            raise ValueError(
                f"{name}: {_shown(value)} in row {row} (counted from 0), expected a number"
            )
    return np.ascontiguousarray(array, dtype=np.float64)


def _labels(outcomes: ArrayLike) -> NDArray[np.int8]:
    array = _one_dimension(outcomes, "outcomes")
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.kind not in "fiu":
        row, value = _first(array, _is_label)
        if row is not None:
            raise ValueError(_wrong_label(value, row))
        return array.astype(np.int8)
    wrong = None
    if array.dtype.kind == "f":
        fits = (array == 0) | (array == 1)
        wrong = None if fits.all() else int(np.flatnonzero(~fits)[0])
    elif array.min() < 0 or array.max() > 1:
        wrong = int(np.flatnonzero((array < 0) | (array > 1))[0])
    if wrong is not None:
        raise ValueError(_wrong_label(array[wrong].item(), wrong))
    return np.ascontiguousarray(array, dtype=np.int8)


def _one_dimension(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as ragged:
        raise ValueError(f"{name}: rows of unequal length, expected one value a row") from ragged
    if array.ndim != 1:
        raise ValueError(f"{name}: array of shape {array.shape}, expected one dimension")
    if array.size == 0:
        raise ValueError(f"{name}: empty, expected at least one row")
    return array


def _same_length(labels: NDArray[np.int8], values: NDArray[np.float64], name: str) -> None:
    if labels.size != values.size:
        raise ValueError(
            f"outcomes and {name}: {labels.size} and {values.size} rows, expected equal lengths"
        )


def _outside_unit_interval(values: NDArray[np.float64]) -> str:
    wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
    row = int(wrong[0])
    message = (
        f"probabilities: {float(values[row])!r} in row {row} (counted from 0), "
        f"expected a number in [0, 1]{_more(wrong.size)}"
    )
    percent = np.count_nonzero((values > 1.0) & (values <= 100.0))
    if 2 * percent > values.size:
        message += "; most values lie in (1, 100]: they look like percent, divide them by 100"
    return message


def _wrong_label(value: Any, row: int) -> str:
    return f"outcomes: {_shown(value)} in row {row} (counted from 0), expected 0 or 1"


def _more(count: int) -> str:
    return "" if count == 1 else f" ({count} such rows)"


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_label(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (_is_number(value) and value in (0, 1))


def _first(array: NDArray[Any], allowed: Any) -> tuple[int | None, Any]:
    """Row and value of the first entry that is not allowed."""
    for row, value in enumerate(array):
        if not allowed(value):
            return row, value
    return None, None
