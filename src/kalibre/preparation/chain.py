"""An ordered chain of preparation steps, and what each of them knows of the label.

A step is any scikit-learn transformer with the columns it works on; all other columns pass through
it. Columns that keep their name keep their place, new ones are appended at the end in the
transformer's order: a tree breaks ties by the order of its columns.

What a step learns from and what it is applied to are kept apart:

- Rows a step learns from together with the model (the training rows of a fold) get what its
  `fit_transform` gives, as in scikit-learn's `Pipeline.fit`. `sklearn.preprocessing.TargetEncoder`
  codes these rows by inner cross-fitting, so that a row's code does not hold its own label.
- All other rows get `transform`. So does every row a *finished* step is applied to, one that was
  learned before and elsewhere (on the whole pool, outside the folds): it arrives as an object with
  a memory, and what it remembers of a row's own label is the leak that is to be measured.

For a transformer whose `fit_transform` equals `fit` then `transform`, which is nearly every one and
all of the lessons' own, this is exactly the chain object of the cross-validation lesson.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from kalibre import estimators
from kalibre.errors import InputError, suggestion
from kalibre.preparation.frames import check_columns, require_frame

KINDS = ("numeric", "categorical", "all")
"""Words that stand for columns: numbers and booleans, everything else, and both."""


FUNCTION_PACKAGES = ("numpy", "scipy", "sklearn", "kalibre")
"""Where a configuration may take a function from: it names what computes, and cannot run what it likes."""


def uses_label(transformer: Any) -> bool:
    """Whether a transformer learns from the label.

    It does if its own attribute `uses_label` says so; if scikit-learn's tags say that it requires a
    target; if its `fit` does not do without `y`; if it ranks columns by a `score_func`; or if one
    of its parameters is an estimator of which any of this is true (`SelectFromModel`).
    """
    own = getattr(transformer, "uses_label", None)
    if isinstance(own, bool):
        return own
    if get_tags(transformer).target_tags.required:
        return True
    wanted = inspect.signature(transformer.fit).parameters.get("y")
    if wanted is not None and wanted.default is inspect.Parameter.empty:
        return True
    params = transformer.get_params(deep=False)
    if callable(params.get("score_func")):
        return True
    inner = [*params.values(), *_members(params)]
    return any(uses_label(p) for p in inner if hasattr(p, "fit") and hasattr(p, "get_params"))


def build_chain(steps: Sequence[Mapping[str, Any]], *, seed: int = 0) -> Chain:
    """A chain from an experiment's `preparation`.

    Parameters
    ----------
    steps : sequence of mapping
        Each with `step` (dotted path), and perhaps `columns` (a list, or a word of `KINDS`),
        `params` (a parameter may be `{estimator: PATH, params: ...}` or `{function: PATH}`),
        `name`, `uses_label`.
    seed : int
        Given as `random_state` to every step that takes one and has none.

    Raises
    ------
    InputError
        If a step is no transformer, has no such parameter, or its columns are an unknown word.
    """
    built: list[ColumnStep] = []
    for number, spec in enumerate(steps, start=1):
        path = spec["step"]
        columns = spec.get("columns") or "all"
        if isinstance(columns, str) and columns not in KINDS:
            raise InputError(
                f"preparation step {number}, {path!r}: columns is {columns!r}; give a list of "
                f"columns, or one of {', '.join(KINDS)}"
            )
        try:
            params = {key: _looked_up(value) for key, value in (spec.get("params") or {}).items()}
            transformer = estimators.build(path, params, needs=("fit", "transform"), seed=seed)
        except InputError as error:
            raise InputError(f"preparation step {number}: {error}") from error
        transformer = _seeded_cross_fitting(transformer, spec.get("params") or {}, seed)
        name = spec.get("name") or _free_name(_snake(path.rpartition(".")[2]), built)
        built.append(ColumnStep(transformer, columns, name=name, label=spec.get("uses_label")))
    return Chain(built)


class ColumnStep(TransformerMixin, BaseEstimator):
    """A transformer applied to some columns, all others passing through.

    Parameters
    ----------
    transformer : object
        Anything with scikit-learn's fit and transform.
    columns : list of str, or one of `KINDS`
        A word is resolved on the frame that arrives at the step. A word that fits no column leaves
        the frame as it is.
    name : str
        What messages and tables call the step.
    label : bool, optional
        Whether it uses the label, where `uses_label` cannot know. A step that does not is not shown
        it.
    """

    def __init__(
        self,
        transformer: Any,
        columns: Sequence[str] | str = "all",
        *,
        name: str = "step",
        label: bool | None = None,
    ) -> None:
        self.transformer = transformer
        self.columns = columns
        self.name = name
        self.label = label

    @property
    def uses_label(self) -> bool:
        """Whether the step learns from the label."""
        return uses_label(self.transformer) if self.label is None else self.label

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Learn from the rows.

        Raises
        ------
        InputError
            If the frame lacks one of its columns, or the transformer cannot learn from these.
        """
        self._begin(X)
        if self.columns_:
            self._call("learn from", self.transformer_.fit, X[self.columns_], *self._label(y))
        return self

    def fit_transform(self, X: pd.DataFrame, y: ArrayLike | None = None, **_: Any) -> pd.DataFrame:
        """Learn from the rows and give them as the transformer's own `fit_transform` does."""
        self._begin(X)
        if not self.columns_:
            return X
        # Not every transformer has fit_transform; fit and then transform is what it stands for.
        if not hasattr(self.transformer_, "fit_transform"):
            return self.fit(X, y).transform(X)
        learn = self.transformer_.fit_transform
        return self._placed(X, self._call("learn from", learn, X[self.columns_], *self._label(y)))

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Apply what was learned.

        Raises
        ------
        InputError
            If the frame lacks one of its columns, or the transformer cannot be applied to these.
        """
        check_is_fitted(self, "columns_")
        check_columns(self.columns_, X.columns, f"at preparation step {self.name!r} the table")
        if not self.columns_:
            return X
        return self._placed(X, self._call("change", self.transformer_.transform, X[self.columns_]))

    def _begin(self, X: pd.DataFrame) -> None:
        frame = require_frame(X, self)
        self.columns_ = self._resolve(frame)
        self.transformer_ = clone(self.transformer)
        # A frame is dense; scikit-learn refuses to put sparse output into one.
        if self.transformer_.get_params(deep=False).get("sparse_output") is True:
            self.transformer_.set_params(sparse_output=False)
        if hasattr(self.transformer_, "set_output"):
            self.transformer_.set_output(transform="pandas")

    def _resolve(self, frame: pd.DataFrame) -> list[str]:
        if not isinstance(self.columns, str):
            check_columns(
                self.columns, frame.columns, f"at preparation step {self.name!r} the table"
            )
            return list(self.columns)
        numeric = list(frame.select_dtypes(include=["number", "bool"]).columns)
        if self.columns == "numeric":
            return numeric
        if self.columns == "categorical":
            numbers = set(numeric)
            return [name for name in frame.columns if name not in numbers]
        return list(frame.columns)

    def _label(self, y: ArrayLike | None) -> tuple[ArrayLike, ...]:
        return () if y is None or not self.uses_label else (y,)

    def _call(self, deed: str, method: Any, X: pd.DataFrame, *label: ArrayLike) -> Any:
        try:
            return method(X, *label)
        except (TypeError, ValueError) as error:
            reason = str(error).strip().split("\n")[0]
            shown = ", ".join(map(repr, self.columns_[:5])) + (
                ", ..." if len(self.columns_) > 5 else ""
            )
            raise InputError(
                f"preparation step {self.name!r} ({type(self.transformer).__name__}) cannot {deed} "
                f"column {shown}: {reason}"
            ) from error

    def _placed(self, frame: pd.DataFrame, result: Any) -> pd.DataFrame:
        """The frame with the step's columns replaced by its result."""
        made = self._as_frame(result, frame.index)
        used, names = set(self.columns_), set(made.columns)
        clash = [n for n in made.columns if n in frame.columns and n not in used]
        if clash:
            raise InputError(
                f"preparation step {self.name!r} makes a column {clash[0]!r}, but the table has "
                "one that passes through; leave one of them out"
            )
        passed = [n for n in frame.columns if n not in used]
        kept = [n for n in frame.columns if n in names or n not in used]
        present = set(kept)
        order = kept + [n for n in made.columns if n not in present]
        return pd.concat([frame[passed], made], axis="columns")[order]

    def _as_frame(self, result: Any, index: pd.Index) -> pd.DataFrame:
        if isinstance(result, pd.DataFrame):
            return result.set_axis(index, axis="index")
        values = np.asarray(result.toarray() if hasattr(result, "toarray") else result)
        values = values.reshape(len(index), -1)
        if hasattr(self.transformer_, "get_feature_names_out"):
            names = [str(name) for name in self.transformer_.get_feature_names_out()]
        elif values.shape[1] == len(self.columns_):
            names = list(self.columns_)
        else:
            names = [f"{self.name}_{i}" for i in range(values.shape[1])]
        return pd.DataFrame(values, columns=names, index=index)


