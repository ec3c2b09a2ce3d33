"""The stage `repeat_ladder`: all rungs of the leakage ladder on every split of one shard.

A row of the table depends on its seed and the settings alone, as those of `repeat_splits` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kalibre.climbing import Ladder
from kalibre.columns import Categories, Columns
from kalibre.digests import digest_json
from kalibre.errors import InputError
from kalibre.ladder import climb
from kalibre.records import Result
from kalibre.repeats.cutting import Cut, Cutter
from kalibre.repeats.ladders import COUNTED
from kalibre.repeats.layout import SEED
from kalibre.rungs import MEASURED_METRICS, rung_of

SEEDS = 2**32


def repeat_ladder(
    features: Columns,
    roles: Columns,
    *,
    seeds: Sequence[int],
    study: Mapping[str, Any],
    advance: Callable[[], None] = lambda: None,
) -> tuple[Columns, Result]:
    """Split, cut folds and climb once a seed.

    Parameters
    ----------
    features, roles : Columns
        The table.
    seeds : sequence of int
        Seeds of the splits, each in 0 ... 2**32 - 1.
    study : mapping
        What `kalibre.repeats.settings.ladder_study_settings` makes of an experiment.
    advance : callable
        Called after each split.

    Returns
    -------
    Columns
        One row a split, model, rung and fold: `seed`, `model`, `rung`, `fold`, `learned_rows`,
        `measured_rows`, `columns` (that reached the model) and the metrics, NaN where there is none.
    Result
        Number of splits, and the digest of the settings.

    Raises
    ------
    InputError
        If the rows cannot be split so, or a step or a model refuses them; names the seed.
    """
    cutter = Cutter(roles, study["split"], window=study["window"])
    rows: dict[str, list[Any]] = {
        name: [] for name in (SEED, "model", "rung", *COUNTED, *MEASURED_METRICS)
    }
    for seed in seeds:
        cut = cutter.cut(seed)
        for name, model in study["models"].items():
            try:
                _climb_once(rows, features, roles, cut, seed, name, model, study)
            except (InputError, ValueError) as error:
                raise InputError(f"model {name!r}, split with seed {seed}: {error}") from error
        advance()
    table: Columns = {
        name: Categories.of(values)
        if name in ("model", "rung")
        else np.array(values, dtype=np.int64 if name in (SEED, *COUNTED) else np.float64)
        for name, values in rows.items()
    }
    return table, Result(metrics={"splits": len(seeds)}, params={"settings": digest_json(study)})


def _climb_once(
    rows: dict[str, list[Any]],
    features: Columns,
    roles: Columns,
    cut: Cut,
    seed: int,
    name: str,
    model: Mapping[str, Any],
    study: Mapping[str, Any],
) -> None:
    """Add one split's rungs of one model."""
    folds = study["folds"]
    # Seeds of folds that no other split has: each repeat of the folds takes one.
    of_folds = (folds["seed"] + seed * folds["repeats"]) % SEEDS
    ladder = Ladder.build(
        features,
        roles,
        {"row": cut.row, "part": cut.part},
        folds={**folds, "seed": of_folds},
        model=model,
        preparation=study["preparation"],
        columns=study["columns"],
    )
    pool = ladder.positions(folds["pool"])
    results = climb(
        ladder.frame.iloc[pool],
        ladder.outcomes[pool],
        chain=ladder.chain,
        estimator=ladder.estimator,
        folds=ladder.folds(),
        rungs=[rung_of(rung, len(ladder.chain.steps)) for rung in study["rungs"]],
    )
    for row in (row for result in results for row in result.table()):
        rows[SEED].append(seed)
        rows["model"].append(name)
        for key in ("rung", *COUNTED):
            rows[key].append(row[key])
        for metric in MEASURED_METRICS:
            value = row[metric]
            rows[metric].append(np.nan if value is None else value)
