"""The command `kalibre`: what can be asked, and how mistakes are said.

Only typer is imported here: the help of a command must not wait for numpy. A mistake is one message on
standard error and exit code 1, never a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from kalibre.errors import InputError

HELP = """
Are a classifier's probabilities true, and was its score earned?

kalibre audits a table of your own (models are fitted and measured) or predictions that you have already
(nothing is fitted). An audit is one file, config/experiments/NAME.yaml, and Snakemake builds it. Run these
commands inside the project's folder.

Start with `kalibre audit` or `kalibre predictions`; use `kalibre new` to change the file before it is
built.
"""

app = typer.Typer(
    name="kalibre",
    help=HELP,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
)

FILE_PANEL = "How the file is written"
ROLE_PANEL = "What columns are for"

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The experiment's name: letters, digits and underscores. It is also its Snakemake target.",
    ),
]
AnotherName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The experiment's name; by default that of the file."),
]
Target = Annotated[
    str, typer.Option(metavar="COLUMN", help="The column that holds the label to be predicted.")
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="The label that counts as 1; all others count as 0. Not needed where labels are 0 and 1, or "
        "false and true.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=ROLE_PANEL,
        help="Names each row; no model sees it.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=ROLE_PANEL,
        help="Says which rows belong together, such as those of one household; they are kept in one part "
        "of the split.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=ROLE_PANEL,
        help="Says when a row was (a date like 2024-01-31, or a number); later rows are then measured by "
        "what was learned from earlier ones.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", rich_help_panel=ROLE_PANEL, help="Says how much each row counts."
    ),
]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=ROLE_PANEL,
        help="A column no model may see; give the option once for each.",
    ),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=ROLE_PANEL,
        help="A column of numbers that are names, such as post codes; once for each.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        rich_help_panel=FILE_PANEL,
        help="What stands for no value, besides an empty field, NA, NaN and the like; once for each.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FILE_PANEL, help="Such as latin-1; by default UTF-8.", metavar="NAME"
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FILE_PANEL,
        metavar="CHARACTER",
        help="What separates columns; by default it is found in the first rows.",
    ),
]
TABLE = "A CSV or Parquet file with one row for each case."


@app.callback(invoke_without_command=True)
def _without_a_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    epilog="Example: `kalibre new churn --data data/churn.csv --target churned --positive yes`",
)
def new(
    context: typer.Context,
    name: Name,
    data: Annotated[str, typer.Option("--data", metavar="FILE", help=TABLE)],
    target: Target,
    positive: Positive = None,
    id: Id = None,
    group: Group = None,
    time: Time = None,
    weight: Weight = None,
    leave_out: LeaveOut = None,
    category: Category = None,
    missing: Missing = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
) -> None:
    """Look at a table and write an experiment on it, to be read and changed.

    Says what kind each column is, how many rows are positive, which column may be an id, and which leaks
    show at a glance: a column that is the label itself, one that alone predicts it nearly perfectly, rows
    that stand in the table twice. Writes config/experiments/NAME.yaml with remarks on all of that; it runs
    as it stands. A file that is there already is never overwritten.
    """
    with _project(data) as (commands, file):
        commands.new(name, {"file": file, **_table_options(context.params)})


@app.command(epilog="Example: `kalibre check churn`")
def check(name: Name) -> None:
    """Say whether an experiment would run, without running it.

    Reads its file and its data, cuts the split and the folds, imports the models and sends rows through
    the preparation. Prints the rows and positives of each part and what is worth knowing. Writes nothing.
    """
    with _project() as (commands, _):
        commands.check(name)


@app.command(epilog="Example: `kalibre audit data/churn.csv --target churned --positive yes`")
def audit(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help=TABLE)],
    target: Target,
    positive: Positive = None,
    name: AnotherName = None,
    id: Id = None,
    group: Group = None,
    time: Time = None,
    weight: Weight = None,
    leave_out: LeaveOut = None,
    category: Category = None,
    missing: Missing = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
) -> None:
    """Audit a table: write an experiment on it and build it, in one go.

    Does what `kalibre new` does, then calls `snakemake NAME`: a linear model and boosted trees are fitted,
    calibrated, and measured on rows that nothing learned from. Prints the summary and where the page is.
    """
    with _project(file) as (commands, data):
        options = {"file": data, **_table_options(context.params)}
        commands.audit(name or commands.name_after(file), options)


@app.command(
    epilog="Example: `kalibre predictions data/scored.csv --probability p_churn --outcome churned`",
)
def predictions(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV or Parquet file with one row for each case: what was predicted, and what happened.",
        ),
    ],
    outcome: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column that says what happened.")
    ],
    probability: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of probabilities of the positive label, from 0 to 1; once for each model.",
        ),
    ] = None,
    logit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The same on the logit scale, ln(p / (1 - p)); instead of or besides --probability.",
        ),
    ] = None,
    positive: Positive = None,
    name: AnotherName = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            rich_help_panel=ROLE_PANEL,
            help="Says which rows belong together, such as those of one patient: intervals then draw whole "
            "groups.",
        ),
    ] = None,
    weight: Weight = None,
    missing: Missing = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
) -> None:
    """Audit predictions that you have already: nothing is fitted.

    Writes an experiment and calls `snakemake NAME`: reliability, calibration error with the one that chance
    alone would give, Brier score, ROC AUC, intervals. Prints the summary and where the page is.
    """
    with _project(file) as (commands, data):
        options = {"file": data, **_chosen(context.params, PREDICTION_KEYS)}
        commands.predictions(name or commands.name_after(file), options)


FILE_KEYS = ("missing", "encoding", "delimiter")
TABLE_KEYS = ("target", "positive", "id", "group", "time", "weight", "leave_out", *FILE_KEYS)
PREDICTION_KEYS = ("outcome", "positive", "probability", "logit", "group", "weight", *FILE_KEYS)


def _chosen(given: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: given[key] for key in keys if given[key]}


def _table_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """A command's options as keys of the section `data`."""
    options = _chosen(given, TABLE_KEYS)
    categories = given["category"]
    return options | ({"kinds": dict.fromkeys(categories, "category")} if categories else {})


@contextmanager
def _project(file: str = "") -> Iterator[tuple[ModuleType, str]]:
    """In the project's folder: the commands, and a file's name as experiment files write it."""
    # Not before a command is run: they import numpy and pydantic.
    from kalibre.cli import commands
    from kalibre.cli.project import find_root, in_project

    start = Path.cwd()
    root = find_root(start)
    os.chdir(root)
    try:
        yield commands, in_project(file, start, root) if file else ""
    finally:
        os.chdir(start)


# typer's own copy of click has no public name for the base of all mistakes in calling a command.
_Misuse: type[Exception] = typer.BadParameter.__mro__[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        Exit code: 0, or 1 after a message.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return app(given, prog_name="kalibre", standalone_mode=False) or 0
    except InputError as error:
        print(error, file=sys.stderr)
    except _Misuse as error:
        print(f"{error.format_message()} ({_help_of(given)})", file=sys.stderr)  # type: ignore[attr-defined]
    except (KeyboardInterrupt, typer.Abort):
        print("ended; nothing is left half-written", file=sys.stderr)
    except BrokenPipeError:
        # Whoever reads has seen enough; the interpreter must not complain of it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _help_of(given: Sequence[str]) -> str:
    names = {command.callback.__name__ for command in app.registered_commands if command.callback}
    named = f" {given[0]}" if given and given[0] in names else ""
    return f"see `kalibre{named} --help`"
