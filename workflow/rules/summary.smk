# From the records to what people and programs read.
# Takes: an experiment's records. Gives: metrics.json, settings.json, summary.txt, and a lesson's figures.csv.


rule summarise:
    """Lay an experiment's numbers together."""
    input:
        records=lambda w: plan.records(w.experiment),
        reliability=lambda w: [
            beside(record, "reliability.csv") for record in plan.evaluation_records(w.experiment)
        ],
        sheet="results/{experiment}/fill_leak_sheet/leak_sheet.csv",
        code=plan.code("summarise"),
    output:
        metrics="results/{experiment}/metrics.json",
        settings="results/{experiment}/settings.json",
        summary="results/{experiment}/summary.txt",
        record="results/{experiment}/summarise/record.json",
    log:
        "logs/{experiment}/summarise.log",
    benchmark:
        "logs/{experiment}/summarise.tsv"
    conda:
        ENVIRONMENT
    params:
        settings=lambda w: plan.of(w.experiment).settings(),
    message:
        "{wildcards.experiment}: summarise"
    script:
        "../scripts/summarise.py"


rule measure_figures:
    """Measure every figure of the lesson's page as this experiment has it."""
    input:
        metrics="results/{experiment}/metrics.json",
        settings="results/{experiment}/settings.json",
        records="results/{experiment}/summarise/record.json",
        ledger="config/published.csv",
        code=plan.code("measure_figures"),
    output:
        figures="results/{experiment}/figures.csv",
        record="results/{experiment}/measure_figures/record.json",
    log:
        "logs/{experiment}/measure_figures.log",
    benchmark:
        "logs/{experiment}/measure_figures.tsv"
    conda:
        ENVIRONMENT
    params:
        lesson=lambda w: plan.of(w.experiment).lesson,
    message:
        "{wildcards.experiment}: measure the figures of lesson {params.lesson}"
    script:
        "../scripts/measure_figures.py"
