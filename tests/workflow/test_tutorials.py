"""Both tutorials, typed in from the first command to the last; what they show is what is said.

Numbers may differ a little from one machine to another, words may not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from projects import ROOT, Done, Project

TOLERANCE = 0.01

KALIBRE = 'kalibre() { python -m kalibre.cli "$@"; }\n'
"""The command, of the project's own copy of the engine."""

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"[(+-]*\d+(\.\d+)?[);,%]*")


@dataclass(frozen=True)
class Block:
    """A fenced block: commands to type (`sh`), or what is then read (`text`)."""

    kind: str
    content: str


def blocks(tutorial: str) -> list[Block]:
    text = (ROOT / "docs" / tutorial).read_text(encoding="utf-8")
    return [Block(kind, content) for kind, content in _FENCE.findall(text)]


def typed(project: Project, commands: str) -> Done:
    """Run commands in a shell that stops at the first that fails."""
    start = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    return project.run("-c", start, "bash", "-euo", "pipefail", "-c", KALIBRE + commands)


def pieces(shown: str) -> list[list[str]]:
    """What is shown, word by word; a line of three dots stands for something left out."""
    return [piece.split() for piece in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)]


def alike(shown: str, said: str) -> bool:
    if not (_NUMBER.fullmatch(shown) and _NUMBER.fullmatch(said)):
        return shown == said
    one, other = (float(text.strip("()+;,%")) for text in (shown, said))
    return abs(one - other) <= TOLERANCE


def holds(said: list[str], piece: list[str]) -> bool:
    """Whether the words of a piece are said one after the other."""
    last = len(said) - len(piece) + 1
    return any(all(map(alike, piece, said[i : i + len(piece)])) for i in range(last))


@pytest.mark.parametrize("tutorial", ["tutorial-table.md", "tutorial-predictions.md"])
def test_every_command_of_a_tutorial_does_what_it_shows(tutorial: str, tmp_path: Path):
    project = Project.new(tmp_path / "project", experiments=[])
    said: list[str] = []
    found = blocks(tutorial)
    assert {block.kind for block in found} == {"sh", "text"}
    for block in found:
        if block.kind == "sh":
            said = typed(project, block.content).checked().out.split()
        else:
            for piece in pieces(block.content):
                assert holds(said, piece), " ".join(piece)
    (name,) = [path.stem for path in (project.root / "config/experiments").glob("*.yaml")]
    assert (project.root / f"results/{name}/report.html").is_file()
