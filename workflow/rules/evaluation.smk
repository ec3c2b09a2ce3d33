# From scores to numbers.
# Takes: the section `evaluation`. Gives: metrics and reliability tables, one record a model and calibrator.


rule evaluate:
    """Measure one model's probabilities on the parts the experiment names."""
    input:
        scores=lambda w: beside(
            scores_record(w.experiment, w.model, w.calibrator), "scores.parquet"
        ),
        records=lambda w: scores_record(w.experiment, w.model, w.calibrator),
        code=code("evaluate"),
    output:
        reliability="results/{experiment}/evaluate/{model}/{calibrator}/reliability.csv",
        record="results/{experiment}/evaluate/{model}/{calibrator}/record.json",
    log:
        "logs/{experiment}/evaluate/{model}/{calibrator}.log",
    benchmark:
        "logs/{experiment}/evaluate/{model}/{calibrator}.tsv"
    conda:
        ENVIRONMENT
    params:
        parts=lambda w: list(experiment_of(w).evaluated_parts()),
        evaluation=lambda w: plain(experiment_of(w).evaluation),
        declared_overlap=declared_overlap,
    message:
        "{wildcards.experiment}: evaluate {wildcards.model}, {wildcards.calibrator}"
    script:
        "../scripts/evaluate.py"
