"""The leakage ladder: the lesson's figures, pure noise, and any scikit-learn chain."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from kalibre.data.subscribers import generate_subscribers
from kalibre.errors import InputError
from kalibre.folds import Fold, make_folds
from kalibre.ladder import climb, measure_once
from kalibre.leak import measure_leak
from kalibre.measuring import commoner_class_accuracy
from kalibre.models.tree import GiniTree
from kalibre.overlaps import overlaps, require_disjoint
from kalibre.preparation.chain import Chain, build_chain
from kalibre.preparation.frames import to_frame
from kalibre.rungs import Rung, cumulative_rungs, rows_of_stages, single_rungs
from kalibre.splits import lesson_split
from reference import lesson_folds as oracle

SEED = 20260218
POOL, TRAIN = 1008, 756
TREE = GiniTree(max_depth=6, min_leaf=2)
COLUMNS = [
    *("mean_consumption", "volatility", "household", "satisfaction_masked", "periods"),
    *("zero_reading", "region_north", "region_south", "region_east", "region_west"),
    *("region_centre", "per_person", "seal_broken", "tariff_code"),
]
LESSON = build_chain(
    [
        {"step": "kalibre.preparation.steps.UpperMedianFill", "columns": ["satisfaction_masked"]},
        {
            "step": "kalibre.preparation.steps.MeanTargetCode",
            "columns": ["tariff_code"],
            "params": {"names": {"tariff_code": "tariff_target"}},
        },
        {"step": "kalibre.preparation.steps.RootGainSelect"},
    ]
)


def lesson_rows(seed: int = SEED, candidates: int = 1400) -> tuple[pd.DataFrame, np.ndarray]:
    """The lesson's rows as its shuffle leaves them, and the label."""
    columns = generate_subscribers(seed=seed, candidates=candidates)
    rows = len(columns["id"])
    sizes = {"train": TRAIN, "validation": POOL - TRAIN}
    order = lesson_split(rows, seed=seed + 90000, sizes=sizes, rest="test").order
    return to_frame(columns, COLUMNS).iloc[order], columns["suspicious"][order]


def lesson_figures(seed: int, candidates: int) -> dict[str, float]:
    """The figures that the ladder measures, under the identifiers of the ledger."""
    table, y = lesson_rows(seed, candidates)
    settings = {"chain": LESSON, "estimator": TREE}
    folds = make_folds(y[:POOL], method="contiguous", count=4)
    rungs = cumulative_rungs(3)
    results = climb(table[:POOL], y[:POOL], folds=folds, rungs=rungs, **settings)
    everything, pool = np.arange(len(y)), np.arange(POOL)
    test = everything[POOL:]
    true = measure_once(table, y, learned=pool, measured=test, **settings).metrics["accuracy"]
    single = measure_once(table, y, learned=pool[:TRAIN], measured=pool[TRAIN:], **settings)
    measured = {
        "folds/test/accuracy": true,
        "folds/test/baseline": commoner_class_accuracy(y[:POOL], y[POOL:]),
        "folds/single_split/accuracy": single.metrics["accuracy"],
        "folds/single_split/difference": single.metrics["accuracy"] - true,
        "folds/data/pool": POOL,
        "folds/data/fold_rows": len(folds[0].measured),
    }
    for result in results:
        path = f"folds/ladder/{result.rung.name}"
        for number, value in enumerate(result.values("accuracy"), start=1):
            measured[f"{path}/fold_{number}"] = value
        measured[f"{path}/mean"] = result.mean("accuracy")
        measured[f"{path}/spread"] = result.spread("accuracy")
        measured[f"{path}/difference"] = result.mean("accuracy") - true
    return measured


