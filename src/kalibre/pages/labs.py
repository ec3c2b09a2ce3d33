"""The two labs: what a page must hold so that numbers can follow a click or a slider.

In the lab of single predictions each one flips between what happened and what did not; in the lab of
one number every logit is divided by T. A page stays small whatever the data: of many predictions some
are shown, evenly along what is stated, and many scores become groups of neighbouring ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre import files
from kalibre.columns import Categories, Columns
from kalibre.pages.figure import Section
from kalibre.pages.markup import Markup, data, tag
from kalibre.pages.material import Material
from kalibre.pages.words import NONE, plain, variant

ANSWERS = 40
"""Predictions that can be flipped one by one."""

ALL_ANSWERS = 60
"""Up to so many all are shown."""

EXACT_ROWS = 20_000
"""Scores in a page, all models together, before they are grouped."""

GROUPS = 1500
"""Groups that one model's scores become."""

SURE = 0.99

Floats = NDArray[np.float64]

_SCORES = ("part", "outcome", "probability", "logit", "weight")

_RIGHT = {
    "group": "The answers",
    "hint": "Each chip is one answer with its stated confidence. A click turns right into wrong and back.",
    "yes": "right",
    "no": "wrong",
    "rate": "accuracy",
    "said": "what the model says (mean of the bin)",
    "happened": "share that is right",
    "happens": "are right",
}
_HAPPENED = {
    "group": "The predictions",
    "hint": "Each chip is one prediction. A click turns what happened into what did not, and back.",
    "yes": "happened",
    "no": "did not",
    "rate": "happened",
    "said": "what the model says (mean of the bin)",
    "happened": "share that happened",
    "happens": "happened",
}


def read_scores(path: str) -> Columns:
    """The columns of a scores table that a lab needs."""
    columns = files.read_columns(path)
    return {name: column for name, column in columns.items() if name in _SCORES}


def answers_section(material: Material, given: Sequence[tuple[str, Columns]]) -> Section | None:
    """The lab of single predictions.

    Parameters
    ----------
    material : Material
        Whose bins are offered.
    given : sequence of (model, columns)
        `probability`, `outcome` and, if there are weights, `weight` of each model's rows.
    """
    if not given:
        return None
    presets = [_preset(model, columns) for model, columns in _worst_first(material, given)]
    stated = [p for preset in presets for p in preset["probabilities"]]
    words = _RIGHT if min(stated) >= 0.5 else _HAPPENED
    content = {"presets": presets, "bins": _bins(material), "words": words}
    lead = (
        "The stated numbers stay as they are; only what happened changes. Make the circles leave the "
        "diagonal, and bring them back."
    )
    return Section(
        "lab", "Try it", "Try it: is the promise kept?", lead, [_lab("answers", content)]
    )


def temperature_section(
    material: Material,
    models: Sequence[Mapping[str, Any]],
    scores: Sequence[Columns],
) -> Section | None:
    """The lab of one number.

    Parameters
    ----------
    material : Material
        Whose bins, part and learned temperatures are shown.
    models : sequence of mapping
        `model`, `calibrator` and `learned_on` of each.
    scores : sequence of Columns
        `logit`, `outcome`, `part` and, if there are weights, `weight`: the scores it divides.
    """
    if not models:
        return None
    measured = [_measured(columns, material.part) for columns in scores]
    exact = sum(len(columns["logit"]) for columns in measured) <= EXACT_ROWS
    shown = [
        _temperature_model(material, model, columns, exact=exact)
        for model, columns in zip(models, measured, strict=True)
    ]
    shown.sort(key=lambda model: -own_ece(material, model["name"].split("/")[0]))
    content = {
        "models": shown,
        "bins": _bins(material),
        "words": _HAPPENED,
        "level": _level(material),
        "part": plain(material.part),
    }
    lead = (
        "A temperature T divides every logit. Above 1 the model is less sure, below 1 surer. Watch the "
        "circles and the scores move, while order and decisions stay."
    )
    return Section("lab", "Try it", "Try it: one number", lead, [_lab("temperature", content)])


def _worst_first(
    material: Material, given: Sequence[tuple[str, Columns]]
) -> list[tuple[str, Columns]]:
    """The model with the largest ECE first: there is most to see."""
    return sorted(given, key=lambda item: (-own_ece(material, item[0]), item[0]))


def own_ece(material: Material, model: str) -> float:
    """The ECE of a model's own probabilities, 0 where it has none."""
    evaluated = material.find(model, NONE)
    ece = evaluated and evaluated.metric(material.part, f"{material.bin_rule}/ece")
    return ece or 0.0


def _lab(kind: str, content: Mapping[str, Any]) -> Markup:
    missing = tag("noscript", tag("p", "The lab needs JavaScript; the charts below do not."))
    return tag("div", data(content), missing, class_="lab", id=f"lab-{kind}", data_lab=kind)


def _bins(material: Material) -> list[dict[str, Any]]:
    return [
        {
            "name": plain(name),
            "rule": rule["rule"],
            "count": rule["count"],
            "edges": rule["edges"],
            "words": _bin_words(rule),
        }
        for name, rule in material.bin_rules.items()
    ]


def _bin_words(rule: Mapping[str, Any]) -> str:
    if rule["edges"]:
        return f"edges {', '.join(f'{edge:g}' for edge in rule['edges'])}"
    return f"{rule['count']} bins of {plain(rule['rule'])}"


# Single predictions ------------------------------------------------------------------------------------


