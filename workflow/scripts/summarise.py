"""Lay an experiment's numbers together, for programs and for people."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.records import Result, experiment_values, merge_metrics, read_records
from kalibre.summary import summary_text

with Job(snakemake) as job:
    records = read_records(job.input.records)
    settings = job.params.settings
    evaluated = [record["subject"] for record in records if record["rule"] == "evaluate"]
    tables = [files.read_csv(path) for path in job.input.reliability]
    reliability = {
        (subject["model"], subject["calibrator"]): table
        for subject, table in zip(evaluated, tables, strict=True)
    }
    sheet = files.read_csv(job.input.sheet)
    job.write_json("metrics", merge_metrics(records))
    job.write_json("settings", experiment_values(settings, records))
    job.write_text("summary", summary_text(job.experiment, settings, records, reliability, sheet))
    job.finish(Result())
