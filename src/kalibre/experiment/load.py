"""Reading experiment files: every mistake becomes one message that says where, what, and how to mend it."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from kalibre.errors import InputError, nearest, suggestion
from kalibre.experiment.base import NAME_PATTERN, PATH_PATTERN
from kalibre.experiment.experiment import Experiment

Key = tuple[str | int, ...]
Lines = dict[Key, int]
DEEPEST = 50
"""Keys within keys; no section is a tenth as deep."""

MOST_VALUES = 2_000_000
"""Values in a file; aliases of aliases make more than anybody waits for."""

SHOWN = 5
"""Mistakes of one file that a message lists."""


def load_experiments(folder: Path, *, reserved: Collection[str]) -> dict[str, Experiment]:
    """Read every experiment of a folder, by name.

    Raises
    ------
    InputError
        If a file does not validate, its name is a rule's or not a name, or there is none.
    """
    experiments = {}
    for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        name = path.stem
        if name in reserved:
            raise InputError(
                f"{path}: {name!r} is the name of one of the workflow's own targets; rename the file"
            )
        if not re.fullmatch(NAME_PATTERN, name):
            raise InputError(
                f"{path}: an experiment's name is its target, so it is made of letters, digits and "
                f"underscores and starts with a letter; found {name!r}; rename the file"
            )
        if name in experiments:
            raise InputError(
                f"{path}: there is another file for experiment {name!r}; keep one of them"
            )
        experiments[name] = load_experiment(path)
    if not experiments:
        raise InputError(f"{folder}: there is no experiment file (*.yaml); put one there")
    return experiments


def select_experiments(chosen: Any, experiments: Collection[str]) -> list[str]:
    """The experiments that `experiments:` in config/config.yaml names: `all`, or a list.

    Raises
    ------
    InputError
        If it names one that has no file.
    """
    if chosen is None or chosen == "all":
        return sorted(experiments)
    names = chosen if isinstance(chosen, list) else [chosen]
    for name in names:
        if name not in experiments:
            raise InputError(
                f"config/config.yaml: experiments: there is no experiment {name!r}; "
                f"{suggestion(str(name), experiments)}"
            )
    return names


def load_experiment(path: Path) -> Experiment:
    """Read and validate one experiment file.

    Raises
    ------
    InputError
        With one message: file, line, key, the value found, what is allowed.
    """
    content, lines = _read_yaml(path)
    nulls = [key for key in _nulls(content) if "params" not in key]
    if nulls:
        where = _place(path, nulls[0], lines)
        raise InputError(f"{where} has no value (null); give it one, or delete the line")
    try:
        return Experiment.model_validate(content)
    except ValidationError as error:
        errors = _causes(error.errors())
        mistakes = _distinct(_explain(path, content, lines, item) for item in errors)
    more = f"\n(and {len(mistakes) - SHOWN} more)" if len(mistakes) > SHOWN else ""
    raise InputError("\n".join(mistakes[:SHOWN]) + more)


class _Loader(yaml.SafeLoader):
    """Safe YAML in which `on`, `off`, `yes` and `no` are words, as in YAML 1.2, and not booleans."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:bool"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")
)


def _read_yaml(path: Path) -> tuple[dict[str, Any], Lines]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from error
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        lines: Lines = {}
        if node is not None:
            _note_lines(path, node, (), lines)
        content = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise InputError(f"{path}{line}: is not valid YAML: {problem}") from error
    except (ValueError, TypeError, RecursionError) as error:
        # A date that does not exist, a list as a key, a number of thousands of digits.
        raise InputError(f"{path}: is not valid YAML: {error}") from error
    if not isinstance(content, dict):
        found = "the file is empty" if content is None else f"found {content!r}"
        raise InputError(f"{path}: an experiment is a mapping of sections such as `data:`; {found}")
    return content, lines


