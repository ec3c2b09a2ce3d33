"""Climb the ladder on one shard of a study's splits."""

from pathlib import Path

from kalibre.adaptor import Job
from kalibre.digests import digest_json
from kalibre.repeats.laddering import repeat_ladder
from kalibre.repeats.progress import Progress
from kalibre.repeats.shards import Shard, shards_of

with Job(snakemake) as job:
    shard = Shard.named(job.wildcards["shard"])
    folder = Path(job.output.record).parent.parent
    with Progress(
        shard,
        shards_of(snakemake.resources.study),
        settings=digest_json(job.params.study),
        experiment=f"{job.experiment}, ladder",
        logs=Path("logs", job.experiment, job.rule),
        record=lambda name: folder / name / "record.json",
        say=job.say,
    ) as progress:
        folds, result = repeat_ladder(
            job.read("table"),
            job.read("roles"),
            seeds=shard.seeds,
            study=job.params.study,
            advance=progress.advance,
        )
        job.write_columns("folds", folds)
        job.finish(result)
