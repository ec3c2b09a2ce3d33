"""Which files an experiment consists of, and what a rule needs of it: the workflow's questions, answered.

The rules in `workflow/rules/` ask; nothing here knows Snakemake.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kalibre.data.table import source_function
from kalibre.errors import InputError, suggestion
from kalibre.experiment.base import PATH_PATTERN, plain
from kalibre.experiment.experiment import NONE, Experiment, Variant
from kalibre.experiment.load import load_experiments, select_experiments
from kalibre.experiment.sheet import sheet_settings
from kalibre.repeats.settings import (
    ladder_study_settings,
    study_extent,
    study_settings,
    study_shards,
    summary_settings,
)
from kalibre.scores import OUT_OF_FOLD
from kalibre.sources import used_modules

RESULTS = "results"
OTHER_TARGETS = frozenset({"all", "gate", "report", "published"})
"""Targets that are no script's; with the scripts' names, what an experiment cannot be called."""


@dataclass(frozen=True)
class Plan:
    """The experiments of a project, and the files each is made of.

    Attributes
    ----------
    experiments : dict
        Every experiment by its name.
    selected : tuple of str
        Those that `all` builds.
    scripts : Path
        The folder of the rules' scripts.
    """

    experiments: dict[str, Experiment]
    selected: tuple[str, ...]
    scripts: Path

    @classmethod
    def read(cls, folder: Path, *, chosen: Any, scripts: Path) -> Plan:
        """Read all experiment files.

        Parameters
        ----------
        folder : Path
            Where they lie.
        chosen : str, list or None
            The key `experiments` of config/config.yaml.
        scripts : Path
            The folder of the rules' scripts.

        Raises
        ------
        InputError
            If a file does not validate.
        """
        reserved = {path.stem for path in scripts.glob("*.py")} | OTHER_TARGETS
        experiments = load_experiments(folder, reserved=reserved)
        return cls(experiments, tuple(select_experiments(chosen, experiments)), scripts)

    @cached_property
    def lessons(self) -> list[str]:
        """The experiments that are a lesson themselves; a copy keeps the key `lesson`."""
        return [name for name, spec in self.experiments.items() if spec.lesson == name]

    @cached_property
    def gated(self) -> list[str]:
        """The selected experiments that set limits."""
        return [name for name in self.selected if self.experiments[name].gate]

    @cached_property
    def placing(self) -> dict[str, list[str]]:
        """Lesson to the tables of the study among whose splits its open figures are placed."""
        among = {name: self.experiments[name].placed_among for name in self.lessons}
        return {
            lesson: list(self.study_tables(study).values())
            for lesson, study in among.items()
            if study in self.experiments and self.experiments[study].repeats
        }

    @cached_property
    def placing_models(self) -> dict[str, list[str]]:
        """The same lessons to the models of these tables."""
        among = {lesson: self.experiments[lesson].placed_among for lesson in self.placing}
        return {lesson: self.of(str(study)).model_names() for lesson, study in among.items()}

    def all_models(self) -> list[str]:
        """The models of all experiments: no other name is a target."""
        return sorted({m for e in self.experiments.values() for m in e.model_names()})

    def all_calibrators(self) -> list[str]:
        """The calibrators of all experiments, by their full names."""
        specs = self.experiments.values()
        return sorted({c for e in specs for m in e.model_names() for c in e.variants(m)})

    def of(self, name: str) -> Experiment:
        """An experiment by its name."""
        if name not in self.experiments:
            raise InputError(
                f"there is no experiment {name!r}; {suggestion(name, self.experiments)}"
            )
        return self.experiments[name]

    def code(self, rule: str, *named: str) -> list[str]:
        """The source files a rule uses: its script, what that imports, and what a configuration names."""
        return list(_code(self.scripts / f"{rule}.py", named))

    def source(self, experiment: str) -> str:
        """The function that makes the experiment's table."""
        return source_function(plain(self.of(experiment).data))

    def data_file(self, experiment: str) -> list[str]:
        """The person's file that the table is read from; one that is not there is named by its job."""
        file = getattr(self.of(experiment).data, "file", None)
        return [file] if file and Path(file).is_file() else []

    def named(self, experiment: str, model: str) -> list[str]:
        """The classes that a model and its preparation name: code of the rules that use them."""
        spec = self.of(experiment)
        return dotted_paths([spec.models[model], *spec.preparation])

    def compared(self, experiment: str) -> list[str]:
        """The classes that the comparisons name."""
        return dotted_paths([self.of(experiment).comparisons])

    def ladder_settings(self, experiment: str, model: str) -> dict[str, Any]:
        """What the ladder's stages need: folds, model, preparation and columns."""
        spec = self.of(experiment)
        return {
            "folds": spec.folds_settings(),
            "model": plain(spec.models[model]),
            "preparation": plain(spec.preparation),
            "columns": spec.feature_columns(),
        }

    def rung_records(self, experiment: str, model: str) -> list[str]:
        """The records of one model's rungs."""
        return [
            f"{RESULTS}/{experiment}/climb_ladder/{model}/{rung}/record.json"
            for rung in self.of(experiment).rungs()
        ]

    def study_settings(self, experiment: str) -> dict[str, Any]:
        """What every split of a study needs to know."""
        return study_settings(self.of(experiment))

    def ladder_study_settings(self, experiment: str) -> dict[str, Any]:
        """What every split's ladder needs to know."""
        return ladder_study_settings(self.of(experiment))

    def study_extent(self, experiment: str) -> str:
        """All shards of a study, as one word."""
        return study_extent(self.of(experiment))

    def study_summary(self, experiment: str) -> dict[str, Any]:
        """What joining a study's shards needs to know."""
        return summary_settings(self.of(experiment))

    def study_code(self, experiment: str, rule: str) -> list[str]:
        """The source files of a rule and of all models of a study."""
        spec = self.of(experiment)
        named = {path for model in spec.models for path in self.named(experiment, model)}
        return self.code(rule, *sorted(named))

    def shard_records(self, experiment: str, rule: str = "repeat_splits") -> list[str]:
        """The records of a study's shards, or of its ladders' (`repeat_ladder`)."""
        folder = f"{RESULTS}/{experiment}/{rule}"
        return [f"{folder}/{shard.name}/record.json" for shard in study_shards(self.of(experiment))]

    def study_tables(self, experiment: str) -> dict[str, str]:
        """Model to its table of all splits."""
        folder = f"{RESULTS}/{experiment}/join_repeats"
        models = self.of(experiment).model_names()
        return {model: f"{folder}/{model}/splits.parquet" for model in models}

    def parts_file(self, experiment: str) -> list[str]:
        """The file of the split, where there is one."""
        split = self.of(experiment).split
        return [f"{RESULTS}/{experiment}/split_rows/parts.parquet"] if split else []

    def table_records(self, experiment: str) -> list[str]:
        """The records beside the table and its split."""
        taken = [f"{RESULTS}/{experiment}/make_table/table.parquet", *self.parts_file(experiment)]
        return [beside(path, "record.json") for path in taken]

    def leak_tables(self, experiment: str) -> list[str]:
        """The leak tables of the models that climb the ladder."""
        models = self.of(experiment).climbing_models()
        return [f"{RESULTS}/{experiment}/measure_leak/{model}/leak.csv" for model in models]

    def sheet_settings(self, experiment: str) -> dict[str, Any]:
        """What the sheet on leakage takes of the experiment's sections."""
        return sheet_settings(self.of(experiment))

    def sheet_records(self, experiment: str) -> list[str]:
        """The records beside what the sheet on leakage takes."""
        taken = [f"{RESULTS}/{experiment}/make_table/table.parquet"]
        taken += self.parts_file(experiment) + self.leak_tables(experiment)
        return [beside(path, "record.json") for path in taken]

    def earlier_record(self, experiment: str) -> list[str]:
        """The file of an earlier run that the gate compares with."""
        gate = self.of(experiment).gate
        return [gate.auc_drop.against] if gate and gate.auc_drop else []

    def variant(self, experiment: str, model: str, calibrator: str) -> Variant:
        """One calibrator of one model."""
        variants = self.of(experiment).variants(model)
        if calibrator not in variants:
            raise InputError(
                f"experiment {experiment!r} has no calibrator {calibrator!r} for model {model!r}; "
                f"{suggestion(calibrator, variants)}"
            )
        return variants[calibrator]

    def scores_record(self, experiment: str, model: str, calibrator: str) -> str:
        """The record beside a model's scores, as they leave a calibrator."""
        if self.variant(experiment, model, calibrator).method != NONE:
            return f"{RESULTS}/{experiment}/calibrate/{model}/{calibrator}/record.json"
        rule = "read_scores" if self.of(experiment).predictions_given else "fit_model"
        return f"{RESULTS}/{experiment}/{rule}/{model}/record.json"

    def learning_scores_record(self, experiment: str, model: str, calibrator: str) -> str:
        """The record beside the scores a calibrator maps."""
        after = self.variant(experiment, model, calibrator).after
        return self.scores_record(experiment, model, after or NONE)

    def all_scores(self, experiment: str) -> dict[tuple[str, str], str]:
        """(model, calibrator) to the record beside its scores."""
        spec = self.of(experiment)
        return {
            (model, calibrator): self.scores_record(experiment, model, calibrator)
            for model in spec.model_names()
            for calibrator in spec.variants(model)
        }

    def chain(self, experiment: str, model: str, calibrator: str) -> list[str]:
        """The calibrators on the way from a model's own scores to a calibrator's, this one included."""
        names: list[str] = []
        name: str | None = calibrator
        while name is not None:
            variant = self.variant(experiment, model, name)
            names = [name, *names] if variant.method != NONE else names
            name = variant.after
        return names

    def out_of_fold_record(self, experiment: str, model: str) -> str:
        """The record beside the scores of a model's training rows by models that did not learn from them."""
        return f"{RESULTS}/{experiment}/score_out_of_fold/{model}/record.json"

    def learning_records(
        self, experiment: str, model: str, calibrator: str
    ) -> dict[str, list[str]]:
        """The records beside what a calibrator takes: scores to map, and what it learns from out of fold."""
        taken = {"scores": [self.learning_scores_record(experiment, model, calibrator)]}
        if self.variant(experiment, model, calibrator).learn_on == OUT_OF_FOLD:
            *before, _ = self.chain(experiment, model, calibrator)
            taken["out_of_fold"] = [self.out_of_fold_record(experiment, model)]
            taken["before"] = [self.scores_record(experiment, model, name) for name in before]
        return taken

    def saved_records(self, experiment: str) -> list[str]:
        """The records beside the models that are saved with their calibrators."""
        spec = self.of(experiment)
        kept = {model: spec.kept(model) for model in spec.model_names()}
        folder = f"{RESULTS}/{experiment}/save_model"
        return [f"{folder}/{model}/{name}/record.json" for model, name in kept.items() if name]

    def _out_of_fold_records(self, experiment: str) -> list[str]:
        spec = self.of(experiment)
        return [
            self.out_of_fold_record(experiment, model)
            for model in spec.model_names()
            if any(v.learn_on == OUT_OF_FOLD for v in spec.variants(model).values())
        ]

    def evaluation_records(self, experiment: str) -> list[str]:
        """The records of an experiment's evaluations."""
        spec = self.of(experiment)
        return [
            f"{RESULTS}/{experiment}/evaluate/{model}/{calibrator}/record.json"
            for model in spec.model_names()
            for calibrator in spec.variants(model)
        ]

    def records(self, experiment: str) -> list[str]:
        """The records of everything an experiment computes, in the order of the data's way."""
        spec = self.of(experiment)
        folder = f"{RESULTS}/{experiment}"
        scores = self.all_scores(experiment).values()
        return list(
            dict.fromkeys(
                [
                    f"{folder}/make_table/record.json",
                    *([f"{folder}/split_rows/record.json"] if spec.split else []),
                    *self._out_of_fold_records(experiment),
                    *scores,
                    *self.saved_records(experiment),
                    *self.evaluation_records(experiment),
                    *([f"{folder}/compare_scores/record.json"] if len(scores) > 1 else []),
                    *self._ladder_records(experiment),
                    *([f"{folder}/compare/record.json"] if spec.comparisons else []),
                    *(self._study_records(experiment) if spec.repeats else []),
                    f"{folder}/fill_leak_sheet/record.json",
                ]
            )
        )

    def _ladder_records(self, experiment: str) -> list[str]:
        folder = f"{RESULTS}/{experiment}"
        return [
            record
            for model in self.of(experiment).climbing_models()
            for record in (
                *self.rung_records(experiment, model),
                f"{folder}/measure_held_out/{model}/record.json",
                f"{folder}/measure_leak/{model}/record.json",
            )
        ]

    def _study_records(self, experiment: str) -> list[str]:
        spec = self.of(experiment)
        climbing = spec.climbing_models() if spec.repeats and spec.repeats.ladder else []
        folder = f"{RESULTS}/{experiment}/join_ladders"
        return [
            *(beside(table, "record.json") for table in self.study_tables(experiment).values()),
            *(f"{folder}/{model}/record.json" for model in climbing),
        ]

    def tracked_records(self, experiment: str) -> list[str]:
        """All of an experiment's records, those of its summary included."""
        spec = self.of(experiment)
        last = ["summarise"]
        last += ["tabulate_comparisons"] if spec.comparisons else []
        last += ["check_gate"] if spec.gate else []
        last += ["measure_figures"] if spec.lesson else []
        last += ["report_page"]
        folder = f"{RESULTS}/{experiment}"
        return [*self.records(experiment), *(f"{folder}/{rule}/record.json" for rule in last)]

    def files(self, experiment: str) -> list[str]:
        """What a person gets who asks for an experiment by its name."""
        names = ["summary.txt", "metrics.json", "report.html", "tracked.json"]
        names += ["figures.csv"] if self.of(experiment).lesson else []
        names += ["summary.csv", "summary.md"] if self.of(experiment).comparisons else []
        names += ["gate.json"] if self.of(experiment).gate else []
        return [f"{RESULTS}/{experiment}/{name}" for name in names]

    def section(self, experiment: str, name: str) -> Any:
        """A section of an experiment as plain built-ins with sorted keys."""
        return plain(getattr(self.of(experiment), name))

    def summaries(self, targets: Any) -> list[str]:
        """The summaries of the experiments among the targets, with where to look on."""
        return [
            Path(f"{RESULTS}/{name}/summary.txt").read_text(encoding="utf-8")
            + self._gate_said(name)
            + f"\nThe page: {RESULTS}/{name}/report.html\nThe runs: `mlflow ui` here, experiment {name}"
            for name in targets or []
            if name in self.experiments
        ]

    def _gate_said(self, name: str) -> str:
        """Which limits of an experiment's gate are kept; nothing where it has none."""
        if name not in self.gated:
            return ""
        # Imported here: it is needed once, when all is done.
        from kalibre.files import read_json
        from kalibre.gate import gate_text

        text, failed = gate_text({name: read_json(Path(f"{RESULTS}/{name}/gate.json"))})
        hint = "\n`snakemake gate` exits with 1 while this is so" if failed else ""
        return f"\nGate: {text}{hint}\n"


def dotted_paths(value: Any) -> list[str]:
    """Every text in a section that looks like the path of a class."""
    if isinstance(value, str):
        return [value] if re.fullmatch(PATH_PATTERN, value) else []
    found = plain(value)
    items = found.values() if isinstance(found, dict) else found
    return [path for item in items for path in dotted_paths(item)] if _nested(found) else []


def _nested(value: Any) -> bool:
    return isinstance(value, (dict, list))


def beside(record: str, file: str) -> str:
    """A file in the folder of a record."""
    return str(Path(record).parent / file)


@cache
def _code(script: Path, named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(os.path.relpath(path) for path in used_modules(script, named))
