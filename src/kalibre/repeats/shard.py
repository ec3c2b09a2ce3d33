"""The stage `repeat_splits`: one shard of a study's splits, one row a split.

All models see the same splits. A row depends on its seed and the settings alone: not on the shard, on the
number of splits, or on what was done before it in the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sklearn

from kalibre.columns import Categories, Columns
from kalibre.digests import digest_json
from kalibre.errors import InputError
from kalibre.records import Result
from kalibre.repeats.cutting import Cut, Cutter
from kalibre.repeats.layout import FURTHER, NOTES, PARTS, SEED, UNDEFINED
from kalibre.repeats.learning import Learner
from kalibre.repeats.measuring import ModelStudy, Row


def repeat_splits(
    features: Columns,
    roles: Columns,
    *,
    seeds: Sequence[int],
    study: Mapping[str, Any],
    advance: Callable[[], None] = lambda: None,
) -> tuple[Columns, Result]:
    """Split, learn, calibrate and measure once a seed.

    Parameters
    ----------
    features, roles : Columns
        The table.
    seeds : sequence of int
        Seeds of the splits, each in 0 ... 2**32 - 1.
    study : mapping
        What `kalibre.repeats.settings.study_settings` makes of an experiment.
    advance : callable
        Called after each split.

    Returns
    -------
    Columns
        `seed`, `further_seed` (0, or what was added to the models' own seeds) and `parts/PART/rows`; of each
        model `MODEL/` and its measurements (NaN where there is none), `MODEL/undefined` and `MODEL/notes`.
    Result
        The models and their calibrators after all defaults, as params.

    Raises
    ------
    InputError
        If the rows cannot be split so, or a model refuses them; names the seed.
    """
    cutter = Cutter(roles, study["split"], window=study["window"])
    models = {
        name: _model_study(features, roles, model, study) for name, model in study["models"].items()
    }
    seeded = [name for name, model in models.items() if model.learner.seeded]
    further = {seed: _further_seeds(seed, study) if seeded else range(0) for seed in seeds}
    table = _Table(sum(1 + len(more) for more in further.values()))
    first = cutter.cut(seeds[0])
    notes = [said for model in models.values() for said in model.check_overlaps(first)]

    def repeat(seed: int) -> None:
        cut = cutter.cut(seed)
        table.add(seed, 0, cut, _measure_all(models, cut, seed, 0))
        for more in further[seed]:
            rows = {name: models[name] for name in seeded}
            table.add(seed, more, cut, _measure_all(rows, cut, seed, more))
        advance()

    repeat(seeds[0])
    # Parameters and values are checked by now, and stay what they are.
    finite = all(model.learner.finite for model in models.values())
    with sklearn.config_context(assume_finite=finite, skip_parameter_validation=True):
        for seed in seeds[1:]:
            repeat(seed)
    described = {name: model.describe() for name, model in models.items()}
    params = {"settings": digest_json(study), "models": described}
    return table.columns(), Result(
        metrics={"splits": len(seeds)}, params=params, notes=tuple(dict.fromkeys(notes))
    )


def _model_study(
    features: Columns, roles: Columns, model: Mapping[str, Any], study: Mapping[str, Any]
) -> ModelStudy:
    learner = Learner(
        features,
        roles,
        model=model["settings"],
        columns=study["columns"],
        preparation=study["preparation"],
    )
    return ModelStudy(
        learner,
        roles,
        learn_on=model["settings"]["learn_on"],
        variants=model["variants"],
        parts=study["parts"],
        evaluation=study["evaluation"],
        calibration_rows=study["calibration_rows"],
        declared=study["declared_overlap"],
    )


def _further_seeds(seed: int, study: Mapping[str, Any]) -> range:
    """What is added to the models' own seeds, one after the other, on the split of this seed."""
    return range(1, study["model_seeds"]) if seed % study["model_seeds_every"] == 0 else range(0)


def _measure_all(
    models: Mapping[str, ModelStudy], cut: Cut, seed: int, further: int
) -> dict[str, Row]:
    rows = {}
    for name, model in models.items():
        try:
            rows[name] = model.measure(cut, further_seed=further)
        except (InputError, ValueError) as error:
            raise InputError(f"model {name!r}, split with seed {seed}: {error}") from error
    return rows


class _Table:
    """Grows column by column in arrays, so that ten thousand splits take megabytes."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._next = 0
        self._whole = {name: np.zeros(rows, dtype=np.int64) for name in (SEED, FURTHER)}
        self._numbers: dict[str, np.ndarray] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, seed: int, further: int, cut: Cut, measured: Mapping[str, Row]) -> None:
        self._whole[SEED][self._next] = seed
        self._whole[FURTHER][self._next] = further
        counts = np.bincount(cut.part.codes, minlength=len(cut.part.names)).tolist()
        for part, count in zip(cut.part.names, counts, strict=True):
            self._put(f"{PARTS}{part}/rows", count)
        for model, row in measured.items():
            for name, value in row.values.items():
                self._put(f"{model}/{name}", value)
            undefined = (f"{name}: {reason}" for name, reason in row.undefined.items())
            self._say(f"{model}/{UNDEFINED}", undefined)
            self._say(f"{model}/{NOTES}", row.notes)
        self._next += 1

    def columns(self) -> Columns:
        """The table; texts of several lines, one a sentence."""
        texts: Columns = {
            name: Categories.of(lines + [""] * (self._rows - len(lines)))
            for name, lines in sorted(self._texts.items())
        }
        return {**self._whole, **dict(sorted(self._numbers.items())), **texts}

    def _put(self, name: str, value: float) -> None:
        if name not in self._numbers:
            self._numbers[name] = np.full(self._rows, np.nan)
        self._numbers[name][self._next] = value

    def _say(self, name: str, sentences: Iterable[str]) -> None:
        lines = self._texts.setdefault(name, [])
        lines += [""] * (self._next - len(lines))
        lines.append("\n".join(sentences))
