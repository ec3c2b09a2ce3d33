"""How many rows does a calibrator need? The same calibrator, learned on fewer rows of its part.

The rows are nested: those of a smaller number are among those of a larger one, so that what changes between
two numbers is what the further rows add. Both outcomes keep their share as nearly as whole rows allow; a
draw without regard to it would leave some small numbers of rows with one outcome only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.errors import InputError

_STREAM = 0x0F_E3E5
"""Parts these draws from those of the split with the same seed."""


def check_enough(asked: Sequence[int], part: str, rows: int) -> None:
    """Refuse to learn on more rows than a part has.

    Parameters
    ----------
    asked : sequence of int
        Numbers of rows a calibrator is to be learned on.
    part : str
        The part.
    rows : int
        How many rows it has.

    Raises
    ------
    InputError
        If one of them is larger.
    """
    if max(asked, default=0) > rows:
        raise InputError(
            f"repeats.calibration_rows: {max(asked)} rows asked for, and part {part!r} has {rows}; give "
            "smaller numbers"
        )


def nested_order(outcomes: ArrayLike, seed: int) -> NDArray[np.int64]:
    """An order of rows each beginning of which is a stratified draw.

    Parameters
    ----------
    outcomes : array, shape (n,)
        0 or 1.
    seed : int
        Seed of the split, 0 <= seed.

    Returns
    -------
    ndarray of int64, shape (n,)
        Positions.
    """
    happened = np.asarray(outcomes) == 1
    random = np.random.default_rng([seed, _STREAM])
    place = np.empty(len(happened))
    for chosen in (~happened, happened):
        count = int(np.count_nonzero(chosen))
        place[chosen] = (random.permutation(count) + 0.5) / max(count, 1)
    return np.argsort(place, kind="stable").astype(np.int64)
