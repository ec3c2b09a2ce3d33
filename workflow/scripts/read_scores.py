"""Take one model's scores from predictions that exist already."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.reading import columns_of, read_scores

with Job(snakemake) as job:
    model = job.wildcards["model"]
    scores, result = read_scores(
        job.read("table", columns_of(model, files.column_names(job.input.table))),
        job.read("roles"),
        job.read("parts") if job.input.get("parts") else None,
        model=model,
    )
    job.write_columns("scores", scores.to_columns())
    job.finish(result)
