"""Compare every rung with the one that learns all preparation inside the folds."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.leaking import LEAK_HEADER, compare_rungs

with Job(snakemake) as job:
    tables = [files.read_csv(path) for path in job.input.folds]
    metrics = files.read_json(job.input.held_out)["metrics"]
    part = "held_out/"
    result, table = compare_rungs(
        dict(zip(job.params.rungs, tables, strict=True)),
        held_out={k.removeprefix(part): v for k, v in metrics.items() if k.startswith(part)},
        level=job.params.level,
    )
    job.write_csv("leak", table, LEAK_HEADER)
    job.finish(result)
