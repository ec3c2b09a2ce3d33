"""The one module that knows Snakemake: a rule's script is a few lines between the two ends of a `Job`.

A job sends what is printed to the rule's log, writes artifacts and the record, and turns an error into one
message on the terminal, before Snakemake's own block. A failed job leaves a small file beside its log,
because Snakemake deletes a failed rule's outputs; the tracking projects that file as a failed run.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kalibre import files
from kalibre.columns import Column, Columns
from kalibre.digests import digest_bytes, digest_columns, digest_json
from kalibre.errors import InputError
from kalibre.records import Record, Result
from kalibre.sources import module_file

PACKAGES = ("numpy", "pyarrow", "scikit-learn", "scipy", "pandas", "kalibre")


class Job:
    """One run of a rule's script.

    Parameters
    ----------
    snakemake : object
        The object Snakemake gives to a script. Its input item `records` names the records of the rules
        this one takes artifacts from, its input item `code` the source files the rule uses.
    """

    def __init__(self, snakemake: Any) -> None:
        self.input = snakemake.input
        self.output = snakemake.output
        self.params = snakemake.params
        self.rule: str = snakemake.rule
        self.wildcards = dict(snakemake.wildcards.items())
        self.experiment: str = self.wildcards.get("experiment", "")
        self.subject = {k: v for k, v in self.wildcards.items() if k != "experiment"}
        self._log = Path(snakemake.log[0])
        self._failure = self._log.with_suffix(".failed.json")
        self._inputs: dict[str, str] = {}
        self._outputs: dict[str, dict[str, str]] = {}

    def __enter__(self) -> Job:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._failure.unlink(missing_ok=True)
        self._terminal = os.dup(2)
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, SystemExit):
            return
        if isinstance(error, InputError):
            message = str(error)
            print(message, file=sys.stderr)
        else:
            traceback.print_exception(kind, error, trace)
            message = f"{type(error).__name__}: {error}"
        self.say(f"{self._title()}: {message}\n(log: {self._log})")
        self._leave_failure(message)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

    def say(self, message: str) -> None:
        """Print a line to the person's terminal, past the log."""
        os.write(self._terminal, (message.rstrip("\n") + "\n").encode())

    def read(self, name: str, columns: Sequence[str] | None = None) -> Columns:
        """Read the table that the input item `name` names."""
        return files.read_columns(_as_list(self.input[name])[0], columns)

    def note_input(self, name: str, digest: str) -> None:
        """Record the digest of an input that no rule of ours made."""
        self._inputs[name] = digest

    def write_columns(self, name: str, columns: Mapping[str, Column], kind: str = "data") -> None:
        """Write a table as Parquet to the output item `name`."""
        files.write_columns(self.output[name], columns)
        self._note_output(name, kind, digest_columns(columns))

    def write_csv(
        self, name: str, rows: Sequence[Mapping[str, Any]], header: Sequence[str]
    ) -> None:
        """Write a small table that people read to the output item `name`."""
        files.write_csv(self.output[name], rows, header)
        self._note_output(name, "table", digest_bytes(Path(self.output[name]).read_bytes()))

    def write_json(self, name: str, value: Any) -> None:
        """Write plain built-ins to the output item `name`."""
        files.write_json(self.output[name], value)
        self._note_output(name, "json", digest_json(value))

    def write_text(self, name: str, text: str, kind: str = "text") -> None:
        """Write text, or a page (`kind="page"`), to the output item `name`."""
        files.write_text(self.output[name], text)
        self._note_output(name, kind, digest_bytes(text.encode()))

    def write_files(self, name: str, texts: Mapping[str, str], *, kind: str) -> None:
        """Write texts as files of the folder that is the output item `name`."""
        folder = Path(self.output[name])
        folder.mkdir(parents=True, exist_ok=True)
        above = Path(self.output["record"]).parent
        for file, text in texts.items():
            files.write_text(folder / file, text)
            self._outputs[f"{name}/{Path(file).stem}"] = {
                "file": os.path.relpath(folder / file, above),
                "kind": kind,
                "digest": digest_bytes(text.encode()),
            }

    def write_content(self, name: str, content: bytes, *, kind: str, digest: str) -> None:
        """Write bytes whose content has a digest of its own, such as a model."""
        files.write_bytes(self.output[name], content)
        self._note_output(name, kind, digest)

    def finish(self, result: Result | None = None) -> None:
        """Write the record: the last thing a computing rule does."""
        result = result or Result()
        for note in result.notes:
            print(note, file=sys.stderr)
        record = Record(
            rule=self.rule,
            experiment=self.experiment,
            subject=self.subject,
            result=result,
            inputs=self._inputs | self._upstream_digests(),
            outputs=self._outputs,
            sources=self._sources(),
            packages=_package_versions(),
        )
        files.write_bytes(self.output["record"], record.to_bytes())

    def upstream_logs(self) -> dict[Path, Path]:
        """Each record among the inputs to the log of the job that wrote it, which lies likewise."""
        records = [Path(path) for path in _as_list(self.input.get("records"))]
        logs = {path: Path("logs", *path.parent.parts[1:]).with_suffix(".log") for path in records}
        return {record: log for record, log in logs.items() if log.is_file()}

    def _note_output(self, name: str, kind: str, digest: str) -> None:
        file = os.path.relpath(self.output[name], Path(self.output["record"]).parent)
        self._outputs[name] = {"file": file, "kind": kind, "digest": digest}

    def _upstream_digests(self) -> dict[str, str]:
        """Digests of the inputs, as the records of the rules that made them say."""
        taken = {os.path.normpath(path) for path in self.input}
        digests = {}
        for path in _as_list(self.input.get("records")):
            record = files.read_json(path)
            origin = "/".join([record["rule"], *record["subject"].values()])
            for name, output in record["outputs"].items():
                if os.path.normpath(Path(path).parent / output["file"]) in taken:
                    digests[f"{origin}/{name}"] = output["digest"]
        return digests

    def _sources(self) -> str:
        """Digest of the source files the rule declares, after a check that it declares all it imported."""
        declared = {Path(path).resolve() for path in _as_list(self.input.get("code"))}
        imported = {module_file(name) for name in sys.modules if name.startswith("kalibre")}
        missing = sorted(str(path) for path in imported - declared if path is not None)
        if missing:
            raise RuntimeError(
                f"rule {self.rule} uses modules that are not among its inputs: {missing}"
            )
        return digest_json([[p.name, digest_bytes(p.read_bytes())] for p in sorted(declared)])

    def _title(self) -> str:
        return " ".join([self.rule, self.experiment, *self.subject.values()]).strip()

    def _leave_failure(self, message: str) -> None:
        files.write_json(
            self._failure,
            {
                "rule": self.rule,
                "experiment": self.experiment,
                "subject": self.subject,
                "message": message,
                "log": str(self._log),
            },
        )


def _as_list(item: Any) -> list[str]:
    if item is None:
        return []
    return [item] if isinstance(item, str) else list(item)


def _package_versions() -> dict[str, str]:
    """Versions of the packages whose code can change a number."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"python": ".".join(map(str, sys.version_info[:3])), **versions}
