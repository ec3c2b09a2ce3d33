"""Tracking into a database that a team shares: a real PostgreSQL, started here on the loopback address."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_records import write_experiment
from kalibre.tracking import store
from kalibre.tracking.project import track

pytestmark = pytest.mark.server

DATABASE_USER = "postgres"
"""PostgreSQL refuses to run as root; Debian's package makes this user."""


def program(name: str) -> str | None:
    """PostgreSQL's server programs lie beside the path in Debian."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def run(*command: str, user: str | None) -> None:
    done = subprocess.run(command, user=user, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of an empty database."""
    initdb, control = program("initdb"), program("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    user = DATABASE_USER if os.geteuid() == 0 else None
    # Not below pytest's own folder, which another user may not enter.
    folder = Path(tempfile.mkdtemp(prefix="kalibre_postgresql_"))
    if user is not None:
        shutil.chown(folder, pwd.getpwnam(user).pw_uid)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, options = str(folder / "data"), f"-h 127.0.0.1 -p {port} -k {folder} -F"
    try:
        run(initdb, "-D", data, "-U", "kalibre", "-A", "trust", "--no-sync", user=user)
        log = str(folder / "log")
        run(control, "-D", data, "-o", options, "-l", log, "-w", "start", user=user)
        try:
            yield f"postgresql://kalibre@127.0.0.1:{port}/postgres"
        finally:
            run(control, "-D", data, "-m", "immediate", "stop", user=user)
    finally:
        shutil.rmtree(folder)


def track_into(uri: str, name: str, root: Path, records: list[Path]) -> dict[str, Any]:
    experiment_id = store.initialise(uri, [name], root=root)[name]
    return track(uri=uri, experiment=name, experiment_id=experiment_id, records=records, root=root)


def all_runs(uri: str, name: str) -> list[dict[str, Any]]:
    client = store.connect(uri)
    found = client.get_experiment_by_name(name)
    return [
        r.to_dictionary() for r in client.search_runs([found.experiment_id], order_by=["run_name"])
    ]


def test_every_record_is_a_run_and_none_is_doubled(database: str, tmp_path: Path) -> None:
    metrics = {f"test/m{i}": i / 7 for i in range(1200)}
    records = write_experiment(tmp_path, "team", metrics=metrics)
    first = track_into(database, "team", tmp_path, records)
    before = all_runs(database, "team")
    assert track_into(database, "team", tmp_path, records) == first
    assert all_runs(database, "team") == before
    assert len(before) == len(records) + 1
    (evaluated,) = [r for r in before if r["info"]["run_name"] == "evaluate linear none"]
    assert evaluated["data"]["metrics"]["test/m1199"] == 1199 / 7


def test_two_projects_share_one_database(database: str, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        root = tmp_path / name
        root.mkdir()
        track_into(database, name, root, write_experiment(root, name))
    runs = {
        name: {r["info"]["run_id"] for r in all_runs(database, name)} for name in ("ours", "theirs")
    }
    assert runs["ours"]
    assert runs["theirs"]
    assert not runs["ours"] & runs["theirs"]
