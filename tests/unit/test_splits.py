"""The laws of a split, and the lessons' own splits."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from kalibre.splits import (
    column_split,
    group_split,
    lesson_split,
    random_split,
    shuffle_order,
    stratified_split,
    time_split,
)
from reference import subscribers as plain

SIZES = {"test": 0.2, "calibration": 0.25}
seeds = st.integers(0, 2**32 - 1)


def biopsy_labels():
    return 1 - load_breast_cancer().target


def assert_each_row_is_in_one_part(split, count):
    assert sorted(split.order.tolist()) == list(range(count))
    rows = np.concatenate([split.rows(name) for name in split.names])
    assert sorted(rows.tolist()) == list(range(count))
    assert sum(split.counts().values()) == count


# The lessons' shuffle


@given(st.integers(0, 300), st.integers(0, 2**40))
def test_the_shuffle_is_the_lessons(count, seed):
    assert shuffle_order(count, seed=seed).tolist() == plain.shuffled_positions(count, seed)


def test_the_lessons_parts_are_contiguous_blocks_of_the_shuffled_rows():
    split = lesson_split(
        1260, seed=20260218 + 90_000, sizes={"train": 756, "validation": 252}, rest="test"
    )
    shuffled = plain.shuffled_positions(1260, 20260218 + 90_000)
    assert split.rows("train").tolist() == shuffled[:756]
    assert split.rows("validation").tolist() == shuffled[756:1008]
    assert split.rows("test").tolist() == shuffled[1008:]


def test_rows_of_two_parts_together_keep_the_order_of_the_split():
    split = lesson_split(50, seed=1, sizes={"train": 20, "validation": 10}, rest="test")
    assert split.rows("validation", "train").tolist() == split.order[:30].tolist()


# The biopsies' stratified cuts


@pytest.mark.parametrize(
    ("sizes", "counts"), [((171, 132), (171, 132, 266)), ((0.3, 1 / 3), (171, 133, 265))]
)
@pytest.mark.parametrize("seed", [0, 49])
def test_stratified_cuts_are_those_of_scikit_learn_row_for_row(sizes, counts, seed):
    y = biopsy_labels()
    split = stratified_split(
        y, seed=seed, sizes={"validation": sizes[0], "calibration": sizes[1]}, rest="train"
    )
    rest, validation = train_test_split(
        np.arange(len(y)), test_size=sizes[0], stratify=y, random_state=seed
    )
    train, calibration = train_test_split(
        rest, test_size=sizes[1], stratify=y[rest], random_state=seed
    )
    assert tuple(split.counts().values()) == counts
    np.testing.assert_array_equal(split.rows("validation"), validation)
    np.testing.assert_array_equal(split.rows("calibration"), calibration)
    np.testing.assert_array_equal(split.rows("train"), train)


@settings(deadline=None, max_examples=50)
@given(st.integers(20, 200), st.floats(0.2, 0.8), seeds)
def test_stratified_parts_have_the_tables_share_of_each_label_within_one_row(count, share, seed):
    labels = np.arange(count) < round(count * share)
    split = stratified_split(labels, seed=seed, sizes=SIZES, rest="train")
    assert_each_row_is_in_one_part(split, count)
    for name, rows in split.counts().items():
        # Each cut rounds once; the third part has seen two cuts.
        assert abs(labels[split.rows(name)].sum() - rows * labels.mean()) <= 2


# Sizes


def test_a_fraction_is_a_share_of_what_the_earlier_cuts_have_left():
    split = random_split(1000, seed=1, sizes={"test": 0.2, "calibration": 0.25}, rest="train")
    assert split.counts() == {"test": 200, "calibration": 200, "train": 600}


def test_a_fraction_is_rounded_up():
    assert random_split(569, seed=1, sizes={"test": 0.3}, rest="train").counts()["test"] == 171


def test_counts_and_fractions_may_be_mixed():
    split = random_split(100, seed=1, sizes={"test": 40, "calibration": 0.5}, rest="train")
    assert split.counts() == {"test": 40, "calibration": 30, "train": 30}


@pytest.mark.parametrize("size", [0, -1, 1.0, 0.0, -0.2, True, "0.2", None, float("nan")])
def test_a_size_that_is_neither_count_nor_share_is_refused(size):
    with pytest.raises(
        ValueError, match=r"part 'test' has the size .* whole number of rows from 1"
    ):
        random_split(10, seed=1, sizes={"test": size}, rest="train")


@pytest.mark.parametrize("size", [10, 11, 0.95])
def test_a_size_that_leaves_nothing_for_the_rest_is_refused_with_what_there_is(size):
    with pytest.raises(ValueError, match=r"part 'test' asks for .* there are 10, of which 'train'"):
        random_split(10, seed=1, sizes={"test": size}, rest="train")


def test_a_second_part_that_is_too_large_is_refused_with_what_the_first_has_left():
    with pytest.raises(ValueError, match="part 'b' asks for 5 rows; there are 5, of which 'c'"):
        lesson_split(10, seed=1, sizes={"a": 5, "b": 5}, rest="c")


def test_the_rest_may_not_be_a_part_with_a_size():
    with pytest.raises(ValueError, match="the rest is 'train'"):
        random_split(10, seed=1, sizes={"train": 2}, rest="train")


def test_a_label_with_one_row_cannot_be_on_both_sides_of_a_stratified_cut():
    with pytest.raises(ValueError, match="the label rare has one row left"):
        stratified_split(["common"] * 9 + ["rare"], seed=1, sizes={"test": 3}, rest="train")


def test_a_stratified_part_smaller_than_the_number_of_labels_is_refused():
    with pytest.raises(ValueError, match="part 'test' of 1 rows leaves 9 of 10 for 'train'"):
        stratified_split([0] * 5 + [1] * 5, seed=1, sizes={"test": 1}, rest="train")


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=r"seed is .* whole number from 0"):
        random_split(10, seed=seed, sizes={"test": 2}, rest="train")


# Random


@given(st.integers(10, 100), seeds)
def test_a_random_split_has_every_row_in_one_part(count, seed):
    assert_each_row_is_in_one_part(random_split(count, seed=seed, sizes=SIZES, rest="train"), count)


def test_another_seed_is_another_random_split():
    first, same, other = (
        random_split(100, seed=seed, sizes=SIZES, rest="train").order.tolist() for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


# Groups


@settings(deadline=None)
@given(st.lists(st.integers(0, 12), min_size=20, max_size=100), seeds)
def test_no_group_has_rows_in_two_parts(groups, seed):
    groups = [*groups, 100, 101, 102]
    split = group_split(groups, seed=seed, sizes=SIZES, rest="train")
    assert_each_row_is_in_one_part(split, len(groups))
    seen = [set(np.array(groups)[split.rows(name)]) for name in split.names]
    assert all(seen)
    assert sum(map(len, seen)) == len(set().union(*seen))


def test_groups_of_equal_size_give_the_sizes_asked():
    split = group_split(np.arange(1000) // 10, seed=3, sizes=SIZES, rest="train")
    assert split.counts() == {"test": 200, "calibration": 200, "train": 600}
    assert split.notes == ()


def test_a_size_that_falls_within_a_group_is_noted_with_what_was_given():
    split = group_split(np.arange(30) // 10, seed=3, sizes={"test": 12}, rest="train")
    assert split.counts()["test"] == 10
    assert split.notes == ("part 'test': 12 rows asked, 10 given, as no group is parted",)


def test_a_group_stays_in_its_part_when_the_rows_are_put_in_another_order():
    groups = np.arange(100) // 4
    order = np.random.default_rng(0).permutation(100)
    first = group_split(groups, seed=1, sizes=SIZES, rest="train")
    second = group_split(groups[order], seed=1, sizes=SIZES, rest="train")
    np.testing.assert_array_equal(first.part.codes[order], second.part.codes)


def test_the_rows_of_a_group_stand_together():
    groups = np.array([1, 2, 3, 1, 2, 3, 1, 2, 3, 4])
    ordered = groups[group_split(groups, seed=0, sizes={"test": 3}, rest="train").order]
    assert np.count_nonzero(np.diff(ordered)) == 3


def test_groups_may_be_of_several_types():
    split = group_split(
        pd.Series(["a", 1, 2.5, "a", 1, 2.5], dtype=object), seed=0, sizes={"x": 2}, rest="y"
    )
    assert split.part.codes[:3].tolist() == split.part.codes[3:].tolist()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_group_is_refused_with_its_row(missing):
    groups = pd.Series(["a", "b", missing, "c"], dtype=object)
    with pytest.raises(ValueError, match="1 rows have no group, the first is row 2"):
        group_split(groups, seed=0, sizes={"test": 1}, rest="train")


def test_fewer_groups_than_parts_are_refused():
    with pytest.raises(
        ValueError, match=r"3 parts \(test, calibration, train\) need .* there are 2"
    ):
        group_split([1, 1, 1, 1, 2, 2], seed=0, sizes=SIZES, rest="train")


# Time


@given(st.lists(st.integers(0, 40), min_size=20, max_size=100))
def test_no_row_of_an_earlier_part_is_later_and_equal_times_are_not_parted(times):
    times = np.array([*times, 100, 101, 102])
    split = time_split(times, sizes=SIZES, rest="train")
    assert_each_row_is_in_one_part(split, len(times))
    assert times[split.rows("train")].max() < times[split.rows("calibration")].min()
    assert times[split.rows("calibration")].max() < times[split.rows("test")].min()


def test_with_the_rest_latest_the_first_part_is_the_earliest():
    times = np.random.default_rng(0).permutation(100)
    split = time_split(times, sizes={"train": 0.6, "check": 20}, rest="test", rest_is="latest")
    assert sorted(times[split.rows("train")]) == list(range(60))
    assert sorted(times[split.rows("check")]) == list(range(60, 80))
    assert sorted(times[split.rows("test")]) == list(range(80, 100))


def test_rows_are_handed_on_in_order_of_time_and_equal_times_in_that_of_the_table():
    split = time_split([3, 1, 2, 1], sizes={"test": 1}, rest="train")
    assert split.order.tolist() == [1, 3, 2, 0]


def test_the_notes_say_from_when_to_when_each_part_reaches():
    days = [dt.date(2024, 1, day) for day in (5, 1, 2, 4)]
    notes = time_split(days, sizes={"test": 2}, rest="train").notes
    assert notes[0].startswith("part 'test': 2024-01-04")
    assert "to 2024-01-02" in notes[1]


@pytest.mark.parametrize(
    "days",
    [
        ["2024-03-01", "2024-01-31", "2024-02-10"],
        [dt.date(2024, 3, 1), dt.date(2024, 1, 31), dt.date(2024, 2, 10)],
        pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-10"]),
        pd.Series(pd.to_datetime(["2024-03-01", "2024-01-31", "2024-02-10"], utc=True)),
        ["2024-03-01T00:30:00+01:00", "2024-01-31T00:00:00Z", "2024-02-29T23:31:00-01:00"],
    ],
    ids=["text", "dates", "datetimes", "with a zone", "text with zones"],
)
def test_dates_are_understood(days):
    split = time_split(days, sizes={"test": 1}, rest="train")
    expected = [1, 0, 2] if isinstance(days, list) and "T" in str(days[0]) else [1, 2, 0]
    assert split.order.tolist() == expected


@pytest.mark.parametrize("odd", ["10", "31/01/2024", "2024-02-31", dt.time(10)])
def test_a_time_that_is_no_date_is_refused_with_its_row(odd):
    with pytest.raises(ValueError, match=r"row 1 .* has the time"):
        time_split(pd.Series(["2024-01-01", odd], dtype=object), sizes={"test": 1}, rest="train")


def test_a_missing_time_is_refused():
    times = np.array(["2024-01-01", "NaT"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="1 rows have no time, the first is row 1"):
        time_split(times, sizes={"test": 1}, rest="train")


def test_the_place_of_the_rest_is_earliest_or_latest():
    with pytest.raises(ValueError, match="rest_is is 'first'; allowed: 'earliest', 'latest'"):
        time_split([1, 2], sizes={"test": 1}, rest="train", rest_is="first")


# A column that says the part


def test_a_column_that_says_the_part_keeps_the_tables_order():
    split = column_split(["train", "test", "train"])
    assert split.rows("train").tolist() == [0, 2]
    assert split.rows("test").tolist() == [1]


def test_a_name_that_is_no_part_is_refused_with_its_row_and_the_nearest():
    with pytest.raises(ValueError, match=r"row 1 .* has the part 'tset'; did you mean 'test'"):
        column_split(["train", "tset"], names=["train", "test"])


def test_a_part_without_rows_is_refused():
    with pytest.raises(ValueError, match="part 'test' has no rows; the column has train"):
        column_split(["train", "train"], names=["train", "test"])


@pytest.mark.parametrize("missing", ["", None])
def test_a_row_without_a_part_is_refused(missing):
    with pytest.raises(ValueError, match="no part"):
        column_split(pd.Series(["train", missing], dtype=object))


# What a split says of itself


def test_an_unknown_part_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match="no part 'trian'; did you mean 'train'"):
        column_split(["train", "test"]).rows("trian")


def test_a_part_of_one_class_is_allowed_and_said():
    split = column_split(["train", "train", "test", "test"])
    assert split.one_class_notes([0, 1, 1, 1]) == ("part 'test': all 2 rows have the outcome 1",)


def test_the_parts_in_the_order_of_the_rows():
    split = lesson_split(30, seed=4, sizes={"train": 10, "validation": 10}, rest="test")
    assert split.ordered_part().values().tolist() == (
        ["train"] * 10 + ["validation"] * 10 + ["test"] * 10
    )
