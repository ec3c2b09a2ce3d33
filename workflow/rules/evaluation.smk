# From scores to numbers.
# Takes: the section `evaluation`. Gives: metrics and reliability tables, one record a model and calibrator.


rule evaluate:
    """Measure one model's probabilities on the parts the experiment names."""
    input:
        scores=lambda w: beside(
            plan.scores_record(w.experiment, w.model, w.calibrator), "scores.parquet"
        ),
        records=lambda w: plan.scores_record(w.experiment, w.model, w.calibrator),
        code=plan.code("evaluate"),
    output:
        reliability="results/{experiment}/evaluate/{model}/{calibrator}/reliability.csv",
        intervals="results/{experiment}/evaluate/{model}/{calibrator}/intervals.csv",
        spread="results/{experiment}/evaluate/{model}/{calibrator}/spread.csv",
        corp="results/{experiment}/evaluate/{model}/{calibrator}/corp.csv",
        record="results/{experiment}/evaluate/{model}/{calibrator}/record.json",
    log:
        "logs/{experiment}/evaluate/{model}/{calibrator}.log",
    benchmark:
        "logs/{experiment}/evaluate/{model}/{calibrator}.tsv"
    conda:
        ENVIRONMENT
    params:
        parts=lambda w: list(plan.of(w.experiment).evaluated_parts()),
        evaluation=lambda w: plan.section(w.experiment, "evaluation"),
        declared_overlap=lambda w: plan.section(w.experiment, "declared_overlap"),
    message:
        "{wildcards.experiment}: evaluate {wildcards.model}, {wildcards.calibrator}"
    script:
        "../scripts/evaluate.py"


rule compare_scores:
    """Set calibrators against their model's own probabilities, and models against each other."""
    input:
        scores=lambda w: [
            beside(record, "scores.parquet") for record in plan.all_scores(w.experiment).values()
        ],
        records=lambda w: list(plan.all_scores(w.experiment).values()),
        code=plan.code("compare_scores"),
    output:
        differences="results/{experiment}/compare_scores/differences.csv",
        record="results/{experiment}/compare_scores/record.json",
    log:
        "logs/{experiment}/compare_scores.log",
    benchmark:
        "logs/{experiment}/compare_scores.tsv"
    conda:
        ENVIRONMENT
    params:
        names=lambda w: [list(name) for name in plan.all_scores(w.experiment)],
        parts=lambda w: list(plan.of(w.experiment).evaluated_parts()),
        evaluation=lambda w: plan.section(w.experiment, "evaluation"),
    message:
        "{wildcards.experiment}: compare the scores"
    script:
        "../scripts/compare_scores.py"
