"""Which splits does one process do?

A study's splits are cut into shards that do not depend on how many splits there are in all: more splits
later add shards, and only a last one that was cut short is done again. Starting a process costs as much as
some hundred splits of a small model, a killed shard has to be done again, and a study should fill all cores
from the start; so a shard is as large as all those before it together, at least `SMALLEST` and at most what
the experiment allows. A shard is named by its seeds, which with the settings decide all that is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SMALLEST = 50
PATTERN = r"seeds_\d+_to_\d+"
"""Regular expression of a shard's name."""


@dataclass(frozen=True)
class Shard:
    """The seeds `first` to `first + count - 1`."""

    first: int
    count: int

    @property
    def name(self) -> str:
        """The shard's name, which is its folder's."""
        return f"seeds_{self.first}_to_{self.first + self.count - 1}"

    @property
    def seeds(self) -> range:
        """The seeds of its splits."""
        return range(self.first, self.first + self.count)

    @classmethod
    def named(cls, name: str) -> Shard:
        """The shard of this name.

        Raises
        ------
        ValueError
            If it is not a shard's name.
        """
        first, last = (0, -1)
        if re.fullmatch(PATTERN, name):
            first, last = (int(number) for number in re.findall(r"\d+", name))
        if last < first:
            raise ValueError(f"{name!r} is no shard; shards are named like seeds_0_to_49")
        return cls(first, last - first + 1)


def extent(splits: int, *, first_seed: int = 0, most: int) -> str:
    """A whole study in one word, from which `shards_of` makes its shards again."""
    return f"{Shard(first_seed, splits).name}_by_{most}"


def shards_of(extent: str) -> list[Shard]:
    """The shards of the study that `extent` wrote down."""
    name, _, most = extent.partition("_by_")
    whole = Shard.named(name)
    return shards(whole.count, first_seed=whole.first, most=int(most))


def shards(splits: int, *, first_seed: int = 0, most: int) -> list[Shard]:
    """The shards of a study.

    Parameters
    ----------
    splits : int
        Number of splits.
    first_seed : int
        Seed of the first one.
    most : int
        Most splits of one shard.
    """
    made = []
    done = 0
    while done < splits:
        count = min(max(done, SMALLEST), most, splits - done)
        made.append(Shard(first_seed + done, count))
        done += count
    return made
