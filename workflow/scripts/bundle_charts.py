"""Lay the charts' library together, once for all pages."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.pages.static import chart_library

with Job(snakemake) as job:
    files.write_text(job.output.library, chart_library())
