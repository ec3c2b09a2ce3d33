"""An experiment's report: one file that opens offline, anywhere, and needs nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kalibre.columns import Columns
from kalibre.pages import labs, static
from kalibre.pages.calibrators import learned_on_section, scores_section
from kalibre.pages.decisions import decisions_section
from kalibre.pages.document import document
from kalibre.pages.figure import Section
from kalibre.pages.headlines import Headline, headlines
from kalibre.pages.ladder import ladder_section
from kalibre.pages.markup import Markup, details, join, script, table, tag
from kalibre.pages.material import Material
from kalibre.pages.reliability import reliability_section
from kalibre.pages.spread import spread_section
from kalibre.pages.study import study_section
from kalibre.pages.words import plain
from kalibre.records import flatten

GLOSSARY = (
    (
        "reliability table",
        (("güvenilirlik", "tr"), ("kalibratietabel", "nl"), ("diagram niezawodności", "pl")),
    ),
    (
        "ECE, expected calibration error",
        (("kalibrasyon hatası", "tr"), ("verwachte kalibratiefout", "nl")),
    ),
    ("sharpening", (("keskinleştirme", "tr"),)),
    ("logistic calibration (Platt)", (("düzeltme eşlemesi", "tr"),)),
    ("temperature", (("temperatura", "pl"),)),
    ("inside / outside the folds", (("kat içinde / kat dışında", "tr"),)),
    ("true number", (("gerçek sayı", "tr"),)),
)
"""Our terms, and the lessons' own words for them with their language."""


@dataclass(frozen=True)
class Report:
    """A page and what goes with it.

    Attributes
    ----------
    html : str
        The page.
    stills : mapping
        Name of a figure to its picture as SVG, in the page's order.
    title, question : str
        What the index says of it.
    headline : Headline or None
        The number for the index.
    picture : str
        Name of the figure for the index, empty without figures.
    """

    html: str
    stills: Mapping[str, str]
    title: str
    question: str
    headline: Headline | None
    picture: str

    def params(self) -> dict[str, Any]:
        """What the index shows, for the record."""
        shown: dict[str, Any] = {
            "title": self.title,
            "question": self.question,
            "picture": self.picture,
        }
        if self.headline:
            shown["headline"] = {"value": self.headline.value, "label": self.headline.label}
        return shown


def report(
    material: Material,
    *,
    lab_models: Sequence[Mapping[str, Any]] = (),
    lab_scores: Sequence[Columns] = (),
    chart_library: str,
) -> Report:
    """Write an experiment's page.

    Parameters
    ----------
    material : Material
        What it shows.
    lab_models : sequence of mapping
        The models a lab opens: `kind`, `model`, `calibrator`, `learned_on`.
    lab_scores : sequence of Columns
        The scores of each.
    chart_library : str
        Vega, Vega-Lite and Vega-Embed as one script.
    """
    shown = list(sections(material, lab_models, lab_scores))
    stills = {figure.name: figure.still() for section in shown for figure in section.figures()}
    first = headlines(material)
    body = [
        tag("a", "Skip to the content", href="#content", class_="skip"),
        _head(material, first),
        _contents(shown),
        tag("main", *(section.markup(stills) for section in shown), id="content"),
        _foot(),
        script(static.code()),
        *([script(chart_library), script(static.charts())] if stills else []),
    ]
    html = document(f"{material.title} · {material.experiment} · kalibre", body)
    return Report(
        html=html,
        stills=stills,
        title=material.title,
        question=material.question,
        headline=first[0] if first else None,
        picture=_picture(material, stills),
    )


def _picture(material: Material, stills: Mapping[str, str]) -> str:
    """The figure for the index: the page's first, of reliability diagrams the one with most to see."""
    first = next(iter(stills), "")
    if not first.startswith("reliability_"):
        return first
    ece = f"{material.bin_rule}/ece"
    worst = max(material.evaluated, key=lambda e: e.metric(material.part, ece) or 0.0)
    return f"reliability_{worst.model}_{worst.calibrator}"


def sections(
    material: Material,
    lab_models: Sequence[Mapping[str, Any]],
    lab_scores: Sequence[Columns],
) -> Iterator[Section]:
    """The page's sections in their order; a stage that is not there has none.

    Parameters
    ----------
    material, lab_models, lab_scores
        As in `report`.
    """
    labelled = list(zip(lab_models, lab_scores, strict=True))
    given = [(lab["model"], scores) for lab, scores in labelled if lab["kind"] == "answers"]
    tempered = [(lab, scores) for lab, scores in labelled if lab["kind"] == "temperature"]
    tried = (
        labs.answers_section(material, given),
        labs.temperature_section(
            material, [lab for lab, _ in tempered], [scores for _, scores in tempered]
        ),
    )
    measured = (
        ladder_section(material),
        decisions_section(material),
        study_section(material),
    )
    read = (
        reliability_section(material),
        scores_section(material),
        learned_on_section(material),
        spread_section(material),
    )
    # A lesson begins with what can be tried; who audits a model of his own wants the answer first.
    lesson = bool(material.settings.get("lesson"))
    for section in (
        *((*tried, *measured, *read) if lesson else (*read, *measured)),
        _leak_sheet_section(material),
        _gate_section(material),
        _printed_section(material),
        *(() if lesson else tried),
        _notes_section(material),
        _settings_section(material),
    ):
        if section is not None:
            yield section


# Head and foot -----------------------------------------------------------------------------------------


