"""What the commands do: look at data, write an experiment file, check one, have one built.

The project's folder is the current one; whoever calls has gone there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kalibre import files
from kalibre.cli import printing
from kalibre.cli.build import build, page
from kalibre.cli.checking import examine
from kalibre.cli.glance import Suspicion, repeated_rows
from kalibre.cli.look import Look, look_at
from kalibre.cli.messages import with_options
from kalibre.cli.predictions_proposal import look_at_predictions, predictions_text
from kalibre.cli.project import EXPERIMENTS, experiment_file, name_after, new_file
from kalibre.cli.table_proposal import table_text
from kalibre.columns import Categories, Columns
from kalibre.data.table import make_table
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.experiment import Experiment
from kalibre.experiment.load import load_experiment
from kalibre.plan import RESULTS, Plan

HERE = Path()
OTHER_NAME = "build it as it stands with `snakemake`, choose another name (`--name`)"

__all__ = ["audit", "check", "name_after", "new", "predictions"]


def new(name: str, options: Mapping[str, Any]) -> None:
    """Look at a table, say what was seen, and write an experiment on it.

    Raises
    ------
    InputError
        If the name is taken or the data cannot be used; then nothing is written.
    """
    file = new_file(HERE, name)
    text = _table_experiment(name, options)
    files.write_text(file, text)
    printing.say(f"\nWrote {file}. Next:")
    printing.say(f"  kalibre check {name}")
    printing.say(f"  snakemake {name}")


def check(name: str) -> None:
    """Say whether an experiment would run; nothing is run or written.

    Raises
    ------
    InputError
        With what is wrong.
    """
    file = experiment_file(HERE, name)
    spec = load_experiment(file)
    table = make_table(plain(spec.data))
    try:
        examined = examine(spec, table)
    except InputError as error:
        # What the data themselves are wrong in names their file already.
        raise InputError(f"{file}: {error}") from error
    # Snakemake reads all experiments, whichever is asked for.
    Plan.read(EXPERIMENTS, chosen=None, scripts=HERE / "workflow" / "scripts")
    printing.say_examined(str(file), examined)


def audit(name: str, options: Mapping[str, Any]) -> None:
    """Write an experiment on a table and have it built.

    Raises
    ------
    InputError
        If the data cannot be used, or a job fails.
    """
    _write_and_build(name, _table_experiment(name, options))


def predictions(name: str, options: Mapping[str, Any]) -> None:
    """Write an experiment on a file of predictions and have it built.

    Raises
    ------
    InputError
        If the data cannot be used, or a job fails.
    """
    try:
        given = look_at_predictions(options)
    except InputError as error:
        raise InputError(with_options(str(error))) from error
    text = predictions_text(name, given)
    examine(_parsed(name, text), given.table)
    printing.say_predictions(given)
    _write_and_build(name, text)


def _table_experiment(name: str, options: Mapping[str, Any]) -> str:
    """Look at a table and say what was seen; the experiment's text, which has been checked."""
    try:
        look = look_at(options)
    except InputError as error:
        raise InputError(with_options(str(error))) from error
    spec = _parsed(name, table_text(name, look))
    try:
        examined = examine(spec, look.table)
    except InputError as error:
        raise InputError(f"{look.data['file']}: {error}") from error
    repeated = _repeated(spec, look, examined.parts)
    if repeated is not None:
        look = replace(look, suspicions=(*look.suspicions, repeated))
    printing.say_look(look, notes=examined.notes)
    return table_text(name, look)


def _repeated(spec: Experiment, look: Look, parts: Columns | None) -> Suspicion | None:
    """Rows that stand in a part to learn from and in one to be measured."""
    assert parts is not None
    part = parts["part"]
    assert isinstance(part, Categories)
    codes = np.empty_like(part.codes)
    codes[np.asarray(parts["row"])] = part.codes
    measured = spec.evaluated_parts()
    return repeated_rows(
        dict(look.table.features),
        Categories(codes, part.names),
        learned=[name for name in spec.parts() if name not in measured],
        measured=measured,
        grouped="group" in look.table.roles,
    )


def _parsed(name: str, text: str) -> Experiment:
    """The text as the workflow will read it, before there is a file of it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.yaml")
        files.write_text(file, text)
        return load_experiment(file)


def _write_and_build(name: str, text: str) -> None:
    file = EXPERIMENTS / f"{name}.yaml"
    if not (file.is_file() and file.read_text(encoding="utf-8") == text):
        files.write_text(new_file(HERE, name, remedy=OTHER_NAME), text)
    printing.say(f"\nBuilding {file}: snakemake {name}")
    try:
        with printing.told() as progress:
            build(HERE, name, progress=progress)
    except InputError as error:
        said = f"{error}\nThe experiment stays in {file}: correct it, then `snakemake {name}`"
        raise InputError(said) from error
    printing.say()
    printing.say(Path(RESULTS, name, "summary.txt").read_text(encoding="utf-8"))
    printing.say(f"The page: {page(name).resolve()}", style="bold")
    printing.say(f"The experiment: {file}    The runs: `mlflow ui` here, experiment {name}")
