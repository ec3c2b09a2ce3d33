"""The stage `save_model`: the model and the calibrators chosen for it, as one classifier to use elsewhere.

What is saved is loaded again and asked for probabilities that the audit has measured: a model that says
something else elsewhere would make the audit worthless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kalibre.calibrated import CalibratedClassifier
from kalibre.columns import Categories, Columns
from kalibre.persistence import dump_model, load_model
from kalibre.preparation.frames import named_columns, to_frame
from kalibre.records import Result
from kalibre.scores import Scores

CHECKED_ROWS = 1000
TOLERANCE = 1e-12


def save_model(
    content: bytes,
    features: Columns,
    scores: Scores,
    *,
    model: Mapping[str, Any],
    columns: Sequence[str],
    calibrators: Sequence[Mapping[str, Any]],
    packages: Sequence[str] = (),
) -> tuple[CalibratedClassifier, bytes, Result]:
    """Put a fitted model and its calibrators together.

    Parameters
    ----------
    content : bytes
        The fitted model as `fit_model` saved it.
    features : Columns
        The table's features.
    scores : Scores
        What the last calibrator made of every row.
    model : mapping
        The model's settings.
    columns : sequence of str
        The data's columns, where the model names none of its own.
    calibrators : sequence of mapping
        The fitted calibrators in order, as plain built-ins.
    packages : sequence of str
        Dotted paths that the experiment names for the model and its preparation.

    Returns
    -------
    CalibratedClassifier
        The classifier.
    bytes
        The same in the skops format.
    Result
        How many rows were asked again, and the largest difference from the audit's probabilities.
    """
    names = named_columns(features, model["columns"], columns)
    categories = {
        name: list(column.names)
        for name in names
        if isinstance(column := features[name], Categories)
    }
    estimator = load_model(content, also=packages)
    classifier = CalibratedClassifier(
        estimator, [dict(calibrator) for calibrator in calibrators], names, categories
    )
    saved = dump_model(classifier)
    spread = np.linspace(0, len(scores) - 1, min(CHECKED_ROWS, len(scores))).astype(np.int64)
    rows = to_frame(features, names).iloc[scores.row[spread]]
    said = load_model(saved, also=packages).predict_proba(_as_text(rows, categories))[:, 1]
    difference = float(np.abs(said - scores.probability[spread]).max())
    notes = (
        (
            (
                f"the saved model's probabilities differ from the measured ones by up to {difference:.1e}: "
                "the model does not give the same rows the same scores twice"
            ),
        )
        if difference > TOLERANCE
        else ()
    )
    metrics = {"checked_rows": len(spread), "largest_difference": difference}
    params = {"calibrators": [calibrator["method"] for calibrator in calibrators], "columns": names}
    return classifier, saved, Result(metrics=metrics, params=params, notes=notes)


def _as_text(rows: Any, categories: Mapping[str, Any]) -> Any:
    """The rows as somebody else has them: categories are text."""
    return rows.astype(dict.fromkeys(categories, object))
