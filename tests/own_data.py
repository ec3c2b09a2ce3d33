"""Files as a person has them, derived from the data that scikit-learn ships.

The table is the Wisconsin breast-cancer biopsies (UCI, CC BY 4.0) as a clinic might export them: two
measurements as words, gaps, an answer in words, the clinic that took the biopsy, and a day.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

WORDS = ("small", "medium", "large")


def biopsies() -> pd.DataFrame:
    """569 rows: an id, a clinic, a day, three numbers, two categories, and the answer."""
    bunch = load_breast_cancer()
    measured = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    draws = np.random.default_rng(5)
    rows = len(bunch.target)
    table = pd.DataFrame(
        {
            "biopsy": [f"B{i:04d}" for i in range(rows)],
            "clinic": [f"clinic {c}" for c in draws.integers(0, 40, rows)],
            "taken on": (
                np.datetime64("2023-01-02") + draws.permutation(rows).astype("timedelta64[D]")
            ).astype(str),
            "texture": measured["mean texture"],
            "smoothness": measured["mean smoothness"],
            "symmetry": measured["mean symmetry"],
            "radius": _in_words(measured["mean radius"]),
            "concavity, seen": _in_words(measured["mean concavity"]),
            "finding": np.where(bunch.target == 0, "malignant", "benign"),
        }
    )
    table.loc[draws.random(rows) < 0.06, "smoothness"] = np.nan
    table.loc[draws.random(rows) < 0.04, "radius"] = None
    return table


def predictions() -> pd.DataFrame:
    """What two models say of half of the biopsies, learned from the other half, and what was found."""
    bunch = load_breast_cancer()
    malignant = 1 - bunch.target
    learned = np.arange(len(malignant)) % 2 == 0
    few = bunch.data[:, :4]
    said = {}
    for name, strength in (("careful", 0.01), ("bold", 1e6)):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=10_000))
        model.fit(few[learned], malignant[learned])
        said[name] = model.predict_proba(few[~learned])[:, 1]
    rows = int((~learned).sum())
    parts = np.where(np.arange(rows) % 3 == 0, "calibration", "test")
    return pd.DataFrame(
        {
            "case": np.flatnonzero(~learned),
            "part": parts,
            "careful": said["careful"],
            "bold": said["bold"],
            "malignant": malignant[~learned],
        }
    )


def write_csv(path: Path, table: pd.DataFrame, **options: Any) -> Path:
    """Save a table as people do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL, **options)
    return path


def _in_words(values: Sequence[float]) -> list[str]:
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return [WORDS[int(v > low) + int(v > high)] for v in values]
