"""A rule's script between the two ends of a job: its log, its record, its one message."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_job import FakeSnakemake
from kalibre import files
from kalibre.adaptor import Job
from kalibre.columns import Categories
from kalibre.digests import digest_columns
from kalibre.records import Result
from kalibre.sources import SOURCE

TESTS = Path(__file__).parents[1]
CODE = sorted(str(path) for path in SOURCE.rglob("*.py"))
"""All of the engine: more than any script imports."""


def job(root: Path, **options: Any) -> Job:
    """A job of a rule that declares all of the engine's code."""
    options["inputs"] = {"code": CODE} | options.get("inputs", {})
    return Job(FakeSnakemake(root, **options))


def record_of(made: Job) -> dict[str, Any]:
    return files.read_json(made.output["record"])


# ---- the record


def test_a_record_says_rule_experiment_and_subject(tmp_path: Path):
    made = job(tmp_path)
    made.finish()
    record = record_of(made)
    assert (record["rule"], record["experiment"]) == ("evaluate", "trivia")
    assert record["subject"] == {"model": "linear", "calibrator": "none"}


def test_a_record_holds_the_result(tmp_path: Path):
    made = job(tmp_path)
    made.finish(Result(metrics={"x": 0.1}, undefined={"y": "no rows"}, notes=("clipped",)))
    record = record_of(made)
    assert record["metrics"] == {"x": 0.1}
    assert record["undefined"] == {"y": "no rows"}
    assert record["notes"] == ["clipped"]


def test_a_record_names_the_packages_whose_code_can_change_a_number(tmp_path: Path):
    made = job(tmp_path)
    made.finish()
    assert {"python", "numpy", "scikit-learn", "scipy"} <= set(record_of(made)["packages"])


OUTPUTS = {
    "table": "table.parquet",
    "reliability": "reliability.csv",
    "metrics": "../metrics.json",
    "summary": "summary.txt",
    "model": "model.skops",
}


def test_a_record_names_every_output_with_its_kind_and_place_beside_the_record(tmp_path: Path):
    made = job(tmp_path, outputs=OUTPUTS)
    made.write_columns("table", {"x": np.arange(3)})
    made.write_csv("reliability", [{"bin": 1}], ["bin"])
    made.write_json("metrics", {"a": 1})
    made.write_text("summary", "words")
    made.write_content("model", b"bytes", kind="model", digest="d" * 32)
    made.finish()
    outputs = record_of(made)["outputs"]
    assert {name: (o["kind"], o["file"]) for name, o in outputs.items()} == {
        "table": ("data", "table.parquet"),
        "reliability": ("table", "reliability.csv"),
        "metrics": ("json", "../metrics.json"),
        "summary": ("text", "summary.txt"),
        "model": ("model", "model.skops"),
    }
    assert outputs["table"]["digest"] == digest_columns({"x": np.arange(3)})
    assert outputs["model"]["digest"] == "d" * 32


def test_what_was_written_is_there(tmp_path: Path):
    made = job(tmp_path, outputs=OUTPUTS)
    made.write_columns("table", {"part": Categories.of(["a", "b"])})
    made.write_content("model", b"bytes", kind="model", digest="d" * 32)
    assert Path(made.output["model"]).read_bytes() == b"bytes"
    assert files.read_columns(made.output["table"])["part"].names == ("a", "b")


def test_the_digests_of_inputs_are_those_that_their_records_say(tmp_path: Path):
    upstream = job(
        tmp_path,
        rule="calibrate",
        outputs={"scores": "scores.parquet", "calibrator": "calibrator.json"},
    )
    upstream.write_columns("scores", {"x": np.arange(3)})
    upstream.write_json("calibrator", {"slope": 1})
    upstream.finish()
    taken = {"scores": upstream.output["scores"], "records": upstream.output["record"]}
    made = job(tmp_path, inputs=taken)
    made.finish()
    digest = record_of(upstream)["outputs"]["scores"]["digest"]
    # The calibrator itself is not among the inputs, so it is not named.
    assert record_of(made)["inputs"] == {"calibrate/linear/none/scores": digest}


def test_an_input_that_no_rule_made_can_be_noted(tmp_path: Path):
    made = job(tmp_path)
    made.note_input("file", "e" * 32)
    made.finish()
    assert record_of(made)["inputs"] == {"file": "e" * 32}


def test_a_record_does_not_hang_on_where_the_project_lies(tmp_path: Path):
    contents = []
    for place in ("here", "there/deeper"):
        made = job(tmp_path / place, outputs={"table": "table.parquet"})
        made.write_columns("table", {"x": np.arange(3)})
        made.finish(Result(metrics={"x": 1}))
        contents.append(Path(made.output["record"]).read_bytes())
    assert contents[0] == contents[1]


