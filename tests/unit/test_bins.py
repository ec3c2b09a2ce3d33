"""The bin contract, at the values where the rules of other libraries part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.metrics.bins import EqualMass, EqualWidth, OwnEdges, as_rule, assign


def first_bin_strictly_below(p: float, k: int) -> int:
    """The lesson's loop: the first upper edge (j + 1) / k that lies above p, or else the last."""
    for j in range(k):
        if p < (j + 1) / k:
            return j
    return k - 1


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7, 10, 15, 50, 100, 1000])
def test_every_edge_and_its_neighbours_fall_where_the_lesson_puts_them(k):
    edges = np.arange(k + 1) / k
    values = np.unique(
        np.clip(np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)]), 0, 1)
    )
    expected = [first_bin_strictly_below(p, k) for p in values]
    assert assign(values, EqualWidth(k).edges()).tolist() == expected


@given(st.floats(0, 1), st.integers(1, 300))
def test_equal_width_bins_are_the_lessons(p, k):
    assert assign([p], EqualWidth(k).edges()).tolist() == [first_bin_strictly_below(p, k)]


@pytest.mark.parametrize(
    ("k", "p", "expected"),
    [
        (10, 0.3, 3),
        (10, 0.6, 6),
        (10, 0.7, 7),
        (50, 0.58, 29),
        (100, 0.29, 29),
        (100, 0.57, 57),
        (100, 0.58, 58),
        (10, float(np.nextafter(9 / 10, 0)), 8),
        (10, 1.0, 9),
        (10, 0.0, 0),
        (10, -0.0, 0),
        (10, 5e-324, 0),
    ],
)
def test_a_value_on_an_edge_belongs_to_the_bin_it_opens(k, p, expected):
    assert assign([p], EqualWidth(k).edges()).tolist() == [expected]


@pytest.mark.parametrize(("k", "p"), [(10, 0.3), (10, 0.6), (10, 0.7)])
def test_linspace_edges_would_put_these_one_bin_low(k, p):
    low = assign([p], np.linspace(0, 1, k + 1))[0]
    assert low == assign([p], EqualWidth(k).edges())[0] - 1


def test_equal_width_edges_are_the_doubles_j_over_k():
    assert EqualWidth(10).edges().tolist() == [j / 10 for j in range(11)]
    assert EqualWidth(49).edges().tolist() == [j / 49 for j in range(50)]


def test_an_array_longer_than_a_chunk_is_binned_like_its_rows():
    p = np.random.default_rng(0).integers(0, 1001, 100_000) / 1000
    expected = np.searchsorted(np.arange(51) / 50, p, side="right") - 1
    assert np.array_equal(assign(p, EqualWidth(50).edges()), np.minimum(expected, 49))


def test_own_edges_leave_what_lies_outside_without_a_bin():
    edges = OwnEdges([0.6, 0.8, 1.0]).edges()
    assert assign([0.0, 0.59, 0.6, 0.79, 0.8, 1.0], edges).tolist() == [-1, -1, 0, 0, 1, 1]
    assert assign([0.3, 0.5, 0.51], OwnEdges([0.2, 0.5]).edges()).tolist() == [0, 0, -1]


def test_own_edges_may_end_in_a_single_point():
    edges = OwnEdges([0.6, 0.8, 1.0, 1.0]).edges()
    values = [0.6, 0.7, 0.8, 0.9, float(np.nextafter(1, 0)), 1.0]
    assert assign(values, edges).tolist() == [0, 0, 1, 1, 1, 2]


def test_a_single_point_can_be_the_only_bin():
    assert assign([0.9, 1.0], OwnEdges([1.0, 1.0]).edges()).tolist() == [-1, 0]


def test_own_edges_of_equal_width_bin_like_equal_width():
    p = np.arange(101) / 100
    assert np.array_equal(
        assign(p, OwnEdges([0, 0.25, 0.5, 0.75, 1]).edges()), assign(p, EqualWidth(4).edges())
    )


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], "bin edges: empty"),
        ([0.5], "expected at least two"),
        ([0.0, 1.5], r"1\.5, expected numbers in \[0, 1\]"),
        ([-0.1, 0.5], r"-0\.1"),
        ([0.0, float("nan"), 1.0], "nan"),
        ([0.5, 0.2], r"0\.5 is followed by 0\.2, expected rising edges"),
        ([0.0, 0.0, 1.0], r"0\.0 is followed by 0\.0"),
        ([0.2, "0.5"], "expected a number"),
    ],
)
def test_impossible_edges_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        OwnEdges(edges)


