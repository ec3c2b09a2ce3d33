"""The stages of the ladder: one rung fold by fold, the held-out rows once, and the leak between rungs.

A rung is a job of its own, so that preparation inside and outside the folds are two runs; its folds share
one process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kalibre.columns import Categories, Columns
from kalibre.errors import InputError
from kalibre.fitting import build_model
from kalibre.folds import Fold, make_folds
from kalibre.ladder import climb, measure_once
from kalibre.measuring import commoner_class_accuracy
from kalibre.preparation.chain import Chain, build_chain
from kalibre.preparation.frames import named_columns, to_frame
from kalibre.records import Result, manifest
from kalibre.rungs import MEASURED_METRICS, FoldScore, Rung, rows_of_stages, rung_of

FOLD_HEADER = ("rung", "fold", "learned_rows", "measured_rows", "columns", *MEASURED_METRICS)


@dataclass(frozen=True)
class Ladder:
    """What every rung has in common: rows, folds, preparation and model.

    Attributes
    ----------
    frame, outcomes : DataFrame and ndarray
        All rows of the split, in its order.
    row : ndarray of int64
        Their positions in the experiment's table.
    part : Categories
        Their parts.
    settings : mapping
        The section `folds` after defaults.
    chain, estimator : object
        Preparation and model, unfitted.
    """

    frame: pd.DataFrame
    outcomes: NDArray[np.int8]
    row: NDArray[np.int64]
    part: Categories
    roles: Mapping[str, NDArray[Any]]
    settings: Mapping[str, Any]
    chain: Chain
    estimator: Any

    @classmethod
    def build(
        cls,
        features: Columns,
        roles: Columns,
        parts: Columns,
        *,
        folds: Mapping[str, Any],
        model: Mapping[str, Any],
        preparation: Sequence[Mapping[str, Any]],
        columns: Sequence[str],
    ) -> Ladder:
        """Take the sections of an experiment; `model` is the one that climbs."""
        row = np.asarray(parts["row"])
        part = parts["part"]
        assert isinstance(part, Categories)
        taken = {name: _plain(column)[row] for name, column in roles.items()}
        names = named_columns(features, model["columns"], columns)
        return cls(
            frame=to_frame(features, names).iloc[row].reset_index(drop=True),
            outcomes=taken["outcome"],
            row=row,
            part=part,
            roles=taken,
            settings=folds,
            chain=build_chain(preparation, seed=model["seed"]),
            estimator=build_model(model),
        )

    def positions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Rows of some parts, in the split's order."""
        chosen = np.flatnonzero(self.part.isin(names))
        if not len(chosen):
            raise InputError(f"folds: parts {', '.join(names)} have no rows")
        return chosen

    def folds(self) -> list[Fold]:
        """The folds of the pool, as positions in the pool."""
        pool = self.positions(self.settings["pool"])
        groups, times = (self.roles.get(name) for name in ("group", "time"))
        try:
            return make_folds(
                self.outcomes[pool],
                method=self.settings["method"],
                count=self.settings["count"],
                repeats=self.settings["repeats"],
                seed=self.settings["seed"],
                groups=None if groups is None else groups[pool],
                times=None if times is None else times[pool],
            )
        except ValueError as error:
            raise InputError(f"folds: {error}") from error


def climb_rung(ladder: Ladder, name: str) -> tuple[Result, list[dict[str, Any]]]:
    """One rung of the ladder.

    Parameters
    ----------
    ladder : Ladder
        What is climbed.
    name : str
        The rung, such as `2_outside` or `only_2_outside`.

    Returns
    -------
    Result
        Every fold's metrics, their mean and spread, and the rows each stage learned from.
    list of dict
        One row a fold.
    """
    rung = rung_of(name, len(ladder.chain.steps))
    pool = ladder.positions(ladder.settings["pool"])
    folds = ladder.folds()
    result = climb(
        ladder.frame.iloc[pool],
        ladder.outcomes[pool],
        chain=ladder.chain,
        estimator=ladder.estimator,
        folds=folds,
        rungs=[rung],
    )[0]
    metrics, undefined = result.numbers(repeats=ladder.settings["repeats"])
    metrics |= {"steps": len(ladder.chain.steps), "folds": len(folds)}
    missing = [f"{metric} {said}" for metric, said in result.gaps().items()]
    return (
        Result(
            metrics=metrics,
            undefined=undefined,
            params=_params(ladder) | {"learned_outside": _outside(ladder, rung)},
            rows=_manifests(ladder, rung, folds, ladder.row[pool]),
            notes=(*ladder.chain.notes(), *missing),
        ),
        result.table(),
    )


def measure_held_out(ladder: Ladder) -> Result:
    """The numbers that stand beside the folds': the true number and the single split's.

    The true number is that of preparation and model learned on the whole pool, measured once on the
    held-out part.
    """
    settings = ladder.settings
    metrics: dict[str, float] = {}
    undefined: dict[str, str] = {}
    rows: dict[str, Any] = {}
    asked = []
    if settings["held_out"]:
        asked.append(("held_out", settings["pool"], settings["held_out"]))
    if settings["single_split"]:
        single = settings["single_split"]
        asked.append(("single_split", single["learn_on"], single["measure_on"]))
    for name, learn_on, measure_on in asked:
        learned, measured = ladder.positions(learn_on), ladder.positions([measure_on])
        score = measure_once(
            ladder.frame,
            ladder.outcomes,
            chain=ladder.chain,
            estimator=ladder.estimator,
            learned=learned,
            measured=measured,
        )
        labels = ladder.outcomes[measured]
        metrics |= {f"{name}/{metric}": value for metric, value in score.metrics.items()}
        undefined |= {f"{name}/{metric}": why for metric, why in score.undefined.items()}
        metrics |= _counts(name, score, labels)
        baseline = commoner_class_accuracy(ladder.outcomes[learned], labels)
        metrics[f"{name}/commoner_class_accuracy"] = baseline
        rows[f"{name}/learned"] = manifest(ladder.row[learned])
        rows[f"{name}/measured"] = manifest(ladder.row[measured])
    return Result(metrics, undefined, _params(ladder), rows)


def _counts(name: str, score: FoldScore, labels: NDArray[np.int8]) -> dict[str, float]:
    correct = int(np.count_nonzero(score.predicted == labels))
    return {f"{name}/rows": len(labels), f"{name}/correct": correct}


def _params(ladder: Ladder) -> dict[str, Any]:
    return {"steps": ladder.chain.names, "label_steps": ladder.chain.label_steps}


def _outside(ladder: Ladder, rung: Rung) -> list[str]:
    return [name for name, out in zip(ladder.chain.names, rung.outside, strict=True) if out]


def _manifests(
    ladder: Ladder, rung: Rung, folds: Sequence[Fold], row: NDArray[np.int64]
) -> dict[str, Any]:
    rows = {}
    for number, fold in enumerate(folds, start=1):
        learned = rows_of_stages(rung, ladder.chain.names, fold, len(row))
        for stage, positions in {**learned, "measured": fold.measured}.items():
            rows[f"fold {number}: {stage}"] = manifest(row[positions])
    return rows


def _plain(column: Any) -> NDArray[Any]:
    return column.values() if isinstance(column, Categories) else np.asarray(column)
