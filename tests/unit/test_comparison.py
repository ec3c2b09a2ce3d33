"""Comparisons: the course's table, what an alteration does, and rows that may not be measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.preprocessing import StandardScaler

from kalibre.comparison import (
    Side,
    closing_counts,
    contribution,
    expand_columns,
    measure_variant,
)
from kalibre.data.subscribers import generate_subscribers
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.comparisons import Comparisons
from kalibre.models.linear import GradientDescentLogistic
from kalibre.preparation.frames import to_frame
from kalibre.splits import lesson_split
from reference import lesson_course as oracle

SEED = 20260218
CHAIN = [
    {"step": "kalibre.preparation.steps.UpperMedianFill", "columns": ["satisfaction_masked"]},
    {
        "step": "kalibre.preparation.steps.MeanTargetCode",
        "columns": ["tariff_code"],
        "params": {"names": {"tariff_code": "tariff_target"}},
    },
    {"step": "kalibre.preparation.steps.RootGainSelect"},
]
USAGE = ["mean_consumption", "volatility", "household", "satisfaction", "periods", "zero_reading"]
REGIONS = [f"region_{name}" for name in ("north", "south", "east", "west", "centre")]
SECTION: dict[str, Any] = {
    "models": {
        "tree": {
            "estimator": "kalibre.models.tree.GiniTree",
            "params": {"max_depth": 6, "min_leaf": 2},
        },
        "linear": {
            "estimator": "kalibre.models.linear.GradientDescentLogistic",
            "params": {"standardise": False},
        },
    },
    "column_sets": {
        "usage": USAGE,
        "base": USAGE + REGIONS,
        "chain": [
            *("satisfaction_masked" if name == "satisfaction" else name for name in USAGE),
            *(*REGIONS, "per_person", "seal_broken", "tariff_code"),
        ],
    },
    "defaults": {"model": "tree", "columns": ["base"]},
}
SCALE = [{"step": "sklearn.preprocessing.StandardScaler"}]
ENTERED = [
    {
        "alter": "wrong_unit",
        "seed": 1,
        "params": {"columns": ["mean_consumption", "volatility"], "share": 0.1},
    },
    {"alter": "wrong_sign", "seed": 2, "params": {"columns": ["mean_consumption"], "share": 0.1}},
    {"alter": "varied_spelling", "seed": 3, "params": {"columns": ["region"], "share": 0.2}},
]
CORRECTED = [
    {
        "step": "kalibre.preparation.corrections.RestoreUnit",
        "columns": ["mean_consumption", "volatility"],
        "params": {"told_by": "mean_consumption", "above": 200},
    },
    {
        "step": "sklearn.preprocessing.FunctionTransformer",
        "columns": ["mean_consumption"],
        "params": {"func": {"function": "numpy.absolute"}},
    },
    {"step": "kalibre.preparation.corrections.TidyText", "columns": ["region"]},
    {
        "step": "sklearn.preprocessing.OneHotEncoder",
        "columns": ["region"],
        "params": {"categories": [["north", "south", "east", "west", "centre"]]},
    },
]
FOLDS = {"method": "contiguous", "count": 4}
ROWS = [
    {
        "name": "cleaning",
        "both": {"columns": ["usage", "region"], "alterations": ENTERED},
        "before": {"preparation": [CORRECTED[-1] | {"params": {"handle_unknown": "ignore"}}]},
        "after": {"preparation": CORRECTED},
    },
    {
        "name": "scaling",
        "both": {"model": "linear"},
        "before": {"row_orders": 5},
        "after": {"preparation": SCALE},
    },
    {"name": "categorical", "before": {"columns": ["usage"]}, "after": {}},
    {"name": "imbalance", "before": {}, "after": {"positives_copies": 2}},
    {"name": "creation", "before": {}, "after": {"columns": ["base", "per_person"]}},
    {
        "name": "selection",
        "before": {"columns": ["base", "per_person"]},
        "after": {"columns": ["base", "per_person", "seal_broken"]},
    },
    {
        "name": "pipelines",
        "both": {"columns": ["chain"], "preparation": CHAIN},
        "before": {
            "preparation_learned_on": ["train", "validation", "test"],
            "declared_overlap": "learned on every row, which is what is measured",
        },
        "after": {},
    },
    {
        "name": "cross_validation",
        "both": {"columns": ["chain"], "preparation": CHAIN, "learned_on": ["train", "validation"]},
        "before": {"folds": {**FOLDS, "outside": 3}},
        "after": {"folds": {**FOLDS, "outside": 0}},
    },
]


def settings(*rows: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return plain(Comparisons.model_validate({**SECTION, **changes, "rows": list(rows)}))


@cache
def table(seed: int = SEED, candidates: int = 1400) -> tuple[pd.DataFrame, np.ndarray, dict]:
    columns = generate_subscribers(seed=seed, candidates=candidates)
    sizes = {"train": 756, "validation": 252}
    split = lesson_split(len(columns["id"]), seed=seed + 90000, sizes=sizes, rest="test")
    parts = {name: split.rows(name) for name in split.names}
    return to_frame(columns), columns["suspicious"], parts


def measure(variant: Mapping[str, Any], seed: int = SEED, candidates: int = 1400) -> Side:
    frame, y, parts = table(seed, candidates)
    section = settings({"name": "x", "before": dict(variant), "after": {}})
    return measure_variant(
        frame,
        y,
        parts=parts,
        variant=section["rows"][0]["before"],
        models=section["models"],
        column_sets=section["column_sets"],
    )


@cache
def measured(name: str, seed: int = SEED, candidates: int = 1400) -> tuple[Side, Side]:
    """Before and after of one row of the course's table."""
    row = next(row for row in ROWS if row["name"] == name)
    before, after = ({**row.get("both", {}), **row[side]} for side in ("before", "after"))
    return measure(before, seed, candidates), measure(after, seed, candidates)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("cleaning", None, "0.7778"),
        ("scaling", None, "0.8016"),
        ("categorical", "0.7302", "0.7778"),
        ("imbalance", "0.7778", "0.7619"),
        ("creation", "0.7778", "0.7897"),
        # Twelve columns are also where the note's row begins, thirteen where the components' does.
        ("selection", "0.7897", "0.8254"),
        ("pipelines", "0.8294", "0.7817"),
        ("cross_validation", "0.8105", "0.7966"),
    ],
)
def test_the_course_table_is_rebuilt_to_the_printed_digit(name, before, after):
    sides = measured(name)
    for side, printed in zip(sides, (before, after), strict=True):
        assert printed is None or f"{side.metrics['accuracy']:.4f}" == printed


