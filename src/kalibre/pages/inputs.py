"""Which files a page is made from: what its rule asks the plan.

Nothing here knows Snakemake; a rule's `input` and `params` call these functions.
"""

from __future__ import annotations

from typing import Any

from kalibre.plan import Plan, beside

TEMPERATURE = "temperature"
PAGE = "report_page"


def page_records(plan: Plan, experiment: str) -> list[str]:
    """The records a page shows: all of the experiment's, but those that stand on its page anyway."""
    last = ("measure_figures",)
    return [r for r in plan.tracked_records(experiment) if r.split("/")[2] not in (*last, PAGE)]


def lab_models(plan: Plan, experiment: str) -> list[dict[str, Any]]:
    """The models that a lab opens: all whose predictions are given, and all with a temperature.

    Returns
    -------
    list of dict
        `kind` ("answers" or "temperature"), `model`, `calibrator`, `learned_on`.
    """
    spec = plan.of(experiment)
    given = {"kind": "answers", "calibrator": "none", "learned_on": None}
    found = [{**given, "model": m} for m in spec.model_names()] if spec.predictions_given else []
    for model in spec.model_names():
        for name, variant in spec.variants(model).items():
            if variant.method == TEMPERATURE:
                found.append(
                    {
                        "kind": TEMPERATURE,
                        "model": model,
                        "calibrator": name,
                        "learned_on": variant.learn_on,
                    }
                )
    return found


def lab_scores(plan: Plan, experiment: str) -> list[str]:
    """The scores each of `lab_models` shows: for a temperature those it divides."""
    return [
        beside(
            plan.scores_record(experiment, lab["model"], "none")
            if lab["kind"] == "answers"
            else plan.learning_scores_record(experiment, lab["model"], lab["calibrator"]),
            "scores.parquet",
        )
        for lab in lab_models(plan, experiment)
    ]
