"""Maps that learn nothing: the score as it is, and the score made overconfident on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kalibre.calibrators.base import Calibrator, Fitted, Floats
from kalibre.checks import check_number


@dataclass(frozen=True)
class FittedNone(Fitted):
    """The score as it is."""

    method: ClassVar[str] = "none"

    def map_logits(self, logits: Floats) -> Floats:
        """The logits unchanged."""
        return logits

    def transform(self, probabilities: ArrayLike, logits: ArrayLike) -> tuple[Floats, Floats]:
        """Both unchanged, to the last bit."""
        return np.asarray(probabilities, dtype=np.float64), np.asarray(logits, dtype=np.float64)


@dataclass(frozen=True)
class Uncalibrated(Calibrator):
    """No calibration: what the others are compared with."""

    name: ClassVar[str] = "none"
    learns: ClassVar[bool] = False

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedNone:
        return FittedNone()


@dataclass(frozen=True)
class FittedSharpening(Fitted):
    """Logits times `power`."""

    method: ClassVar[str] = "sharpen"

    power: float = 3.0

    def map_logits(self, logits: Floats) -> Floats:
        """The logits times the power: p^power / (p^power + (1 - p)^power) in probabilities."""
        return self.power * logits


@dataclass(frozen=True)
class Sharpening(Calibrator):
    """Push every probability away from 0.5 and keep the order (below 1: towards 0.5).

    A demonstration: ROC AUC stays what it was, calibration does not.
    """

    name: ClassVar[str] = "sharpen"
    learns: ClassVar[bool] = False

    power: float = 3.0

    def __post_init__(self) -> None:
        check_number(self.power, "sharpen power", low=0.0, low_allowed=False)

    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> FittedSharpening:
        return FittedSharpening(power=float(self.power))
