# The same experiment on many splits.
# Takes: table, roles, the section `repeats`. Gives: one table of all splits a model, and what they say together.


rule repeat_splits:
    """Split, learn, calibrate and measure, once for every seed of one shard."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        records="results/{experiment}/make_table/record.json",
        code=lambda w: plan.study_code(w.experiment, "repeat_splits"),
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
        shard=r"seeds_\d+_to_\d+",
    # The long ones first; what is short fills the gaps.
    priority: 1
    threads: 1
    params:
        study=lambda w: plan.study_settings(w.experiment),
    resources:
        # For the person who waits: a resource, because another number of splits reruns no shard.
        study=lambda w: plan.study_extent(w.experiment),
    message:
        "{wildcards.experiment}: repeat the splits, {wildcards.shard}"
    script:
        "../scripts/repeat_splits.py"


rule join_repeats:
    """Join the shards for one model."""
    input:
        splits=lambda w: [
            beside(record, "splits.parquet") for record in plan.shard_records(w.experiment)
        ],
        shard_records=lambda w: plan.shard_records(w.experiment),
        # The shards' code as well: which code made them is part of what the record says.
        code=lambda w: sorted(
            {*plan.code("join_repeats"), *plan.study_code(w.experiment, "repeat_splits")}
        ),
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
        summary=lambda w: plan.study_summary(w.experiment),
    message:
        "{wildcards.experiment}: join the splits of {wildcards.model}"
    script:
        "../scripts/join_repeats.py"


rule repeat_ladder:
    """Split, cut folds and climb the ladder, once for every seed of one shard."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        records="results/{experiment}/make_table/record.json",
        code=lambda w: plan.study_code(w.experiment, "repeat_ladder"),
    output:
        folds="results/{experiment}/repeat_ladder/{shard}/folds.parquet",
        record="results/{experiment}/repeat_ladder/{shard}/record.json",
    log:
        "logs/{experiment}/repeat_ladder/{shard}.log",
    benchmark:
        "logs/{experiment}/repeat_ladder/{shard}.tsv"
    conda:
        ENVIRONMENT
    wildcard_constraints:
        shard=r"seeds_\d+_to_\d+",
    # The long ones first; what is short fills the gaps.
    priority: 1
    threads: 1
    params:
        study=lambda w: plan.ladder_study_settings(w.experiment),
    resources:
        study=lambda w: plan.study_extent(w.experiment),
    message:
        "{wildcards.experiment}: repeat the ladder, {wildcards.shard}"
    script:
        "../scripts/repeat_ladder.py"


rule join_ladders:
    """Join the shards of one model's ladders."""
    input:
        folds=lambda w: [
            beside(record, "folds.parquet")
            for record in plan.shard_records(w.experiment, "repeat_ladder")
        ],
        shard_records=lambda w: plan.shard_records(w.experiment, "repeat_ladder"),
        code=lambda w: sorted(
            {*plan.code("join_ladders"), *plan.study_code(w.experiment, "repeat_ladder")}
        ),
    output:
        folds="results/{experiment}/join_ladders/{model}/folds.parquet",
        record="results/{experiment}/join_ladders/{model}/record.json",
    log:
        "logs/{experiment}/join_ladders/{model}.log",
    benchmark:
        "logs/{experiment}/join_ladders/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        summary=lambda w: plan.study_summary(w.experiment),
    message:
        "{wildcards.experiment}: join the ladders of {wildcards.model}"
    script:
        "../scripts/join_ladders.py"
