"""What is measured of one model on one split, before and after each of its calibrators?

A measurement's name is its path in an `evaluate` record with the calibrator before it, such as
`temperature/validation/brier`; a calibrator's parameter stands under its calibrator, such as
`temperature/temperature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.calibrators.base import Calibrator
from kalibre.calibrators.registry import make_calibrator
from kalibre.columns import Columns
from kalibre.evaluation import bin_rule, level_name
from kalibre.manifests import check_overlap
from kalibre.metrics.bins import BinRule
from kalibre.metrics.changes import decisions_changed
from kalibre.metrics.ranking import Level
from kalibre.metrics.registry import Measured, Undefined
from kalibre.repeats import quick
from kalibre.repeats.cutting import Cut
from kalibre.repeats.fewer import check_enough, nested_order
from kalibre.repeats.layout import MODEL, NONE, on_fewer
from kalibre.repeats.learning import Learner, Unlearnable
from kalibre.scores import Scores

Positions = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class Row:
    """One row of the per-split table.

    Attributes
    ----------
    values : dict
        Measurement to number.
    undefined : dict
        Measurement to the reason why it has none.
    notes : list of str
        What the stages said.
    """

    values: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: float, reason: str) -> None:
        """Take a number, or the reason why there is none."""
        if np.isfinite(value):
            self.values[name] = float(value)
        else:
            self.undefined[name] = reason


@dataclass(frozen=True)
class Variant:
    """A calibrator of the model, the part it is learned on, and the calibrator whose scores it maps."""

    name: str
    calibrator: Calibrator
    learn_on: str | None
    after: str


@dataclass(frozen=True)
class Scored:
    """Rows of one split in the order of their parts, and where each part's rows lie."""

    row: Positions
    outcome: NDArray[np.int8]
    weight: Floats | None
    places: Mapping[str, slice]

    def weights_at(self, place: slice) -> Floats | None:
        """The weights of one part's rows, None if rows have none."""
        return None if self.weight is None else self.weight[place]

    def measured(self, part: str, scores: tuple[Floats, Floats]) -> Measured:
        """One part's rows with their probabilities and logits, which are those of all rows."""
        place = self.places[part]
        return Measured.of(
            self.outcome[place],
            scores[0][place],
            logits=scores[1][place],
            weights=self.weights_at(place),
        )


