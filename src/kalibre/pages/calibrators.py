"""Which map of the score is better, and where may it be learned?

Every score stands beside what chance does to it: an interval where one is known, and for an ECE the
range in which a perfect model's would fall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.differences import difference_figures, difference_table
from kalibre.pages.figure import Figure, Section
from kalibre.pages.markup import Markup, details, table
from kalibre.pages.material import Evaluated, Material
from kalibre.pages.words import LOWER_IS_BETTER, METRICS, NONE, listed, percent, plain, variant
from kalibre.readings import COLUMNS, readings

COMPARED = ("ece", "brier", "log_loss", "roc_auc")
OWN, MAPPED = "the model's own", "after a map"
MOST = 30
"""Rows drawn; an experiment with more has them all in its table."""


def scores_section(material: Material) -> Section | None:
    """The scores of every model and calibrator, side by side."""
    if not material.evaluated:
        return None
    compared = material.evaluated[:MOST]
    figures = (
        [_figure(material, compared, metric) for metric in COMPARED] if len(compared) > 1 else []
    )
    lead = (
        "Each point is one model and what was done to its scores. ECE, Brier score and log loss are better "
        "the lower they are, ROC AUC the higher."
        if figures
        else "The scores of the one model measured here."
    )
    scores = list(score_rows(material))
    body = [*(figure for figure in figures if figure), *difference_figures(material)]
    shown = table(scores, score_header(material), caption="Every score on every part")
    folded = details("Every score on every part", shown) if figures else shown
    shown_tables = [folded, *_shown(_readings_table(material)), *_shown(difference_table(material))]
    return Section("scores", "Scores", "The scores", lead, [*body, *shown_tables])


def _readings_table(material: Material) -> Markup | None:
    """Slope, tests and bin-free errors of everything measured."""
    lines = list(readings(material.of_rule("evaluate")))
    if not lines:
        return None
    header = {"name": "model", "part": "part", **{head: head for head in COLUMNS.values()}}
    rows = [{"name": variant(line["model"], line["calibrator"]), **line} for line in lines]
    caption = "Without bins: true probabilities have slope 1 and intercept 0"
    return table(rows, header, caption=caption)


def _shown(piece: Markup | None) -> list[Markup]:
    return [] if piece is None else [piece]


def score_rows(material: Material) -> Iterator[dict[str, Any]]:
    """One row a model, calibrator and part: what a person compares."""
    for evaluated in material.evaluated:
        for part in evaluated.parts():
            yield {
                "model": evaluated.model,
                "calibrator": evaluated.calibrator,
                "part": part,
                **{name: evaluated.metric(part, name) for name in _PLAIN_METRICS},
                **{
                    f"ece_{rule}": evaluated.metric(part, f"{rule}/ece")
                    for rule in material.bin_rules
                },
            }


def score_header(material: Material) -> dict[str, str]:
    """The columns of `score_rows` with their headings."""
    header = {"model": "model", "calibrator": "calibrator", "part": "part"}
    header |= {name: METRICS[name] for name in _PLAIN_METRICS}
    return header | {f"ece_{rule}": f"ECE, {plain(rule)}" for rule in material.bin_rules}


_PLAIN_METRICS = (
    "rows",
    "observed_rate",
    "mean_probability",
    "brier",
    "log_loss",
    "roc_auc",
    "accuracy",
)


def _figure(material: Material, compared: Sequence[Evaluated], metric: str) -> Figure | None:
    part, rule = material.part, material.bin_rule
    name = f"{rule}/ece" if metric == "ece" else metric
    rows = [
        {
            "name": variant(e.model, e.calibrator),
            "kind": OWN if e.calibrator == NONE else MAPPED,
            "value": value,
            **_chance(e, part, name),
        }
        for e in compared
        if (value := e.metric(part, name)) is not None
    ]
    if len(rows) < 2:
        return None
    return Figure(
        name=f"scores_{metric}",
        title=_upper(METRICS[metric]) + (f", bins “{plain(rule)}”" if metric == "ece" else ""),
        sentence=_sentence(
            rows, metric, left_out=len(compared) - len(rows), level=_level(material)
        ),
        chart=_chart(rows, METRICS[metric]),
        height=26 * len(rows) + 12,
        rows=rows,
        header={"name": "model", "value": METRICS[metric], **_chance_header(rows)},
    )


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _chance(evaluated: Evaluated, part: str, name: str) -> dict[str, float]:
    """An interval around the score, or for an ECE the range of a perfect model's."""
    path = f"{name.removesuffix('ece')}null_band" if name.endswith("ece") else name
    ends = {end: evaluated.metric(part, f"{path}/{end}") for end in ("lower", "upper")}
    kind = "null" if name.endswith("ece") else "interval"
    if ends["lower"] is None or ends["upper"] is None:
        return {}
    return {f"{kind}_{end}": value for end, value in ends.items() if value is not None}


