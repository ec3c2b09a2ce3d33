"""Measure held-out rows once, beside the folds."""

from kalibre.adaptor import Job
from kalibre.climbing import Ladder, measure_held_out

with Job(snakemake) as job:
    ladder = Ladder.build(
        job.read("table"), job.read("roles"), job.read("parts"), **job.params.ladder
    )
    job.finish(measure_held_out(ladder))
