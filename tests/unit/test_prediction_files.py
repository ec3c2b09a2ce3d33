"""Predictions in a person's file: one column a model or one row a model, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kalibre.columns import Categories
from kalibre.data.table import Table, make_table
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.data import Predictions
from kalibre.logits import expit, logit
from kalibre.reading import columns_of, read_scores
from kalibre.scores import Scores
from kalibre.splitting import split_rows

Read = Callable[..., Table]
WIDE = "y,calm,bold\n1,0.6,0.9\n0,0.4,0.2\n1,0.7,1\n"
LONG = "model,y,p\ncalm,1,0.6\nbold,1,0.9\ncalm,0,0.4\nbold,0,0.2\nother,1,7\n"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read a file's content as the experiment file's section `data` asks."""
    monkeypatch.chdir(tmp_path)

    def make(content: str | pd.DataFrame, **section: Any) -> Table:
        name = "p.csv" if isinstance(content, str) else "p.parquet"
        if isinstance(content, str):
            Path(name).write_text(content, encoding="utf-8")
        else:
            content.to_parquet(name)
        asked = {"file": name, "outcome": "y", **section}
        return make_table(plain(Predictions(source="predictions", **asked)))

    return make


def scores(table: Table, model: str, parts: Any = None) -> Scores:
    """A model's scores, as the next stage takes them."""
    features = {name: table.features[name] for name in columns_of(model, table.features)}
    return read_scores(features, dict(table.roles), parts, model=model)[0]


# ---- a column for each model


def test_every_model_gets_its_column_and_the_common_outcome(read: Read):
    table = read(WIDE, probability=["calm", "bold"])
    for model, expected in (("calm", [0.6, 0.4, 0.7]), ("bold", [0.9, 0.2, 1.0])):
        found = scores(table, model)
        assert found.probability.tolist() == expected
        np.testing.assert_array_equal(found.logit, logit(expected))
        assert found.outcome.tolist() == [1, 0, 1]
        assert found.row.tolist() == [0, 1, 2]
        assert found.part.values().tolist() == ["all"] * 3
        assert not (found.fitted | found.calibrated).any()


def test_models_may_be_named_apart_from_their_columns(read: Read):
    table = read(WIDE.replace("calm", "p (calm)"), probability={"calm": "p (calm)"})
    assert scores(table, "calm").probability.tolist() == [0.6, 0.4, 0.7]


def test_a_single_column_that_is_no_name_makes_a_model_called_model():
    section = Predictions(source="predictions", file="p.csv", outcome="y", probability="p (calm)")
    assert section.model_names() == ["model"]


def test_logits_are_turned_into_probabilities_and_kept(read: Read):
    found = scores(read("y,z\n1,40\n0,-2.5\n", logit="z"), "z")
    assert found.logit.tolist() == [40.0, -2.5]
    np.testing.assert_array_equal(found.probability, expit([40.0, -2.5]))


def test_probabilities_and_logits_may_stand_side_by_side(read: Read):
    table = read("y,p,z\n1,0.6,1\n0,0.4,-1\n", probability=["p"], logit=["z"])
    assert scores(table, "p").probability.tolist() == [0.6, 0.4]
    assert scores(table, "z").logit.tolist() == [1.0, -1.0]


def test_weights_that_are_no_whole_numbers_are_scaled_to_a_mean_of_1(read: Read):
    table = read("p,y,w\n0.2,0,0.1\n0.4,1,0.2\n0.6,0,0.3\n", probability="p", weight="w")
    weight = scores(table, "p").weight
    assert weight is not None
    np.testing.assert_allclose(weight, [0.5, 1.0, 1.5])
    assert any("scaled to a mean of 1 (it was 0.2)" in note for note in table.result.notes)


def test_weights_and_groups_travel_with_the_scores(read: Read):
    content = "y,p,w,home\n1,0.6,2,a\n0,0.4,1,b\n1,0.3,1,a\n"
    found = scores(read(content, probability="p", weight="w", group="home"), "p")
    assert found.weight is not None
    assert found.weight.tolist() == [2.0, 1.0, 1.0]
    assert found.group is not None
    assert found.group.values().tolist() == ["a", "b", "a"]


def test_labels_are_named_as_in_a_table(read: Read):
    table = read("y,p\nbad,0.6\ngood,0.4\n", probability="p", positive="bad")
    assert scores(table, "p").outcome.tolist() == [1, 0]


