"""Pieces of YAML with remarks in them, which no library writes.

Names of columns and labels come from people's files and may hold anything: quotation marks, commas, line
ends, pictures. A text that is not plainly a word is written as JSON, which YAML reads as it is.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kalibre.cli.glance import Suspicion

WIDTH = 100

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*")
_OTHER_THINGS = {"true", "false", "null", "yes", "no", "y", "n", "on", "off", "inf", "nan"}


def scalar(value: Any) -> str:
    """A text, whole number or boolean as YAML."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHER_THINGS:
        return value
    written = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in written)


def flow(value: Any) -> str:
    """A value on one line: mappings in braces, lists in brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def entry(key: str, value: Any, *, indent: int = 2, remark: str = "") -> list[str]:
    """`key: value`, a long list on several lines, with a remark behind it or, if it is long, above it."""
    before = " " * indent
    line = f"{before}{key}: {flow(value)}"
    if isinstance(value, list) and len(line) > WIDTH:
        lines = [f"{before}{key}:", *(f"{before}  - {flow(item)}" for item in value)]
        return [*remarks([remark], indent=indent), *lines]
    if remark and len(line) + len(remark) + 4 > WIDTH:
        return [*remarks([remark], indent=indent), line]
    return [f"{line}    # {shown(remark)}" if remark else line]


def remarks(sentences: Iterable[str], *, indent: int = 0, hang: int = 0) -> list[str]:
    """Lines of remarks; all but a sentence's first line are set in by `hang`."""
    start = " " * indent + "# "
    return [
        line
        for sentence in sentences
        if sentence
        for line in textwrap.wrap(
            shown(sentence),
            WIDTH,
            initial_indent=start,
            subsequent_indent=start + " " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def suspicion_lines(found: Sequence[Suspicion]) -> list[str]:
    """Remarks on what to look at."""
    if not found:
        return []
    said = [
        f"- {one.column}: {one.sentence}" if one.column else f"- {one.sentence}" for one in found
    ]
    return [*remarks(["Look at these before you believe a score:"]), *remarks(said, hang=2)]


def as_label(label: str) -> Any:
    """A label of digits is written as a number."""
    return int(label) if label.isdecimal() and str(int(label)) == label else label


def listed(names: Sequence[str], most: int = 30) -> str:
    """Names one after the other, the first ones of very many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def shown(text: str) -> str:
    """A text on one line of a remark: a line end in it would end the remark."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
