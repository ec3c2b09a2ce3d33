"""Sums in a fixed order: what makes an oracle's last digit the same everywhere.

Since Python 3.12 the built-in ``sum`` compensates rounding errors of floats. The lessons were
written for a plain running total, so the oracles add up by hand and give the same doubles under
every Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def add_up(values: Iterable[float]) -> float:
    """Return the running total of `values`, added from left to right starting from zero."""
    total = 0.0
    for value in values:
        total += value
    return total


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean of `values`; an empty sequence raises ZeroDivisionError."""
    return add_up(values) / len(values)


def spread(values: Sequence[float]) -> float:
    """Return the population standard deviation of `values`."""
    centre = mean(values)
    return mean([(value - centre) ** 2 for value in values]) ** 0.5
