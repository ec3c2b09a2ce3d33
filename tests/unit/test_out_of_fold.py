"""The stage `score_out_of_fold`: training rows scored by models that did not learn from them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.models import Model
from kalibre.folds import make_folds
from kalibre.out_of_fold import score_out_of_fold
from kalibre.records import manifest

ROWS = 160
DRAWS = np.random.default_rng(4)
X = DRAWS.normal(size=(ROWS, 2))
OUTCOME = (X[:, 0] + DRAWS.normal(size=ROWS) > 0).astype(np.int8)
FEATURES = {"a": X[:, 0].copy(), "b": X[:, 1].copy()}
ORDER = DRAWS.permutation(ROWS)
PARTS = {"row": ORDER, "part": Categories.of(["train"] * 120 + ["test"] * 40)}
TRAIN = ORDER[:120]
HOMES = Categories.of([f"home {i % 30}" for i in range(ROWS)])
LOGISTIC = "sklearn.linear_model.LogisticRegression"
FOREST = "sklearn.ensemble.RandomForestClassifier"


def scored(
    *, roles: Any = None, preparation: Any = (), estimator: str = LOGISTIC, **folds: Any
) -> Any:
    """The stage's result."""
    model = plain(Model(estimator=estimator, params={}))
    return score_out_of_fold(
        FEATURES,
        {"outcome": OUTCOME, **(roles or {})},
        PARTS,
        model=model,
        preparation=list(preparation),
        columns=["a", "b"],
        folds={"method": "stratified", "count": 4, "seed": 0} | folds,
    )


def test_the_scores_are_those_of_scikit_learns_cross_val_predict():
    scores, _ = scored()
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    frame = pd.DataFrame(X[TRAIN], columns=["a", "b"])
    expected = cross_val_predict(
        LogisticRegression(random_state=0), frame, OUTCOME[TRAIN], cv=folds, method="predict_proba"
    )
    assert scores.row.tolist() == TRAIN.tolist()
    np.testing.assert_allclose(scores.probability, expected[:, 1], rtol=1e-12)


def test_only_training_rows_are_scored_and_none_is_marked_as_learned_from():
    scores, result = scored()
    assert scores.part.values().tolist() == ["train"] * 120
    assert not (scores.fitted | scores.calibrated).any()
    assert result.metrics == {"folds": 4, "rows": 120}


def test_no_row_is_scored_by_a_model_that_learned_from_it():
    """A forest all but remembers the rows it has seen; out of fold it does not know them."""
    scores, _ = scored(estimator=FOREST)
    accuracy = np.mean((scores.probability >= 0.5) == scores.outcome)
    assert accuracy < 0.9


def test_the_record_says_what_each_folds_model_learned_from():
    _, result = scored()
    cut = make_folds(OUTCOME[TRAIN], method="stratified", count=4, seed=0)
    assert result.rows["fold 1: learned"] == manifest(TRAIN[cut[0].learned])
    assert result.rows["fold 4: scored"] == manifest(TRAIN[cut[3].measured])


def test_groups_are_kept_together():
    scores, result = scored(roles={"group": HOMES}, method="group")
    groups = HOMES.values()[TRAIN]
    cut = make_folds(OUTCOME[TRAIN], method="group", count=4, seed=0, groups=groups)
    for number, fold in enumerate(cut, start=1):
        assert not set(groups[fold.learned]) & set(groups[fold.measured])
        assert result.rows[f"fold {number}: learned"] == manifest(TRAIN[fold.learned])
    assert scores.group is not None


def test_in_time_a_row_is_scored_by_what_was_before_it_and_the_first_rows_not_at_all():
    times = np.datetime64("2024-01-01") + DRAWS.permutation(ROWS)
    scores, result = scored(roles={"time": times}, method="time")
    assert len(scores) < 120
    left = np.setdiff1d(TRAIN, scores.row)
    assert times[left].max() < times[scores.row].min()
    assert f"{len(left)} of 120 training rows have no out-of-fold score" in result.notes[0]


def test_preparation_is_learned_anew_in_each_fold():
    features = {"a": np.where(np.arange(ROWS) == TRAIN[0], 1e9, X[:, 0]), "b": X[:, 1]}
    step = {"step": "sklearn.preprocessing.StandardScaler", "columns": "all"}
    model = plain(Model(estimator=LOGISTIC))
    scores, _ = score_out_of_fold(
        features,
        {"outcome": OUTCOME},
        PARTS,
        model=model,
        preparation=[step],
        columns=["a", "b"],
        folds={"method": "contiguous", "count": 4, "seed": 0},
    )
    # The fold with the wild value is scaled by the others' spread, so the value stays wild.
    assert scores.probability[0] in (0.0, 1.0)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ({"count": 500}, "calibration.folds: 500 folds of 120 rows"),
        ({"method": "group"}, "calibration.folds: folds by group need a column"),
    ],
)
def test_rows_that_cannot_be_cut_so_are_refused(folds: Any, message: str):
    with pytest.raises(InputError, match=message):
        scored(**folds)


def test_a_fold_whose_model_refuses_its_rows_is_named():
    with pytest.raises(
        InputError, match=r"out-of-fold scores, fold 1: models: the .* one class only"
    ):
        scored(roles={"outcome": np.ones(ROWS, dtype=np.int8)}, method="random")
