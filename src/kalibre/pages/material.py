"""What a page is made of: an experiment's records, and the tables beside them.

A page measures nothing. It shows what the rules left on disk, and takes whatever is there: a stage that
an experiment does not have leaves its section out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kalibre import files
from kalibre.columns import Columns

Record = Mapping[str, Any]
Rows = Sequence[Mapping[str, str]]

TABLES = {
    "evaluate": "reliability.csv",
    "climb_ladder": "folds.csv",
    "measure_leak": "leak.csv",
    "tabulate_comparisons": "../summary.csv",
    "fill_leak_sheet": "leak_sheet.csv",
    "compare_scores": "differences.csv",
}
"""Rule to the table beside its record that a page shows."""

STUDIES = {"join_repeats": "splits.parquet"}
GATES = {"check_gate": "../gate.json"}

HEADLINE_PARTS = ("test", "validation")
FEW_BINS = 2


@dataclass(frozen=True)
class Evaluated:
    """One model and calibrator, measured.

    Attributes
    ----------
    model, calibrator : str
    metrics : mapping
        As in the record: `test/brier`, `test/fifths/ece`.
    undefined : mapping
        Metric to the reason why it has no value.
    reliability : rows
        Of all parts and bin rules.
    """

    model: str
    calibrator: str
    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    reliability: Rows

    def parts(self) -> list[str]:
        """The parts it is measured on."""
        return list(dict.fromkeys(row["part"] for row in self.reliability))

    def metric(self, part: str, name: str) -> float | None:
        """A metric of one part, None where it has no value."""
        return self.metrics.get(f"{part}/{name}")

    def bins(self, part: str, rule: str) -> list[Mapping[str, str]]:
        """The reliability table of one part and bin rule."""
        return [row for row in self.reliability if (row["part"], row["bins"]) == (part, rule)]


@dataclass(frozen=True)
class Material:
    """All that a page shows.

    Attributes
    ----------
    experiment : str
        Its name.
    settings : mapping
        Its sections as plain built-ins, defaults included.
    records : sequence of mapping
        Its records, in the order of the data's way.
    tables : mapping
        (rule, subject) to the table beside the record.
    studies : mapping
        Model to the table of all splits.
    gate : mapping
        The limits and whether they are kept; empty without a gate.
    figures : sequence of mapping
        A lesson's printed figures beside what is measured here.
    """

    experiment: str
    settings: Mapping[str, Any]
    records: Sequence[Record]
    tables: Mapping[tuple[str, ...], Rows] = field(default_factory=dict)
    studies: Mapping[str, Columns] = field(default_factory=dict)
    gate: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Mapping[str, Any]] = ()

    @property
    def title(self) -> str:
        """The experiment's title, else its name."""
        return self.settings.get("title") or self.experiment

    @property
    def question(self) -> str:
        """The question it answers, in one line."""
        return self.settings.get("question") or ""

    def beside(self, figures: Sequence[Mapping[str, Any]]) -> Material:
        """The same, with a lesson's printed figures."""
        return replace(self, figures=figures)

    def of_rule(self, rule: str) -> list[Record]:
        """The records of one rule."""
        return [record for record in self.records if record["rule"] == rule]

    def table(self, record: Record) -> Rows:
        """The table beside a record."""
        return self.tables.get(_key(record), ())

    @cached_property
    def evaluated(self) -> list[Evaluated]:
        """Everything measured: of each model its own probabilities, then map after map."""
        found = [
            Evaluated(
                model=record["subject"]["model"],
                calibrator=record["subject"]["calibrator"],
                metrics=record["metrics"],
                undefined=record["undefined"],
                reliability=self.table(record),
            )
            for record in self.of_rule("evaluate")
        ]
        return sorted(found, key=lambda e: (e.model, self._maps_before(e.calibrator), e.calibrator))

    @cached_property
    def part(self) -> str:
        """The part whose numbers stand in front: `test`, else `validation`, else the first."""
        parts = [part for e in self.evaluated for part in e.parts()]
        return next((p for p in HEADLINE_PARTS if p in parts), parts[0] if parts else "")

    @cached_property
    def bin_rules(self) -> dict[str, Mapping[str, Any]]:
        """The bin rules, the one in front first: that with fewest bins, though two at least.

        The order in the experiment's file has no meaning, and fewer bins hold more rows each.
        """
        rules = self.settings["evaluation"]["bins"]

        def order(name: str) -> tuple[bool, int, str]:
            size = bin_count(rules[name])
            return size < FEW_BINS, size, name

        return {name: rules[name] for name in sorted(rules, key=order)}

    @property
    def bin_rule(self) -> str:
        """The name of the bin rule in front."""
        return next(iter(self.bin_rules))

    def find(self, model: str, calibrator: str) -> Evaluated | None:
        """One model and calibrator, None if it is not measured."""
        return next(
            (e for e in self.evaluated if (e.model, e.calibrator) == (model, calibrator)), None
        )

    def before(self, evaluated: Evaluated) -> Evaluated | None:
        """What a calibrator was given: the model's own probabilities, or another calibrator's."""
        if evaluated.calibrator == "none":
            return None
        return self.find(evaluated.model, self.calibrator(evaluated.calibrator)["after"] or "none")

    def _maps_before(self, calibrator: str) -> int:
        """How many maps a score has passed when it leaves a calibrator."""
        if calibrator == "none":
            return 0
        return 1 + self._maps_before(self.calibrator(calibrator)["after"] or "none")

    def calibrator(self, name: str) -> Mapping[str, Any]:
        """The settings of a calibrator by its full name, with the part it is learned on."""
        calibrators = self.settings["calibration"]["calibrators"]
        if name in calibrators:
            return {**calibrators[name], "family": name}
        for family, spec in calibrators.items():
            if name.startswith(f"{family}_on_"):
                return {**spec, "family": family, "part": name.removeprefix(f"{family}_on_")}
        return {"method": name, "after": None, "family": name}


