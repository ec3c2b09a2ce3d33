# What the numbers are worth: the sheet on leakage, and limits for continuous integration.
# Takes: the sections `leak_sheet` and `gate`. Gives: leak_sheet.csv, gate.json; the target `gate`.


rule fill_leak_sheet:
    """The eight types of leakage: tested, declared or not testable here."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts=lambda w: plan.parts_file(w.experiment),
        leaks=lambda w: plan.leak_tables(w.experiment),
        records=lambda w: plan.sheet_records(w.experiment),
        code=plan.code("fill_leak_sheet"),
    output:
        sheet="results/{experiment}/fill_leak_sheet/leak_sheet.csv",
        record="results/{experiment}/fill_leak_sheet/record.json",
    log:
        "logs/{experiment}/fill_leak_sheet.log",
    benchmark:
        "logs/{experiment}/fill_leak_sheet.tsv"
    conda:
        ENVIRONMENT
    params:
        sheet=lambda w: plan.sheet_settings(w.experiment),
    message:
        "{wildcards.experiment}: fill in the sheet on leakage"
    script:
        "../scripts/fill_leak_sheet.py"


rule check_gate:
    """Hold the metrics against the limits; always succeeds, so that the answer is there to be read."""
    input:
        metrics="results/{experiment}/metrics.json",
        measured=lambda w: plan.records(w.experiment),
        records="results/{experiment}/summarise/record.json",
        earlier=lambda w: plan.earlier_record(w.experiment),
        code=plan.code("check_gate"),
    output:
        gate="results/{experiment}/gate.json",
        record="results/{experiment}/check_gate/record.json",
    log:
        "logs/{experiment}/check_gate.log",
    benchmark:
        "logs/{experiment}/check_gate.tsv"
    conda:
        ENVIRONMENT
    params:
        limits=lambda w: plan.section(w.experiment, "gate"),
    message:
        "{wildcards.experiment}: check the gate"
    script:
        "../scripts/check_gate.py"


rule gate:
    """Print all checks, and fail if a limit is not kept."""
    input:
        gates=expand("results/{experiment}/gate.json", experiment=plan.gated),
        code=plan.code("gate"),
    log:
        "logs/gate.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        experiments=plan.gated,
    message:
        "gates"
    script:
        "../scripts/gate.py"
