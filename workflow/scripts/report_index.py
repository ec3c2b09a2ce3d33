"""Write the index of all experiments' pages."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.pages.index import index
from kalibre.records import read_records

with Job(snakemake) as job:
    page = index(
        read_records(job.input.records),
        files.read_csv(job.input.published),
        files.read_csv(job.input.claims),
    )
    files.write_text(job.output.page, page)
