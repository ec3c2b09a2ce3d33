"""What a study needs to know of its experiment, and nothing else: an edit beside it reruns no shard.

The number of splits and the first seed are not part of it. They say which shards there are; what is in a
shard hangs on its own seeds.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kalibre.experiment.base import plain
from kalibre.experiment.experiment import Experiment
from kalibre.repeats.shards import Shard, extent, shards


def study_settings(experiment: Experiment) -> dict[str, Any]:
    """The settings of every split, as plain built-ins in a fixed order.

    Parameters
    ----------
    experiment : Experiment
        One with a section `repeats`.
    """
    repeats = experiment.repeats
    assert repeats is not None
    split = experiment.split_settings()
    split.pop("seed", None)
    evaluation = experiment.evaluation
    return {
        "split": split,
        "columns": experiment.feature_columns(),
        "preparation": plain(experiment.preparation),
        "models": {
            name: {
                "settings": plain(experiment.models[name]),
                "variants": [plain(asdict(v)) for v in experiment.variants(name).values()],
            }
            for name in experiment.model_names()
        },
        "parts": list(experiment.evaluated_parts()),
        "evaluation": {
            "metrics": list(repeats.metrics),
            "bins": plain(evaluation.bins),
            "levels": plain(evaluation.levels),
        },
        "calibration_rows": list(repeats.calibration_rows),
        "declared_overlap": plain(experiment.declared_overlap),
        "model_seeds": repeats.model_seeds,
        "model_seeds_every": repeats.model_seeds_every,
        "window": repeats.window,
    }


def ladder_study_settings(experiment: Experiment) -> dict[str, Any]:
    """The settings of every split's ladder, as plain built-ins in a fixed order.

    Parameters
    ----------
    experiment : Experiment
        One with the sections `folds` and `repeats`.
    """
    repeats = experiment.repeats
    assert repeats is not None
    split = experiment.split_settings()
    split.pop("seed", None)
    return {
        "split": split,
        "columns": experiment.feature_columns(),
        "preparation": plain(experiment.preparation),
        "models": {name: plain(experiment.models[name]) for name in experiment.climbing_models()},
        "folds": experiment.folds_settings(),
        "rungs": experiment.rungs(),
        "window": repeats.window,
    }


def study_shards(experiment: Experiment) -> list[Shard]:
    """The shards of an experiment's section `repeats`."""
    repeats = experiment.repeats
    assert repeats is not None
    return shards(repeats.splits, first_seed=repeats.first_seed, most=repeats.shard)


def study_extent(experiment: Experiment) -> str:
    """The whole study in a word, so that one shard's process can say how far the whole is."""
    repeats = experiment.repeats
    assert repeats is not None
    return extent(repeats.splits, first_seed=repeats.first_seed, most=repeats.shard)


def summary_settings(experiment: Experiment) -> dict[str, Any]:
    """What joining the shards needs to know besides."""
    repeats = experiment.repeats
    assert repeats is not None
    return {
        "splits": repeats.splits,
        "first_seed": repeats.first_seed,
        "quantiles": list(repeats.quantiles),
        "level": repeats.level,
    }