def bin_count(rule: Mapping[str, Any]) -> int:
    """The number of bins a rule of the section `evaluation.bins` asks for."""
    return len(rule["edges"]) - 1 if rule["edges"] else rule["count"]


def material_files(records: Iterable[str]) -> list[str]:
    """The tables that `read_material` takes from beside these records."""
    beside = TABLES | STUDIES | GATES
    return [
        os.path.normpath(Path(record).parent / beside[rule])
        for record in records
        if (rule := _rule_of(record)) in beside
    ]


def read_material(
    paths: Iterable[str],
    *,
    experiment: str,
    settings: Mapping[str, Any],
) -> Material:
    """Read records and the tables beside them.

    Parameters
    ----------
    paths : iterable of str
        The records.
    experiment, settings
        As in `Material`.
    """
    records: list[Record] = []
    tables: dict[tuple[str, ...], Rows] = {}
    studies: dict[str, Columns] = {}
    gate: Mapping[str, Any] = {}
    for path in paths:
        record = files.read_json(path)
        records.append(record)
        rule, folder = record["rule"], Path(path).parent
        if rule in TABLES:
            tables[_key(record)] = files.read_csv(folder / TABLES[rule])
        if rule in STUDIES:
            studies[record["subject"]["model"]] = files.read_columns(folder / STUDIES[rule])
        if rule in GATES:
            gate = files.read_json(folder / GATES[rule])
    return Material(experiment, settings, records, tables, studies, gate)


def parsed(rows: Rows, numbers: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Rows of a CSV file with the named columns as numbers, None where a cell is empty."""
    wanted = tuple(numbers)
    for row in rows:
        yield {
            **row,
            **{name: float(row[name]) if row.get(name) else None for name in wanted},
        }


def _key(record: Record) -> tuple[str, ...]:
    return (record["rule"], *record["subject"].values())


def _rule_of(record: str) -> str:
    """The rule of a record by its place: `results/<experiment>/<rule>/...`."""
    parts = Path(record).parts
    return parts[2] if len(parts) > 2 else ""
