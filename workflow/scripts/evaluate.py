"""Measure one model's probabilities."""

from kalibre.adaptor import Job
from kalibre.evaluation import TABLES, evaluate
from kalibre.scores import Scores

with Job(snakemake) as job:
    evaluation = evaluate(
        Scores.from_columns(job.read("scores")),
        on=job.params.parts,
        evaluation=job.params.evaluation,
        declared=job.params.declared_overlap,
    )
    for name, header in TABLES.items():
        job.write_csv(name, evaluation.tables[name], header)
    job.finish(evaluation.result)
