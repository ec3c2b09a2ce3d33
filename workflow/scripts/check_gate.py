"""Hold an experiment's metrics against the limits of its gate; always succeeds."""

from kalibre import files
from kalibre.adaptor import Job
from kalibre.gate import check_gate, earlier_metrics, gate_summary
from kalibre.records import Result, merge_undefined, read_records

with Job(snakemake) as job:
    limits = job.params.limits
    earlier = None
    if job.input.get("earlier"):
        earlier = earlier_metrics(files.read_json(job.input.earlier[0]))
    checks = check_gate(
        limits,
        files.read_json(job.input.metrics),
        undefined=merge_undefined(read_records(job.input.measured)),
        earlier=earlier,
    )
    summary = gate_summary(checks)
    job.write_json("gate", summary)
    job.finish(Result(metrics={"checks": len(checks), "failed": summary["failed"]}))