def _chance_header(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if any("null_lower" in row for row in rows):
        return {"null_lower": "perfect from", "null_upper": "to"}
    if any("interval_lower" in row for row in rows):
        return {"interval_lower": "interval from", "interval_upper": "to"}
    return {}


def _level(material: Material) -> float:
    """The confidence level of the intervals, a fraction."""
    statistics = material.settings.get("evaluation", {}).get("statistics", {})
    return float(statistics.get("level", 0.95))


def _sentence(
    rows: Sequence[Mapping[str, Any]], metric: str, *, left_out: int, level: float
) -> str:
    best = (min if metric in LOWER_IS_BETTER else max)(row["value"] for row in rows)
    names = [row["name"] for row in rows if row["value"] == best]
    shared = f"{names[0]} and {len(names) - 1} more" if len(names) > 2 else listed(names)
    word = "Lowest" if metric in LOWER_IS_BETTER else "Highest"
    said = f"{word}: {shared} ({best:.4f})"
    if any("null_lower" in row for row in rows):
        said += "; grey is what chance gives a perfect model at this size"
    if any("interval_lower" in row for row in rows):
        said += f"; lines are {percent(level)} intervals"
    if left_out:
        said += f"; {left_out} without a value left out"
    return said + "."


def _chart(rows: Sequence[Mapping[str, Any]], title: str) -> Any:
    shown = list(map(dict, rows))
    order = [row["name"] for row in shown]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=190, grid=True))
    # Two series at most: a model's own scores, and mapped ones.
    kinds = [kind for kind in (OWN, MAPPED) if any(row["kind"] == kind for row in shown)]
    legend = alt.Legend() if len(kinds) > 1 else None
    base = alt.Chart(theme.values(shown))
    x = alt.X(
        "value:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=5)
    )
    layers = []
    for kind, width, colour in (("null", 12, theme.BAND), ("interval", 2, theme.GREY)):
        if any(f"{kind}_lower" in row for row in shown):
            layers.append(
                base.mark_rule(strokeWidth=width, color=colour).encode(
                    alt.X(f"{kind}_lower:Q"), alt.X2(f"{kind}_upper:Q"), y
                )
            )
    points = base.mark_point(filled=True, size=95, opacity=1).encode(
        x,
        y,
        alt.Color("kind:N", scale=theme.colours(kinds), legend=legend),
        alt.Shape("kind:N", scale=theme.shapes(kinds), legend=legend),
        tooltip=_tooltip(shown, title),
    )
    return alt.layer(*layers, points)


def _tooltip(rows: Sequence[Mapping[str, Any]], title: str) -> list[alt.Tooltip]:
    shown = [
        alt.Tooltip("name:N", title="model"),
        alt.Tooltip("value:Q", title=title, format=".4f"),
    ]
    return shown + [
        alt.Tooltip(f"{name}:Q", title=label, format=".4f")
        for name, label in _chance_header(rows).items()
    ]


# Where a map is learned --------------------------------------------------------------------------------


def learned_on_section(material: Material) -> Section | None:
    """The same map learned on several parts: each looks best on the rows it has seen."""
    figures = [
        _learned_figure(material, model, family, members)
        for (model, family), members in _families(material).items()
    ]
    if not figures:
        return None
    lead = (
        "The same map, learned on one part after the other and measured on each. Filled points are measured "
        "on the very rows the map was learned from; only hollow ones tell what to expect of new rows."
    )
    return Section("learned_on", "Learning", "Where may a correction be learned?", lead, figures)


