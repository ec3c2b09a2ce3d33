"""The way to all pages: each experiment's question and headline number, and the ledger's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kalibre.pages.document import document
from kalibre.pages.markup import Markup, join, table, tag

STATES = ("match", "differs", "open", "absent")
VERDICTS = ("holds", "fails", "open", "absent")


def index(
    records: Sequence[Mapping[str, Any]],
    figures: Sequence[Mapping[str, str]],
    claims: Sequence[Mapping[str, str]],
) -> str:
    """Write the index.

    Parameters
    ----------
    records : sequence of mapping
        The record of each experiment's page.
    figures, claims : sequence of mapping
        Rows of `published.csv` and `claims.csv`.
    """
    shown = list(_ledger(figures, claims))
    body = [
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag(
            "header",
            tag(
                "div",
                tag("p", "kalibre", class_="crumb"),
                tag("h1", "Are the probabilities true, and was the score earned?"),
                tag(
                    "p",
                    "Every experiment's page, with the question it answers and the number to look at first.",
                    class_="question",
                ),
                _tiles(records, figures, claims),
                class_="wrap",
            ),
            class_="top",
        ),
        tag(
            "main",
            tag(
                "section",
                tag("div", tag("ul", *map(_card, records), class_="cards"), class_="wrap"),
                class_="part",
                aria_label="Experiments",
            ),
            *shown,
            id="content",
        ),
    ]
    return document("kalibre: all experiments", body)


def _tiles(
    records: Sequence[Mapping[str, Any]],
    figures: Sequence[Mapping[str, str]],
    claims: Sequence[Mapping[str, str]],
) -> Markup:
    shown = [(str(len(records)), "experiments")]
    due = [row["status"] for row in figures if row["status"] in ("match", "differs")]
    if due:
        label = "figures of the lessons' pages, to the printed digit"
        if still := sum(row["status"] == "open" for row in figures):
            label += f"; {still} more are open"
        shown.append((f"{due.count('match')} of {len(due)}", label))
    told = [row["status"] for row in claims if row["status"] in ("holds", "fails")]
    if told:
        label = "of the pages' claims in words hold"
        if still := sum(row["status"] == "open" for row in claims):
            label += f"; {still} more are open"
        shown.append((f"{told.count('holds')} of {len(told)}", label))
    items = [
        tag("li", tag("span", value, class_="value"), tag("span", label, class_="label"))
        for value, label in shown
    ]
    return tag("ul", *items, class_="tiles")


def _card(record: Mapping[str, Any]) -> Markup:
    name, params = record["experiment"], record["params"]
    picture = params["picture"]
    image = (
        # Beside the index lies the picture; the page says in words what it shows.
        tag("img", src=f"{name}/report_page/figures/{picture}.svg", alt="", loading="lazy")
        if picture
        else None
    )
    return tag(
        "li",
        tag("p", tag("span", name), class_="name"),
        tag("h2", tag("a", params["title"], href=f"{name}/report.html")),
        tag("p", params["question"], class_="question") if params["question"] else None,
        image,
        tag(
            "div",
            tag("span", params["headline/value"], class_="value"),
            tag("span", params["headline/label"], class_="label"),
            class_="headline",
        )
        if params.get("headline/value")
        else None,
        class_="card",
    )


def _ledger(
    figures: Sequence[Mapping[str, str]], claims: Sequence[Mapping[str, str]]
) -> Iterator[Markup]:
    """The state of the ledger, where there is a lesson to compare."""
    rows = [
        {"lesson": lesson, **counts}
        for lesson in dict.fromkeys(row["lesson"] for row in figures)
        if (counts := _counts(figures, lesson, STATES))["absent"] == 0
    ]
    if not rows:
        return
    differing = [row for row in figures if row["status"] == "differs"]
    differing += [row for row in claims if row["status"] == "fails"]
    verdict = (
        tag("span", f"{len(differing)} differ", class_="state differs")
        if differing
        else tag("span", "nothing differs", class_="state match")
    )
    held = sum(claim["status"] == "holds" for claim in claims)
    header = {"lesson": "lesson", "match": "match", "differs": "differ", "open": "open"}
    yield tag(
        "section",
        tag(
            "div",
            tag("h2", "The ledger"),
            tag(
                "p",
                join(
                    [
                        "Every figure that the lessons' pages print, beside what the engine measures: ",
                        verdict,
                        f". Of what the pages say in words, {held} claims hold. ",
                        "“Open” is a figure whose making its page does not publish.",
                    ]
                ),
                class_="lead",
            ),
            table(rows, header, caption="Printed figures by lesson"),
            *_differing(differing),
            class_="wrap",
        ),
        class_="part",
        id="ledger",
    )


def _counts(
    rows: Sequence[Mapping[str, str]], lesson: str, states: Sequence[str]
) -> dict[str, int]:
    own = [row["status"] for row in rows if row["lesson"] == lesson]
    return {state: own.count(state) for state in states}


def _differing(rows: Sequence[Mapping[str, str]]) -> Iterator[Markup]:
    if rows:
        shown = [
            {
                "id": row["id"],
                "printed": row.get("printed") or f"{row['relation']} {row['bound']}",
                "measured": row["measured"] or None,
            }
            for row in rows
        ]
        header = {"id": "figure", "printed": "printed", "measured": "measured"}
        yield table(shown, header, caption="What differs")
