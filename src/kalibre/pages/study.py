"""What do many splits say that one cannot? Distributions, pairs and how often which side wins.

A study may have a hundred thousand splits: distributions are counted here, and of the pairs at most
`MOST_PAIRS` are drawn, evenly along the seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from kalibre.pages import theme
from kalibre.pages.figure import Figure, Section
from kalibre.pages.markup import Markup, details, table
from kalibre.pages.material import Material
from kalibre.pages.studied import Study, studies
from kalibre.pages.study_calibrators import calibrators_compared, rows_needed
from kalibre.pages.words import LOWER_IS_BETTER, METRICS, NONE, counted, plain, signed, variant

MOST_PAIRS = 400
CELLS = 24
WON = ("ece", "brier", "log_loss", "roc_auc")
LOWER, EQUAL, HIGHER = "lower after", "equal", "higher after"

Floats = NDArray[np.float64]


def study_section(material: Material) -> Section | None:
    """Distributions, pairs and win counts of every model on many splits."""
    found = sorted(studies(material), key=lambda study: (-study.overstated, study.model))
    if not found:
        return None
    body: list[Figure | Markup] = []
    for study in found:
        body += _promise(study)
    for study in found:
        for calibrator in study.calibrators():
            body += _pairs(study, calibrator)
    for study in found:
        body += rows_needed(study)
    wins = _wins(found)
    body += [wins] if wins else []
    for study in found:
        body += calibrators_compared(study)
    body.append(details("The study in numbers", _table(found)))
    lead = (
        f"The same experiment on {counted(found[0].count, 'split', 'splits')}, measured on part "
        f"“{plain(found[0].part)}” of each. Splits share most of their rows, so the intervals of a mean "
        "difference are the corrected ones of Nadeau and Bengio (2003)."
    )
    return Section("study", "Splits", "Is it the split, or the model?", lead, body)


# What is said, and what is right --------------------------------------------------------------------------


def _promise(study: Study) -> Iterator[Figure]:
    """Mean confidence beside accuracy over the splits: what is promised, and what is kept."""
    said, right = study.values(NONE, "mean_confidence"), study.values(NONE, "accuracy")
    if said is None or right is None:
        return
    more = int(np.count_nonzero(said > right))
    yield Figure(
        name=f"study_promise_{study.model}",
        title=f"{_upper(plain(study.model))}: confidence and accuracy",
        sentence=(
            f"It declares {100 * np.nanmean(said):.1f} % on average and decides rightly in "
            f"{100 * np.nanmean(right):.1f} %; it promises more than it keeps in "
            f"{more} of {study.count} splits."
        ),
        chart=_distributions({"declared": said, "right": right}, "share of the rows", ".0%"),
        height=220,
    )


def _distributions(series: Mapping[str, Floats], title: str, numbers: str) -> Any:
    names = list(series)
    rows = list(_cells(series))
    x = alt.X(
        "from:Q",
        title=title,
        axis=alt.Axis(format=numbers, tickCount=6),
        scale=alt.Scale(zero=False),
    )
    return (
        alt.Chart(theme.values(rows))
        .mark_bar(opacity=0.62, stroke="white", strokeWidth=0.5)
        .encode(
            x,
            alt.X2("to:Q"),
            alt.Y("splits:Q", title="splits", stack=None, axis=alt.Axis(tickCount=4, format="d")),
            alt.Y2("zero:Q"),
            alt.Color("series:N", scale=theme.colours(names)),
            tooltip=[
                alt.Tooltip("series:N", title="what"),
                alt.Tooltip("from:Q", title="from", format=".4f"),
                alt.Tooltip("to:Q", title="to", format=".4f"),
                alt.Tooltip("splits:Q", title="splits", format=","),
            ],
        )
    )


def _cells(series: Mapping[str, Floats]) -> Iterator[dict[str, Any]]:
    """Counts of all series in the same cells."""
    everything = np.concatenate([v[np.isfinite(v)] for v in series.values()])
    low, high = float(everything.min()), float(everything.max())
    if low == high:
        low, high = low - 0.005, high + 0.005
    edges = np.linspace(low, high, CELLS + 1)
    for name, given in series.items():
        counts, _ = np.histogram(given[np.isfinite(given)], edges)
        for i in np.flatnonzero(counts):
            yield {
                "series": name,
                "from": float(edges[i]),
                "to": float(edges[i + 1]),
                "splits": int(counts[i]),
                "zero": 0,
            }


# Before and after, split by split -------------------------------------------------------------------------


def _pairs(study: Study, calibrator: str) -> Iterator[Figure]:
    for metric in ("brier", "ece"):
        before, after = study.values(NONE, metric), study.values(calibrator, metric)
        if before is None or after is None:
            continue
        label = METRICS[metric]
        name = variant(study.model, calibrator)
        yield Figure(
            name=f"study_pairs_{study.model}_{calibrator}_{metric}",
            title=f"{_upper(name)}: {label}",
            sentence=_pair_sentence(study, calibrator, metric),
            chart=_pair_chart(before, after, np.asarray(study.splits["seed"]), label),
            height=320,
            still_width=340,
        )


def _pair_sentence(study: Study, calibrator: str, metric: str) -> str:
    found = study.difference(calibrator, metric)
    label = METRICS[metric]
    lower = int(found.get("lower", 0))
    said = (
        f"Each circle is a split; below the diagonal {plain(calibrator)} lowers the {label}, "
        f"which it does in {lower} of {study.count}"
    )
    mean = found.get("mean")
    low, high = found.get("corrected_low"), found.get("corrected_high")
    if mean is None:
        return said + "."
    said += f"; on average it moves by {signed(mean)}"
    if low is None or high is None:
        return said + "."
    level = study.record["params"].get("level", 0.95)
    return f"{said} (corrected {100 * level:.0f} % interval {signed(low)} to {signed(high)})."


def _pair_chart(before: Floats, after: Floats, seeds: NDArray[Any], label: str) -> Any:
    known = np.flatnonzero(np.isfinite(before) & np.isfinite(after))
    chosen = known
    if len(known) > MOST_PAIRS:
        chosen = known[np.round(np.linspace(0, len(known) - 1, MOST_PAIRS)).astype(int)]
    rows: list[dict[str, Any]] = [
        {
            "seed": int(seeds[i]),
            "before": float(before[i]),
            "after": float(after[i]),
            "way": LOWER if after[i] < before[i] else EQUAL if after[i] == before[i] else HIGHER,
        }
        for i in chosen
    ]
    ends = [v for row in rows for v in (row["before"], row["after"])] or [0.0, 1.0]
    pad = 0.04 * (max(ends) - min(ends)) or 0.01
    domain = [min(ends) - pad, max(ends) + pad]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    x = alt.X("before:Q", title=f"{label} before", scale=scale, axis=alt.Axis(tickCount=5))
    y = alt.Y("after:Q", title=f"{label} after", scale=scale, axis=alt.Axis(tickCount=5))
    ways = [way for way in (LOWER, EQUAL, HIGHER) if any(row["way"] == way for row in rows)]
    diagonal = (
        alt.Chart(theme.values([{"before": v, "after": v} for v in domain]))
        .mark_line(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x, y)
    )
    colours = {LOWER: theme.BLUE, EQUAL: theme.GREY, HIGHER: theme.RED}
    marks = {LOWER: "circle", EQUAL: "diamond", HIGHER: "triangle-up"}
    points = (
        alt.Chart(theme.values(rows))
        .mark_point(filled=True, size=60, opacity=0.75)
        .encode(
            x,
            y,
            alt.Color("way:N", scale=alt.Scale(domain=ways, range=[colours[w] for w in ways])),
            alt.Shape("way:N", scale=alt.Scale(domain=ways, range=[marks[w] for w in ways])),
            tooltip=[
                alt.Tooltip("seed:Q", title="seed of the split", format="d"),
                alt.Tooltip("before:Q", title="before", format=".4f"),
                alt.Tooltip("after:Q", title="after", format=".4f"),
            ],
        )
    )
    return alt.layer(diagonal, points)


# Wins -----------------------------------------------------------------------------------------------------


def _wins(studies: Sequence[Study]) -> Figure | None:
    rows: list[dict[str, Any]] = [
        {
            "name": f"{variant(study.model, calibrator)}: {METRICS[metric]}",
            "way": way,
            "place": place,
            "splits": int(found[key]),
            "text": str(int(found[key])) if found[key] >= 0.06 * study.count else "",
        }
        for study in studies
        for calibrator in study.calibrators()
        for metric in WON
        if "lower" in (found := study.difference(calibrator, metric))
        for place, (way, key) in enumerate(((LOWER, "lower"), (EQUAL, "equal"), (HIGHER, "higher")))
        if found[key]
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row["name"] for row in rows))
    lower = ", ".join(METRICS[m] for m in WON if m in LOWER_IS_BETTER)
    return Figure(
        name="study_wins",
        title="In how many splits is the score lower after calibration?",
        sentence=f"Blue is the number of splits in which the score fell; for {lower} that is better.",
        chart=_wins_chart(rows, names),
        height=30 * len(names) + 10,
        layout="wide",
        still_width=560,
        rows=rows,
        header={"name": "score", "way": "the score is", "splits": "splits"},
    )


def _wins_chart(rows: list[dict[str, Any]], names: list[str]) -> Any:
    ways = [LOWER, EQUAL, HIGHER]
    colours = alt.Scale(domain=ways, range=[theme.BLUE, theme.LIGHT, theme.RED])
    base = alt.Chart(theme.values(rows))
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    x = alt.X("splits:Q", title="splits", stack="zero", axis=alt.Axis(format="d", tickCount=6))
    order = alt.Order("place:O")
    bars = base.mark_bar(size=18, stroke="white").encode(
        x,
        y,
        alt.Color("way:N", scale=colours),
        order=order,
        tooltip=[
            alt.Tooltip("name:N", title="score"),
            alt.Tooltip("way:N", title="is"),
            alt.Tooltip("splits:Q", title="splits", format=","),
        ],
    )
    labels = base.mark_text(align="right", dx=-6, fontSize=12).encode(
        alt.X("splits:Q", stack="zero"),
        y,
        alt.Text("text:N"),
        alt.Color("label_colour:N", scale=None),
        order=order,
    )
    for row in rows:
        row["label_colour"] = theme.INK if row["way"] == EQUAL else "white"
    return alt.layer(bars, labels)


# Numbers --------------------------------------------------------------------------------------------------


def _table(studies: Sequence[Study]) -> Markup:
    rows = [
        {
            "name": variant(study.model, calibrator),
            "metric": METRICS[metric],
            "mean": float(np.nanmean(given)),
            "low": float(np.nanquantile(given, 0.025)),
            "high": float(np.nanquantile(given, 0.975)),
            "difference": study.difference(calibrator, metric).get("mean"),
            "from": study.difference(calibrator, metric).get("corrected_low"),
            "to": study.difference(calibrator, metric).get("corrected_high"),
        }
        for study in studies
        for calibrator in (NONE, *study.calibrators())
        for metric in ("mean_confidence", "accuracy", *WON)
        if (given := study.values(calibrator, metric)) is not None and np.isfinite(given).any()
    ]
    header = {
        "name": "model",
        "metric": "score",
        "mean": "mean",
        "low": "2.5 % of splits below",
        "high": "2.5 % above",
        "difference": "after minus before",
        "from": "corrected from",
        "to": "to",
    }
    return table(rows, header, caption="Scores over the splits")


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]
