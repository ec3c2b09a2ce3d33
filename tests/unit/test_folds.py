"""Folds: every way of cutting keeps its promise, and an impossible cut says why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sklearn.model_selection import StratifiedKFold

from kalibre.experiment.folds import Folds
from kalibre.folds import fold_name, make_folds
from reference import lesson_folds as oracle


def labels(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, rows)


@given(rows=st.integers(2, 60), count=st.integers(2, 12))
def test_contiguous_folds_are_the_lessons_blocks(rows, count):
    if count > rows:
        return
    folds = make_folds(labels(rows), method="contiguous", count=count)
    for i, fold in enumerate(folds):
        learned, measured = oracle.cut(range(rows), i, count)
        assert fold.learned.tolist() == learned
        assert fold.measured.tolist() == measured


@pytest.mark.parametrize("method", ["random", "stratified", "group"])
@given(rows=st.integers(20, 80), count=st.integers(2, 6), seed=st.integers(0, 1000))
def test_every_row_is_measured_once_in_each_repeat(method, rows, count, seed):
    y = np.arange(rows) % 2
    folds = make_folds(
        y, method=method, count=count, repeats=2, seed=seed, groups=np.arange(rows) // 2
    )
    for repeat in (folds[:count], folds[count:]):
        assert sorted(np.concatenate([f.measured for f in repeat])) == list(range(rows))
    for fold in folds:
        assert sorted([*fold.learned, *fold.measured]) == list(range(rows))


@given(
    sizes=st.lists(st.integers(1, 9), min_size=6, max_size=30),
    count=st.integers(2, 6),
    seed=st.integers(0, 1000),
)
def test_no_group_is_parted_and_no_group_fold_is_empty(sizes, count, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    folds = make_folds(
        labels(len(groups), seed), method="group", count=count, seed=seed, groups=groups
    )
    for fold in folds:
        assert len(fold.measured)
        assert not set(groups[fold.learned]) & set(groups[fold.measured])


def test_group_folds_share_out_the_classes():
    # 40 groups of ten rows of one class each, a quarter of them positive.
    groups = np.repeat(np.arange(40), 10)
    y = (groups % 4 == 0).astype(int)
    folds = make_folds(y, method="group", count=5, groups=groups, seed=2)
    assert [int(y[f.measured].sum()) for f in folds] == [20] * 5
    assert [len(f.measured) for f in folds] == [80] * 5


def test_groups_may_be_text():
    folds = make_folds(labels(6), method="group", count=3, groups=["a", "b", "c"] * 2)
    assert all(len(f.measured) == 2 for f in folds)


@given(times=st.lists(st.integers(0, 12), min_size=10, max_size=60), count=st.integers(1, 4))
def test_folds_by_time_measure_only_what_comes_later(times, count):
    when = np.array(times)
    if len(set(times)) < count + 1:
        return
    folds = make_folds(labels(len(when)), method="time", count=count, times=when)
    assert len(folds) == count
    for fold in folds:
        assert when[fold.learned].max() < when[fold.measured].min()
    assert when[folds[-1].measured].max() == when.max()


def test_folds_by_time_are_about_equal():
    folds = make_folds(labels(100), method="time", count=4, times=np.arange(100)[::-1])
    assert [len(f.learned) for f in folds] == [20, 40, 60, 80]
    assert [len(f.measured) for f in folds] == [20] * 4


def test_stratified_folds_are_scikit_learns_with_seed_plus_repeat():
    y = labels(53)
    folds = make_folds(y, method="stratified", count=3, repeats=2, seed=10)
    expected = [
        measured.tolist()
        for seed in (10, 11)
        for _, measured in StratifiedKFold(3, shuffle=True, random_state=seed).split(y, y)
    ]
    assert [f.measured.tolist() for f in folds] == expected


def test_the_same_seed_gives_the_same_folds_and_another_seed_others():
    def measured(seed: int) -> list[list[int]]:
        folds = make_folds(labels(40), method="group", count=4, seed=seed, groups=np.arange(40))
        return [f.measured.tolist() for f in folds]

    assert measured(1) == measured(1) != measured(2)


def test_a_class_with_fewer_rows_than_folds_is_still_cut():
    y = np.array([1, 1] + [0] * 18)
    folds = make_folds(y, method="stratified", count=5)
    assert sum(y[f.measured].any() for f in folds) == 2


def test_folds_are_named_by_repeat_where_there_are_several():
    assert [fold_name(i, 2, 1) for i in range(2)] == ["fold_1", "fold_2"]
    assert [fold_name(i, 2, 2) for i in (0, 3)] == ["repeat_1/fold_1", "repeat_2/fold_2"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 11}, "11 folds of 10 rows: there are more folds than rows"),
        ({"count": 1}, "folds: found 1, expected at least 2"),
        ({"count": True}, "folds: found True"),
        ({"repeats": 0}, "repeats: found 0"),
        ({"method": "contiguous", "repeats": 2}, "'contiguous' can be cut in one way only"),
        ({"method": "group"}, "need a column that says the group"),
        (
            {"method": "group", "groups": [1, 1, 1, 1, 1, 2, 2, 2, 2, 2], "count": 3},
            "form only 2 groups",
        ),
        ({"method": "time"}, "need a column that says the time"),
        ({"method": "time", "times": [1] * 10, "count": 2}, "need 3 different times, found 1"),
        ({"method": "stratified", "count": 8}, "no class has more than 7 rows"),
        ({"method": "leave_one_out"}, "allowed: contiguous, random, stratified, group, time"),
    ],
)
def test_an_impossible_cut_says_why(settings, message):
    y = np.array([0] * 7 + [1] * 3)
    with pytest.raises(ValueError, match=message):
        make_folds(y, **settings)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"count": 1}, "at least 2"),
        ({"count": True}, "a number is wanted"),
        ({"method": "time", "repeats": 3}, "in one way only"),
        ({"pool": ["train", "test"], "held_out": "test"}, "which no fold has seen"),
        ({"kount": 3}, "Extra inputs"),
    ],
)
def test_a_section_that_cannot_be_is_refused(section, message):
    with pytest.raises(ValidationError, match=message):
        Folds.model_validate(section)
