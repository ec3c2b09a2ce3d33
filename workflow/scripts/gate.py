"""Print every gate's checks, and fail if one is not kept."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.gate import gate_text

with Job(snakemake) as job:
    gates = dict(zip(job.params.experiments, map(files.read_json, job.input.gates), strict=True))
    text, failed = gate_text(gates)
    job.say(text)
    if failed:
        raise SystemExit(1)
