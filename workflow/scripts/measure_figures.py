"""Measure every figure of the lesson's page as this experiment has it."""

from kalibre import files, ledger
from kalibre.adaptor import Job
from kalibre.records import Result

with Job(snakemake) as job:
    values = ledger.values(files.read_json(job.input.metrics), files.read_json(job.input.settings))
    rows = ledger.figures(files.read_csv(job.input.ledger), job.params.lesson, values)
    job.write_csv("figures", rows, ledger.FIGURE_COLUMNS)
    measured = sum(row["measured"] is not None for row in rows)
    job.finish(Result(metrics={"figures": len(rows), "measured": measured}))
