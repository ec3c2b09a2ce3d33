"""A study of one model as the page reads it: its splits, and what its record says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Columns
from kalibre.pages.material import Material, Record
from kalibre.pages.words import NONE
from kalibre.repeats.layout import on_fewer

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Study:
    """All splits of one model, on the part in front."""

    model: str
    record: Record
    splits: Columns
    part: str
    rule: str

    def values(self, calibrator: str, metric: str) -> Floats | None:
        """A metric in every split, None where it was not measured."""
        name = f"{self.rule}/ece" if metric == "ece" else metric
        column = self.splits.get(f"{calibrator}/{self.part}/{name}")
        return None if column is None else np.asarray(column, dtype=np.float64)

    def calibrators(self) -> list[str]:
        """The calibrators that are measured, the model's own probabilities left out."""
        names = {name.split("/")[0] for name in self.splits if f"/{self.part}/" in name}
        return sorted(names - {NONE, "parts"})

    def calibration_rows(self, calibrator: str) -> list[int]:
        """The smaller numbers of rows that a calibrator was learned on too, in rising order."""
        begins = on_fewer(calibrator, 0).removesuffix("0")
        names = {name.split("/")[1] for name in self.splits if name.startswith(begins)}
        return sorted(int(name.rpartition("_")[2]) for name in names)

    def rows_learned(self, calibrator: str) -> float:
        """The rows that a calibrator is learned on as a rule: the mean over the splits."""
        part = self.record["params"][f"calibrators/{calibrator}/learn_on"]
        return float(np.mean(np.asarray(self.splits[f"parts/{part}/rows"])))

    def difference(
        self, calibrator: str, metric: str, *, other: str = NONE, rows: int | None = None
    ) -> dict[str, float]:
        """What the record says of a metric after a calibrator minus before: mean, wins, intervals.

        Minus another's, if one is named; after it was learned on fewer rows, if their number is given.
        """
        name = f"{self.rule}/ece" if metric == "ece" else metric
        after = calibrator if rows is None else on_fewer(calibrator, rows)
        prefix = f"{after}/{self.part}/{name}/minus_{other}/"
        metrics = self.record["metrics"]
        return {k.removeprefix(prefix): v for k, v in metrics.items() if k.startswith(prefix)}

    @property
    def overstated(self) -> float:
        """By how much the mean confidence differs from the accuracy; 0 where neither is measured."""
        said, right = self.values(NONE, "mean_confidence"), self.values(NONE, "accuracy")
        if said is None or right is None or not len(said):
            return 0.0
        return abs(float(np.nanmean(said) - np.nanmean(right)))

    @property
    def count(self) -> int:
        """The number of splits."""
        return len(self.splits["seed"])


def studies(material: Material) -> Iterator[Study]:
    """The study of each model on the part in front."""
    for record in material.of_rule("join_repeats"):
        model = record["subject"]["model"]
        splits = material.studies[model]
        measured = [name.split("/") for name in splits if name.startswith(f"{NONE}/")]
        parts = list(dict.fromkeys(names[1] for names in measured))
        front = next((p for p in ("test", "validation") if p in parts), parts[0] if parts else "")
        yield Study(model, record, splits, front, material.bin_rule)
