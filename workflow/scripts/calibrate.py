"""Learn one calibrator and apply it to every row."""

from kalibre.adaptor import Job
from kalibre.calibrating import calibrate
from kalibre.scores import Scores

with Job(snakemake) as job:
    scores, calibrator, result = calibrate(
        Scores.from_columns(job.read("scores")),
        method=job.params.method,
        params=job.params.params,
        learn_on=job.params.learn_on or None,
        declared=job.params.declared_overlap,
    )
    job.write_columns("scores", scores.to_columns())
    job.write_json("calibrator", calibrator)
    job.finish(result)
