"""The few numbers a person should see first: on top of the page, and on the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kalibre.pages.material import Evaluated, Material
from kalibre.pages.words import NONE, plain, signed
from kalibre.repeats.layout import fewer_rows

MOST = 4
SEEN = 0.0005


@dataclass(frozen=True)
class Headline:
    """A number and what it is."""

    value: str
    label: str


def headlines(material: Material) -> list[Headline]:
    """At most four, the first one for the index: what the experiment is about comes first."""
    found = [
        *_study(material),
        *_decisions(material),
        *_ladder(material),
        *_calibration(material),
    ]
    last = [*_gate(material), *_ledger(material)]
    return [*found[: MOST - len(last)], *last]


def _gate(material: Material) -> Iterator[Headline]:
    if material.gate:
        checks = len(material.gate["checks"])
        kept = checks - material.gate["failed"]
        yield Headline(f"{kept} of {checks}", "limits of the gate are kept")


def _study(material: Material) -> Iterator[Headline]:
    """In how many splits a map lowers the Brier score; the clearest case first."""
    wins: list[tuple[int, Headline]] = []
    for record in material.of_rule("join_repeats"):
        model, metrics = record["subject"]["model"], record["metrics"]
        for key, value in metrics.items():
            if not key.endswith("/brier/minus_none/lower") or fewer_rows(key)[1] is not None:
                continue
            calibrator = plain(key.split("/")[0])
            label = f"splits in which {calibrator} lowers the Brier score of {plain(model)}"
            wins.append((value, Headline(f"{value} of {metrics['splits']}", label)))
    yield from (headline for _, headline in sorted(wins, key=lambda win: -win[0]))


def _decisions(material: Material) -> Iterator[Headline]:
    for record in material.of_rule("tabulate_comparisons"):
        rows = material.table(record)
        moved = [(float(row["contribution_measured"]), row["title"]) for row in rows]
        if len(moved) > 1:
            raised = sum(value > 0 for value, _ in moved)
            yield Headline(f"{raised} of {len(moved)}", "decisions raise the accuracy")
            value, title = max(moved)
            yield Headline(signed(value), f"accuracy by the best of them, {title}")


def _ladder(material: Material) -> Iterator[Headline]:
    for record in material.of_rule("measure_leak"):
        metrics = record["metrics"]
        rungs = sorted(
            k for k in metrics if k[0].isdigit() and k.endswith("_outside/accuracy/leak")
        )
        if not rungs:
            continue
        model = plain(record["subject"]["model"])
        yield Headline(
            signed(metrics[rungs[-1]]),
            f"accuracy of {model} gained by learning all preparation outside the folds: the leak",
        )
        distance = metrics.get(rungs[-1].replace("/leak", "/distance"))
        if distance is not None:
            side = "below" if distance < 0 else "above"
            label = f"the same score stands {side} the one of the held-out rows"
            yield Headline(signed(abs(distance)), label)


def _calibration(material: Material) -> Iterator[Headline]:
    """For each model the ECE as it is, and after the map that moves it most."""
    part, name = material.part, f"{material.bin_rule}/ece" if material.evaluated else ""
    found: list[tuple[float, float, Headline]] = []
    for model in dict.fromkeys(e.model for e in material.evaluated):
        own = material.find(model, NONE)
        if own is None or (ece := own.metric(part, name)) is None:
            continue
        moved, after = _moved_most(material, model, part, name, ece)
        change = abs(after - ece)
        if moved is None or change < SEEN:
            found.append((0.0, -ece, Headline(f"{ece:.3f}", f"ECE of {plain(model)}")))
            continue
        label = f"ECE of {plain(model)} before and after {plain(moved.calibrator)}"
        found.append((-change, -ece, Headline(f"{ece:.3f} → {after:.3f}", label)))
    yield from (headline for _, _, headline in sorted(found, key=lambda item: item[:2]))


def _moved_most(
    material: Material, model: str, part: str, name: str, ece: float
) -> tuple[Evaluated | None, float]:
    """The map that moves the ECE most, of those that did not learn from the rows measured."""
    best: tuple[Evaluated | None, float] = (None, ece)
    for evaluated in material.evaluated:
        if evaluated.model != model or evaluated.calibrator == NONE:
            continue
        after = evaluated.metric(part, name)
        if after is None or material.calibrator(evaluated.calibrator).get("part") == part:
            continue
        if abs(after - ece) > abs(best[1] - ece):
            best = evaluated, after
    return best


def _ledger(material: Material) -> Iterator[Headline]:
    counts = ledger_counts(material.figures)
    if material.settings.get("lesson") != material.experiment or not counts:
        return
    due = counts.get("match", 0) + counts.get("differs", 0)
    label = "figures of the lesson's page, to the printed digit"
    if counts.get("open"):
        label += f"; {counts['open']} more are open"
    yield Headline(f"{counts.get('match', 0)} of {due}", label)


def ledger_counts(figures: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many figures match, differ or are open."""
    states = [figure["status"] for figure in figures]
    return {state: states.count(state) for state in dict.fromkeys(states)}
