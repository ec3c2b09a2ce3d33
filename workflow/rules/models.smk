# From the parts to every row's score, calibrated or not.
# Takes: the sections `models` and `calibration`. Gives: one table of scores a model and calibrator, and the
# model to use elsewhere.


rule fit_model:
    """Fit one estimator on its parts and score every row."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts="results/{experiment}/split_rows/parts.parquet",
        records=[
            "results/{experiment}/make_table/record.json",
            "results/{experiment}/split_rows/record.json",
        ],
        code=lambda w: plan.code("fit_model", *plan.named(w.experiment, w.model)),
    output:
        model="results/{experiment}/fit_model/{model}/model.skops",
        scores="results/{experiment}/fit_model/{model}/scores.parquet",
        record="results/{experiment}/fit_model/{model}/record.json",
    log:
        "logs/{experiment}/fit_model/{model}.log",
    benchmark:
        "logs/{experiment}/fit_model/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        model=lambda w: plan.section(w.experiment, "models")[w.model],
        preparation=lambda w: plan.section(w.experiment, "preparation"),
        columns=lambda w: plan.of(w.experiment).feature_columns(),
    message:
        "{wildcards.experiment}: fit {wildcards.model}"
    script:
        "../scripts/fit_model.py"


rule read_scores:
    """Take one model's scores from predictions that exist already."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts=lambda w: plan.parts_file(w.experiment),
        records=lambda w: plan.table_records(w.experiment),
        code=plan.code("read_scores"),
    output:
        scores="results/{experiment}/read_scores/{model}/scores.parquet",
        record="results/{experiment}/read_scores/{model}/record.json",
    log:
        "logs/{experiment}/read_scores/{model}.log",
    benchmark:
        "logs/{experiment}/read_scores/{model}.tsv"
    conda:
        ENVIRONMENT
    message:
        "{wildcards.experiment}: read the scores of {wildcards.model}"
    script:
        "../scripts/read_scores.py"


rule score_out_of_fold:
    """Score a model's training rows by models that did not learn from them."""
    input:
        table="results/{experiment}/make_table/table.parquet",
        roles="results/{experiment}/make_table/roles.parquet",
        parts="results/{experiment}/split_rows/parts.parquet",
        records=[
            "results/{experiment}/make_table/record.json",
            "results/{experiment}/split_rows/record.json",
        ],
        code=lambda w: plan.code("score_out_of_fold", *plan.named(w.experiment, w.model)),
    output:
        scores="results/{experiment}/score_out_of_fold/{model}/scores.parquet",
        record="results/{experiment}/score_out_of_fold/{model}/record.json",
    log:
        "logs/{experiment}/score_out_of_fold/{model}.log",
    benchmark:
        "logs/{experiment}/score_out_of_fold/{model}.tsv"
    conda:
        ENVIRONMENT
    params:
        model=lambda w: plan.section(w.experiment, "models")[w.model],
        preparation=lambda w: plan.section(w.experiment, "preparation"),
        columns=lambda w: plan.of(w.experiment).feature_columns(),
        folds=lambda w: plan.of(w.experiment).cross_fitting(),
    message:
        "{wildcards.experiment}: score {wildcards.model} out of fold"
    script:
        "../scripts/score_out_of_fold.py"


rule calibrate:
    """Learn one map from score to probability, and apply it to every row."""
    input:
        scores=lambda w: beside(
            plan.learning_scores_record(w.experiment, w.model, w.calibrator), "scores.parquet"
        ),
        out_of_fold=lambda w: [
            beside(record, "scores.parquet")
            for record in plan.learning_records(**w).get("out_of_fold", [])
        ],
        before=lambda w: [
            beside(record, "calibrator.json")
            for record in plan.learning_records(**w).get("before", [])
        ],
        records=lambda w: [
            record for records in plan.learning_records(**w).values() for record in records
        ],
        code=plan.code("calibrate"),
    output:
        scores="results/{experiment}/calibrate/{model}/{calibrator}/scores.parquet",
        calibrator="results/{experiment}/calibrate/{model}/{calibrator}/calibrator.json",
        record="results/{experiment}/calibrate/{model}/{calibrator}/record.json",
    log:
        "logs/{experiment}/calibrate/{model}/{calibrator}.log",
    benchmark:
        "logs/{experiment}/calibrate/{model}/{calibrator}.tsv"
    conda:
        ENVIRONMENT
    params:
        method=lambda w: plan.variant(w.experiment, w.model, w.calibrator).method,
        params=lambda w: plan.variant(w.experiment, w.model, w.calibrator).params,
        learn_on=lambda w: plan.variant(w.experiment, w.model, w.calibrator).learn_on or "",
        declared_overlap=lambda w: plan.section(w.experiment, "declared_overlap"),
    message:
        "{wildcards.experiment}: calibrate {wildcards.model}, {wildcards.calibrator}"
    script:
        "../scripts/calibrate.py"


rule save_model:
    """Save a model with the calibrators chosen for it, and ask it again what was measured."""
    input:
        model="results/{experiment}/fit_model/{model}/model.skops",
        calibrators=lambda w: [
            beside(plan.scores_record(w.experiment, w.model, name), "calibrator.json")
            for name in plan.chain(**w)
        ],
        table="results/{experiment}/make_table/table.parquet",
        scores=lambda w: beside(plan.scores_record(**w), "scores.parquet"),
        records=lambda w: [
            f"results/{w.experiment}/make_table/record.json",
            f"results/{w.experiment}/fit_model/{w.model}/record.json",
            *(plan.scores_record(w.experiment, w.model, name) for name in plan.chain(**w)),
        ],
        code=lambda w: plan.code("save_model", *plan.named(w.experiment, w.model)),
    output:
        model="results/{experiment}/save_model/{model}/{calibrator}/model.skops",
        record="results/{experiment}/save_model/{model}/{calibrator}/record.json",
    log:
        "logs/{experiment}/save_model/{model}/{calibrator}.log",
    benchmark:
        "logs/{experiment}/save_model/{model}/{calibrator}.tsv"
    conda:
        ENVIRONMENT
    params:
        model=lambda w: plan.section(w.experiment, "models")[w.model],
        columns=lambda w: plan.of(w.experiment).feature_columns(),
        packages=lambda w: plan.named(w.experiment, w.model),
    message:
        "{wildcards.experiment}: save {wildcards.model}, {wildcards.calibrator}"
    script:
        "../scripts/save_model.py"
