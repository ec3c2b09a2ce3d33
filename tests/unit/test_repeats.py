"""Many splits: the lesson's study, shards that can be cut anyhow, and what the splits say together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from kalibre import files
from kalibre.calibrating import calibrate
from kalibre.calibrators.registry import make_calibrator
from kalibre.climbing import Ladder, climb_rung
from kalibre.columns import Categories, Columns
from kalibre.cutting import make_split
from kalibre.data.biopsies import make_table
from kalibre.data.subscriber_table import make_table as make_subscribers
from kalibre.errors import InputError
from kalibre.evaluation import evaluate
from kalibre.experiment.experiment import Experiment
from kalibre.fitting import fit_model, score
from kalibre.logits import expit
from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges
from kalibre.metrics.ranking import Level, count_at_level
from kalibre.metrics.registry import METRICS, Measured, Undefined
from kalibre.metrics.reliability import expected_calibration_error
from kalibre.records import flatten
from kalibre.repeats import quick
from kalibre.repeats.cutting import Cutter
from kalibre.repeats.distribution import (
    Numbers,
    add_difference,
    add_distribution,
    add_variances,
    percentile,
)
from kalibre.repeats.fewer import nested_order
from kalibre.repeats.join import Study, join_repeats
from kalibre.repeats.laddering import repeat_ladder
from kalibre.repeats.ladders import LadderStudy, join_ladders
from kalibre.repeats.learning import _mean_and_scale, _prepare, _score
from kalibre.repeats.placing import place
from kalibre.repeats.progress import Progress
from kalibre.repeats.rows import HEADER, study_rows
from kalibre.repeats.settings import (
    ladder_study_settings,
    study_settings,
    study_shards,
    summary_settings,
)
from kalibre.repeats.shard import repeat_splits
from kalibre.repeats.shards import SMALLEST, Shard, extent, shards, shards_of
from kalibre.splitting import split_rows
from kalibre.stratified import stratified_cut
from reference import study as reference

LOGISTIC = {"estimator": "sklearn.linear_model.LogisticRegression", "standardise": True}
NAIVE_BAYES = {"estimator": "sklearn.naive_bayes.GaussianNB"}
FOREST = {
    "estimator": "sklearn.ensemble.RandomForestClassifier",
    "params": {"n_estimators": 5, "max_depth": 3},
}
STUDY: dict[str, Any] = {
    "data": {"source": "biopsies"},
    "split": {
        "method": "stratified",
        "parts": {"validation": 171, "calibration": 133},
        "rest": "train",
    },
    "models": {"naive_bayes": NAIVE_BAYES, "logistic": LOGISTIC},
    "calibration": {"calibrators": ["none", "temperature"], "learn_on": ["calibration"]},
    "evaluation": {"on": ["validation"]},
    "repeats": {"splits": 6, "model_seeds": 1},
}
WIN = {"lower": 0, "equal": 0, "higher": 0}


@cache
def biopsies() -> tuple[Columns, Columns]:
    table = make_table({"columns": list(range(10))})
    return table.features, table.roles


def experiment(**sections: Any) -> Experiment:
    return Experiment.model_validate({**STUDY, **sections})


def shard_of(
    spec: Experiment,
    seeds: Sequence[int],
    *,
    roles: Columns | None = None,
    features: Columns | None = None,
    **changed: Any,
) -> tuple[Columns, dict[str, Any]]:
    """A shard's table and its record; `changed` are settings an experiment file has no word for."""
    table, result = repeat_splits(
        features or biopsies()[0],
        roles or biopsies()[1],
        seeds=seeds,
        study={**study_settings(spec), **changed},
    )
    record = {"params": flatten(result.params), "notes": result.notes}
    return table, record


def joined(spec: Experiment, model: str, cuts: Sequence[Sequence[int]], **options: Any) -> Study:
    made = [shard_of(spec, seeds) for seeds in cuts]
    summary = {**summary_settings(spec), **options}
    return join_repeats([t for t, _ in made], [r for _, r in made], model=model, **summary)


def same_columns(one: Columns, other: Columns) -> bool:
    return list(one) == list(other) and all(
        a.names == b.names and np.array_equal(a.codes, b.codes)
        if isinstance(a, Categories) and isinstance(b, Categories)
        else np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
        for a, b in zip(one.values(), other.values(), strict=True)
    )


# ---- The lesson's study -------------------------------------------------------------------------


@pytest.mark.parametrize("first_seed", [0, 100])
def test_every_split_is_that_of_the_lessons_loop(first_seed: int) -> None:
    expected = reference.run_study(5, first_seed)
    table, _ = shard_of(experiment(), range(first_seed, first_seed + 5))
    for model, rows in expected.items():
        for name, column, tolerance in (
            ("none/validation/mean_confidence", 0, 1e-12),
            ("none/validation/accuracy", 1, 0),
            ("none/validation/brier", 2, 1e-12),
            ("temperature/validation/brier", 3, 1e-6),
            # The lesson's search stops within 1e-5 of the temperature it looks for.
            ("temperature/temperature", 4, 1e-5),
        ):
            measured = np.asarray(table[f"{model}/{name}"])
            np.testing.assert_allclose(measured, rows[:, column], rtol=0, atol=tolerance)
        changed = np.asarray(table[f"{model}/temperature/validation/decisions_changed"])
        assert ((changed == 0) == rows[:, 5].astype(bool)).all()


def test_the_lessons_parts_have_265_133_and_171_rows() -> None:
    study = joined(experiment(), "logistic", [range(6)])
    rows = {p: study.result.metrics[f"parts/{p}/rows/mean"] for p in ("train", "calibration")}
    assert rows == {"train": 265, "calibration": 133}
    assert study.result.metrics["parts/validation/rows/mean"] == 171