def _preset(model: str, columns: Columns) -> dict[str, Any]:
    probability, outcome = np.asarray(columns["probability"]), np.asarray(columns["outcome"])
    rows = len(probability)
    chosen = np.arange(rows) if rows <= ALL_ANSWERS else spread_evenly(probability, outcome)
    preset = {
        "name": model,
        "label": plain(model),
        "probabilities": probability[chosen].tolist(),
        "outcomes": _digits(outcome[chosen]),
        "rows": rows,
        "sampled": rows > ALL_ANSWERS,
        "weights": None,
    }
    if "weight" in columns:
        preset["weights"] = np.asarray(columns["weight"])[chosen].tolist()
    return preset


def spread_evenly(probability: Floats, outcome: NDArray[np.int8]) -> NDArray[np.intp]:
    """Positions of `ANSWERS` rows, evenly along what is stated (and what happened, where that is equal)."""
    # A row in a million is as good as its neighbour: sorting all of ten million is not worth the wait.
    step = max(1, len(probability) // 1_000_000)
    thinned = np.arange(0, len(probability), step)
    order = thinned[np.lexsort((outcome[thinned], probability[thinned]))]
    places = ((np.arange(ANSWERS) + 0.5) * len(order) / ANSWERS).astype(int)
    return order[places]


def _digits(outcomes: NDArray[Any]) -> str:
    """Outcomes as a text of 0 and 1, which takes a byte a row."""
    return "".join("1" if value else "0" for value in outcomes.tolist())


# One number --------------------------------------------------------------------------------------------


def _measured(columns: Columns, part: str) -> Columns:
    parts = columns["part"]
    assert isinstance(parts, Categories)
    chosen = parts.isin([part])
    names = [name for name in ("logit", "outcome", "weight") if name in columns]
    return {name: np.asarray(columns[name])[chosen] for name in names}


def _temperature_model(
    material: Material, model: Mapping[str, Any], columns: Columns, *, exact: bool
) -> dict[str, Any]:
    logit, outcome = np.asarray(columns["logit"]), np.asarray(columns["outcome"])
    weight = np.asarray(columns["weight"]) if "weight" in columns else None
    evaluated = material.find(model["model"], model["calibrator"])
    same = sum(m["subject"]["model"] == model["model"] for m in _temperatures(material))
    shown: dict[str, Any] = {
        "name": f"{model['model']}/{model['calibrator']}",
        "label": variant(model["model"], model["calibrator"])
        if same > 1
        else plain(model["model"]),
        "temperature": _temperature(material, model),
        "learned_on": plain(model["learned_on"] or ""),
        "rows": len(logit),
        "grouped": not exact,
        "auc": evaluated.metric(material.part, "roc_auc") if evaluated else None,
    }
    if not exact:
        logit, outcome, weight = neighbours(logit, outcome, weight)
    return shown | {
        "logits": [_finite(z) for z in logit.tolist()],
        "outcomes": _digits(outcome),
        "weights": None if weight is None else weight.tolist(),
    }


def _temperatures(material: Material) -> list[Mapping[str, Any]]:
    return [r for r in material.of_rule("calibrate") if "temperature" in r["metrics"]]


def _temperature(material: Material, model: Mapping[str, Any]) -> float:
    subject = {"model": model["model"], "calibrator": model["calibrator"]}
    for record in _temperatures(material):
        if record["subject"] == subject:
            return float(record["metrics"]["temperature"])
    return 1.0


def _finite(z: float) -> float | str:
    """JSON has no infinity; JavaScript reads it from a text."""
    return z if np.isfinite(z) else "Infinity" if z > 0 else "-Infinity"


def _level(material: Material) -> float:
    """The confidence above which rows are counted: the first the experiment names."""
    levels: Iterable[Mapping[str, Any]] = material.settings["evaluation"]["levels"]
    named = (lv["above"] for lv in levels if lv["of"] == "confidence" and lv["above"] is not None)
    return next(named, SURE)


def neighbours(
    logit: Floats, outcome: NDArray[np.int8], weight: Floats | None
) -> tuple[Floats, NDArray[np.int8], Floats]:
    """Scores as groups of neighbouring ones of the same outcome and the same sign.

    Parameters
    ----------
    logit, outcome, weight : ndarray, shape (n,)
        Weights may be None.

    Returns
    -------
    logit, outcome, weight : ndarray, shape (m,)
        Mean logit, outcome and number (or summed weight) of at most about `GROUPS` groups.
    """
    weights = np.ones(len(logit)) if weight is None else weight
    groups = []
    for happened in (0, 1):
        for positive in (False, True):
            chosen = (outcome == happened) & ((logit >= 0.0) == positive)
            if chosen.any():
                groups.append((happened, *_merged(logit[chosen], weights[chosen], len(logit))))
    return (
        np.concatenate([means for _, means, _ in groups]),
        np.concatenate([np.full(len(means), y, dtype=np.int8) for y, means, _ in groups]),
        np.concatenate([sums for _, _, sums in groups]),
    )


def _merged(logit: Floats, weight: Floats, rows: int) -> tuple[Floats, Floats]:
    """Means and weights of groups of about equal size, in the order of scores; infinity by itself."""
    finite = np.isfinite(logit)
    order = np.argsort(logit[finite], kind="stable")
    z, w = logit[finite][order], weight[finite][order]
    means, sums = np.zeros(0), np.zeros(0)
    if len(z):
        count = min(len(z), max(1, round(GROUPS * len(z) / rows)))
        starts = np.arange(count) * len(z) // count
        sums = np.add.reduceat(w, starts)
        means = np.add.reduceat(z * w, starts) / np.where(sums > 0, sums, 1.0)
    if not finite.all():
        means = np.append(means, logit[~finite][0])
        sums = np.append(sums, weight[~finite].sum())
    return means, sums
