"""An experiment on a file of predictions that runs at once: nothing is fitted, everything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.cli.glance import Suspicion
from kalibre.cli.look import read
from kalibre.cli.project import slug
from kalibre.cli.yaml_text import as_label, entry, listed, remarks, suspicion_lines
from kalibre.data.table import Table
from kalibre.experiment.data import Predictions
from kalibre.metrics.ranking import roc_auc

SCALES = ("probability", "logit")


@dataclass(frozen=True)
class Given:
    """Predictions, and what there is to say of them.

    Attributes
    ----------
    data : dict
        The section `data`: only what a person gave, models by their names.
    table : Table
        What is read by it.
    suspicions : tuple of Suspicion
        What to look at before a number is believed.
    """

    data: dict[str, Any]
    table: Table
    suspicions: tuple[Suspicion, ...]

    @property
    def outcome(self) -> NDArray[np.int8]:
        """What happened in each row, 0 or 1."""
        return np.asarray(self.table.roles["outcome"])

    @property
    def positive(self) -> str:
        """The label that counts as 1."""
        return str(self.table.result.params["positive"])

    @property
    def models(self) -> list[str]:
        """The models whose predictions these are."""
        return [model for scale in SCALES for model in self.data.get(scale, {})]


def look_at_predictions(options: Mapping[str, Any]) -> Given:
    """Read a file of predictions, and see what is suspicious.

    Parameters
    ----------
    options : mapping
        Keys of the section `data` that a person gave; `probability` and `logit` are lists of columns.

    Raises
    ------
    InputError
        If the file is not there, is no table, or holds values that cannot be used.
    """
    data = {"source": "predictions", **options}
    taken: set[str] = set()
    for scale in SCALES:
        if scale in data:
            data[scale] = {_model_name(column, taken): column for column in data[scale]}
    table = read(Predictions, data)
    found = [
        one
        for scale in SCALES
        for model, column in data.get(scale, {}).items()
        for one in _suspicions(column, scale, table, model)
    ]
    return Given(data, table, tuple(found))


def predictions_text(name: str, given: Given) -> str:
    """The experiment's file."""
    rows, positives = len(given.outcome), int(given.outcome.sum())
    file = Path(given.data["file"]).name
    opening = (
        f"Written after a look at {given.data['file']} ({rows} rows). It runs as it stands; change what you "
        f"know better, then: kalibre check {name}; snakemake {name}"
    )
    data = given.data
    lines = ["data:", "  source: predictions"]
    for key in ("file", "encoding", "delimiter", "missing", "outcome"):
        if key in data:
            lines += entry(key, data[key])
    remark = f"counts as 1: {positives} of {rows} rows ({100 * positives / rows:.1f} %)"
    lines += entry("positive", as_label(given.positive), remark=remark)
    lines += remarks(["Each model by a name of your choice, and its column."], indent=2)
    for key in (*SCALES, "group", "weight"):
        if key in data:
            lines += entry(key, data[key])
    lines += remarks([f"- {note}" for note in given.table.result.notes], indent=2, hang=2)
    return (
        "\n".join(
            [
                *remarks([opening]),
                *entry("title", f"{listed(given.models, 5)} in {file}", indent=0),
                "question: Of the rows that are called 0.8, do 80 % happen?",
                "",
                *suspicion_lines(given.suspicions),
                *lines,
                "",
                *_EVALUATION,
                "",
                *_CORRECTION,
            ]
        )
        + "\n"
    )


_EVALUATION = [
    "evaluation:",
    "  # Ten bins of equal width; `rule: equal_mass` cuts bins of equally many rows.",
    "  bins: {tenths: {count: 10}}",
]

_CORRECTION = [
    "# Would a correction help? Delete the marks: it is learned from half of the rows, measured on the rest.",
    "# split: {method: stratified, seed: 0, parts: {calibration: 0.5}, rest: test}",
    "# calibration: {calibrators: [none, temperature, isotonic], learn_on: [calibration]}",
    "#",
    "# Limits for continuous integration, checked by `snakemake gate`; an empty section has default ones.",
    "# gate: {}",
]


def _model_name(column: str, taken: set[str]) -> str:
    """A column's name as a model's, another one for every column."""
    name = slug(column, start="model") or "model"
    number = 2
    while name in taken:
        name = f"{slug(column, start='model') or 'model'}_{number}"
        number += 1
    taken.add(name)
    return name


def _suspicions(column: str, scale: str, table: Table, model: str) -> Sequence[Suspicion]:
    scores = np.asarray(table.features[f"{model}/{scale}"])
    outcome = np.asarray(table.roles["outcome"])
    found = []
    auc = float(roc_auc(outcome, scores))
    if auc < 0.5:
        sentence = (
            f"higher predictions go with fewer positives (ROC AUC {auc:.2f}): are they of the other label? "
            "Then name that one as the positive label"
        )
        found.append(Suspicion(column, sentence))
    if scale == "probability" and np.isin(scores, (0.0, 1.0)).all():
        sentence = "holds only 0 and 1: these are decisions, not probabilities"
        found.append(Suspicion(column, sentence))
    return found
