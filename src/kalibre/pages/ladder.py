"""How far does a score rise when preparation is learned outside the folds?

The ladder shows every fold: the first 0, 1, ..., n preparation steps learned outside. The true number,
measured once on held-out rows, is the line that the means should be compared with. The leak is signed:
learning outside may also lower a score (Moscovich and Rosset 2022).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure, Section
from kalibre.pages.markup import Markup, details, table
from kalibre.pages.material import Material, Record, parsed
from kalibre.pages.words import METRICS, plain, signed

DRAWN = ("accuracy", "roc_auc")
_LEAK_NUMBERS = (
    "folds",
    "mean",
    "spread",
    "distance",
    "leak",
    "leak_naive_low",
    "leak_naive_high",
    "leak_corrected_low",
    "leak_corrected_high",
)
MEAN, FOLD = "mean of the folds", "one fold"


def ladder_section(material: Material) -> Section | None:
    """Fold scores and leak of every model that climbs."""
    body: list[Figure | Markup] = []
    for record in material.of_rule("measure_leak"):
        body += _of_model(material, record)
    if not body:
        return None
    lead = (
        "The same folds, seed and model, climbed from all preparation inside the folds to all of it outside. "
        "Hollow points are single folds, the filled one is their mean; the dashed line is the true number: "
        "the whole chain learned on the pool and measured once on rows that were held out. A leak is "
        "signed; its thin line is the corrected interval (Nadeau and Bengio 2003), the thick one the "
        "naive."
    )
    return Section("ladder", "Folds", "Was the score earned?", lead, body)


def _of_model(material: Material, record: Record) -> Iterator[Figure | Markup]:
    model = record["subject"]["model"]
    steps = _steps(material, model)
    leaks = [
        {**row, "name": rung_name(row["rung"], steps)}
        for row in parsed(material.table(record), _LEAK_NUMBERS)
    ]
    folds = list(_folds(material, model, steps))
    held_out = _held_out(material, model)
    for metric in DRAWN:
        if any(row[metric] is not None for row in folds):
            yield _ladder_figure(model, metric, folds, leaks, held_out)
    for metric in DRAWN:
        if any(row["metric"] == metric and row["leak"] is not None for row in leaks):
            yield _leak_figure(model, metric, leaks)
    header = {
        "name": "learned outside",
        "metric_name": "metric",
        "mean": "mean of folds",
        "spread": "spread",
        "distance": "above the true number",
        "leak": "leak",
        "leak_corrected_low": "interval from",
        "leak_corrected_high": "to",
    }
    rows = [{**row, "metric_name": METRICS.get(row["metric"], row["metric"])} for row in leaks]
    known = [row for row in rows if row["mean"] is not None]
    title = f"{plain(model)}: every rung and metric"
    yield details(title[0].upper() + title[1:], table(known, header, caption=title))


def _steps(material: Material, model: str) -> list[str]:
    for record in material.of_rule("measure_held_out"):
        if record["subject"]["model"] == model:
            text = record["params"].get("steps") or ""
            return [name.strip() for name in text.split(",") if name.strip()]
    return []


def rung_name(rung: str, steps: Sequence[str]) -> str:
    """`2_outside` and `only_3_outside` in words, with the steps' own names."""
    number = int(rung.removeprefix("only_").split("_")[0])
    if number == 0:
        return "nothing outside"
    step = plain(steps[number - 1]) if number <= len(steps) else f"step {number}"
    if rung.startswith("only_"):
        return f"only {step}"
    return step if number == 1 else f"+ {step}"


def _folds(material: Material, model: str, steps: Sequence[str]) -> Iterator[dict[str, Any]]:
    for record in material.of_rule("climb_ladder"):
        if record["subject"]["model"] != model:
            continue
        for row in parsed(material.table(record), METRICS):
            yield {
                "rung": row["rung"],
                "name": rung_name(row["rung"], steps),
                "fold": row["fold"],
                "learned": float(row["learned_rows"]),
                "measured": float(row["measured_rows"]),
                **{metric: row[metric] for metric in METRICS},
            }


