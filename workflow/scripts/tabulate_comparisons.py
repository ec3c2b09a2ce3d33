"""Lay the comparisons out as a table, beside the printed figures where there are any."""

from kalibre import files, ledger
from kalibre.adaptor import Job
from kalibre.records import Result, merge_metrics
from kalibre.tables import closing_counts, table_header, table_markdown, table_rows

with Job(snakemake) as job:
    record = files.read_json(job.input.compared)
    lesson = job.params.lesson
    printed = [row for row in files.read_csv(job.input.ledger) if row["lesson"] == lesson]
    compared = ledger.compare(printed, {lesson: merge_metrics([record])})
    rows = table_rows(job.params.comparisons, record["metrics"], compared)
    job.write_csv("table", rows, table_header())
    job.write_text("markdown", table_markdown(rows, closing_counts(record["metrics"])))
    job.finish(Result())
