"""The scale on which scores travel: z = ln(p / (1 - p)), and back.

A probability close to 0 or 1 runs out of doubles long before the score behind it does (naive Bayes
reaches |z| of about 200, where p is exactly 1): ranking, log loss and calibrators work on z.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def expit(z: ArrayLike) -> NDArray[np.float64]:
    """The probability 1 / (1 + exp(-z)); exact to rounding in both tails, no overflow.

    Parameters
    ----------
    z : logits of any shape, infinity allowed.
    """
    logits = np.asarray(z, dtype=np.float64)
    tail = np.exp(-np.abs(logits))
    return np.where(logits >= 0.0, 1.0, tail) / (1.0 + tail)


def logit(p: ArrayLike, clip: float | None = None) -> NDArray[np.float64]:
    """The log odds ln(p / (1 - p)); minus and plus infinity at 0 and 1 unless clipped.

    Parameters
    ----------
    p : probabilities in [0, 1], any shape.
    clip : when given, p is first moved into [clip, 1 - clip].
    """
    probabilities = np.asarray(p, dtype=np.float64)
    if clip is not None:
        probabilities = np.clip(probabilities, clip, 1.0 - clip)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities / (1.0 - probabilities)))


def softplus(z: ArrayLike) -> NDArray[np.float64]:
    """ln(1 + exp(z)), which is -ln(1 - expit(z)): the log loss of a wrong answer; no overflow."""
    logits = np.asarray(z, dtype=np.float64)
    return np.maximum(logits, 0.0) + np.log1p(np.exp(-np.abs(logits)))
