# From the records to MLflow's runs: nothing is computed here.
# Takes: an experiment's records, the store (MLFLOW_TRACKING_URI, by default mlflow.db). Gives: tracked.json.

STORE_MARKER = "results/tracking_store.json"

store = store_file(tracking_uri)
if store is not None and not store.exists() and Path(STORE_MARKER).exists():
    logger.warning(
        "The tracking store is gone, the results are not. "
        "`snakemake all --forcerun init_tracking` fills it again from the records."
    )


rule init_tracking:
    """Open or migrate the store once, before anybody writes to it."""
    input:
        code=plan.code("init_tracking"),
    output:
        marker=STORE_MARKER,
    log:
        "logs/init_tracking.log",
    conda:
        ENVIRONMENT
    resources:
        store=1,
    params:
        uri=redact(tracking_uri),
    message:
        "open the tracking store"
    script:
        "../scripts/init_tracking.py"


rule track:
    """Project an experiment's records into MLflow."""
    input:
        records=lambda w: plan.tracked_records(w.experiment),
        marker=STORE_MARKER,
        code=plan.code("track"),
    output:
        receipt="results/{experiment}/tracked.json",
    log:
        "logs/{experiment}/track.log",
    benchmark:
        "logs/{experiment}/track.tsv"
    retries: 1
    conda:
        ENVIRONMENT
    resources:
        store=1,
    params:
        uri=redact(tracking_uri),
        title=lambda w: plan.of(w.experiment).title,
        question=lambda w: plan.of(w.experiment).question,
    message:
        "{wildcards.experiment}: track the runs"
    script:
        "../scripts/track.py"