def _families(material: Material) -> dict[tuple[str, str], list[Evaluated]]:
    """(model, family) to its members, for maps that are learned on several parts."""
    found: dict[tuple[str, str], list[Evaluated]] = {}
    for evaluated in material.evaluated:
        spec = material.calibrator(evaluated.calibrator)
        if "part" in spec:
            found.setdefault((evaluated.model, spec["family"]), []).append(evaluated)
    return found


def _learned_figure(
    material: Material, model: str, family: str, members: Sequence[Evaluated]
) -> Figure:
    rule = material.bin_rule
    rows = [
        {
            "learned": plain(material.calibrator(e.calibrator)["part"]),
            "measured": part,
            "own": material.calibrator(e.calibrator)["part"] == part,
            "ece": e.metric(part, f"{rule}/ece"),
            "brier": e.metric(part, "brier"),
            **_parameters(material, e),
        }
        for e in members
        for part in e.parts()
    ]
    own = [row for row in rows if row["own"] and row["ece"] is not None]
    others = [row for row in rows if not row["own"] and row["ece"] is not None]
    sentence = "Filled points are measured on the rows the map was learned from."
    if own and others:
        gain = _mean(others) - _mean(own)
        sentence = (
            f"On the rows it was learned from the map shows an ECE of {_mean(own):.3f} on average, on rows "
            f"it has not seen {_mean(others):.3f}: {'too good by' if gain > 0 else 'a difference of'} "
            f"{abs(gain):.3f}."
        )
    learned = [name for name in rows[0] if name not in _LEARNED_COLUMNS]
    return Figure(
        name=f"learned_on_{model}_{family}",
        title=f"{_upper(plain(model))}, {plain(family)}: learned on one part, measured on another",
        sentence=sentence,
        chart=_learned_chart([row for row in rows if row["ece"] is not None]),
        height=190,
        layout="wide",
        rows=[{**row, "own": "yes" if row["own"] else "no"} for row in rows],
        header={
            "learned": "learned on",
            "measured": "measured on",
            "own": "own rows",
            "ece": f"ECE, {plain(rule)}",
            "brier": "Brier score",
            **{name: plain(name) for name in learned},
        },
        still_width=560,
    )


_LEARNED_COLUMNS = frozenset({"learned", "measured", "own", "ece", "brier"})


def _mean(rows: Sequence[Mapping[str, Any]]) -> float:
    return sum(row["ece"] for row in rows) / len(rows)


def _parameters(material: Material, evaluated: Evaluated) -> dict[str, float]:
    """What a map learned: its slope and intercept, its temperature."""
    for record in material.of_rule("calibrate"):
        if record["subject"] == {"model": evaluated.model, "calibrator": evaluated.calibrator}:
            return {k: v for k, v in record["metrics"].items() if k != "learned_rows"}
    return {}


def _learned_chart(rows: list[dict[str, Any]]) -> Any:
    parts = list(dict.fromkeys(row["measured"] for row in rows))
    learned = list(dict.fromkeys(row["learned"] for row in rows))
    legend = alt.Legend(title="learned on", titleOrient="left", titleFontWeight="normal")
    encoded: dict[str, Any] = {
        "x": alt.X(
            "ece:Q", title="ECE", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=6)
        ),
        "y": alt.Y("measured:N", sort=parts, title="measured on", axis=alt.Axis(grid=True)),
        "color": alt.Color("learned:N", scale=theme.colours(learned), legend=legend),
        "shape": alt.Shape("learned:N", scale=theme.shapes(learned), legend=legend),
        "tooltip": [
            alt.Tooltip("learned:N", title="learned on"),
            alt.Tooltip("measured:N", title="measured on"),
            alt.Tooltip("ece:Q", title="ECE", format=".4f"),
            alt.Tooltip("brier:Q", title="Brier score", format=".4f"),
        ],
    }
    chart = alt.Chart(theme.values(rows))
    seen = chart.mark_point(filled=True, size=150, opacity=1).transform_filter("datum.own")
    unseen = chart.mark_point(filled=False, size=130, strokeWidth=2, opacity=1).transform_filter(
        "!datum.own"
    )
    return alt.layer(unseen.encode(**encoded), seen.encode(**encoded))
