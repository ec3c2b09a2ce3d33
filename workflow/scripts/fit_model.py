"""Fit one model and score every row."""

from kalibre.adaptor import Job
from kalibre.digests import digest_object
from kalibre.fitting import fit_model
from kalibre.persistence import dump_model

with Job(snakemake) as job:
    fitted = fit_model(
        job.read("table"),
        job.read("roles"),
        job.read("parts"),
        model=job.params.model,
        preparation=job.params.preparation,
        columns=job.params.columns,
    )
    content = dump_model(fitted.estimator)
    job.write_content("model", content, kind="model", digest=digest_object(fitted.estimator))
    job.write_columns("scores", fitted.scores.to_columns())
    job.finish(fitted.result)
