"""Cut the table into parts."""

from kalibre.adaptor import Job
from kalibre.splitting import split_rows

with Job(snakemake) as job:
    parts, result = split_rows(job.read("roles"), job.params.split)
    job.write_columns("parts", parts)
    job.finish(result)