class Chain(TransformerMixin, BaseEstimator):
    """Preparation steps in order; itself a scikit-learn transformer on DataFrames.

    Parameters
    ----------
    steps : sequence of ColumnStep
        May be empty: then nothing is prepared.
    """

    def __init__(self, steps: Sequence[ColumnStep] = ()) -> None:
        self.steps = steps

    @property
    def names(self) -> list[str]:
        """The steps' names."""
        return [step.name for step in self.steps]

    @property
    def label_steps(self) -> list[str]:
        """Names of the steps that use the label."""
        return [step.name for step in self.steps if step.uses_label]

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Learn every step from the rows, each on what the steps before it give."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: ArrayLike | None = None, **_: Any) -> pd.DataFrame:
        """Learn every step from the rows, and prepare them as `Pipeline.fit` does."""
        frame = require_frame(X, self)
        self.steps_ = [clone(step) for step in self.steps]
        for step in self.steps_:
            frame = step.fit_transform(frame, y)
        self.columns_ = list(frame.columns)
        return frame

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Apply every step."""
        check_is_fitted(self, "steps_")
        frame = require_frame(X, self)
        for step in self.steps_:
            frame = step.transform(frame)
        return frame

    def notes(self) -> tuple[str, ...]:
        """What a person should know before reading a ladder of this chain."""
        if not self.steps:
            return ("no preparation steps: nothing can be learned outside the folds",)
        if not self.label_steps:
            said = "no preparation step uses the label; what is learned outside the folds can leak "
            return (said + "only through the columns",)
        return ()


def check_numbers(frame: pd.DataFrame) -> None:
    """Refuse columns of text: a model takes numbers.

    Raises
    ------
    InputError
        Naming the columns. Categoricals pass: some scikit-learn models take them.
    """
    text = list(frame.select_dtypes(include=["object", "string"]).columns)
    if text:
        raise InputError(
            f"column {', '.join(map(repr, text))} still holds text when it reaches the model; "
            "encode it in `preparation` (for instance sklearn.preprocessing.OneHotEncoder) or "
            "leave it out"
        )


def _members(params: Mapping[str, Any]) -> list[Any]:
    """Estimators in a pipeline's `steps`, a union's or a column transformer's list."""
    lists = (v for v in params.values() if isinstance(v, (list, tuple)))
    return [part for items in lists for item in items if isinstance(item, tuple) for part in item]


