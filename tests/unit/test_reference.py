"""The oracles do what the lessons' pages say, to the last printed digit.

Every figure that the pages print and define is measured by the plain-Python procedures and
compared with the ledger. A second set of constants guards what one table cannot tell.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from reference import (
    arithmetic,
    calibration,
    lesson_course,
    lesson_folds,
    lesson_spam,
    lesson_study,
    lesson_subscribers,
    lesson_trivia,
    linear,
    preparation,
    study,
    subscribers,
    trees,
)

Figures = dict[str, float]

LEDGER = Path(__file__).parents[2] / "config" / "published.csv"
LESSONS: dict[str, Callable[[], Figures]] = {
    "trivia": lesson_trivia.figures,
    "spam": lesson_spam.figures,
    "subscribers": lesson_subscribers.figures,
    "folds": lesson_folds.figures,
    "course": lesson_course.figures,
    "study": lesson_study.figures,
}
OTHER_SEED, OTHER_CANDIDATES = 7, 3000

# What the pages' own code prints when its seed is 7 and its number of candidates 3,000.
PRINTED_WITH_OTHER_CONSTANTS = {
    "subscribers/data/rows": "2733",
    "subscribers/data/test": "1725",
    "subscribers/reliability/linear/test/bin_1/count": "627",
    "subscribers/reliability/linear/test/bin_1/mean_predicted": "0.2989",
    "subscribers/reliability/linear/test/bin_1/gap": "-0.0010",
    "subscribers/reliability/sharpened/test/bin_4/observed_rate": "0.7458",
    "subscribers/summary/linear/roc_auc": "0.7364",
    "subscribers/summary/linear/ece": "0.0124",
    "subscribers/summary/sharpened/ece": "0.1702",
    "subscribers/summary/tree_d8/roc_auc": "0.6350",
    "subscribers/summary/tree_d8/ece": "0.2192",
    "subscribers/summary/base_rate/ece": "0.0081",
    "subscribers/summary/observed_rate": "0.4614",
    "subscribers/correction/validation/slope": "0.2753",
    "subscribers/correction/validation/intercept": "0.2073",
    "subscribers/correction/test/ece": "0.0079",
    "subscribers/correction/tree_d8/slope": "1.0001",
    "subscribers/tree_d8/validation/ece": "0.2474",
    "folds/ladder/0_outside/fold_2": "0.7024",
    "folds/ladder/0_outside/mean": "0.6935",
    "folds/ladder/2_outside/fold_3": "0.7619",
    "folds/ladder/3_outside/mean": "0.7450",
    "folds/ladder/3_outside/spread": "0.0117",
    "folds/ladder/3_outside/difference": "0.0616",
    "folds/single_split/accuracy": "0.6944",
    "folds/test/accuracy": "0.6835",
    "folds/test/baseline": "0.5386",
}


def _read_ledger() -> list[dict[str, str]]:
    with LEDGER.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


DEFINED = [
    row
    for row in _read_ledger()
    if row["lesson"] in LESSONS and row["expectation"] in ("exact", "inferred")
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep the study from spending its time on handing tiny matrices to threads."""
    with threadpool_limits(1):
        yield


@cache
def measure(lesson: str) -> Figures:
    return LESSONS[lesson]()


@cache
def measure_with_other_constants(lesson: str) -> Figures:
    oracle = {"subscribers": lesson_subscribers, "folds": lesson_folds}[lesson]
    return oracle.figures(OTHER_SEED, OTHER_CANDIDATES)


@pytest.fixture(scope="module")
def table() -> list[subscribers.Row]:
    return subscribers.generate()


def as_printed(value: float, decimals: int) -> str:
    text = format(value, f".{decimals}f")
    return text.removeprefix("-") if float(text) == 0 else text


