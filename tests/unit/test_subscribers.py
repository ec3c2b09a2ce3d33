"""The generated subscribers, against the plain-Python generator."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalibre.data.subscribers import REGIONS, generate_subscribers
from reference import subscribers as plain

LESSON_SEED = 20260218


def as_lists(table):
    """Columns as Python lists, a missing satisfaction as None."""
    lists = {name: column.tolist() for name, column in table.items()}
    masked = lists["satisfaction_masked"]
    lists["satisfaction_masked"] = [None if math.isnan(value) else value for value in masked]
    return lists


@pytest.mark.parametrize(
    ("seed", "candidates"),
    [
        (LESSON_SEED, 1400),
        (LESSON_SEED, 3000),
        (0, 1),
        (1, 1400),
        (7, 10_000),
        (2**32 - 1, 1400),
        (2**32 - 60_000, 2000),
        (2**40 + 12_345, 500),
        (-5, 500),
    ],
)
def test_every_value_is_that_of_the_plain_generator(seed, candidates):
    rows = plain.generate(seed, candidates)
    table = as_lists(generate_subscribers(seed=seed, candidates=candidates))
    assert len(table["id"]) == len(rows)
    for name, column in table.items():
        assert column == [row[name] for row in rows], name


def test_the_lessons_keep_1260_of_1400_candidates():
    table = generate_subscribers(seed=LESSON_SEED, candidates=1400)
    assert {len(column) for column in table.values()} == {1260}


def test_columns_are_named_and_ordered_as_documented():
    table = generate_subscribers(seed=1, candidates=10)
    assert list(table) == [
        *("id", "region", "household", "satisfaction", "satisfaction_masked", "periods"),
        *("mean_consumption", "volatility", "zero_reading", "per_person"),
        *("region_north", "region_south", "region_east", "region_west", "region_centre"),
        *("seal_broken", "tariff_code", "suspicious"),
    ]


def test_a_subscriber_does_not_hang_on_how_many_others_are_drawn():
    few = generate_subscribers(seed=3, candidates=300)
    many = generate_subscribers(seed=3, candidates=5000)
    for name, column in few.items():
        np.testing.assert_array_equal(column, many[name][: len(column)])


def test_region_and_its_five_columns_say_the_same():
    table = generate_subscribers(seed=2, candidates=500)
    for region in REGIONS:
        np.testing.assert_array_equal(table[f"region_{region}"], table["region"] == region)


def test_masking_hides_about_one_satisfaction_in_twelve_and_changes_no_other():
    table = generate_subscribers(seed=2, candidates=20_000)
    hidden = np.isnan(table["satisfaction_masked"])
    assert hidden.mean() == pytest.approx(0.08, abs=0.01)
    np.testing.assert_array_equal(
        table["satisfaction_masked"][~hidden], table["satisfaction"][~hidden]
    )


def test_a_table_from_which_every_candidate_drops_out_is_empty():
    dropped = next(seed for seed in range(1000) if not plain.generate(seed, 1))
    table = generate_subscribers(seed=dropped, candidates=1)
    assert {len(column) for column in table.values()} == {0}


@pytest.mark.parametrize("candidates", [0, -3])
def test_fewer_than_one_candidate_is_refused(candidates):
    with pytest.raises(ValueError, match=f"candidates is {candidates}; it must be at least 1"):
        generate_subscribers(seed=1, candidates=candidates)


@pytest.mark.parametrize("candidates", [1.5, True, "10"])
def test_candidates_that_are_no_whole_number_are_refused(candidates):
    with pytest.raises(ValueError, match=r"candidates is .* must be a whole number"):
        generate_subscribers(seed=1, candidates=candidates)


def test_a_seed_that_is_no_whole_number_is_refused():
    with pytest.raises(ValueError, match=r"seed is 1\.5"):
        generate_subscribers(seed=1.5, candidates=10)
