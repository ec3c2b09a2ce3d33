"""Of the cases called 0.8, do 80 % happen? The reliability diagram of each model and calibrator.

After the pictures of apple/ml-calibration (Błasiok and Nakkiran, 2023): how many rows stand behind a
point is seen at a glance, and so is the range in which a perfect model's points would fall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure, Section
from kalibre.pages.markup import Markup, details, table, tag
from kalibre.pages.material import Evaluated, Material, parsed
from kalibre.pages.words import bin_name, counted, percent, plain, variant, whole

MOST = 24
"""Diagrams drawn; an experiment with more has its other tables folded."""

LABELLED_BINS = 12
JOINED_BINS = 6
HEIGHT = 400
_STRIP_TOP, _STRIP_BASE = -0.06, -0.24
_POINT = 0.03
_NUMBERS = (
    "lower",
    "upper",
    "count",
    "mean_predicted",
    "observed_rate",
    "gap",
    "null_lower",
    "null_upper",
)

HEADER = {
    "name": "bin",
    "count": "rows",
    "said": "says",
    "happened": "happened",
    "gap": "gap",
}


@dataclass(frozen=True)
class Points:
    """One reliability diagram's bins with rows in them, and what is known of chance in each."""

    rows: list[dict[str, Any]]
    bins: int

    @classmethod
    def of(cls, evaluated: Evaluated, part: str, rule: str) -> Points:
        """The filled bins of one part and bin rule."""
        table_rows = list(parsed(evaluated.bins(part, rule), _NUMBERS))
        points = []
        for i, row in enumerate(table_rows):
            if row["mean_predicted"] is None:
                continue
            point = {
                "name": bin_name(row, last=i == len(table_rows) - 1),
                "lower": row["lower"],
                "upper": row["upper"],
                "count": whole(row["count"]),
                "said": row["mean_predicted"],
                "happened": row["observed_rate"],
                "gap": row["gap"],
            }
            if row["null_lower"] is not None and row["null_upper"] is not None:
                point |= {"null_lower": row["null_lower"], "null_upper": row["null_upper"]}
            points.append(point)
        return cls(points, len(table_rows))

    @property
    def banded(self) -> bool:
        """Whether the range of a perfect model is known."""
        return any("null_lower" in row for row in self.rows)


def reliability_section(material: Material) -> Section | None:
    """One diagram for each model and calibrator on the part in front; the other parts as tables."""
    part, rule = material.part, material.bin_rule
    drawn = [e for e in material.evaluated if Points.of(e, part, rule).rows]
    if not drawn:
        return None
    figures = [_figure(material, e, part, rule) for e in drawn[:MOST]]
    where = "all rows" if part == "all" else f"part “{part}”"
    lead = (
        f"Measured on {where}, bins “{plain(rule)}”. A circle on the dashed diagonal is a kept promise: "
        "what is called 0.8 happens in 80 % of the cases. Below it the model says too much, above it too "
        "little; red lines are the gaps, the bars at the foot the rows behind each circle."
    )
    if any(Points.of(e, part, rule).banded for e in drawn):
        lead += " A grey bar is the range in which 90 % of perfect models would fall."
    others = list(_other_tables(material))
    folded = [details("Other parts and bins as tables", *others)] if others else []
    return Section(
        "reliability", "Diagrams", "Are the probabilities true?", lead, [*figures, *folded]
    )


def diagram(
    points: Points, before: Points | None = None, *, happened: str = "what happened"
) -> Any:
    """The reliability diagram as a layered chart.

    Parameters
    ----------
    points : Points
        What is drawn.
    before : Points, optional
        What stood before a calibrator, drawn hollow behind.
    happened : str
        The title of the upright axis.
    """
    x = alt.X(
        "said:Q", title="what the model says (mean of the bin)", scale=_unit(), axis=_x_axis()
    )
    y = alt.Y("happened:Q", title=f"{happened} (share)", scale=_with_strip(), axis=_y_axis())
    most = max(row["count"] for p in (points, before) if p for row in p.rows)
    layers = [_diagonal(x, y), *_counts(points)]
    if points.banded:
        layers.append(_bands(points))
    if before is not None:
        layers.append(_earlier(before, x, y, most))
    layers.append(_gaps(points))
    if points.bins <= JOINED_BINS:
        # Of more circles a line would show the noise.
        layers.append(_curve(points, x, y))
    layers.append(_circles(points, x, y, most))
    return alt.layer(*layers)


