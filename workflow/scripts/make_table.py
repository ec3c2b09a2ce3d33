"""Make the experiment's table from its data source."""

from kalibre.adaptor import Job
from kalibre.data.table import make_table

with Job(snakemake) as job:
    table = make_table(job.params.data)
    for name, digest in table.inputs.items():
        job.note_input(name, digest)
    job.write_columns("table", table.features)
    job.write_columns("roles", table.roles)
    job.finish(table.result)