def test_a_split_has_the_numbers_of_the_stages_with_its_seed() -> None:
    features, roles = biopsies()
    models = {"naive_bayes": NAIVE_BAYES, "logistic": LOGISTIC, "forest": FOREST}
    spec = experiment(models=models)
    table, _ = shard_of(spec, [3])
    parts, _ = split_rows(roles, {**spec.split_settings(), "seed": 3})
    for name, model in study_settings(spec)["models"].items():
        fitted = fit_model(
            features,
            roles,
            parts,
            model=model["settings"],
            preparation=[],
            columns=spec.feature_columns(),
        )
        scores, _, calibrated = calibrate(
            fitted.scores, method="temperature", params={}, learn_on="calibration", declared=[]
        )
        learned = table[f"{name}/temperature/temperature"]
        assert learned == pytest.approx(calibrated.metrics["temperature"], rel=1e-9)
        for calibrator, measured in (("none", fitted.scores), ("temperature", scores)):
            settings = spec.evaluation.model_dump()
            numbers = evaluate(measured, on=["validation"], evaluation=settings, declared=[])
            for metric in ("brier", "log_loss", "roc_auc", "accuracy", "tenths/ece"):
                found = table[f"{name}/{calibrator}/validation/{metric}"]
                expected = numbers.result.metrics[f"validation/{metric}"]
                assert found == pytest.approx(expected, rel=1e-9), (name, calibrator, metric)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=2),
        RandomForestClassifier(3, random_state=0),
        MLPClassifier(2, max_iter=5, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_pass_over_the_rows_gives_the_scores_of_two(estimator: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    estimator.fit(X, (X[:, 0] + random.normal(size=80) > 0).astype(int))
    for found, expected in zip(_score(estimator, X)[:2], score(estimator, X)[:2], strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_standardising_is_scikit_learns_to_the_last_bit(centre: float) -> None:
    random = np.random.default_rng(4)
    rows = random.normal(centre, [1e-9, 1.0, 30.0, 0.0], size=(265, 4))
    scaler = StandardScaler().fit(rows)
    for found, expected in zip(_mean_and_scale(rows), (scaler.mean_, scaler.scale_), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_missing_value_is_left_to_scikit_learn() -> None:
    rows = np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 9.0]])
    prepared, _ = _prepare(StandardScaler(), rows, rows, np.array([0, 1, 1]))
    np.testing.assert_array_equal(prepared, StandardScaler().fit_transform(rows))


SCORES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([-np.inf, -40, -2.2, 0, 0.85, 2, 700, np.inf])),
    min_size=1,
    max_size=30,
)


@given(SCORES, st.booleans())
def test_quick_metrics_are_the_registrys_to_the_last_bit(
    rows: list[tuple[int, float]], weighted: bool
) -> None:
    outcomes, logits = (np.array(column) for column in zip(*rows, strict=True))
    weights = np.arange(1.0, 1 + len(rows)) if weighted else None
    measured = Measured.of(
        outcomes, expit(logits.astype(float)), logits=logits.astype(float), weights=weights
    )
    for name, metric in METRICS.items():
        try:
            expected = metric.function(measured)
        except Undefined as reason:
            with pytest.raises(Undefined, match=re.escape(str(reason))):
                quick.metric(name)(measured)
        else:
            assert quick.metric(name)(measured) == expected
    given = (measured.outcomes, measured.probabilities)
    for rule in (EqualWidth(10), EqualMass(3), OwnEdges((0.1, 0.9))):
        expected = expected_calibration_error(*given, bins=rule, weights=weights)
        np.testing.assert_equal(quick.calibration_error(rule)(measured), expected)
    for level in (Level("confidence", above=0.7), Level("probability", at_least=0.9)):
        counted = count_at_level(*given, level=level, weights=weights)
        np.testing.assert_equal(vars(quick.counts(measured, level)), vars(counted))


# ---- Cuts ---------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=60),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_a_stratified_cut_is_scikit_learns(labels: list[int], share: float, seed: int) -> None:
    # Every label twice, and some labels perhaps not at all.
    codes = np.array(labels + sorted(set(labels)), dtype=np.int64)
    least = len(set(labels))
    wanted = least + int(share * (len(codes) - 2 * least))
    left, cut = stratified_cut(codes, wanted=wanted, seed=seed)
    rows = np.arange(len(codes))
    expected = train_test_split(rows, test_size=wanted, stratify=codes, random_state=seed)
    np.testing.assert_array_equal(left, expected[0])
    np.testing.assert_array_equal(cut, expected[1])