def test_doubling_the_positive_rows_catches_33_in_place_of_21():
    before, after = measured("imbalance")
    assert (before.metrics["caught"], after.metrics["caught"]) == (21, 33)
    assert after.metrics["positives"] == 61
    assert after.metrics["learned_rows"] == 756 + 168


@pytest.mark.parametrize(("seed", "candidates"), [(SEED, 3000), (99, 1400)])
def test_the_table_equals_the_oracle_for_other_seeds_and_sizes(seed, candidates):
    expected = oracle.figures(seed, candidates)
    compared = 0
    for row in ROWS:
        before, after = measured(row["name"], seed, candidates)
        for side, found in (("before", before), ("after", after)):
            name = f"course/{row['name']}/{side}"
            if row["name"] == "selection" and side == "before":
                name = "course/time_text/before"
            if name in expected:
                compared += 1
                assert found.metrics["accuracy"] == pytest.approx(expected[name], abs=1e-12), name
            caught = f"course/{row['name']}/caught_{side}"
            if caught in expected:
                assert found.metrics["caught"] == expected[caught]
    assert compared == 14


def test_every_side_knows_the_baseline():
    assert f"{measured('creation')[0].metrics['baseline']:.4f}" == "0.7579"


def test_the_contribution_is_after_minus_before():
    before, after = measured("creation")
    change = contribution(before, after)
    assert f"{change['accuracy']:+.4f}" == "+0.0119"
    assert change["columns"] == 1


def test_the_counts_of_the_closing_text():
    counts = closing_counts(settings(*ROWS)["rows"], [0.1, 0, -0.1, 0.2, 0.3, 0.1, -0.2, 0.1])
    assert counts == {
        "rows": 8,
        "nonpositive": 3,
        "looks": 16,
        "part_looks": 14,
        "of_linear": 1,
        "of_tree": 7,
    }


def test_unscaled_descent_is_reported_as_a_range_over_row_orders():
    before, after = measured("scaling")
    found = before.metrics
    assert found["row_orders"] == 5
    assert found["accuracy_lowest"] <= found["accuracy_median"] <= found["accuracy_highest"]
    assert found["accuracy_lowest"] <= found["accuracy"] <= found["accuracy_highest"]
    assert found["accuracy_highest"] - found["accuracy_lowest"] > 0.05
    assert "accuracy_lowest" not in after.metrics


def test_the_order_of_rows_hardly_matters_once_columns_are_scaled():
    found = measure({"model": "linear", "preparation": SCALE, "row_orders": 5}).metrics
    assert found["accuracy_lowest"] == found["accuracy_highest"]


def test_scaling_before_the_model_is_the_models_own_standardisation():
    frame, y, parts = table()
    train, test = parts["train"], parts["test"]
    values = frame[USAGE + REGIONS].to_numpy()
    scaled = StandardScaler().fit(values[train]).transform(values)
    one = GradientDescentLogistic(standardise=False).fit(scaled[train], y[train])
    other = GradientDescentLogistic().fit(values[train], y[train])
    np.testing.assert_allclose(
        one.predict_proba(scaled[test]), other.predict_proba(values[test]), atol=1e-9
    )


