"""The data source `biopsies`: the Wisconsin breast-cancer measurements that scikit-learn ships.

569 biopsies with 30 measurements each (Wolberg, Mangasarian, Street, Street, UCI Machine Learning
Repository, CC BY 4.0). The outcome is 1 for a malignant biopsy, as on the lesson's page.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kalibre.data.table import Table, outcome_counts
from kalibre.records import Result

FILE = "datasets/data/breast_cancer.csv"
_QUANTITIES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)
MEANS = tuple(f"mean_{name}" for name in _QUANTITIES)
NAMES = (
    *MEANS,
    *(f"{name}_error" for name in _QUANTITIES),
    *(f"worst_{name}" for name in _QUANTITIES),
)


def make_table(data: Mapping[str, Any]) -> Table:
    """All measurements by scikit-learn's names with underscores; the outcome is 1 for malignant."""
    # The file that `load_breast_cancer` reads: importing scikit-learn for it takes ten times the rest.
    package = find_spec("sklearn")
    assert package is not None
    assert package.origin is not None
    with (Path(package.origin).parent / FILE).open(encoding="utf-8") as file:
        _, _, *labels = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    features = {name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(NAMES)}
    outcome = (values[:, -1] == labels.index("malignant")).astype("int8")
    counts = outcome_counts(outcome) | {"measurements": len(data["columns"])}
    return Table(
        features, {"outcome": outcome}, Result(metrics=counts, params={"label": "malignant"})
    )
