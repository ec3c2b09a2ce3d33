# kalibre: are a classifier's probabilities true, and was its score earned?
#
# `snakemake all` builds every experiment of config/experiments; `snakemake NAME` builds one.
# docs/architecture.md shows the data's way through the rules.

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/tracking.smk"


localrules:
    all,


rule all:
    """Every experiment, and the ledger of published figures."""
    default_target: True
    input:
        [experiment_files(name) for name in SELECTED],
        "results/published.csv",
        "results/claims.csv",
    message:
        "everything is up to date"


for name in EXPERIMENTS:

    rule:
        name:
            name
        input:
            experiment_files(name),
        localrule: True
        message:
            f"{name} is up to date"


onsuccess:
    show_summaries(workflow)


onerror:
    project_failures()
