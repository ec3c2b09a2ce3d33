"""Take the pictures in this folder anew from the pages in results/: python docs/screenshots/take.py.

Needs the development environment and an installed Chromium.
"""

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "results"
DESK, PHONE = 1280, 390


def opened(browser: Browser, page: str, width: int, height: int = 900) -> Page:
    """A page with its charts drawn."""
    view = browser.new_page(viewport={"width": width, "height": height})
    view.goto((RESULTS / page).as_uri())
    view.wait_for_function(
        "document.documentElement.dataset.ready || !document.querySelector('[data-chart]')"
    )
    view.wait_for_load_state("networkidle")
    # A part of the page is taken without the contents that stay at the top of the screen.
    view.add_style_tag(content="nav.contents { position: static }")
    return view


def keep(view: Page, name: str, section: str = "") -> None:
    """The screen, or one section of the page, as a picture."""
    path = HERE / f"{name}.png"
    if section:
        view.locator(section).screenshot(path=path)
    else:
        view.screenshot(path=path)
    view.close()


def take(browser: Browser) -> None:
    """One picture after the other."""
    for width, suffix in ((DESK, ""), (PHONE, "_phone")):
        keep(opened(browser, "index.html", width), f"index{suffix}")

        view = opened(browser, "trivia/report.html", width)
        view.get_by_role("radio", name="overconfident", exact=True).check(force=True)
        view.locator(".chip").nth(6).click()
        keep(view, f"trivia_lab{suffix}", "#lab")

        view = opened(browser, "biopsy/report.html", width)
        view.get_by_role("radio", name="on (T").check(force=True)
        keep(view, f"biopsy_lab{suffix}", "#lab")

    keep(opened(browser, "subscribers/report.html", DESK), "report")
    keep(opened(browser, "folds/report.html", DESK), "leakage_ladder", "#ladder")
    keep(opened(browser, "course/report.html", DESK), "decisions", "#decisions")
    keep(opened(browser, "study/report.html", DESK), "study", "#study")
    view = opened(browser, "subscribers/report.html", DESK)
    keep(view, "reliability", "#figure_reliability_linear_sharpened")


if __name__ == "__main__":
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        take(chromium)
        chromium.close()
