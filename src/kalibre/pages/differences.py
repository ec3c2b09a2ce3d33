"""Is a map better on the very same rows? Paired differences, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure
from kalibre.pages.markup import Markup, details, table
from kalibre.pages.material import Material, parsed
from kalibre.pages.words import METRICS, NONE, counted, plain, signed, variant

DRAWN = ("brier", "log_loss")
MOST = 30
BETTER, WORSE, UNTOLD = "lower", "higher", "not told apart"

_HUES = {BETTER: theme.BLUE, WORSE: theme.RED, UNTOLD: theme.GREY}
_MARKS = {BETTER: "circle", WORSE: "triangle-up", UNTOLD: "diamond"}


def difference_figures(material: Material) -> Iterator[Figure]:
    """What each map adds to its model's own score; both scores are better the lower they are."""
    for metric in DRAWN:
        rows = [
            row
            for row in _rows(material)
            if row["metric"] == metric and row["mapped"] and row["difference"] is not None
        ][:MOST]
        if rows:
            yield _figure(metric, rows)


def difference_table(material: Material) -> Markup | None:
    """Every pair of models and maps, measured on the same rows."""
    rows = [
        {**row, "metric": METRICS.get(row["metric"], plain(row["metric"]))}
        for row in _rows(material)
        if row["difference"] is not None
    ]
    if not rows:
        return None
    header = {
        "second_name": "this",
        "first_name": "minus this",
        "metric": "score",
        "difference": "difference",
        "lower": "interval from",
        "upper": "to",
    }
    title = "Differences on the same rows"
    return details(title, table(rows, header, label=title))


def _rows(material: Material) -> Iterator[dict[str, Any]]:
    """The differences on the part in front, with names as people read them."""
    for record in material.of_rule("compare_scores"):
        for row in parsed(material.table(record), ("difference", "lower", "upper")):
            if row["part"] != material.part:
                continue
            first, second = _split(row["first"]), _split(row["second"])
            yield {
                **row,
                "first_name": variant(*first),
                "second_name": variant(*second),
                "mapped": first[0] == second[0] and first[1] == NONE and second[1] != NONE,
                "told": _told(row),
            }


def _split(name: str) -> tuple[str, str]:
    """`linear.sharpened` is a model and a calibrator."""
    model, _, calibrator = name.partition(".")
    return model, calibrator or NONE


def _told(row: Mapping[str, Any]) -> str:
    if row["lower"] is None or row["upper"] is None or row["lower"] <= 0 <= row["upper"]:
        return UNTOLD
    return BETTER if row["difference"] < 0 else WORSE


def _figure(metric: str, rows: Sequence[Mapping[str, Any]]) -> Figure:
    label = METRICS[metric]
    return Figure(
        name=f"difference_{metric}",
        title=f"{label[0].upper()}{label[1:]}: after a map minus before",
        sentence=_sentence(label, rows),
        chart=_chart(label, [dict(row) for row in rows]),
        height=28 * len(rows) + 12,
        rows=rows,
        header={
            "second_name": "model and map",
            "difference": "after minus before",
            "lower": "interval from",
            "upper": "to",
        },
    )


def _sentence(label: str, rows: Sequence[Mapping[str, Any]]) -> str:
    lower = sum(row["told"] == BETTER for row in rows)
    higher = sum(row["told"] == WORSE for row in rows)
    if len(rows) == 1:
        moved = signed(rows[0]["difference"])
        told = "is told from zero" if lower or higher else "cannot be told from zero"
        return f"On the same rows the {label} moves by {moved}, which {told}."
    return (
        f"Of {counted(len(rows), 'map', 'maps')} {lower} lower the {label} and {higher} raise it by more "
        "than the interval of the same rows leaves open."
    )


def _chart(label: str, rows: list[dict[str, Any]]) -> Any:
    order = [row["second_name"] for row in rows]
    y = alt.Y("second_name:N", sort=order, title=None, axis=alt.Axis(labelLimit=190, grid=True))
    x = alt.X("difference:Q", title=f"{label}, after minus before", axis=alt.Axis(tickCount=5))
    zero = (
        alt.Chart(theme.values([{"zero": 0}]))
        .mark_rule(color=theme.INK, strokeWidth=1)
        .encode(alt.X("zero:Q"))
    )
    known = [row for row in rows if row["lower"] is not None and row["upper"] is not None]
    intervals = (
        [
            alt.Chart(theme.values(known))
            .mark_rule(color=theme.GREY, strokeWidth=2)
            .encode(alt.X("lower:Q"), alt.X2("upper:Q"), y)
        ]
        if known
        else []
    )
    told = [kind for kind in (BETTER, UNTOLD, WORSE) if any(row["told"] == kind for row in rows)]
    points = (
        alt.Chart(theme.values(rows))
        .mark_point(filled=True, size=100, opacity=1)
        .encode(
            x,
            y,
            alt.Color("told:N", scale=alt.Scale(domain=told, range=[_HUES[k] for k in told])),
            alt.Shape("told:N", scale=alt.Scale(domain=told, range=[_MARKS[k] for k in told])),
            tooltip=[
                alt.Tooltip("second_name:N", title="map"),
                alt.Tooltip("difference:Q", title="difference", format="+.4f"),
                alt.Tooltip("lower:Q", title="interval from", format="+.4f"),
                alt.Tooltip("upper:Q", title="to", format="+.4f"),
            ],
        )
    )
    return alt.layer(zero, *intervals, points)
