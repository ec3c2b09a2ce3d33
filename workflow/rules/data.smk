# From the data's source to the parts of the split.
# Takes: the sections `data` and `split`. Gives: table, roles (outcome, id, weight ...), parts.


rule make_table:
    """Generate, load or lay out the experiment's table."""
    input:
        # A person's own file: compared by content, like every input.
        file=lambda w: plan.data_file(w.experiment),
        code=lambda w: plan.code("make_table", plan.source(w.experiment)),
    output:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        record="results/{experiment}/make_table/record.json",
    log:
        "logs/{experiment}/make_table.log",
    benchmark:
        "logs/{experiment}/make_table.tsv"
    conda:
        ENVIRONMENT
    params:
        data=lambda w: plan.section(w.experiment, "data"),
    message:
        "{wildcards.experiment}: make the table"
    script:
        "../scripts/make_table.py"


rule split_rows:
    """Cut the table into parts."""
    input:
        roles="results/{experiment}/make_table/roles.parquet",
        records="results/{experiment}/make_table/record.json",
        code=plan.code("split_rows"),
    output:
        parts="results/{experiment}/split_rows/parts.parquet",
        record="results/{experiment}/split_rows/record.json",
    log:
        "logs/{experiment}/split_rows.log",
    benchmark:
        "logs/{experiment}/split_rows.tsv"
    conda:
        ENVIRONMENT
    params:
        split=lambda w: plan.of(w.experiment).split_settings(),
    message:
        "{wildcards.experiment}: split the rows"
    script:
        "../scripts/split_rows.py"