def table_of(rows: int = 200) -> tuple[Columns, Columns]:
    """Two columns that tell something of the outcome; four rows a group, two rows a day."""
    random = np.random.default_rng(1)
    outcome = random.integers(0, 2, rows).astype(np.int8)
    features: Columns = {n: random.normal(size=rows) + outcome for n in ("first", "second")}
    group = Categories.of([f"house {i // 4}" for i in range(rows)])
    return features, {"outcome": outcome, "group": group, "time": np.arange(rows) // 2}


def split_by(method: str) -> dict[str, Any]:
    parts = [["test", 0.3], ["calibration", 0.3]]
    return {"method": method, "parts": parts, "rest": "train"}


def test_a_split_by_group_parts_no_group_and_changes_with_the_seed() -> None:
    _, roles = table_of()
    cutter = Cutter(roles, split_by("group"))
    houses = np.asarray(roles["group"].codes)  # type: ignore[union-attr]
    cuts = [cutter.cut(seed) for seed in range(4)]
    for cut in cuts:
        inside = [set(houses[cut.rows([part])]) for part in ("train", "calibration", "test")]
        assert sum(map(len, inside)) == len(set.union(*inside)) == 50
    assert len({tuple(sorted(cut.rows(["test"]).tolist())) for cut in cuts}) == 4


def test_a_split_by_time_cuts_another_window_each_time_and_keeps_what_is_later_later() -> None:
    _, roles = table_of()
    cutter = Cutter(roles, split_by("time"), window=0.5)
    times = np.asarray(roles["time"])
    starts = set()
    for seed in range(8):
        cut = cutter.cut(seed)
        spans = [times[cut.rows([p])] for p in ("train", "calibration", "test")]
        assert all(a.max() < b.min() for a, b in pairwise(spans))
        assert len(cut.row) == 100
        assert set(np.diff(np.sort(cut.row))) == {1}
        starts.add(int(cut.row.min()))
    assert len(starts) > 4


def test_a_whole_window_is_the_split_by_time_itself() -> None:
    _, roles = table_of()
    cut = Cutter(roles, split_by("time"), window=1.0).cut(5)
    made = make_split(roles, {**split_by("time"), "seed": 0})
    np.testing.assert_array_equal(cut.row, made.order)


@pytest.mark.parametrize("method", ["shuffle", "random", "stratified", "group", "time"])
def test_every_method_can_be_repeated(method: str) -> None:
    features, roles = table_of()
    spec = experiment(
        split={**STUDY["split"], "parts": {"test": 0.3, "calibration": 0.3}},
        evaluation={"on": ["test"]},
    )
    table, _ = shard_of(
        spec,
        range(3),
        features=features,
        roles=roles,
        columns=["first", "second"],
        split=split_by(method),
    )
    assert np.isfinite(np.asarray(table["logistic/temperature/test/brier"])).all()


def test_parts_that_a_column_names_cannot_be_repeated() -> None:
    with pytest.raises(InputError, match="one split only"):
        Cutter(biopsies()[1], {"method": "column"})


@pytest.mark.parametrize("method", ["group", "time"])
def test_a_method_without_its_column_is_said(method: str) -> None:
    with pytest.raises(InputError, match=f"data.{method}"):
        Cutter(biopsies()[1], split_by(method)).cut(0)


def test_a_window_too_small_for_its_parts_is_said() -> None:
    _, roles = table_of()
    split = {"method": "time", "parts": [["test", 90]], "rest": "train"}
    with pytest.raises(InputError, match=r"seed 4.*90 rows.*repeats\.window"):
        Cutter(roles, split, window=0.4).cut(4)


def test_an_unknown_method_is_said_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="stratified"):
        make_split(biopsies()[1], {**split_by("stratifed"), "seed": 0})


# ---- Shards -------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.integers(0, 10**6), st.integers(1, 700))
def test_shards_hold_every_seed_once(splits: int, first_seed: int, most: int) -> None:
    made = shards(splits, first_seed=first_seed, most=most)
    seeds = [seed for shard in made for seed in shard.seeds]
    assert seeds == list(range(first_seed, first_seed + splits))
    assert max(shard.count for shard in made) <= most


@given(st.integers(1, 2000), st.integers(1, 2000), st.integers(1, 700))
def test_more_splits_leave_all_shards_but_a_cut_last_one(few: int, more: int, most: int) -> None:
    before = shards(few, most=most)
    after = shards(few + more, most=most)
    assert set(before[:-1]) <= set(after)


def test_from_50_to_200_splits_nothing_is_done_again() -> None:
    assert set(shards(50, most=250)) < set(shards(200, most=250))


def test_a_large_study_is_few_shards_and_a_small_one_can_use_two_cores() -> None:
    assert len(shards(10_000, most=1000)) < 20
    assert [shard.count for shard in shards(100, most=1000)] == [SMALLEST, SMALLEST]


@given(st.integers(0, 2**32), st.integers(1, 10**6), st.integers(1, 1000))
def test_a_shards_and_a_studys_name_can_be_read_again(first: int, count: int, most: int) -> None:
    assert Shard.named(Shard(first, count).name) == Shard(first, count)
    word = extent(count % 5000 + 1, first_seed=first, most=most)
    assert shards_of(word) == shards(count % 5000 + 1, first_seed=first, most=most)


@pytest.mark.parametrize("name", ["seeds_3_to_2", "seeds_1", "shard_0", "seeds_-1_to_4"])
def test_what_names_no_shard_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Shard.named(name)


def test_the_result_does_not_depend_on_how_the_splits_were_sharded() -> None:
    spec = experiment(models={"logistic": LOGISTIC, "forest": FOREST}, repeats={"splits": 6})
    whole = joined(spec, "forest", [range(6)])
    for cuts in ([range(2), range(2, 6)], [range(5, 6), range(3), range(3, 5)]):
        other = joined(spec, "forest", cuts)
        assert other.result == whole.result
        assert same_columns(other.splits, whole.splits)
        assert same_columns(other.further, whole.further)
        assert same_columns(other.series, whole.series)


def test_settings_beside_the_study_leave_its_shards_alone() -> None:
    spec = experiment()
    for changed in (
        {"title": "another"},
        {"repeats": {"splits": 900, "first_seed": 7, "shard": 30, "model_seeds": 1}},
        {"evaluation": {"on": ["validation"], "each_row": True, "metrics": ["brier"]}},
        {"split": {**STUDY["split"], "seed": 11}},
    ):
        assert study_settings(experiment(**changed)) == study_settings(spec)
    assert [s.count for s in study_shards(spec)] == [6]