class TestPublishedFigures:
    @pytest.mark.parametrize("row", DEFINED, ids=lambda row: row["id"])
    def test_the_oracle_measures_what_the_page_prints(self, row: dict[str, str]) -> None:
        measured = measure(row["lesson"])[row["id"]]
        assert as_printed(measured, int(row["decimals"])) == row["printed"].removeprefix("+")

    @pytest.mark.parametrize("lesson", LESSONS)
    def test_the_oracle_leaves_no_defined_figure_out(self, lesson: str) -> None:
        defined = {row["id"] for row in DEFINED if row["lesson"] == lesson}
        assert defined
        assert defined <= measure(lesson).keys()

    @pytest.mark.parametrize("figure", PRINTED_WITH_OTHER_CONSTANTS)
    def test_other_constants_give_what_the_page_would_print(self, figure: str) -> None:
        printed = PRINTED_WITH_OTHER_CONSTANTS[figure]
        decimals = len(printed.partition(".")[2])
        measured = measure_with_other_constants(figure.partition("/")[0])[figure]
        assert as_printed(measured, decimals) == printed

    def test_the_published_study_trains_on_one_row_less_than_its_comment_says(self) -> None:
        figures = measure("study")
        assert figures["study/data/train"] == 265
        assert figures["study/data/calibration"] == 133

    def test_the_mean_score_gap_of_the_tree_rounds_up_where_the_prose_subtracts(self) -> None:
        gap = measure("subscribers")["subscribers/summary/tree_d8/mean_score_gap"]
        assert as_printed(gap, 4) == "0.0166"


class TestSubscribers:
    def test_a_stream_repeats_itself_and_stays_below_one(self) -> None:
        first, second = subscribers.Stream(subscribers.SEED), subscribers.Stream(subscribers.SEED)
        drawn = [first.draw() for _ in range(1000)]
        assert drawn == [second.draw() for _ in range(1000)]
        assert all(0 <= number < 1 for number in drawn)

    @pytest.mark.parametrize(("number", "position"), [(0.0, 0), (0.25, 1), (0.99, 2)])
    def test_a_number_picks_the_first_share_that_reaches_beyond_it(
        self, number: float, position: int
    ) -> None:
        assert subscribers.pick(number, [0.25, 0.25, 0.25]) == position

    def test_fewer_candidates_give_the_beginning_of_the_same_table(
        self, table: list[subscribers.Row]
    ) -> None:
        shorter = subscribers.generate(candidates=300)
        assert shorter == table[: len(shorter)]

    def test_the_mask_hides_the_satisfaction_of_some_and_changes_none(
        self, table: list[subscribers.Row]
    ) -> None:
        masked = [row for row in table if row["satisfaction_masked"] is None]
        assert 0.06 < len(masked) / len(table) < 0.10
        assert all(
            row["satisfaction_masked"] == row["satisfaction"]
            for row in table
            if row["satisfaction_masked"] is not None
        )

    def test_the_region_columns_say_the_region_once(self, table: list[subscribers.Row]) -> None:
        for row in table:
            indicated = [name for name in row if name.startswith("region_") and row[name]]
            assert indicated == [f"region_{row['region']}"]

    def test_the_shuffle_loses_and_doubles_nobody(self) -> None:
        positions = subscribers.shuffled_positions(1000, 5)
        assert sorted(positions) == list(range(1000))
        assert positions != list(range(1000))

    def test_what_the_sizes_leave_is_the_test_part(self, table: list[subscribers.Row]) -> None:
        parts = subscribers.split(table[:1100])
        assert [len(part) for part in parts] == [756, 252, 92]


