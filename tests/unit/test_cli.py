"""The command `kalibre`: what it sees in a file, what it writes, and how it says that something is wrong."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kalibre.cli import commands
from kalibre.cli.build import failure
from kalibre.cli.checking import examine
from kalibre.cli.glance import Suspicion, id_suspicion, repeated_rows, suspicions
from kalibre.cli.look import look_at, looks_like_an_id
from kalibre.cli.main import main
from kalibre.cli.messages import with_options
from kalibre.cli.predictions_proposal import look_at_predictions, predictions_text
from kalibre.cli.project import experiment_file, find_root, in_project, name_after, new_file
from kalibre.cli.table_proposal import table_text
from kalibre.cli.yaml_text import entry, flow, remarks
from kalibre.columns import Categories
from kalibre.errors import InputError
from kalibre.experiment.load import load_experiment

ROOT = Path(__file__).parents[2]
ROWS = 200


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, as far as the commands look at it, and the current one."""
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "Snakefile").touch()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path: Path, columns: Mapping[str, Any]) -> Path:
    """A table whose values are written as they are; None is an empty field."""
    lines = [",".join(columns)]
    rows = zip(*columns.values(), strict=True)
    lines += [",".join("" if v is None else str(v) for v in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def people(seed: int = 0, rows: int = ROWS) -> dict[str, list[Any]]:
    """Numbers with gaps, a category with gaps, and a label that hangs on both."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, rows).round(1)
    town = rng.choice(["north", "south", "east"], rows)
    chance = 1 / (1 + np.exp(-(age - 50) / 8 - (town == "north")))
    return {
        "age": [None if r < 0.1 else a for a, r in zip(age, rng.random(rows), strict=True)],
        "town": [None if r < 0.05 else t for t, r in zip(town, rng.random(rows), strict=True)],
        "ill": np.where(rng.random(rows) < chance, "yes", "no").tolist(),
    }


def kalibre(*arguments: str) -> int:
    return main(list(arguments))


# ---- The command


def test_the_project_names_it_as_its_command():
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert content["project"]["scripts"] == {"kalibre": "kalibre.cli.main:main"}


def test_help_is_there_in_well_under_a_second():
    """It imports neither numpy nor pydantic nor anything else that takes time."""
    code = (
        "import sys; from kalibre.cli.main import main; main(['--help']); "
        "heavy = {'numpy', 'pandas', 'pydantic', 'sklearn', 'pyarrow', 'snakemake', 'mlflow'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Are a classifier's probabilities true" in done.stdout


@pytest.mark.parametrize("command", [[], ["new"], ["check"], ["audit"], ["predictions"]])
def test_every_command_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]):
    assert kalibre(*command, "--help") == 0
    said = capsys.readouterr().out
    assert "Usage: kalibre" in said
    if command:
        assert f"Example: kalibre {command[0]}" in " ".join(said.split())


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]):
    assert kalibre() == 0
    assert "Usage: kalibre" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nwe"], "No such command 'nwe'. Did you mean 'new'? (see `kalibre --help`)"),
        (
            ["new", "mine", "--target", "y"],
            "Missing option '--data'. (see `kalibre new --help`)",
        ),
        (["check"], "Missing argument 'NAME'. (see `kalibre check --help`)"),
    ],
)
def test_a_command_that_is_called_wrongly_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert kalibre(*arguments) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.strip()) == ("", message)


def test_outside_a_project_the_project_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert kalibre("check", "mine") == 1
    assert "change into the project's folder" in capsys.readouterr().err


def test_from_a_folder_below_files_are_named_from_there(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    write_csv(project / "data/ill.csv", people())
    monkeypatch.chdir(project / "data")
    assert kalibre("new", "mine", "--data", "ill.csv", "--target", "ill", "--positive", "yes") == 0
    capsys.readouterr()
    assert load_experiment(project / "config/experiments/mine.yaml").data.file == "data/ill.csv"
    assert Path.cwd() == project / "data"
    assert kalibre("check", "mine") == 0


# ---- The project


def test_the_nearest_folder_with_a_snakefile_and_experiments_is_the_project(project: Path):
    below = project / "data/deep"
    below.mkdir()
    assert find_root(below) == find_root(project) == project


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("a.csv", "data/a.csv"),
        ("../a.csv", "a.csv"),
        ("../../a.csv", "/home/a.csv"),
        ("/b.csv", "/b.csv"),
    ],
)
def test_a_file_of_the_project_is_named_from_its_root(file: str, named: str):
    root = Path("/home/project")
    assert in_project(file, root / "data", root) == named


@pytest.mark.parametrize("name", ["2nd", "my churn", "", "all", "report", "a/b", "é", "x" * 61])
def test_a_name_that_cannot_be_a_target_is_refused(project: Path, name: str):
    with pytest.raises(InputError, match="cannot be called"):
        new_file(project, name)


def test_names_that_differ_only_in_case_would_share_a_folder(project: Path):
    (project / "config/experiments/Churn.yaml").touch()
    with pytest.raises(InputError, match=r"Churn\.yaml is there already"):
        new_file(project, "churn")


def test_an_experiment_is_found_by_its_name_or_its_file(project: Path):
    file = project / "config/experiments/churn.yaml"
    file.touch()
    for name in ("churn", "churn.yaml", "config/experiments/churn.yaml"):
        assert experiment_file(project, name) == file.relative_to(project)
    with pytest.raises(InputError, match="did you mean 'churn'"):
        experiment_file(project, "chrun")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("data/churn.csv", "churn"),
        ("2024 march.parquet", "data_2024_march"),
        ("a--b.c.csv", "a_b_c"),
        ("😀.csv", "audit"),
    ],
)
def test_an_audit_is_named_after_its_file(file: str, name: str):
    assert name_after(file) == name


# ---- What is written


names = st.text(min_size=1, max_size=30)
scalars = st.one_of(names, st.integers(-(10**9), 10**9), st.booleans())


@given(st.dictionaries(names, st.one_of(scalars, st.lists(scalars, max_size=4)), max_size=4))
def test_what_is_written_is_read_back_whatever_names_hold(value: dict[str, Any]):
    assert yaml.safe_load(flow(value)) == value


@given(names, st.lists(names, min_size=1, max_size=40), st.text(max_size=200))
def test_remarks_never_change_what_is_said(name: str, columns: list[str], remark: str):
    lines = [*remarks([remark, name]), "data:", *entry("leave_out", columns, remark=remark)]
    lines += [*entry("target", name, remark=remark), *remarks([name], indent=2, hang=2)]
    assert yaml.safe_load("\n".join(lines)) == {"data": {"leave_out": columns, "target": name}}


WORDS = [
    "yes",
    "no",
    "on",
    "off",
    "true",
    "null",
    "~",
    "1",
    "1.0",
    "0x1F",
    "1e3",
    ".inf",
    "2024-01-31",
    "#",
    "&a",
    "*a",
    "!a",
    "@",
    "`",
]
WORDS += ["a: b", "- a", "a #b"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_yaml_takes_for_something_else_stays_a_word(word: str):
    assert yaml.safe_load(flow({"positive": word})) == {"positive": word}


# ---- What shows at a glance


def columns_said(found: list[Suspicion]) -> dict[str, str]:
    return {one.column: one.sentence for one in found}


@pytest.fixture
def outcome() -> np.ndarray:
    return (np.random.default_rng(1).random(400) < 0.4).astype(np.int8)


def test_nothing_is_said_of_columns_that_know_little(outcome: np.ndarray):
    rng = np.random.default_rng(2)
    features = {
        "noise": rng.normal(size=400),
        "helpful": outcome + rng.normal(0, 1.5, size=400),
        "word": Categories.of(rng.choice(["a", "b", "c"], 400).tolist()),
        "rare": Categories.of([str(i) for i in range(400)]),
    }
    assert suspicions(features, outcome) == []


@pytest.mark.parametrize(
    "copy",
    [
        lambda y: Categories.of(np.where(y == 1, "ill", "well").tolist()),
        lambda y: 1.0 - y,
        lambda y: y.astype(bool),
        lambda y: np.where(y == 1, 7.5, np.nan),
        lambda y: Categories.of([None if v else "well" for v in y]),
        lambda y: Categories.of([f"{v}{i % 3}" for i, v in enumerate(y)]),
    ],
    ids=["text", "reversed", "boolean", "missing if negative", "missing if positive", "finer"],
)
def test_a_column_that_is_the_label_is_named(outcome: np.ndarray, copy: Callable[[Any], Any]):
    (found,) = suspicions({"copy": copy(outcome)}, outcome)
    assert found.is_label
    assert "the label under another name" in found.sentence


def test_a_column_that_alone_predicts_nearly_perfectly_is_a_question(outcome: np.ndarray):
    close = -(outcome + np.random.default_rng(3).normal(0, 0.3, size=400))
    found = columns_said(suspicions({"close": close}, outcome))
    assert "is it known before the label is" in found["close"]


def test_categories_are_judged_by_rows_they_were_not_learned_from(outcome: np.ndarray):
    """A category of a row of its own knows that row's label, and nothing else."""
    telling = Categories.of([f"{'pq'[v]}{i % 15}" for i, v in enumerate(outcome)])
    found = suspicions({"telling": telling}, outcome)
    assert "ROC AUC" in found[0].sentence
    own = Categories.of([f"{v}{i}" for i, v in enumerate(outcome)])
    assert suspicions({"own": own}, outcome) == []


@pytest.mark.parametrize("known_for", [0, 1])
def test_a_column_that_is_known_for_one_label_only_is_a_question(
    outcome: np.ndarray, known_for: int
):
    rng = np.random.default_rng(4)
    known = (outcome == known_for) & (rng.random(400) < 0.3)
    found = columns_said(
        suspicions({"later": np.where(known, rng.normal(size=400), np.nan)}, outcome)
    )
    assert f"all of these have the {('negative', 'positive')[known_for]} label" in found["later"]


def test_two_such_rows_are_chance(outcome: np.ndarray):
    values = np.full(400, np.nan)
    values[np.flatnonzero(outcome == 1)[:2]] = [1.0, 2.0]
    assert suspicions({"few": values}, outcome) == []


def test_a_mark_among_numbers_may_stand_for_no_value(outcome: np.ndarray):
    texts = ["?" if i % 3 == 0 else str(i) for i in range(400)]
    found = columns_said(suspicions({"size": Categories.of(texts)}, outcome))
    assert "--missing '?'" in found["size"]


def test_an_id_that_goes_with_the_label_is_said(outcome: np.ndarray):
    ids = np.arange(400)
    assert id_suspicion("id", ids, np.sort(outcome)) is not None
    assert id_suspicion("id", ids, outcome) is None


def test_rows_that_stand_on_both_sides_of_the_split_are_counted():
    sizes = np.append(np.arange(40.0), [1.0, 39.0])
    features = {"size": sizes, "weight": np.where(sizes == 39, np.nan, sizes)}
    parts = ["train"] * 38 + ["test"] * 4
    both = repeated_rows(
        features, Categories.of(parts), learned=["train"], measured=["test"], grouped=False
    )
    assert both is not None
    assert both.sentence.startswith("1 of the 4 rows to be measured equal a row learned from")
    parts[1] = "test"
    apart = repeated_rows(
        features, Categories.of(parts), learned=["train"], measured=["test"], grouped=False
    )
    assert apart is None


def test_rows_that_are_bound_to_be_alike_are_no_wonder():
    features = {"flag": np.arange(40) % 2 == 0, "kind": np.arange(40) % 5}
    part = Categories.of(["train", "test"] * 20)
    found = repeated_rows(features, part, learned=["train"], measured=["test"], grouped=False)
    assert found is None


# ---- What columns are for


@pytest.mark.parametrize(
    "name", ["id", "ID", "customer_id", "CustomerID", "customerId", "order no", "Index"]
)
def test_ids_are_known_by_their_names(name: str):
    assert looks_like_an_id(name)


@pytest.mark.parametrize(
    "name", ["paid", "void", "keyboard", "idle", "monkey", "number_of_rooms", "no_fee"]
)
def test_words_that_only_end_or_begin_alike_are_none(name: str):
    assert not looks_like_an_id(name)


def test_an_id_and_a_group_are_found_and_no_model_sees_them(project: Path):
    table = people()
    ids = [f"c{i}" for i in range(ROWS)]
    homes = [i // 3 for i in range(ROWS)]
    write_csv(project / "data/ill.csv", {"person_id": ids, "home_id": homes, **table})
    look = look_at({"file": "data/ill.csv", "target": "ill", "positive": "yes"})
    assert {k: look.data.get(k) for k in ("id", "group")} == {"id": "person_id", "group": "home_id"}
    assert list(look.table.features) == ["age", "town"]


def test_a_column_that_is_the_label_is_left_out(project: Path):
    table = people()
    table["state"] = ["sick" if label == "yes" else "fine" for label in table["ill"]]
    write_csv(project / "data/ill.csv", table)
    look = look_at({"file": "data/ill.csv", "target": "ill", "positive": "yes"})
    assert look.data["leave_out"] == ["state"]
    assert "state" not in look.table.features


def test_a_column_with_infinite_values_is_left_out(project: Path):
    table = people() | {"ratio": ["inf" if i == 5 else i / 7 for i in range(ROWS)]}
    write_csv(project / "data/ill.csv", table)
    look = look_at({"file": "data/ill.csv", "target": "ill", "positive": "yes"})
    assert look.data["leave_out"] == ["ratio"]
    assert "first in row 6" in look.reasons["ratio"]


def test_where_only_the_label_itself_is_left_that_is_said(project: Path):
    label = ["ab"[i % 2] for i in range(60)]
    write_csv(project / "data/x.csv", {"copy": label, "y": label})
    with pytest.raises(InputError, match="copy: this column is the label under another name"):
        look_at({"file": "data/x.csv", "target": "y", "positive": "a"})


@pytest.mark.parametrize("rarer", [1, 3])
def test_a_label_too_rare_to_be_measured_is_refused(project: Path, rarer: int):
    label = ["yes"] * rarer + ["no"] * (ROWS - rarer)
    write_csv(project / "data/ill.csv", people() | {"ill": label})
    with pytest.raises(InputError, match=r"data/ill\.csv: only .* the positive label"):
        look_at({"file": "data/ill.csv", "target": "ill", "positive": "yes"})


def test_a_rare_label_is_said(project: Path):
    label = ["yes"] * (ROWS - 9) + ["no"] * 9
    write_csv(project / "data/ill.csv", people() | {"ill": label})
    look = look_at({"file": "data/ill.csv", "target": "ill", "positive": "yes"})
    assert "only 9 rows have the negative label" in look.suspicions[-1].sentence


# ---- The experiment that is proposed


def proposed(project: Path, columns: Mapping[str, Any], **options: Any) -> Any:
    """The experiment that is written for a table, after the check that it would run."""
    write_csv(project / "data/t.csv", columns)
    look = look_at({"file": "data/t.csv", "target": "ill", "positive": "yes", **options})
    file = project / "config/experiments/t.yaml"
    file.write_text(table_text("t", look), encoding="utf-8")
    spec = load_experiment(file)
    examine(spec, look.table)
    return spec


def steps(spec: Any) -> list[str]:
    return [step.step.rpartition(".")[2] for step in spec.preparation]


def test_gaps_are_filled_and_categories_encoded(project: Path):
    table = people() | {"street": [f"street {i % 40}" for i in range(ROWS)]}
    spec = proposed(project, table)
    assert steps(spec) == ["SimpleImputer", "TargetEncoder", "OneHotEncoder"]
    assert spec.preparation[1].columns == ["street"]


def test_the_sections_that_are_remarks_run_once_their_marks_are_gone(project: Path):
    proposed(project, people())
    file = project / "config/experiments/t.yaml"
    text = file.read_text(encoding="utf-8")
    for section in ("repeats", "gate"):
        text = text.replace(f"# {section}: {{", f"{section}: {{")
    file.write_text(text, encoding="utf-8")
    spec = load_experiment(file)
    table = look_at({"file": "data/t.csv", "target": "ill", "positive": "yes"}).table
    examine(spec, table)
    assert spec.gate is not None
    assert spec.repeats is not None
    assert spec.repeats.calibration_rows
    spec.repeats.calibration_rows.append(ROWS)
    with pytest.raises(InputError, match=r"repeats\.calibration_rows: 200 rows asked for"):
        examine(spec, table)


def test_without_gaps_and_categories_nothing_is_prepared(project: Path):
    rng = np.random.default_rng(0)
    spec = proposed(
        project, {"a": rng.normal(size=ROWS), "flag": [True, False] * 100, "ill": people()["ill"]}
    )
    assert steps(spec) == []


def test_booleans_alone_and_dates_with_gaps_run_too(project: Path):
    flags = ["true" if i % 3 else "false" for i in range(ROWS)]
    days = [None if i % 9 == 0 else f"2024-01-{i % 28 + 1:02}" for i in range(ROWS)]
    assert steps(proposed(project, {"flag": flags, "ill": people()["ill"]})) == []
    spec = proposed(project, {"flag": flags, "day": days, "ill": people()["ill"]})
    assert steps(spec) == ["SimpleImputer"]


@pytest.mark.parametrize(
    ("options", "method"),
    [({}, "stratified"), ({"group": "home"}, "group"), ({"time": "day"}, "time")],
)
def test_the_split_is_the_one_that_the_roles_ask_for(
    project: Path, options: dict[str, str], method: str
):
    table = people() | {"home": [f"h{i // 4}" for i in range(ROWS)]}
    table["day"] = [f"2024-{i // 20 + 1:02}-{i % 20 + 1:02}" for i in range(ROWS)]
    assert proposed(project, table, **options).split.method == method


@pytest.mark.parametrize(("rows", "isotonic"), [(200, False), (6000, True)])
def test_isotonic_regression_is_proposed_where_there_are_enough_rows(
    project: Path, rows: int, isotonic: bool
):
    spec = proposed(project, people(rows=rows))
    assert ("isotonic" in spec.calibration.calibrators) == isotonic


def test_a_large_table_climbs_no_ladder_unless_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("kalibre.cli.table_proposal.MANY_ROWS", 100)
    spec = proposed(project, people())
    assert spec.folds is None
    file = project / "config/experiments/t.yaml"
    text = file.read_text(encoding="utf-8")
    for line in ("folds:", "  count: 5", "  models: [logistic]", "  alone: false"):
        assert f"\n# {line}\n" in text
        text = text.replace(f"\n# {line}\n", f"\n{line}\n")
    file.write_text(text, encoding="utf-8")
    assert load_experiment(file).folds is not None


def test_few_rows_of_one_label_get_as_many_folds_as_they_allow(project: Path):
    table = people()
    table["ill"] = ["yes" if i % 50 == 0 else "no" for i in range(ROWS)]
    assert proposed(project, table).folds.count == 3


def test_few_groups_get_as_many_folds_as_they_allow(project: Path):
    spec = proposed(project, people() | {"site": [f"s{i % 3}" for i in range(ROWS)]}, group="site")
    assert (spec.split.method, spec.folds.count) == ("group", 2)


def test_what_was_seen_stands_in_the_file(project: Path):
    table = people() | {"notes": [f"said {i}" for i in range(ROWS)]}
    table["died"] = [None if label == "no" or i % 2 else i for i, label in enumerate(table["ill"])]
    proposed(project, table)
    text = " ".join((project / "config/experiments/t.yaml").read_text().replace("#", " ").split())
    assert "column 'notes' holds 200 different texts in 200 rows" in text
    assert "died: this column has a value in" in text
    assert "town (3 values)" in text


def test_an_empty_gate_may_be_switched_on(project: Path):
    proposed(project, people())
    file = project / "config/experiments/t.yaml"
    file.write_text(file.read_text().replace("# gate: {}", "gate: {}"))
    assert load_experiment(file).gate is not None


def test_a_proposal_for_predictions_and_its_remarks_are_experiments(project: Path):
    rng = np.random.default_rng(0)
    p = rng.random(100)
    columns = {"p (final)": p, "2nd": p / 2, "P_final": p, "y": (rng.random(100) < p).astype(int)}
    write_csv(project / "data/p.csv", columns)
    given = look_at_predictions(
        {"file": "data/p.csv", "outcome": "y", "probability": ["p (final)", "2nd", "P_final"]}
    )
    assert given.models == ["p_final", "model_2nd", "P_final"]
    file = project / "config/experiments/p.yaml"
    text = predictions_text("p", given)
    for line in text.splitlines():
        if line.startswith(("# split:", "# calibration:", "# gate:")):
            text = text.replace(line, line[2:])
    file.write_text(text)
    assert examine(load_experiment(file), given.table).counts["test"]["rows"] == 50


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"p": [0.9, 0.8, 0.2, 0.1], "y": [0, 0, 1, 1]}, "are they of the other label?"),
        ({"p": [1, 1, 0, 0], "y": [1, 0, 0, 1]}, "these are decisions, not probabilities"),
    ],
)
def test_predictions_that_look_wrong_are_a_question(
    project: Path, columns: dict[str, list[Any]], sentence: str
):
    write_csv(project / "data/p.csv", columns)
    found = look_at_predictions({"file": "data/p.csv", "outcome": "y", "probability": ["p"]})
    assert sentence in found.suspicions[0].sentence


