"""Every page: offline, quiet, quick, small, for everybody, on a desk and on a phone."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from browser.conftest import DESK, PHONE, Opened
from browser.made import Made, everything, record, reliability_rows, settings
from kalibre.columns import Categories
from kalibre.logits import expit
from kalibre.metrics.reliability import reliability_table
from kalibre.pages.index import index
from kalibre.pages.material import Material

Show = Callable[..., Opened]
LARGEST = 3_000_000
SECOND = 1000
OPEN = "document.querySelectorAll('details').forEach((d) => { d.open = true; })"


@pytest.fixture(scope="session")
def whole_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every section there is."""
    path = tmp_path_factory.mktemp("pages") / "report.html"
    path.write_text(Made(everything(), [], []).report().html, encoding="utf-8")
    return path


@pytest.fixture(params=["trivia_page", "biopsy_page", "whole_page"])
def any_page(request: pytest.FixtureRequest) -> Path:
    """One page after the other."""
    path: Path = request.getfixturevalue(request.param)
    return path


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_opens_offline_without_a_complaint_and_fits_the_screen(
    show: Show, any_page: Path, width: int
) -> None:
    page = show(any_page, width).drawn()
    assert page.said == []
    # Pictures inside the page are addresses too; nothing else is asked for.
    assert [url for url in page.asked if not url.startswith("data:")] == [any_page.as_uri()]
    assert page.page.evaluate("document.documentElement.scrollWidth") == width
    assert page.page.locator("[data-chart]:not(.drawn)").count() == 0


def test_is_small(any_page: Path) -> None:
    assert any_page.stat().st_size < LARGEST


def test_answers_within_a_second(show: Show, any_page: Path) -> None:
    # Another process may be on the same core: the quickest of a few counts.
    assert min(show(any_page).page.evaluate("kalibre.interactive") for _ in range(3)) < SECOND


def test_shows_numbers_on_hover(show: Show, whole_page: Path) -> None:
    page = show(whole_page).drawn()
    chart = page.page.locator("#figure_reliability_naive_bayes_none")
    chart.scroll_into_view_if_needed()
    chart.locator(".mark-symbol path").last.hover(force=True)
    tooltip = page.page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert re.search(r"says\s*0\.\d{4}", tooltip.inner_text())


def test_works_in_a_frame_that_may_only_run_scripts(
    show: Show, trivia_page: Path, tmp_path: Path
) -> None:
    """As the tracking server's pages show an artifact."""
    content = base64.b64encode(trivia_page.read_bytes()).decode()
    frame = tmp_path / "frame.html"
    frame.write_text(
        "<!doctype html><iframe sandbox='allow-scripts' style='width:1200px;height:800px'></iframe>"
        "<script>const bytes = Uint8Array.from(atob('" + content + "'), (c) => c.charCodeAt(0));"
        "document.querySelector('iframe').src ="
        " URL.createObjectURL(new Blob([bytes], { type: 'text/html' }));</script>"
    )
    page = show(frame)
    inside = page.page.frame_locator("iframe")
    inside.locator("html[data-ready]").wait_for(state="attached")
    inside.get_by_role("radio", name="calibrated", exact=True).check(force=True)
    assert inside.locator("[data-reading='ece']").inner_text() == "0.040"
    assert inside.get_by_role("link", name="All experiments").count() == 0
    inside.get_by_role("link", name="Scores").click()
    expect(inside.get_by_role("heading", name="The scores")).to_be_in_viewport()
    assert page.said == []


def test_shows_its_charts_without_javascript(chromium: object, whole_page: Path) -> None:
    context = chromium.new_context(java_script_enabled=False, offline=True)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(whole_page.as_uri())
    pictures = page.locator("[data-chart] img")
    assert pictures.count() == page.locator("[data-chart]").count() > 10
    assert all(p.bounding_box()["height"] > 100 for p in pictures.all()[:5])
    context.close()


# For everybody -------------------------------------------------------------------------------------------


def test_says_its_language_and_names_each_thing_once(show: Show, any_page: Path) -> None:
    page = show(any_page).page
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("h1").count() == 1
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map((h) => +h.tagName[1])")
    names = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(names) == len(set(names))
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_every_picture_has_words(show: Show, any_page: Path) -> None:
    page = show(any_page).drawn().page
    silent = page.evaluate(
        """[...document.querySelectorAll("img, [data-chart] .live, svg.diagram")]
          .filter((e) => !(e.alt || e.getAttribute("aria-label") || "").trim()).length"""
    )
    assert silent == 0


