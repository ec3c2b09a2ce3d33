"""How many independent rows stand behind a number, and in which order are they drawn?

A weight counts as repetition in a point estimate, but not in what can be concluded from it: a row
of weight 5 is one draw, not five. Kish (1965), *Survey Sampling*, section 11.7: the number of rows
of equal weight that would be as informative is (sum of weights) squared / sum of squared weights.

Everything that draws at random puts the rows in a fixed order first, so that the order in which
they arrive changes no result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_weights

Floats = NDArray[np.float64]

CELLS = 1 << 17
"""Random draws held at a time, whatever the number of rows: a megabyte, which caches well."""


def effective_rows(rows: int, *, weights: ArrayLike | None = None) -> float:
    """Kish's effective number of rows, at most `rows` and equal to it without weights.

    Parameters
    ----------
    rows : number of rows.
    weights : shape (rows,); the scale does not matter.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_weights`.
    """
    checked = check_weights(weights, rows)
    if checked is None:
        return float(rows)
    # Divided by the largest first, so that no square overflows.
    shares = checked / checked.max()
    return float(shares.sum() ** 2 / np.square(shares).sum())


def steady_order(*columns: NDArray[np.generic] | None) -> NDArray[np.intp]:
    """An order of the rows that depends on their values alone, by the first column first.

    Rows that are equal in every column are interchangeable.
    """
    given = [column for column in columns if column is not None]
    return np.asarray(np.lexsort(given[::-1]), dtype=np.intp)


def batch_rows(rows: int) -> int:
    """How many draws of so many rows are made at a time."""
    return max(1, CELLS // max(rows, 1))
