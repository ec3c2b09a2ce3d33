"""Over many splits: which calibrator is better, and how many rows does it need?

Both are read off paired differences with their corrected intervals (Nadeau and Bengio 2003): splits of one
table share most of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import altair as alt

from kalibre.pages import theme
from kalibre.pages.figure import Figure
from kalibre.pages.markup import Markup, table
from kalibre.pages.studied import Study
from kalibre.pages.words import LOWER_IS_BETTER, METRICS, listed, plain, signed

COMPARED = ("brier", "log_loss", "ece")
BY_ROWS = ("brier", "ece")
"""Log loss is left out: one row that a calibrator is certain of and wrong about makes it infinite."""

APART = 1.045
"""Factor by which neighbouring calibrators' marks stand apart, so that their bars can be told."""


# How many rows --------------------------------------------------------------------------------------------


def rows_needed(study: Study) -> Iterator[Figure]:
    """The difference that each calibrator makes, by the number of rows it was learned on."""
    for metric in BY_ROWS:
        points = [
            point
            for calibrator in study.calibrators()
            if study.calibration_rows(calibrator)
            for point in _points(study, calibrator, metric)
        ]
        if points:
            yield _rows_figure(study, metric, points)


def _points(study: Study, calibrator: str, metric: str) -> Iterator[dict[str, Any]]:
    whole = study.rows_learned(calibrator)
    for rows in (*study.calibration_rows(calibrator), None):
        found = study.difference(calibrator, metric, rows=rows)
        if "mean" in found:
            yield {
                "calibrator": plain(calibrator),
                "rows": whole if rows is None else float(rows),
                "mean": found["mean"],
                "from": found.get("corrected_low"),
                "to": found.get("corrected_high"),
                "lower": found["lower"],
            }


def _rows_figure(study: Study, metric: str, points: list[dict[str, Any]]) -> Figure:
    label = METRICS[metric]
    names = list(dict.fromkeys(point["calibrator"] for point in points))
    return Figure(
        name=f"study_rows_{study.model}_{metric}",
        title=f"{plain(study.model).capitalize()}: {label} by the rows a calibrator learns from",
        sentence=_rows_sentence(study, names, points),
        chart=_rows_chart(points, names, f"{label}, after minus before"),
        height=260,
        rows=points,
        header={
            "calibrator": "calibrator",
            "rows": "rows learned from",
            "mean": "after minus before",
            "from": "corrected from",
            "to": "to",
            "lower": f"splits of {study.count} in which it is lower",
        },
    )


def _rows_sentence(study: Study, names: list[str], points: list[dict[str, Any]]) -> str:
    """From how many rows on each calibrator lowers the mean, and beyond its interval, as far as was tried."""
    said = []
    for name in names:
        own = sorted((p for p in points if p["calibrator"] == name), key=lambda p: p["rows"])
        mean = _below_zero_from(own, "mean")
        if mean is None:
            said.append(f"{name} with none of these numbers")
            continue
        whole = _below_zero_from(own, "to")
        beyond = "nowhere" if whole is None else f"from {whole:.0f} on"
        said.append(f"{name} from {mean:.0f} rows on (its whole interval {beyond})")
    return (
        "Below zero the calibrator helps (bars are corrected intervals): on average over "
        f"{study.count} splits {listed(said)}."
    )


def _below_zero_from(points: list[dict[str, Any]], key: str) -> float | None:
    """The number of rows from which on a value stays below zero; None if it is not there in the end."""
    found = None
    for point in points:
        below = point[key] is not None and point[key] < 0
        found = (found or point["rows"]) if below else None
    return found


def _rows_chart(points: list[dict[str, Any]], names: list[str], title: str) -> Any:
    middle = (len(names) - 1) / 2
    drawn = [
        {**p, "place": p["rows"] * APART ** (names.index(p["calibrator"]) - middle)} for p in points
    ]
    base = alt.Chart(theme.values(drawn))
    x = alt.X(
        "place:Q",
        title="rows the calibrator is learned on",
        scale=alt.Scale(type="log", nice=False, padding=16),
        axis=alt.Axis(values=sorted({p["rows"] for p in points}), format=".0f", grid=False),
    )
    y = alt.Y("mean:Q", title=title, axis=alt.Axis(tickCount=5))
    colour = alt.Color("calibrator:N", scale=theme.colours(names))
    zero = (
        alt.Chart(theme.values([{"mean": 0}]))
        .mark_rule(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(alt.Y("mean:Q"))
    )
    tooltip = [
        alt.Tooltip("calibrator:N", title="calibrator"),
        alt.Tooltip("rows:Q", title="rows learned from", format=",.0f"),
        alt.Tooltip("mean:Q", title="after minus before", format="+.4f"),
        alt.Tooltip("from:Q", title="corrected from", format="+.4f"),
        alt.Tooltip("to:Q", title="to", format="+.4f"),
        alt.Tooltip("lower:Q", title="lower in splits", format=","),
    ]
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.55).encode(
        x, alt.Y("from:Q", title=title), alt.Y2("to:Q"), colour
    )
    lines = base.mark_line(strokeWidth=2).encode(x, y, colour)
    shape = alt.Shape("calibrator:N", scale=theme.shapes(names))
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(
        x, y, colour, shape, tooltip=tooltip
    )
    return alt.layer(zero, bars, lines, marks)


# Which is better ------------------------------------------------------------------------------------------


def calibrators_compared(study: Study) -> Iterator[Markup]:
    """Each calibrator against each other one, by the corrected test."""
    rows = [
        row
        for pair in combinations(study.calibrators(), 2)
        for metric in COMPARED
        for row in _compared(study, pair, metric)
    ]
    if rows:
        header = {
            "pair": "calibrators",
            "metric": "score",
            "mean": "first minus second",
            "from": "corrected from",
            "to": "to",
            "p_value": "p",
            "better": "better",
            "wins": f"splits of {study.count}",
        }
        caption = f"{plain(study.model).capitalize()}: which calibrator is better?"
        yield table(rows, header, caption=caption)


def _compared(study: Study, pair: tuple[str, str], metric: str) -> Iterator[dict[str, Any]]:
    for first, second in (pair, pair[::-1]):
        found = study.difference(first, metric, other=second)
        if "mean" not in found:
            continue
        low, high = found.get("corrected_low"), found.get("corrected_high")
        told_apart = low is not None and high is not None and (low > 0 or high < 0)
        lower, higher = plain(first), plain(second)
        better = lower if (found["mean"] < 0) == (metric in LOWER_IS_BETTER) else higher
        counted = sum(int(found[way]) for way in ("lower", "equal", "higher"))
        undefined = study.count - counted
        wins = f"{found['lower']:.0f} lower, {found['higher']:.0f} higher"
        if undefined:
            # A mean over the splits without an infinite loss says nothing of the calibrator.
            told_apart = False
            wins += f", {undefined} without a finite value"
        yield {
            "pair": f"{lower} and {higher}",
            "metric": METRICS[metric],
            "mean": signed(found["mean"]),
            "from": low,
            "to": high,
            "p_value": found.get("corrected_p_value"),
            "better": better if told_apart else "not told apart",
            "wins": wins,
        }
