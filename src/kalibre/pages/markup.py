"""HTML from Python, escaped where it is made: a title with a `<` in it is text, never a tag."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kalibre.pages.words import cell


class Markup(str):
    """A piece of HTML, as opposed to text that has yet to be escaped."""

    __slots__ = ()


Child = str | None
_VOID = frozenset({"img", "br", "meta", "link"})


def join(children: Iterable[Child]) -> Markup:
    """Children one after the other: markup as it is, text escaped, None left out."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else html.escape(child, quote=False)
            for child in children
            if child is not None
        )
    )


def tag(name: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element.

    Parameters
    ----------
    name : str
        Its name.
    children : str or None
        Text, markup, or nothing.
    attributes : str, int, bool or None
        `class_` is `class`, `data_chart` is `data-chart`; True is an attribute without a value, None
        and False are none.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        parts.append(label if value is True else f'{label}="{html.escape(str(value))}"')
    opened = f"<{' '.join(parts)}>"
    return Markup(opened if name in _VOID else f"{opened}{join(children)}</{name}>")


def data(value: Any) -> Markup:
    """Plain built-ins as JSON inside a script element that runs nothing."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(f'<script type="application/json">{_inert(text)}</script>')


def script(code: str) -> Markup:
    """JavaScript, run where it stands."""
    inert = code.replace("</script", "<\\/script")
    return Markup(f"<script>{inert}</script>")


def _inert(text: str) -> str:
    """JSON in which nothing can end the script element or open a comment."""
    return text.replace("<", "\\u003c")


def table(
    rows: Sequence[Mapping[str, Any]],
    header: Mapping[str, str],
    *,
    caption: str = "",
    label: str = "",
    wide: Iterable[str] = (),
) -> Markup:
    """Rows as a table that scrolls by itself where the page is narrow.

    Parameters
    ----------
    rows : sequence of mapping
        A cell is text, a number, markup or None.
    header : mapping
        Column to its heading; the first column names the rows.
    caption : str
        What the table holds.
    label : str
        The same for those who cannot see it, where a heading above says it already.
    wide : iterable of str
        Columns of running text, which may break into lines.
    """
    numeric = {name for name in header if _is_numeric(row.get(name) for row in rows)}
    head = [
        tag("th", label, scope="col", class_="number" if name in numeric else None)
        for name, label in header.items()
    ]
    body = [tag("tr", *_cells(row, list(header), numeric, set(wide))) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else None,
            tag("thead", tag("tr", *head)),
            tag("tbody", *body),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption or label or "Table",
    )


def _cells(
    row: Mapping[str, Any], names: Sequence[str], numeric: set[str], wide: set[str]
) -> Iterable[Markup]:
    for i, name in enumerate(names):
        value = row.get(name)
        shown = value if isinstance(value, Markup) else cell(value)
        kind = "number" if name in numeric else "text" if name in wide else None
        yield (
            tag("th", shown, scope="row", class_=kind)
            if i == 0
            else tag("td", shown, class_="number empty" if value is None and kind else kind)
        )


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, (int, float)) for value in known)


def details(summary: str, *children: Child) -> Markup:
    """Children that show when they are asked for."""
    return tag("details", tag("summary", summary), *children)
