"""How much of an ECE is the choice of its bins? The same predictions under several bin rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure, Section
from kalibre.pages.material import Evaluated, Material
from kalibre.pages.words import NONE, plain, variant

READING = "class_1"
MOST = 8
SEEN = 0.0005


def spread_section(material: Material) -> Section | None:
    """One chart a model and calibrator, where the spread was measured."""
    part = material.part
    figures = [
        _figure(evaluated, rows)
        for evaluated in material.evaluated
        if evaluated.calibrator == NONE and _differs(rows := list(_rows(evaluated, part)))
    ][:MOST]
    if not figures:
        return None
    lead = (
        "An ECE without its bins is not a number. Here the same predictions stand under several numbers of "
        "bins, of equal width and of equal mass. The more bins, the more of an ECE is chance: a perfect "
        "model's rises with them too, which the file spread.csv has beside each."
    )
    return Section("spread", "Bins", "How much is the choice of bins?", lead, figures)


def _rows(evaluated: Evaluated, part: str) -> Iterator[dict[str, Any]]:
    prefix = f"{part}/spread/{READING}/"
    for name, value in evaluated.metrics.items():
        if name.startswith(prefix) and name.endswith("/ece"):
            rule, _, count = name.removeprefix(prefix).removesuffix("/ece").rpartition("_")
            yield {"rule": plain(rule), "count": int(count), "ece": value}


def _differs(rows: list[dict[str, Any]]) -> bool:
    """Whether the bins make a difference that can be seen."""
    return len(rows) > 1 and max(r["ece"] for r in rows) - min(r["ece"] for r in rows) > SEEN


def _figure(evaluated: Evaluated, rows: list[dict[str, Any]]) -> Figure:
    rows.sort(key=lambda row: (row["rule"], row["count"]))
    name = variant(evaluated.model, evaluated.calibrator)
    low, high = min(row["ece"] for row in rows), max(row["ece"] for row in rows)
    return Figure(
        name=f"spread_{evaluated.model}_{evaluated.calibrator}",
        title=name[0].upper() + name[1:],
        sentence=f"The same predictions have an ECE from {low:.3f} to {high:.3f}, by the bins alone.",
        chart=_chart(rows),
        height=220,
        rows=rows,
        header={"rule": "bins", "count": "number", "ece": "ECE"},
    )


def _chart(rows: list[dict[str, Any]]) -> Any:
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    return alt.Chart(theme.values(rows)).mark_line(strokeWidth=2, point=False).encode(
        alt.X("count:Q", title="number of bins", axis=alt.Axis(format="d", tickCount=5)),
        alt.Y("ece:Q", title="ECE", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
        alt.Color("rule:N", scale=theme.colours(rules)),
    ) + alt.Chart(theme.values(rows)).mark_point(filled=True, size=90, opacity=1).encode(
        alt.X("count:Q"),
        alt.Y("ece:Q"),
        alt.Color("rule:N", scale=theme.colours(rules)),
        alt.Shape("rule:N", scale=theme.shapes(rules)),
        tooltip=[
            alt.Tooltip("rule:N", title="bins"),
            alt.Tooltip("count:Q", title="number"),
            alt.Tooltip("ece:Q", title="ECE", format=".4f"),
        ],
    )
