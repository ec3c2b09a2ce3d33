"""Fill in the model info sheet on leakage."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.leak_sheet import HEADER, leak_sheet, sheet_counts
from kalibre.records import Result
from kalibre.sheet_facts import gather_facts

with Job(snakemake) as job:
    facts = gather_facts(
        job.read("table"),
        job.read("roles"),
        job.read("parts") if job.input.get("parts") else None,
        leaks=[row for path in job.input.leaks for row in files.read_csv(path)],
        sheet=job.params.sheet,
    )
    sheet = leak_sheet(facts)
    job.write_csv("sheet", sheet, HEADER)
    job.finish(Result(metrics=sheet_counts(sheet)))