class ModelStudy:
    """Measures one model on split after split.

    Parameters
    ----------
    learner : Learner
        The model.
    roles : Columns
        The table's roles.
    learn_on : sequence of str
        Parts the model learns from.
    variants : sequence of mapping
        Its calibrators: `name`, `method`, `params`, `learn_on` (None for a fixed map), `after` (or None).
    parts : sequence of str
        Parts it is measured on.
    evaluation : mapping
        `metrics` (names), `bins` and `levels` as in the section `evaluation`.
    calibration_rows : sequence of int
        Numbers of rows, fewer than its part has, on which each calibrator is learned besides.
    declared : sequence of mapping
        The experiment's declared overlaps.
    """

    def __init__(
        self,
        learner: Learner,
        roles: Columns,
        *,
        learn_on: Sequence[str],
        variants: Sequence[Mapping[str, Any]],
        parts: Sequence[str],
        evaluation: Mapping[str, Any],
        calibration_rows: Sequence[int],
        declared: Sequence[Mapping[str, Any]],
    ) -> None:
        self.learner = learner
        self._outcome = np.asarray(roles["outcome"], dtype=np.int8)
        self._weight = np.asarray(roles["weight"], np.float64) if "weight" in roles else None
        self._learn_on = learn_on
        self._variants = list(_in_order(variants))
        self._parts = parts
        self._metrics = {name: quick.metric(name) for name in evaluation["metrics"]}
        self._rules = {name: bin_rule(spec) for name, spec in evaluation["bins"].items()}
        self._errors = {name: quick.calibration_error(r) for name, r in self._rules.items()}
        self._levels = {level_name(spec): Level(**spec) for spec in evaluation["levels"]}
        self._calibration_rows = sorted(set(calibration_rows))
        self._declared = declared
        learning = [v.learn_on for v in self._variants if v.learn_on is not None]
        self._scored_parts = list(dict.fromkeys([*learning, *parts]))

    def describe(self) -> dict[str, Any]:
        """The model, its calibrators and the bin rules, after all defaults."""
        calibrators = {
            v.name: {
                "method": v.calibrator.name,
                "learn_on": v.learn_on or "",
                "after": v.after if v.after != NONE else "",
                "params": v.calibrator.params(),
            }
            for v in self._variants
        }
        rules: dict[str, BinRule] = self._rules
        return {
            **self.learner.describe(),
            "seeded": self.learner.seeded,
            "learn_on": list(self._learn_on),
            "parts": list(self._parts),
            "calibrators": calibrators,
            "bins": {name: rule.describe() for name, rule in rules.items()},
        }

    def measure(self, cut: Cut, *, further_seed: int = 0) -> Row:
        """Learn on one split and measure there.

        Parameters
        ----------
        cut : Cut
            The split.
        further_seed : int
            Added to the model's own seed.

        Raises
        ------
        InputError
            If the estimator refuses the rows, or a calibrator's part has too few of them.
        """
        row = Row()
        scored = self._scored(cut)
        try:
            predicted = self.learner.learn_and_score(
                cut.rows(self._learn_on), scored.row, further_seed=further_seed
            )
        except Unlearnable as reason:
            row.undefined[MODEL] = str(reason)
            return row
        row.notes += predicted.notes
        scores = {NONE: (predicted.probability, predicted.logit)}
        for variant in self._variants:
            if variant.learn_on is not None or variant.name != NONE:
                scores[variant.name] = self._calibrate(row, variant, scores[variant.after], scored)
            self._measure(row, variant.name, scores[variant.name], predicted.logit, scored)
        if self._calibration_rows:
            self._learn_on_fewer(row, scores, scored, cut.seed)
        return row

    def check_overlaps(self, cut: Cut) -> tuple[str, ...]:
        """Compare the rows that are learned from and measured, stage by stage, on one split.

        Raises
        ------
        InputError
            If they overlap without a declaration.
        """
        nothing = np.zeros(len(cut.row))
        plain = Scores(
            row=cut.row,
            part=cut.part,
            outcome=self._outcome[cut.row],
            probability=nothing,
            logit=nothing,
            uncalibrated_logit=nothing,
            fitted=cut.part.isin(self._learn_on),
            calibrated=np.zeros(len(cut.row), dtype=bool),
        )
        said: list[str] = []
        scores = {NONE: plain}
        for variant in self._variants:
            before = scores[variant.after]
            chosen = before.in_parts([variant.learn_on] if variant.learn_on else [])
            if variant.learn_on:
                said += check_overlap(
                    before,
                    chosen,
                    stage="calibrate",
                    part=variant.learn_on,
                    declared=self._declared,
                )
            scores[variant.name] = after = before.calibrate(nothing, nothing, chosen)
            for part in self._parts:
                measured = after.in_parts([part])
                said += check_overlap(
                    after, measured, stage="evaluate", part=part, declared=self._declared
                )
        return tuple(dict.fromkeys(said))

    def _scored(self, cut: Cut) -> Scored:
        blocks = [cut.rows([part]) for part in self._scored_parts]
        ends = np.cumsum([0, *map(len, blocks)]).tolist()
        row = np.concatenate(blocks)
        places = {part: slice(ends[i], ends[i + 1]) for i, part in enumerate(self._scored_parts)}
        weight = None if self._weight is None else self._weight[row]
        return Scored(row, self._outcome[row], weight, places)

    def _calibrate(
        self, row: Row, variant: Variant, before: tuple[Floats, Floats], scored: Scored
    ) -> tuple[Floats, Floats]:
        probability, logit = before
        place = slice(0, None) if variant.learn_on is None else scored.places[variant.learn_on]
        fitted = variant.calibrator.fit(
            logit[place], scored.outcome[place], scored.weights_at(place)
        )
        for name, value in fitted.parameters().items():
            row.add(f"{variant.name}/{name}", value, "not finite")
        row.notes += [
            note if note.startswith(variant.name) else f"{variant.name}: {note}"
            for note in fitted.notes
        ]
        return fitted.transform(probability, logit)

    def _learn_on_fewer(
        self,
        row: Row,
        scores: Mapping[str, tuple[Floats, Floats]],
        scored: Scored,
        seed: int,
    ) -> None:
        """Learn each calibrator on fewer rows; one that it maps the scores of has learned from all."""
        learned = [(v, v.learn_on) for v in self._variants if v.learn_on is not None]
        orders = {
            part: nested_order(scored.outcome[scored.places[part]], seed)
            for part in dict.fromkeys(part for _, part in learned)
        }
        for part, order in orders.items():
            check_enough(self._calibration_rows, part, len(order))
        for variant, part in learned:
            probability, logit = scores[variant.after]
            place = scored.places[part]
            weight = scored.weights_at(place)
            for count in self._calibration_rows:
                chosen = orders[part][:count]
                fitted = variant.calibrator.fit(
                    logit[place][chosen],
                    scored.outcome[place][chosen],
                    None if weight is None else weight[chosen],
                )
                after = fitted.transform(probability, logit)
                for measured_part in self._parts:
                    path = f"{on_fewer(variant.name, count)}/{measured_part}"
                    self._add_scores(row, path, scored.measured(measured_part, after))

    def _measure(
        self,
        row: Row,
        name: str,
        scores: tuple[Floats, Floats],
        before: Floats,
        scored: Scored,
    ) -> None:
        for part in self._parts:
            measured = scored.measured(part, scores)
            self._add_scores(row, f"{name}/{part}", measured)
            self._add_levels(row, f"{name}/{part}", measured)
            if name != NONE:
                changed = decisions_changed(before[scored.places[part]], measured.logits)
                row.values[f"{name}/{part}/decisions_changed"] = changed

    def _add_scores(self, row: Row, path: str, rows: Measured) -> None:
        for name, function in self._metrics.items():
            try:
                row.add(f"{path}/{name}", function(rows), "not finite")
            except Undefined as reason:
                row.undefined[f"{path}/{name}"] = str(reason)
        for name, error in self._errors.items():
            row.add(f"{path}/{name}/ece", error(rows), "rows lie outside the edges")

    def _add_levels(self, row: Row, path: str, rows: Measured) -> None:
        for name, level in self._levels.items():
            for key, value in vars(quick.counts(rows, level)).items():
                row.add(f"{path}/{name}/{key}", value, "no row reaches the level")


def _in_order(variants: Sequence[Mapping[str, Any]]) -> Iterator[Variant]:
    """The calibrators, each after the one whose scores it maps; the model's own scores first."""
    waiting = {v["name"]: v for v in variants if v["name"] != NONE}
    yield Variant(NONE, make_calibrator(NONE), None, NONE)
    done = {NONE}
    while waiting:
        for name in [n for n, v in waiting.items() if (v["after"] or NONE) in done]:
            v = waiting.pop(name)
            done.add(name)
            calibrator = make_calibrator(v["method"], v["params"])
            yield Variant(name, calibrator, v["learn_on"], v["after"] or NONE)