def test_the_record_counts_each_models_rows(read: Read):
    result = read(WIDE, probability=["calm", "bold"]).result
    assert {k: v for k, v in result.metrics.items() if k.endswith("/rows")} == {
        "calm/rows": 3,
        "bold/rows": 3,
    }
    assert result.params == {"file": "p.csv", "outcome": "y", "positive": "1"}


def test_parquet_and_csv_say_the_same(read: Read):
    from_csv = scores(read(WIDE, probability=["bold"]), "bold")
    frame = pd.DataFrame({"y": [True, False, True], "bold": np.float64([0.9, 0.2, 1.0])})
    from_parquet = scores(read(frame, probability=["bold"]), "bold")
    for name, column in from_csv.to_columns().items():
        np.testing.assert_array_equal(_plain(column), _plain(from_parquet.to_columns()[name]))


def _plain(column: Any) -> Any:
    return column.values() if isinstance(column, Categories) else column


# ---- a row for each model


def test_rows_are_told_apart_by_the_column_that_names_the_model(read: Read):
    table = read(LONG, probability="p", model="model", models=["calm", "bold"])
    assert scores(table, "calm").probability.tolist() == [0.6, 0.4]
    assert scores(table, "bold").probability.tolist() == [0.9, 0.2]
    assert scores(table, "bold").row.tolist() == [0, 1]


def test_rows_of_other_models_are_left_out_unseen_and_that_is_said(read: Read):
    notes = read(LONG, probability="p", model="model", models=["calm"]).result.notes
    assert notes == ("3 rows of models that `models` does not name are left out: bold, other",)


def test_what_the_file_calls_a_model_need_not_be_a_name(read: Read):
    content = LONG.replace("calm", "v 1.0")
    table = read(content, probability="p", model="model", models={"calm": "v 1.0"})
    assert scores(table, "calm").probability.tolist() == [0.6, 0.4]


# ---- parts


def test_a_column_may_say_each_rows_part(read: Read):
    content = "y,p,fold\n1,0.6,a\n0,0.4,b\n1,0.7,b\n0,0.2,a\n"
    table = read(content, probability="p", part="fold")
    split = {"method": "column", "values": [["calibration", ["a"]], ["test", ["b"]]], "rest": None}
    parts, _ = split_rows(dict(table.roles), split)
    found = scores(table, "p", parts)
    assert found.part.values().tolist() == ["calibration", "test", "test", "calibration"]
    assert found.probability.tolist() == [0.6, 0.4, 0.7, 0.2]


def test_predictions_may_be_split_like_any_rows(read: Read):
    rows = 40
    content = "y,p,q\n" + "".join(f"{i % 2},{i / 50},{1 - i / 50}\n" for i in range(rows))
    table = read(content, probability=["p", "q"])
    split = {"method": "random", "parts": [["calibration", 0.5]], "rest": "test", "seed": 1}
    parts, _ = split_rows(dict(table.roles), split)
    p, q = scores(table, "p", parts), scores(table, "q", parts)
    assert p.row.tolist() == q.row.tolist()
    np.testing.assert_allclose(p.probability, p.row / 50)
    np.testing.assert_allclose(p.probability + q.probability, 1)
    assert p.part.values().tolist() == q.part.values().tolist()


def test_a_split_parts_the_rows_of_each_model(read: Read):
    content = "m,y,p,fold\na,1,0.6,x\nb,0,0.4,x\na,0,0.3,y\nb,1,0.8,y\n"
    table = read(content, probability="p", model="m", models=["a", "b"], part="fold")
    split = {"method": "column", "values": [["x", ["x"]], ["y", ["y"]]], "rest": None}
    parts, _ = split_rows(dict(table.roles), split)
    found = scores(table, "b", parts)
    assert found.probability.tolist() == [0.4, 0.8]
    assert found.part.values().tolist() == ["x", "y"]


# ---- what is refused

