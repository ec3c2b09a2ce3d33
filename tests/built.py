"""Two projects that are built once for all tests that look at what a build leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from projects import Done, Project

LESSONS = ("trivia", "subscribers", "biopsy")
"""Every kind of data, in as few jobs as that takes."""

FORBIDDEN = 'raise ImportError("a computing rule imports mlflow")\n'


@dataclass(frozen=True)
class Built:
    """A project with what was said when it was built, and what it held then.

    Attributes
    ----------
    project : Project
        Tests may change it for a while, and put back what they changed.
    first, whole : Done
        Building the experiment `trivia`, and then everything.
    first_files : set of str
        What lay among results and logs after `trivia` alone.
    records : dict
        Every record's bytes when all was built.
    """

    project: Project
    first: Done
    first_files: set[str]
    whole: Done
    records: dict[str, bytes]


@cache
def tracked(folder: Path) -> Built:
    """Some lessons, built on two cores and tracked in MLflow."""
    project = Project.new(folder / "tracked", experiments=LESSONS)
    first = project.snakemake("trivia", "--cores", "2").checked()
    first_files = project.files("results", "logs")
    whole = project.snakemake("all", "--cores", "2").checked()
    return Built(project, first, first_files, whole, project.records())


@cache
def computed(folder: Path) -> Project:
    """All lessons, built on one core in another folder, where importing MLflow is an error."""
    project = Project.new(folder / "a project elsewhere")
    (project.root / "src/mlflow").mkdir()
    (project.root / "src/mlflow/__init__.py").write_text(FORBIDDEN)
    jobs = project.plan("all").values()
    targets = [min(job.outputs) for job in jobs if job.rule not in ("track", "init_tracking")]
    project.snakemake(*targets, "--cores", "1", variables={"PYTHONHASHSEED": "7"}).checked()
    return project
