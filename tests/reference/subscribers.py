"""Which subscribers does a lesson work on?

The subscriber table of the lessons on probability calibration (seed 000) and on cross-validation
(seed 002) is synthetic: every subscriber has hash-seeded streams of their own, so the table is a
function of two constants, the seed and the number of candidates. Here both lessons' tables are
one table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from reference.arithmetic import add_up

SEED = 20260218
CANDIDATES = 1400
TRAIN_ROWS = 756
VALIDATION_ROWS = 252

# The drift of the label along the numbers is spread over the span of 1,400 candidates. It is a
# constant of its own and stays when another number of candidates is drawn.
DRIFT_SPAN = 1399
FIRST_NUMBER = 10001

READINGS_STREAM = 7000
TARIFF_STREAM = 21000
LABEL_STREAM = 51000
SEAL_STREAM = 61000
SHUFFLE_STREAM = 90000

Row = dict[str, Any]
Item = TypeVar("Item")


class Region(NamedTuple):
    """A supply region: its share of the subscribers, usual consumption and pull on the label."""

    name: str
    share: float
    usual_consumption: int
    pull: float


REGIONS = (
    Region("north", 0.28, 21, 0.00),
    Region("south", 0.22, 17, -0.10),
    Region("east", 0.18, 26, 0.30),
    Region("west", 0.14, 14, -0.05),
    Region("centre", 0.18, 23, 0.05),
)
HOUSEHOLD_SHARES = (0.06, 0.24, 0.30, 0.24, 0.11, 0.05)
SATISFACTION_SHARES = (0.08, 0.14, 0.27, 0.34, 0.17)
PERIOD_SHARES = (0.05, 0.12, 0.21, 0.62)

BASE_COLUMNS = (
    "mean_consumption",
    "volatility",
    "household",
    "satisfaction",
    "periods",
    "zero_reading",
    *(f"region_{region.name}" for region in REGIONS),
)
"""The eleven columns every lesson of the course starts from, in the order trees try them."""

MODEL_COLUMNS = (*BASE_COLUMNS[:6], "per_person", *BASE_COLUMNS[6:])
"""The twelve columns of the calibration lesson, in its order."""


class Stream:
    """A linear congruential generator whose 32-bit state starts from a hash of its seed."""

    _MASK = 0xFFFFFFFF

    def __init__(self, seed: int) -> None:
        mixed = ((seed ^ (seed >> 16)) * 2246822507) & self._MASK
        mixed = ((mixed ^ (mixed >> 13)) * 3266489909) & self._MASK
        self._state = (mixed ^ (mixed >> 16)) & self._MASK

    def draw(self) -> float:
        """Return the next number in [0, 1)."""
        self._state = (self._state * 1664525 + 1013904223) & self._MASK
        return self._state / 4294967296

    def noise(self) -> float:
        """Return the sum of three draws, centred on zero."""
        return self.draw() + self.draw() + self.draw() - 1.5

    def choose(self, shares: Sequence[float]) -> int:
        """Return a position drawn with the given shares, by one draw."""
        return pick(self.draw(), shares)


def pick(number: float, shares: Sequence[float]) -> int:
    """Return the first position whose cumulated share lies above `number`, or else the last."""
    reached = 0.0
    for position, share in enumerate(shares):
        reached += share
        if number < reached:
            return position
    return len(shares) - 1


def generate(seed: int = SEED, candidates: int = CANDIDATES) -> list[Row]:
    """Return the subscriber table, in order of `id`.

    Parameters
    ----------
    seed
        The lessons' constant from which every stream is counted.
    candidates
        Subscribers drawn before those without a record or without a reading are dropped.

    Returns
    -------
    list of dict
        One dictionary a subscriber. `satisfaction` is the clean column; `satisfaction_masked`
        is None where the lesson on folds hides it.
    """
    rows = []
    for position in range(candidates):
        person = _enrol(seed, position)
        if person is None:
            continue
        readings = _read_meter(seed, person)
        if readings:
            rows.append(_describe(seed, person, readings))
    return rows


class _Person(NamedTuple):
    number: int
    region: Region
    household: int
    satisfaction: int


def _enrol(seed: int, position: int) -> _Person | None:
    stream = Stream(seed + position)
    region = REGIONS[stream.choose([region.share for region in REGIONS])]
    household = 1 + stream.choose(HOUSEHOLD_SHARES)
    satisfaction = 1 + stream.choose(SATISFACTION_SHARES)
    if stream.draw() < 0.046:
        return None
    return _Person(FIRST_NUMBER + position, region, household, satisfaction)


def _read_meter(seed: int, person: _Person) -> list[float]:
    stream = Stream(seed + READINGS_STREAM + person.number)
    readings = []
    for period in range(stream.choose(PERIOD_SHARES)):
        if stream.draw() < 0.038:
            readings.append(0.0)
        else:
            scatter = math.exp(stream.noise() * 0.62)
            hundredths = person.region.usual_consumption * scatter * (1 - period * 0.05) * 100
            # Half up: the built-in round would send a half to the even neighbour.
            readings.append(math.floor(hundredths + 0.5) / 100)
        stream.draw()
    return readings


def _describe(seed: int, person: _Person, readings: list[float]) -> Row:
    mean_consumption = add_up(readings) / len(readings)
    volatility = max(readings) - min(readings)
    suspicious = int(_risk(seed, person, readings, mean_consumption, volatility) > 1.35)
    row: Row = {
        "id": person.number,
        "region": person.region.name,
        "household": person.household,
        "satisfaction": person.satisfaction,
        "periods": len(readings),
        "mean_consumption": round(mean_consumption, 2),
        "volatility": round(volatility, 2),
        "zero_reading": int(min(readings) == 0.0),
        "suspicious": suspicious,
    }
    row["per_person"] = round(row["mean_consumption"] / person.household, 3)
    for region in REGIONS:
        row[f"region_{region.name}"] = int(region is person.region)
    row.update(_seal(seed, person, suspicious))
    row.update(_tariff_and_mask(seed, person))
    return row


def _risk(
    seed: int,
    person: _Person,
    readings: list[float],
    mean_consumption: float,
    volatility: float,
) -> float:
    stream = Stream(seed + LABEL_STREAM + person.number)
    risk = 0.052 * (mean_consumption - 20)
    risk += 0.85 * (min(readings) == 0.0)
    risk += 0.026 * volatility
    risk += 0.24 * (person.household >= 5)
    risk -= 0.20 * (person.satisfaction >= 4)
    risk += person.region.pull
    risk += 0.9 * (person.number - FIRST_NUMBER) / DRIFT_SPAN
    risk += stream.noise() * 1.30
    return risk


def _seal(seed: int, person: _Person, suspicious: int) -> Row:
    stream = Stream(seed + SEAL_STREAM + person.number)
    stream.draw()
    stream.draw()
    return {"seal_broken": int(stream.draw() < (0.42 if suspicious else 0.10))}


def _tariff_and_mask(seed: int, person: _Person) -> Row:
    stream = Stream(seed + TARIFF_STREAM + person.number)
    block = 24 * REGIONS.index(person.region) + 4 * (person.household - 1)
    tariff_code = block + int(stream.draw() * 4)
    hidden = stream.draw() < 0.08
    return {
        "tariff_code": tariff_code,
        "satisfaction_masked": None if hidden else person.satisfaction,
    }


def shuffled_positions(count: int, seed: int) -> list[int]:
    """Return the positions 0 to `count` - 1 in shuffled order (Fisher and Yates, from the end)."""
    stream, positions = Stream(seed), list(range(count))
    for last in range(count - 1, 0, -1):
        other = int(stream.draw() * (last + 1))
        positions[last], positions[other] = positions[other], positions[last]
    return positions


def shuffle(items: Sequence[Item], seed: int) -> list[Item]:
    """Return `items` in the order of :func:`shuffled_positions` for this seed."""
    return [items[position] for position in shuffled_positions(len(items), seed)]


class Parts(NamedTuple):
    """The three parts of a lesson's split; `pool` is the first two, in shuffled order."""

    train: list[Row]
    validation: list[Row]
    test: list[Row]

    @property
    def pool(self) -> list[Row]:
        return self.train + self.validation


def split(rows: Sequence[Row], seed: int = SEED) -> Parts:
    """Return the lesson's split of a table generated with this seed.

    The sizes of the first two parts do not depend on the table: what is left is the test part.
    """
    shuffled = shuffle(rows, seed + SHUFFLE_STREAM)
    end = TRAIN_ROWS + VALIDATION_ROWS
    return Parts(shuffled[:TRAIN_ROWS], shuffled[TRAIN_ROWS:end], shuffled[end:])