def test_the_keyboard_reaches_every_control(show: Show, any_page: Path) -> None:
    page = show(any_page).drawn().page
    page.evaluate(OPEN)
    # A group of radio buttons is one stop; arrow keys move within.
    wanted = page.evaluate(
        """() => {
          const all = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
          const stops = all.filter((e) => e.type !== "radio" || e.checked)
            .filter((e) => e.offsetParent !== null || e.classList.contains("skip"));
          stops.forEach((e, i) => { e.dataset.stop = i; });
          return stops.length;
        }"""
    )
    reached = set()
    # What a chart adds by itself comes in between.
    for _ in range(4 * wanted):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.stop"))
    assert {str(i) for i in range(wanted)} <= reached


CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.offsetParent) continue;
    if (element.closest("script, style, svg, .spoken")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(behind(element))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) poor.push([node.textContent.trim().slice(0, 40), ratio]);
  }
  return poor;
}"""


def test_text_has_the_contrast_of_wcag_aa(show: Show, any_page: Path) -> None:
    page = show(any_page).page
    page.evaluate(OPEN)
    assert page.evaluate(CONTRAST) == []


# Large data ----------------------------------------------------------------------------------------------


def test_a_million_predictions_give_a_small_page_with_both_labs(show: Show, tmp_path: Path) -> None:
    path, ece_of_all_rows = write_large(tmp_path)
    page = show(path).drawn()
    assert path.stat().st_size < LARGEST
    assert page.said == []
    assert page.page.locator(".chip").count() == 40
    assert "40 of 1000000 rows" in page.page.locator("[data-lab='answers'] .aside").inner_text()
    lab = page.page.locator("[data-lab='temperature']")
    assert "groups" in lab.locator(".aside").inner_text()
    ece = lab.locator("[data-reading='ece']").get_attribute("data-value")
    assert float(ece or "nan") == pytest.approx(ece_of_all_rows, abs=2e-3)


def write_large(folder: Path) -> tuple[Path, float]:
    """The page of a million predictions whose logits are twice too large, and their ECE."""
    random = np.random.default_rng(5)
    z = random.normal(0, 2, 1_000_000)
    outcome = (random.random(len(z)) < expit(z / 2)).astype(np.int8)
    found = reliability_table(outcome, expit(z))
    subject = {"model": "large", "calibrator": "none"}
    records = [
        record("evaluate", subject, {"all/rows": len(z), "all/tenths/ece": found.ece}),
        record("calibrate", subject | {"calibrator": "temperature"}, {"temperature": 2.0}),
    ]
    tables = {("evaluate", "large", "none"): reliability_rows(found, part="all", rule="tenths")}
    material = Material("large", settings("biopsy"), records, tables)
    columns = {
        "probability": expit(z),
        "logit": z,
        "outcome": outcome,
        "part": Categories.constant("all", len(z)),
    }
    model = {"model": "large", "learned_on": "all"}
    models = [
        {**model, "kind": "answers", "calibrator": "none"},
        {**model, "kind": "temperature", "calibrator": "temperature"},
    ]
    path = folder / "report.html"
    path.write_text(Made(material, models, [columns, columns]).report().html, encoding="utf-8")
    return path, found.ece


# The index -----------------------------------------------------------------------------------------------


def test_the_index_leads_to_every_page(show: Show, trivia_page: Path) -> None:
    params = {
        "title": "Is a stated confidence kept?",
        "question": "Whose promise holds?",
        "picture": "",
        "headline/value": "0.420",
        "headline/label": "ECE of overconfident",
    }
    path = trivia_page.parents[1] / "index.html"
    figures = [{"lesson": "trivia", "status": "match", "id": "trivia/ece"}]
    path.write_text(index([{"experiment": "trivia", "params": params}], figures, []))
    page = show(path)
    assert page.said == []
    assert "0.420" in page.page.locator(".card").inner_text()
    assert "1 of 1" in page.page.locator(".tiles").inner_text()
    page.page.get_by_role("link", name="Is a stated confidence kept?").click()
    assert page.page.locator("h1").inner_text() == "Is a stated confidence kept?"
    page.page.get_by_role("link", name="All experiments").click()
    assert page.page.url == path.as_uri()
