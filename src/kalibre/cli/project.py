"""Where is the project, and which experiments has it?"""

from __future__ import annotations

import os
import re
from pathlib import Path

from kalibre.errors import InputError, nearest
from kalibre.experiment.base import NAME_PATTERN
from kalibre.plan import OTHER_TARGETS

EXPERIMENTS = Path("config", "experiments")
LONGEST_NAME = 60


def find_root(start: Path) -> Path:
    """The project's folder: the nearest one at or above `start` with a Snakefile and experiments.

    Raises
    ------
    InputError
        If there is none.
    """
    for folder in (start, *start.parents):
        if (folder / "Snakefile").is_file() and (folder / EXPERIMENTS).is_dir():
            return folder
    raise InputError(
        f"{start} is not in a kalibre project: neither it nor a folder above it has a Snakefile and "
        f"{EXPERIMENTS}; change into the project's folder and try again"
    )


def in_project(file: str, start: Path, root: Path) -> str:
    """A file named in the folder `start`, as experiment files name it: from the project's folder on.

    A file outside the project keeps its absolute path.
    """
    path = Path(os.path.normpath(start / file))
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def experiment_file(root: Path, name: str) -> Path:
    """The file of an experiment that there is, relative to the project's folder.

    Raises
    ------
    InputError
        If there is no such experiment; names the nearest one.
    """
    files = _files(root)
    # A person may complete the name to the file that they see.
    stem = Path(name).stem if name.endswith((".yaml", ".yml")) else name
    if stem in files:
        return files[stem]
    near = nearest(stem, files)
    hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(files) or 'none so far'}"
    raise InputError(f"there is no experiment {name!r} in {EXPERIMENTS}; {hint}")


def new_file(root: Path, name: str, *, remedy: str = "choose another name") -> Path:
    """The file that a new experiment is to have, relative to the project's folder.

    Parameters
    ----------
    root : Path
        The project's folder.
    name : str
        The experiment's name.
    remedy : str
        What a person does about a name that is taken.

    Raises
    ------
    InputError
        If the name cannot be a target, or is taken.
    """
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > LONGEST_NAME:
        raise InputError(
            f"an experiment cannot be called {name!r}: a name is made of letters, digits and "
            f"underscores, starts with a letter and has at most {LONGEST_NAME} of them"
        )
    if name in {path.stem for path in (root / "workflow/scripts").glob("*.py")} | OTHER_TARGETS:
        raise InputError(
            f"an experiment cannot be called {name!r}: the workflow has a target of that name"
        )
    for taken, file in _files(root).items():
        # Two names that differ only in case are one folder of results on some systems.
        if taken.casefold() == name.casefold():
            raise InputError(
                f"{file} is there already and is not overwritten; {remedy}, or remove the file"
            )
    return EXPERIMENTS / f"{name}.yaml"


def name_after(file: str) -> str:
    """A name for an experiment on a file, made from the file's own."""
    name = slug(Path(file).stem)[:LONGEST_NAME].strip("_")
    return name or "audit"


def slug(text: str, *, start: str = "data") -> str:
    """A text as a name: letters, digits and underscores, with `start` before it if it needs one."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if not name or name[0].isalpha() else f"{start}_{name}"


def _files(root: Path) -> dict[str, Path]:
    folder = root / EXPERIMENTS
    found = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    return {path.stem: path.relative_to(root) for path in found}
