"""A mistake in the configuration: exit code 1, one message, no traceback, nothing written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from projects import Done, Project

TRIVIA = "config/experiments/trivia.yaml"
PROFILE = "Using workflow specific profile"


def messages(done: Done) -> list[str]:
    """What was said on the terminal, but for Snakemake's line on its profile."""
    return [line for line in done.said.splitlines() if line and not line.startswith(PROFILE)]


def refused(project: Project, *targets: str) -> list[str]:
    """What is said when the project is refused, and that nothing was written."""
    before = project.files(".")
    done = project.snakemake(*(targets or ("trivia",)))
    assert done.code == 1, done.said
    assert "Traceback" not in done.said
    made = {path for path in project.files(".") - before if not path.startswith(".snakemake/")}
    assert made == set()
    return messages(done)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "outcome: [1, 0,",
            "outcom: [1, 0,",
            f"{TRIVIA}, line 11: data.inline.overconfident.outcom is not a known key; "
            "did you mean 'outcome'?",
            id="misspelt key",
        ),
        pytest.param(
            "title: Is a stated confidence kept?",
            "title:",
            f"{TRIVIA}, line 2: title has no value (null); give it one, or delete the line",
            id="null",
        ),
        pytest.param(
            "[0.6, 0.6, 0.7,",
            "[0.6, 1.2, 0.7,",
            f"{TRIVIA}, line 10: data.inline.overconfident.probability, row 2: found 1.2: it should "
            "be less than or equal to 1",
            id="probability of 1.2",
        ),
    ],
)
def test_a_mistake_in_an_experiment_is_one_message(
    fresh: Callable[..., Project], old: str, new: str, message: str
):
    project = fresh("trivia")
    project.replace(TRIVIA, old, new)
    assert refused(project) == [message]


def test_a_mistake_in_one_experiment_stops_every_target(fresh: Callable[..., Project]):
    """It is checked while the workflow is read: nothing runs for hours and then stops."""
    project = fresh("trivia", "spam")
    project.replace(TRIVIA, "title", "titel")
    assert len(refused(project, "spam")) == 1


@pytest.mark.parametrize("missing", [TRIVIA, "config/config.yaml", "config/published.csv"])
def test_a_missing_file_is_named_and_nothing_is_written(
    fresh: Callable[..., Project], missing: str
):
    project = fresh("trivia", "spam")
    (project.root / missing).unlink()
    said = "\n".join(refused(project, "trivia", "results/published.csv"))
    assert Path(missing).stem in said


def test_a_project_without_experiments_is_told_where_they_belong(fresh: Callable[..., Project]):
    said = refused(fresh(), "all")
    assert said == ["config/experiments: there is no experiment file (*.yaml); put one there"]


@pytest.mark.parametrize(
    "target",
    [
        "nosuch",
        "results/nosuch/metrics.json",
        "results/nosuch/make_table/record.json",
        "results/trivia/evaluate/nosuch/none/record.json",
        "results/trivia/evaluate/calibrated/nosuch/record.json",
        "results/trivia/calibrate/calibrated/nosuch/record.json",
    ],
)
def test_a_target_that_nothing_makes_is_refused_by_its_name(
    fresh: Callable[..., Project], target: str
):
    assert "nosuch" in "\n".join(refused(fresh("trivia"), target))