def _figure(material: Material, evaluated: Evaluated, part: str, rule: str) -> Figure:
    points = Points.of(evaluated, part, rule)
    before = material.before(evaluated)
    earlier = Points.of(before, part, rule) if before else None
    return Figure(
        name=f"reliability_{evaluated.model}_{evaluated.calibrator}",
        title=_title(evaluated),
        sentence=sentence(evaluated, before, part=part, rule=rule),
        chart=diagram(points, earlier),
        height=HEIGHT,
        layout="row",
        rows=points.rows,
        header=HEADER | (_BAND_HEADER if points.banded else {}),
    )


_BAND_HEADER = {"null_lower": "perfect from", "null_upper": "to"}


def _title(evaluated: Evaluated) -> str:
    name = variant(evaluated.model, evaluated.calibrator)
    return name[0].upper() + name[1:]


def sentence(evaluated: Evaluated, before: Evaluated | None, *, part: str, rule: str) -> str:
    """What to see in a diagram, in one sentence."""
    ece = evaluated.metric(part, f"{rule}/ece")
    if ece is None:
        reason = evaluated.undefined.get(f"{part}/{rule}/ece", "no value")
        return f"There is no ECE here: {reason}."
    earlier = before.metric(part, f"{rule}/ece") if before else None
    if before is not None and earlier is not None:
        return _changed(evaluated, part, earlier, ece)
    return f"{_shape(Points.of(evaluated, part, rule).rows)}: ECE {ece:.3f}{_chance(evaluated, part, rule)}."


def _shape(rows: Sequence[Mapping[str, Any]]) -> str:
    total = sum(row["count"] for row in rows)
    said = sum(row["count"] * row["said"] for row in rows) / total
    happened = sum(row["count"] * row["happened"] for row in rows) / total
    if len(rows) > 1 and all(row["gap"] > 0 for row in rows):
        return (
            "Every circle hangs below the diagonal, "
            f"{percent(said)} said on average and {percent(happened)} happened"
        )
    if len(rows) > 1 and all(row["gap"] < 0 for row in rows):
        return (
            "Every circle stands above the diagonal, "
            f"{percent(said)} said on average and {percent(happened)} happened"
        )
    if all(row["gap"] == 0 for row in rows):
        return "Every circle lies on the diagonal: what is said is what happened"
    heaviest = max(rows, key=lambda row: abs(row["gap"]) * row["count"])
    return (
        f"The gap that weighs most is at {heaviest['name']}, where {percent(heaviest['said'])} is said "
        f"and {percent(heaviest['happened'])} of {counted(heaviest['count'], 'row', 'rows')} happened"
    )


def _changed(evaluated: Evaluated, part: str, earlier: float, ece: float) -> str:
    way = "back towards" if ece < earlier else "away from"
    alike = f"{earlier:.3f}" == f"{ece:.3f}"
    rows = evaluated.metric(part, "rows")
    kept = evaluated.metric(part, "order_kept")
    changed = evaluated.metric(part, "decisions_changed")
    said = f"The circles move {way} the diagonal (hollow: before), ECE {earlier:.3f} before and {ece:.3f} now"
    if alike:
        said = f"The circles are as near the diagonal as before (hollow: before), ECE {ece:.3f}"
    if kept is not None and kept == rows:
        return f"{said}, while every row keeps its place in the order."
    if changed is not None:
        return f"{said}, with {counted(changed, 'decision', 'decisions')} at 0.5 changed."
    return f"{said}."


def _chance(evaluated: Evaluated, part: str, rule: str) -> str:
    upper = evaluated.metric(part, f"{rule}/null_band/upper")
    if upper is None:
        return ""
    excess = evaluated.metric(part, f"{rule}/ece_excess") or 0.0
    if excess > 0.0:
        return f", {excess:.3f} more than chance gives a perfect model at this size (up to {upper:.3f})"
    return f", no more than chance gives a perfect model at this size (up to {upper:.3f})"


def _other_tables(material: Material) -> Iterator[Markup]:
    front = (material.part, material.bin_rule)
    for evaluated in material.evaluated:
        drawn = {front} if evaluated in material.evaluated[:MOST] else set()
        for part in evaluated.parts():
            for rule in material.bin_rules:
                points = Points.of(evaluated, part, rule)
                if (part, rule) in drawn or not points.rows:
                    continue
                ece = evaluated.metric(part, f"{rule}/ece")
                name = f"{_title(evaluated)}: {plain(part)}, {plain(rule)}"
                said = name if ece is None else f"{name}, ECE {ece:.4f}"
                yield tag("div", table(points.rows, HEADER, caption=said))


# Layers ------------------------------------------------------------------------------------------------


