"""One cut of rows in which both sides have each label's share, to the row scikit-learn's.

The biopsy lesson's study cuts with ``train_test_split(..., stratify=..., random_state=seed)``. A study
of thousands of splits cuts thousands of times, and there most of that call's time goes into checks of
its input. Here the same draws are made in the same order from the same generator, so the rows and their
order are the same; a test compares the two.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


def stratified_cut(codes: Positions, *, wanted: int, seed: int) -> tuple[Positions, Positions]:
    """Cut rows in two.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        The label of each row as a whole number from 0; each label that occurs at least twice.
    wanted : int
        Rows of the part that is cut off; both sides have at least as many rows as there are labels.
    seed : int
        0 <= seed < 2**32.

    Returns
    -------
    left, cut : ndarray of int64
        Positions of the rows that are left and of those cut off, in the order scikit-learn gives them.
    """
    random = _generator()
    random.seed(seed)
    counts = np.bincount(codes)
    # A label that no longer occurs takes no draw there, and must not take one here.
    counts = counts[counts > 0]
    by_label = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    kept = _shares(counts, len(codes) - wanted, random)
    taken = _shares(counts - kept, wanted, random)
    left, cut = [], []
    for rows, keep, take in zip(by_label, kept.tolist(), taken.tolist(), strict=True):
        drawn = rows[random.permutation(len(rows))]
        left.append(drawn[:keep])
        cut.append(drawn[keep : keep + take])
    return random.permutation(np.concatenate(left)), random.permutation(np.concatenate(cut))


@cache
def _generator() -> np.random.RandomState:
    """The legacy generator, from which scikit-learn draws; making one takes as long as a whole cut."""
    return np.random.RandomState(0)


def _shares(counts: Positions, wanted: int, random: np.random.RandomState) -> Positions:
    """How many of the wanted rows each label gives: its share, the largest remainders rounded up.

    Labels of equal remainder draw lots.
    """
    exact = counts / counts.sum() * wanted
    shares = np.floor(exact)
    missing = int(wanted - shares.sum())
    if missing > 0:
        remainder = exact - shares
        for value in sorted(set(remainder.tolist()), reverse=True):
            equal = np.flatnonzero(remainder == value)
            rounded_up = min(len(equal), missing)
            # Drawn even where there is nothing to choose: the draws that follow depend on it.
            shares[random.choice(equal, size=rounded_up, replace=False)] += 1
            missing -= rounded_up
            if missing == 0:
                break
    return shares.astype(np.int64)
