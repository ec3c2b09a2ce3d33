"""A chart with its words: title, one sentence that says what to see, and the numbers as a table."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from kalibre.pages import theme
from kalibre.pages.markup import Markup, data, details, table, tag

STILL_WIDTH = {"row": 380, "grid": 420, "wide": 820}
"""Width of the drawn chart in the still picture, without its axes, in pixels."""

Layout = Literal["row", "grid", "wide"]


@dataclass(frozen=True)
class Figure:
    """A chart.

    Attributes
    ----------
    name : str
        Its file name without the ending.
    title : str
        What is drawn.
    sentence : str
        What to see.
    chart : Any
        An Altair chart without a width.
    height : int
        Of the drawn area, in pixels.
    layout : str
        `row`: chart and table side by side; `grid`: beside other charts; `wide`: the page's width.
    rows, header : the numbers as a table; the first column names the rows.
    still_width : of the drawn area in the still picture; by default as the layout has it.
    """

    name: str
    title: str
    sentence: str
    chart: Any
    height: int
    layout: Layout = "grid"
    rows: Sequence[Mapping[str, Any]] = ()
    header: Mapping[str, str] = field(default_factory=dict)
    still_width: int = 0

    @cached_property
    def _spec(self) -> dict[str, Any]:
        # Held against Vega-Lite's schema by the tests, once; at each page it would double the time.
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        return spec

    def description(self, *, width: int | str, font: str) -> dict[str, Any]:
        """The chart in Vega-Lite."""
        fitted = {"type": "fit-x" if width == "container" else "pad", "contains": "padding"}
        return self._spec | {
            "width": width,
            "height": self.height,
            "description": f"{self.title}. {self.sentence}",
            "config": theme.config(font),
            "autosize": fitted,
        }

    def still(self) -> str:
        """The picture as SVG, drawn without a browser."""
        # Loading the renderer costs more than the rest of the page; the index never draws.
        import vl_convert

        width = self.still_width or STILL_WIDTH[self.layout]
        spec = self.description(width=width, font=theme.STILL_FONT)
        return str(vl_convert.vegalite_to_svg(spec))

    def markup(self, still: str) -> Markup:
        """The figure in the page: the still picture first, the chart with hover takes its place."""
        spec = self.description(width="container", font=theme.LIVE_FONT)
        view = tag(
            "div",
            tag("img", src=_embedded(still), alt=f"{self.title}. {self.sentence}"),
            data(spec),
            class_="view",
            data_chart=self.name,
        )
        numbers = table(self.rows, self.header, label=self.title) if self.rows else None
        caption = tag("figcaption", self.sentence)
        if self.layout == "row":
            words = tag("div", tag("h3", self.title), caption, class_="words")
            return tag("figure", words, view, numbers, class_="row", id=f"figure_{self.name}")
        folded = details("The numbers", numbers) if numbers else None
        kind = "wide" if self.layout == "wide" else None
        return tag(
            "figure",
            tag("h3", self.title),
            caption,
            view,
            folded,
            class_=kind,
            id=f"figure_{self.name}",
        )


@dataclass(frozen=True)
class Section:
    """A part of the page: its place in the contents, a heading, a few words, figures and tables."""

    anchor: str
    short: str
    title: str
    lead: str
    body: Sequence[Figure | Markup]

    def figures(self) -> Iterator[Figure]:
        """The section's figures in their order."""
        return (item for item in self.body if isinstance(item, Figure))

    def markup(self, stills: Mapping[str, str]) -> Markup:
        """The section in the page; neighbouring small figures share a grid."""
        blocks: list[Markup] = []
        group: list[Markup] = []
        for item in self.body:
            piece = item.markup(stills[item.name]) if isinstance(item, Figure) else item
            if isinstance(item, Figure) and item.layout == "grid":
                group.append(piece)
                continue
            blocks += [*_grid(group), piece]
            group = []
        return tag(
            "section",
            tag(
                "div",
                tag("h2", self.title),
                tag("p", self.lead, class_="lead") if self.lead else None,
                *blocks,
                *_grid(group),
                class_="wrap",
            ),
            class_="part",
            id=self.anchor,
        )


def _grid(group: list[Markup]) -> list[Markup]:
    return [tag("div", *group, class_="grid")] if group else []


def _embedded(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