class TestTrees:
    def test_few_values_are_all_thresholds_but_the_smallest(self) -> None:
        rows = trees.as_rows(["x"], [[3], [1], [2], [2]], [0, 0, 1, 1])
        assert trees.candidate_thresholds(rows, "x") == [2, 3]

    def test_ten_values_are_cut_at_the_nine_deciles(self) -> None:
        rows = trees.as_rows(["x"], [[value] for value in range(25)], [0] * 25)
        assert trees.candidate_thresholds(rows, "x") == [2, 5, 7, 10, 12, 15, 17, 20, 22]

    def test_the_first_of_equal_splits_wins(self) -> None:
        rows = trees.as_rows(["a", "b"], [[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1])
        assert trees.grow(rows, ["a", "b"], 3)["column"] == "a"
        assert trees.grow(rows, ["b", "a"], 3)["column"] == "b"

    def test_a_row_at_the_threshold_goes_to_the_others(self) -> None:
        rows = trees.as_rows(["x"], [[0], [0], [1], [1]], [0, 0, 1, 1])
        tree = trees.grow(rows, ["x"], 1)
        assert tree["threshold"] == 1
        assert trees.probability(tree, {"x": 1}) == 1.0
        assert trees.probability(tree, {"x": 0.99}) == 0.0

    def test_no_leaf_is_smaller_than_allowed(self) -> None:
        rows = trees.as_rows(["x"], [[0], [1], [1], [1]], [0, 1, 1, 1])
        assert trees.grow(rows, ["x"], 3, min_leaf=2) == {"probability": 0.75}

    def test_a_split_that_gains_nothing_is_not_made(self) -> None:
        rows = trees.as_rows(["x"], [[0], [0], [1], [1]], [0, 1, 0, 1])
        assert trees.grow(rows, ["x"], 3) == {"probability": 0.5}

    def test_half_of_the_rows_is_no_majority(self) -> None:
        assert trees.label_leaf(0.5) == {"label": 0}
        assert trees.label_leaf(0.51) == {"label": 1}

    def test_labels_and_probabilities_grow_the_same_tree(self, table: list[trees.Row]) -> None:
        columns = subscribers.MODEL_COLUMNS
        of_shares = trees.grow(table[:300], columns, 6)
        of_labels = trees.grow(table[:300], columns, 6, leaf=trees.label_leaf)
        for row in table:
            assert trees.label(of_labels, row) == (trees.probability(of_shares, row) > 0.5)


class TestLinear:
    def test_a_column_that_never_varies_is_divided_by_one(self) -> None:
        rows = trees.as_rows(["flat", "x"], [[4, 0], [4, 1], [4, 2]], [0, 0, 1])
        model = linear.fit(rows, ["flat", "x"], rounds=5)
        assert model.scales[0] == 1.0
        assert model.coefficients[0] == 0.0

    def test_the_first_round_moves_the_intercept_by_half_the_mean_error(self) -> None:
        coefficients, intercept = linear.descend([[0.0]] * 4, [1, 0, 0, 0], rounds=1)
        assert coefficients == [0.0]
        assert intercept == -0.5 * (0.5 - 0.25)

    def test_a_positive_weight_of_two_equals_every_positive_row_twice(self) -> None:
        matrix, outcomes = [[-1.0], [0.5], [1.5], [0.2]], [0, 1, 1, 0]
        doubled = linear.descend([*matrix, [0.5], [1.5]], [*outcomes, 1, 1])
        weighted = linear.descend(matrix, outcomes, positive_weight=2.0)
        assert weighted[0] == pytest.approx(doubled[0], rel=1e-12)
        assert weighted[1] == pytest.approx(doubled[1], rel=1e-12)

    def test_a_score_is_clipped_at_thirty(self) -> None:
        assert linear.sigmoid(1000.0) == linear.sigmoid(30.0) < 1.0


class TestCalibration:
    def test_certainty_falls_into_the_last_bin(self) -> None:
        table = calibration.reliability([1, 0], [1.0, 0.0])
        assert [line.count for line in table] == [1, 0, 0, 0, 1]

    def test_the_error_weighs_each_gap_by_its_rows(self) -> None:
        error = calibration.calibration_error([0, 0, 1], [0.1, 0.2, 0.9], bins=2)
        assert error == pytest.approx(2 / 3 * 0.15 + 1 / 3 * 0.10, abs=1e-15)

    def test_ties_count_half_in_the_area(self) -> None:
        assert calibration.roc_auc([0, 1, 0, 1], [0.3] * 4) == 0.5
        assert calibration.roc_auc([0, 1, 1], [0.2, 0.2, 0.9]) == 0.75

    def test_sharpening_keeps_the_order_and_the_half(self) -> None:
        probabilities = [step / 100 for step in range(101)]
        sharpened = [calibration.sharpen(probability) for probability in probabilities]
        assert sharpened == sorted(sharpened)
        assert calibration.sharpen(0.5) == 0.5

    def test_the_correction_undoes_the_sharpening_of_true_probabilities(self) -> None:
        outcomes = [1] * 20 + [0] * 80 + [1] * 70 + [0] * 30
        sharpened = [calibration.sharpen(0.2)] * 100 + [calibration.sharpen(0.7)] * 100
        learned = calibration.fit_logistic_map(outcomes, sharpened)
        assert learned.slope == pytest.approx(1 / 3, abs=1e-6)
        assert learned(calibration.sharpen(0.2)) == pytest.approx(0.2, abs=1e-6)

    @pytest.mark.parametrize(("certainty", "kept"), [(0.0, 1e-6), (1.0, 1 - 1e-6)])
    def test_the_logit_of_certainty_is_that_of_a_millionth_short_of_it(
        self, certainty: float, kept: float
    ) -> None:
        assert calibration.clipped_logit(certainty) == math.log(kept / (1 - kept))


class TestPreparation:
    def test_the_fill_takes_the_upper_median_of_the_known(self) -> None:
        fill = preparation.MedianFill()
        rows = [{preparation.FILLED: value} for value in (1, 2, None, 4, 5)]
        fill.learn(rows)
        fill.apply(rows)
        assert [row[preparation.FILLED] for row in rows] == [1, 2, 4, 4, 5]

    def test_an_unseen_tariff_gets_the_overall_share(self) -> None:
        coding = preparation.TargetCoding()
        coding.learn(
            [{"tariff_code": code, "suspicious": y} for code, y in ((1, 1), (1, 0), (2, 0))]
        )
        rows = [{"tariff_code": code} for code in (1, 2, 3)]
        coding.apply(rows)
        assert [row["tariff_target"] for row in rows] == [0.5, 0.0, 0.3333]

    def test_the_selection_needs_twenty_rows_on_each_side(self) -> None:
        rows = trees.as_rows(
            ["rare", "common"],
            [[number < 19, number < 20] for number in range(100)],
            [number < 19 for number in range(100)],
        )
        selection = preparation.GainSelection(["rare", "common"])
        selection.learn(rows)
        assert selection.kept == ["common"]

    def test_a_chain_leaves_the_rows_it_is_given_alone(self, table: list[trees.Row]) -> None:
        rows = [dict(row) for row in table[:400]]
        preparation.Chain().fit(rows[:300], rows, steps_outside=3).accuracy(rows[300:])
        assert rows == table[:400]

    def test_the_folds_are_contiguous_and_learn_from_the_rest(self) -> None:
        assert lesson_folds.cut(range(10), 1) == ([0, 1, 4, 5, 6, 7, 8, 9], [2, 3])

    def test_the_spread_divides_by_the_number_of_folds(self) -> None:
        assert arithmetic.spread([1.0, 3.0]) == 1.0


class TestSpam:
    @pytest.mark.parametrize(("probability", "place"), [(0.0, 0), (0.49, 0), (0.5, 1), (1.0, 1)])
    def test_an_edge_belongs_to_the_bin_above_it(self, probability: float, place: int) -> None:
        assert lesson_spam.bin_of(probability, 2) == place

    @pytest.mark.parametrize("tenth", range(10))
    def test_edges_are_compared_not_multiplied(self, tenth: int) -> None:
        assert lesson_spam.bin_of(tenth / 10, 10) == tenth

    def test_an_empty_bin_has_no_line(self) -> None:
        assert [line.index for line in lesson_spam.calibration_table([0, 1], [0.1, 0.9], 5)] == [
            0,
            4,
        ]


class TestStudy:
    def test_a_split_depends_on_its_own_seed_alone(self) -> None:
        from_zero, from_two = study.run_study(splits=3), study.run_study(splits=1, first_seed=2)
        for name, rows in from_two.items():
            assert (from_zero[name][2] == rows[0]).all()

    def test_the_parts_of_a_split_share_no_row(self) -> None:
        parts = study.cut(study.load_biopsies().outcomes, 0)
        assert sorted(position for part in parts for position in part) == list(range(569))
