"""Estimators by dotted path: a configuration may name a class and its parameters, and nothing else."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from kalibre.errors import InputError, suggestion


def import_class(path: str, *, needs: tuple[str, ...]) -> type:
    """Import a class and check that it has the methods its stage calls.

    Parameters
    ----------
    path : str
        Dotted path, such as ``sklearn.naive_bayes.GaussianNB``.
    needs : tuple of str
        Methods the class must have.

    Raises
    ------
    InputError
        If nothing of that name can be imported, or it is not such a class.
    """
    module_name, _, name = path.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise InputError(
            f"estimator {path!r}: module {module_name!r} cannot be imported ({error}); "
            "check its spelling, or install the package that has it"
        ) from error
    except (
        SyntaxError,
        ArithmeticError,
        AttributeError,
        NameError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            f"estimator {path!r}: module {module_name!r} fails when it is imported "
            f"({type(error).__name__}: {error}); mend the module"
        ) from error
    found = getattr(module, name, None)
    if found is None:
        classes = [n for n, value in vars(module).items() if inspect.isclass(value)]
        raise InputError(
            f"estimator {path!r}: {module_name} has no {name!r}; {suggestion(name, classes)}"
        )
    missing = [method for method in needs if not callable(getattr(found, method, None))]
    if not inspect.isclass(found) or missing:
        raise InputError(
            f"estimator {path!r} is not a class with the methods {', '.join(needs)}; "
            "name one with scikit-learn's interface"
        )
    return found


def build(path: str, params: Mapping[str, Any], *, needs: tuple[str, ...], seed: int) -> Any:
    """Make an estimator from its path and parameters.

    A parameter that is itself ``{estimator: ..., params: ...}`` is built likewise. Where the class takes a
    `random_state` that the parameters leave open, it gets `seed`, so that every draw has its seed.
    """
    kind = import_class(path, needs=needs)
    known = [n for n in inspect.signature(kind).parameters if n not in ("args", "kwargs")]
    built = {name: _value(value, seed) for name, value in params.items()}
    if isinstance(built.get("class_weight"), Mapping):
        built["class_weight"] = _by_class(path, built["class_weight"])
    unknown = [name for name in built if name not in known]
    if unknown and not _takes_any(kind):
        raise InputError(
            f"estimator {path!r} takes no parameter {unknown[0]!r}; {suggestion(unknown[0], known)}"
        )
    state = inspect.signature(kind).parameters.get("random_state")
    if state is not None and state.default is None and built.get("random_state") is None:
        built["random_state"] = seed
    try:
        made = kind(**built)
        if hasattr(made, "_parameter_constraints"):
            # What scikit-learn's `fit` would say only after the data have been read and prepared.
            made._validate_params()
        return made
    except (TypeError, ValueError) as error:
        raise InputError(f"estimator {path!r} refuses its parameters: {error}") from error


def _value(value: Any, seed: int) -> Any:
    if (
        isinstance(value, Mapping)
        and "estimator" in value
        and set(value) <= {"estimator", "params"}
    ):
        path, params = value["estimator"], value.get("params") or {}
        if not isinstance(path, str) or "." not in path or not isinstance(params, Mapping):
            raise InputError(
                f"a parameter that is an estimator: found {dict(value)!r}; it is written {{estimator: PATH, "
                "params: {...}}, with a path such as sklearn.tree.DecisionTreeClassifier"
            )
        return build(path, params, needs=("fit",), seed=seed)
    if isinstance(value, list):
        built = [_value(item, seed) for item in value]
        # The members of a pipeline or a vote: a name and an estimator each.
        named = len(built) == 2 and isinstance(built[0], str) and hasattr(built[1], "fit")
        return tuple(built) if named else built
    return value


def _by_class(path: str, weights: Mapping[Any, Any]) -> dict[int, Any]:
    """Weights by class, which is 0 or 1; keys that have been through JSON are text."""
    classes = {"0": 0, "1": 1}
    for label in weights:
        if str(label) not in classes:
            raise InputError(
                f"estimator {path!r}: class_weight: found the class {label!r}; a model here sees 1 for the "
                "positive label and 0 for all others: {0: ..., 1: ...}"
            )
    return {classes[str(label)]: weight for label, weight in weights.items()}


def _takes_any(kind: type) -> bool:
    kinds = [p.kind for p in inspect.signature(kind).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds
