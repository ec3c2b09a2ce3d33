"""An experiment: one YAML file, whose sections switch the stages of the engine on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, model_validator

from kalibre.calibrators.registry import CALIBRATORS, make_calibrator
from kalibre.errors import suggestion
from kalibre.experiment.base import Block, Name, plain
from kalibre.experiment.calibration import NONE, Calibration, Calibrator
from kalibre.experiment.comparisons import Comparisons
from kalibre.experiment.data import Data, InFile, Predictions, Subscribers, natural_method
from kalibre.experiment.evaluation import DeclaredOverlap, Evaluation
from kalibre.experiment.folds import Folds
from kalibre.experiment.gate import Gate
from kalibre.experiment.leak_sheet import LeakSheet
from kalibre.experiment.models import Model
from kalibre.experiment.preparation import Preparation
from kalibre.experiment.repeats import Repeats
from kalibre.experiment.split import COLUMN, TIME, Split, time_order_mistake
from kalibre.metrics.registry import METRICS
from kalibre.rungs import cumulative_rungs, single_rungs
from kalibre.scores import OUT_OF_FOLD

WHOLE = "all"
"""The one part of an experiment without a split."""

SPLIT_STREAM = 90000
"""Added to the subscribers' seed, it seeds their shuffle, as on the lessons' pages."""


class KeyedError(ValueError):
    """A value that disagrees with another section; `key` says where it stands."""

    def __init__(self, key: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class Variant:
    """A calibrator of one model, learned on one part (or not learned at all)."""

    name: str
    method: str
    params: dict[str, Any]
    learn_on: str | None
    after: str | None


class Experiment(Block):
    """The whole file."""

    title: str = Field("", description="One line for people: what is measured.")
    question: str = Field("", description="One line for people: the question it answers.")
    lesson: Name | None = Field(
        None, description="The published lesson whose figures are measured beside its page."
    )
    data: Data = Field(description="Where the rows come from.")
    split: Split | None = Field(None, description="Which rows belong to which part.")
    preparation: Preparation = Field(
        [], description="What is done to the columns before a model sees them, in order."
    )
    models: dict[Name, Model] = Field({}, description="Estimators to fit, by name.")
    calibration: Calibration = Field(
        Calibration(), description="Maps from a score to a truer probability."
    )
    evaluation: Evaluation = Field(Evaluation(), description="What is measured, and on which rows.")
    folds: Folds | None = Field(
        None, description="Cross-validation, and the ladder of preparation outside the folds."
    )
    comparisons: Comparisons | None = Field(
        None, description="Decisions, each measured before and after."
    )
    repeats: Repeats | None = Field(
        None, description="The same experiment on many splits, each with its own seed."
    )
    placed_among: Name | None = Field(
        None,
        description=(
            "The experiment with `repeats` among whose splits an open figure of this one's lesson is "
            "placed."
        ),
    )
    gate: Gate | None = Field(
        None, description="Limits on what is measured; the target `gate` fails if one is not kept."
    )
    leak_sheet: LeakSheet = Field(
        {}, description="What the author states on kinds of leakage that no row can show."
    )
    declared_overlap: list[DeclaredOverlap] = Field(
        [], description="Overlaps between stages that are there on purpose."
    )

    @model_validator(mode="after")
    def _sections_agree(self) -> Experiment:
        self._check_models()
        self._check_split()
        self._check_calibrators()
        self._check_keep()
        self._check_names(("evaluation", "metrics"), self.evaluation.metrics or [], METRICS)
        self._check_parts(("evaluation", "on"), self.evaluation.on or [])
        self._check_folds()
        if self.repeats is not None:
            self._check_names(("repeats", "metrics"), self.repeats.metrics, METRICS)
        if self.repeats is not None and (not self.models or self.split is None):
            raise KeyedError(("repeats",), "repeats need a section `split` and a section `models`")
        if self.repeats is not None and self.repeats.ladder and self.folds is None:
            raise KeyedError(("repeats", "ladder"), "a ladder needs a section `folds`")
        for limit in ("step_leak", "step_leak_upper"):
            if self.gate is not None and getattr(self.gate, limit) is not None and not self.folds:
                raise KeyedError(
                    ("gate", limit), "the ladder, which it limits, needs a section `folds`"
                )
        self._check_comparisons()
        for i, overlap in enumerate(self.declared_overlap):
            self._check_parts(("declared_overlap", i, "part"), [overlap.part])
        self._check_declared()
        return self

    # What the workflow asks.

    @property
    def predictions_given(self) -> bool:
        """Whether the scores exist already, so that nothing is fitted."""
        return isinstance(self.data, Predictions)

    def model_names(self) -> list[str]:
        """The models that are fitted, or whose predictions are given."""
        if isinstance(self.data, Predictions):
            return self.data.model_names()
        return sorted(self.models)

    def feature_columns(self) -> list[str]:
        """The columns models learn from, unless a model names its own; empty for all of the table."""
        assert not isinstance(self.data, Predictions)
        return list(self.data.columns or [])

    def parts(self) -> list[str]:
        """The parts of the split; `all` where nothing is split."""
        return self.split.part_names() if self.split else [WHOLE]

    def evaluated_parts(self) -> list[str]:
        """The parts every model is measured on."""
        if self.evaluation.on:
            return self.evaluation.on
        return next(([p] for p in ("test", "validation") if p in self.parts()), [self.parts()[-1]])

    def variants(self, model: str) -> dict[str, Variant]:
        """The calibrators of a model by their full names; one learned on several parts is several.

        The model's own probabilities, `none`, are always among them: the others are compared with them.
        """
        variants = {NONE: Variant(NONE, NONE, {}, None, None)}
        for name, spec in self.calibration.calibrators.items():
            if spec.models is not None and model not in spec.models:
                continue
            for part in self._learning_parts(spec):
                full = self._full_name(name, spec, part)
                if full in variants and full != NONE:
                    raise KeyedError(
                        ("calibration", "calibrators", name),
                        f"two calibrators would be called {full!r}, as one that is learned on several parts "
                        "is named after each; rename one of them",
                    )
                variants[full] = Variant(full, spec.method, spec.params, part, spec.after)
        return dict(sorted(variants.items()))

    def kept(self, model: str) -> str | None:
        """The calibrator whose model is saved, None where no calibrator is learned and none is named."""
        variants = self.variants(model)
        keep = self.calibration.keep
        if keep is not None or self.predictions_given:
            return keep if keep in variants and not self.predictions_given else None
        # One that was learned on measured rows is there to show what that does, not to be used.
        measured = self.evaluated_parts()
        learned = [n for n, v in variants.items() if v.learn_on and v.learn_on not in measured]
        order = list(CALIBRATORS)
        return min(learned, key=lambda n: (order.index(variants[n].method), n), default=None)

    def cross_fitting(self) -> dict[str, Any]:
        """The folds of calibrators learned out of fold, with what they leave to the data filled in."""
        folds = self.calibration.folds
        return {**plain(folds), "method": folds.method or natural_method(self.data)}

    def split_settings(self) -> dict[str, Any]:
        """The split as the stage takes it: the cuts in their order, and the seed they are made with."""
        assert self.split is not None
        default = self.data.seed + SPLIT_STREAM if isinstance(self.data, Subscribers) else 0
        settings = {"method": self.split_method(), **self.split.settings()}
        settings["seed"] = default if self.split.seed is None else self.split.seed
        return settings | ({"rest_is": self.rest_is()} if self.split_method() == TIME else {})

    def split_method(self) -> str:
        """How rows are cut into parts, by default as the data's roles ask for."""
        assert self.split is not None
        return self.split.method or natural_method(self.data)

    def rest_is(self) -> Literal["earliest", "latest"]:
        """Where the rest of a split by time lies: before the parts that are cut, or after them."""
        assert self.split is not None
        fitted = {part for model in self.models.values() for part in model.learn_on}
        measured = self.split.rest in self.evaluated_parts()
        return "latest" if measured and self.split.rest not in fitted else "earliest"

    def folds_settings(self) -> dict[str, Any]:
        """The section `folds` with what it leaves to the other sections filled in."""
        assert self.folds is not None
        held_out = self.folds.held_out or ("test" if "test" in self.parts() else None)
        pool = self.folds.pool or [part for part in self.parts() if part != held_out]
        return {
            **plain(self.folds),
            "method": self.folds.method or natural_method(self.data),
            "held_out": held_out,
            "pool": pool,
        }

    def rungs(self) -> list[str]:
        """The rungs of the ladder by name: the first 0 to n steps outside, then each step alone."""
        if self.folds is None:
            return []
        steps = len(self.preparation)
        rungs = cumulative_rungs(steps) + (single_rungs(steps) if self.folds.alone else [])
        return [rung.name for rung in rungs]

    def climbing_models(self) -> list[str]:
        """The models that climb the ladder."""
        return sorted(self.folds.models or self.models) if self.folds else []

    def settings(self) -> dict[str, Any]:
        """All sections as plain built-ins, defaults included, keys sorted."""
        return plain(self)

    # Cross-checks: a section that names what another one defines.

    def _check_models(self) -> None:
        if isinstance(self.data, Predictions):
            if self.models:
                raise KeyedError(
                    ("models",), "predictions are given, nothing is fitted: leave `models` out"
                )
            if self.preparation:
                raise KeyedError(
                    ("preparation",),
                    "predictions are given, no model learns from columns: leave `preparation` out",
                )
            return
        if self.models and self.split is None:
            raise KeyedError(
                ("models",), "models need a section `split` that says which rows they learn from"
            )
        for name, model in self.models.items():
            self._check_parts(("models", name, "learn_on"), model.learn_on)

    def _check_split(self) -> None:
        """A split by a role needs the role, and one by time must not look back."""
        if self.split is None:
            return
        role = {"group": "group", TIME: "time", COLUMN: "part"}.get(self.split_method())
        roles = self.data.roles() if isinstance(self.data, InFile) else {}
        if role is not None and role not in roles:
            raise KeyedError(
                ("split", "method"),
                f"a split by {self.split_method()} needs the column that says it: `data.{role}`",
            )
        if role == "time":
            self._check_time()

    def _check_time(self) -> None:
        assert self.split is not None
        in_time = self.split.in_time(self.rest_is())
        for model in self.model_names():
            learned = set(self.models[model].learn_on) if model in self.models else set()
            learned |= {v.learn_on for v in self.variants(model).values() if v.learn_on}
            mistake = time_order_mistake(
                in_time, learned & set(in_time), set(self.evaluated_parts()) & set(in_time)
            )
            if mistake is not None:
                raise KeyedError(("split", "parts"), mistake)

    def _check_folds(self) -> None:
        if self.folds is None:
            return
        if not self.models or self.split is None:
            raise KeyedError(
                ("folds",),
                "folds need a section `models` and a section `split` to cut the pool from",
            )
        method = self.folds.method or natural_method(self.data)
        if method == "time" and self.folds.repeats > 1:
            raise KeyedError(
                ("folds", "repeats"),
                "folds by time can be cut in one way only; leave `repeats` out, or name a `method`",
            )
        self._check_names(("folds", "models"), self.folds.models or [], self.models)
        self._check_parts(("folds", "pool"), self.folds.pool or [])
        if self.folds.held_out:
            self._check_parts(("folds", "held_out"), [self.folds.held_out])
        if self.folds.single_split:
            key = ("folds", "single_split")
            self._check_parts((*key, "learn_on"), self.folds.single_split.learn_on)
            self._check_parts((*key, "measure_on"), [self.folds.single_split.measure_on])

    def _check_comparisons(self) -> None:
        if self.comparisons is None:
            return
        if self.split is None:
            raise KeyedError(("comparisons",), "comparisons need a section `split` for their parts")
        for i, row in enumerate(self.comparisons.rows):
            for name, side in (("before", row.before), ("after", row.after)):
                key = ("comparisons", "rows", i, name)
                self._check_parts((*key, "learned_on"), side.learned_on)
                self._check_parts(
                    (*key, "preparation_learned_on"), side.preparation_learned_on or []
                )
                self._check_parts((*key, "measured_on"), [side.measured_on])

    def _check_calibrators(self) -> None:
        calibrators = self.calibration.calibrators
        for name, spec in calibrators.items():
            key = ("calibration", "calibrators", name)
            self._check_names((*key, "method"), [spec.method], CALIBRATORS)
            self._check_names((*key, "models"), spec.models or [], self.model_names())
            try:
                make_calibrator(spec.method, spec.params)
            except (TypeError, ValueError) as error:
                raise KeyedError((*key, "params"), str(error)) from error
            learning = [part for part in self._learning_parts(spec) if part is not None]
            where = key if spec.learn_on else ("calibration",)
            self._check_learning((*where, "learn_on"), learning)
            self._check_chain(key, spec)
        for model in self.model_names():
            self.variants(model)

    def _check_learning(self, key: tuple[str, ...], parts: Sequence[str]) -> None:
        if OUT_OF_FOLD not in parts:
            self._check_parts(key, parts)
            return
        self._check_names(key, parts, [*self.parts(), OUT_OF_FOLD])
        if self.predictions_given:
            raise KeyedError(
                key,
                f"{OUT_OF_FOLD!r} needs models that are fitted here; these predictions are given: name a "
                "part",
            )
        if self.repeats is not None:
            raise KeyedError(
                key,
                f"repeats measure calibrators that are learned on a part; found {OUT_OF_FOLD!r}",
            )

    def _check_keep(self) -> None:
        keep = self.calibration.keep
        if keep is not None:
            known = {name for model in self.model_names() for name in self.variants(model)}
            self._check_names(("calibration", "keep"), [keep], sorted({*known, NONE}))

    def _check_chain(self, key: tuple[str, ...], spec: Calibrator) -> None:
        """A calibrator follows one other calibrator, never itself in a circle."""
        calibrators = self.calibration.calibrators
        passed, after = {key[-1]}, spec.after
        while after is not None:
            self._check_names((*key, "after"), [after], calibrators)
            if after in passed:
                raise KeyedError((*key, "after"), f"{after!r} leads back to itself")
            if len(self._learning_parts(calibrators[after])) > 1:
                raise KeyedError(
                    (*key, "after"),
                    f"{after!r} is learned on several parts; name one that is learned on one part",
                )
            needed = set(spec.models or self.model_names())
            if not needed <= set(calibrators[after].models or self.model_names()):
                raise KeyedError(
                    (*key, "after"), f"{after!r} is not applied to all of these models"
                )
            passed.add(after)
            after = calibrators[after].after

    def _check_declared(self) -> None:
        """Overlaps that show in the names of parts already; rows are compared when stages run."""
        declared = {(frozenset(o.stages), o.part) for o in self.declared_overlap}
        measured = self.evaluated_parts()
        for model in self.model_names():
            fitted = self.models[model].learn_on if model in self.models else []
            learned = {v.learn_on for v in self.variants(model).values() if v.learn_on}
            # Learned out of fold, a calibrator has seen the model's own rows, but no score of theirs by a
            # model that had.
            calibrated = learned | (set(fitted) if OUT_OF_FOLD in learned else set())
            for stages, parts in (
                (("fit", "calibrate"), set(fitted) & learned),
                (("fit", "evaluate"), set(fitted) & set(measured)),
                (("calibrate", "evaluate"), calibrated & set(measured)),
            ):
                for part in sorted(parts):
                    if (frozenset(stages), part) not in declared:
                        raise KeyedError(
                            ("declared_overlap",),
                            f"part {part!r} of model {model!r} is used both to {stages[0]} and to "
                            f"{stages[1]}; use another part, or declare it: "
                            f"declared_overlap: [{{stages: [{stages[0]}, {stages[1]}], "
                            f"part: {part}, reason: ...}}]",
                        )

    def _check_parts(self, key: tuple[str | int, ...], parts: Iterable[str]) -> None:
        self._check_names(key, parts, self.parts())

    def _check_names(
        self, key: tuple[str | int, ...], names: Iterable[str], allowed: Iterable[str]
    ) -> None:
        choices = list(allowed)
        for name in names:
            if name not in choices:
                raise KeyedError(key, f"found {name!r}; {suggestion(name, choices)}")

    def _learning_parts(self, spec: Calibrator) -> list[str | None]:
        if spec.method in CALIBRATORS and not CALIBRATORS[spec.method].learns:
            return [None]
        return list(spec.learn_on or self.calibration.learn_on)

    def _full_name(self, name: str, spec: Calibrator, part: str | None) -> str:
        several = len(self._learning_parts(spec)) > 1
        return f"{name}_on_{part}" if several else name


__all__ = ["NONE", "WHOLE", "Experiment", "KeyedError", "Variant"]
