"""Compare calibrators and models on the same rows."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.contrasting import HEADER, compare_scores
from kalibre.scores import Scores

with Job(snakemake) as job:
    names = [tuple(name) for name in job.params.names]
    tables = [Scores.from_columns(files.read_columns(path)) for path in job.input.scores]
    result, differences = compare_scores(
        dict(zip(names, tables, strict=True)),
        on=job.params.parts,
        evaluation=job.params.evaluation,
    )
    job.write_csv("differences", differences, HEADER)
    job.finish(result)
