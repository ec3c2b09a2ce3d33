"""Compare every published figure and claim with what the engine measures."""

from functools import partial

from kalibre import files, ledger
from kalibre.adaptor import Job
from kalibre.repeats.placing import place

with Job(snakemake) as job:
    measured = {
        lesson: ledger.values(files.read_json(metrics), files.read_json(settings))
        for lesson, metrics, settings in zip(
            job.params.lessons, job.input.metrics, job.input.settings, strict=True
        )
    }
    tables = iter(job.input.studies)
    places = {
        lesson: partial(
            place, studies={model: files.read_columns(next(tables)) for model in models}
        )
        for lesson, models in job.params.placing.items()
    }
    figures = ledger.compare(files.read_csv(job.input.ledger), measured, places)
    claims = ledger.check_claims(files.read_csv(job.input.claims), measured)
    files.write_csv(job.output.published, figures, ledger.PUBLISHED_COLUMNS)
    files.write_csv(job.output.claims, claims, ledger.CLAIM_COLUMNS)
