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