def _unit() -> alt.Scale:
    return alt.Scale(domain=[0, 1], nice=False)


def _with_strip() -> alt.Scale:
    """The unit interval, and below it room for the bars of the counts."""
    return alt.Scale(domain=[_STRIP_BASE, 1], nice=False)


def _x_axis() -> alt.Axis:
    return alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")


def _y_axis() -> alt.Axis:
    return alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".0%")


def _diagonal(x: alt.X, y: alt.Y) -> Any:
    ends = [{"said": 0, "happened": 0}, {"said": 1, "happened": 1}]
    return (
        alt.Chart(theme.values(ends))
        .mark_line(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x, y)
    )


def _counts(points: Points) -> list[Any]:
    """A bar a bin at the foot, its height the share of the fullest bin."""
    most = max(row["count"] for row in points.rows)
    room = _STRIP_TOP - _STRIP_BASE - 0.05
    bars = [
        {
            "from": row["lower"],
            # A bin that is one point stands to the right of it.
            "to": max(row["upper"], row["lower"] + _POINT),
            "middle": (row["lower"] + max(row["upper"], row["lower"] + _POINT)) / 2,
            "base": _STRIP_BASE,
            "top": _STRIP_BASE + room * row["count"] / most,
            "count": row["count"],
            "name": row["name"],
        }
        for row in points.rows
    ]
    chart = alt.Chart(theme.values(bars))
    tooltip = [alt.Tooltip("name:N", title="bin"), alt.Tooltip("count:Q", title="rows", format=",")]
    layers = [
        chart.mark_bar(color=theme.LIGHT, stroke="white", strokeWidth=1).encode(
            alt.X("from:Q"), alt.X2("to:Q"), alt.Y("base:Q"), alt.Y2("top:Q"), tooltip=tooltip
        )
    ]
    if points.bins <= LABELLED_BINS:
        layers.append(
            chart.mark_text(baseline="bottom", dy=-2).encode(
                alt.X("middle:Q"), alt.Y("top:Q"), alt.Text("count:Q", format=",.4~s")
            )
        )
    return layers


def _bands(points: Points) -> Any:
    banded = [row for row in points.rows if "null_lower" in row]
    return (
        alt.Chart(theme.values(banded))
        .mark_rule(color=theme.BAND, strokeWidth=16)
        .encode(alt.X("said:Q"), alt.Y("null_lower:Q"), alt.Y2("null_upper:Q"))
    )


def _earlier(before: Points, x: alt.X, y: alt.Y, most: float) -> Any:
    return (
        alt.Chart(theme.values(before.rows))
        .mark_point(color=theme.GREY, filled=False, strokeWidth=1.5, strokeDash=[3, 2])
        .encode(x, y, _size(most), tooltip=_tooltip(before))
    )


def _gaps(points: Points) -> Any:
    return (
        alt.Chart(theme.values(points.rows))
        .mark_rule(color=theme.RED, strokeWidth=2)
        .encode(
            alt.X("said:Q"),
            alt.Y("said:Q"),
            alt.Y2("happened:Q"),
        )
    )


def _curve(points: Points, x: alt.X, y: alt.Y) -> Any:
    return (
        alt.Chart(theme.values(points.rows))
        .mark_line(color=theme.BLUE, strokeWidth=1.5, opacity=0.5)
        .encode(x, y, order=alt.Order("said:Q"))
    )


def _circles(points: Points, x: alt.X, y: alt.Y, most: float) -> Any:
    return (
        alt.Chart(theme.values(points.rows))
        .mark_circle(color=theme.BLUE, opacity=0.9, stroke="white", strokeWidth=1.2)
        .encode(x, y, _size(most), tooltip=_tooltip(points))
    )


def _size(most: float) -> alt.Size:
    """Area by rows; the smallest circle can still be seen and pointed at."""
    scale = alt.Scale(type="linear", domain=[0, most], range=[50, 520])
    return alt.Size("count:Q", scale=scale, legend=None)


def _tooltip(points: Points) -> list[alt.Tooltip]:
    shown = [
        alt.Tooltip("name:N", title="bin"),
        alt.Tooltip("count:Q", title="rows", format=","),
        alt.Tooltip("said:Q", title="says", format=".4f"),
        alt.Tooltip("happened:Q", title="happened", format=".4f"),
        alt.Tooltip("gap:Q", title="gap", format="+.4f"),
    ]
    if points.banded:
        shown += [
            alt.Tooltip("null_lower:Q", title="perfect from", format=".4f"),
            alt.Tooltip("null_upper:Q", title="perfect to", format=".4f"),
        ]
    return shown
