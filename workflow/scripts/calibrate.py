"""Learn one calibrator and apply it to every row."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.calibrating import calibrate
from kalibre.scores import Scores

with Job(snakemake) as job:
    out_of_fold = job.read("out_of_fold") if job.input.get("out_of_fold") else None
    scores, calibrator, result = calibrate(
        Scores.from_columns(job.read("scores")),
        method=job.params.method,
        params=job.params.params,
        learn_on=job.params.learn_on or None,
        declared=job.params.declared_overlap,
        out_of_fold=None if out_of_fold is None else Scores.from_columns(out_of_fold),
        before=[files.read_json(path) for path in job.input.before],
    )
    job.write_columns("scores", scores.to_columns())
    job.write_json("calibrator", calibrator)
    job.finish(result)