# ---- the code a rule uses


def test_the_sources_digest_changes_with_the_code_and_with_nothing_else(tmp_path: Path):
    script = tmp_path / "script.py"
    digests = []
    for text in ("a = 1", "a = 1", "a = 2"):
        script.write_text(text)
        made = job(tmp_path, inputs={"code": [*CODE, str(script)]})
        made.finish()
        digests.append(record_of(made)["sources"])
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


def test_a_module_that_was_imported_but_not_declared_stops_the_job(tmp_path: Path):
    declared = [path for path in CODE if Path(path).name != "adaptor.py"]
    made = Job(FakeSnakemake(tmp_path, inputs={"code": declared}))
    with pytest.raises(RuntimeError, match=r"rule evaluate uses modules .*adaptor\.py"):
        made.finish()
    assert not Path(made.output["record"]).exists()


# ---- logs of the rules before


def test_a_records_log_lies_among_the_logs_as_the_record_among_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    records = [f"results/trivia/{name}/record.json" for name in ("make_table", "fit_model/linear")]
    files.write_text("logs/trivia/fit_model/linear.log", "said")
    made = job(tmp_path, inputs={"records": records})
    assert made.upstream_logs() == {Path(records[1]): Path("logs/trivia/fit_model/linear.log")}


# ---- the two ends of a job, in a process of its own

OPENING = f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(SOURCE.parent)!r}]
from pathlib import Path
from fake_job import FakeSnakemake
from kalibre.adaptor import Job
from kalibre.errors import InputError
CODE = sorted(str(path) for path in Path({str(SOURCE)!r}).rglob("*.py"))
with Job(FakeSnakemake(Path.cwd(), inputs={{"code": CODE}})) as job:
"""
LOG = "logs/trivia/evaluate/linear/none.log"
FAILURE = "logs/trivia/evaluate/linear/none.failed.json"


def run(root: Path, *body: str) -> subprocess.CompletedProcess[str]:
    """Run a script whose job does what `body` says."""
    program = OPENING + "".join(f"    {line}\n" for line in body)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False
    )


def test_what_a_job_prints_goes_to_its_log_alone(tmp_path: Path):
    done = run(tmp_path, "print('out')", "print('err', file=sys.stderr)", "job.finish()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted((tmp_path / LOG).read_text().split()) == ["err", "out"]


def test_what_a_job_says_reaches_the_person(tmp_path: Path):
    done = run(tmp_path, "job.say('252 rows')")
    assert done.stderr == "252 rows\n"


def test_a_persons_mistake_is_one_message_and_exit_code_1(tmp_path: Path):
    done = run(tmp_path, "raise InputError('no column x')")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "evaluate trivia linear none: no column x",
        f"(log: {tmp_path / LOG})",
    ]
    assert "Traceback" not in (tmp_path / LOG).read_text()


def test_a_mistake_of_ours_is_one_message_too_and_its_traceback_is_in_the_log(tmp_path: Path):
    done = run(tmp_path, "1 / 0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        "evaluate trivia linear none: ZeroDivisionError: division by zero"
    )
    assert "Traceback" not in done.stderr
    assert "Traceback" in (tmp_path / LOG).read_text()


def test_a_failed_job_leaves_word_beside_its_log(tmp_path: Path):
    run(tmp_path, "raise InputError('no column x')")
    assert json.loads((tmp_path / FAILURE).read_text()) == {
        "rule": "evaluate",
        "experiment": "trivia",
        "subject": {"model": "linear", "calibrator": "none"},
        "message": "no column x",
        "log": str(tmp_path / LOG),
    }


def test_the_next_attempt_takes_the_word_away(tmp_path: Path):
    run(tmp_path, "raise InputError('no column x')")
    run(tmp_path, "job.finish()")
    assert not (tmp_path / FAILURE).exists()


def test_a_script_may_end_with_an_exit_code_of_its_own(tmp_path: Path):
    done = run(tmp_path, "raise SystemExit(3)")
    assert (done.returncode, done.stderr) == (3, "")
    assert not (tmp_path / FAILURE).exists()


def test_undeclared_code_stops_a_job_with_its_name(tmp_path: Path):
    done = run(
        tmp_path,
        "job.input._named['code'] = [p for p in CODE if not p.endswith('/records.py')]",
        "job.finish()",
    )
    assert done.returncode == 1
    assert "rule evaluate uses modules that are not among its inputs" in done.stderr
    assert "records.py" in done.stderr
