"""Project an experiment's records into MLflow."""

from pathlib import Path

from kalibre import files
from kalibre.adaptor import Job
from kalibre.tracking.project import track
from kalibre.tracking.store import initialise, resolve_uri

with Job(snakemake) as job:
    root = Path.cwd()
    uri = resolve_uri(root)
    receipt = track(
        uri=uri,
        experiment=job.experiment,
        experiment_id=initialise(uri, [job.experiment], root=root)[job.experiment],
        records=[Path(path) for path in job.input.records],
        root=root,
        title=job.params.title,
        question=job.params.question,
        logs=job.upstream_logs(),
    )
    files.write_json(job.output.receipt, receipt)
