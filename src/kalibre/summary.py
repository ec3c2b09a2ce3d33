"""What a person reads when an experiment is done: its tables as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kalibre.readings import COLUMNS, readings
from kalibre.repeats.rows import FEWER_HEADER, HEADER, fewer_rows_lines, study_rows

Record = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

WIDTH = 100
SHOWN_TABLES = 12
"""Reliability tables printed; an experiment with more has them all in its folder."""

_HEADLINES = (
    "rows",
    "observed_rate",
    "mean_probability",
    "brier",
    "log_loss",
    "roc_auc",
    "accuracy",
)
_SHORT = {
    "observed_rate": "observed",
    "mean_probability": "mean p",
    "brier": "Brier",
    "log_loss": "log loss",
    "roc_auc": "ROC AUC",
    "mean_predicted": "mean p",
}


_SHOWN_FOLDS = 10
_SIGNED = ("gap", "distance", "leak", "from", "to", "contribution", "difference")
_CELLS = ("before", "after", "contribution")
_BESIDE_FOLDS = {
    "held_out/accuracy": "true number (held-out rows, learned on the whole pool)",
    "single_split/accuracy": "single split",
    "held_out/commoner_class_accuracy": "always the commoner class",
}


def summary_text(
    experiment: str,
    settings: Mapping[str, Any],
    records: Sequence[Record],
    reliability: Mapping[tuple[str, str], Rows],
    sheet: Rows = (),
) -> str:
    """An experiment's tables.

    Parameters
    ----------
    experiment : str
        Its name.
    settings : mapping
        Its sections.
    records : sequence of mapping
        Its records.
    reliability : mapping
        (model, calibrator) to the rows of its reliability table.
    sheet : sequence of mapping
        The sheet on leakage.
    """
    blocks = [_head(experiment, settings), _scores(records), _readings(records)]
    blocks += [_calibrators(records)]
    blocks += [_ladder(records), _comparisons(settings, records), _study(records)]
    parts = list(dict.fromkeys(row["part"] for rows in reliability.values() for row in rows))
    shown = next((p for p in ("test", "validation") if p in parts), parts[0] if parts else "")
    blocks += [
        _reliability(model, calibrator, shown, [r for r in rows if r["part"] == shown])
        for (model, calibrator), rows in list(reliability.items())[:SHOWN_TABLES]
    ]
    blocks += [_leak_sheet(sheet), _notes(records)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def table_text(rows: Rows, header: Sequence[str]) -> str:
    """Rows as aligned text: words to the left, numbers to the right."""
    cells = [[_SHORT.get(name, name.replace("_", " ")) for name in header]]
    cells += [[_cell(row, name) for name in header] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    numeric = [all(_is_number(row.get(name)) for row in rows) for name in header]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in cells
    ]
    return "\n".join(lines)


def cell_text(value: Any) -> str:
    """A number at four decimals, a whole number without, nothing as a dash."""
    if value is None or value == "":
        return "-"
    if isinstance(value, str):
        try:
            value = float(value) if "." in value or "e" in value else int(value)
        except ValueError:
            return str(value)
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if name in ("rows", "effective rows") and isinstance(value, float) and value.is_integer():
        # A sum of weights, which are whole as a rule.
        value = int(value)
    text = cell_text(value)
    return f"+{text}" if name in _SIGNED and text[0].isdigit() else text


def _is_number(value: Any) -> bool:
    if value is None or value == "" or isinstance(value, (int, float)):
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _head(experiment: str, settings: Mapping[str, Any]) -> str:
    title = settings.get("title") or experiment
    lines = [f"{experiment}: {title}", "=" * min(WIDTH, len(experiment) + len(title) + 2)]
    return "\n".join(lines + ([settings["question"]] if settings.get("question") else []))


def _scores(records: Sequence[Record]) -> str:
    """One line a model, calibrator and part."""
    lines, rules = [], []
    for record in _of_rule(records, "evaluate"):
        metrics = record["metrics"]
        for part in _parts(metrics):
            line = {**record["subject"], "part": part}
            for name in _HEADLINES:
                line[name] = metrics.get(f"{part}/{name}")
            for key, value in metrics.items():
                name = key.removeprefix(f"{part}/").removesuffix("/ece")
                if key == f"{part}/{name}/ece" and "/" not in name:
                    band = f"{part}/{name}/null_band/upper"
                    line |= {f"ECE {name}": value, f"by chance {name}": metrics.get(band)}
                    rules += [f"ECE {name}", f"by chance {name}"]
            lines.append(line)
    header = ["model", "calibrator", "part", *_HEADLINES, *dict.fromkeys(rules)]
    return table_text(lines, header) if lines else ""


def _parts(metrics: Mapping[str, Any]) -> list[str]:
    return [
        key.removesuffix("/rows")
        for key in metrics
        if key.endswith("/rows") and key.count("/") == 1
    ]


def _calibrators(records: Sequence[Record]) -> str:
    """What each calibrator learned."""
    lines = []
    for record in _of_rule(records, "calibrate"):
        learned = record["params"].get("learn_on")
        if not learned:
            continue
        numbers = {k: v for k, v in record["metrics"].items() if k != "learned_rows"}
        text = ", ".join(f"{name} {cell_text(float(value))}" for name, value in numbers.items())
        lines.append(
            {
                **record["subject"],
                "learned on": learned,
                "rows": record["metrics"].get("learned_rows"),
                "parameters": text,
            }
        )
    header = ["model", "calibrator", "learned on", "rows", "parameters"]
    return table_text(lines, header) if lines else ""


def _ladder(records: Sequence[Record]) -> str:
    """One line a rung: the folds' accuracies, their mean, and what it owes to the steps outside."""
    leaks = {r["subject"]["model"]: r["metrics"] for r in _of_rule(records, "measure_leak")}
    beside = {r["subject"]["model"]: r["metrics"] for r in _of_rule(records, "measure_held_out")}
    blocks = []
    for model, leak in leaks.items():
        lines = []
        for record in _of_rule(records, "climb_ladder"):
            if record["subject"]["model"] != model:
                continue
            rung, metrics = record["subject"]["rung"], record["metrics"]
            folds = [k for k in metrics if k.endswith("/accuracy")]
            line = {"learned outside": record["params"]["learned_outside"] or "nothing"}
            line |= {key.removesuffix("/accuracy"): metrics[key] for key in folds[:_SHOWN_FOLDS]}
            line |= {name: metrics.get(f"accuracy/{name}") for name in ("mean", "spread")}
            path = f"{rung}/accuracy"
            line |= {name: leak.get(f"{path}/{name}") for name in ("distance", "leak")}
            line["from"] = leak.get(f"{path}/leak_corrected_low")
            line["to"] = leak.get(f"{path}/leak_corrected_high")
            lines.append(line)
        numbers = beside.get(model, {})
        said = [
            f"{title} {numbers[key]:.4f}" for key, title in _BESIDE_FOLDS.items() if key in numbers
        ]
        head = f"{model}: accuracy by what was learned outside the folds"
        text = f"{head}\n{table_text(lines, list(lines[0]))}"
        blocks.append(f"{text}\n{'; '.join(said)}" if said else text)
    return "\n\n".join(blocks)


