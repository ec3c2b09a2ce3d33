"""Every figure of the lesson on probability calibration (seed 000), measured by the oracles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference import calibration, linear, trees
from reference.arithmetic import mean
from reference.subscribers import CANDIDATES, MODEL_COLUMNS, SEED, Parts, generate, split
from reference.trees import TARGET

Row = dict[str, Any]
Scorer = Callable[[Row], float]
Figures = dict[str, float]

TREE_DEPTH = 8
TREE_MIN_LEAF = 2
POSITIVE_WEIGHT = 1.0


def figures(seed: int = SEED, candidates: int = CANDIDATES) -> Figures:
    """Return the lesson's figures, unrounded, under the identifiers of the ledger.

    Means and rates of a bin that no row falls into are left out; the area under the curve of the
    corrected tree, which the lesson does not print, is among them.
    """
    table = generate(seed, candidates)
    parts = split(table, seed)
    scorers = models(parts)
    return {
        **_data(candidates, table, parts),
        **_settings(),
        **_tables(scorers, parts),
        **_summary(scorers, parts),
        **_corrections(scorers, parts),
    }


def models(parts: Parts) -> dict[str, Scorer]:
    """Return the lesson's four models, learned on the training part."""
    fitted = linear.fit(parts.train, MODEL_COLUMNS, positive_weight=POSITIVE_WEIGHT)
    tree = trees.grow(parts.train, MODEL_COLUMNS, TREE_DEPTH, min_leaf=TREE_MIN_LEAF)
    rate = trees.positive_share(parts.train)
    return {
        "linear": fitted.probability,
        "sharpened": lambda row: calibration.sharpen(fitted.probability(row)),
        "tree_d8": lambda row: trees.probability(tree, row),
        "base_rate": lambda row: rate,
    }


def outcomes_of(rows: Sequence[Row]) -> list[int]:
    """Return the labels of `rows`."""
    return [row[TARGET] for row in rows]


def _data(candidates: int, table: Sequence[Row], parts: Parts) -> Figures:
    return {
        "subscribers/data/candidates": candidates,
        "subscribers/data/rows": len(table),
        "subscribers/data/train": len(parts.train),
        "subscribers/data/validation": len(parts.validation),
        "subscribers/data/test": len(parts.test),
    }


def _settings() -> Figures:
    return {
        "subscribers/setting/bins": calibration.BINS,
        "subscribers/setting/sharpening_power": calibration.SHARPENING_POWER,
        "subscribers/setting/linear_rounds": linear.ROUNDS,
        "subscribers/setting/linear_step": linear.STEP,
        "subscribers/setting/linear_positive_weight": POSITIVE_WEIGHT,
        "subscribers/setting/tree_depth": TREE_DEPTH,
        "subscribers/setting/tree_min_leaf": TREE_MIN_LEAF,
        "subscribers/setting/correction_rounds": calibration.ROUNDS,
        "subscribers/setting/correction_step": calibration.STEP,
    }


def _tables(scorers: dict[str, Scorer], parts: Parts) -> Figures:
    measured: Figures = {}
    for name in ("linear", "sharpened"):
        table = _reliability(scorers[name], parts.test)
        for number, line in enumerate(table):
            path = f"subscribers/reliability/{name}/test/bin_{number}"
            measured[f"{path}/count"] = line.count
            if line.count:
                measured[f"{path}/mean_predicted"] = line.mean_predicted
                measured[f"{path}/observed_rate"] = line.observed_rate
                measured[f"{path}/gap"] = line.gap
    table = _reliability(scorers["linear"], parts.test)
    path = "subscribers/reliability/linear/test"
    measured[f"{path}/last_two_bins/count"] = table[-2].count + table[-1].count
    measured[f"{path}/bin_4/suspicious_count"] = table[-1].positives
    return measured


def _summary(scorers: dict[str, Scorer], parts: Parts) -> Figures:
    observed = trees.positive_share(parts.test)
    measured: Figures = {"subscribers/summary/observed_rate": observed}
    for name, scorer in scorers.items():
        path = f"subscribers/summary/{name}"
        measured[f"{path}/roc_auc"] = _roc_auc(scorer, parts.test)
        measured[f"{path}/ece"] = _calibration_error(scorer, parts.test)
        measured[f"{path}/mean_score"] = mean([scorer(row) for row in parts.test])
    tree_score = measured["subscribers/summary/tree_d8/mean_score"]
    measured["subscribers/summary/tree_d8/mean_score_gap"] = tree_score - observed
    return measured


def _corrections(scorers: dict[str, Scorer], parts: Parts) -> Figures:
    measured: Figures = {}
    learned_on = {"training": parts.train, "validation": parts.validation, "test": parts.test}
    for name, rows in learned_on.items():
        path = f"subscribers/correction/{name}"
        measured |= _correction(path, scorers["sharpened"], rows, parts.test)
    before, after = (f"subscribers/correction/{name}/ece" for name in ("validation", "test"))
    measured["subscribers/correction/optimism"] = measured[before] - measured[after]

    tree = scorers["tree_d8"]
    measured["subscribers/tree_d8/training/ece"] = _calibration_error(tree, parts.train)
    measured["subscribers/tree_d8/validation/ece"] = _calibration_error(tree, parts.validation)
    return measured | _correction("subscribers/correction/tree_d8", tree, parts.train, parts.test)


def _correction(path: str, scorer: Scorer, rows: Sequence[Row], test: Sequence[Row]) -> Figures:
    learned = calibration.fit_logistic_map(outcomes_of(rows), [scorer(row) for row in rows])

    def corrected(row: Row) -> float:
        return learned(scorer(row))

    return {
        f"{path}/slope": learned.slope,
        f"{path}/intercept": learned.intercept,
        f"{path}/roc_auc": _roc_auc(corrected, test),
        f"{path}/ece": _calibration_error(corrected, test),
    }


def _reliability(scorer: Scorer, rows: Sequence[Row]) -> list[calibration.Bin]:
    return calibration.reliability(outcomes_of(rows), [scorer(row) for row in rows])


def _calibration_error(scorer: Scorer, rows: Sequence[Row]) -> float:
    return calibration.calibration_error(outcomes_of(rows), [scorer(row) for row in rows])


def _roc_auc(scorer: Scorer, rows: Sequence[Row]) -> float:
    return calibration.roc_auc(outcomes_of(rows), [scorer(row) for row in rows])
