"""Names, numbers and bins as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NONE = "none"

METRICS = {
    "ece": "ECE",
    "brier": "Brier score",
    "log_loss": "log loss",
    "roc_auc": "ROC AUC",
    "accuracy": "accuracy",
    "mean_confidence": "mean confidence",
    "mean_probability": "says on average",
    "observed_rate": "happened",
    "rows": "rows",
}
"""What a metric is called."""

LOWER_IS_BETTER = frozenset({"ece", "brier", "log_loss"})


def plain(name: str) -> str:
    """A name from an experiment file as words: `naive_bayes` is "naive bayes"."""
    return name.replace("_", " ")


def variant(model: str, calibrator: str) -> str:
    """A model and what was done to its scores."""
    return plain(model) if calibrator == NONE else f"{plain(model)}, {plain(calibrator)}"


def cell(value: Any) -> str:
    """A number at four decimals, a whole one without, nothing as a dash."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) >= 10 else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"


def whole(value: float) -> float | int:
    """A whole number without its decimals; weights need not be whole."""
    return int(value) if float(value).is_integer() else float(value)


def signed(value: float, digits: int = 4) -> str:
    """A number with its sign; a typographic minus, and no sign at zero."""
    text = f"{value:+.{digits}f}"
    if float(text) == 0.0:
        return f"{0:.{digits}f}"
    return text.replace("-", "\u2212")


def counted(count: float, one: str, many: str) -> str:
    """`1 row`, `2 rows`."""
    shown = f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"
    return f"{shown} {one if count == 1 else many}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def number(text: Any) -> float | None:
    """A cell of one of our tables as a number; None where it is empty."""
    return None if text is None or text == "" else float(text)


def bin_name(row: Mapping[str, Any], *, last: bool) -> str:
    """A bin as an interval: closed on the left, the last one on both sides."""
    lower, upper = (f"{float(row[edge]):.4g}" for edge in ("lower", "upper"))
    return f"[{lower}]" if lower == upper else f"[{lower}, {upper}{']' if last else ')'}"
