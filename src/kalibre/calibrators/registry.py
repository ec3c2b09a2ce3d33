"""The calibrators by the name an experiment file uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kalibre.calibrators.base import Calibrator, Fitted
from kalibre.calibrators.beta import Beta, FittedBeta
from kalibre.calibrators.fixed import FittedNone, FittedSharpening, Sharpening, Uncalibrated
from kalibre.calibrators.isotonic import FittedIsotonic, Isotonic
from kalibre.calibrators.logistic import FittedDescent, FittedPlatt, LogisticDescent, Platt
from kalibre.calibrators.temperature import FittedTemperature, Temperature
from kalibre.errors import suggestion

CALIBRATORS: dict[str, type[Calibrator]] = {
    method.name: method
    for method in (Uncalibrated, Sharpening, LogisticDescent, Temperature, Platt, Isotonic, Beta)
}

OTHER_NAMES = {"logistic": "platt", "sigmoid": "platt"}
"""What a method is called elsewhere: logistic calibration, and scikit-learn's word."""

_FITTED: dict[str, type[Fitted]] = {
    fitted.method: fitted
    for fitted in (
        FittedNone,
        FittedSharpening,
        FittedDescent,
        FittedTemperature,
        FittedPlatt,
        FittedIsotonic,
        FittedBeta,
    )
}


def make_calibrator(name: str, params: Mapping[str, Any] | None = None) -> Calibrator:
    """The method of this name with these settings.

    Raises
    ------
    ValueError
        No such method, no such setting, or a value it does not allow.
    """
    if name not in CALIBRATORS:
        raise ValueError(f"calibrator: found {name!r}; {suggestion(name, CALIBRATORS)}")
    method = CALIBRATORS[name]
    allowed = [field.name for field in fields(method)]
    for key in params or {}:
        if key not in allowed:
            known = suggestion(key, allowed) if allowed else "it has none"
            raise ValueError(f"calibrator {name}: found setting {key!r}; {known}")
    return method(**(params or {}))


def fitted_from_dict(content: Mapping[str, Any]) -> Fitted:
    """The learned calibrator that `Fitted.to_dict` wrote down.

    Raises
    ------
    ValueError
        Unknown method, or fields that are not that method's.
    """
    name = content.get("method")
    if name not in _FITTED:
        raise ValueError(f"calibrator: found method {name!r}; {suggestion(str(name), _FITTED)}")
    return _FITTED[name].from_dict(dict(content))
