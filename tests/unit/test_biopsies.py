"""The biopsies as scikit-learn gives them."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from kalibre.data.biopsies import make_table


def test_the_table_is_scikit_learns() -> None:
    table = make_table({"columns": ["mean_radius"]})
    bunch = load_breast_cancer()
    assert list(table.features) == [name.replace(" ", "_") for name in bunch.feature_names]
    np.testing.assert_array_equal(np.column_stack(list(table.features.values())), bunch.data)
    malignant = list(bunch.target_names).index("malignant")
    np.testing.assert_array_equal(table.roles["outcome"], bunch.target == malignant)