def _head(material: Material, first: Sequence[Headline]) -> Markup:
    tiles = [
        tag("li", tag("span", h.value, class_="value"), tag("span", h.label, class_="label"))
        for h in first
    ]
    back = tag("a", "All experiments", href="../index.html", data_beside=True)
    return tag(
        "header",
        tag(
            "div",
            tag("p", back, f" / {material.experiment}", class_="crumb"),
            tag("h1", material.title),
            tag("p", material.question, class_="question") if material.question else None,
            tag("ul", *tiles, class_="tiles") if tiles else None,
            class_="wrap",
        ),
        class_="top",
    )


def _contents(sections: Sequence[Section]) -> Markup:
    links = [tag("li", tag("a", s.short, href=f"#{s.anchor}")) for s in sections]
    return tag(
        "nav",
        tag("div", tag("ul", *links), class_="wrap"),
        class_="contents",
        aria_label="On this page",
    )


def _foot() -> Markup:
    return tag(
        "footer",
        tag(
            "div",
            tag("p", "The lessons' own words for what is shown here:"),
            tag("dl", *(piece for term, words in GLOSSARY for piece in _term(term, words))),
            tag(
                "p",
                "Bins are closed on the left, the last one on both sides. This page measures nothing itself: "
                "every number stands in metrics.json and in the record of the rule that measured it. It was "
                "written by kalibre and needs nothing beside it.",
            ),
            class_="wrap",
        ),
    )


def _term(term: str, words: Sequence[tuple[str, str]]) -> Iterator[Markup]:
    yield tag("dt", term)
    pieces: list[str] = []
    for word, language in words:
        pieces += (
            [", ", tag("span", word, lang=language)]
            if pieces
            else [tag("span", word, lang=language)]
        )
    yield tag("dd", *pieces)


# Sections that are tables alone ------------------------------------------------------------------------


def _leak_sheet_section(material: Material) -> Section | None:
    records = material.of_rule("fill_leak_sheet")
    rows = [
        {
            "name": f"{row['type']} {row['name']}",
            "status": row["status"],
            "finding": row["finding"] or row["declared"],
        }
        for record in records
        for row in material.table(record)
    ]
    if not rows:
        return None
    tested = sum(row["status"] == "tested" for row in rows)
    lead = (
        f"The eight types of leakage that Kapoor and Narayanan (2023) found behind results that could not be "
        f"repeated; {tested} of them are tested here. A clean test says that this leak was not found."
    )
    header = {"name": "type", "status": "status", "finding": "finding"}
    shown = table(rows, header, caption="Model info sheet on leakage", wide=("name", "finding"))
    return Section("leak_sheet", "Leaks", "Which leaks were looked for?", lead, [shown])


def _gate_section(material: Material) -> Section | None:
    if not material.gate:
        return None
    rows = [
        {
            "limit": plain(check["limit"]),
            "where": check["where"],
            "measured": check["measured"],
            "bound": float(check["bound"]),
            "state": _state(
                "holds" if check["passed"] else "fails", "kept" if check["passed"] else "not kept"
            ),
            "reason": check["reason"],
        }
        for check in material.gate["checks"]
    ]
    header = {
        "limit": "limit",
        "where": "metric",
        "measured": "measured",
        "bound": "bound",
        "state": "state",
        "reason": "to know",
    }
    lead = "All limits are kept." if material.gate["passed"] else "Some limits are not kept."
    shown = table(rows, header, caption="Limits of the gate", wide=("reason",))
    return Section("gate", "Gate", "Are the limits kept?", lead, [shown])


def _printed_section(material: Material) -> Section | None:
    """A lesson's printed figures; a copy with other settings has no state, it is meant to differ."""
    if not material.figures:
        return None
    own = material.settings.get("lesson") == material.experiment
    rows = [
        {
            "what": figure["what"],
            "printed": figure["printed"],
            "measured": figure["measured"],
            "state": _state(figure["status"], figure["status"]),
        }
        for figure in material.figures
    ]
    header = {"what": "figure", "printed": "printed", "measured": "measured"}
    lead = "Every figure that the lesson's page prints, beside what is measured here."
    if own:
        header["state"] = "state"
        lead += " “Open” is a figure whose making the page does not publish."
    else:
        lead += " This experiment is a copy of the lesson with settings of its own: it may differ."
    shown = table(rows, header, caption="Printed and measured", wide=("what",))
    return Section(
        "printed", "Printed", "Printed and measured", lead, [details(f"{len(rows)} figures", shown)]
    )


def _state(state: str, word: str) -> Markup:
    return tag("span", word, class_=f"state {state}")


def _notes_section(material: Material) -> Section | None:
    """What the stages had to say, each sentence once with who said it first."""
    said: dict[str, list[str]] = {}
    for record in material.records:
        who = " ".join([record["rule"], *record["subject"].values()])
        for note in record["notes"]:
            said.setdefault(note, []).append(who)
    if not said:
        return None
    items = [
        tag("li", f"{note} ({who[0]}{f' and {len(who) - 1} more' if len(who) > 1 else ''})")
        for note, who in said.items()
    ]
    return Section("notes", "To know", "To know", "", [tag("ul", *items, class_="notes")])


def _settings_section(material: Material) -> Section:
    flat = {k: v for k, v in flatten(material.settings).items() if v not in (None, "")}
    rows = [
        {"key": key, "value": _short(str(value))}
        for key, value in flat.items()
        if not key.startswith("data/inline/")
    ]
    shown = table(rows, {"key": "setting", "value": "value"}, caption="Settings", wide=("value",))
    return Section(
        "settings",
        "Settings",
        "How it was made",
        "The experiment's settings, defaults included.",
        [join([details(f"{len(rows)} settings", shown)])],
    )


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + " …"
