"""Projects to run Snakemake in; the expensive ones are built once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import built as builds
from built import Built
from projects import Project

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here starts Snakemake, and most of it takes seconds."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.workflow)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Some lessons, built on two cores and tracked."""
    return builds.tracked(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All lessons, built on one core without MLflow."""
    return builds.computed(tmp_path_factory.getbasetemp())


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., Project]:
    """Makes a project without results, of the experiments named."""

    def make(*experiments: str) -> Project:
        return Project.new(tmp_path / "project", experiments=experiments)

    return make
