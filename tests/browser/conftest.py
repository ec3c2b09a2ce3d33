"""A headless Chromium, the installed one; Playwright downloads no browser of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from browser.made import Made, biopsy, trivia

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESK, PHONE = 1280, 390


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here opens a page."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser, started once."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser is installed: looked for {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        # The pages are our own; in a container the browser's sandbox is not to be had.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page on the screen, with what it complained about and what it asked the network for."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(path.as_uri())

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.said.append(text)

    def drawn(self) -> Opened:
        """Itself, once every chart has taken its place."""
        self.page.wait_for_function("document.documentElement.dataset.ready === 'true'")
        return self

    def number(self, reading: str) -> float:
        """A reading of a lab with all its digits."""
        value = self.page.locator(f"[data-reading='{reading}']").get_attribute("data-value")
        assert value, f"{reading} has no value"
        return float(value)

    def shown(self, reading: str) -> str:
        """A reading as people see it."""
        return self.page.locator(f"[data-reading='{reading}']").inner_text()


@pytest.fixture
def show(chromium: Browser) -> Iterator[Callable[..., Opened]]:
    """Opens a file offline, as wide as asked for."""
    contexts = []

    def open_file(path: Path, width: int = DESK) -> Opened:
        context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
        contexts.append(context)
        return Opened(context.new_page(), path)

    yield open_file
    for context in contexts:
        context.close()


def write(made: Made, folder: Path) -> Path:
    """A page as a file."""
    path = folder / made.material.experiment / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.report().html, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def trivia_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the ten answers."""
    return write(trivia(), tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def biopsy_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the biopsies."""
    return write(biopsy(), tmp_path_factory.mktemp("pages"))
