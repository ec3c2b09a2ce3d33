"""Whole projects in folders of their own, in which tests run Snakemake as a person does.

The engine's source is copied too and comes before the installed one, so that a test may edit it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "workflow", "profiles", "config", "src", "environment.yml")
MADE = ("results", "logs", ".snakemake", "mlflow.db", "mlartifacts")


@dataclass(frozen=True)
class Done:
    """A command that has ended: its exit code, what it said, and its processor time in seconds."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def said(self) -> str:
        """All that a person sees."""
        return self.out + self.err

    def checked(self) -> Done:
        """Itself, if the command succeeded."""
        assert self.code == 0, self.said
        return self


@dataclass(frozen=True)
class Planned:
    """A job as Snakemake's own summary of the files shows it."""

    rule: str
    inputs: frozenset[str]
    outputs: frozenset[str]
    pending: bool


class Plan(dict[str, Planned]):
    """The jobs of a project by name: where their logs lie, as `trivia/evaluate/calibrated/none`."""

    @property
    def pending(self) -> set[str]:
        """Jobs that would run now."""
        return {name for name, job in self.items() if job.pending}

    @property
    def outputs(self) -> set[str]:
        """All files that the jobs make."""
        return set().union(*(job.outputs for job in self.values()))

    def users(self, *files: str) -> set[str]:
        """Jobs that have one of the files among their inputs."""
        return {name for name, job in self.items() if job.inputs & set(files)}

    def of(self, *rules: str, experiment: str) -> set[str]:
        """An experiment's jobs of the given rules."""
        return {
            name
            for name, job in self.items()
            if job.rule in rules and name.split("/")[0] == experiment
        }

    def with_downstream(self, names: Iterable[str]) -> set[str]:
        """The jobs named and all that take what they give, directly or through others."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.users(*self[name].outputs)
        return found

    def rules(self, names: Iterable[str]) -> set[str]:
        """The rules of the jobs named."""
        return {self[name].rule for name in names}


class Project:
    """A project folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def new(cls, root: Path, *, experiments: Iterable[str] | None = None) -> Project:
        """A copy of this project without its results, with all experiments or with some."""
        root.mkdir(parents=True)
        for part in PARTS:
            _copy(ROOT / part, root / part)
        if experiments is not None:
            keep = set(experiments)
            for file in (root / "config/experiments").glob("*.yaml"):
                if file.stem not in keep:
                    file.unlink()
        return cls(root)

    def clone(self, root: Path) -> Project:
        """A copy in another folder, with its results, logs and runs."""
        root.mkdir(parents=True)
        for part in (*PARTS, *MADE):
            if (self.root / part).exists():
                _copy(self.root / part, root / part)
        return Project(root)

    def snakemake(self, *arguments: str, variables: Mapping[str, str] | None = None) -> Done:
        """Run `snakemake` in the project's folder."""
        return self.run("-m", "snakemake", *arguments, variables=variables)

    def run(self, *arguments: str, variables: Mapping[str, str] | None = None) -> Done:
        """Run this environment's Python with the project's own copy of the engine."""
        before = os.times()
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=_environment(self.root) | dict(variables or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        after = os.times()
        seconds = after.children_user - before.children_user
        seconds += after.children_system - before.children_system
        return Done(done.returncode, done.stdout, done.stderr, seconds)

    def plan(self, *targets: str) -> Plan:
        """All jobs behind the targets, and which of them would run now."""
        lines = self.snakemake("--detailed-summary", *targets).checked().out.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("output_file\t"))
        header = lines[start].split("\t")
        rows = [dict(zip(header, line.split("\t"), strict=False)) for line in lines[start + 1 :]]
        plan = Plan()
        for row in rows:
            # A file that is not made yet has no log either: it stands for its job.
            log = row["log-file(s)"] if row["log-file(s)"] != "-" else row["output_file"]
            name = log.removeprefix("logs/").removesuffix(".log")
            outputs = {row["output_file"]} | (plan[name].outputs if name in plan else set())
            inputs = frozenset(row["input-file(s)"].split(","))
            pending = row["plan"] != "no update"
            plan[name] = Planned(row["rule"], inputs, frozenset(outputs), pending)
        return plan

    def read(self, path: str) -> str:
        """The text of one of the project's files."""
        return (self.root / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a piece of one of the project's files, which must be there."""
        text = self.read(path)
        assert old in text, f"{path} has no {old!r}"
        (self.root / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    @contextmanager
    def edited(self, path: str, change: Callable[[str], str]) -> Iterator[None]:
        """Change one of the project's files for a while; content and time come back."""
        file = self.root / path
        before, stat = file.read_bytes(), file.stat()
        changed = change(before.decode())
        assert changed != before.decode(), f"{path} was not changed"
        file.write_text(changed, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def files(self, *folders: str) -> set[str]:
        """All files below some folders, by their path in the project."""
        return {
            path.relative_to(self.root).as_posix()
            for folder in folders
            for path in (self.root / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def records(self) -> dict[str, bytes]:
        """Every record's bytes by its path in the project."""
        found = sorted(self.root.glob("results/**/record.json"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}


def appended(text: str) -> str:
    """Code that does what it did, and is another text."""
    return f"{text}\n# A remark.\n"


def replaced(old: str, new: str) -> Callable[[str], str]:
    """A change of one piece of a text to another."""

    def change(text: str) -> str:
        assert old in text, f"there is no {old!r}"
        return text.replace(old, new, 1)

    return change


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "locks")
        shutil.copytree(source, target, ignore=ignored)
    else:
        shutil.copy2(source, target)


def _environment(root: Path) -> dict[str, str]:
    """The person's environment without settings of Snakemake, MLflow or Python of their own."""
    own = ("MLFLOW_", "SNAKEMAKE_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    # Scripts and `conda:`-less shells find the environment's commands by their bare names.
    commands = [str(Path(sys.executable).parent), kept.get("PATH", os.defpath)]
    return kept | {"PYTHONPATH": str(root / "src"), "PATH": os.pathsep.join(commands)}
