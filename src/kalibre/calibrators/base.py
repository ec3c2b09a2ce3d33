"""What every calibrator is: learned from logits and outcomes, applied to logits, nothing else seen.

A calibrator maps a score to a truer one. Here scores are logits, so that a map that keeps the order
keeps it exactly where probabilities have long rounded to 0 or 1. `Calibrator` is a method with its
settings; `fit` gives a `Fitted`, which is plain numbers and survives a round trip through JSON.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalibre.checks import check_scores
from kalibre.logits import expit

Floats = NDArray[np.float64]

# The probability 1e-6 away from certainty that the contract clips at, as a logit: 13.8155.
CLIP = 1e-6
CLIP_LOGIT = float(np.log((1.0 - CLIP) / CLIP))


@dataclass(frozen=True)
class Fitted(ABC):
    """A calibrator that has been learned: numbers only, and what a person should know about them.

    Attributes
    ----------
    notes : warnings in words: too few rows, a bound that was hit, scores that were clipped.
    """

    method: ClassVar[str]

    notes: tuple[str, ...] = ()

    @abstractmethod
    def map_logits(self, logits: Floats) -> Floats:
        """The calibrated logits; infinity is allowed on both sides."""

    def transform(self, probabilities: ArrayLike, logits: ArrayLike) -> tuple[Floats, Floats]:
        """Calibrated probabilities and logits of rows whose own are given, both of shape (n,)."""
        mapped = self.map_logits(np.asarray(logits, dtype=np.float64))
        return expit(mapped), mapped

    def parameters(self) -> dict[str, float]:
        """The learned numbers worth reporting, by their standard names."""
        return {
            field.name: float(getattr(self, field.name))
            for field in fields(self)
            if field.name != "notes"
        }

    def to_dict(self) -> dict[str, Any]:
        """The method's name and every number, ready for JSON, which keeps doubles exactly."""
        return {"method": self.method, **_plain(asdict(self))}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The calibrator that `to_dict` wrote down.

        Raises
        ------
        ValueError
            Written by another method, or with other fields than this method has.
        """
        values = dict(content)
        method = values.pop("method", None)
        if method != cls.method:
            raise ValueError(f"calibrator: found method {method!r}, expected {cls.method!r}")
        expected = {field.name for field in fields(cls)}
        if set(values) != expected:
            raise ValueError(
                f"calibrator {cls.method}: found {sorted(values)}, expected {sorted(expected)}"
            )
        return cls(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in values.items()
            }
        )


@dataclass(frozen=True)
class Calibrator(ABC):
    """A method with its settings, not learned yet.

    Attributes
    ----------
    name : the method's name in experiment files.
    learns : whether it looks at outcomes at all; if not, `fit` needs none to be right.
    minimum_rows : with fewer rows to learn from, `fit` leaves a note.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = True
    minimum_rows: ClassVar[int] = 0

    def params(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    def fit(
        self, logits: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None
    ) -> Fitted:
        """Learn the map from these rows.

        Parameters
        ----------
        logits : shape (n,), infinity allowed.
        outcomes : shape (n,), 0 or 1.
        weights : shape (n,); integer weights give what repeated rows would, 0 leaves a row out.

        Raises
        ------
        ValueError
            As `kalibre.checks.check_scores`.
        """
        checked = check_scores(outcomes, logits, weights=weights)
        present = np.ones(checked.scores.size, dtype=bool)
        weight = np.ones(checked.scores.size)
        if checked.weights is not None:
            present = checked.weights > 0.0
            weight = checked.weights[present]
        labels = checked.outcomes[present].astype(np.float64)
        fitted = self._learn(checked.scores[present], labels, weight)
        return replace(fitted, notes=(*self._warnings(labels), *fitted.notes))

    @abstractmethod
    def _learn(self, logits: Floats, outcomes: Floats, weights: Floats) -> Fitted:
        """Learn from checked rows, each of positive weight."""

    def _warnings(self, outcomes: Floats) -> tuple[str, ...]:
        if not self.learns:
            return ()
        notes = []
        if outcomes.size < self.minimum_rows:
            notes.append(
                f"{self.name} was learned from {outcomes.size} rows; "
                f"below {self.minimum_rows} it is unreliable"
            )
        if outcomes.min() == outcomes.max():
            notes.append(
                f"all {outcomes.size} rows that {self.name} learned from have outcome "
                f"{int(outcomes[0])}: there was nothing to tell apart"
            )
        return tuple(notes)


def finite_logits(logits: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Infinite logits drawn in to the most extreme finite one (13.8155 at least), and a note.

    A probability given as exactly 0 or 1 has no finite logit to learn from.
    """
    finite = np.isfinite(logits)
    if finite.all():
        return logits, ()
    bound = max(CLIP_LOGIT, float(np.abs(logits[finite]).max(initial=0.0)))
    count = int(np.count_nonzero(~finite))
    note = (
        f"{count} of {logits.size} rows have a probability of exactly 0 or 1; "
        f"their logit was clipped to {bound:.4f} on its side"
    )
    return np.clip(logits, -bound, bound), (note,)


def clip_note(logits: Floats, bound: float) -> tuple[str, ...]:
    """A note on how many logits lie beyond the bound, empty when none does."""
    count = int(np.count_nonzero(np.abs(logits) > bound))
    if not count:
        return ()
    return (
        f"{count} of {logits.size} rows have a logit beyond {bound:.4f} and were clipped there",
    )


def reversed_note(name: str, slope: float) -> tuple[str, ...]:
    """A note when higher scores went with fewer positives."""
    if slope >= 0.0:
        return ()
    note = (
        f"{name} found a negative slope ({slope:.4f}): the scores are reversed, "
        "higher ones went with fewer positives"
    )
    return (note,)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }
