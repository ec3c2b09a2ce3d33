"""Save the model with the calibrators chosen for it."""

from pathlib import Path

from kalibre import files
from kalibre.adaptor import Job
from kalibre.digests import digest_object
from kalibre.saving import save_model
from kalibre.scores import Scores

with Job(snakemake) as job:
    classifier, content, result = save_model(
        Path(job.input.model).read_bytes(),
        job.read("table"),
        Scores.from_columns(job.read("scores")),
        model=job.params.model,
        columns=job.params.columns,
        calibrators=[files.read_json(path) for path in job.input.calibrators],
        packages=job.params.packages,
    )
    job.write_content("model", content, kind="model", digest=digest_object(classifier))
    job.finish(result)
