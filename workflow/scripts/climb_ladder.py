"""Measure one rung of the leakage ladder."""

from kalibre.adaptor import Job
from kalibre.climbing import FOLD_HEADER, Ladder, climb_rung

with Job(snakemake) as job:
    ladder = Ladder.build(
        job.read("table"), job.read("roles"), job.read("parts"), **job.params.ladder
    )
    result, folds = climb_rung(ladder, job.wildcards["rung"])
    job.write_csv("folds", folds, FOLD_HEADER)
    job.finish(result)