class TestLesson:
    def test_prints_the_pages_table(self):
        measured = lesson_figures(SEED, 1400)
        page = """
            0_outside 0.7976 0.7738 0.7897 0.8254 0.7966 0.0187 +0.0149
            1_outside 0.7976 0.7738 0.7897 0.8254 0.7966 0.0187 +0.0149
            2_outside 0.8016 0.8135 0.8333 0.7976 0.8115 0.0139 +0.0298
            3_outside 0.8016 0.8056 0.8452 0.7897 0.8105 0.0209 +0.0288
        """
        names = [*(f"fold_{i}" for i in range(1, 5)), "mean", "spread"]
        lines = [line.split() for line in page.strip().splitlines()]
        for rung, *values, difference in lines:
            path = f"folds/ladder/{rung}"
            assert [f"{measured[f'{path}/{name}']:.4f}" for name in names] == values
            assert f"{measured[f'{path}/difference']:+.4f}" == difference
        assert f"{measured['folds/single_split/accuracy']:.4f}" == "0.8254"
        assert f"{measured['folds/single_split/difference']:+.4f}" == "+0.0437"
        assert f"{measured['folds/test/accuracy']:.4f}" == "0.7817"
        assert f"{measured['folds/test/baseline']:.4f}" == "0.7579"

    @pytest.mark.parametrize(("seed", "candidates"), [(SEED, 3000), (41, 1400)])
    def test_equals_the_oracle_for_other_seeds_and_sizes(self, seed, candidates):
        expected = oracle.figures(seed, candidates)
        for name, value in lesson_figures(seed, candidates).items():
            assert value == pytest.approx(expected[name], abs=1e-12), name

    def test_its_leak_cannot_be_told_from_zero(self):
        table, y = lesson_rows()
        folds = make_folds(y[:POOL], method="contiguous", count=4)
        inside, outside = climb(
            table[:POOL],
            y[:POOL],
            chain=LESSON,
            estimator=TREE,
            folds=folds,
            rungs=[cumulative_rungs(3)[0], cumulative_rungs(3)[2]],
        )
        rows = {"learned_rows": [TRAIN] * 4, "measured_rows": [POOL - TRAIN] * 4}
        leak = measure_leak(outside.values("accuracy"), inside.values("accuracy"), **rows)
        assert f"{leak.mean:+.4f}" == "+0.0149"
        assert leak.corrected.high - leak.mean == pytest.approx(0.08, abs=0.005)

    def test_a_single_step_outside_is_learned_after_the_inside_steps_before_it(self):
        table, y = lesson_rows()
        pool, labels = table[:POOL].reset_index(drop=True), y[:POOL]
        fold = make_folds(labels, method="contiguous", count=4)[1]
        alone = climb(
            pool,
            labels,
            chain=LESSON,
            estimator=TREE,
            folds=[fold],
            rungs=[single_rungs(3)[2]],
        )[0]
        fill, code, select = LESSON.steps
        learned, coded = pool.iloc[fold.learned], labels[fold.learned]
        filled = fill.fit(learned, coded).transform(pool)
        both = code.fit(filled.iloc[fold.learned], coded).transform(filled)
        chosen = select.fit(both, labels).transform(both)
        model = GiniTree(max_depth=6, min_leaf=2).fit(chosen.iloc[fold.learned], coded)
        assert (
            alone.folds[0].predicted.tolist() == model.predict(chosen.iloc[fold.measured]).tolist()
        )


class TestPureNoise:
    """Nothing can be learned here: whatever lies above chance is leak."""

    @pytest.mark.parametrize(
        "step", ["kalibre.preparation.steps.MeanTargetCode", "sklearn.preprocessing.TargetEncoder"]
    )
    def test_target_coding_of_200_random_categories(self, step):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"code": rng.integers(0, 200, 1000)})
        y = rng.integers(0, 2, 1000)
        chain = build_chain([{"step": step}])
        inside, outside = climb(
            table,
            y,
            chain=chain,
            estimator=LogisticRegression(),
            folds=make_folds(y, count=5, repeats=4),
            rungs=cumulative_rungs(1),
        )
        assert inside.mean("roc_auc") == pytest.approx(0.5, abs=0.04)
        assert outside.mean("roc_auc") > 0.65
        assert outside.mean("accuracy") > 0.6 > 0.55 > inside.mean("accuracy")

    def test_the_best_20_of_5000_columns_on_50_rows(self):
        rng = np.random.default_rng(1)
        table = pd.DataFrame(rng.standard_normal((50, 5000))).add_prefix("x")
        y = np.arange(50) % 2
        chain = build_chain(
            [{"step": "sklearn.feature_selection.SelectKBest", "params": {"k": 20}}]
        )
        inside, outside = climb(
            table,
            y,
            chain=chain,
            estimator=LogisticRegression(),
            folds=make_folds(y, count=5, repeats=3),
            rungs=cumulative_rungs(1),
        )
        assert inside.mean("accuracy") == pytest.approx(0.5, abs=0.15)
        assert outside.mean("accuracy") > 0.9

    def test_scaling_alone_outside_moves_nothing(self):
        table, y = lesson_rows()
        numbers = table[["mean_consumption", "volatility", "household"]][:POOL]
        chain = build_chain([{"step": "sklearn.preprocessing.StandardScaler"}])
        folds = make_folds(y[:POOL], count=5)
        settings = {"chain": chain, "folds": folds, "rungs": cumulative_rungs(1)}
        inside, outside = climb(numbers, y[:POOL], estimator=TREE, **settings)
        for metric in ("accuracy", "roc_auc", "brier", "ece"):
            assert outside.values(metric).tolist() == inside.values(metric).tolist()
        inside, outside = climb(numbers, y[:POOL], estimator=LogisticRegression(), **settings)
        assert outside.mean("roc_auc") == pytest.approx(inside.mean("roc_auc"), abs=0.002)

    def test_40_groups_of_10_near_copies_plain_and_grouped(self):
        rng = np.random.default_rng(2)
        groups = np.repeat(np.arange(40), 10)
        centres, group_label = rng.standard_normal((40, 5)), rng.permutation(np.arange(40) % 2)
        table = pd.DataFrame(centres[groups] + 0.01 * rng.standard_normal((400, 5)))
        table, y = table.add_prefix("x"), group_label[groups]

        def accuracy(method: str) -> float:
            folds = make_folds(y, method=method, count=5, repeats=3, groups=groups)
            estimator = KNeighborsClassifier(1)
            climbed = climb(table, y, chain=Chain(), estimator=estimator, folds=folds)
            return climbed[0].mean("accuracy")

        assert accuracy("stratified") > 0.99
        assert accuracy("group") == pytest.approx(0.5, abs=0.15)


