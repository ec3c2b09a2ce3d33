"""The table of comparisons as people read it: each decision's numbers, beside the printed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEADLINE = "accuracy"
"""The metric the table shows."""

CLOSING = "closing/"
"""Where the counts over the whole table stand among the metrics."""


def table_rows(
    comparisons: Mapping[str, Any],
    metrics: Mapping[str, float],
    ledger: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The table people read: for each row before, after and contribution, printed and measured.

    Parameters
    ----------
    comparisons : mapping
        The section `comparisons`.
    metrics : mapping
        Metrics of the record of `compare`.
    ledger : sequence of mapping
        Compared figures with their `metric`, `printed`, `difference` and `status`; a cell whose metric
        no figure names has a measurement alone.
    """
    printed = {figure["metric"]: figure for figure in ledger}
    table = []
    for spec in comparisons["rows"]:
        row: dict[str, Any] = {"name": spec["name"], "title": spec["title"] or spec["name"]}
        for cell in ("before", "after", "contribution"):
            path = f"{spec['name']}/{cell}/{HEADLINE}"
            figure = printed.get(f"compare/{path}", {})
            if cell != "contribution":
                row[f"{cell}_label"] = spec[cell]["label"]
            row |= {
                f"{cell}_printed": figure.get("printed"),
                f"{cell}_measured": metrics[path],
                f"{cell}_difference": figure.get("difference"),
                f"{cell}_status": figure.get("status"),
            }
            for end in ("lowest", "median", "highest"):
                value = metrics.get(f"{path}_{end}")
                if value is not None and cell != "contribution":
                    row[f"{cell}_{end}"] = value
        table.append(row)
    return table


def table_header() -> list[str]:
    """The columns of `table_rows`."""
    header = ["name", "title"]
    for cell in ("before", "after", "contribution"):
        names = ["printed", "measured", "difference", "status"]
        if cell != "contribution":
            names = ["label", *names, "lowest", "median", "highest"]
        header += [f"{cell}_{name}" for name in names]
    return header


def table_markdown(rows: Sequence[Mapping[str, Any]], closing: Mapping[str, float]) -> str:
    """The table in Markdown, measured beside printed, with the counts of the whole below."""
    lines = [
        "| decision | before | printed | after | printed | contribution | printed |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["title"]]
        for cell in ("before", "after", "contribution"):
            sign = "+" if cell == "contribution" else ""
            text = f"{row[f'{cell}_measured']:{sign}.4f}"
            if row.get(f"{cell}_lowest") is not None:
                text += f" ({row[f'{cell}_lowest']:.4f} to {row[f'{cell}_highest']:.4f})"
            if cell != "contribution" and row[f"{cell}_label"]:
                text += f" {row[f'{cell}_label']}"
            status = row[f"{cell}_status"]
            shown = f"{row[f'{cell}_printed']} {status}" if status else "-"
            cells += [text, shown]
        lines.append("| " + " | ".join(cells) + " |")
    counts = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in closing.items())
    return "\n".join([*lines, "", f"In all: {counts}."]) + "\n"


def closing_counts(metrics: Mapping[str, float]) -> dict[str, float]:
    """The counts over the whole table, by their names."""
    return {k.removeprefix(CLOSING): v for k, v in metrics.items() if k.startswith(CLOSING)}
