"""What does each preparation decision add? Before and after, printed and measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure, Section
from kalibre.pages.markup import Markup, join, table, tag
from kalibre.pages.material import Material, parsed
from kalibre.pages.words import signed

_CROSS = "M-1,-1L1,1M1,-1L-1,1"
_KINDS = ("measured", "printed")
CELLS = ("before", "after", "contribution")
RAISED, LOWERED, KEPT = "raised", "lowered", "unchanged"


def decisions_section(material: Material) -> Section | None:
    """The table of decisions, as a chart and in numbers."""
    records = material.of_rule("tabulate_comparisons")
    rows = list(_rows(material.table(records[0]))) if records else []
    if not rows:
        return None
    printed = any(row["before_printed"] is not None for row in rows)
    lead = (
        "Each line is one decision about rows and columns, measured before and after it is taken."
    )
    if printed:
        lead += " A cross is the figure that the lesson's page prints."
    if any(row["before_lowest"] is not None for row in rows):
        lead += " A grey bar is the range over many orders of the same rows."
    chart = [_figure(rows)] if len(rows) > 1 else []
    return Section(
        "decisions",
        "Decisions",
        "What does each decision add?",
        lead,
        [*chart, _table(rows, printed)],
    )


def _rows(table_rows: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    numbers = [f"{c}_{n}" for c in CELLS for n in ("printed", "measured", "difference")]
    numbers += [f"{c}_{end}" for c in CELLS[:2] for end in ("lowest", "highest")]
    for row in parsed(table_rows, numbers):
        moved = row["contribution_measured"]
        yield {**row, "way": RAISED if moved > 0 else LOWERED if moved < 0 else KEPT}


def _figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    return Figure(
        name="decisions",
        title="Accuracy before and after each decision",
        sentence=_sentence(rows),
        chart=_chart([dict(row) for row in rows]),
        height=32 * len(rows) + 10,
        layout="wide",
        still_width=640,
    )


def _sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = {way: sum(row["way"] == way for row in rows) for way in (RAISED, LOWERED, KEPT)}
    largest = max(rows, key=lambda row: abs(row["contribution_measured"]))
    said = (
        f"{counts[RAISED]} of {len(rows)} decisions raise the accuracy, {counts[LOWERED]} lower it"
    )
    if counts[KEPT]:
        said += f", {counts[KEPT]} leave it as it was"
    moved = signed(largest["contribution_measured"])
    return f"{said}; the largest step is “{largest['title']}” ({moved})."


def _chart(rows: list[dict[str, Any]]) -> Any:
    order = [row["title"] for row in rows]
    y = alt.Y("title:N", sort=order, title=None, axis=alt.Axis(labelLimit=170, grid=True))
    ways = [way for way in (RAISED, LOWERED, KEPT) if any(row["way"] == way for row in rows)]
    hues = {RAISED: theme.BLUE, LOWERED: theme.RED, KEPT: theme.GREY}
    scale = alt.Scale(domain=ways, range=[hues[way] for way in ways])
    colour = alt.Color("way:N", scale=scale)
    base = alt.Chart(theme.values(rows))
    shown = alt.Scale(domain=_domain(rows), nice=True, zero=False)
    title = "accuracy (hollow: before, filled: after)"
    before = alt.X("before_measured:Q", title=title, scale=shown, axis=alt.Axis(tickCount=7))
    tooltip = _tooltip()
    layers = [
        base.mark_rule(strokeWidth=2.5).encode(before, alt.X2("after_measured:Q"), y, colour),
        base.mark_point(filled=True, fill="white", size=110, strokeWidth=2, opacity=1).encode(
            before, y, alt.Stroke("way:N", scale=scale, legend=None), tooltip=tooltip
        ),
        base.mark_point(filled=True, size=125, opacity=1).encode(
            alt.X("after_measured:Q", scale=shown), y, colour, tooltip=tooltip
        ),
    ]
    return alt.layer(*_ranges(rows, y, shown), *layers, *_crosses(rows, y, shown))


def _domain(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """What is measured and printed; a range over orders of rows may reach beyond."""
    ends = [row[f"{cell}_{kind}"] for row in rows for cell in CELLS[:2] for kind in _KINDS]
    known = [end for end in ends if end is not None]
    pad = 0.03 * (max(known) - min(known)) or 0.01
    return [min(known) - pad, max(known) + pad]


def _ranges(rows: Sequence[Mapping[str, Any]], y: alt.Y, shown: alt.Scale) -> list[Any]:
    known = [row for row in rows if row["before_lowest"] is not None]
    if not known:
        return []
    bars = alt.Chart(theme.values(list(map(dict, known)))).mark_rule(
        color=theme.LIGHT, strokeWidth=7, clip=True
    )
    return [bars.encode(alt.X("before_lowest:Q", scale=shown), alt.X2("before_highest:Q"), y)]


def _crosses(rows: Sequence[Mapping[str, Any]], y: alt.Y, shown: alt.Scale) -> list[Any]:
    printed = [
        {"title": row["title"], "cell": cell, "printed": row[f"{cell}_printed"]}
        for row in rows
        for cell in CELLS[:2]
        if row[f"{cell}_printed"] is not None
    ]
    if not printed:
        return []
    marks = alt.Chart(theme.values(printed)).mark_point(
        shape=_CROSS, size=34, filled=False, strokeWidth=1.6, color=theme.INK, opacity=1
    )
    tooltip = [
        alt.Tooltip("title:N", title="decision"),
        alt.Tooltip("cell:N", title="side"),
        alt.Tooltip("printed:Q", title="printed", format=".4f"),
    ]
    return [marks.encode(alt.X("printed:Q", scale=shown), y, tooltip=tooltip)]


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("title:N", title="decision"),
        alt.Tooltip("before_label:N", title="before"),
        alt.Tooltip("before_measured:Q", title="accuracy before", format=".4f"),
        alt.Tooltip("after_label:N", title="after"),
        alt.Tooltip("after_measured:Q", title="accuracy after", format=".4f"),
        alt.Tooltip("contribution_measured:Q", title="contribution", format="+.4f"),
    ]


def _table(rows: Sequence[Mapping[str, Any]], printed: bool) -> Markup:
    header = {"title": "decision"}
    for cell in CELLS:
        header[cell] = cell
        if printed:
            header[f"{cell}_page"] = "printed"
    shown = [
        {
            "title": row["title"],
            **{cell: _measured(row, cell) for cell in CELLS},
            **{f"{cell}_page": _printed(row, cell) for cell in CELLS},
        }
        for row in rows
    ]
    caption = "Accuracy, measured here" + (" and printed on the lesson's page" if printed else "")
    return table(shown, header, caption=caption)


def _measured(row: Mapping[str, Any], cell: str) -> Markup:
    value = row[f"{cell}_measured"]
    text = signed(value) if cell == "contribution" else f"{value:.4f}"
    low, high = row.get(f"{cell}_lowest"), row.get(f"{cell}_highest")
    extra = f" ({low:.4f} to {high:.4f})" if low is not None and high is not None else ""
    label = row.get(f"{cell}_label") or ""
    return join(
        [text + extra, tag("br"), tag("span", label, class_="empty")] if label else [text + extra]
    )


def _printed(row: Mapping[str, Any], cell: str) -> Markup | None:
    value, state = row[f"{cell}_printed"], row[f"{cell}_status"]
    if value is None:
        return None
    text = signed(value) if cell == "contribution" else f"{value:.4f}"
    return join([text, " ", tag("span", state, class_=f"state {state}")])
