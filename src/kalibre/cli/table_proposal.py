"""An experiment on a table that runs at once, written for its owner to read and change.

What it proposes is plain: a split with a test part that nothing learns from, a linear model and boosted
trees, one number that mends probabilities which are too sure (Guo and others 2017, "On calibration of
modern neural networks"), and a ladder that shows what preparation would leak outside the folds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kalibre.cli.look import Look
from kalibre.cli.yaml_text import as_label, entry, listed, remarks, scalar, suspicion_lines
from kalibre.columns import Categories

TEST = 0.25
CALIBRATION = 0.25

ENOUGH_FOR_ISOTONIC = 1000
"""Calibration rows from which on isotonic regression is proposed: with fewer it costs more than it mends."""

FEW_CATEGORIES = 12
"""Categories of a column up to which each becomes a column of its own."""

MANY_ROWS = 200_000
"""Rows above which the ladder is left for its owner to switch on: it fits every model many times."""

FOLDS = 5
FEWEST_ROWS = 10
MOST_NOTES = 20


def table_text(name: str, look: Look) -> str:
    """The experiment's file.

    Parameters
    ----------
    name : str
        The experiment's name.
    look : Look
        What is in the table.
    """
    lines = [
        *remarks([_opening(name, look)]),
        *entry("title", f"{look.data['target']} in {Path(look.data['file']).name}", indent=0),
        "question: Are the probabilities true, and was the score earned?",
        "",
        *suspicion_lines(look.suspicions),
        *_data(look),
        "",
        *_split(look),
        "",
        *_preparation(look),
        *_models(),
        "",
        *_calibration(look),
        "",
        *_evaluation(),
        "",
        *_folds(look),
        "",
        *_repeats(look),
        "",
        *_gate(),
    ]
    return "\n".join(lines) + "\n"


def _opening(name: str, look: Look) -> str:
    return (
        f"Written after a look at {look.data['file']} ({len(look.outcome)} rows, {look.columns} columns). It "
        f"runs as it stands; change what you know better, then: kalibre check {name}; snakemake {name}"
    )


def _data(look: Look) -> list[str]:
    positives = int(look.outcome.sum())
    share = 100 * positives / len(look.outcome)
    data = dict(look.data)
    lines = ["data:", "  source: table"]
    for key in ("file", "encoding", "delimiter", "missing", "target"):
        if key in data:
            lines += entry(key, data[key])
    remark = f"counts as 1: {positives} of {len(look.outcome)} rows ({share:.1f} %)"
    lines += entry("positive", as_label(look.positive), remark=remark)
    for key in ("id", "group", "time", "weight"):
        if key in data:
            lines += entry(key, data[key], remark=look.reasons.get(key, ""))
    lines += _hints(look)
    lines += _left_out(look)
    if "kinds" in data:
        lines += entry("kinds", data["kinds"])
    return [*lines, *_columns(look)]


def _hints(look: Look) -> list[str]:
    """A date may be the time at which the rows are to be parted."""
    dates = look.table.result.params["kinds"].get("date", [])
    if not dates or "time" in look.data:
        return []
    sentence = "a date; as `time`, later rows are measured by what was learned from earlier ones"
    return [
        line
        for date in dates[:3]
        for line in remarks([f"time: {scalar(date)}    # {sentence}"], indent=2)
    ]


def _left_out(look: Look) -> list[str]:
    columns = look.data.get("leave_out", [])
    if not columns:
        return []
    lines = ["  leave_out:"]
    for column in columns:
        lines += remarks([look.reasons.get(column, "")], indent=4)
        lines.append(f"    - {scalar(column)}")
    return lines


def _columns(look: Look) -> list[str]:
    """Remarks on what models see, and what was left out by itself."""
    said = ["What models learn from; say otherwise under `kinds`, `leave_out` or `columns`:"]
    for kind, columns in look.table.result.params["kinds"].items():
        if kind == "left out":
            continue
        shown = [_with_count(look, column) for column in columns]
        said.append(f"- {kind}: {listed(shown)}")
    notes = look.table.result.notes
    said += [f"- {note}" for note in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        said.append(f"- and {len(notes) - MOST_NOTES} more remarks, which the summary lists")
    return remarks(said, indent=2, hang=2)


def _with_count(look: Look, column: str) -> str:
    values = look.table.features[column]
    return f"{column} ({len(values.names)} values)" if isinstance(values, Categories) else column


def _split(look: Look) -> list[str]:
    method = next((role for role in ("time", "group") if role in look.data), "stratified")
    why = {
        "stratified": "every part has the label's share",
        "group": f"all rows of one {look.data.get('group')} are in one part",
        "time": "train is earliest, test latest",
    }[method]
    return [
        *remarks(
            [
                "Shares of the rows that earlier cuts have left. No model or calibrator learns from test."
            ]
        ),
        "split:",
        *entry("method", method, remark=why),
        "  seed: 0",
        f"  parts: {{test: {TEST}, calibration: {CALIBRATION}}}",
        "  rest: train",
    ]


def _preparation(look: Look) -> list[str]:
    """Steps for what models cannot take as it is: gaps among numbers, and categories."""
    steps: list[str] = []
    features = look.table.features
    numbers = {n: np.asarray(c) for n, c in features.items() if not isinstance(c, Categories)}
    categories = {n: c for n, c in features.items() if isinstance(c, Categories)}
    if any(c.dtype.kind == "f" and np.isnan(c).any() for c in numbers.values()):
        steps += [
            "  - {step: sklearn.impute.SimpleImputer, columns: numeric, params: {strategy: median}}"
        ]
    many = [name for name, column in categories.items() if len(column.names) > FEW_CATEGORIES]
    if many:
        steps += remarks(
            ["Many categories: each becomes the share of positives among its rows."], indent=2
        )
        steps += [
            "  - step: sklearn.preprocessing.TargetEncoder",
            *entry("columns", many, indent=4),
        ]
    if len(many) < len(categories):
        steps += remarks(
            ["Few categories: a column for each; one never seen in training is all zeros."],
            indent=2,
        )
        steps += [
            "  - step: sklearn.preprocessing.OneHotEncoder",
            "    columns: categorical",
            "    params: {handle_unknown: ignore}",
        ]
    if not steps:
        return []
    said = "Learned from each model's own training rows only, in this order."
    return [*remarks([said]), "preparation:", *steps, ""]


def _models() -> list[str]:
    return [
        *remarks(["Any classifier with scikit-learn's interface, by its importable path."]),
        "models:",
        "  logistic:",
        "    estimator: sklearn.linear_model.LogisticRegression",
        "    params: {max_iter: 1000}",
        "    standardise: true",
        "  boosted_trees:",
        "    estimator: sklearn.ensemble.HistGradientBoostingClassifier",
    ]


def _calibration(look: Look) -> list[str]:
    rows = len(look.outcome) * (1 - TEST) * CALIBRATION
    methods = ["none", "temperature"] + (["isotonic"] if rows >= ENOUGH_FOR_ISOTONIC else [])
    return [
        *remarks(
            [
                "`none` is the model's own probability; the others are learned on the part `calibration`. "
                "There are also platt, beta"
                + ("" if "isotonic" in methods else " and isotonic")
                + "."
            ]
        ),
        "calibration:",
        f"  calibrators: [{', '.join(methods)}]",
        "  learn_on: [calibration]",
    ]


def _evaluation() -> list[str]:
    return [
        "evaluation:",
        "  on: [test]",
        *remarks(
            ["Ten bins of equal width; `rule: equal_mass` cuts bins of equally many rows."],
            indent=2,
        ),
        "  bins: {tenths: {count: 10}}",
    ]


def _folds(look: Look) -> list[str]:
    """The ladder, on the cheaper model; as a remark where the table is large."""
    pool = len(look.outcome) * (1 - TEST)
    rarer = min(int(look.outcome.sum()), len(look.outcome) - int(look.outcome.sum())) * (1 - TEST)
    group = look.table.roles.get("group")
    groups = len(group.names) * (1 - TEST) if isinstance(group, Categories) else FOLDS
    count = max(2, min(FOLDS, int(rarer), int(groups)))
    section = ["folds:", f"  count: {count}", "  models: [logistic]", "  alone: false"]
    said = (
        "The leakage ladder: what a score would gain if preparation were learned outside the folds. "
        "`alone: true` also measures each step alone outside."
    )
    if pool <= MANY_ROWS:
        return [*remarks([said]), *section]
    said += f" With {len(look.outcome)} rows it takes a while; delete the marks to switch it on."
    return [*remarks([said]), *(f"# {line}" for line in section)]


def _repeats(look: Look) -> list[str]:
    """Many splits, as a remark: they take as long as they are many."""
    rows = len(look.outcome) * (1 - TEST) * CALIBRATION
    fewer = [int(rows * share) for share in (0.1, 0.25, 0.5) if int(rows * share) >= FEWEST_ROWS]
    said = (
        "One split can flatter. This would do the same on a hundred, compare models and calibrators over "
        "them, and say how many calibration rows are enough."
    )
    sizes = f", calibration_rows: {fewer}" if fewer else ""
    return [*remarks([said]), f"# repeats: {{splits: 100{sizes}}}"]


def _gate() -> list[str]:
    said = (
        "Limits for continuous integration, checked by `snakemake gate`. An empty section has default ones; "
        "a limit of your own stands in it, such as `ece_excess: 0.01`."
    )
    return [*remarks([said]), "# gate: {}"]