def _held_out(material: Material, model: str) -> Mapping[str, float]:
    for record in material.of_rule("measure_held_out"):
        if record["subject"]["model"] == model:
            return {
                key.removeprefix("held_out/"): value
                for key, value in record["metrics"].items()
                if key.startswith("held_out/")
            }
    return {}


def _ladder_figure(
    model: str,
    metric: str,
    folds: Sequence[Mapping[str, Any]],
    leaks: Sequence[Mapping[str, Any]],
    held_out: Mapping[str, float],
) -> Figure:
    points = [
        {"rung": r["rung"], "name": r["name"], "fold": r["fold"], "value": r[metric]}
        for r in folds
        if r[metric] is not None
    ]
    means = [
        {"rung": r["rung"], "name": r["name"], "value": r["mean"]}
        for r in leaks
        if r["metric"] == metric and r["mean"] is not None
    ]
    true = held_out.get(metric)
    label = METRICS[metric]
    return Figure(
        name=f"ladder_{model}_{metric}",
        title=f"{plain(model)[0].upper()}{plain(model)[1:]}: {label} at every rung",
        sentence=_ladder_sentence(label, means, true),
        chart=_ladder_chart(label, points, means, true),
        height=330,
        rows=points,
        header={"name": "learned outside", "fold": "fold", "value": label},
    )


def _ladder_sentence(label: str, means: Sequence[Mapping[str, Any]], true: float | None) -> str:
    climbed = [row for row in means if not row["rung"].startswith("only_")]
    said = f"With nothing outside the folds the mean {label} is {climbed[0]['value']:.4f}"
    if len(climbed) > 1:
        said += f", with everything outside {climbed[-1]['value']:.4f}"
    return said + (f"; the true number is {true:.4f}." if true is not None else ".")


def _ladder_chart(
    label: str,
    points: list[dict[str, Any]],
    means: list[dict[str, Any]],
    true: float | None,
) -> Any:
    order = list(dict.fromkeys(row["name"] for row in means))
    x = alt.X(
        "name:N",
        sort=order,
        title="preparation learned outside the folds",
        axis=alt.Axis(labelAngle=-35, labelLimit=130),
    )
    y = alt.Y("value:Q", title=label, scale=alt.Scale(zero=False, nice=True, padding=8))
    folds = (
        alt.Chart(theme.values(points))
        .mark_point(filled=False, size=60, color=theme.GREY, strokeWidth=1.5, opacity=1)
        .encode(
            x,
            y,
            tooltip=[
                alt.Tooltip("name:N", title="outside"),
                alt.Tooltip("fold:N", title="fold"),
                alt.Tooltip("value:Q", title=label, format=".4f"),
            ],
        )
    )
    layers = [folds, *_means(means, x, y, label)]
    if true is not None:
        layers += _true_number(true)
    return alt.layer(*layers)


def _means(means: list[dict[str, Any]], x: alt.X, y: alt.Y, label: str) -> list[Any]:
    """The mean at each rung, and a line along those that are climbed one after the other."""
    climbed = [
        {**row, "place": place}
        for place, row in enumerate(means)
        if not row["rung"].startswith("only_")
    ]
    path = (
        alt.Chart(theme.values(climbed))
        .mark_line(color=theme.BLUE, strokeWidth=2, opacity=0.6)
        .encode(x, y, order=alt.Order("place:Q"))
    )
    middle = (
        alt.Chart(theme.values(means))
        .mark_point(filled=True, shape="diamond", size=150, color=theme.BLUE, opacity=1)
        .encode(
            x,
            y,
            tooltip=[
                alt.Tooltip("name:N", title="outside"),
                alt.Tooltip("value:Q", title=f"mean {label}", format=".4f"),
            ],
        )
    )
    return [path, middle]


