"""Write an experiment's page, and its figures."""

from pathlib import Path

from kalibre import files, ledger
from kalibre.adaptor import Job
from kalibre.pages.calibrators import score_header, score_rows
from kalibre.pages.labs import read_scores
from kalibre.pages.material import read_material
from kalibre.pages.page import report
from kalibre.records import Result, merge_metrics

with Job(snakemake) as job:
    material = read_material(
        job.input.records, experiment=job.experiment, settings=job.params.settings
    )
    lesson = material.settings["lesson"]
    if lesson:
        values = ledger.values(merge_metrics(material.records), files.read_json(job.input.settings))
        printed = [row for row in files.read_csv(job.input.ledger) if row["lesson"] == lesson]
        material = material.beside(ledger.compare(printed, {lesson: values}))
    made = report(
        material,
        lab_models=job.params.labs,
        lab_scores=[read_scores(path) for path in job.input.scores],
        chart_library=Path(job.input.library).read_text(encoding="utf-8"),
    )
    job.write_text("page", made.html, kind="page")
    job.write_files(
        "figures", {f"{name}.svg": svg for name, svg in made.stills.items()}, kind="figure"
    )
    job.write_csv("scores", list(score_rows(material)), list(score_header(material)))
    job.finish(Result(params=made.params()))
