"""How every chart looks: colours, fonts, axes.

The hues are Okabe and Ito's (2008, "Color universal design"), darkened until marks have the contrast
that WCAG asks of graphics (3:1 on white). Nothing is told by colour alone: shapes differ as well.

Charts are Vega-Lite, written with Altair: one description gives the chart with hover in the page and,
through vl-convert and without a browser, the picture for print, for the README and for MLflow.
"""

from __future__ import annotations

from typing import Any

import altair as alt

BLUE = "#0067a3"
RED = "#b84300"
GREEN = "#00704f"
PURPLE = "#8a4d80"
OCHRE = "#8a6200"
GREY = "#7a8594"
LIGHT = "#c3cbd4"
BAND = "#dfe4ea"
INK = "#17202c"
MUTED = "#556070"

SERIES = (BLUE, RED, GREEN, PURPLE, OCHRE, INK)
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

# Arial and Liberation Sans have the same widths, so a picture has the same layout everywhere.
STILL_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
LIVE_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"


def config(font: str) -> dict[str, Any]:
    """The part of a chart's description that is the same in all."""
    return {
        "font": font,
        "background": "white",
        "view": {"stroke": None},
        "axis": {
            "labelColor": MUTED,
            "titleColor": INK,
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": "#e8ecf0",
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
        },
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelFontSize": 12.5,
            "labelColor": INK,
            "symbolSize": 90,
            "labelLimit": 260,
            "offset": 10,
        },
        "text": {"color": MUTED, "fontSize": 11},
        "header": {"labelFontSize": 13, "labelColor": INK, "title": None},
    }


def values(rows: list[dict[str, Any]]) -> Any:
    """Rows inside the chart's own description."""
    return alt.Data(values=rows)


def colours(names: list[str]) -> alt.Scale:
    """One colour a series, in their order."""
    return alt.Scale(domain=names, range=[SERIES[i % len(SERIES)] for i in range(len(names))])


def shapes(names: list[str]) -> alt.Scale:
    """One shape a series, in their order."""
    return alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
