"""What the sheet on leakage needs to know of an experiment's other sections."""

from __future__ import annotations

from typing import Any

from kalibre.experiment.base import plain
from kalibre.experiment.experiment import Experiment

SELECTING = ("select", "variance_threshold", "variancethreshold", "boruta", ".rfe")
"""A step whose path holds one of these words chooses features."""


def sheet_settings(experiment: Experiment) -> dict[str, Any]:
    """The settings of the stage `fill_leak_sheet`, as plain built-ins.

    Parameters
    ----------
    experiment : Experiment
        Any.

    Returns
    -------
    dict
        `columns` models learn from (empty for all); `learned_on` and `measured_on`, parts that a model or a
        calibrator learned from and parts that are measured; `steps`, names of the preparation steps, those
        within models' pipelines included, and `selecting`, those that choose features; `rungs`, the rung with
        one step alone outside the folds to that step's name; `folds_method`, empty without a ladder;
        `statements`, the section `leak_sheet`; `predictions_given`; `compared_sides` of comparisons that
        prepare columns, and `compared_leaks`, those that learn it from the rows they measure.
    """
    learned = {part for model in experiment.models.values() for part in model.learn_on}
    for name in experiment.model_names():
        learned |= {v.learn_on for v in experiment.variants(name).values() if v.learn_on}
    paths = {
        step.name or step.step.rpartition(".")[2]: step.step for step in experiment.preparation
    }
    names = list(paths)
    for model in experiment.models.values():
        for path in model.step_paths():
            paths.setdefault(path.rpartition(".")[2], path)
    comparisons = experiment.comparisons
    sides = list(comparisons.prepared_sides()) if comparisons else []
    return {
        "columns": [] if experiment.predictions_given else experiment.feature_columns(),
        "learned_on": sorted(learned),
        "measured_on": experiment.evaluated_parts(),
        "steps": list(paths),
        "selecting": [
            name for name, path in paths.items() if any(w in path.lower() for w in SELECTING)
        ],
        "rungs": {f"only_{i + 1}_outside": name for i, name in enumerate(names)},
        "folds_method": experiment.folds_settings()["method"] if experiment.folds else "",
        "statements": plain(experiment.leak_sheet),
        "predictions_given": experiment.predictions_given,
        "compared_sides": [name for name, _ in sides],
        "compared_leaks": [name for name, leaks in sides if leaks],
    }
