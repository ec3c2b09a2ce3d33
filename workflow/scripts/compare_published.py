"""Compare every published figure and claim with what the engine measures."""

from kalibre import files, ledger
from kalibre.adaptor import Job

with Job(snakemake) as job:
    measured = {
        lesson: ledger.values(files.read_json(metrics), files.read_json(settings))
        for lesson, metrics, settings in zip(
            job.params.lessons, job.input.metrics, job.input.settings, strict=True
        )
    }
    figures = ledger.compare(files.read_csv(job.input.ledger), measured)
    claims = ledger.check_claims(files.read_csv(job.input.claims), measured)
    files.write_csv(job.output.published, figures, ledger.PUBLISHED_COLUMNS)
    files.write_csv(job.output.claims, claims, ledger.CLAIM_COLUMNS)
