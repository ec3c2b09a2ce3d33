"""Were rows measured that a stage had learned from, without anybody saying so?

The preparation, the model and the measurement each have their rows. Where a stage has learned from
a row that is measured, the number is no longer that of unseen rows. A rung of the ladder does it on
purpose and says which steps; a comparison declares it; anything else stops here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kalibre.errors import InputError

Positions = NDArray[np.int64]


def overlaps(learned: Mapping[str, Positions], measured: Positions) -> dict[str, int]:
    """How many of the measured rows each stage has learned from; stages without any are left out.

    Parameters
    ----------
    learned : mapping of str to array of int
        Stage to positions of the rows it learned from.
    measured : array of int
        Positions of the rows that are measured.
    """
    rows = {stage: len(np.intersect1d(seen, measured)) for stage, seen in learned.items()}
    return {stage: count for stage, count in rows.items() if count}


def require_disjoint(
    learned: Mapping[str, Positions],
    measured: Positions,
    *,
    where: str,
    declared: str | None = None,
) -> tuple[str, ...]:
    """Stop unless the rows are disjoint, or the overlap is declared.

    Parameters
    ----------
    learned, measured
        As in `overlaps`.
    where : str
        What is being measured, for the message.
    declared : str, optional
        The reason why the overlap is there on purpose.

    Returns
    -------
    tuple of str
        A sentence for each overlap that was declared and does occur.

    Raises
    ------
    InputError
        Naming the stages and how many rows they share.
    """
    found = overlaps(learned, measured)
    if found and not declared:
        shared = "; ".join(
            f"{count} of {len(measured)} rows measured by it were learned from by {stage}"
            for stage, count in found.items()
        )
        raise InputError(
            f"{where}: {shared}; use rows that do not overlap, or declare the overlap with its "
            "reason (declared_overlap)"
        )
    return tuple(
        f"{count} of {len(measured)} measured rows were learned from by {stage}: {declared}"
        for stage, count in found.items()
    )
