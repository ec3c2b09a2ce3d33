"""What holds for every test: none of the person's own settings, no silent skip where all parts are due.

A test that needs a part this machine may lack (a browser, a database server) skips and says so.
With `KALIBRE_REQUIRE_PARTS=1`, as the checks before a change lands set it, such a skip is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

REQUIRE_PARTS = os.environ.get("KALIBRE_REQUIRE_PARTS") == "1"

# Examples are timed by nobody: another process on the same core must not fail a law.
hypothesis.settings.register_profile("kalibre", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("kalibre")


def pytest_configure() -> None:
    """Keep tests out of the person's own tracking store: no `MLFLOW_*` setting reaches them."""
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        del os.environ[name]


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    expected = hasattr(report, "wasxfail")
    if REQUIRE_PARTS and report.skipped and not expected:
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"No test may be skipped with KALIBRE_REQUIRE_PARTS=1. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one where all parts are due."""
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skipped module into a failed one where all parts are due."""
    report = yield
    _fail_if_skipped(report)
    return report
