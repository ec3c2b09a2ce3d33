"""Was a number measured on rows that an earlier stage had learned from?

Rows used to fit, to calibrate and to evaluate must be disjoint; only a stage that measures a leak on
purpose may declare an overlap. The check runs on the rows themselves, not on the names of parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.errors import InputError
from kalibre.scores import Scores


def check_overlap(
    scores: Scores,
    chosen: NDArray[np.bool_],
    *,
    stage: str,
    part: str,
    declared: Sequence[Mapping[str, Any]],
) -> tuple[str, ...]:
    """Compare the rows a stage is about to use with the rows earlier stages learned from.

    Parameters
    ----------
    scores : Scores
        The rows with their manifests.
    chosen : ndarray of bool, shape (n,)
        The rows the stage uses.
    stage : {"calibrate", "evaluate"}
        The stage that is about to use them.
    part : str
        The part the rows come from.
    declared : sequence of mapping
        The experiment's `declared_overlap`.

    Returns
    -------
    tuple of str
        One sentence per declared overlap that does occur, for the record.

    Raises
    ------
    InputError
        If rows overlap and the overlap is not declared.
    """
    earlier = {"fit": scores.fitted}
    if stage == "evaluate":
        earlier["calibrate"] = scores.calibrated
    said = []
    for other, seen in earlier.items():
        rows = int(np.count_nonzero(seen & chosen))
        if not rows:
            continue
        reason = _reason(declared, {other, stage}, part)
        if reason is None:
            raise InputError(
                f"{rows} of {int(np.count_nonzero(chosen))} rows of part {part!r} are used both to "
                f"{other} and to {stage}; use parts that do not overlap, or declare it in the "
                f"experiment file: declared_overlap: [{{stages: [{other}, {stage}], part: {part}, "
                f"reason: ...}}]"
            )
        said.append(f"{rows} rows of part {part} used to {other} and to {stage}: {reason}")
    return tuple(said)


def _reason(declared: Sequence[Mapping[str, Any]], stages: set[str], part: str) -> str | None:
    for overlap in declared:
        if set(overlap["stages"]) == stages and overlap["part"] == part:
            return str(overlap["reason"])
    return None