def _note_lines(path: Path, node: yaml.Node, key: Key, lines: Lines) -> None:
    """The line of every key; a key given twice is a mistake that YAML itself lets pass."""
    if len(key) > DEEPEST or len(lines) > MOST_VALUES:
        what = f"keys lie more than {DEEPEST} deep" if len(key) > DEEPEST else "too many values"
        raise InputError(
            f"{path}, line {node.start_mark.line + 1}: {what}; is there an alias (`*name`) that leads back "
            "into itself, or into others that do? Write out what it stands for"
        )
    lines.setdefault(key, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            inner = (*key, name.value)
            if inner in lines:
                raise InputError(
                    f"{path}, line {name.start_mark.line + 1}: key {_dotted(inner)!r} is given twice "
                    f"(first on line {lines[inner]}); keep one of them"
                )
            lines[inner] = name.start_mark.line + 1
            _note_lines(path, value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            _note_lines(path, value, (*key, i), lines)


def _nulls(value: Any, key: Key = ()) -> Iterable[Key]:
    if value is None:
        yield key
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _nulls(item, (*key, name))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _nulls(item, (*key, i))


def _causes(errors: list[Any]) -> list[Any]:
    """Without the keys that are only missing because they are misspelt."""
    misspelt = {
        (*where, nearest(str(key), _fields_at(where)))
        for *where, key in (e["loc"] for e in errors if e["type"] == "extra_forbidden")
    }
    return [e for e in errors if e["type"] != "missing" or e["loc"] not in misspelt]


def _explain(path: Path, content: Any, lines: Lines, error: Any) -> str:
    cause = error.get("ctx", {}).get("error")
    key = getattr(cause, "key", None) or _existing(content, error["loc"], error["type"])
    where = _place(path, key, lines)
    if error["type"] == "extra_forbidden":
        return (
            f"{where} is not a known key; {suggestion(str(key[-1]), _fields_at(error['loc'][:-1]))}"
        )
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] in ("union_tag_invalid", "literal_error"):
        expected = error["ctx"].get("expected_tags") or error["ctx"].get("expected")
        found = error["ctx"].get("tag", error["input"])
        return f"{where}: found {found!r}; allowed: {expected}"
    if error["type"] == "union_tag_not_found":
        return f"{where}.source is missing; it says where the rows come from"
    if error["type"] == "string_pattern_mismatch":
        allowed = _PATTERNS.get(error["ctx"]["pattern"], error["msg"])
        return f"{where}: found {error['input']!r}; {allowed}"
    if error["type"] == "list_type" and isinstance(error["input"], (str, int, float)):
        return f"{where}: found {error['input']!r}; it should be a list: [{error['input']}]"
    message = error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if cause is not None and hasattr(cause, "key"):
        return f"{where}: {message}"
    found = error["input"]
    shown = f"found {found!r}: " if isinstance(found, (str, int, float, bool)) else ""
    return f"{where}: {shown}{message[0].lower()}{message[1:]}"


_PATTERNS = {
    NAME_PATTERN: "a name is made of letters, digits and underscores and starts with a letter",
    PATH_PATTERN: "a class is named by its importable path, such as sklearn.naive_bayes.GaussianNB",
}


def _existing(content: Any, loc: Key, kind: str) -> Key:
    """The error's place as a key of the file: pydantic's own marks for a union's branch are left out."""
    key: Key = ()
    at: Any = content
    for i, step in enumerate(loc):
        if step == "[key]":
            continue
        if _has(at, step):
            at = at[step]
        elif kind == "missing" and i == len(loc) - 1:
            pass
        else:
            continue
        key = (*key, step)
    return key


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _place(path: Path, key: Key, lines: Lines) -> str:
    known = next(key[:end] for end in range(len(key), -1, -1) if key[:end] in lines or end == 0)
    line = f", line {lines[known]}" if known in lines else ""
    return f"{path}{line}: {_dotted(key)}" if key else f"{path}{line}"


def _dotted(key: Key) -> str:
    """`data.inline.model.probability, row 4`: rows of a list are counted from 1."""
    text = ""
    for step in key:
        if isinstance(step, int):
            text += f", row {step + 1}"
        else:
            text += f".{step}" if text else str(step)
    return text


def _fields_at(loc: Key) -> list[str]:
    """The keys that are valid at a place, found by walking the models' types."""
    kinds: list[Any] = [Experiment]
    for step in loc:
        inner = [t for kind in kinds for t in _step(kind, step)]
        kinds = inner or [k for k in kinds if _tag(k) == step]
    return sorted({name for kind in kinds for name in _model_fields(kind)})


def _step(kind: Any, step: str | int) -> list[Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(str(step))
        return _branches(field.annotation) if field else []
    if typing.get_origin(kind) in (dict, list):
        return _branches(typing.get_args(kind)[-1])
    return []


def _branches(annotation: Any) -> list[Any]:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _branches(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [b for arg in typing.get_args(annotation) for b in _branches(arg)]
    return [annotation]


def _tag(kind: Any) -> Any:
    fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
    source = fields.get("source")
    return typing.get_args(source.annotation)[0] if source else None


def _model_fields(kind: Any) -> list[str]:
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _distinct(messages: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(messages))
