"""The stage `compare_scores`: is one calibrator, or one model, better than another on the same rows?

Two scores of the same rows are compared row by row: each bootstrap sample draws the same rows for both, so
that what they share cancels out. Every calibrator is set against its model's own probabilities, and every
model against every other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from kalibre.evaluation import bin_rule, drawing_settings
from kalibre.records import Result
from kalibre.scores import Scores
from kalibre.statistics.bootstrap import Drawing, bootstrap_differences

NONE = "none"
Name = tuple[str, str]
HEADER = ("part", "first", "second", "metric", "difference", "lower", "upper", "level", "undefined")


def compare_scores(
    scores: Mapping[Name, Scores], *, on: Sequence[str], evaluation: Mapping[str, Any]
) -> tuple[Result, list[dict[str, Any]]]:
    """Paired differences, second minus first.

    Parameters
    ----------
    scores : mapping of (model, calibrator) to Scores
        The scores of one experiment.
    on : sequence of str
        The parts measured.
    evaluation : mapping
        The section `evaluation`, for its bins and its statistics.

    Returns
    -------
    Result
        `<part>/<second>_minus_<first>/<metric>` with `/lower` and `/upper`.
    list of dict
        One row a pair and metric.
    """
    metrics: dict[str, float] = {}
    undefined: dict[str, str] = {}
    notes: list[str] = []
    table: list[dict[str, Any]] = []
    rules = {name: bin_rule(spec) for name, spec in evaluation["bins"].items()}
    for part in on:
        rows = {name: one.take(one.in_parts([part])) for name, one in scores.items()}
        for first, second in _pairs(list(scores)):
            before, after = rows[first], rows[second]
            if not _same_rows(before, after):
                continue
            settings, said = drawing_settings(evaluation["statistics"], len(before))
            notes += [f"{part}: {note}" for note in said]
            if not settings["resamples"]:
                continue
            found = bootstrap_differences(
                before.outcome,
                before.probability,
                after.probability,
                drawing=Drawing(
                    seed=settings["seed"],
                    resamples=settings["resamples"],
                    level=settings["level"],
                    method=settings["interval"],
                    stratified=settings["stratified"] and before.group is None,
                ),
                first_logits=before.logit,
                second_logits=after.logit,
                weights=before.weight,
                groups=None if before.group is None else before.group.codes,
                rules=rules,
            )
            path = f"{part}/{_title(second)}_minus_{_title(first)}"
            for metric, interval in found.items():
                ends = {"": interval.estimate, "/lower": interval.lower, "/upper": interval.upper}
                for end, value in ends.items():
                    if np.isfinite(value):
                        metrics[f"{path}/{metric}{end}"] = value
                    else:
                        undefined[f"{path}/{metric}{end}"] = interval.undefined or "no value"
                row = {"difference": ends[""], "lower": ends["/lower"], "upper": ends["/upper"]}
                table.append(
                    {
                        "part": part,
                        "first": _title(first),
                        "second": _title(second),
                        "metric": metric,
                        **{k: v if np.isfinite(v) else None for k, v in row.items()},
                        "level": settings["level"],
                        "undefined": interval.undefined,
                    }
                )
    return Result(metrics, undefined, notes=tuple(dict.fromkeys(notes))), table


def _pairs(names: Sequence[Name]) -> Iterator[tuple[Name, Name]]:
    """Each calibrator against its model's own probabilities, then each model against each other."""
    own = [name for name in names if name[1] == NONE]
    for name in names:
        if name[1] != NONE and (name[0], NONE) in names:
            yield (name[0], NONE), name
    yield from combinations(own, 2)


def _same_rows(first: Scores, second: Scores) -> bool:
    return np.array_equal(first.row, second.row) and np.array_equal(first.outcome, second.outcome)


def _title(name: Name) -> str:
    model, calibrator = name
    return model if calibrator == NONE else f"{model}.{calibrator}"
