"""What a person reads on the terminal: results to standard output, what goes on and errors to the other."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from kalibre.cli.build import Progress as Told
from kalibre.cli.checking import Examined
from kalibre.cli.glance import Suspicion
from kalibre.cli.look import Look
from kalibre.cli.predictions_proposal import Given
from kalibre.cli.yaml_text import listed
from kalibre.columns import Categories


def say(text: str = "", *, style: str = "") -> None:
    """A line on standard output; names in it may hold brackets, which are no markup."""
    _console().print(Text(text, style=style), soft_wrap=True)


def say_error(message: str) -> None:
    """A message on standard error."""
    Console(stderr=True, highlight=False).print(Text(message), soft_wrap=True)


def say_all(sentences: Iterable[str]) -> None:
    """Sentences one below the other, each behind a dash."""
    for sentence in sentences:
        say(f"  - {sentence}")


def say_look(look: Look, *, notes: Iterable[str]) -> None:
    """What is in a table, what its reading and its split had to say, and what to look at."""
    rows, positives = len(look.outcome), int(look.outcome.sum())
    say(
        f"{look.data['file']}: {rows} rows, {look.columns} columns; {look.data['target']} is "
        f"{look.positive!r} in {positives} of them ({100 * positives / rows:.1f} %)"
    )
    for kind, columns in look.table.result.params["kinds"].items():
        if kind != "left out":
            say(f"  {kind:<10}{listed([_with_count(look, column) for column in columns])}")
    for key in ("id", "group", "time", "weight"):
        if key in look.data:
            say(f"  {key:<10}{look.data[key]}")
    _say_block("To know:", notes)
    _say_suspicions(look.suspicions)


def say_predictions(given: Given) -> None:
    """What predictions were found, and what to look at."""
    rows, positives = len(given.outcome), int(given.outcome.sum())
    say(
        f"{given.data['file']}: {rows} rows; {given.data['outcome']} is {given.positive!r} in {positives} of "
        f"them ({100 * positives / rows:.1f} %); predictions of {listed(given.models)}"
    )
    _say_block("To know:", given.table.result.notes)
    _say_suspicions(given.suspicions)


def say_examined(file: str, examined: Examined) -> None:
    """That an experiment would run, and on which rows."""
    say(f"{file}: no mistake found; nothing was run and nothing written")
    for part, counts in examined.counts.items():
        rows, positives = int(counts["rows"]), int(counts["positives"])
        share = f" ({100 * positives / rows:.1f} %)" if rows else ""
        say(f"  {part:<14}{rows} rows, {positives} positive{share}")
    _say_block("To know:", [*examined.notes, *examined.new_categories])


def _say_block(title: str, sentences: Iterable[str], *, style: str = "") -> None:
    listing = list(sentences)
    if listing:
        say()
        say(title, style=style)
        say_all(listing)


def _say_suspicions(found: Iterable[Suspicion]) -> None:
    said = [f"{one.column}: {one.sentence}" if one.column else one.sentence for one in found]
    _say_block("Look at these before you believe a score:", said, style="bold")


def _with_count(look: Look, column: str) -> str:
    values = look.table.features[column]
    return f"{column} ({len(values.names)} values)" if isinstance(values, Categories) else column


@contextmanager
def told() -> Iterator[Told]:
    """Shows what is being done: a bar on a terminal, a line for each deed elsewhere."""
    if not sys.stderr.isatty():
        yield lambda deed, done, steps: say_error(f"  {deed}") if deed else None
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda deed, done, steps: bar.update(
            task, completed=done, total=steps or None, description=deed or None
        )


def _console() -> Console:
    return Console(highlight=False, emoji=False)
