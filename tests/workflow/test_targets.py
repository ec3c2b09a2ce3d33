"""An experiment's file is all it takes to make a target; its name may not be a rule's."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from built import Built
from projects import Done, Project
from reference import lesson_subscribers

SEED, CANDIDATES = 71, 1700
COPY = "config/experiments/other_seed.yaml"


@pytest.fixture(scope="module")
def copied(built: Built, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Done]:
    """A built project into which somebody drops a copy of a lesson with another seed."""
    project = built.project.clone(tmp_path_factory.mktemp("copied") / "project")
    text = project.read("config/experiments/subscribers.yaml")
    for old, new in (("seed: 20260218", f"seed: {SEED}"), ("1400", str(CANDIDATES))):
        assert old in text
        text = text.replace(old, new)
    (project.root / COPY).write_text(text)
    done = project.snakemake("results/other_seed/figures.csv").checked()
    return project, done


def figures(project: Project, experiment: str) -> Iterator[tuple[str, str]]:
    with (project.root / f"results/{experiment}/figures.csv").open() as file:
        for row in csv.DictReader(file):
            yield row["id"], row["measured"]


def test_a_file_that_is_dropped_in_is_a_target_and_part_of_all(copied: tuple[Project, Done]):
    project, _ = copied
    files = project.plan("other_seed").outputs
    assert "results/other_seed/tracked.json" in files
    assert files <= project.plan("all").outputs


def test_building_it_builds_nothing_else(copied: tuple[Project, Done], built: Built):
    project, done = copied
    assert "other_seed: fit linear" in done.said
    assert "subscribers: " not in done.said.replace("other_seed: ", "")
    now = project.records()
    assert {path: now[path] for path in built.records} == built.records


def test_a_lesson_with_another_seed_measures_what_its_pages_code_prints(
    copied: tuple[Project, Done],
):
    project, _ = copied
    expected = lesson_subscribers.figures(SEED, CANDIDATES)
    measured = dict(figures(project, "other_seed"))
    # What the page's code cannot print (the rate of an empty bin), the copy does not measure.
    compared = {key: value for key, value in expected.items() if key in measured}
    assert len(compared) > 80
    for key, value in compared.items():
        assert float(measured[key]) == pytest.approx(value, abs=1e-9), key
    only_measured = {k for k, v in measured.items() if v and k not in expected}
    assert only_measured == set()


def test_the_lessons_own_figures_are_those_its_pages_code_prints(built: Built):
    expected = lesson_subscribers.figures()
    for key, value in figures(built.project, "subscribers"):
        assert float(value) == pytest.approx(expected[key], abs=1e-9), key


def test_it_stands_beside_its_page(copied: tuple[Project, Done]):
    """`figures.csv` has the page's print of every figure, also where the seed is another."""
    project, _ = copied
    with (project.root / "results/other_seed/figures.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert list(rows["subscribers/summary/linear/ece"]) == ["id", "printed", "measured"]
    assert rows["subscribers/summary/linear/ece"]["printed"] == "0.0242"
    assert f"{float(rows['subscribers/summary/linear/ece']['measured']):.4f}" != "0.0242"


def test_a_copy_is_not_the_lesson(copied: tuple[Project, Done]):
    """The ledger compares the page with the lesson of its name, whoever else keeps the key."""
    project, _ = copied
    inputs = project.plan("results/published.csv")["compare_published"].inputs
    assert "results/subscribers/metrics.json" in inputs
    assert "results/other_seed/metrics.json" not in inputs


@pytest.mark.parametrize("name", ["evaluate", "all", "published"])
def test_a_name_that_is_a_rules_is_refused(built: Built, name: str):
    path = Path(built.project.root, f"config/experiments/{name}.yaml")
    path.write_text(built.project.read("config/experiments/trivia.yaml"))
    try:
        done = built.project.snakemake("all")
    finally:
        path.unlink()
    assert done.code == 1
    assert f"config/experiments/{name}.yaml: {name!r} is the name of one of" in done.err
    assert "Traceback" not in done.said
