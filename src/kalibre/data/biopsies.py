"""The data source `biopsies`: the Wisconsin breast-cancer measurements that scikit-learn ships.

569 biopsies with 30 measurements each (Wolberg, Mangasarian, Street, Street, UCI Machine Learning
Repository, CC BY 4.0). The outcome is 1 for a malignant biopsy, as on the lesson's page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalibre.data.table import Table, outcome_counts
from kalibre.records import Result


def make_table(data: Mapping[str, Any]) -> Table:
    """All measurements by scikit-learn's names with underscores; the outcome is 1 for malignant."""
    # Imported here: scikit-learn costs a second, and only this function needs it.
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in bunch.feature_names]
    features = {name: np.ascontiguousarray(bunch.data[:, i]) for i, name in enumerate(names)}
    outcome = (bunch.target == list(bunch.target_names).index("malignant")).astype("int8")
    counts = outcome_counts(outcome) | {"measurements": len(data["columns"])}
    return Table(
        features, {"outcome": outcome}, Result(metrics=counts, params={"label": "malignant"})
    )
