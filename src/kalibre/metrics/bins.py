"""Which bin does a probability belong to? The one place that decides it.

"ECE with ten bins" is not one number: libraries differ in the closed side of a bin, in what happens
at 0 and 1, and in floating-point edges. The contract here:

- a bin is closed on the left, the last one on both sides;
- equal-width edges are the doubles j / k, and a probability is compared with them. (`linspace` puts
  0.6 and 0.7 one bin low at k = 10, `int(p * k)` puts 0.29 one bin low at k = 100.)
- own edges may end in a single point: 0.6, 0.8, 1.0, 1.0 give [0.6, 0.8), [0.8, 1.0) and [1.0];
- equal-mass edges lie at observed values, so that equal predictions never part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import as_numbers, check_count, check_weights

_CLOSED = "closed on the left, the last on both sides"
# A chunk's temporaries stay in the second-level cache, which halves the time on large arrays.
CHUNK = 1 << 15


@dataclass(frozen=True)
class EqualWidth:
    """`count` bins of equal width over [0, 1], with the doubles j / count as edges."""

    count: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", check_count(self.count, "bin count"))

    def edges(
        self, probabilities: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The count + 1 edges; they depend on no prediction."""
        return _unit_edges(self.count)

    def describe(self) -> str:
        """The rule in words, to stand beside every number it leads to."""
        return f"{self.count} bins of equal width, edges j/{self.count}, {_CLOSED}"


