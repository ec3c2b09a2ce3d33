# Preparation inside and outside the folds, rung by rung, and comparisons before and after a decision.
# Takes: the sections `preparation`, `folds` and `comparisons`. Gives: fold tables, leaks, a table of decisions.


rule climb_ladder:
    """One rung: which preparation steps are learned outside the folds, measured fold by fold."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts="results/{experiment}/split_rows/parts.parquet",
        records=[
            "results/{experiment}/make_table/record.json",
            "results/{experiment}/split_rows/record.json",
        ],
        code=lambda w: plan.code("climb_ladder", *plan.named(w.experiment, w.model)),
    output:
        folds="results/{experiment}/climb_ladder/{model}/{rung}/folds.csv",
        record="results/{experiment}/climb_ladder/{model}/{rung}/record.json",
    log:
        "logs/{experiment}/climb_ladder/{model}/{rung}.log",
    benchmark:
        "logs/{experiment}/climb_ladder/{model}/{rung}.tsv"
    conda:
        ENVIRONMENT
    params:
        ladder=lambda w: plan.ladder_settings(w.experiment, w.model),
    message:
        "{wildcards.experiment}: climb the ladder with {wildcards.model}, {wildcards.rung}"
    script:
        "../scripts/climb_ladder.py"


rule measure_held_out:
    """The numbers to set beside the folds': the held-out part measured once, and a single split."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts="results/{experiment}/split_rows/parts.parquet",
        records=[
            "results/{experiment}/make_table/record.json",
            "results/{experiment}/split_rows/record.json",
        ],
        code=lambda w: plan.code("measure_held_out", *plan.named(w.experiment, w.model)),
    output:
        record="results/{experiment}/measure_held_out/{model}/record.json",
    log:
        "logs/{experiment}/measure_held_out/{model}.log",
    benchmark:
        "logs/{experiment}/measure_held_out/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        ladder=lambda w: plan.ladder_settings(w.experiment, w.model),
    message:
        "{wildcards.experiment}: measure {wildcards.model} on held-out rows"
    script:
        "../scripts/measure_held_out.py"


rule measure_leak:
    """Every rung against the one with all preparation inside the folds."""
    input:
        folds=lambda w: [
            beside(record, "folds.csv") for record in plan.rung_records(w.experiment, w.model)
        ],
        held_out="results/{experiment}/measure_held_out/{model}/record.json",
        records=lambda w: plan.rung_records(w.experiment, w.model),
        code=plan.code("measure_leak"),
    output:
        leak="results/{experiment}/measure_leak/{model}/leak.csv",
        record="results/{experiment}/measure_leak/{model}/record.json",
    log:
        "logs/{experiment}/measure_leak/{model}.log",
    benchmark:
        "logs/{experiment}/measure_leak/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        rungs=lambda w: plan.of(w.experiment).rungs(),
        level=lambda w: plan.of(w.experiment).folds.level,
    message:
        "{wildcards.experiment}: measure the leak with {wildcards.model}"
    script:
        "../scripts/measure_leak.py"


rule compare:
    """Each decision of the section `comparisons`, measured before and after."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts="results/{experiment}/split_rows/parts.parquet",
        records=[
            "results/{experiment}/make_table/record.json",
            "results/{experiment}/split_rows/record.json",
        ],
        code=lambda w: plan.code("compare", *plan.compared(w.experiment)),
    output:
        record="results/{experiment}/compare/record.json",
    log:
        "logs/{experiment}/compare.log",
    benchmark:
        "logs/{experiment}/compare.tsv"
    conda:
        ENVIRONMENT
    params:
        comparisons=lambda w: plan.section(w.experiment, "comparisons"),
    message:
        "{wildcards.experiment}: compare before and after"
    script:
        "../scripts/compare.py"


rule tabulate_comparisons:
    """The comparisons as a table, beside the figures a lesson's page prints for them."""
    input:
        compared="results/{experiment}/compare/record.json",
        records="results/{experiment}/compare/record.json",
        ledger="config/published.csv",
        code=plan.code("tabulate_comparisons"),
    output:
        table=report(
            "results/{experiment}/summary.csv",
            caption="../report/decisions.rst",
            category="{experiment}",
            labels={"what": "decisions"},
        ),
        markdown="results/{experiment}/summary.md",
        record="results/{experiment}/tabulate_comparisons/record.json",
    log:
        "logs/{experiment}/tabulate_comparisons.log",
    benchmark:
        "logs/{experiment}/tabulate_comparisons.tsv"
    conda:
        ENVIRONMENT
    params:
        comparisons=lambda w: plan.section(w.experiment, "comparisons"),
        lesson=lambda w: plan.of(w.experiment).lesson or "",
    message:
        "{wildcards.experiment}: tabulate the comparisons"
    script:
        "../scripts/tabulate_comparisons.py"
