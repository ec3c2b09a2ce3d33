"""Every figure and every claim of a lesson that has an experiment is measured as it is printed."""

from pathlib import Path

import pytest

import built as builds
from kalibre.files import read_csv, read_json
from kalibre.ledger import paths
from projects import Project

ROOT = Path(__file__).parents[2]
LESSONS = {path.stem for path in (ROOT / "config/experiments").glob("*.yaml")}
FIGURES = [row for row in read_csv(ROOT / "config/published.csv") if row["lesson"] in LESSONS]
CLAIMS = [row for row in read_csv(ROOT / "config/claims.csv") if row["lesson"] in LESSONS]
BINDING = ("exact", "inferred")

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


@pytest.fixture(scope="session")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All lessons, built."""
    return builds.computed(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def measured(computed: Project) -> dict[str, dict[str, str]]:
    """The rows of `results/published.csv` by figure."""
    return {row["id"]: row for row in read_csv(computed.root / "results/published.csv")}


@pytest.fixture(scope="module")
def claimed(computed: Project) -> dict[str, dict[str, str]]:
    """The rows of `results/claims.csv` by claim."""
    return {row["id"]: row for row in read_csv(computed.root / "results/claims.csv")}


def _ids(rows: list[dict[str, str]], *expectations: str) -> list[str]:
    return [row["id"] for row in rows if row["expectation"] in expectations]


@pytest.mark.parametrize("figure", _ids(FIGURES, *BINDING))
def test_a_figure_is_measured_as_it_is_printed(measured, figure: str):
    row = measured[figure]
    assert row["status"] == "match", f"printed {row['printed']}, measured {row['measured']}"


@pytest.mark.parametrize("figure", _ids(FIGURES, "open"))
def test_an_open_figure_stands_open_beside_its_print(measured, figure: str):
    assert measured[figure]["status"] == "open"


@pytest.mark.parametrize("claim", _ids(CLAIMS, *BINDING))
def test_a_claim_in_words_holds(claimed, claim: str):
    row = claimed[claim]
    assert row["status"] == "holds", f"{row['relation']} {row['bound']}, measured {row['measured']}"


def test_every_figure_of_the_ledger_is_compared(measured):
    assert list(measured) == [row["id"] for row in read_csv(ROOT / "config/published.csv")]


def test_a_binding_figure_names_what_the_engine_measures(computed: Project):
    """No expression is a number alone: a figure comes from the experiment, not from the ledger."""
    for row in FIGURES:
        if row["expectation"] in BINDING:
            assert paths(row["metric"]), row["id"]


def test_figures_csv_has_every_figure_of_its_lesson_as_the_ledger_prints_it(computed: Project):
    for lesson in LESSONS:
        rows = read_csv(computed.root / f"results/{lesson}/figures.csv")
        expected = [(r["id"], r["printed"]) for r in FIGURES if r["lesson"] == lesson]
        assert [(row["id"], row["printed"]) for row in rows] == expected


def test_figures_csv_and_published_csv_measure_the_same(computed: Project, measured):
    for lesson in LESSONS:
        for row in read_csv(computed.root / f"results/{lesson}/figures.csv"):
            assert row["measured"] == measured[row["id"]]["measured"]


def test_a_measurement_is_in_full_precision(computed: Project, measured):
    metrics = read_json(computed.root / "results/subscribers/metrics.json")
    expected = metrics["evaluate/linear/none/test/fifths/ece"]
    assert float(measured["subscribers/summary/linear/ece"]["measured"]) == expected