def test_shards_of_other_settings_are_not_joined() -> None:
    one = shard_of(experiment(), range(3))
    other = shard_of(experiment(evaluation={"on": ["validation"], "levels": []}), range(3, 6))
    with pytest.raises(InputError, match="different settings"):
        join_repeats(
            [one[0], other[0]],
            [one[1], other[1]],
            model="logistic",
            **summary_settings(experiment()),
        )


def test_a_missing_split_is_named() -> None:
    with pytest.raises(InputError, match=r"5 splits, not the 6.*has seed 2"):
        joined(experiment(), "logistic", [range(2), range(3, 6)])


def test_a_model_that_refuses_the_rows_is_named_with_the_seed() -> None:
    features, _ = biopsies()
    holes: Columns = {**features, "mean_radius": np.full(569, np.nan)}
    with pytest.raises(InputError, match=r"'logistic', split with seed 4: .*NaN"):
        shard_of(experiment(models={"logistic": LOGISTIC}), [4], features=holes)


# ---- What is measured ---------------------------------------------------------------------------


def test_calibrators_follow_one_another_and_each_is_compared_with_none() -> None:
    calibrators = {
        "sharper": {"method": "sharpen", "params": {"power": 2}},
        "cooled": {"method": "temperature", "after": "sharper"},
        "plain": {"method": "temperature"},
    }
    spec = experiment(models={"logistic": LOGISTIC}, calibration={"calibrators": calibrators})
    study = joined(spec, "logistic", [range(6)])
    table = study.splits
    # A temperature undoes the sharpening before it.
    np.testing.assert_allclose(
        np.asarray(table["cooled/temperature"]), 2 * np.asarray(table["plain/temperature"])
    )
    np.testing.assert_allclose(
        np.asarray(table["cooled/validation/brier"]), np.asarray(table["plain/validation/brier"])
    )
    difference = np.asarray(table["cooled/validation/brier"]) - np.asarray(
        table["none/validation/brier"]
    )
    found = study.result.metrics["cooled/validation/brier/minus_none/mean"]
    assert found == pytest.approx(difference.mean())


# ---- Which calibrator, and how many rows it needs -------------------------------------------------


COMPARED = ["none", "temperature", "isotonic"]


def test_a_calibrator_learned_on_fewer_rows_is_that_of_these_rows_alone() -> None:
    spec = experiment(
        models={"naive_bayes": NAIVE_BAYES}, repeats={"splits": 3, "calibration_rows": [40, 133]}
    )
    table, _ = shard_of(spec, [2])
    # All rows of the part, in another order, are the whole calibrator.
    for name in ("brier", "log_loss", "tenths/ece"):
        whole = table[f"naive_bayes/temperature/validation/{name}"]
        np.testing.assert_allclose(
            table[f"naive_bayes/temperature/rows_133/validation/{name}"], whole
        )
        assert table[f"naive_bayes/temperature/rows_40/validation/{name}"] != whole
    # The same forty rows, by hand: the calibration part cut down to them beforehand.
    cut = Cutter(biopsies()[1], study_settings(spec)["split"]).cut(2)
    rows = cut.rows(["calibration"])
    outcome = np.asarray(biopsies()[1]["outcome"])
    chosen = rows[nested_order(outcome[rows], 2)[:40]]
    model = GaussianNB().fit(*arrays(cut.rows(["train"])))
    logits = [
        difference_of_log_probabilities(model, arrays(r)[0])
        for r in (chosen, cut.rows(["validation"]))
    ]
    fitted = make_calibrator("temperature").fit(logits[0], outcome[chosen])
    said, _ = fitted.transform(expit(logits[1]), logits[1])
    brier = np.mean((said - outcome[cut.rows(["validation"])]) ** 2)
    assert table["naive_bayes/temperature/rows_40/validation/brier"] == pytest.approx(brier)


