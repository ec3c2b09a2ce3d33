"""A study as people read it: one line a model, calibrator and part, means over the splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kalibre.repeats.layout import NONE, fewer_rows

HEADER = (
    "model",
    "calibrator",
    "part",
    "splits",
    "confidence",
    "accuracy",
    "brier",
    "difference",
    "from",
    "to",
    "lower in",
    "kept in",
    "learned",
)
FEWER_HEADER = (
    "model",
    "calibrator",
    "part",
    "learned from",
    "difference",
    "from",
    "to",
    "lower in",
)


def study_rows(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of the records of `join_repeats` among some records.

    Parameters
    ----------
    records : iterable of mapping
        Records of an experiment.

    Returns
    -------
    list of dict
        By the names of `HEADER`. `difference` is that of the mean Brier score to the uncalibrated one, `from`
        and `to` its corrected interval, `lower in` the number of splits in which it is below 0, `kept in`
        that of splits in which all decisions are kept, `learned` the calibrator's mean parameters.
    """
    joined = [record for record in records if record["rule"] == "join_repeats"]
    return [row for record in joined for row in _rows(record)]


def fewer_rows_lines(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How the Brier score moves with the rows a calibrator learned from, by the names of `FEWER_HEADER`."""
    lines = []
    for record in records:
        if record["rule"] != "join_repeats":
            continue
        metrics = record["metrics"]
        for name, mean in metrics.items():
            whole, rows = fewer_rows(name)
            if rows is None or not whole.endswith("/brier/minus_none/mean"):
                continue
            calibrator, part = whole.split("/")[:2]
            path = name.removesuffix("/mean")
            lines.append(
                {
                    "model": record["subject"]["model"],
                    "calibrator": calibrator,
                    "part": part,
                    "learned from": rows,
                    "difference": mean,
                    "from": metrics.get(f"{path}/corrected_low"),
                    "to": metrics.get(f"{path}/corrected_high"),
                    "lower in": metrics.get(f"{path}/lower"),
                }
            )
    return sorted(lines, key=lambda line: [line[key] for key in list(line)[:4]])


def _rows(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    metrics, params = record["metrics"], record["params"]
    names = [n.split("/")[1] for n in params if n.startswith("calibrators/") and n.count("/") == 2]
    calibrators = dict.fromkeys([NONE, *names])
    for part in params["parts"].split(", "):
        for calibrator in calibrators:
            path = f"{calibrator}/{part}"
            difference = f"{path}/brier/minus_none"
            yield {
                "model": record["subject"]["model"],
                "calibrator": calibrator,
                "part": part,
                "splits": metrics["splits"],
                "confidence": metrics.get(f"{path}/mean_confidence/mean"),
                "accuracy": metrics.get(f"{path}/accuracy/mean"),
                "brier": metrics.get(f"{path}/brier/mean"),
                "difference": metrics.get(f"{difference}/mean"),
                "from": metrics.get(f"{difference}/corrected_low"),
                "to": metrics.get(f"{difference}/corrected_high"),
                "lower in": metrics.get(f"{difference}/lower"),
                "kept in": metrics.get(f"{path}/decisions_kept/count"),
                "learned": _learned(metrics, calibrator),
            }


def _learned(metrics: Mapping[str, Any], calibrator: str) -> str | None:
    """The mean of each of a calibrator's parameters; their paths have no part."""
    own = {
        name.split("/")[1]: value
        for name, value in metrics.items()
        if name.startswith(f"{calibrator}/") and name.endswith("/mean") and name.count("/") == 2
    }
    return ", ".join(f"{name} {value:.2f}" for name, value in own.items()) or None