# ---- Messages


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("say `encoding: latin-1` under `data`, or", "say `--encoding latin-1`, or"),
        ("say which: `positive: very ill` under `data`", "say which: `--positive 'very ill'`"),
        ("say `missing: ['?']` under `data` if", "say `--missing '?'` if"),
        ("or `kinds: {'post code': category}` if", "or `--category 'post code'` if"),
        ("column 'y' (`data.target`)", "column 'y' (`--target`)"),
        ("column 'p' (`data.probability`), row 3", "column 'p' (`--probability`), row 3"),
        ("the label 'x', which `positive` names", "the label 'x', which `--positive` names"),
    ],
)
def test_messages_name_options_where_there_is_no_file_yet(message: str, said: str):
    assert with_options(message) == said


def test_the_message_of_a_failed_job_is_found_among_all_that_snakemake_says():
    said = textwrap.dedent(
        """\
        Using workflow specific profile profiles/default for setting default command line arguments.
        Job 3: mine: fit knn
        fit_model mine knn: the estimator refuses the data: Expected n_neighbors <= 12
        and this is its second line
        (log: logs/mine/fit_model/knn.log)
        RuleException:
        CalledProcessError in file "workflow/rules/models.smk", line 5:
        """
    ).splitlines()
    message = (
        "the estimator refuses the data: Expected n_neighbors <= 12\nand this is its second line"
    )
    assert failure(said, "mine") == message


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["LockException:", "Error: Directory cannot be locked."], "`snakemake --unlock`"),
        (
            ["Using workflow specific profile x", "config/config.yaml: wrong"],
            "config/config.yaml: wrong",
        ),
        ([], "try `snakemake mine`"),
    ],
)
def test_a_failure_before_any_job_is_said_too(said: list[str], message: str):
    assert message in failure(said, "mine")


