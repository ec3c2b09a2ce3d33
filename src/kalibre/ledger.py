"""The ledger: every figure a lesson's page prints, and where the engine's measurement of it is found.

The ledger's column `metric` is an expression over metric paths, settings and numbers. It is parsed, never
evaluated as code:

    expression := term (("+" | "-") term)*
    term       := factor (("*" | "/") factor)*
    factor     := number | path | ("abs" | "max" | "min") "(" expression ("," expression)* ")"
                | "(" expression ")" | "-" factor

A path has slashes and no spaces, so a division has a space on each side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kalibre.errors import InputError, suggestion

Values = Mapping[str, float | int | None]
Place = Callable[..., Any]

FIGURE_COLUMNS = ("id", "printed", "measured")
PUBLISHED_COLUMNS = (
    "id",
    "lesson",
    "what",
    "expectation",
    "printed",
    "measured",
    "difference",
    "status",
    "metric",
    "note",
)
CLAIM_COLUMNS = ("id", "lesson", "what", "relation", "bound", "measured", "status")
FUNCTIONS: dict[str, Callable[..., float]] = {"abs": abs, "max": max, "min": min}
ABOUT = 0.25
"""How far, as a share of the bound, "about" reaches: a page's "twice" covers 1.5 to 2.5."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s),]|$)"
    r"|(?P<path>[A-Za-z_][\w.@:-]*(?:/[\w.@:-]+)+)"
    r"|(?P<function>[a-z]+)(?=\()"
    r"|(?P<sign>[-+*/(),]))"
)


class LedgerError(InputError, ValueError):
    """An expression of the ledger that cannot be read."""


def measure(expression: str, values: Values) -> float | None:
    """The value of an expression; None where a path has no value.

    Parameters
    ----------
    expression : str
        Cell of the column `metric`.
    values : mapping
        Metric paths and settings to numbers; a missing or null one makes the expression None.

    Raises
    ------
    LedgerError
        If the expression is not one.
    """
    parser = _Parser(_tokens(expression), values)
    value = parser.expression()
    parser.end()
    return None if value is None or not math.isfinite(value) else value


def paths(expression: str) -> list[str]:
    """The paths an expression names."""
    return [text for kind, text in _tokens(expression) if kind == "path"]


def agrees(printed: str, measured: float, decimals: int) -> bool:
    """Whether a measured value, printed with as many decimals, is the printed text."""
    return _printed(measured, decimals) == _printed(float(printed), decimals)


def figures(
    ledger: Sequence[Mapping[str, str]], lesson: str, values: Values
) -> list[dict[str, Any]]:
    """Each figure of a lesson with what an experiment measures instead: `id`, `printed`, `measured`.

    Raises
    ------
    InputError
        If the ledger has no such lesson.
    """
    lessons = {row["lesson"] for row in ledger}
    if lesson not in lessons:
        raise InputError(
            f"lesson: found {lesson!r}, of which config/published.csv has no figure; "
            f"{suggestion(lesson, lessons)}"
        )
    return [
        {"id": row["id"], "printed": row["printed"], "measured": _measured(row, values)}
        for row in ledger
        if row["lesson"] == lesson
    ]


def compare(
    ledger: Sequence[Mapping[str, str]],
    lessons: Mapping[str, Values],
    places: Mapping[str, Place] | None = None,
) -> list[dict[str, Any]]:
    """The whole ledger beside the lessons' measurements.

    Parameters
    ----------
    ledger : sequence of mapping
        Rows of `config/published.csv`.
    lessons : mapping
        Lesson to its experiment's values; a lesson without an experiment is left out.

    places : mapping, optional
        Lesson to what places a printed figure among many splits, for its open figures.

    Returns
    -------
    list of dict
        Rows of `results/published.csv`. `status` is `match`, `differs`, `open` (the page does not publish
        what it did) or `absent` (no experiment).
    """
    rows = []
    for figure in ledger:
        values = lessons.get(figure["lesson"])
        measured = None if values is None else _measured(figure, values)
        row: dict[str, Any] = {name: figure.get(name, "") for name in PUBLISHED_COLUMNS}
        row["measured"] = measured
        row["difference"] = None if measured is None else measured - float(figure["printed"])
        row["status"] = "absent" if values is None else _status(figure, measured)
        if row["status"] == "open" and figure["lesson"] in (places or {}):
            row["note"] = _placed(figure, (places or {})[figure["lesson"]])
        rows.append(row)
    return rows


def check_claims(
    claims: Sequence[Mapping[str, str]], lessons: Mapping[str, Values]
) -> list[dict[str, Any]]:
    """The worded claims beside their measurements: `holds`, `fails`, `open` or `absent`."""
    rows = []
    for claim in claims:
        values = lessons.get(claim["lesson"])
        measured = None if values is None else _measured(claim, values)
        if values is None:
            status = "absent"
        elif claim["expectation"] == "open":
            status = "open"
        else:
            held = measured is not None and _holds(claim["relation"], measured, claim["bound"])
            status = "holds" if held else "fails"
        row = {name: claim.get(name, "") for name in CLAIM_COLUMNS}
        rows.append({**row, "measured": measured, "status": status})
    return rows


