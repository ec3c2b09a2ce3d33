"""Measure each decision before and after."""

from kalibre.adaptor import Job
from kalibre.comparing import compare

with Job(snakemake) as job:
    job.finish(
        compare(job.read("table"), job.read("roles"), job.read("parts"), job.params.comparisons)
    )
