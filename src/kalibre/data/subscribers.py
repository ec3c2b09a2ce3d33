"""The lessons' subscribers: an invented table of water meters, some of them suspicious.

Every lesson on subscribers begins by making this table anew from a seed. Candidates are drawn, some
never answer (4.6 %), some have no reading; for the rest the label follows from consumption,
household, satisfaction, region, time and noise. The table holds the columns that any of the
lessons uses; its values equal those of the lessons' own code for every seed and every number of
candidates, to the last bit.

Source: the opening code of the probability calibration and cross-validation lessons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kalibre.data.streams import Streams, check_seed, discrete

REGIONS = ("north", "south", "east", "west", "centre")
_REGION_SHARE = (0.28, 0.22, 0.18, 0.14, 0.18)
_REGION_CONSUMPTION = np.array([21.0, 17.0, 26.0, 14.0, 23.0])
_REGION_EFFECT = np.array([0.00, -0.10, 0.30, -0.05, 0.05])

_HOUSEHOLD_SHARE = (0.06, 0.24, 0.30, 0.24, 0.11, 0.05)
_SATISFACTION_SHARE = (0.08, 0.14, 0.27, 0.34, 0.17)
_READINGS_SHARE = (0.05, 0.12, 0.21, 0.62)
_NO_ANSWER = 0.046
_ZERO_READING = 0.038
_SATISFACTION_MISSING = 0.08
_SEAL_BROKEN = {True: 0.42, False: 0.10}
_SUSPICIOUS_ABOVE = 1.35

_FIRST_ID = 10001
# The label drifts with the id. The lessons divide by the last position of their 1,400 candidates
# and keep that number when the candidates are more or fewer.
_DRIFT_SPAN = 1399

# Offsets of the streams: each purpose of a subscriber has its own.
_READINGS_STREAM = 7_000
_TARIFF_STREAM = 21_000
_LABEL_STREAM = 51_000
_SEAL_STREAM = 61_000

Columns = dict[str, NDArray[np.generic]]


def generate_subscribers(*, seed: int, candidates: int) -> Columns:
    """The subscriber table of a seed.

    Parameters
    ----------
    seed : int
        The lessons' is 20260218.
    candidates : int
        Subscribers drawn before any are dropped, at least 1; the lessons' is 1400, of which 1260
        remain.

    Returns
    -------
    dict of str to array
        In column order: `id`, `region` (one of `REGIONS`), `household` (1 to 6 people),
        `satisfaction` (1 to 5), `satisfaction_masked` (the same as float, NaN in about 8 %),
        `periods` (readings, 1 to 3), `mean_consumption` and `volatility` (range of the readings;
        two decimals), `zero_reading` (0 or 1), `per_person` (three decimals), one 0/1 column
        `region_<name>` per region, `seal_broken` (0 or 1), `tariff_code` (0 to 119),
        `suspicious` (0 or 1, the label). Rows are in the order of `id`.

    Raises
    ------
    ValueError
        If the seed is not a whole number or the candidates are not a positive one.
    """
    seed = check_seed(seed)
    if isinstance(candidates, bool) or not isinstance(candidates, (int, np.integer)):
        raise ValueError(f"candidates is {candidates!r}; it must be a whole number")
    if candidates < 1:
        raise ValueError(f"candidates is {candidates}; it must be at least 1")
    answered = _candidates(seed, int(candidates))
    readings, periods = _readings(seed, answered["id"], answered["region"])
    measured = periods > 0
    people = {name: column[measured] for name, column in answered.items()}
    return _table(seed, people, readings[measured], periods[measured])


def _candidates(seed: int, count: int) -> dict[str, NDArray[np.int64]]:
    """Those of the candidates who answered; `region` as a position in `REGIONS`."""
    position = np.arange(count, dtype=np.int64)
    streams = Streams(seed + position)
    region = discrete(streams.draw(), _REGION_SHARE)
    household = 1 + discrete(streams.draw(), _HOUSEHOLD_SHARE)
    satisfaction = 1 + discrete(streams.draw(), _SATISFACTION_SHARE)
    answered = streams.draw() >= _NO_ANSWER
    columns = {"id": _FIRST_ID + position, "region": region}
    columns |= {"household": household, "satisfaction": satisfaction}
    return {name: column[answered] for name, column in columns.items()}


def _readings(
    seed: int, ids: NDArray[np.int64], region: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Readings, shape (n, 3) and 0 where there is none, and how many there are of each."""
    streams = Streams(seed + _READINGS_STREAM + ids)
    periods = discrete(streams.draw(), _READINGS_SHARE)
    readings = np.zeros((len(ids), len(_READINGS_SHARE) - 1))
    for period in range(readings.shape[1]):
        taken = np.flatnonzero(periods > period)
        flowing = taken[streams.draw(taken) >= _ZERO_READING]
        spread = _three_draws(streams, flowing) * 0.62
        level = _REGION_CONSUMPTION[region[flowing]] * _exp(spread) * (1 - period * 0.05)
        readings[flowing, period] = np.floor(level * 100 + 0.5) / 100
        streams.draw(taken)
    return readings, periods