P = {"probability": "p"}
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "above 1": (
        "y,p\n1,0.5\n0,1.7\n",
        P,
        (
            "p.csv: column 'p' (`data.probability`), row 2: found 1.7; allowed is a probability of the positive "
            "outcome, from 0 to 1 (1 of 2 rows)"
        ),
    ),
    "below 0": (
        "y,p\n1,-0.5\n0,0.7\n",
        P,
        (
            "row 1: found -0.5; allowed is a probability of the positive outcome, from 0 to 1 (1 of 2 rows); if "
            "the column holds logits, name it as `logit`"
        ),
    ),
    "percent": (
        "y,p\n1,55\n0,7\n",
        P,
        (
            "row 1: found 55.0; allowed is a probability of the positive outcome, from 0 to 1 (2 of 2 rows); the "
            "column looks like percent: divide it by 100"
        ),
    ),
    "percent signs": (
        "y,p\n1,55%\n0,7%\n",
        P,
        (
            "row 1: found '55%'; allowed is a probability of the positive outcome, from 0 to 1; write 55% as a "
            "share, without the percent sign"
        ),
    ),
    "a word": (
        "y,p\n1,0.5\n0,high\n",
        P,
        "p.csv: column 'p' (`data.probability`), row 2: found 'high'",
    ),
    "decimal commas": (
        'y,p\n1,"0,5"\n0,"0,7"\n',
        P,
        (
            "row 1: found '0,5'; allowed is a probability of the positive outcome, from 0 to 1; write numbers "
            "with a decimal point"
        ),
    ),
    "no value": (
        "y,p\n1,0.5\n0,NaN\n",
        P,
        (
            "row 2: found no value; allowed is a probability of the positive outcome, from 0 to 1 (1 of 2 rows); "
            "fill the value in or delete the row"
        ),
    ),
    "infinite": ("y,p\n1,inf\n0,0.2\n", P, "row 1: found inf; allowed is a probability"),
    "booleans": ("y,p\n1,true\n0,false\n", P, "row 1: found True; allowed is a probability"),
    "infinite logit": (
        "y,z\n1,inf\n0,0.2\n",
        {"logit": "z"},
        (
            "p.csv: column 'z' (`data.logit`), row 1: found inf; allowed is a finite number, ln(p / (1 - p)) (1 "
            "of 2 rows); a certain prediction has no logit: give `probability` instead"
        ),
    ),
    "three outcomes": (
        "y,p\n1,0.5\n2,0.7\n3,0.1\n",
        P,
        (
            "p.csv: column 'y' (`data.outcome`): its labels (and their rows) are '1' (1), '2' (1), '3' (1); say "
            "which counts as 1"
        ),
    ),
    "one outcome": (
        "y,p\n1,0.5\n1,0.7\n",
        P,
        "column 'y' (`data.outcome`): all rows (2) have the label '1'",
    ),
    "no such column": (
        "y,prob\n1,0.5\n0,0.7\n",
        {"probability": {"m": "probb"}},
        "p.csv: has no column 'probb', which `data.probability` names; did you mean 'prob'?",
    ),
    "no such model": (
        LONG,
        {**P, "model": "model", "models": ["clam"]},
        (
            "p.csv: column 'model' (`data.model`): no row has 'clam', which `data.models` names; did you mean "
            "'calm'?"
        ),
    ),
    "a model's bad row": (
        LONG,
        {**P, "model": "model", "models": ["calm", "other"]},
        "p.csv: column 'p' (`data.probability`), row 5: found 7.0",
    ),
    "a model missing": (
        "m,y,p\na,1,0.5\n,0,0.7\n",
        {**P, "model": "m", "models": ["a"]},
        "p.csv: column 'm' (`data.model`), row 2: found no value; every row needs its model's name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_prediction_is_one_message_with_its_place(read: Read, case: str):
    content, section, message = REFUSED[case]
    with pytest.raises(InputError) as refused:
        read(content, **section)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "give `probability` or `logit`"),
        ({"outcome": None, **P}, "`outcome` is missing"),
        (
            {"probability": ["a"], "logit": {"a": "b"}},
            "model 'a' has a `probability` and a `logit`",
        ),
        ({"probability": ["a", "a"]}, "column 'a' is named twice"),
        ({**P, "model": "m"}, "`model` (a column) and `models` (its values to take) go together"),
        (
            {"probability": ["a", "b"], "model": "m", "models": ["x"]},
            "all predictions stand in one column",
        ),
        (
            {"inline": {"m": {"probability": [0.5], "outcome": [1]}}, **P},
            "both are given, give one",
        ),
    ],
)
def test_a_section_that_contradicts_itself_is_refused_before_any_file_is_read(
    section: dict[str, Any], message: str
):
    given = {"file": "p.csv", "outcome": "y", **section}
    with pytest.raises(ValueError) as refused:
        Predictions(source="predictions", **{k: v for k, v in given.items() if v is not None})
    assert message in str(refused.value)


def test_what_goes_with_a_file_is_refused_beside_inline_predictions():
    inline = {"m": {"probability": [0.5, 0.4], "outcome": [1, 0]}}
    with pytest.raises(ValueError, match="`group` goes with `file`; leave it out beside `inline`"):
        Predictions(source="predictions", inline=inline, group="home")