# ---- Building


def test_an_audit_of_the_same_data_builds_the_file_that_is_there(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Built is what the experiment says; the summary is shown, and where the page is."""
    built = []

    def build(root: Path, name: str, *, progress: Any) -> None:
        built.append(name)
        folder = project / "results" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.txt").write_text("the summary\n")

    monkeypatch.setattr(commands, "build", build)
    write_csv(project / "data/ill.csv", people())
    asked = ("audit", "data/ill.csv", "--target", "ill", "--positive", "yes")
    assert (kalibre(*asked), kalibre(*asked)) == (0, 0)
    assert built == ["ill", "ill"]
    said = capsys.readouterr().out
    assert "the summary" in said
    assert f"The page: {project / 'results/ill/report.html'}" in said
    file = project / "config/experiments/ill.yaml"
    file.write_text("title: mine\n")
    assert kalibre(*asked) == 1
    assert "choose another name (`--name`)" in capsys.readouterr().err
    assert (file.read_text(), built) == ("title: mine\n", ["ill", "ill"])


def test_a_build_that_fails_says_why_and_keeps_the_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def build(root: Path, name: str, *, progress: Any) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr(commands, "build", build)
    write_csv(project / "data/p.csv", {"p": [0.1, 0.9, 0.4], "y": [0, 1, 1]})
    assert kalibre("predictions", "data/p.csv", "--outcome", "y", "--probability", "p") == 1
    assert capsys.readouterr().err.splitlines()[0] == "the disk is full"
    assert load_experiment(project / "config/experiments/p.yaml").model_names() == ["p"]