def _table(
    seed: int,
    people: dict[str, NDArray[np.int64]],
    readings: NDArray[np.float64],
    periods: NDArray[np.int64],
) -> Columns:
    region, household = people["region"], people["household"]
    # Absent readings are 0, which changes neither a sum nor the largest value. Added from first to
    # last, as the lessons do.
    mean = ((readings[:, 0] + readings[:, 1]) + readings[:, 2]) / periods
    lowest = np.where(np.arange(readings.shape[1]) < periods[:, None], readings, np.inf).min(axis=1)
    volatility = readings.max(axis=1) - lowest
    zero_reading = lowest == 0.0
    suspicious = _suspicious(seed, people, mean, volatility, zero_reading)
    tariff_code, masked = _tariff_and_mask(seed, people)
    mean_consumption = _rounded(mean, 2)
    table: Columns = {
        "id": people["id"],
        "region": np.array(REGIONS)[region],
        "household": household,
        "satisfaction": people["satisfaction"],
        "satisfaction_masked": np.where(masked, np.nan, people["satisfaction"]),
        "periods": periods,
        "mean_consumption": mean_consumption,
        "volatility": _rounded(volatility, 2),
        "zero_reading": zero_reading.astype(np.int64),
        "per_person": _rounded(mean_consumption / household, 3),
    }
    table |= {f"region_{name}": np.int64(1) * (region == i) for i, name in enumerate(REGIONS)}
    table["seal_broken"] = _seal_broken(seed, people["id"], suspicious)
    table["tariff_code"] = tariff_code
    table["suspicious"] = suspicious.astype(np.int64)
    return table


def _suspicious(
    seed: int,
    people: dict[str, NDArray[np.int64]],
    mean: NDArray[np.float64],
    volatility: NDArray[np.float64],
    zero_reading: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    noise = _three_draws(Streams(seed + _LABEL_STREAM + people["id"]))
    score = (
        0.052 * (mean - 20)
        + 0.85 * zero_reading
        + 0.026 * volatility
        + 0.24 * (people["household"] >= 5)
        - 0.20 * (people["satisfaction"] >= 4)
        + _REGION_EFFECT[people["region"]]
        + 0.9 * (people["id"] - _FIRST_ID) / _DRIFT_SPAN
        + noise * 1.30
    )
    return score > _SUSPICIOUS_ABOVE


def _seal_broken(
    seed: int, ids: NDArray[np.int64], suspicious: NDArray[np.bool_]
) -> NDArray[np.int64]:
    streams = Streams(seed + _SEAL_STREAM + ids)
    streams.draw()
    streams.draw()
    chance = np.where(suspicious, _SEAL_BROKEN[True], _SEAL_BROKEN[False])
    return (streams.draw() < chance).astype(np.int64)


def _tariff_and_mask(
    seed: int, people: dict[str, NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The tariff code, and whether the satisfaction of the row is missing."""
    streams = Streams(seed + _TARIFF_STREAM + people["id"])
    variant = (streams.draw() * 4).astype(np.int64)
    code = 24 * people["region"] + 4 * (people["household"] - 1) + variant
    return code, streams.draw() < _SATISFACTION_MISSING


def _three_draws(streams: Streams, among: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
    """Three draws of each stream added up and centred: bell-shaped, between -1.5 and 1.5."""
    return streams.draw(among) + streams.draw(among) + streams.draw(among) - 1.5


def _exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # NumPy's own exp differs from the C library's, which the lessons use, in the last bit of about
    # one value in twenty.
    return np.fromiter(map(math.exp, values.tolist()), dtype=np.float64, count=len(values))


def _rounded(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Python's ``round(value, digits)`` of each value: the decimal nearest to the double itself.

    Away from the middle between two decimals, the nearest integer of the scaled value is certain,
    and its quotient by the power of ten is the double nearest to that decimal. Near the middle the
    scaling's own rounding could decide, so these few go through Python's function.
    """
    scale = 10.0**digits
    scaled = values * scale
    result = np.rint(scaled) / scale
    doubtful = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6)
    result[doubtful] = [round(value, digits) for value in values[doubtful].tolist()]
    return result
