"""The calibration error without bins: smooth ECE.

Błasiok and Nakkiran (2024), "Smooth ECE: principled reliability diagrams via kernel smoothing",
International Conference on Learning Representations. The residuals y - p are smoothed over p with
a Gaussian kernel reflected at 0 and 1; smooth ECE at bandwidth s is the integral of the absolute
smoothed residual. It falls as s grows, so that there is one bandwidth at which it equals s: that
value is both the error and the resolution it is measured at. Nothing is left to choose.

Reflected smoothing damps the cosine of frequency k by exp(-(pi k s)^2 / 2): one Fourier transform of
the residuals on a fine grid serves every bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import Predictions, check_count, check_predictions
from kalibre.metrics.bins import CHUNK
from kalibre.statistics.rows import batch_rows, steady_order

Floats = NDArray[np.float64]

GRID = 1 << 13
"""Steps of the grid; residuals are shared between the two points beside them."""
NARROWEST = 1e-3
"""The smallest bandwidth; below it the grid would show."""
_COARSE_GRID = 1 << 10
_HALVINGS = 18


@dataclass(frozen=True)
class SmoothBand:
    """Smooth ECE of a perfectly calibrated model; see `kalibre.statistics.null_band.NullBand`."""

    mean: float
    lower: float
    median: float
    upper: float
    p_value: float
    simulations: int


def smooth_ece(
    outcomes: ArrayLike, probabilities: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Smooth ECE at the bandwidth it equals, in [0, 1]; to about 1e-5.

    Parameters
    ----------
    outcomes : shape (n,), 0 or 1.
    probabilities : shape (n,), of outcome 1, in [0, 1].
    weights : shape (n,); integer weights give what repeated rows would.

    Returns
    -------
    float
        Where even the narrowest bandwidth gives less than itself, the value at that bandwidth.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    masses = _on_grid(checked)
    return float(_fixed_point(_spectrum(masses[None, :]))[0])


def smooth_ece_at(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    bandwidth: float,
    weights: ArrayLike | None = None,
) -> float:
    """Smooth ECE at a bandwidth of one's own, from `NARROWEST` on.

    Raises
    ------
    ValueError
        As `kalibre.checks.check_predictions`; a bandwidth below `NARROWEST`.
    """
    if not bandwidth >= NARROWEST:
        raise ValueError(f"bandwidth: found {bandwidth!r}, expected at least {NARROWEST}")
    checked = check_predictions(outcomes, probabilities, weights=weights)
    masses = _on_grid(checked)
    return float(_smoothed(_spectrum(masses[None, :]), np.array([bandwidth]))[0])


def smooth_band(
    outcomes: ArrayLike,
    probabilities: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    seed: int,
    simulations: int = 200,
) -> SmoothBand:
    """The null band of smooth ECE, as `kalibre.statistics.null_band` has it for bins.

    Residuals stand on a grid of 1/1024. Without weights, outcomes are drawn for all rows of a grid
    point at once.
    """
    checked = check_predictions(outcomes, probabilities, weights=weights)
    check_count(simulations, "simulations")
    places = np.rint(checked.probabilities * _COARSE_GRID).astype(np.intp)
    measured = _fixed_point(_spectrum(_measured_masses(checked, places)[None, :]))[0]
    generator = np.random.default_rng(seed)
    masses = _null_masses if checked.weights is None else _weighted_null_masses
    drawn = np.concatenate(
        [
            _fixed_point(_spectrum(batch))
            for batch in masses(checked, places, generator, simulations)
        ]
    )
    lower, median, upper = np.quantile(drawn, [0.05, 0.5, 0.95])
    reached = int(np.count_nonzero(drawn >= measured - 1e-12))
    return SmoothBand(
        mean=float(drawn.mean()),
        lower=float(lower),
        median=float(median),
        upper=float(upper),
        p_value=(reached + 1) / (simulations + 1),
        simulations=simulations,
    )


def _on_grid(checked: Predictions) -> Floats:
    """Residuals over the total weight, each shared between the two grid points beside it."""
    masses = np.zeros(GRID + 1)
    for start in range(0, checked.probabilities.size, CHUNK):
        chunk = slice(start, start + CHUNK)
        said = checked.probabilities[chunk]
        residual = said - checked.outcomes[chunk]
        if checked.weights is not None:
            residual *= checked.weights[chunk]
        place = said * GRID
        left = np.minimum(place.astype(np.intp), GRID - 1)
        part = residual * (place - left)
        masses += np.bincount(left, weights=residual - part, minlength=GRID + 1)
        masses[1:] += np.bincount(left, weights=part, minlength=GRID)
    return masses / _total(checked)


def _measured_masses(checked: Predictions, places: NDArray[np.intp]) -> Floats:
    residuals = checked.probabilities - checked.outcomes
    if checked.weights is not None:
        residuals = residuals * checked.weights
    masses = np.bincount(places, weights=residuals, minlength=_COARSE_GRID + 1)
    return np.asarray(masses / _total(checked))


def _null_masses(
    checked: Predictions,
    places: NDArray[np.intp],
    generator: np.random.Generator,
    simulations: int,
) -> Iterator[Floats]:
    """Residuals at the grid points when every row of a point happens with its mean probability."""
    counts = np.bincount(places, minlength=_COARSE_GRID + 1)
    said = np.bincount(places, weights=checked.probabilities, minlength=_COARSE_GRID + 1)
    means = np.clip(said / np.maximum(counts, 1), 0.0, 1.0)
    step = batch_rows(counts.size)
    for start in range(0, simulations, step):
        draws = min(step, simulations - start)
        happened = generator.binomial(counts, means, size=(draws, counts.size))
        yield (said - happened) / _total(checked)


def _weighted_null_masses(
    checked: Predictions,
    places: NDArray[np.intp],
    generator: np.random.Generator,
    simulations: int,
) -> Iterator[Floats]:
    """The same row by row: a row of weight 5 happens or not, five times over."""
    assert checked.weights is not None
    order = steady_order(checked.probabilities, checked.weights)
    said, weights = checked.probabilities[order], checked.weights[order]
    for _ in range(simulations):
        residuals = weights * (said - (generator.random(said.size) < said))
        masses = np.bincount(places[order], weights=residuals, minlength=_COARSE_GRID + 1)
        yield masses[None, :] / _total(checked)


def _total(checked: Predictions) -> float:
    if checked.weights is None:
        return float(checked.probabilities.size)
    return float(checked.weights.sum())


def _spectrum(masses: Floats) -> Floats:
    """Cosine coefficients of each row's masses, mirrored at both ends."""
    ends = masses.copy()
    ends[:, [0, -1]] *= 2.0
    mirrored = np.concatenate([ends, masses[:, -2:0:-1]], axis=1)
    return np.fft.rfft(mirrored, axis=1).real


def _smoothed(spectrum: Floats, bandwidths: Floats) -> Floats:
    """Integral of the absolute smoothed residual, each row at its own bandwidth."""
    frequencies = np.pi * np.arange(spectrum.shape[1])
    damping = np.exp(-0.5 * np.square(bandwidths[:, None] * frequencies))
    sizes = np.abs(np.fft.irfft(spectrum * damping, axis=1)[:, : spectrum.shape[1]])
    return np.asarray(sizes.sum(axis=1) - 0.5 * (sizes[:, 0] + sizes[:, -1]))


def _fixed_point(spectrum: Floats) -> Floats:
    """The error at the bandwidth it equals, by halving: it falls where the bandwidth rises."""
    low = np.full(len(spectrum), NARROWEST)
    high = np.ones(len(spectrum))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = _smoothed(spectrum, middle) > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _smoothed(spectrum, low)
