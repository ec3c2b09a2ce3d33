"""Climb the ladder on one shard of a study's splits."""

from kalibre.adaptor import Job
from kalibre.repeats.laddering import repeat_ladder
from kalibre.repeats.progress import shard_progress
from kalibre.repeats.shards import Shard

with Job(snakemake) as job:
    study, extent = job.params.study, snakemake.resources.study
    shard = Shard.named(job.wildcards["shard"])
    title = f"{job.experiment}, ladder"
    with shard_progress(job, shard, extent=extent, settings=study, title=title) as done:
        folds, result = repeat_ladder(
            job.read("table"),
            job.read("roles"),
            seeds=shard.seeds,
            study=study,
            advance=done.advance,
        )
        job.write_columns("folds", folds)
        job.finish(result)
