# kalibre: are a classifier's probabilities true, and was its score earned?
#
# `snakemake all` builds every experiment of config/experiments; `snakemake NAME` builds one.
# docs/architecture.md shows the data's way through the rules.

import subprocess
import sys

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/ladder.smk"
include: "workflow/rules/repeats.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/gate.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/tracking.smk"


localrules:
    all,


rule all:
    """Every experiment, and the ledger of published figures."""
    default_target: True
    input:
        [plan.files(name) for name in plan.selected],
        "results/published.csv",
        "results/claims.csv",
        "results/index.html",
    message:
        "everything is up to date"


for name in plan.experiments:

    rule:
        name:
            name
        input:
            plan.files(name),
        localrule: True
        message:
            f"{name} is up to date"


onsuccess:
    # What was asked for by name is shown at the end.
    for text in plan.summaries(workflow.dag_settings.targets):
        print(f"\n{text}")


onerror:
    # A failed rule shows up as a failed run; a store that is out of reach does not matter here.
    subprocess.run(
        [sys.executable, "-m", "kalibre.tracking.failures", "--root", "."], check=False
    )
