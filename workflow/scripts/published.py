"""Print the comparison with the published figures, and fail if one differs."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.ledger import published_text

with Job(snakemake) as job:
    figures = files.read_csv(job.input.published)
    claims = files.read_csv(job.input.claims)
    text, differing = published_text(figures, claims)
    job.say(text)
    if differing:
        raise SystemExit(1)
