"""What `snakemake NAME` and `snakemake all` make, say and leave alone."""

import csv
import json
import re
from pathlib import Path

import pytest

from built import LESSONS, Built
from projects import Project

ENDS = ["summary.txt", "metrics.json", "tracked.json"]


# ---- one experiment by its name


@pytest.mark.parametrize("file", [*ENDS, "figures.csv", "settings.json"])
def test_an_experiment_is_built_by_its_name(built: Built, file: str):
    assert f"results/trivia/{file}" in built.first_files


def test_nothing_else_is_built_with_it(built: Built):
    made = {path.split("/")[1] for path in built.first_files if path.startswith("results/")}
    assert made & set(LESSONS) == {"trivia"}
    assert "published.csv" not in made


def test_its_tables_are_printed_at_the_end(built: Built):
    end = built.first.out
    assert built.project.read("results/trivia/summary.txt").strip() in end
    for expected in (
        "Is a stated confidence kept?",
        "reliability on all, stated",
        "ECE thirds",
        "Brier",
        "overconfident",
    ):
        assert expected in end


def test_it_is_said_where_the_runs_and_the_files_are(built: Built):
    end = built.first.out
    assert "mlflow ui" in end
    assert "results/trivia" in end


def test_the_reliability_table_is_that_of_the_page(built: Built):
    """Seed 001: in the bin of 0.9, three answers, one of them right."""
    path = "results/trivia/evaluate/overconfident/none/reliability.csv"
    with (built.project.root / path).open() as file:
        rows = [row for row in csv.DictReader(file) if row["bins"] == "stated"]
    assert [row["count"] for row in rows] == ["2", "1", "2", "3", "2"]
    assert float(rows[3]["observed_rate"]) == pytest.approx(1 / 3)


# ---- all


@pytest.mark.parametrize("experiment", LESSONS)
@pytest.mark.parametrize("file", ENDS)
def test_all_builds_every_experiment(built: Built, experiment: str, file: str):
    assert (built.project.root / "results" / experiment / file).is_file()


@pytest.mark.parametrize("file", ["results/published.csv", "results/claims.csv"])
def test_all_builds_the_tables_of_published_figures(built: Built, file: str):
    assert (built.project.root / file).is_file()


def test_what_one_name_built_all_does_not_build_again(built: Built):
    assert "trivia: evaluate" in built.first.said
    assert "trivia: evaluate" not in built.whole.said


def test_a_rule_its_script_its_folder_and_its_log_have_one_name(built: Built):
    scripts = {path.stem for path in (built.project.root / "workflow/scripts").glob("*.py")}
    for path, content in built.records.items():
        record = json.loads(content)
        where = Path(record["rule"], *record["subject"].values())
        assert path == f"results/{record['experiment']}/{where}/record.json"
        assert (built.project.root / "logs" / record["experiment"] / f"{where}.log").is_file()
        assert record["rule"] in scripts


def test_time_and_memory_of_a_job_are_beside_its_log(built: Built):
    for path in built.records:
        log = Path("logs", *Path(path).parent.parts[1:])
        assert (built.project.root / log.with_suffix(".tsv")).is_file(), path


def test_no_half_written_file_is_left(built: Built):
    assert [path for path in built.project.files("results", "logs") if path.endswith(".part")] == []


def test_no_failure_is_left(built: Built):
    assert [path for path in built.project.files("logs") if ".failed." in path] == []


# ---- again


def test_the_second_time_there_is_nothing_to_be_done(built: Built):
    done = built.project.snakemake("all").checked()
    assert "Nothing to be done" in done.said


def test_nothing_to_be_done_is_said_in_under_three_seconds(built: Built):
    """Processor time, so that whatever else runs here does not count."""
    assert min(built.project.snakemake("all").checked().seconds for _ in range(2)) < 3.0


def test_any_file_among_the_results_is_a_target(built: Built):
    done = built.project.snakemake("results/trivia/metrics.json").checked()
    assert "Nothing to be done" in done.said


def test_a_bare_command_uses_the_projects_profile(built: Built):
    """Without it Snakemake stops and asks for a number of cores."""
    assert "profiles/default" in built.project.snakemake().checked().said


# ---- experiments that are chosen


def test_all_builds_the_experiments_that_the_configuration_names(built: Built):
    project = built.project
    with project.edited("config/config.yaml", lambda _: "experiments: [trivia]\n"):
        files = project.plan("all").outputs
    named = {path.split("/")[1] for path in files if re.match(r"results/\w+/tracked\.json", path)}
    assert named == {"trivia"}


def test_a_chosen_experiment_without_a_file_is_one_message(built: Built):
    with built.project.edited("config/config.yaml", lambda _: "experiments: [trivai]\n"):
        done = built.project.snakemake("all")
    assert done.code == 1
    assert "there is no experiment 'trivai'; did you mean 'trivia'?" in done.err
    assert "Traceback" not in done.said


# ---- a project of its own


def test_the_engine_that_runs_is_the_projects_own(built: Built):
    """What these tests edit is what Snakemake runs."""
    done = built.project.run("-c", "import kalibre; print(kalibre.__file__)").checked()
    assert Path(done.out.strip()).is_relative_to(built.project.root)
    code = set().union(*(job.inputs for job in built.project.plan("trivia").values()))
    assert not any(path.startswith(("..", "/")) for path in code)


def test_an_experiment_without_a_lesson_has_no_figures(fresh):
    project: Project = fresh("trivia")
    project.replace("config/experiments/trivia.yaml", "lesson: trivia\n", "")
    assert "measure_figures" not in project.plan("trivia").rules(project.plan("trivia"))
