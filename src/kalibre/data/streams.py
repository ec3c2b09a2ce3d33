"""The lessons' random numbers: which number does the stream with this seed give next?

The subscriber lessons draw every quantity from small private streams: a seed is hashed to 32 bits
and a linear congruential generator runs from there. One stream serves one subscriber and one
purpose, so that a subscriber's numbers do not hang on how many others were drawn before. Here all
streams of a purpose advance together; every draw equals the one of the lessons' own code.

Source: the function ``uretec`` of the probability calibration and cross-validation lessons. The
hash is the finaliser of MurmurHash3; the generator's constants are those of Numerical Recipes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FIRST_MIX = np.uint32(2246822507)
_SECOND_MIX = np.uint32(3266489909)
_MULTIPLIER = np.uint32(1664525)
_INCREMENT = np.uint32(1013904223)
_UNIT = np.float64(2.0**-32)

LARGEST_SEED = 2**62

Chosen = NDArray[np.bool_] | NDArray[np.intp]


def check_seed(seed: int) -> int:
    """The seed, if a stream can start from it.

    Raises
    ------
    ValueError
        If `seed` is not a whole number of at most 2**62 in size.
    """
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise ValueError(f"seed is {seed!r}; it must be a whole number")
    if abs(int(seed)) > LARGEST_SEED:
        raise ValueError(f"seed is {seed}; it must lie between -2**62 and 2**62")
    return int(seed)


def _hashed(seeds: NDArray[np.int64]) -> NDArray[np.uint32]:
    """First states. Only the low 32 bits of ``t ^ (t >> 16)`` count, at any size and sign of t."""
    mixed = (seeds ^ (seeds >> 16)).astype(np.uint32) * _FIRST_MIX
    mixed = (mixed ^ (mixed >> np.uint32(13))) * _SECOND_MIX
    return mixed ^ (mixed >> np.uint32(16))


class Streams:
    """Many independent streams, drawn from together.

    Parameters
    ----------
    seeds : array of int, shape (n,)
        One seed a stream; any 64-bit integer. Equal seeds give equal streams.
    """

    def __init__(self, seeds: ArrayLike) -> None:
        given = np.asarray(seeds)
        if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
            raise ValueError(
                f"seeds must be a list of whole numbers, found {given.dtype} of shape {given.shape}"
            )
        self._state = _hashed(given.astype(np.int64))

    def __len__(self) -> int:
        return len(self._state)

    def draw(
        self, among: NDArray[np.bool_] | NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """The next number of each stream, or only of the streams chosen by `among`.

        Parameters
        ----------
        among : array, optional
            A mask over the streams, or positions without repetition. The other streams stay
            where they are: this is how a draw that the lesson makes only under a condition is
            made here.

        Returns
        -------
        array of float, one per chosen stream
            In [0, 1), multiples of 2**-32.
        """
        chosen = slice(None) if among is None else among
        state = self._state[chosen] * _MULTIPLIER + _INCREMENT
        self._state[chosen] = state
        return state * _UNIT


def sequence(seed: int, count: int) -> NDArray[np.float64]:
    """The first `count` numbers of one stream, in [0, 1).

    The state after k steps is ``a**k * s + c * (1 + a + ... + a**(k - 1))`` modulo 2**32, so
    the steps need not be made one after the other.
    """
    first = _hashed(np.array([check_seed(seed)], dtype=np.int64))
    powers = np.full(count + 1, _MULTIPLIER, dtype=np.uint32)
    powers[0] = 1
    np.cumprod(powers, out=powers)
    sums = np.cumsum(powers[:-1], dtype=np.uint32)
    return (powers[1:] * first + sums * _INCREMENT) * _UNIT


def discrete(draws: NDArray[np.float64], weights: ArrayLike) -> NDArray[np.int64]:
    """The category each draw falls into.

    Parameters
    ----------
    draws : array of float
        In [0, 1).
    weights : sequence of float
        Share of each category. They are added from first to last; a draw beyond their sum (which
        rounding may leave below 1) belongs to the last category.

    Returns
    -------
    array of int
        Positions in `weights`.
    """
    upper = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.minimum(np.searchsorted(upper, draws, side="right"), len(upper) - 1)
