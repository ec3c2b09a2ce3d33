"""Score a model's training rows by models that did not learn from them."""

from kalibre.adaptor import Job
from kalibre.out_of_fold import score_out_of_fold

with Job(snakemake) as job:
    scores, result = score_out_of_fold(
        job.read("table"),
        job.read("roles"),
        job.read("parts"),
        model=job.params.model,
        preparation=job.params.preparation,
        columns=job.params.columns,
        folds=job.params.folds,
    )
    job.write_columns("scores", scores.to_columns())
    job.finish(result)