def arrays(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    features, roles = biopsies()
    values = np.column_stack(
        [np.asarray(features[name]) for name in experiment().feature_columns()]
    )
    return values[rows], np.asarray(roles["outcome"])[rows]


def difference_of_log_probabilities(model: Any, rows: np.ndarray) -> np.ndarray:
    logs = model.predict_log_proba(rows)
    return logs[:, 1] - logs[:, 0]


@given(
    outcomes=st.lists(st.integers(0, 1), min_size=2, max_size=60),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_first_rows_of_the_order_keep_the_share_of_positives(
    outcomes: list[int], seed: int
) -> None:
    order = nested_order(outcomes, seed)
    assert sorted(order.tolist()) == list(range(len(outcomes)))
    share = np.mean(outcomes)
    positives = np.cumsum(np.asarray(outcomes)[order])
    assert np.all(np.abs(positives - share * np.arange(1, len(outcomes) + 1)) <= 1)


def test_more_calibration_rows_than_the_part_has_are_refused() -> None:
    spec = experiment(repeats={"splits": 2, "calibration_rows": [20, 134]})
    with pytest.raises(InputError, match="134 rows asked for, and part 'calibration' has 133"):
        shard_of(spec, [0])


def test_fewer_calibration_rows_are_compared_with_none_and_count_as_what_was_learned() -> None:
    spec = experiment(
        models={"naive_bayes": NAIVE_BAYES}, repeats={"splits": 6, "calibration_rows": [40]}
    )
    found = joined(spec, "naive_bayes", [range(6)])
    path = "temperature/rows_40/validation/brier"
    columns = {name: np.asarray(found.splits[name]) for name in (path, "none/validation/brier")}
    differences = columns[path] - columns["none/validation/brier"]
    metrics = found.result.metrics
    assert metrics[f"{path}/minus_none/mean"] == pytest.approx(differences.mean())
    half = stats.t.ppf(0.975, df=5) * np.sqrt(differences.var(ddof=1) * (1 / 6 + 171 / (265 + 40)))
    assert metrics[f"{path}/minus_none/corrected_high"] == pytest.approx(differences.mean() + half)
    assert f"{path}/minus_temperature/mean" not in metrics


def test_calibrators_are_compared_with_one_another_by_the_corrected_test() -> None:
    spec = experiment(
        models={"naive_bayes": NAIVE_BAYES},
        calibration={"calibrators": COMPARED, "learn_on": ["calibration"]},
    )
    found = joined(spec, "naive_bayes", [range(6)])
    names = {c: f"{c}/validation/brier" for c in COMPARED}
    values = {c: np.asarray(found.splits[name]) for c, name in names.items()}
    metrics = found.result.metrics
    for first, second in (
        ("isotonic", "none"),
        ("temperature", "none"),
        ("temperature", "isotonic"),
    ):
        differences = values[first] - values[second]
        deviation = np.sqrt(differences.var(ddof=1) * (1 / 6 + 171 / (265 + 133)))
        p_value = 2 * stats.t.sf(abs(differences.mean()) / deviation, df=5)
        path = f"{names[first]}/minus_{second}"
        assert metrics[f"{path}/corrected_p_value"] == pytest.approx(p_value)
        assert metrics[f"{path}/mean"] == pytest.approx(differences.mean())


def test_weights_count_as_repeated_rows() -> None:
    features, roles = table_of()
    spec = experiment(
        split={"method": "random", "parts": {"test": 0.3, "calibration": 0.3}, "rest": "train"},
        evaluation={"on": ["test"]},
        models={"naive_bayes": NAIVE_BAYES},
    )
    options: Mapping[str, Any] = {"features": features, "columns": ["first", "second"]}
    plain, _ = shard_of(spec, [0], roles=roles, **options)
    doubled, _ = shard_of(spec, [0], roles={**roles, "weight": np.full(200, 2.0)}, **options)
    for name in ("brier", "roc_auc", "tenths/ece"):
        column = f"naive_bayes/temperature/test/{name}"
        np.testing.assert_allclose(doubled[column], plain[column])


def test_a_part_of_one_class_has_no_auc_and_says_why() -> None:
    features, _ = table_of()
    outcome = np.zeros(200, dtype=np.int8)
    outcome[:4] = 1
    spec = experiment(
        split={"method": "random", "parts": {"test": 20, "calibration": 20}, "rest": "train"},
        evaluation={"on": ["test"]},
        models={"naive_bayes": NAIVE_BAYES},
    )
    made = shard_of(
        spec,
        range(6),
        features=features,
        roles={"outcome": outcome},
        columns=["first", "second"],
    )
    study = join_repeats([made[0]], [made[1]], model="naive_bayes", **summary_settings(spec))
    auc = np.asarray(study.splits["none/test/roc_auc"])
    missing = int(np.isnan(auc).sum())
    assert 0 < missing < 6
    assert study.result.metrics["none/test/roc_auc/splits"] == 6 - missing
    assert study.result.metrics["none/test/roc_auc/mean"] == pytest.approx(np.nanmean(auc))
    said = study.splits["undefined"]
    assert isinstance(said, Categories)
    where = [text for text, value in zip(said.values(), auc, strict=True) if np.isnan(value)]
    assert all("none/test/roc_auc: one class only" in text for text in where)


def test_rows_of_one_class_to_learn_from_leave_a_split_without_numbers() -> None:
    features, _ = table_of()
    outcome = np.zeros(200, dtype=np.int8)
    outcome[0] = 1
    spec = experiment(
        split={"method": "random", "parts": {"test": 50, "calibration": 100}, "rest": "train"},
        evaluation={"on": ["test"]},
        models={"naive_bayes": NAIVE_BAYES},
        repeats={"splits": 2},
    )
    seeds = [s for s in range(40) if _in_train(spec, outcome, s)][:1]
    table, _ = shard_of(
        spec,
        [*seeds, seeds[0] + 1],
        features=features,
        roles={"outcome": outcome},
        columns=["first", "second"],
    )
    assert "naive_bayes/none/test/brier" not in table or np.isnan(
        np.asarray(table["naive_bayes/none/test/brier"])[1]
    )
    said = table["naive_bayes/undefined"]
    assert isinstance(said, Categories)
    assert "would learn from have outcome 0" in said.values()[1]


def _in_train(spec: Experiment, outcome: np.ndarray, seed: int) -> bool:
    """Whether the one positive row is learned from with this seed, and is not with the next."""
    cutter = Cutter({"outcome": outcome}, study_settings(spec)["split"])
    return 0 in cutter.cut(seed).rows(["train"]) and 0 not in cutter.cut(seed + 1).rows(["train"])


def test_an_overlap_that_nobody_declared_stops_the_study() -> None:
    study = study_settings(experiment())
    model = study["models"]["logistic"]
    settings = {**model["settings"], "learn_on": ["train", "calibration"]}
    with pytest.raises(InputError, match="both to fit and to calibrate"):
        shard_of(experiment(), [0], models={"logistic": {**model, "settings": settings}})


def test_what_is_said_on_many_splits_is_said_once_with_how_often() -> None:
    spec = experiment(
        models={"naive_bayes": NAIVE_BAYES},
        calibration={"calibrators": ["none", "isotonic"], "learn_on": ["calibration"]},
    )
    notes = joined(spec, "naive_bayes", [range(6)]).result.notes
    assert any(
        note.startswith("on 6 of 6 splits: isotonic was learned from 133 rows") for note in notes
    )
    assert len(notes) < 6


# ---- What the splits say together ---------------------------------------------------------------


def test_both_intervals_are_those_of_their_formulas() -> None:
    random = np.random.default_rng(3)
    before, after = random.normal(size=20), random.normal(0.3, 1, size=20)
    numbers = Numbers()
    add_difference(numbers, "d", after, before, ratio=0.43, level=0.9)
    differences = after - before
    mean, variance = differences.mean(), differences.var(ddof=1)
    t = stats.t.ppf(0.95, df=19)
    for kind, share in (("naive", 1 / 20), ("corrected", 1 / 20 + 0.43)):
        half = t * np.sqrt(variance * share)
        assert numbers.metrics[f"d/{kind}_low"] == pytest.approx(mean - half)
        assert numbers.metrics[f"d/{kind}_high"] == pytest.approx(mean + half)


def test_the_rows_of_a_calibrator_count_as_learned_in_the_corrected_interval() -> None:
    study = joined(experiment(), "naive_bayes", [range(6)])
    metrics = study.result.metrics
    path = "temperature/validation/brier/minus_none"
    naive, corrected = (
        metrics[f"{path}/{kind}_high"] - metrics[f"{path}/{kind}_low"]
        for kind in ("naive", "corrected")
    )
    assert corrected / naive == pytest.approx(np.sqrt(1 + 6 * 171 / (265 + 133)))


def test_wins_are_counted_on_unrounded_values() -> None:
    numbers = Numbers()
    before = np.array([1, 1, 1, 1, np.nan])
    add_difference(numbers, "d", [1 - 1e-15, 1, 2, 3, 4], before, ratio=0.5, level=0.95)
    counts = {name: numbers.metrics[f"d/{name}"] for name in WIN}
    assert counts == {"lower": 1, "equal": 1, "higher": 2}


def test_a_difference_without_variance_has_no_interval() -> None:
    numbers = Numbers()
    add_difference(numbers, "d", np.ones(4), np.ones(4), ratio=0.5, level=0.95)
    assert numbers.metrics["d/mean"] == 0
    assert "no variance" in numbers.undefined["d/corrected_low"]


def test_one_split_has_a_difference_but_no_interval() -> None:
    metrics = joined(experiment(repeats={"splits": 1}), "naive_bayes", [range(1)])
    path = "temperature/validation/brier/minus_none"
    assert path + "/mean" in metrics.result.metrics
    assert "two splits" in metrics.result.undefined[path + "/naive_low"]


def test_a_distribution_is_its_mean_spread_and_quantiles() -> None:
    numbers = Numbers()
    values = np.array([3.0, 1, 2, 4, np.nan])
    add_distribution(numbers, "m", values, quantiles=[0.25, 0.5], reason="none")
    assert numbers.metrics == {
        "m/splits": 4,
        "m/mean": 2.5,
        "m/standard_deviation": pytest.approx(np.std([1, 2, 3, 4], ddof=1)),
        "m/quantile_0.25": 1.75,
        "m/quantile_0.5": 2.5,
    }


def test_a_measurement_without_any_value_is_undefined_with_its_reason() -> None:
    numbers = Numbers()
    add_distribution(numbers, "m", [np.nan] * 3, quantiles=[0.5], reason="one class only")
    assert numbers.undefined == {"m/mean": "in none of 3 splits: one class only"}


def test_variance_from_split_and_from_seed_are_told_apart() -> None:
    random = np.random.default_rng(0)
    splits, fits = 4000, 3
    of_split = random.normal(0, 2.0, splits)
    values = of_split[:, None] + random.normal(0, 0.5, (splits, fits))
    seeds = np.repeat(np.arange(splits), fits)
    numbers = Numbers()
    add_variances(numbers, "m", values.ravel(), seeds, np.tile(np.arange(fits), splits))
    assert numbers.metrics["m/variance_from_model_seed"] == pytest.approx(0.25, rel=0.05)
    assert numbers.metrics["m/variance_from_split"] == pytest.approx(4.0, rel=0.1)


def test_variances_are_those_of_a_hand_worked_case() -> None:
    numbers = Numbers()
    # Two splits with two seeds each, one with its own alone.
    add_variances(numbers, "m", [1, 3, 6, 6, 2], [0, 0, 1, 1, 2], [0, 1, 0, 1, 0])
    assert numbers.metrics["m/variance_from_model_seed"] == pytest.approx((1 + 1 + 0 + 0) / 2)
    assert numbers.metrics["m/variance"] == pytest.approx(np.var([1, 6, 2], ddof=1))
    assert numbers.metrics["m/variance_from_split"] == pytest.approx(7 - 1)


def test_only_a_model_with_a_seed_is_fitted_with_further_ones() -> None:
    models = {"naive_bayes": NAIVE_BAYES, "forest": FOREST}
    repeats = {"splits": 6, "model_seeds": 3, "model_seeds_every": 3}
    spec = experiment(models=models, repeats=repeats)
    forest, plain = (joined(spec, name, [range(6)]) for name in ("forest", "naive_bayes"))
    assert np.asarray(forest.further["seed"]).tolist() == [0, 0, 3, 3]
    assert np.asarray(forest.further["further_seed"]).tolist() == [1, 2, 1, 2]
    assert len(forest.splits["seed"]) == len(plain.splits["seed"]) == 6
    assert len(plain.further["seed"]) == 0
    assert forest.result.metrics["none/validation/brier/variance_from_model_seed"] > 0
    assert "none/validation/brier/variance" not in plain.result.metrics
    assert any("takes no seed" in note for note in plain.result.notes)
    assert any("rests on 4 further fits" in note for note in forest.result.notes)


def test_a_seed_that_the_experiment_fixes_is_not_the_models_own() -> None:
    fixed = {**FOREST, "params": {**FOREST["params"], "random_state": 5}}
    spec = experiment(models={"forest": fixed}, repeats={"splits": 2, "model_seeds": 2})
    assert len(joined(spec, "forest", [range(2)]).further["seed"]) == 0


def test_the_series_has_at_most_six_metrics_and_a_long_one_is_thinned() -> None:
    spec = experiment(models={"logistic": LOGISTIC}, repeats={"splits": 3, "model_seeds": 1})
    table, record = shard_of(spec, range(3))
    many = {
        name: Categories.of(np.resize(column.values(), 2500))
        if isinstance(column, Categories)
        else np.resize(column, 2500)
        for name, column in table.items()
    }
    many["seed"] = np.arange(2500)
    many["further_seed"] = np.zeros(2500, dtype=np.int64)
    summary = {**summary_settings(spec), "splits": 2500}
    study = join_repeats([many], [record], model="logistic", **summary)
    assert len(study.series) == 7
    steps = np.asarray(study.series["step"])
    assert len(steps) == 500
    assert (steps[0], steps[-1]) == (0, 2499)


def test_the_table_says_of_each_split_whether_every_decision_was_kept() -> None:
    study = joined(experiment(), "naive_bayes", [range(6)])
    kept = np.asarray(study.splits["temperature/validation/decisions_kept"])
    assert kept.dtype == bool
    assert kept.all()
    assert study.result.metrics["temperature/validation/decisions_kept/count"] == 6


def test_the_settings_after_defaults_are_params_of_the_summary() -> None:
    params = flatten(joined(experiment(), "logistic", [range(6)]).result.params)
    assert params["calibrators/temperature/params/low"] == 0.05
    assert params["calibrators/temperature/params/high"] == 20
    assert params["params/C"] == 1.0
    assert params["bins/tenths"].startswith("10 bins of equal width")


# ---- The ladder on many splits ------------------------------------------------------------------

LADDER: dict[str, Any] = {
    "data": {
        "source": "subscribers",
        "candidates": 300,
        "columns": ["mean_consumption", "volatility", "satisfaction_masked", "tariff_code"],
    },
    "split": {"method": "shuffle", "parts": {"train": 150, "validation": 50}, "rest": "test"},
    "preparation": [
        {"step": "kalibre.preparation.steps.UpperMedianFill", "columns": ["satisfaction_masked"]},
        {"step": "kalibre.preparation.steps.MeanTargetCode", "columns": ["tariff_code"]},
    ],
    "models": {"tree": {"estimator": "kalibre.models.tree.GiniTree", "params": {"max_depth": 3}}},
    "evaluation": {"on": ["test"]},
    "folds": {"count": 4, "method": "contiguous"},
    "repeats": {"splits": 4, "ladder": True},
}


@cache
def subscribers() -> tuple[Columns, Columns]:
    table = make_subscribers({"seed": 20260218, "candidates": 300, "columns": []})
    return table.features, table.roles


def ladders(cuts: Sequence[Sequence[int]], **sections: Any) -> LadderStudy:
    spec = Experiment.model_validate({**LADDER, **sections})
    tables, records = [], []
    for seeds in cuts:
        table, result = repeat_ladder(
            *subscribers(), seeds=seeds, study=ladder_study_settings(spec)
        )
        tables.append(table)
        records.append({"params": flatten(result.params)})
    return join_ladders(tables, records, model="tree", **summary_settings(spec))


def test_a_splits_rungs_are_those_of_the_ladder_with_its_seed() -> None:
    features, roles = subscribers()
    spec = Experiment.model_validate(LADDER)
    study = ladders([range(4)])
    parts, _ = split_rows(roles, {**spec.split_settings(), "seed": 2})
    ladder = Ladder.build(
        features,
        roles,
        parts,
        folds=spec.folds_settings(),
        model=spec.models["tree"].model_dump(),
        preparation=[step.model_dump() for step in spec.preparation],
        columns=spec.feature_columns(),
    )
    table = study.folds
    rung = table["rung"]
    assert isinstance(rung, Categories)
    for name in spec.rungs():
        expected = [row["accuracy"] for row in climb_rung(ladder, name)[1]]
        chosen = (np.asarray(table["seed"]) == 2) & rung.isin([name])
        assert np.asarray(table["accuracy"])[chosen].tolist() == expected


def test_a_leak_on_many_splits_has_an_interval_of_all_its_folds() -> None:
    study = ladders([range(4)])
    metrics, table = study.result.metrics, study.folds
    rung = table["rung"]
    assert isinstance(rung, Categories)
    outside, inside = (
        np.asarray(table["accuracy"])[rung.isin([name])] for name in ("2_outside", "0_outside")
    )
    leak = outside - inside
    assert len(leak) == 16
    assert metrics["2_outside/accuracy/leak/mean"] == pytest.approx(leak.mean())
    half = stats.t.ppf(0.975, 15) * np.sqrt(leak.var(ddof=1) * (1 / 16 + 50 / 150))
    found = metrics["2_outside/accuracy/leak/corrected_high"]
    assert found == pytest.approx(leak.mean() + half)
    counts = [metrics[f"2_outside/accuracy/leak/{name}"] for name in WIN]
    by_split = leak.reshape(4, 4).mean(axis=1)
    assert counts == [(by_split < 0).sum(), (by_split == 0).sum(), (by_split > 0).sum()]


def test_ladders_do_not_depend_on_how_the_splits_were_sharded() -> None:
    whole, cut = ladders([range(4)]), ladders([range(3, 4), range(3)])
    assert whole.result == cut.result
    assert same_columns(whole.folds, cut.folds)


# ---- Placing a printed figure -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "expected"), [(0.2, 40.0), (0.25, 60.0), (0.0, 0.0), (9.0, 100.0)]
)
def test_a_percentile_counts_values_that_print_alike_half(printed: float, expected: float) -> None:
    values = [0.16, 0.12, 0.23, 0.41, 0.33, np.nan]
    # At one digit: 0.2, 0.1, 0.2, 0.4, 0.3.
    found = percentile(values, printed, decimals=1 if printed == 0.2 else 2)
    assert found == pytest.approx(expected)


def test_without_a_value_there_is_no_percentile() -> None:
    assert percentile([np.nan], 1.0, decimals=1) is None


def test_a_figure_is_placed_among_the_same_figure_of_the_splits() -> None:
    study = joined(experiment(), "naive_bayes", [range(6)])
    measured = 100 * np.asarray(study.splits["none/validation/mean_confidence"])
    learned = np.asarray(study.splits["temperature/temperature"])

    def figure(metrics: Mapping[str, float]) -> float:
        return 100 * metrics["evaluate/naive_bayes/none/validation/mean_confidence"]

    studies = {"naive_bayes": study.splits}
    found = place(figure, float(np.median(measured)), decimals=6, studies=studies)
    assert found is not None
    assert found.percentile == pytest.approx(50)
    assert found.note == "at percentile 50 among 6 splits (seeds 0 to 5)"
    highest = place(
        lambda metrics: metrics["calibrate/naive_bayes/temperature/temperature"],
        float(learned.max()) + 1,
        decimals=2,
        studies=studies,
    )
    assert highest is not None
    assert highest.percentile == 100


# ---- For people ---------------------------------------------------------------------------------


def test_a_study_is_shown_as_a_line_a_model_and_calibrator() -> None:
    study = joined(experiment(), "naive_bayes", [range(6)])
    record = {
        "rule": "join_repeats",
        "subject": {"model": "naive_bayes"},
        "metrics": dict(study.result.metrics),
        "params": flatten(study.result.params),
    }
    before, after = study_rows([{"rule": "evaluate"}, record])
    assert set(before) == set(after) == set(HEADER)
    assert (before["calibrator"], before["difference"]) == ("none", None)
    assert (after["lower in"], after["kept in"], after["splits"]) == (6, 6, 6)
    assert after["learned"].startswith("temperature ")
    assert after["from"] < after["difference"] < after["to"]


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def progress(folder: Path, shard: Shard, said: list[str], clock: Clock) -> Progress:
    return Progress(
        shard,
        shards(200, most=100),
        settings="same",
        experiment="study",
        logs=folder,
        record=lambda name: folder / name / "record.json",
        say=said.append,
        clock=clock,
    )


def test_progress_adds_up_all_shards_and_says_how_long_it_will_take(tmp_path: Path) -> None:
    first, second, third = shards(200, most=100)
    # One shard is done; another was made with other settings and will be done again.
    for shard, settings in ((first, "same"), (second, "other")):
        record = {"params": {"settings": settings}}
        files.write_json(tmp_path / shard.name / "record.json", record)
    said: list[str] = []
    clock = Clock()
    with progress(tmp_path, third, said, clock) as work:
        for _ in range(10):
            clock.now += 0.5
            work.advance()
    assert said[-1] == "study: 54 of 200 splits (27 %), about 73 s left"
    # Ten calls in five seconds, and hardly anything said: nobody wants to read that much.
    assert len(said) == 1


def test_progress_of_two_processes_counts_both(tmp_path: Path) -> None:
    first, second, _ = shards(200, most=100)
    said: list[str] = []
    clock = Clock()
    with (
        progress(tmp_path, first, said, clock) as one,
        progress(tmp_path, second, said, clock) as other,
    ):
        for work in (one, other):
            for _ in range(20):
                clock.now += 1
                work.advance()
        assert said[-1].startswith("study: ")
        one._done = first.count - 1
        clock.now += 1
        one.advance()
        done, _ = other._total()
        assert done == first.count + 20


def test_the_end_of_a_study_is_said(tmp_path: Path) -> None:
    *others, last = shards(120, most=100)
    for shard in others:
        record = {"params": {"settings": "same"}}
        files.write_json(tmp_path / shard.name / "record.json", record)
    said: list[str] = []
    clock = Clock()
    work = Progress(
        last,
        shards(120, most=100),
        settings="same",
        experiment="study",
        logs=tmp_path,
        record=lambda name: tmp_path / name / "record.json",
        say=said.append,
        clock=clock,
    )
    with work:
        for _ in range(last.count):
            work.advance()
    assert said == ["study: 120 of 120 splits (100 %)"]
    assert not list(tmp_path.glob("*.progress"))


def test_a_killed_process_counts_nothing(tmp_path: Path) -> None:
    first, second, _ = shards(200, most=100)
    said: list[str] = []
    clock = Clock()
    with progress(tmp_path, second, said, clock) as work:
        left = files.read_json(tmp_path / f"{second.name}.progress")
        # No process has this number: it is above what the system gives.
        files.write_json(
            tmp_path / f"{first.name}.progress", {**left, "process": 2**22 + 1, "done": 40}
        )
        assert work._total()[0] == 0