def test_corrections_that_undo_the_errors_give_the_clean_table():
    corrected, clean = measured("cleaning")[1], measured("creation")[0]
    for metric in ("accuracy", "caught", "columns", "brier", "roc_auc"):
        assert corrected.metrics[metric] == clean.metrics[metric]


def test_numbers_of_steps_and_columns_are_counted():
    before, after = measured("cleaning")
    assert (before.metrics["steps"], after.metrics["steps"]) == (1, 4)
    assert after.metrics["columns_given"] == 7
    assert after.metrics["columns"] == 11


def test_folds_give_a_mean_and_a_spread_of_the_learned_rows():
    outside, inside = measured("cross_validation")
    assert inside.metrics["folds"] == 4
    assert f"{inside.metrics['accuracy_spread']:.4f}" == "0.0187"
    assert "learned outside the folds on purpose" in outside.notes[0]
    assert inside.notes == ()


class TestRows:
    def test_measured_rows_the_preparation_learned_from_must_be_declared(self):
        variant = {
            "columns": ["chain"],
            "preparation": CHAIN,
            "preparation_learned_on": ["train", "test"],
            "label": "by hand",
        }
        with pytest.raises(InputError, match=r"'by hand'.* 252 of 252 rows .* the preparation"):
            measure(variant)
        side = measure({**variant, "declared_overlap": "on purpose"})
        assert "252 of 252 measured rows were learned from by the preparation" in side.notes[0]

    def test_measured_rows_the_model_learned_from_are_refused(self):
        with pytest.raises(InputError, match=r"756 of 756 rows .* learned from by the model"):
            measure({"measured_on": "train"})

    def test_every_stage_says_from_which_rows_it_learned(self):
        before, _ = measured("pipelines")
        _, _, parts = table()
        assert before.learned["the model"].tolist() == parts["train"].tolist()
        assert len(before.learned["the preparation"]) == 1260
        assert before.measured.tolist() == parts["test"].tolist()

    @pytest.mark.parametrize(
        ("variant", "message"),
        [
            ({"measured_on": "tset"}, "no part 'tset'; did you mean 'test'"),
            ({"learned_on": ["trian"]}, "no part 'trian'; did you mean 'train'"),
            ({"columns": ["household", "volatilty"]}, "did you mean 'volatility'"),
            ({"columns": ["region"]}, "'region' still holds text"),
            ({"columns": ["satisfaction_masked"], "model": "linear"}, "the model refuses the data"),
            ({"folds": {"count": 1009}, "learned_on": ["train"]}, "more folds than rows"),
        ],
    )
    def test_what_does_not_exist_is_named_with_what_is_near(self, variant, message):
        with pytest.raises(InputError, match=message):
            measure(variant)

    def test_sets_of_columns_are_replaced_and_no_column_comes_twice(self):
        assert expand_columns(["set", "b", "c"], {"set": ["a", "b"]}) == ["a", "b", "c"]


class TestSection:
    def test_a_side_is_filled_from_both_and_from_the_defaults(self):
        row = {"name": "x", "both": {"positives_copies": 3}, "before": {"model": "linear"}}
        section = settings({**row, "after": {"positives_copies": 1}})
        before, after = section["rows"][0]["before"], section["rows"][0]["after"]
        assert (before["model"], after["model"]) == ("linear", "tree")
        assert (before["positives_copies"], after["positives_copies"]) == (3, 1)
        assert before["columns"] == ["base"]

    def test_rows_keep_their_order(self):
        names = [row["name"] for row in settings(*ROWS)["rows"]]
        assert names == [row["name"] for row in ROWS]

    @pytest.mark.parametrize(
        ("before", "message"),
        [
            ({"modl": "tree"}, "Extra inputs"),
            ({"model": "tre"}, "no model 'tre'; did you mean 'tree'"),
            ({"folds": {"outside": 1}}, "`folds.outside` is 1, but the preparation has 0 steps"),
            ({"folds": {}, "positives_copies": 2}, "leave `positives_copies` out"),
            ({"positives_copies": 0}, "greater than or equal to 1"),
            ({"positives_copies": True}, "a number is wanted"),
            ({"alterations": [{"alter": "outliers"}]}, "Field required"),
        ],
    )
    def test_a_mistake_is_refused(self, before, message):
        with pytest.raises(ValidationError, match=message):
            settings({"name": "x", "before": before, "after": {}})

    def test_two_rows_of_one_name_are_refused(self):
        row = {"name": "x", "before": {}, "after": {}}
        with pytest.raises(ValidationError, match="two rows are named 'x'"):
            settings(row, row)
