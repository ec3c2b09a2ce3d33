"""The model info sheet: eight types of leakage, each tested, declared or not testable here."""

from __future__ import annotations

import numpy as np
import pytest

from kalibre.columns import Categories
from kalibre.experiment.experiment import Experiment
from kalibre.experiment.sheet import sheet_settings
from kalibre.leak_sheet import (
    HEADER,
    TYPES,
    Declaration,
    LeakFacts,
    StepLeak,
    duplicates,
    earlier_rows,
    leak_sheet,
    row_digests,
    shared_groups,
    sheet_counts,
    strongest_column,
)

FULL = LeakFacts(
    measured_rows=252,
    shared_rows=0,
    steps=["fill", "code", "select"],
    selecting_steps=["select"],
    prepared_rows=0,
    step_leaks=[
        StepLeak("code", False, "accuracy", 0.0149, -0.0651, 0.0949),
        StepLeak("fill", False, "accuracy", -0.002),
        StepLeak("select", True, "accuracy", 0.001, -0.01, 0.012),
    ],
    duplicate_rows=2,
    strongest_column=("seal_broken", 0.91),
    earlier_rows=0,
    shared_groups=4,
)


def sheet(facts):
    return {row["key"]: row for row in leak_sheet(facts)}


def test_the_sheet_has_the_papers_eight_types_in_its_order():
    rows = leak_sheet(LeakFacts())
    assert [row["type"] for row in rows] == [
        "L1.1", "L1.2", "L1.3", "L1.4", "L2", "L3.1", "L3.2", "L3.3"
    ]  # fmt: skip
    assert len(TYPES) == 8
    assert all(tuple(row) == HEADER for row in rows)
    assert all(row["finding"] for row in rows)


def test_what_rows_can_tell_is_tested_with_its_number():
    found = sheet(FULL)
    tested = {key: row["number"] for key, row in found.items() if row["status"] == "tested"}
    assert tested == {
        "no_test_set": 0.0,
        "preprocessing": 0.0,
        "feature_selection": 0.0,
        "duplicates": 2.0,
        "temporal": 0.0,
        "dependence": 4.0,
    }
    assert found["no_test_set"]["finding"] == "none of the 252 rows measured was learned from"
    assert "2 of the 252 rows measured equal" in found["duplicates"]["finding"]
    assert "4 of the groups" in found["dependence"]["finding"]


def test_the_largest_step_leak_is_told_by_its_size_with_its_sign_and_interval():
    found = sheet(FULL)
    said = "+0.0149 in accuracy (code, interval -0.0651 to +0.0949)"
    assert said in found["preprocessing"]["finding"]
    assert "+0.0010 in accuracy (select" in found["feature_selection"]["finding"]


def test_a_ladder_without_a_measured_model_is_the_number_itself():
    facts = LeakFacts(steps=["code"], step_leaks=[StepLeak("code", False, "accuracy", -0.03)])
    row = sheet(facts)["preprocessing"]
    assert (row["status"], row["number"]) == ("tested", -0.03)
    assert row["measure"] == "largest leak, in accuracy"


def test_rows_measured_after_being_learned_from_are_counted():
    row = sheet(LeakFacts(measured_rows=100, shared_rows=100))["no_test_set"]
    assert row["number"] == 100.0
    assert row["finding"].startswith("100 of the 100 rows measured were learned from by a model")


def test_without_a_step_there_is_nothing_to_learn_outside():
    found = sheet(LeakFacts(prepared_rows=0))
    for key in ("preprocessing", "feature_selection"):
        assert (found[key]["status"], found[key]["number"]) == ("not testable here", None)
        assert found[key]["finding"].startswith("no step of this experiment")
        assert found[key]["finding"].endswith("no row can tell")


def test_preparation_of_comparisons_is_said_and_which_sides_leak_on_purpose():
    facts = LeakFacts(compared_sides=("a before", "a after"), compared_leaks=("a before",))
    row = sheet(facts)["preprocessing"]
    assert (row["status"], row["number"]) == ("tested", 1.0)
    assert "on purpose, a before learned it from the rows measured" in row["finding"]


def test_given_predictions_with_a_group_do_not_say_that_there_is_none():
    given = LeakFacts(predictions_given=True, roles=("group", "outcome", "time"))
    found = sheet(given)
    assert "which groups the model learned from" in found["dependence"]["finding"]
    assert "when the rows were" in found["temporal"]["finding"]


def test_steps_that_choose_features_are_known_by_their_path_also_within_a_model():
    spec = Experiment.model_validate(
        {
            "data": {"source": "biopsies"},
            "split": {"parts": {"test": 0.3}, "rest": "train"},
            "preparation": [
                {"step": "sklearn.impute.SimpleImputer", "columns": "numeric"},
                {"step": "sklearn.feature_selection.RFE", "name": "fewer", "columns": "numeric"},
            ],
            "models": {
                "m": {
                    "steps": [
                        {"estimator": "sklearn.preprocessing.StandardScaler"},
                        {"estimator": "sklearn.feature_selection.VarianceThreshold"},
                        {"estimator": "sklearn.naive_bayes.GaussianNB"},
                    ]
                }
            },
        }
    )
    settings = sheet_settings(spec)
    assert settings["steps"] == ["SimpleImputer", "fewer", "StandardScaler", "VarianceThreshold"]
    assert settings["selecting"] == ["fewer", "VarianceThreshold"]
    assert settings["rungs"] == {"only_1_outside": "SimpleImputer", "only_2_outside": "fewer"}