def _measured(row: Mapping[str, str], values: Values) -> float | None:
    try:
        return measure(row["metric"], values) if row.get("metric") else None
    except LedgerError as error:
        raise LedgerError(f"ledger, {row['id']}: metric {row['metric']!r}: {error}") from error


def _status(figure: Mapping[str, str], measured: float | None) -> str:
    if figure["expectation"] == "open":
        return "open"
    same = measured is not None and agrees(figure["printed"], measured, int(figure["decimals"]))
    return "match" if same else "differs"


def _placed(figure: Mapping[str, str], place: Place) -> str:
    """The figure's note, with its percentile among many splits where it has one."""
    found = place(
        lambda values: measure(figure["metric"], values),
        float(figure["printed"]),
        decimals=int(figure["decimals"]),
    )
    return figure["note"] if found is None else f"{figure['note'].rstrip('. ')}; {found.note}."


def _printed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def _holds(relation: str, measured: float, bound: str) -> bool:
    limit = float(bound)
    if relation == "rounds":
        return agrees(bound, measured, len(bound.partition(".")[2]))
    if relation == "about":
        return abs(measured - limit) <= ABOUT * abs(limit)
    return {">": measured > limit, "<": measured < limit, "=": measured == limit}[relation]


def _tokens(expression: str) -> list[tuple[str, str]]:
    tokens = []
    position = 0
    text = expression.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise LedgerError(f"cannot be read from {text[position:]!r} on")
        assert match.lastgroup is not None
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens; a path without a value makes everything above it None."""

    def __init__(self, tokens: list[tuple[str, str]], values: Values) -> None:
        self._tokens = tokens
        self._values = values
        self._at = 0

    def expression(self) -> float | None:
        value = self._term()
        while (sign := self._take("+", "-")) is not None:
            right = self._term()
            value = _apply(lambda a, b: a + b if sign == "+" else a - b, value, right)
        return value

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise LedgerError(f"unexpected {self._tokens[self._at][1]!r}")

    def _term(self) -> float | None:
        value = self._factor()
        while (sign := self._take("*", "/")) is not None:
            right = self._factor()
            if sign == "*":
                value = _apply(lambda a, b: a * b, value, right)
            else:
                value = _apply(lambda a, b: a / b if b else math.nan, value, right)
        return value

    def _factor(self) -> float | None:
        if self._at == len(self._tokens):
            raise LedgerError("the expression ends too early")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return float(text)
        if kind == "path":
            value = self._values.get(text)
            return None if value is None else float(value)
        if kind == "function" and text in FUNCTIONS:
            self._expect("(")
            arguments = self._arguments()
            if (len(arguments) == 1) != (text == "abs"):
                raise LedgerError("abs takes one argument, max and min take two or more")
            return _apply(FUNCTIONS[text], *arguments)
        if text == "(":
            value = self.expression()
            self._expect(")")
            return value
        if text == "-":
            return _apply(lambda a: -a, self._factor())
        raise LedgerError(f"unexpected {text!r}")

    def _arguments(self) -> list[float | None]:
        arguments = [self.expression()]
        while self._take(",") is not None:
            arguments.append(self.expression())
        self._expect(")")
        return arguments

    def _take(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at] in [("sign", s) for s in signs]:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise LedgerError(f"{sign!r} is missing")


def _apply(function: Callable[..., float], *arguments: float | None) -> float | None:
    return None if any(a is None for a in arguments) else function(*arguments)


def values(
    metrics: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, float | int | None]:
    """What an expression may name: the metrics, and the settings under `settings/`."""
    numbers = {f"settings/{k}": v for k, v in settings.items() if isinstance(v, (int, float))}
    return {**numbers, **metrics}


def published_text(
    figures: Sequence[Mapping[str, str]], claims: Sequence[Mapping[str, str]]
) -> tuple[str, int]:
    """The comparison as people read it, and how many figures and claims differ.

    Parameters
    ----------
    figures : sequence of mapping
        Rows of `results/published.csv`.
    claims : sequence of mapping
        Rows of `results/claims.csv`.
    """
    states = ("match", "differs", "open", "absent")
    lines = [f"{'lesson':<14}" + "".join(f"{state:>9}" for state in states)]
    for lesson in dict.fromkeys(row["lesson"] for row in figures):
        counts = [sum(r["lesson"] == lesson and r["status"] == s for r in figures) for s in states]
        lines.append(f"{lesson:<14}" + "".join(f"{count:>9}" for count in counts))
    verdicts = ("holds", "fails", "open", "absent")
    counted = [f"{sum(c['status'] == v for c in claims)} {v}" for v in verdicts]
    lines.append("claims in words: " + ", ".join(counted))
    wrong = [r for r in figures if r["status"] == "differs"]
    wrong += [c for c in claims if c["status"] == "fails"]
    for row in wrong:
        expected = row.get("printed") or f"{row['relation']} {row['bound']}"
        lines.append(f"{row['id']}: published {expected}, measured {row['measured'] or 'nothing'}")
    return "\n".join(lines), len(wrong)
