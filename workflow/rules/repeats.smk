# The same experiment on many splits.
# Takes: table, roles, the section `repeats`. Gives: one table of all splits a model, and what they say together.

from kalibre.repeats.settings import (
    study_extent,
    study_settings,
    study_shards,
    summary_settings,
)
from kalibre.repeats.shards import PATTERN


def shard_files(file):
    """The function that gives one file of every shard of a job's study."""
    return lambda w: [
        f"results/{w.experiment}/repeat_splits/{shard.name}/{file}"
        for shard in study_shards(plan.of(w.experiment))
    ]


def study_code(rule_name):
    """The function that gives the source files of a rule, and of all models of a job's study."""
    return lambda w: plan.code(
        rule_name,
        *sorted(
            {
                path
                for model in plan.of(w.experiment).models
                for path in plan.named(w.experiment, model)
            }
        ),
    )


rule repeat_splits:
    """Split, learn, calibrate and measure, once for every seed of one shard."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        records="results/{experiment}/make_table/record.json",
        code=study_code("repeat_splits"),
    output:
        splits="results/{experiment}/repeat_splits/{shard}/splits.parquet",
        record="results/{experiment}/repeat_splits/{shard}/record.json",
    log:
        "logs/{experiment}/repeat_splits/{shard}.log",
    benchmark:
        "logs/{experiment}/repeat_splits/{shard}.tsv"
    conda:
        ENVIRONMENT
    wildcard_constraints:
        shard=PATTERN,
    threads: 1
    params:
        study=lambda w: study_settings(plan.of(w.experiment)),
    resources:
        # For the person who waits: a resource, because another number of splits reruns no shard.
        study=lambda w: study_extent(plan.of(w.experiment)),
    message:
        "{wildcards.experiment}: repeat the splits, {wildcards.shard}"
    script:
        "../scripts/repeat_splits.py"


rule join_repeats:
    """Join the shards for one model."""
    input:
        splits=shard_files("splits.parquet"),
        shard_records=shard_files("record.json"),
        # The shards' code as well: which code made them is part of what the record says.
        code=lambda w: sorted({*plan.code("join_repeats"), *study_code("repeat_splits")(w)}),
    output:
        splits="results/{experiment}/join_repeats/{model}/splits.parquet",
        further_seeds="results/{experiment}/join_repeats/{model}/further_seeds.parquet",
        by_split="results/{experiment}/join_repeats/{model}/by_split.parquet",
        record="results/{experiment}/join_repeats/{model}/record.json",
    log:
        "logs/{experiment}/join_repeats/{model}.log",
    benchmark:
        "logs/{experiment}/join_repeats/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        summary=lambda w: summary_settings(plan.of(w.experiment)),
    message:
        "{wildcards.experiment}: join the splits of {wildcards.model}"
    script:
        "../scripts/join_repeats.py"