def test_folds_that_part_groups_are_said():
    row = sheet(LeakFacts(shared_groups=0, folds_method="random"))["dependence"]
    assert "folds part groups (folds.method: random)" in row["finding"]


def test_legitimacy_of_features_and_sampling_are_for_people_to_declare():
    found = sheet(FULL)
    assert found["illegitimate_features"]["status"] == "not testable here"
    assert "seal_broken (ROC AUC 0.9100)" in found["illegitimate_features"]["finding"]
    assert found["sampling_bias"]["status"] == "not testable here"
    declared = {
        "illegitimate_features": Declaration("all columns are known on the day of billing", "Ada"),
        "sampling_bias": Declaration("every subscriber of two regions"),
    }
    found = sheet(LeakFacts(declared=declared))
    assert found["illegitimate_features"]["status"] == "declared"
    assert found["illegitimate_features"]["by"] == "Ada"
    assert found["sampling_bias"]["declared"] == "every subscriber of two regions"
    assert found["sampling_bias"]["by"] == "the experiment file"


def test_a_test_outweighs_a_declaration_which_stays_beside_it():
    facts = LeakFacts(
        measured_rows=10, duplicate_rows=3, declared={"duplicates": Declaration("there are none")}
    )
    row = sheet(facts)["duplicates"]
    assert (row["status"], row["number"], row["declared"]) == ("tested", 3.0, "there are none")


def test_given_predictions_leave_little_to_test_and_say_why():
    rows = leak_sheet(LeakFacts(predictions_given=True, measured_rows=10))
    assert {row["status"] for row in rows} == {"not testable here"}
    assert sum("predictions were given" in row["finding"] for row in rows) == 6
    assert sheet_counts(rows) == {"tested": 0, "declared": 0, "not_testable": 8}


def test_a_declaration_on_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match="declared 'sampling', expected one of no_test_set"):
        leak_sheet(LeakFacts(declared={"sampling": Declaration("all")}))


def test_equal_rows_share_a_digest_and_others_do_not():
    columns = {
        "amount": np.array([1.5, 1.5, 0.0, -0.0, np.nan, np.nan, 1.5]),
        "count": np.array([1, 1, 2, 2, 3, 3, 2]),
        "region": Categories.of(["north", "north", "south", "south", "east", "east", "north"]),
        "paid": np.array([True, True, False, False, True, True, True]),
    }
    digests = row_digests(columns)
    assert digests.dtype == np.uint64
    assert len(set(digests.tolist())) == 4
    assert digests[0] == digests[1] != digests[6]
    assert digests[2] == digests[3]
    assert digests[4] == digests[5]


def test_a_digest_depends_on_names_and_values_not_on_their_coding_or_order():
    one = {"a": np.array([1.0, 2.0]), "b": Categories.of(["x", "y"])}
    recoded = {"b": Categories(np.array([1, 0], dtype=np.int32), ("y", "x")), "a": one["a"]}
    assert row_digests(one).tolist() == row_digests(recoded).tolist()
    swapped = row_digests({"a": np.array([1.0]), "b": np.array([2.0])})
    assert swapped != row_digests({"a": np.array([2.0]), "b": np.array([1.0])})


def test_many_different_rows_have_different_digests():
    grid = np.arange(250_000)
    digests = row_digests({"a": (grid // 500).astype(float), "b": (grid % 500).astype(float)})
    assert np.unique(digests).size == grid.size


def test_measured_rows_that_equal_one_learned_from_are_counted():
    assert duplicates([1, 2, 3], [3, 3, 4]) == 2
    assert duplicates([], [3]) == 0


def test_groups_and_times_on_both_sides():
    assert shared_groups(["a", "b", "b"], ["b", "c", "b"]) == 1
    assert earlier_rows([1, 5, 3], [4, 5, 6, 2]) == 2
    days = np.array(["2024-01-31", "2024-03-01"], dtype="datetime64[D]")
    assert earlier_rows(days, np.array(["2024-02-01"], dtype="datetime64[D]")) == 1
    assert earlier_rows([], [1]) == 0


def test_the_strongest_column_is_found_whichever_way_it_points():
    outcomes = np.array([0, 0, 1, 1])
    columns = {
        "noise": np.array([1.0, 2.0, 1.0, 2.0]),
        "reversed": np.array([4, 3, 2, 1]),
        "holes": np.array([np.nan, 1.0, np.nan, 1.0]),
        "empty": np.full(4, np.nan),
        "text": Categories.of(["a", "b", "a", "b"]),
    }
    assert strongest_column(columns, outcomes) == ("reversed", 1.0)
    assert strongest_column({"empty": columns["empty"]}, outcomes) is None


def test_categories_are_judged_by_rates_of_rows_that_they_do_not_score():
    random = np.random.default_rng(5)
    outcomes = random.integers(0, 2, 400)
    telling = Categories.of([f"ward {label}" for label in outcomes])
    names = Categories.of([f"patient {i}" for i in range(400)])
    assert strongest_column({"names": names, "ward": telling}, outcomes) == ("ward", 1.0)
    name, auc = strongest_column({"names": names}, outcomes)
    assert (name, round(auc, 1)) == ("names", 0.5)
