# Reads the experiments and answers the rules' questions about them.
# Takes: config/config.yaml, config/experiments/*.yaml. Gives: EXPERIMENTS, SELECTED and the functions below.

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

from kalibre.data.table import SOURCES
from kalibre.errors import InputError
from kalibre.experiment.base import plain
from kalibre.experiment.data import Predictions
from kalibre.experiment.load import load_experiments, select_experiments
from kalibre.sources import used_modules

SCRIPTS = Path(workflow.basedir, "workflow", "scripts")
ENVIRONMENT = str(Path(workflow.basedir, "environment.yml"))

# Names that an experiment file cannot take: one rule a script, and the targets without one.
TARGETS = {path.stem for path in SCRIPTS.glob("*.py")} | {
    "all",
    "gate",
    "report",
    "published",
}


def read_experiments():
    """All experiments by name, and the names `all` builds; a mistake in a file is one message."""
    try:
        experiments = load_experiments(Path("config/experiments"), reserved=TARGETS)
        return experiments, select_experiments(config.get("experiments"), experiments)
    except InputError as error:
        # Not an exception: Snakemake would put the places in its own files around the message.
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


EXPERIMENTS, SELECTED = read_experiments()


wildcard_constraints:
    experiment="[A-Za-z][A-Za-z0-9_]*",
    model="[A-Za-z][A-Za-z0-9_]*",
    calibrator="[A-Za-z][A-Za-z0-9_]*",


def experiment_of(wildcards):
    """The experiment a job belongs to."""
    if wildcards.experiment not in EXPERIMENTS:
        raise WorkflowError(
            f"there is no experiment {wildcards.experiment!r}; there are: {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[wildcards.experiment]


@cache
def code(rule_name, *named):
    """The source files a rule uses: its script, what that imports, and what the configuration names."""
    files = used_modules(SCRIPTS / f"{rule_name}.py", named)
    return [os.path.relpath(path) for path in files]


def declared_overlap(wildcards):
    """The overlaps the experiment declares, as plain built-ins."""
    return plain(experiment_of(wildcards).declared_overlap)


def variant_of(wildcards):
    """The calibrator a job learns."""
    return experiment_of(wildcards).variants(wildcards.model)[wildcards.calibrator]


def scores_record(experiment, model, calibrator="none"):
    """The record of the rule that makes a model's scores, or a calibrator's."""
    spec = EXPERIMENTS[experiment]
    if spec.variants(model)[calibrator].method != "none":
        return f"results/{experiment}/calibrate/{model}/{calibrator}/record.json"
    rule_name = "read_scores" if isinstance(spec.data, Predictions) else "fit_model"
    return f"results/{experiment}/{rule_name}/{model}/record.json"


def beside(record, file):
    """A file in the folder of a record."""
    return str(Path(record).parent / file)


def records_of(experiment):
    """The records of everything an experiment computes."""
    spec = EXPERIMENTS[experiment]
    folder = f"results/{experiment}"
    records = [f"{folder}/make_table/record.json"]
    if spec.split:
        records.append(f"{folder}/split_rows/record.json")
    for model in spec.model_names():
        for calibrator in spec.variants(model):
            records.append(scores_record(experiment, model, calibrator))
            records.append(f"{folder}/evaluate/{model}/{calibrator}/record.json")
    return list(dict.fromkeys(records))


def experiment_files(experiment):
    """What a person gets when they ask for an experiment by its name."""
    folder = f"results/{experiment}"
    files = [
        f"{folder}/summary.txt",
        f"{folder}/metrics.json",
        f"{folder}/tracked.json",
    ]
    return files + ([f"{folder}/figures.csv"] if EXPERIMENTS[experiment].lesson else [])


def show_summaries(workflow):
    """At the end of a run that asked for experiments by name: their tables, and where to look on."""
    for target in workflow.dag_settings.targets or []:
        if target in EXPERIMENTS:
            print("\n" + Path(f"results/{target}/summary.txt").read_text())
            print("The runs: mlflow ui (in this folder), then the experiment " + target)


def project_failures():
    """Let failed rules show up as failed runs; a store that is out of reach does not matter here."""
    command = [sys.executable, "-m", "kalibre.tracking.failures", "--root", "."]
    subprocess.run(command, check=False)
