"""One model learned on thousands of splits: what of `fit_model` has to be done each time?

The estimator is built once and fitted anew; it scores only rows that something is learned from or measured
on; and where nothing needs a data frame the rows are taken from one matrix. The numbers are those of
`fit_model` with the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.fitting import build_model, model_params, score, weight_parameter
from kalibre.preparation.chain import check_numbers
from kalibre.preparation.frames import named_columns, to_frame

Positions = NDArray[np.int64]
Floats = NDArray[np.float64]


class Unlearnable(Exception):  # noqa: N818 - an answer, not an error
    """Raised where a split leaves nothing to learn from; the message is the reason."""


class Predicted(NamedTuple):
    """Probability and logit of the scored rows, and what there is to say."""

    probability: Floats
    logit: Floats
    notes: tuple[str, ...]


class Learner:
    """A model of the section `models`, to be learned on one split after the other.

    Parameters
    ----------
    features, roles : Columns
        The table.
    model : mapping
        The model's settings.
    columns : sequence of str
        The data's columns, where the model names none of its own.
    preparation : sequence of mapping
        The steps before the model, learned on the rows the model learns from.

    Attributes
    ----------
    finite : bool
        Every value the model can see is a finite number, so nothing has to look for others again.
    seeded : bool
        The model, or a step before it, takes a seed that the configuration leaves open.
    """

    def __init__(
        self,
        features: Columns,
        roles: Columns,
        *,
        model: Mapping[str, Any],
        columns: Sequence[str],
        preparation: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self._model = model
        self._preparation = preparation
        self._outcome = np.asarray(roles["outcome"])
        self._weight = np.asarray(roles["weight"]) if "weight" in roles else None
        names = named_columns(features, model["columns"], columns)
        self._rows: Any
        if not preparation and _sees_numbers_only(model, features, names):
            self._rows = np.column_stack([np.asarray(features[n], np.float64) for n in names])
        else:
            self._rows = to_frame(features, names)
            if not preparation:
                check_numbers(self._rows)
        self.finite = isinstance(self._rows, np.ndarray) and bool(np.isfinite(self._rows).all())
        seed = model["seed"]
        self._chains = {seed: self._build(seed)}
        self.seeded = _seeds(self._chains[seed]) != _seeds(self._build(seed + 1))

    def describe(self) -> dict[str, Any]:
        """The estimator and its parameters, its own defaults included."""
        *_, estimator = self._chains[self._model["seed"]]
        return {"estimator": self._model["estimator"], "params": model_params(estimator)}

    def learn_and_score(
        self, learned: Positions, scored: Positions, *, further_seed: int = 0
    ) -> Predicted:
        """Learn from some rows and score others.

        Parameters
        ----------
        learned, scored : ndarray of int64
            Positions in the table.
        further_seed : int
            Added to the model's own seed.

        Raises
        ------
        Unlearnable
            If the rows to learn from have one class only.
        InputError
            If the estimator, or a step before it, refuses the rows.
        """
        outcome = self._outcome[learned]
        positives = np.count_nonzero(outcome)
        if positives in (0, len(outcome)):
            raise Unlearnable(
                f"one class only: all rows the model would learn from have outcome {int(positives > 0)}"
            )
        *steps, estimator = self._chain(self._model["seed"] + further_seed)
        weight, unweighted = weight_parameter(estimator, self._weight, learned)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            rows, others = self._take(learned), self._take(scored)
            try:
                for step in steps:
                    rows, others = _prepare(step, rows, others, outcome)
                estimator.fit(rows, outcome, **weight)
            except (ValueError, TypeError) as error:
                raise InputError(f"the estimator refuses the data: {error}") from error
            probability, logit, said = _score(estimator, others)
        spoken = dict.fromkeys(str(w.message).split("\n")[0] for w in warned)
        return Predicted(probability, logit, (*unweighted, *said, *spoken))

    def _take(self, rows: Positions) -> Any:
        return self._rows[rows] if isinstance(self._rows, np.ndarray) else self._rows.iloc[rows]

    def _chain(self, seed: int) -> list[Any]:
        if seed not in self._chains:
            self._chains[seed] = self._build(seed)
        return self._chains[seed]

    def _build(self, seed: int) -> list[Any]:
        """The steps before the estimator, and the estimator."""
        model = build_model({**self._model, "seed": seed}, self._preparation)
        before = self._preparation or self._model["standardise"]
        return [step for _, step in model.steps] if before else [model]


def _sees_numbers_only(model: Mapping[str, Any], features: Columns, columns: Sequence[str]) -> bool:
    """Whether the model is sure not to ask for names or kinds of columns.

    So it is with the estimators of scikit-learn and our own, where all columns are numbers and no
    parameter is a list, an estimator or a column's name.
    """
    ours = model["estimator"].partition(".")[0] in ("sklearn", "kalibre")
    simple = all(
        isinstance(value, (bool, int, float, str)) and value not in columns
        for value in model["params"].values()
    )
    numbers = all(
        name in features
        and not isinstance(features[name], Categories)
        and np.asarray(features[name]).dtype.kind in "fiub"
        for name in columns
    )
    return ours and simple and numbers


def _seeds(chain: Sequence[Any]) -> list[Any]:
    """Every `random_state` in a chain of estimators."""
    members = [member for step in chain for member in getattr(step, "steps", [step])]
    return [
        value
        for member in members
        for name, value in sorted(member.get_params(deep=True).items())
        if name.rpartition("__")[2] == "random_state"
    ]


def _prepare(step: Any, rows: Any, others: Any, outcome: NDArray[Any]) -> tuple[Any, Any]:
    """Learn one step from some rows, and prepare these and others."""
    if type(step) is StandardScaler and isinstance(rows, np.ndarray):
        mean, scale = _mean_and_scale(rows)
        if np.isfinite(scale).all():
            return (rows - mean) / scale, (others - mean) / scale
    return step.fit_transform(rows, outcome), step.transform(others)


def _mean_and_scale(rows: Floats) -> tuple[Floats, Floats]:
    """What `StandardScaler` learns of finite rows, to the last bit; its checks take ten times as long."""
    count = len(rows)
    mean = rows.sum(axis=0) / count
    centred = rows - mean
    correction = centred.sum(axis=0)
    centred **= 2
    variance = (centred.sum(axis=0) - correction**2 / count) / count
    # A column that rounding alone keeps from being constant is not divided.
    tiny = np.finfo(np.float64).eps * count
    constant = variance <= tiny * variance + (tiny * mean) ** 2
    return mean, np.where(constant, 1.0, np.sqrt(variance))


def _score(estimator: Any, rows: Any) -> tuple[Floats, Floats, tuple[str, ...]]:
    """As `fitting.score`, with one pass over the rows where it is known what a second one would give."""
    of_logs = getattr(type(estimator), "predict_log_proba", None)
    if hasattr(estimator, "predict_joint_log_proba"):
        # Naive Bayes: its probabilities are the exponentials of its log probabilities.
        logs = np.asarray(estimator.predict_log_proba(rows), dtype=np.float64)
        probability = np.exp(logs[:, 1])
    elif getattr(of_logs, "__qualname__", "") in _LOGARITHM_OF_PROBABILITY:
        both = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
        probability = both[:, 1]
        with np.errstate(divide="ignore"):
            logs = np.log(both)
    else:
        return score(estimator, rows)
    return probability, logs[:, 1] - logs[:, 0], ()


_LOGARITHM_OF_PROBABILITY = frozenset(
    f"{name}.predict_log_proba"
    for name in (
        "LogisticRegression",
        "DecisionTreeClassifier",
        "ForestClassifier",
        "MLPClassifier",
    )
)
"""scikit-learn's methods that are the logarithm of `predict_proba` and nothing else."""
