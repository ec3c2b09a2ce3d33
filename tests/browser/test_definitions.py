"""The labs' numbers are the engine's: the same state measured in the page and in Python, to 1e-9."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser.conftest import Opened
from kalibre.evaluation import bin_rule
from kalibre.logits import expit
from kalibre.metrics.bins import assign
from kalibre.metrics.proper import brier_score
from kalibre.metrics.ranking import Level, accuracy, count_at_level, mean_confidence, roc_auc
from kalibre.metrics.reliability import reliability_table
from kalibre.pages.static import ASSETS

RULES = [
    {"rule": "equal_width", "count": 10, "edges": None},
    {"rule": "equal_width", "count": 7, "edges": None},
    {"rule": "equal_mass", "count": 5, "edges": None},
    {"rule": "equal_width", "count": None, "edges": [0.0, 0.3, 0.8, 1.0, 1.0]},
]
MEASURE = """([outcomes, probabilities, logits, weights, rule]) => {
  const edges = kalibre.edgesOf(rule, probabilities, weights);
  const table = kalibre.reliability(outcomes, probabilities, edges, weights);
  return {
    edges,
    ece: table.ece,
    counts: table.bins.map((bin) => bin.count),
    gaps: table.bins.map((bin) => bin.gap),
    brier: kalibre.brier(outcomes, probabilities, weights),
    accuracy: kalibre.accuracy(outcomes, probabilities, weights),
    confidence: kalibre.meanConfidence(probabilities, weights),
    above: kalibre.above(outcomes, probabilities, 0.9, weights),
    auc: kalibre.rocAuc(outcomes, logits, weights),
    probabilities: logits.map(kalibre.expit),
  };
}"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the definitions alone."""
    path = tmp_path_factory.mktemp("code") / "metrics.html"
    script = (ASSETS / "metrics.js").read_text(encoding="utf-8")
    path.write_text(f"<!doctype html><meta charset='utf-8'><script>{script}</script>")
    return path


@pytest.fixture
def bare(show: Callable[..., Opened], code: Path) -> Opened:
    return show(code)


def state(seed: int, *, weighted: bool) -> tuple[Any, ...]:
    """Random rows, with ties, with certainties, and with values on the edges of bins."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(2, 60))
    logits = np.round(random.normal(0, 3, rows), int(random.integers(0, 4)))
    probabilities = expit(logits)
    on_edge = random.random(rows) < 0.3
    probabilities[on_edge] = random.integers(0, 11, on_edge.sum()) / 10
    outcomes = random.integers(0, 2, rows)
    weights = random.choice([0.5, 1.0, 2.0, 0.1], rows) if weighted else None
    return outcomes, probabilities, logits, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=["tenths", "sevenths", "equal mass", "own edges"])
def test_page_and_python_measure_the_same(
    bare: Opened, rule: dict[str, Any], weighted: bool
) -> None:
    for seed in range(40):
        outcomes, probabilities, logits, weights = state(seed, weighted=weighted)
        plain = [
            None if a is None else a.tolist() for a in (outcomes, probabilities, logits, weights)
        ]
        found = bare.page.evaluate(MEASURE, [*plain, rule])
        bins = bin_rule(rule)
        table = reliability_table(outcomes, probabilities, bins=bins, weights=weights)
        assert found["edges"] == bins.edges(probabilities, weights).tolist()
        assert found["ece"] == pytest.approx(table.ece, abs=1e-9)
        assert found["counts"] == pytest.approx(table.count.tolist(), abs=1e-9)
        assert found["brier"] == pytest.approx(
            brier_score(outcomes, probabilities, weights=weights), abs=1e-9
        )
        assert found["accuracy"] == pytest.approx(
            accuracy(outcomes, probabilities, weights=weights), abs=1e-9
        )
        assert found["confidence"] == pytest.approx(
            mean_confidence(outcomes, probabilities, weights=weights), abs=1e-9
        )
        counted = count_at_level(
            outcomes, probabilities, level=Level("confidence", above=0.9), weights=weights
        )
        assert found["above"]["count"] == pytest.approx(counted.count, abs=1e-9)
        assert found["above"]["errors"] == pytest.approx(counted.errors, abs=1e-9)
        area = roc_auc(outcomes, logits, weights=weights)
        assert found["auc"] == (None if np.isnan(area) else pytest.approx(area, abs=1e-9))
        assert found["probabilities"] == pytest.approx(expit(logits).tolist(), abs=1e-15)


def test_every_outcome_of_the_ten_answers_agrees(bare: Opened) -> None:
    stated = [0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0]
    edges = [0.6, 0.8, 1.0, 1.0]
    states = [list(outcomes) for outcomes in product((0, 1), repeat=10)]
    found = bare.page.evaluate(
        """([states, stated, edges]) => states.map((outcomes) => [
          kalibre.reliability(outcomes, stated, edges).ece, kalibre.brier(outcomes, stated)])""",
        [states, stated, edges],
    )
    rule = bin_rule({"edges": edges})
    for outcomes, (ece, brier) in zip(states, found, strict=True):
        assert ece == pytest.approx(reliability_table(outcomes, stated, bins=rule).ece, abs=1e-9)
        assert brier == pytest.approx(brier_score(outcomes, stated), abs=1e-9)


@pytest.mark.parametrize("count", [2, 3, 5, 10, 50, 100])
def test_values_at_and_beside_an_edge_fall_into_the_same_bin(bare: Opened, count: int) -> None:
    edges = np.arange(count + 1) / count
    values = np.unique(np.clip([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)], 0, 1))
    found = bare.page.evaluate(
        "([values, count]) => values.map((p) => kalibre.assign(p, kalibre.unitEdges(count)))",
        [values.tolist(), count],
    )
    assert found == assign(values, edges).tolist()


def test_rows_outside_own_edges_leave_no_ece(bare: Opened) -> None:
    found = bare.page.evaluate("kalibre.reliability([1, 0], [0.7, 0.5], [0.6, 1.0])")
    assert found["ece"] is None
    assert found["outside"] == 1
