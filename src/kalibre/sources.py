"""Which of the engine's modules a rule's script uses, read from the import statements alone.

Snakemake reruns a rule when a file among its inputs changes. A rule's inputs therefore include the modules
its script imports, directly or through others, and no more: editing the tracking code must not refit a
model. Modules that the configuration names (an estimator, a data source) are added by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = "kalibre"
SOURCE = Path(__file__).resolve().parent


@cache
def module_file(module: str) -> Path | None:
    """The source file of one of the engine's modules, None for anything else."""
    head, *rest = module.split(".")
    if head != PACKAGE:
        return None
    path = SOURCE.joinpath(*rest)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path if path.is_file() else None


def owning_module(dotted: str) -> str | None:
    """The engine's module that defines `dotted`, which may name a module, a class or a function."""
    parts = dotted.replace(":", ".").split(".")
    for end in range(len(parts), 0, -1):
        if module_file(".".join(parts[:end])) is not None:
            return ".".join(parts[:end])
    return None


def used_modules(script: Path, named: Iterable[str] = ()) -> list[Path]:
    """Source files a script uses: the script itself and the closure of its imports within the engine.

    Parameters
    ----------
    script : Path
        The script.
    named : iterable of str
        Dotted paths the configuration names; those outside the engine are ignored.
    """
    found = {script.resolve()}
    waiting = list(_imports(script.resolve()))
    waiting += [module for dotted in named if (module := owning_module(dotted)) is not None]
    while waiting:
        path = module_file(waiting.pop())
        if path is None or path in found:
            continue
        found.add(path)
        waiting += _imports(path)
    return sorted(found)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Modules of the engine named by a file's import statements, packages on the way included."""
    return tuple(dict.fromkeys(_walk(ast.parse(path.read_bytes()))))


def _walk(tree: ast.Module) -> Iterator[str]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.split(".")[0] == PACKAGE:
                yield from _with_packages(name)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Statements within a node; imports stand nowhere else, and expressions are most of a file."""
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, block, ()):
            yield inner
            yield from _statements(inner)


def _with_packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        if module_file(name) is not None:
            yield name
