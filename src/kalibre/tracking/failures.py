"""A failed rule shows up in MLflow: a FAILED run with the message and the end of its log.

Snakemake deletes what a failed rule wrote, so its adaptor leaves a small JSON file beside its log.
When the workflow stops on an error, `python -m kalibre.tracking.failures --root DIR` projects these
files and removes them. It must never add a second error to the first: whatever goes wrong here is
one line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kalibre.files import read_json
from kalibre.tracking import content, store
from kalibre.tracking.content import KIND_TAG, NOTE_TAG
from kalibre.tracking.project import user_tag
from kalibre.tracking.reach import plain_errors

PATTERN = "**/*.failed.json"
MESSAGE_TAG = "kalibre.message"
LINES = 50
# A rule that belongs to no experiment (the initialising of the store itself) fails under this name.
NO_EXPERIMENT = "workflow"

_LONGEST_READ = 64 * 1024


def project_failures(
    uri: str, failures: Sequence[Mapping[str, Any]], *, root: Path
) -> list[Mapping[str, Any]]:
    """Make one FAILED run of each failure; never raises, and prints at most one line.

    Parameters
    ----------
    uri : str
        Address of the tracking store.
    failures : sequence of mappings
        `experiment`, `rule`, `subject`, `message` and `log`, a path (relative: to `root`).
    root : Path
        The project folder.

    Returns
    -------
    list of mappings
        The failures that MLflow now shows.
    """
    shown: list[Mapping[str, Any]] = []
    try:
        names = {_experiment(failure) for failure in failures}
        ids = store.initialise(uri, sorted(names), root=root) if names else {}
        with plain_errors(uri):
            client = store.connect(uri)
            for failure in failures:
                _project(client, ids[_experiment(failure)], failure, root)
                shown.append(failure)
    except Exception as error:  # noqa: BLE001  (said, and left: the workflow's own error matters)
        said = " ".join(f"{error}".split()) or type(error).__name__
        print(
            f"MLflow does not show {len(failures) - len(shown)} failed rule(s): {said}",
            file=sys.stderr,
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Project the failures that lie among the logs; the exit code is always 0."""
    parser = argparse.ArgumentParser(
        prog="python -m kalibre.tracking.failures", description=__doc__
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the project folder")
    root = parser.parse_args(arguments).root.resolve()
    try:
        found = _read(root)
        if not found:
            return 0
        shown = project_failures(store.resolve_uri(root), [f for _, f in found], root=root)
        for path, failure in found:
            if any(failure is one for one in shown):
                path.unlink(missing_ok=True)
    except Exception as error:  # noqa: BLE001  (as above)
        print(f"MLflow does not show the failed rules: {error}", file=sys.stderr)
    return 0


def _read(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The failure files; what is no failure is passed over."""
    found = []
    for path in sorted((root / "logs").glob(PATTERN)):
        try:
            failure = read_json(path)
            found.append((path, {**failure, "subject": dict(failure["subject"])}))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _project(client: Any, experiment_id: str, failure: Mapping[str, Any], root: Path) -> None:
    end = _end_of(root / failure["log"])
    message = str(failure["message"])
    tags = content.subject_tags(failure) | user_tag()
    tags |= {KIND_TAG: "failure", MESSAGE_TAG: message}
    tags[NOTE_TAG] = f"{message}\n\n```\n{end}\n```" if end else message
    run = client.create_run(
        experiment_id, tags=content.short_tags(tags), run_name=f"{content.run_name(failure)} failed"
    )
    if end:
        client.log_text(run.info.run_id, end, f"log/{Path(failure['log']).name}")
    client.set_terminated(run.info.run_id, "FAILED")


def _end_of(log: Path) -> str:
    """The last lines of a log, empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _LONGEST_READ))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-LINES:])


def _experiment(failure: Mapping[str, Any]) -> str:
    return failure["experiment"] or NO_EXPERIMENT


if __name__ == "__main__":
    sys.exit(main())