class TestScikitLearnChain:
    """SimpleImputer, TargetEncoder, SelectKBest and LogisticRegression on the subscribers."""

    steps = (
        {"step": "sklearn.impute.SimpleImputer", "columns": "numeric"},
        {"step": "sklearn.preprocessing.TargetEncoder", "columns": ["tariff_code"]},
        {"step": "sklearn.feature_selection.SelectKBest", "params": {"k": 6}},
    )
    model = LogisticRegression(max_iter=2000)

    @classmethod
    @cache
    def climbed(cls):
        table, y = lesson_rows()
        table, y = table[:POOL].reset_index(drop=True), y[:POOL]
        folds = make_folds(y, count=4, seed=3)
        results = climb(table, y, chain=build_chain(cls.steps), estimator=cls.model, folds=folds)
        return table, y, folds, results

    def test_with_everything_inside_it_is_a_cross_validated_pipeline(self):
        table, y, folds, results = self.climbed()
        encoder = TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=0))
        chain = Chain(
            [
                type(LESSON.steps[0])(transformer, columns, name=name)
                for name, transformer, columns in (
                    ("fill", SimpleImputer(), "numeric"),
                    ("code", encoder, ["tariff_code"]),
                    ("select", SelectKBest(k=6), "all"),
                )
            ]
        )
        for metric, scoring in (("accuracy", "accuracy"), ("roc_auc", "roc_auc")):
            expected = cross_val_score(
                make_pipeline(chain, self.model), table, y, cv=folds, scoring=scoring
            )
            np.testing.assert_allclose(results[0].values(metric), expected, rtol=1e-12)

    def test_what_is_learned_outside_is_applied_as_a_finished_object(self):
        table, y, folds, results = self.climbed()
        outside = build_chain(self.steps).fit(table, y).transform(table)
        expected = cross_val_score(self.model, outside, y, cv=folds, scoring="roc_auc")
        np.testing.assert_allclose(results[3].values("roc_auc"), expected, rtol=1e-12)

    def test_every_rung_measures_probabilities_too(self):
        *_, results = self.climbed()
        assert [r.rung.name for r in results] == [
            *(f"{d}_outside" for d in range(4)),
            *(f"only_{j}_outside" for j in range(1, 4)),
        ]
        for result in results:
            for metric in ("accuracy", "roc_auc", "log_loss", "brier", "ece"):
                assert np.isfinite(result.values(metric)).all()

    def test_shared_work_changes_no_rung(self):
        table, y, folds, results = self.climbed()
        for result in (results[2], results[5]):
            alone = climb(
                table,
                y,
                chain=build_chain(self.steps),
                estimator=self.model,
                folds=folds,
                rungs=[result.rung],
            )[0]
            assert alone.table() == result.table()


