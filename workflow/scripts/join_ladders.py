"""Join the shards of one model's ladders."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.records import read_records
from kalibre.repeats.ladders import join_ladders

with Job(snakemake) as job:
    shards = read_records(job.input.shard_records)
    study = join_ladders(
        [files.read_columns(path) for path in job.input.folds],
        shards,
        model=job.wildcards["model"],
        **job.params.summary,
    )
    # What the shards read; the shards themselves are not named: how many there are changes no number.
    for name, digest in shards[0]["inputs"].items():
        job.note_input(name, digest)
    job.write_columns("folds", study.folds, kind="artifact")
    job.finish(study.result)
