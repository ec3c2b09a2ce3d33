"""Resamples as counts: how often does each row stand in it?

A bootstrap sample of n rows drawn with replacement is fully told by n counts, so that a mean
becomes a weighted mean and no row is ever copied. Rows that belong together (a household, a
patient) are drawn together, or the interval would take copies for news. A stratified draw keeps the
number of rows of each outcome. Counts come in batches, so that memory does not grow with the number
of resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalibre.statistics.rows import batch_rows

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

JACKKNIFE_BLOCKS = 200
"""Blocks of a grouped jackknife; with fewer rows than that each row is a block."""


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn: rows, rows within strata, or groups of rows.

    Attributes
    ----------
    strata : for each stratum, the positions of its units; together all units once.
    group : for each row its unit, or None where each row is its own.
    rows : number of rows.
    """

    strata: tuple[Positions, ...]
    group: Positions | None
    rows: int

    @classmethod
    def of_rows(cls, rows: int) -> Units:
        """Each row is drawn for itself."""
        return cls((np.arange(rows),), None, rows)

    @classmethod
    def of_strata(cls, labels: NDArray[np.generic]) -> Units:
        """Rows are drawn within each value of `labels`, as many as there are."""
        values = np.unique(labels)
        strata = tuple(np.flatnonzero(labels == value) for value in values)
        return cls(strata, None, labels.size)

    @classmethod
    def of_groups(cls, group: Positions) -> Units:
        """Rows of one group, numbered from 0, are drawn together."""
        return cls((np.arange(int(group.max()) + 1),), group, group.size)

    @property
    def count(self) -> int:
        """The number of units."""
        return sum(stratum.size for stratum in self.strata)

    def to_rows(self, counts: Floats) -> Floats:
        """Counts of units, shape (b, units), as counts of rows, shape (b, n)."""
        return counts if self.group is None else counts[:, self.group]


def resamples(units: Units, number: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Counts of each row in bootstrap samples, batch by batch.

    Yields
    ------
    ndarray of float64, shape (b, n)
        One sample a row; all batches together are `number` samples.
    """
    step = batch_rows(units.rows)
    for start in range(0, number, step):
        size = min(step, number - start)
        yield units.to_rows(_drawn_counts(units, size, generator))


def jackknife(units: Units, generator: np.random.Generator) -> Iterator[Floats]:
    """Counts of each row when one block of units after the other is left out.

    With at most `JACKKNIFE_BLOCKS` units each is a block; otherwise units are dealt to that many
    blocks at random, each stratum evenly.
    """
    blocks = min(JACKKNIFE_BLOCKS, units.count)
    block = np.empty(units.count, dtype=np.intp)
    dealt = 0
    for stratum in units.strata:
        shuffled = generator.permutation(stratum) if blocks < units.count else stratum
        block[shuffled] = (dealt + np.arange(stratum.size)) % blocks
        dealt += stratum.size
    step = batch_rows(units.rows)
    for start in range(0, blocks, step):
        left_out = np.arange(start, min(start + step, blocks))
        yield units.to_rows((block != left_out[:, None]).astype(np.float64))


def _drawn_counts(units: Units, samples: int, generator: np.random.Generator) -> Floats:
    if len(units.strata) == 1:
        return _drawn(units.count, samples, generator).astype(np.float64)
    counts = np.empty((samples, units.count))
    for stratum in units.strata:
        counts[:, stratum] = _drawn(stratum.size, samples, generator)
    return counts


def _drawn(units: int, samples: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """How often each of `units` is drawn in `units` draws with replacement, for each sample."""
    drawn = generator.integers(0, units, size=(samples, units))
    if samples > 1:
        drawn += np.arange(samples)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=samples * units).reshape(samples, units)
