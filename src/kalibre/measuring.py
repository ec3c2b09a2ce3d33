"""One model, learned on some prepared rows and measured on others.

The ladder and the comparisons measure alike, so that their numbers can stand side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from kalibre.errors import InputError
from kalibre.fitting import score
from kalibre.metrics.registry import METRICS, Measured, Undefined
from kalibre.metrics.reliability import expected_calibration_error
from kalibre.preparation.chain import check_numbers
from kalibre.rungs import MEASURED_METRICS, OF_PROBABILITIES

ECE_BINS = 10


def fit_on(estimator: Any, rows: pd.DataFrame, labels: NDArray[Any]) -> Any:
    """A clone of the estimator, learned on prepared rows.

    Where preparation kept no column at all, the model can only give the share of its training rows.

    Raises
    ------
    InputError
        If a column is text, or the estimator refuses the data.
    """
    check_numbers(rows)
    model = clone(estimator) if rows.shape[1] else DummyClassifier(strategy="prior")
    try:
        return model.fit(rows, labels)
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        coded = [name for name, kind in rows.dtypes.items() if kind == "category"]
        hint = f" (categories: {', '.join(map(repr, coded))}; does it take them?)" if coded else ""
        raise InputError(f"the model refuses the data: {reason}{hint}") from error


def measure_rows(
    model: Any, rows: pd.DataFrame, outcomes: NDArray[Any], predicted: NDArray[np.int64]
) -> tuple[dict[str, float], dict[str, str]]:
    """The metrics of a fitted model on some rows, and the reasons where there are none.

    Accuracy is that of the model's own decisions (`predict`); the others are of its probabilities,
    read off the logits where they only order the rows.
    """
    metrics = {"accuracy": float(np.sum(predicted == outcomes) / len(outcomes))}
    undefined: dict[str, str] = {}
    classes = getattr(model, "classes_", np.array([0, 1]))
    if len(classes) == 1:
        only = np.full(len(outcomes), float(classes[0]))
        scored = Measured.of(outcomes, only)
    else:
        probability, z, _ = score(model, rows)
        scored = Measured.of(outcomes, probability, logits=z)
    for name in MEASURED_METRICS[1:]:
        if name in OF_PROBABILITIES and not hasattr(model, "predict_proba"):
            undefined[name] = "the model gives no probabilities"
            continue
        try:
            metrics[name] = _metric(name, scored)
        except Undefined as reason:
            undefined[name] = str(reason)
    return metrics, undefined


def _metric(name: str, scored: Measured) -> float:
    if name == "ece":
        return expected_calibration_error(scored.outcomes, scored.probabilities, bins=ECE_BINS)
    return float(METRICS[name].function(scored))


def commoner_class_accuracy(learned_outcomes: ArrayLike, measured_outcomes: ArrayLike) -> float:
    """Accuracy of always answering the commoner class of the rows learned from (0 in a draw)."""
    learned, measured = np.asarray(learned_outcomes), np.asarray(measured_outcomes)
    commoner = int(2 * learned.sum() > len(learned))
    return float(np.mean(measured == commoner))
