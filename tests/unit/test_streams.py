"""The lessons' random streams, against the plain-Python stream."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalibre.data.streams import Streams, check_seed, discrete, sequence
from reference.subscribers import Stream, pick

seeds = st.integers(min_value=-(2**62), max_value=2**62)


@given(st.lists(seeds, min_size=1, max_size=20), st.integers(1, 30))
def test_every_stream_gives_the_numbers_of_the_plain_one(many, draws):
    streams, plain = Streams(np.array(many)), [Stream(seed) for seed in many]
    for _ in range(draws):
        assert streams.draw().tolist() == [stream.draw() for stream in plain]


@given(st.lists(st.tuples(seeds, st.booleans()), min_size=1, max_size=20))
def test_a_draw_among_some_streams_leaves_the_others_where_they_are(chosen):
    streams = Streams(np.array([seed for seed, _ in chosen]))
    among = np.array([taken for _, taken in chosen])
    plain = [Stream(seed) for seed, _ in chosen]
    first = [stream.draw() for stream, taken in zip(plain, among, strict=True) if taken]
    assert streams.draw(among).tolist() == first
    assert streams.draw().tolist() == [stream.draw() for stream in plain]


def test_streams_may_be_chosen_by_position():
    streams, plain = Streams(np.array([5, 6, 7])), Stream(7)
    assert streams.draw(np.array([2])).tolist() == [plain.draw()]
    assert streams.draw()[2] == plain.draw()


@given(seeds, st.integers(0, 200))
def test_a_sequence_is_one_stream_drawn_again_and_again(seed, count):
    plain = Stream(seed)
    assert sequence(seed, count).tolist() == [plain.draw() for _ in range(count)]


@given(
    st.lists(st.floats(0, 1, exclude_max=True), max_size=20),
    st.lists(st.floats(0.01, 1), min_size=1, max_size=8),
)
def test_discrete_picks_the_first_category_whose_cumulated_share_is_above(draws, shares):
    found = discrete(np.array(draws, dtype=float), shares)
    assert found.tolist() == [pick(draw, shares) for draw in draws]


def test_a_draw_on_a_boundary_belongs_to_the_next_category():
    assert discrete(np.array([0.25, 0.5, 0.75]), [0.25, 0.25, 0.5]).tolist() == [1, 2, 2]


def test_a_draw_above_all_shares_belongs_to_the_last_category():
    assert discrete(np.array([0.999]), [0.3, 0.3]).tolist() == [1]


@pytest.mark.parametrize("seed", [1.0, "1", None, True])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(ValueError, match="must be a whole number"):
        check_seed(seed)


def test_a_seed_beyond_64_bits_is_refused_with_its_value():
    with pytest.raises(ValueError, match=str(2**63)):
        sequence(2**63, 1)


@pytest.mark.parametrize("given_seeds", [[0.5], [[1, 2]], ["a"]])
def test_streams_refuse_what_is_not_a_list_of_whole_numbers(given_seeds):
    with pytest.raises(ValueError, match="list of whole numbers"):
        Streams(given_seeds)
