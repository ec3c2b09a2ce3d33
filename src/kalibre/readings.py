"""What says without any bins whether probabilities are true, a line a model, calibrator and part.

Slope and intercept of the outcomes on the logit (1 and 0 if the probabilities are true; a slope below 1 says
too much), Spiegelhalter's test, smooth ECE beside what chance leaves a perfect model, and CORP's share of
the Brier score that is miscalibration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

COLUMNS = {
    "calibration_slope": "slope",
    "calibration_slope/lower": "from",
    "calibration_slope/upper": "to",
    "calibration_intercept": "intercept",
    "calibration_intercept/lower": "from ",
    "calibration_intercept/upper": "to ",
    "spiegelhalter_p_value": "Spiegelhalter p",
    "smooth_ece": "smooth ECE",
    "smooth_ece/null_band/upper": "by chance",
    "corp/miscalibration": "CORP miscalibration",
    "effective_rows": "effective rows",
}
"""A metric's name after its part, and the head of its column."""

_ALWAYS = "/smooth_ece"
"""Ends the name of a metric that every part has of which these are measured."""


def readings(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of the records of `evaluate`; a part of which none of them was measured has none.

    Parameters
    ----------
    records : iterable of mapping
        Records of an experiment.

    Returns
    -------
    iterator of dict
        `model`, `calibrator`, `part`, and the metrics of `COLUMNS` by their heads, None without a value.
    """
    for record in records:
        if record["rule"] != "evaluate":
            continue
        metrics = record["metrics"]
        for part in [name.removesuffix(_ALWAYS) for name in metrics if name.endswith(_ALWAYS)]:
            found = {head: metrics.get(f"{part}/{name}") for name, head in COLUMNS.items()}
            yield {**record["subject"], "part": part, **found}