def _study(records: Sequence[Record]) -> str:
    lines = study_rows(records)
    if not lines:
        return ""
    text = f"Means over the splits\n{table_text(lines, HEADER)}"
    fewer = fewer_rows_lines(records)
    if fewer:
        head = "Brier score after minus before, by the rows a calibrator learned from"
        text += f"\n\n{head}\n{table_text(fewer, FEWER_HEADER)}"
    return text


def _readings(records: Sequence[Record]) -> str:
    """What needs no bins."""
    lines = list(readings(records))
    header = ["model", "calibrator", "part", *COLUMNS.values()]
    head = "Without bins: true probabilities have slope 1 and intercept 0"
    return f"{head}\n{table_text(lines, header)}" if lines else ""


def _comparisons(settings: Mapping[str, Any], records: Sequence[Record]) -> str:
    """One line a decision, in the experiment file's order."""
    lines = []
    for record in _of_rule(records, "compare"):
        metrics = record["metrics"]
        for row in settings["comparisons"]["rows"]:
            cells = {c: metrics.get(f"{row['name']}/{c}/accuracy") for c in _CELLS}
            lines.append({"decision": row["title"] or row["name"], **cells})
    return f"Accuracy before and after\n{table_text(lines, ['decision', *_CELLS])}" if lines else ""


def _reliability(model: str, calibrator: str, part: str, rows: Rows) -> str:
    blocks = []
    for rule in dict.fromkeys(row["bins"] for row in rows):
        chosen = [row for row in rows if row["bins"] == rule]
        lines = [
            {
                **row,
                "bin": _bin(row, last=row is chosen[-1]),
            }
            for row in chosen
        ]
        header = ["bin", "count", "mean_predicted", "observed_rate", "gap"]
        name = model if calibrator == "none" else f"{model}, {calibrator}"
        if not any(row["mean_predicted"] for row in lines):
            blocks.append(f"{name}: no row lies in the bins of {rule}")
            continue
        blocks.append(f"{name}: reliability on {part}, {rule}\n{table_text(lines, header)}")
    return "\n\n".join(blocks)


def _bin(row: Mapping[str, Any], *, last: bool) -> str:
    """A bin as an interval: closed on the left, the last one on both sides."""
    lower, upper = (f"{float(row[edge]):.4g}" for edge in ("lower", "upper"))
    if lower == upper:
        return f"[{lower}]"
    return f"[{lower}, {upper}{']' if last else ')'}"


def _leak_sheet(sheet: Rows) -> str:
    lines = [
        f"{row['type']:<5} {row['name']}: {row['status']}; {row['finding']}"
        + (f"; {row['by'] or 'somebody'} declares: {row['declared']}" if row["declared"] else "")
        for row in sheet
    ]
    return (
        "Leakage, the eight types of Kapoor and Narayanan (2023)\n" + "\n".join(lines)
        if lines
        else ""
    )


def _notes(records: Sequence[Record]) -> str:
    """What the stages had to say, each sentence once."""
    said: dict[str, list[str]] = {}
    for record in records:
        missing = [
            f"no {_SHORT.get(name, name)} on {part}: {reason}"
            for key, reason in record["undefined"].items()
            for part, _, name in [key.partition("/")]
            if record["rule"] == "evaluate"
            if name in _HEADLINES or name.endswith("/ece")
        ]
        for note in [*record["notes"], *missing]:
            said.setdefault(note, []).append(
                " ".join([record["rule"], *record["subject"].values()])
            )
    lines = [
        f"- {note} ({who[0]}{f' and {len(who) - 1} more' if len(who) > 1 else ''})"
        for note, who in said.items()
    ]
    return "To know:\n" + "\n".join(lines) if lines else ""


def _of_rule(records: Sequence[Record], rule: str) -> Iterable[Record]:
    return (record for record in records if record["rule"] == rule)
