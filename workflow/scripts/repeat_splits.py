"""Do one shard of a study's splits."""

from kalibre.adaptor import Job
from kalibre.repeats.progress import shard_progress
from kalibre.repeats.shard import repeat_splits
from kalibre.repeats.shards import Shard

with Job(snakemake) as job:
    study, extent = job.params.study, snakemake.resources.study
    shard = Shard.named(job.wildcards["shard"])
    with shard_progress(job, shard, extent=extent, settings=study, title=job.experiment) as done:
        splits, result = repeat_splits(
            job.read("table"),
            job.read("roles"),
            seeds=shard.seeds,
            study=study,
            advance=done.advance,
        )
        job.write_columns("splits", splits)
        job.finish(result)
