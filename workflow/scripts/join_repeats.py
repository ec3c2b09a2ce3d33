"""Join the shards of a study for one model."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.records import read_records
from kalibre.repeats.join import join_repeats

with Job(snakemake) as job:
    shards = read_records(job.input.shard_records)
    study = join_repeats(
        [files.read_columns(path) for path in job.input.splits],
        shards,
        model=job.wildcards["model"],
        **job.params.summary,
    )
    # What the shards read; the shards themselves are not named: how many there are changes no number.
    for name, digest in shards[0]["inputs"].items():
        job.note_input(name, digest)
    job.write_columns("splits", study.splits, kind="artifact")
    job.write_columns("further_seeds", study.further)
    job.write_columns("by_split", study.series, kind="series")
    job.finish(study.result)
