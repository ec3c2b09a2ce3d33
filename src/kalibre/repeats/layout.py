"""The columns of a study's tables that are not measurements."""

from __future__ import annotations

SEED = "seed"
"""Seed of the split."""

FURTHER = "further_seed"
"""0, or what was added to the models' own seeds on the same split."""

NOTES = "notes"
"""What the stages said, a line a sentence."""

UNDEFINED = "undefined"
"""Measurements without a value, a line each: `NAME: REASON`."""

PARTS = "parts/"
"""Begins the names of columns that count a part's rows."""

MODEL = "model"
"""Under this name stands, in `undefined`, why a split has no value at all."""

NONE = "none"
"""The model's own probabilities: what every calibrator is compared with."""
