"""Take one model's scores from predictions that exist already."""

from kalibre.adaptor import Job
from kalibre.reading import read_scores

with Job(snakemake) as job:
    scores, result = read_scores(job.read("table"), job.read("roles"), model=job.wildcards["model"])
    job.write_columns("scores", scores.to_columns())
    job.finish(result)