@dataclass(frozen=True)
class EqualMass:
    """At most `count` bins over [0, 1] that hold about equal weight; ties are never parted.

    A bin ends at the first observed value below which the cumulative weight has reached j / count;
    that value opens the next bin. Edges that coincide are merged, so heavy ties leave fewer bins.
    """

    count: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", check_count(self.count, "bin count"))

    def edges(
        self, probabilities: ArrayLike, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The edges for these predictions, from 0 to 1; rows of weight 0 count as absent."""
        values = as_numbers(probabilities, "probabilities")
        checked = check_weights(weights, values.size)
        if checked is None:
            ordered = np.sort(values)
            starts = _shares_by_rows(values.size, self.count)
        else:
            present = checked > 0.0
            order = np.argsort(values[present], kind="stable")
            ordered = values[present][order]
            starts = _shares_by_weight(checked[present][order], self.count)
        inner = _next_distinct(ordered, starts)
        return np.concatenate(([0.0], inner, [1.0]))

    def describe(self) -> str:
        """The rule in words, to stand beside every number it leads to."""
        return (
            f"{self.count} bins of equal mass asked for, edges at the observed values below which "
            f"the cumulative weight reaches j/{self.count}, ties kept together, {_CLOSED}"
        )


@dataclass(frozen=True)
class OwnEdges:
    """Bins between given edges in [0, 1]; the last edge twice makes a single-point bin."""

    given: tuple[float, ...]

    def __init__(self, edges: Sequence[float]) -> None:
        object.__setattr__(self, "given", _checked_edges(edges))

    def edges(
        self, probabilities: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """The edges as given; they depend on no prediction."""
        return np.array(self.given)

    def describe(self) -> str:
        """The rule in words, to stand beside every number it leads to."""
        shown = [repr(edge) for edge in self.given]
        if self.given[-1] == self.given[-2]:
            return (
                f"own edges {', '.join(shown[:-1])}, closed on the left, "
                f"the last bin the single point {shown[-1]}"
            )
        return f"own edges {', '.join(shown)}, {_CLOSED}"


BinRule = EqualWidth | EqualMass | OwnEdges


def as_rule(bins: int | BinRule) -> BinRule:
    """A bin rule; a positive whole number means so many bins of equal width.

    Raises
    ------
    ValueError
        Neither a rule nor a positive whole number.
    """
    if isinstance(bins, EqualWidth | EqualMass | OwnEdges):
        return bins
    return EqualWidth(bins)


def assign(probabilities: ArrayLike, edges: ArrayLike) -> NDArray[np.intp]:
    """The bin of each probability, counted from 0, and -1 where it lies outside the edges.

    Parameters
    ----------
    probabilities : shape (n,).
    edges : shape (k + 1,), as a rule's `edges` returns them.

    Raises
    ------
    ValueError
        Empty, not one-dimensional, or not a number.
    """
    values = as_numbers(probabilities, "probabilities")
    if np.isnan(values).any():
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise ValueError(f"probabilities: nan in row {row} (counted from 0), expected a number")
    borders = np.asarray(edges, dtype=np.float64)
    locate = locator(borders)
    found = np.empty(values.size, dtype=np.intp)
    for start in range(0, values.size, CHUNK):
        chunk = values[start : start + CHUNK]
        inside = np.clip(chunk, borders[0], borders[-1])
        found[start : start + CHUNK] = np.where(chunk == inside, locate(inside), -1)
    return found


def locator(edges: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.intp]]:
    """The function that finds the bins of a chunk of probabilities between these edges."""
    count = edges.size - 1
    if np.array_equal(edges, _unit_edges(count)):
        return _equal_width_locator(edges)

    def between(chunk: NDArray[np.float64]) -> NDArray[np.intp]:
        found = np.searchsorted(edges, chunk, side="right") - 1
        found[chunk == edges[-1]] = count - 1
        found[chunk > edges[-1]] = -1
        return found

    return between


def _equal_width_locator(
    edges: NDArray[np.float64],
) -> Callable[[NDArray[np.float64]], NDArray[np.intp]]:
    """A multiplication guesses the bin, a comparison with the true edges corrects it by one.

    The guess is never further off: p * k and j / k are each rounded once.
    """
    count = edges.size - 1
    lower = edges[:-1].copy()
    upper = edges[1:].copy()
    upper[-1] = np.inf

    def guess_and_compare(chunk: NDArray[np.float64]) -> NDArray[np.intp]:
        found = (chunk * count).astype(np.intp)
        np.minimum(found, count - 1, out=found)
        too_high = chunk < lower[found]
        too_low = chunk >= upper[found]
        found -= too_high
        found += too_low
        return found

    return guess_and_compare


def _unit_edges(count: int) -> NDArray[np.float64]:
    return np.arange(count + 1) / count


def _shares_by_rows(rows: int, count: int) -> NDArray[np.intp]:
    """The first sorted position with at least j / count of the rows before it, in whole numbers."""
    shares = np.arange(1, count, dtype=np.int64)
    return np.unique(-(-shares * rows // count)).astype(np.intp)


def _shares_by_weight(ordered: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    reached = np.cumsum(ordered)
    shares = np.arange(1, count) / count * reached[-1]
    # A sum of weights such as 0.1 may fall short of its share by rounding alone.
    slack = 1e-12 * reached[-1]
    return np.unique(np.searchsorted(reached, shares - slack, side="left") + 1).astype(np.intp)


def _next_distinct(ordered: NDArray[np.float64], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """The values at the sorted positions, each moved up past the ties it would part."""
    starts = starts[starts < ordered.size]
    parted = ordered[starts] == ordered[starts - 1]
    starts[parted] = np.searchsorted(ordered, ordered[starts[parted]], side="right")
    return np.unique(ordered[starts[starts < ordered.size]])


def _checked_edges(edges: Sequence[float]) -> tuple[float, ...]:
    values = as_numbers(edges, "bin edges")
    if values.size < 2:
        raise ValueError(f"bin edges: found {values.tolist()}, expected at least two")
    if not (values.min() >= 0.0 and values.max() <= 1.0):
        wrong = values[~((values >= 0.0) & (values <= 1.0))][0]
        raise ValueError(f"bin edges: found {float(wrong)!r}, expected numbers in [0, 1]")
    steps = np.diff(values)
    rising = steps > 0.0
    rising[-1] = steps[-1] >= 0.0
    if not rising.all():
        place = int(np.flatnonzero(~rising)[0])
        raise ValueError(
            f"bin edges: {float(values[place])!r} is followed by {float(values[place + 1])!r}, "
            "expected rising edges (only the last may stand twice, for a bin that is one point)"
        )
    return tuple(values.tolist())
