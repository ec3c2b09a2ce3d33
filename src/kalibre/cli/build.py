"""Snakemake builds an experiment: it is started here, watched, and asked for the one message of a failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kalibre.errors import InputError
from kalibre.plan import RESULTS

Progress = Callable[[str, int, int], None]
"""Takes what is being done, the steps that are done, and all steps (0 before they are known)."""

LAST_LINES = 15

_JOB = re.compile(r"(?:Job \d+|localrule \w+): (?:(?P<experiment>\w+): )?(?P<deed>.+)")
_DONE = re.compile(r"(?P<done>\d+) of (?P<all>\d+) steps")
_LOCKED = re.compile(r"LockException|[Dd]irectory cannot be locked")
_NOISE = re.compile(
    r"Using workflow specific profile|Assuming unrestricted shared|Building DAG|Using shell"
)


def page(name: str) -> Path:
    """An experiment's page, relative to the project's folder."""
    return Path(RESULTS, name, "report.html")


def build(root: Path, name: str, *, progress: Progress) -> None:
    """Build an experiment: `snakemake NAME` in this environment.

    Parameters
    ----------
    root : Path
        The project's folder.
    name : str
        The experiment.
    progress : callable
        Told what is going on.

    Raises
    ------
    InputError
        If Snakemake fails: with the message of the job that failed.
    """
    command = [sys.executable, "-m", "snakemake", name]
    # Snakemake starts the scripts' Python by its bare name.
    folder = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"PATH": folder},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stderr is not None
        said = _watch(process.stderr, progress)
        code = process.wait()
    if code:
        raise InputError(failure(said, name))


def _watch(lines: Iterable[str], progress: Progress) -> list[str]:
    said: list[str] = []
    done = steps = 0
    for line in lines:
        said.append(line.rstrip("\n"))
        if counted := _DONE.match(line):
            done, steps = int(counted["done"]), int(counted["all"])
            progress("", done, steps)
        elif job := _JOB.match(line.strip()):
            progress(job["deed"], done, steps)
    return said


def failure(said: Sequence[str], name: str) -> str:
    """The one message in all that Snakemake said: the failed job's own, else the last lines.

    Parameters
    ----------
    said : sequence of str
        Lines of Snakemake's output.
    name : str
        The experiment.
    """
    text = "\n".join(said)
    of_job = re.search(
        rf"^(?P<job>\w+ {re.escape(name)}\b[^:\n]*): (?P<message>.*?)\n\(log: (?P<log>[^\n]*)\)$",
        text,
        re.MULTILINE | re.DOTALL,
    )
    if of_job:
        return of_job["message"]
    if _LOCKED.search(text):
        return (
            "Snakemake is at work in this project already, or was ended while it was; if it is not, "
            f"`snakemake --unlock`, then `snakemake {name}`"
        )
    told = [line for line in said if line.strip() and not _NOISE.match(line)]
    return (
        "\n".join(told[-LAST_LINES:]) or f"Snakemake failed without a word; try `snakemake {name}`"
    )
