"""Project an experiment's records into MLflow."""

from pathlib import Path

from kalibre import files
from kalibre.adaptor import Job
from kalibre.tracking.project import track
from kalibre.tracking.store import resolve_uri

with Job(snakemake) as job:
    root = Path.cwd()
    receipt = track(
        uri=resolve_uri(root),
        experiment=job.experiment,
        experiment_id=files.read_json(job.input.marker)["experiments"][job.experiment],
        records=[Path(path) for path in job.input.records],
        root=root,
        title=job.params.title,
        question=job.params.question,
        logs=job.upstream_logs(),
    )
    files.write_json(job.output.receipt, receipt)