def _seeded_cross_fitting(transformer: Any, params: Mapping[str, Any], seed: int) -> Any:
    """Seed the inner folds of a target encoder, whose own `random_state` is deprecated."""
    if isinstance(transformer, TargetEncoder) and isinstance(transformer.cv, int):
        if "random_state" in params or "shuffle" in params:
            return transformer
        inner = StratifiedKFold(transformer.cv, shuffle=True, random_state=seed)
        return TargetEncoder(**{**params, "cv": inner})
    return transformer


def _looked_up(value: Any) -> Any:
    """A parameter that is a function is written `{function: numpy.absolute}`."""
    if not (isinstance(value, Mapping) and set(value) == {"function"}):
        return value
    module, _, name = str(value["function"]).rpartition(".")
    if module.split(".")[0] not in FUNCTION_PACKAGES:
        raise InputError(
            f"function {value['function']!r}: a function is taken from {', '.join(FUNCTION_PACKAGES)} "
            "only; write a transformer class for anything else"
        )
    try:
        found = importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"function {value['function']!r}: {module!r} cannot be imported"
        ) from error
    if not callable(getattr(found, name, None)):
        raise InputError(
            f"function {value['function']!r}: {module} has no such function; "
            f"{suggestion(name, dir(found))}"
        )
    return getattr(found, name)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def _free_name(name: str, taken: Sequence[ColumnStep]) -> str:
    used = {step.name for step in taken}
    number = 2
    free = name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
