"""Input that is wrong, or only looks so: met at the edge, with one message, and nothing is left behind.

Most rows go through `kalibre check`, in this process; what it says a job says too, because both call the
same functions. A few go through Snakemake itself.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
import yaml

from kalibre.cli.build import build
from kalibre.cli.main import main
from kalibre.errors import InputError
from projects import Project

ROWS = 40
FILE = "data/mine.csv"
EXPERIMENT = "config/experiments/mine.yaml"
ENCODER = "sklearn.preprocessing.OneHotEncoder"
QUOTE = '"'
ODD_NAME = 'the "real" age, 😀'
RUNS = f"{EXPERIMENT}: no mistake found; nothing was run and nothing written"

TABLE: dict[str, Any] = {
    "data": {"source": "table", "file": FILE, "target": "ill", "positive": "yes"},
    "split": {"method": "stratified", "seed": 0, "parts": {"test": 10}, "rest": "train"},
    "preparation": [
        {
            "step": ENCODER,
            "columns": "categorical",
            "params": {"handle_unknown": "ignore"},
        }
    ],
    "models": {"boosted": {"estimator": "sklearn.ensemble.HistGradientBoostingClassifier"}},
    "folds": {"count": 3},
}
"""An experiment that runs on the table below."""

PREDICTIONS: dict[str, Any] = {
    "data": {"source": "predictions", "file": FILE, "outcome": "y", "probability": "p"}
}


def table(**changed: Any) -> dict[str, list[Any]]:
    """Columns with nothing wrong; a list replaces a column or is another one, None takes one away."""
    columns: dict[str, Any] = {
        "age": [20 + 7 * i % 41 for i in range(ROWS)],
        "town": [("north", "south", "east")[i % 3] for i in range(ROWS)],
        "ill": [("no", "yes", "no")[i * i % 7 % 3] for i in range(ROWS)],
    }
    columns |= changed
    return {name: values for name, values in columns.items() if values is not None}


def predictions(**changed: Any) -> dict[str, list[Any]]:
    """Probabilities and outcomes with nothing wrong."""
    columns = {"p": [i / ROWS for i in range(ROWS)], "y": [int(i % 5 > 2) for i in range(ROWS)]}
    return columns | changed


def csv(columns: Mapping[str, list[Any]], *, delimiter: str = ",", decimal: str = ".") -> bytes:
    lines = [delimiter.join(columns)]
    for row in zip(*columns.values(), strict=True):
        cells = ["" if v is None else str(v) for v in row]
        cells = [c.replace(".", decimal) for c in cells]
        lines.append(delimiter.join(cells))
    return ("\n".join(lines) + "\n").encode()


def changed(base: Mapping[str, Any], **sections: Any) -> dict[str, Any]:
    """An experiment with keys of its sections changed; None takes a section away."""
    content = deepcopy(dict(base))
    for name, keys in sections.items():
        merged = isinstance(keys, dict) and isinstance(content.get(name), dict)
        content[name] = {**content[name], **keys} if merged else keys
    return {name: section for name, section in content.items() if section is not None}


@dataclass(frozen=True)
class Case:
    """A row of the table: what is given, the exit code, and the one message.

    Attributes
    ----------
    name : str
        What is wrong.
    content : bytes or None
        The file; None for no file.
    message : str
        What is said, all of it where it is refused.
    code : int
        1 where it is refused, 0 where it is read and said.
    experiment : dict
        The experiment file.
    command : tuple of str
        What is called.
    """

    name: str
    content: bytes | None
    message: str
    code: int = 1
    experiment: dict[str, Any] = field(default_factory=lambda: TABLE)
    command: tuple[str, ...] = ("check", "mine")


def with_model(estimator: str, **params: Any) -> dict[str, Any]:
    return {**TABLE, "models": {"mine": {"estimator": estimator, "params": params}}}


def by_part(**sections: Any) -> dict[str, Any]:
    """An experiment whose parts a column says."""
    split = {"method": "column", "values": ["train", "test"]}
    return changed(TABLE, data={"part": "part"}) | {"split": split} | sections


def new(*options: str, name: str = "other") -> tuple[str, ...]:
    return ("new", name, "--data", FILE, "--target", "ill", "--positive", "yes", *options)


THIRTY_AND_TEN = ["train"] * 30 + ["test"] * 10
WEST_IN_TEST_ONLY = ["north", "south"] * 15 + ["west"] * 10
WITHOUT_POSITIVE = {k: v for k, v in TABLE["data"].items() if k != "positive"}
PROBABILITY = "allowed is a probability of the positive outcome, from 0 to 1"

AT_THE_FILE = [
    Case(
        "no such file",
        None,
        f"{FILE}: there is no such file; a path is relative to the project's folder",
    ),
    Case("an empty file", b"", f"{FILE}: is empty; a table has a line of column names and rows"),
    Case(
        "a header only",
        b"age,town,ill\n",
        f"{FILE}: has the names of 3 columns and no rows below them",
    ),
    Case(
        "two columns of one name",
        b"age,ill,age\n1,yes,2\n",
        f"{FILE}: the name 'age' stands twice, above columns 1 and 3; give every column a name of its own",
    ),
    Case(
        "the wrong delimiter",
        csv(table()),
        f"{FILE}: has no column 'ill', which `data.target` names; its columns are 'age,town,ill'",
        experiment=changed(TABLE, data={"delimiter": ";"}),
    ),
    Case(
        "semicolons",
        csv(table(), delimiter=";"),
        f"{FILE}: columns are separated by semicolons",
        code=0,
    ),
    Case(
        "decimal commas",
        csv(table(share=[i + 0.5 for i in range(ROWS)]), delimiter=";", decimal=","),
        f"{FILE}: numbers have decimal commas",
        code=0,
    ),
    Case(
        "a byte order mark",
        b"\xef\xbb\xbf" + csv(table()),
        f"{FILE} begins with a byte order mark, which is not part of the first name",
        code=0,
    ),
    Case(
        "Latin-1",
        csv(table(town=["Köln", "Bonn"] * 20)).decode().encode("latin-1"),
        f"{FILE}: row 1: byte 0xF6 is not UTF-8 text; the file looks like Latin-1, where it is 'ö': say "
        "`encoding: latin-1` under `data`, or save the file as UTF-8",
    ),
    Case(
        "Latin-1 for a new experiment",
        csv(table(town=["Köln", "Bonn"] * 20)).decode().encode("latin-1"),
        f"{FILE}: row 1: byte 0xF6 is not UTF-8 text; the file looks like Latin-1, where it is 'ö': say "
        "`--encoding latin-1`, or save the file as UTF-8",
        command=new(),
    ),
    Case(
        "Latin-1 that is named",
        csv(table(town=["Köln", "Bonn"] * 20)).decode().encode("latin-1"),
        RUNS,
        code=0,
        experiment=changed(TABLE, data={"encoding": "latin-1"}),
    ),
    Case(
        "UTF-16",
        csv(table()).decode().encode("utf-16"),
        f"{FILE}: is text in UTF-16; say `encoding: utf-16` under `data`, or save it as UTF-8",
    ),
    Case(
        "a row with a comma too many",
        csv(table()).replace(b"34,east", b"34,5,east"),
        f"{FILE}: row 3 has 4 values where the header has 3: '34,5,east,yes'; a value that holds commas "
        'stands in quotation marks: "..."',
    ),
    Case(
        "an Excel workbook",
        b"PK\x03\x04" + bytes(100),
        f"{FILE}: is an Excel workbook or a zip archive; save the sheet as CSV; kalibre reads CSV and "
        "Parquet",
    ),
]

AT_THE_LABEL = [
    Case(
        "the target is missing",
        csv(table(ill=None, Ill=table()["ill"])),
        f"{FILE}: has no column 'ill', which `data.target` names; did you mean 'Ill'?",
    ),
    Case(
        "the target is constant",
        csv(table(ill=["yes"] * ROWS)),
        f"{FILE}: column 'ill' (`data.target`): all rows (40) have the label 'yes'; a classifier needs rows "
        "of two labels",
    ),
    Case(
        "a row without a label",
        csv(table(ill=[*table()["ill"][:-1], None])),
        f"{FILE}: column 'ill' (`data.target`), row 40: found no value (1 of 40 rows); every row needs a "
        "label: fill it in or delete the row",
    ),
    Case(
        "the positive label is absent",
        csv(table()),
        f"{FILE}: column 'ill' (`data.target`): no row has the label 'Yess', which `positive` names; its "
        "labels (and their rows) are 'no' (18), 'yes' (22); did you mean 'yes'?",
        experiment=changed(TABLE, data={"positive": "Yess"}),
    ),
    Case(
        "nobody says which label is positive",
        csv(table()),
        f"{FILE}: column 'ill' (`data.target`): its labels (and their rows) are 'no' (18), 'yes' (22); say "
        "which counts as 1: `positive: yes` under `data`",
        experiment={**TABLE, "data": WITHOUT_POSITIVE},
    ),
    Case(
        "three labels",
        csv(table(ill=[("yes", "no", "perhaps")[i % 3] for i in range(ROWS)])),
        "the target 'ill' has 3 labels: 'yes' counts as 1, all others (no, perhaps) as 0",
        code=0,
    ),
    Case(
        "the target is a quantity",
        csv(table(ill=list(range(ROWS)))),
        f"{FILE}: column 'ill' (`data.target`): holds 40 different numbers, so it looks like a quantity; "
        "name a column of labels",
        experiment=changed(TABLE, data={"positive": 1}),
    ),
    Case(
        "integer labels as floats",
        csv(table(ill=[float(label == "yes") for label in table()["ill"]])),
        RUNS,
        code=0,
        experiment={**TABLE, "data": WITHOUT_POSITIVE},
    ),
]

AT_THE_PREDICTIONS = [
    Case(
        "NaN among probabilities",
        csv(predictions(p=[0.5, "NaN"] * 20)),
        f"{FILE}: column 'p' (`data.probability`), row 2: found no value; {PROBABILITY} (20 of 40 rows); "
        "fill the value in or delete the row",
        experiment=PREDICTIONS,
    ),
    Case(
        "an infinite probability",
        csv(predictions(p=[0.5, "inf"] * 20)),
        f"{FILE}: column 'p' (`data.probability`), row 2: found inf; {PROBABILITY} (20 of 40 rows)",
        experiment=PREDICTIONS,
    ),
    Case(
        "a probability above 1",
        csv(predictions(p=[0.5, 1.2] * 20)),
        f"{FILE}: column 'p' (`data.probability`), row 2: found 1.2; {PROBABILITY} (20 of 40 rows)",
        experiment=PREDICTIONS,
    ),
    Case(
        "probabilities in percent",
        csv(predictions(p=[100 * i / ROWS for i in range(ROWS)])),
        f"{FILE}: column 'p' (`data.probability`), row 2: found 2.5; {PROBABILITY} (39 of 40 rows); the "
        "column looks like percent: divide it by 100",
        experiment=PREDICTIONS,
    ),
    Case(
        "a percent sign",
        csv(predictions(p=["50%"] * ROWS)),
        f"{FILE}: column 'p' (`data.probability`), row 1: found '50%'; {PROBABILITY}; write 50% as a share, "
        "without the percent sign",
        experiment=PREDICTIONS,
    ),
    Case(
        "outcomes that are not two values",
        csv(predictions(y=[i % 3 for i in range(ROWS)])),
        f"{FILE}: column 'y' (`data.outcome`): its labels (and their rows) are '0' (14), '1' (13), '2' (13); "
        "say which counts as 1: `positive: 1` under `data`",
        experiment=PREDICTIONS,
    ),
    Case(
        "outcomes all alike",
        csv(predictions(y=[1] * ROWS)),
        f"{FILE}: column 'y' (`data.outcome`): all rows (40) have the label '1'; a classifier needs rows of "
        "two labels",
        experiment=PREDICTIONS,
    ),
]

AT_THE_ROWS = [
    Case(
        "a part to learn from with one class",
        csv(table(part=THIRTY_AND_TEN, ill=["yes"] * 30 + ["no", "yes"] * 5)),
        f"{EXPERIMENT}: models.boosted.learn_on: the 30 rows of train all have the positive label; a model "
        "needs rows of both to learn from: choose another split or other parts",
        experiment=by_part(),
    ),
    Case(
        "a part to measure with one class",
        csv(table(part=THIRTY_AND_TEN, ill=["no", "yes"] * 15 + ["no"] * 10)),
        "part test has one class only: 0 of 10",
        code=0,
        experiment=by_part(),
    ),
    Case(
        "fewer rows than folds",
        csv(table()),
        f"{EXPERIMENT}: folds: 31 folds of 30 rows: there are more folds than rows; use fewer",
        experiment=changed(TABLE, folds={"count": 31}),
    ),
    Case(
        "an all-missing column",
        csv(table(height=[None] * ROWS)),
        "column 'height' has no values: left out",
        code=0,
    ),
    Case(
        "a category seen only in the test part",
        csv(table(part=THIRTY_AND_TEN, town=WEST_IN_TEST_ONLY)),
        "column 'town': no row to learn from has the category 'west' (rows of other parts: 10)",
        code=0,
        experiment=by_part(),
    ),
    Case(
        "such a category, and an encoder that does not expect it",
        csv(table(part=THIRTY_AND_TEN, town=WEST_IN_TEST_ONLY)),
        f"{EXPERIMENT}: preparation step 'one_hot_encoder' (OneHotEncoder) cannot change column 'town': "
        "Found unknown categories ['west'] in column 0 during transform",
        experiment=by_part(preparation=[{"step": ENCODER, "columns": "categorical"}]),
    ),
    Case(
        "a group column with one group",
        csv(table(home=["h1"] * ROWS)),
        f"{FILE}: column 'home' (`data.group`): all rows (40) belong to the group 'h1'; groups are there to "
        "be kept apart, so name a column with several, or leave it out",
        experiment=changed(TABLE, data={"group": "home"}, split={"method": "group"}),
    ),
    Case(
        "time that does not parse",
        csv(table(day=["2024-01-31"] * 20 + ["31.1.2024"] * 20)),
        f"{FILE}: column 'day' (`data.time`), row 21: found '31.1.2024'; a time is a number, a date like "
        "2024-01-31 or a date and time like 2024-01-31 18:00: write the column so",
        experiment=changed(TABLE, data={"time": "day"}, split={"method": "time"}),
    ),
    Case(
        "a negative weight",
        csv(table(w=[1] * 20 + [-1] * 20)),
        f"{FILE}: column 'w' (`data.weight`), row 21: found -1; a weight is a finite number of at least 0",
        experiment=changed(TABLE, data={"weight": "w"}),
    ),
    Case(
        "a text among numbers",
        csv(table(age=["?", *table()["age"][1:]])),
        f"{FILE}: column 'age', row 1: found '?' among numbers (1 of 40 rows are no number); correct it, say "
        "`missing: ['?']` under `data` if it stands for no value, or `kinds: {'age': category}` if the "
        "numbers are names",
    ),
]

AT_THE_MODELS = [
    Case(
        "an estimator path that does not import",
        csv(table()),
        f"{EXPERIMENT}: models.mine: estimator 'sklearn.ensembel.RandomForestClassifier': module "
        "'sklearn.ensembel' cannot be imported (No module named 'sklearn.ensembel'); check its spelling, or "
        "install the package that has it",
        experiment=with_model("sklearn.ensembel.RandomForestClassifier"),
    ),
    Case(
        "an estimator that is not there",
        csv(table()),
        f"{EXPERIMENT}: models.mine: estimator 'sklearn.naive_bayes.GausianNB': sklearn.naive_bayes has no "
        "'GausianNB'; did you mean 'GaussianNB'?",
        experiment=with_model("sklearn.naive_bayes.GausianNB"),
    ),
    Case(
        "an estimator that is no classifier",
        csv(table()),
        f"{EXPERIMENT}: models.mine: estimator 'sklearn.linear_model.LinearRegression' gives neither "
        "probabilities (predict_proba) nor a score (decision_function); name a classifier that does",
        experiment=with_model("sklearn.linear_model.LinearRegression"),
    ),
    Case(
        "a function as an estimator",
        csv(table()),
        f"{EXPERIMENT}: models.mine: estimator 'os.system' is not a class with the methods fit, predict, "
        "get_params; name one with scikit-learn's interface",
        experiment=with_model("os.system"),
    ),
    Case(
        "params it does not take",
        csv(table()),
        f"{EXPERIMENT}: models.mine: estimator 'sklearn.naive_bayes.GaussianNB' takes no parameter "
        "'smoothing'; did you mean 'var_smoothing'?",
        experiment=with_model("sklearn.naive_bayes.GaussianNB", smoothing=1e-9),
    ),
    Case(
        "text that no step encodes",
        csv(table()),
        f"{EXPERIMENT}: models.mine: column 'town' still holds text when it reaches GaussianNB; encode it in "
        "`preparation` (for instance sklearn.preprocessing.OneHotEncoder), or leave the column out",
        experiment=with_model("sklearn.naive_bayes.GaussianNB") | {"preparation": []},
    ),
    Case(
        "gaps that the estimator does not take",
        csv(table(age=[None, *table()["age"][1:]])),
        f"{EXPERIMENT}: models.mine: column 'age' still has missing values when it reaches GaussianNB, which "
        "takes none; fill them in `preparation` (for instance sklearn.impute.SimpleImputer), or leave the "
        "column out",
        experiment=with_model("sklearn.naive_bayes.GaussianNB"),
    ),
]

AT_THE_NAMES = [
    Case(
        "an existing experiment name",
        csv(table()),
        f"{EXPERIMENT} is there already and is not overwritten; choose another name, or remove the file",
        command=new(name="mine"),
    ),
    Case(
        "the name of a target",
        csv(table()),
        "an experiment cannot be called 'report': the workflow has a target of that name",
        command=new(name="report"),
    ),
    Case(
        "no such experiment",
        csv(table()),
        "there is no experiment 'mein' in config/experiments; did you mean 'mine'?",
        command=("check", "mein"),
    ),
    Case(
        "two columns that differ only in case",
        csv(table(Age=list(range(ROWS)))),
        f"{FILE}: 'age' and 'Age' are two columns; they differ only in case",
        code=0,
    ),
    Case(
        "a column name with spaces, quotes, commas and emoji",
        csv({f'"{ODD_NAME.replace(QUOTE, QUOTE * 2)}"': table()["age"], "ill": table()["ill"]}),
        RUNS,
        code=0,
        experiment=changed(
            TABLE,
            data={"columns": [ODD_NAME]},
            preparation=[{"step": "sklearn.preprocessing.StandardScaler", "columns": [ODD_NAME]}],
        ),
    ),
    Case(
        "a role for the target",
        csv(table()),
        "`--group` is 'ill', which is the `--target` already",
        command=new("--group", "ill"),
    ),
]

CASES = AT_THE_FILE + AT_THE_LABEL + AT_THE_PREDICTIONS + AT_THE_ROWS + AT_THE_MODELS + AT_THE_NAMES


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which something was built before, as far as the commands look at it."""
    (tmp_path / "Snakefile").touch()
    for path in (EXPERIMENT, FILE, "results/other/summary.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "results/other/summary.txt").write_text("as it was")
    (tmp_path / "mlflow.db").write_bytes(b"as it was")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_one_message_and_nothing_changes(
    case: Case, project: Path, capsys: pytest.CaptureFixture[str]
):
    (project / EXPERIMENT).write_text(yaml.safe_dump(case.experiment), encoding="utf-8")
    if case.content is not None:
        (project / FILE).write_bytes(case.content)
    before = contents(project)
    code = main(list(case.command))
    said = capsys.readouterr()
    assert code == case.code, said.err
    if code:
        assert (said.out, said.err) == ("", f"{case.message}\n")
    else:
        assert said.err == ""
        assert case.message in [line.removeprefix("  - ") for line in said.out.splitlines()]
    assert contents(project) == before


@pytest.mark.parametrize(
    "name", [ODD_NAME, "two\nlines", "[bold]", "#", "yes", "1", "ill ", "a: b", "ILL", "é" * 100]
)
def test_whatever_a_column_is_called_a_new_experiment_on_it_runs(
    name: str, project: Path, capsys: pytest.CaptureFixture[str]
):
    target = "sick" if name.strip().casefold() == "ill" else "ill"
    quoted = f'"{name.replace(QUOTE, QUOTE * 2)}"'
    content = csv({"age": table()["age"], quoted: table()["town"], target: table()["ill"]})
    (project / FILE).write_bytes(content)
    asked = ("new", "other", "--data", FILE, "--target", target, "--positive", "yes")
    assert main(list(asked)) == 0, capsys.readouterr().err
    assert main(["check", "other"]) == 0, capsys.readouterr().err


def test_a_file_of_two_million_rows_is_checked_in_seconds(
    project: Path, capsys: pytest.CaptureFixture[str]
):
    rng = np.random.default_rng(0)
    rows = 2_000_000
    columns = {
        "a": rng.normal(size=rows),
        "b": rng.integers(0, 9, rows),
        "ill": rng.integers(0, 2, rows),
    }
    pa_csv.write_csv(pa.table(columns), project / FILE)
    experiment = {k: v for k, v in TABLE.items() if k not in ("preparation", "folds")}
    experiment = changed(experiment, data={"positive": 1}, split={"parts": {"test": 0.2}})
    (project / EXPERIMENT).write_text(yaml.safe_dump(experiment))
    start = time.process_time()
    assert main(["check", "mine"]) == 0
    assert time.process_time() - start < 10
    assert "  test          400000 rows" in capsys.readouterr().out


# ---- Through Snakemake


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with one lesson built and tracked."""
    project = Project.new(tmp_path_factory.mktemp("bad") / "project", experiments=["spam"])
    project.snakemake("spam", "--cores", "2").checked()
    (project.root / "data").mkdir()
    return project


def case_named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def finished_runs(project: Project) -> list[tuple[str, ...]]:
    """The runs of the store that did not fail."""
    with closing(sqlite3.connect(project.root / "mlflow.db")) as store:
        asked = (
            "select run_uuid, name, end_time from runs where status != 'FAILED' order by run_uuid"
        )
        return store.execute(asked).fetchall()


@pytest.mark.parametrize(
    "name",
    [
        "no such file",
        "probabilities in percent",
        "such a category, and an encoder that does not expect it",
    ],
)
def test_a_job_says_the_same_and_leaves_no_half_written_output(built: Project, name: str):
    """What Snakemake adds is its own; the failed job is seen in the store as such, and no other run."""
    case = case_named(name)
    file, data = built.root / EXPERIMENT, built.root / FILE
    file.write_text(yaml.safe_dump(changed(case.experiment, folds=None)), encoding="utf-8")
    if case.content is not None:
        data.write_bytes(case.content)
    before, runs = contents(built.root / "results"), finished_runs(built)
    done = built.snakemake("mine", "--cores", "1")
    after = contents(built.root / "results")
    shutil.rmtree(built.root / "results/mine", ignore_errors=True)
    file.unlink()
    data.unlink(missing_ok=True)
    assert done.code == 1
    assert "Traceback" not in done.said
    assert done.said.count(case.message.removeprefix(f"{EXPERIMENT}: ")) == 1
    finished = {path for path in after if path.startswith("mine/")}
    assert {path: content for path, content in after.items() if path not in finished} == before
    # What went before the failed job is whole: each of its folders has the record, written last.
    folders = {str(Path(path).parent) for path in finished}
    assert folders <= {str(Path(path).parent) for path in finished if path.endswith("record.json")}
    assert not any(path.endswith(".part") for path in after)
    assert finished_runs(built) == runs


def test_a_mistake_that_shows_in_the_file_alone_stops_before_any_job(built: Project):
    file = built.root / EXPERIMENT
    file.write_text(yaml.safe_dump(changed(TABLE, data={"sauce": "table"})), encoding="utf-8")
    before, runs = contents(built.root / "results"), finished_runs(built)
    done = built.snakemake("mine")
    file.unlink()
    assert done.code == 1
    assert "data.sauce is not a known key; did you mean 'source'?" in done.said
    assert (contents(built.root / "results"), finished_runs(built)) == (before, runs)


def test_when_a_job_fails_kalibre_says_its_message_alone(
    built: Project, monkeypatch: pytest.MonkeyPatch
):
    """What no look at the data foresees: an estimator that wants more rows than there are."""
    experiment = with_model("sklearn.neighbors.KNeighborsClassifier", n_neighbors=1000)
    (built.root / EXPERIMENT).write_text(yaml.safe_dump(changed(experiment, folds=None)))
    (built.root / FILE).write_bytes(csv(table()))
    monkeypatch.setenv("PYTHONPATH", str(built.root / "src"))
    with pytest.raises(InputError) as error:
        build(built.root, "mine", progress=lambda deed, done, steps: None)
    shutil.rmtree(built.root / "results/mine")
    (built.root / EXPERIMENT).unlink()
    assert str(error.value).startswith("the model cannot score the rows: Expected n_neighbors <= ")
    assert "\n" not in str(error.value)
