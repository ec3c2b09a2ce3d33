"""`snakemake published` prints the comparison and fails where a figure or a claim differs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from built import LESSONS, Built
from kalibre.files import read_csv
from projects import Done, Project


def table(done: Done) -> dict[str, list[str]]:
    """The printed table: a lesson's counts by its name."""
    lines = done.said.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["lesson", "match"])
    rows = (line.split() for line in lines[start:])
    return {row[0]: row[1:] for row in rows if len(row) == 5}


def test_it_prints_matches_by_lesson_and_succeeds(built: Built):
    done = built.project.snakemake("published")
    assert done.code == 0
    printed = table(done)
    assert printed["lesson"] == ["match", "differs", "open", "absent"]
    for lesson in LESSONS:
        match, differs, _, absent = map(int, printed[lesson])
        assert match > 0
        assert (differs, absent) == (0, 0)
    assert " 0 fails" in done.said


def test_a_lesson_without_an_experiment_is_absent_and_does_not_fail(built: Built):
    match, differs, _, absent = map(int, table(built.project.snakemake("published"))["spam"])
    assert (match, differs) == (0, 0)
    assert absent == 24


@pytest.fixture
def falsified(built: Built, tmp_path: Path) -> Iterator[Callable[[str, str, str], Done]]:
    """Asks for `published` after a change of the ledger, in a project of its own."""
    project: Project = built.project.clone(tmp_path / "clone")

    def ask(path: str, old: str, new: str) -> Done:
        project.replace(path, old, new)
        return project.snakemake("published")

    return ask


FIGURE = "subscribers/summary/linear/ece,subscribers,000,"
CLAIM = "trivia/claim/worse_than_coin,trivia,001,>,"


def test_a_figure_that_differs_fails_and_is_named_with_both_numbers(falsified, tmp_path: Path):
    done = falsified("config/published.csv", f"{FIGURE}0.0242", f"{FIGURE}0.0243")
    assert done.code == 1
    (line,) = [x for x in done.said.splitlines() if x.startswith("subscribers/summary/linear/ece")]
    assert line.startswith("subscribers/summary/linear/ece: published 0.0243, measured 0.0242")
    assert "Traceback" not in done.said
    rows = read_csv(tmp_path / "clone/results/published.csv")
    assert [row["id"] for row in rows if row["status"] == "differs"] == [line.split(":")[0]]


def test_the_table_is_there_to_be_read_though_the_target_failed(falsified, tmp_path: Path):
    assert falsified("config/claims.csv", f"{CLAIM}0.25", f"{CLAIM}0.75").code == 1
    for name in ("published", "claims"):
        assert (tmp_path / f"clone/results/{name}.csv").is_file()


def test_a_claim_that_fails_fails(falsified):
    done = falsified("config/claims.csv", f"{CLAIM}0.25", f"{CLAIM}0.75")
    assert done.code == 1
    assert "trivia/claim/worse_than_coin: published > 0.75, measured 0.432" in done.said


def test_an_expression_that_cannot_be_read_is_one_message(falsified):
    done = falsified(
        "config/published.csv", "evaluate/linear/none/test/mean_probability", "mean of p"
    )
    assert done.code == 1
    assert "subscribers/summary/linear/mean_score: metric 'mean of p'" in done.err
    assert "Traceback" not in done.said
