# The lessons' printed figures and worded claims beside what the engine measures.
# Takes: config/published.csv, config/claims.csv, the lessons' metrics. Gives: results/published.csv, claims.csv.


rule compare_published:
    """Compare every figure; always succeeds, so that the table is there to be read."""
    input:
        metrics=expand("results/{lesson}/metrics.json", lesson=plan.lessons),
        settings=expand("results/{lesson}/settings.json", lesson=plan.lessons),
        ledger="config/published.csv",
        claims="config/claims.csv",
        studies=[path for paths in plan.placing.values() for path in paths],
        code=plan.code("compare_published"),
    output:
        published="results/published.csv",
        claims="results/claims.csv",
    log:
        "logs/compare_published.log",
    conda:
        ENVIRONMENT
    params:
        lessons=plan.lessons,
        placing=plan.placing_models,
    message:
        "compare with the published figures"
    script:
        "../scripts/compare_published.py"


rule published:
    """Print the comparison, and fail if a figure or claim differs."""
    input:
        published="results/published.csv",
        claims="results/claims.csv",
        code=plan.code("published"),
    log:
        "logs/published.log",
    localrule: True
    conda:
        ENVIRONMENT
    message:
        "published figures"
    script:
        "../scripts/published.py"
