"""A whole HTML document with its style sheet inside."""

from __future__ import annotations

from collections.abc import Sequence

from kalibre.pages import static
from kalibre.pages.markup import Markup, tag


def document(title: str, body: Sequence[Markup | None]) -> str:
    """The document of a page.

    Parameters
    ----------
    title : str
        Its title in the browser.
    body : sequence of Markup
        What it shows.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", title),
        # Without an icon of its own a browser asks the server for one.
        tag("link", rel="icon", href="data:,"),
        tag("style", Markup(static.style())),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', *body), lang='en')}\n"