class TestBadInput:
    table = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12) % 3})
    y = np.array([0, 1] * 6)

    def climb(self, y=None, *, chain=None, estimator=None, folds=None, table=None):
        labels = self.y if y is None else y
        return climb(
            self.table if table is None else table,
            labels,
            chain=chain or Chain(),
            estimator=estimator or LogisticRegression(),
            folds=folds or make_folds(labels, method="contiguous", count=3),
        )

    def test_no_steps_is_one_rung(self):
        results = self.climb()
        assert [r.rung.name for r in results] == ["0_outside"]
        assert np.isfinite(results[0].values("accuracy")).all()

    def test_a_measured_class_that_is_missing_leaves_the_auc_undefined(self):
        y = np.array([1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1])
        result = self.climb(y)[0]
        assert np.isnan(result.values("roc_auc")[0])
        assert result.folds[0].undefined["roc_auc"].startswith("one class only")
        assert np.isfinite(result.values("accuracy")).all()
        assert result.mean("roc_auc") == pytest.approx(np.nanmean(result.values("roc_auc")))
        assert result.gaps()["roc_auc"].startswith("in 1 of 3 folds: one class only")

    def test_a_learned_class_that_is_missing_leaves_all_metrics_undefined(self):
        y = np.array([1, 1, 1, 1] + [0] * 8)
        first = self.climb(y)[0].folds[0]
        assert first.metrics == {}
        assert "one class only: all 8 rows to learn from have outcome 0" in first.undefined["brier"]

    def test_a_model_that_can_learn_from_one_class_is_measured(self):
        y = np.array([1, 1, 1, 1] + [0] * 8)
        first = self.climb(y, estimator=DecisionTreeClassifier())[0].folds[0]
        assert first.metrics["accuracy"] == 0
        assert "one class only" in first.undefined["roc_auc"]

    def test_every_fold_and_the_summary_are_named(self):
        folds = make_folds(self.y, count=2, repeats=2)
        metrics, undefined = self.climb(folds=folds)[0].numbers(repeats=2)
        assert undefined == {}
        folds_named = [name for name in metrics if name.endswith("/accuracy")]
        assert folds_named == [f"repeat_{r}/fold_{f}/accuracy" for r in (1, 2) for f in (1, 2)]
        assert {"accuracy/mean", "ece/spread"} <= set(metrics)

    def test_a_metric_without_any_value_has_no_mean(self):
        metrics, undefined = self.climb(estimator=RidgeClassifier())[0].summary()
        assert undefined["brier/mean"] == "in 3 of 3 folds: the model gives no probabilities"
        assert "brier/mean" not in metrics
        assert "roc_auc/mean" in metrics

    def test_a_step_that_cannot_learn_from_one_class_leaves_the_fold_undefined(self):
        y = np.array([1, 1, 1, 1] + [0] * 8)
        params = {"estimator": {"estimator": "sklearn.linear_model.LogisticRegression"}}
        chain = build_chain([{"step": "sklearn.feature_selection.RFE", "params": params}])
        inside = self.climb(y, chain=chain)[0].folds[0]
        assert "one class only" in inside.undefined["accuracy"]

    def test_a_preparation_that_keeps_no_column_leaves_the_share(self):
        chain = build_chain(
            [{"step": "kalibre.preparation.steps.RootGainSelect", "params": {"min_side": 20}}]
        )
        result = self.climb(np.array([0, 0, 1] * 4), chain=chain)[0]
        assert result.values("accuracy").tolist() == pytest.approx([0.75, 0.75, 0.5], abs=0.26)
        assert result.values("roc_auc").tolist() == [0.5, 0.5, 0.5]
        assert result.folds[0].columns == ()

    def test_a_planted_overlap_is_caught(self):
        fold = Fold(np.arange(8), np.arange(6, 12))
        with pytest.raises(InputError, match="fold 1: 2 of 6 rows measured by it were learned"):
            self.climb(folds=[fold])

    def test_a_rung_says_which_stage_learned_from_measured_rows(self):
        fold = make_folds(self.y, method="contiguous", count=3)[0]
        stages = rows_of_stages(Rung("x", (True, False)), ["fill", "code"], fold, 12)
        assert {name: len(rows) for name, rows in stages.items()} == {
            "step fill": 12,
            "step code": 8,
            "model": 8,
        }
        assert overlaps(stages, fold.measured) == {"step fill": 4}

    def test_an_overlap_can_be_declared_and_is_then_said(self):
        notes = require_disjoint(
            {"the model": np.arange(4)}, np.arange(3, 6), where="x", declared="on purpose"
        )
        assert notes == ("1 of 3 measured rows were learned from by the model: on purpose",)

    def test_missing_values_that_reach_the_model_stop_with_its_reason(self):
        table = self.table.assign(a=np.nan)
        with pytest.raises(InputError, match="the model refuses the data: Input X contains NaN"):
            self.climb(table=table)

    def test_text_that_reaches_the_model_is_named(self):
        table = self.table.assign(city="Ankara")
        with pytest.raises(InputError, match="'city' still holds text"):
            self.climb(table=table)

    def test_a_rung_of_another_chain_is_refused(self):
        with pytest.raises(ValueError, match="of 2 steps, the chain has 0"):
            climb(
                self.table,
                self.y,
                chain=Chain(),
                estimator=TREE,
                folds=make_folds(self.y, count=2),
                rungs=[Rung("x", (True, False))],
            )

    def test_rows_and_outcomes_go_together(self):
        with pytest.raises(ValueError, match="12 rows and 11 outcomes"):
            self.climb(self.y[:11])
