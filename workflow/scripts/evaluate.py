"""Measure one model's probabilities."""

from kalibre.adaptor import Job
from kalibre.evaluation import RELIABILITY_HEADER, evaluate
from kalibre.scores import Scores

with Job(snakemake) as job:
    evaluation = evaluate(
        Scores.from_columns(job.read("scores")),
        on=job.params.parts,
        evaluation=job.params.evaluation,
        declared=job.params.declared_overlap,
    )
    job.write_csv("reliability", evaluation.reliability, RELIABILITY_HEADER)
    job.finish(evaluation.result)