def _true_number(true: float) -> list[Any]:
    base = alt.Chart(theme.values([{"value": true, "label": f"true number {true:.4f}"}]))
    rule = base.mark_rule(color=theme.RED, strokeWidth=2, strokeDash=[6, 4]).encode(
        alt.Y("value:Q"), tooltip=alt.Tooltip("value:Q", title="true number", format=".4f")
    )
    placed = {"align": "right", "baseline": "top", "dy": 5, "fontSize": 12}
    # A white copy below keeps the words readable where a point lies.
    texts = [
        base.mark_text(color=colour, stroke=colour, strokeWidth=width, **placed).encode(
            alt.Y("value:Q"), alt.Text("label:N"), x=alt.value("width")
        )
        for colour, width in (("white", 5), (theme.RED, 0))
    ]
    return [rule, *texts]


# The leak ----------------------------------------------------------------------------------------------


def _leak_figure(model: str, metric: str, leaks: Sequence[Mapping[str, Any]]) -> Figure:
    rows = [dict(r) for r in leaks if r["metric"] == metric and r["leak"] is not None]
    label = METRICS[metric]
    return Figure(
        name=f"leak_{model}_{metric}",
        title=f"{plain(model)[0].upper()}{plain(model)[1:]}: what learning outside adds to {label}",
        sentence=_leak_sentence(label, rows),
        chart=_leak_chart(label, rows),
        height=34 * len(rows) + 10,
        rows=rows,
        header={
            "name": "learned outside",
            "leak": "outside minus inside",
            "leak_corrected_low": "interval from",
            "leak_corrected_high": "to",
        },
    )


def _leak_sentence(label: str, rows: Sequence[Mapping[str, Any]]) -> str:
    largest = max(rows, key=lambda row: abs(row["leak"]))
    name = largest["name"].removeprefix("+ ")
    low, high = largest["leak_corrected_low"], largest["leak_corrected_high"]
    said = f"The largest step, at “{name}”, moves {label} by {signed(largest['leak'])}"
    if low is None or high is None:
        return said + "."
    apart = low > 0 or high < 0
    interval = f"corrected interval {signed(low)} to {signed(high)}"
    told = "is told from zero" if apart else "cannot be told from zero"
    return f"{said} ({interval}), which {told} with these folds."


def _leak_chart(label: str, rows: list[dict[str, Any]]) -> Any:
    order = [row["name"] for row in rows]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=150, grid=True))
    x = alt.X(
        "leak:Q", title=f"{label}, outside minus inside", axis=alt.Axis(format="+.2f", tickCount=5)
    )
    zero = (
        alt.Chart(theme.values([{"zero": 0}]))
        .mark_rule(color=theme.INK, strokeWidth=1)
        .encode(alt.X("zero:Q"))
    )
    base = alt.Chart(theme.values(rows))
    known = [row for row in rows if row["leak_corrected_low"] is not None]
    intervals = [
        alt.Chart(theme.values(known))
        .mark_rule(strokeWidth=width, color=colour)
        .encode(alt.X(f"{low}:Q"), alt.X2(f"{high}:Q"), y)
        for low, high, width, colour in (
            ("leak_corrected_low", "leak_corrected_high", 2, theme.GREY),
            ("leak_naive_low", "leak_naive_high", 6, theme.LIGHT),
        )
        if known
    ]
    point = base.mark_point(
        filled=True, shape="diamond", size=130, color=theme.BLUE, opacity=1
    ).encode(
        x,
        y,
        tooltip=[
            alt.Tooltip("name:N", title="outside"),
            alt.Tooltip("leak:Q", title="leak", format="+.4f"),
            alt.Tooltip("leak_corrected_low:Q", title="corrected from", format="+.4f"),
            alt.Tooltip("leak_corrected_high:Q", title="to", format="+.4f"),
            alt.Tooltip("leak_naive_low:Q", title="naive from", format="+.4f"),
            alt.Tooltip("leak_naive_high:Q", title="to (naive)", format="+.4f"),
        ],
    )
    return alt.layer(zero, *intervals, point)
