"""Open or migrate the tracking store once, before anybody writes to it."""

from pathlib import Path

from kalibre import files
from kalibre.adaptor import Job
from kalibre.tracking.store import initialise, redact, resolve_uri

with Job(snakemake) as job:
    root = Path.cwd()
    uri = resolve_uri(root)
    initialise(uri, [], root=root)
    files.write_json(job.output.marker, {"tracking_uri": redact(uri)})