@pytest.mark.parametrize("count", [0, -3, 2.5, True, "10", None])
def test_a_bin_count_is_a_positive_whole_number(count):
    for rule in (EqualWidth, EqualMass, as_rule):
        with pytest.raises(ValueError, match="bin count: found"):
            rule(count)


def test_a_number_stands_for_bins_of_equal_width():
    assert as_rule(7) == EqualWidth(7)
    assert as_rule(EqualMass(7)) == EqualMass(7)


def test_equal_mass_bins_of_distinct_values_hold_equally_many():
    p = np.random.default_rng(1).permutation(np.arange(1, 101) / 128)
    found = assign(p, EqualMass(10).edges(p))
    assert np.bincount(found).tolist() == [10] * 10


def test_an_equal_mass_edge_is_the_value_below_which_the_share_is_reached():
    assert EqualMass(2).edges([0.1, 0.2, 0.3, 0.4]).tolist() == [0.0, 0.3, 1.0]
    assert EqualMass(2).edges([0.1, 0.2, 0.3]).tolist() == [0.0, 0.3, 1.0]
    assert EqualMass(6).edges([0.1, 0.5, 0.5, 0.5, 0.5, 0.9]).tolist() == [0.0, 0.5, 0.9, 1.0]
    assert EqualMass(4).edges([0.1, 0.5, 0.5, 0.5, 0.5, 0.9]).tolist() == [0.0, 0.9, 1.0]


def test_equal_mass_bins_never_part_ties_and_merge_what_coincides():
    p = [0.1] + [0.5] * 8 + [0.9]
    edges = EqualMass(5).edges(p)
    assert edges.tolist() == [0.0, 0.9, 1.0]
    assert EqualMass(5).edges([0.3] * 10).tolist() == [0.0, 1.0]


def test_equal_mass_bins_with_predictions_of_zero_and_one():
    p = [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    edges = EqualMass(3).edges(p)
    assert edges.tolist() == [0.0, 0.5, 1.0, 1.0]
    assert assign(p, edges).tolist() == [0, 0, 1, 1, 2, 2]


def test_more_equal_mass_bins_than_rows_leave_one_row_each():
    p = [0.4, 0.2, 0.3]
    assert assign(p, EqualMass(100).edges(p)).tolist() == [2, 0, 1]


hundredths = st.integers(0, 20).map(lambda i: i / 20)


@given(st.lists(st.tuples(hundredths, st.integers(0, 4)), min_size=1, max_size=40))
def test_weights_shape_equal_mass_bins_as_repeated_rows_would(rows):
    p = np.array([row[0] for row in rows])
    w = np.array([row[1] for row in rows])
    if not w.sum():
        return
    weighted = EqualMass(5).edges(p, w)
    assert weighted.tolist() == EqualMass(5).edges(np.repeat(p, w)).tolist()


@given(st.lists(hundredths, min_size=1, max_size=60), st.integers(1, 12))
def test_every_equal_mass_bin_is_filled_and_closed_only_when_its_share_is_reached(values, count):
    p = np.array(values)
    edges = EqualMass(count).edges(p)
    filled = np.bincount(assign(p, edges), minlength=edges.size - 1)
    assert filled.min() > 0
    assert edges.size - 1 <= count
    for edge in edges[1:-1]:
        below = np.count_nonzero(p < edge) * count
        next_lower = np.count_nonzero(p < p[p < edge].max()) * count
        assert below // p.size > next_lower // p.size or below % p.size == 0


def test_equal_mass_does_not_depend_on_the_order_of_rows():
    p = np.random.default_rng(2).integers(0, 30, 200) / 30
    w = np.full(200, 0.1)
    assert EqualMass(7).edges(p, w).tolist() == EqualMass(7).edges(p[::-1], w).tolist()
    assert EqualMass(7).edges(p, w).tolist() == EqualMass(7).edges(p).tolist()


def test_nan_is_not_binned():
    with pytest.raises(ValueError, match="nan in row 1"):
        assign([0.5, float("nan")], EqualWidth(10).edges())


def test_what_is_beyond_equal_width_edges_has_no_bin():
    assert assign([-0.5, -1e-9, 1.0000001, 7.0], EqualWidth(10).edges()).tolist() == [-1] * 4


def test_every_rule_says_itself_in_words():
    assert EqualWidth(10).describe() == (
        "10 bins of equal width, edges j/10, closed on the left, the last on both sides"
    )
    assert "ties kept together" in EqualMass(4).describe()
    assert OwnEdges([0.6, 0.8, 1.0, 1.0]).describe() == (
        "own edges 0.6, 0.8, 1.0, closed on the left, the last bin the single point 1.0"
    )
    assert OwnEdges([0, 0.5, 1]).describe() == (
        "own edges 0.0, 0.5, 1.0, closed on the left, the last on both sides"
    )
