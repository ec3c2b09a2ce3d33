"""What the pages bring along: the style sheet, the labs' code, and the charts' library.

Everything stands inside the page, so that it opens offline, from disk, and inside a frame that may load
nothing. The library of the charts (Vega, Vega-Lite and Vega-Embed) is taken from vl-convert, which
draws the still pictures too: one version for both, and none of it kept in this project.
"""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parent / "assets"

STYLE = ("page.css",)
CODE = (
    "metrics.js",
    "diagram.js",
    "controls.js",
    "answers.js",
    "temperature.js",
    "page.js",
)
"""The labs, in the order in which they use each other."""

CHARTS = ("charts.js",)


def asset_files() -> list[Path]:
    """All files a page takes from here; the rule's inputs."""
    return [ASSETS / name for name in (*STYLE, *CODE, *CHARTS)]


def style() -> str:
    """The style sheet."""
    return _joined(STYLE)


def code() -> str:
    """The labs; runs before the charts' library."""
    return _joined(CODE)


def charts() -> str:
    """What puts the charts in their places; runs after their library."""
    return _joined(CHARTS)


def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; making it takes about a second."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in names)
