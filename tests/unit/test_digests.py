"""Equal content has an equal digest, other content another one; a file's bytes do not matter."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kalibre.columns import Categories
from kalibre.digests import digest_bytes, digest_columns, digest_json, digest_object
from kalibre.files import read_columns, write_columns

NUMBERS = hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e9, 1e9))


def test_a_digest_is_the_first_half_of_a_sha256():
    assert digest_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb924"


def test_json_is_digested_whatever_the_order_of_its_keys():
    assert digest_json({"a": 1, "b": [2]}) == digest_json({"b": [2], "a": 1})
    assert digest_json({"a": 1}) != digest_json({"a": 2})
    assert digest_json([1, 2]) != digest_json([2, 1])


# ---- tables


@given(NUMBERS)
def test_a_table_is_digested_by_its_values(values: np.ndarray):
    same = np.repeat(values, 2)[::2]  # equal values that lie otherwise in memory
    assert digest_columns({"x": values}) == digest_columns({"x": same})


@given(NUMBERS, st.data())
def test_one_other_value_is_another_digest(values: np.ndarray, data: st.DataObject):
    other = values.copy()
    position = data.draw(st.integers(0, len(values) - 1))
    other[position] = np.nextafter(other[position], np.inf)
    assert digest_columns({"x": values}) != digest_columns({"x": other})


@pytest.mark.parametrize(
    "other",
    [
        {"y": np.array([1.0, 2.0])},
        {"x": np.array([2.0, 1.0])},
        {"x": np.array([1, 2])},
        {"x": np.array([1.0, 2.0], dtype=np.float32)},
        {"x": np.array(["1.0", "2.0"], dtype=object)},
        {"x": np.array([1.0]), "y": np.array([2.0])},
        {"x": np.array([1.0, 2.0]), "y": np.array([1.0, 2.0])},
        {"x": np.array([[1.0, 2.0]])},
    ],
    ids=["name", "order", "whole", "single", "words", "columns", "more", "shape"],
)
def test_names_kinds_and_order_are_part_of_a_table(other: dict[str, Any]):
    assert digest_columns(other) != digest_columns({"x": np.array([1.0, 2.0])})


def test_nothing_is_told_apart_from_the_word_none():
    nothing, word = (np.array([value], dtype=object) for value in (None, "None"))
    assert digest_columns({"x": nothing}) != digest_columns({"x": word})


def test_where_one_string_ends_and_the_next_begins_matters():
    first, second = (np.array(v, dtype=object) for v in (["ab", "c"], ["a", "bc"]))
    assert digest_columns({"x": first}) != digest_columns({"x": second})


@pytest.mark.parametrize(
    "column",
    [
        np.array(["north", "east"]),
        np.array(["north", None], dtype=object),
        np.array([1.0, np.nan, np.inf]),
        np.array([1, 0], dtype=np.int8),
        np.array([True, False]),
        np.zeros(0),
        Categories.of(["train", "test", "train"]),
        Categories.of([]),
    ],
    ids=["words", "gaps", "floats", "int8", "bool", "empty", "categories", "no categories"],
)
def test_a_table_read_back_has_the_digest_it_was_written_with(tmp_path: Path, column):
    path = tmp_path / "t.parquet"
    write_columns(path, {"x": column})
    assert digest_columns(read_columns(path)) == digest_columns({"x": column})


# ---- models


def _models() -> list[Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from kalibre.models.linear import GradientDescentLogistic
    from kalibre.models.tree import GiniTree

    return [
        GradientDescentLogistic(),
        GiniTree(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
    ]


KINDS = ["descent", "gini", "bayes", "pipeline", "forest", "boosted"]


def _data(shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(7)
    X = draws.normal(size=(60, 3))
    y = (X[:, 0] + draws.normal(size=60) > 0).astype(np.int8)
    return X + shift, y


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_a_model_learned_twice_has_one_digest(kind: int):
    first, second = (_models()[kind].fit(*_data()) for _ in range(2))
    assert digest_object(first) == digest_object(second)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_a_model_learned_from_other_rows_has_another(kind: int):
    X, y = _data()
    assert digest_object(_models()[kind].fit(X, y)) != digest_object(
        _models()[kind].fit(X[:50], y[:50])
    )


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_asking_a_model_for_probabilities_does_not_change_it(kind: int):
    X, y = _data()
    model = _models()[kind].fit(X, y)
    before = digest_object(model)
    model.predict_proba(X)
    assert digest_object(model) == before


def test_a_parameter_is_part_of_a_model_even_where_it_changes_nothing():
    from sklearn.naive_bayes import GaussianNB

    X, y = _data()
    one, other = (GaussianNB(var_smoothing=v).fit(X, y) for v in (1e-9, 1.0000001e-9))
    assert digest_object(one) != digest_object(other)


def test_a_model_has_one_digest_in_every_process():
    """Sets are walked in an order that differs from process to process, and addresses differ."""
    program = (
        "import numpy as np; from kalibre.digests import digest_object\n"
        "class Model: pass\n"
        "model = Model(); model.words = {'a', 'b', 'c', 'd'}; model.draw = np.random.RandomState(0)\n"
        "print(digest_object(model))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_an_object_that_holds_itself_is_digested():
    class Node:
        def __init__(self, value: int) -> None:
            self.value, self.owner = value, self

    assert digest_object(Node(1)) == digest_object(Node(1))
    assert digest_object(Node(1)) != digest_object(Node(2))


def test_padding_between_fields_is_not_part_of_the_value():
    kind = np.dtype([("flag", np.int8), ("value", np.float64)], align=True)
    one, other = (np.frombuffer(bytes([fill]) * 16, dtype=kind).copy() for fill in (0, 255))
    other["flag"], other["value"] = one["flag"], one["value"]
    assert one.tobytes() != other.tobytes()
    assert digest_object(one) == digest_object(other)


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match="pickle"):
        digest_object(i for i in range(3))
