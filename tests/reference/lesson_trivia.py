"""Every figure of the lesson on ten trivia answers (seed 001), measured by hand.

Ten answers with a stated confidence are marked twice: against outcomes that fall short of the
confidence, and against outcomes that follow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.arithmetic import add_up, mean

Figures = dict[str, float]

CONFIDENCES = (0.6, 0.6, 0.7, 0.8, 0.8, 0.9, 0.9, 0.9, 1.0, 1.0)
OUTCOMES = {
    "overconfident": (1, 0, 0, 1, 0, 1, 0, 0, 1, 0),
    "calibrated": (1, 1, 0, 1, 1, 1, 1, 0, 1, 1),
}
LOWER_EDGES = (0.6, 0.8, 1.0)
"""A bin reaches from its lower edge up to the next one; the last holds certainty alone."""


def figures() -> Figures:
    """Return the lesson's figures, unrounded, under the identifiers of the ledger.

    Both sets of outcomes are measured alike; a few of these figures the lesson prints of one only.
    """
    measured = _confidences()
    for name, outcomes in OUTCOMES.items():
        measured |= _marks(name, outcomes)
    shrink = measured["trivia/overconfident/ece"] / measured["trivia/calibrated/ece"]
    measured["trivia/ece_shrink_factor"] = shrink
    measured["trivia/overconfident/ece_points"] = 100 * measured["trivia/overconfident/ece"]
    return measured


def bin_of(confidence: float) -> int:
    """Return the number of the bin that a confidence falls into."""
    return max(number for number, edge in enumerate(LOWER_EDGES) if edge <= confidence)


def brier(outcomes: Sequence[int], confidences: Sequence[float]) -> float:
    """Return the mean squared difference between confidence and outcome."""
    return mean(_squared_errors(outcomes, confidences))


def _squared_errors(outcomes: Sequence[int], confidences: Sequence[float]) -> list[float]:
    return [
        (confidence - outcome) ** 2
        for confidence, outcome in zip(confidences, outcomes, strict=True)
    ]


def _members(number: int) -> list[int]:
    return [at for at, confidence in enumerate(CONFIDENCES) if bin_of(confidence) == number]


def _confidences() -> Figures:
    measured: Figures = {
        "trivia/data/answers": len(CONFIDENCES),
        "trivia/data/bins": len(LOWER_EDGES),
        "trivia/confidence_sum": add_up(CONFIDENCES),
        "trivia/mean_confidence": mean(CONFIDENCES),
        "trivia/brier/constant_half": brier(OUTCOMES["overconfident"], [0.5] * len(CONFIDENCES)),
    }
    for confidence in sorted(set(CONFIDENCES)):
        name = str(confidence).replace(".", "_")
        measured[f"trivia/data/confidence_{name}/count"] = CONFIDENCES.count(confidence)
    for confidence in (0.9, 0.6, 1.0):
        name = str(confidence).replace(".", "_")
        measured[f"trivia/brier/wrong_at_{name}"] = brier([0], [confidence])
    for number in range(len(LOWER_EDGES)):
        inside = [CONFIDENCES[at] for at in _members(number)]
        measured[f"trivia/bin_{number}/count"] = len(inside)
        measured[f"trivia/bin_{number}/confidence_sum"] = add_up(inside)
        measured[f"trivia/bin_{number}/mean_confidence"] = mean(inside)
    return measured


def _marks(name: str, outcomes: Sequence[int]) -> Figures:
    errors = _squared_errors(outcomes, CONFIDENCES)
    measured: Figures = {
        f"trivia/{name}/correct": sum(outcomes),
        f"trivia/{name}/accuracy": mean(outcomes),
        f"trivia/{name}/squared_error_sum": add_up(errors),
        f"trivia/{name}/brier": mean(errors),
    }
    terms = []
    for number in range(len(LOWER_EDGES)):
        inside = _members(number)
        accuracy = mean([outcomes[at] for at in inside])
        gap = abs(mean([CONFIDENCES[at] for at in inside]) - accuracy)
        terms.append(len(inside) / len(CONFIDENCES) * gap)
        path = f"trivia/{name}/bin_{number}"
        measured[f"{path}/correct"] = sum(outcomes[at] for at in inside)
        measured[f"{path}/accuracy"] = accuracy
        measured[f"{path}/gap"] = gap
        measured[f"{path}/ece_term"] = terms[-1]
    measured[f"trivia/{name}/ece"] = add_up(terms)
    return measured
