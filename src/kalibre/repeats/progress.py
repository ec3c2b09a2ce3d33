"""How far is a study, when several processes work on it at once?

Each process writes how many splits of its shard it has done into a small file of its own; whoever has
something to say and sees that nobody has spoken lately adds up all shards and says it. A file whose process
is gone counts nothing, and neither does a shard that was made with other settings: it will be done again.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kalibre import files
from kalibre.digests import digest_json
from kalibre.repeats.shards import Shard, shards_of

SOON = 2.0
SELDOM = 30.0
"""Seconds between two lines: at first, and when a study has long been running."""


class Progress:
    """Tells a person how far a study is; a context manager around the work of one shard.

    Parameters
    ----------
    shard : Shard
        The shard this process does.
    shards : sequence of Shard
        All of the study's.
    settings : str
        Digest of the settings this process works with.
    experiment : str
        What the study is called.
    logs : Path
        Folder for the small files.
    record : callable
        A shard's name to the path of its record.
    say : callable
        Shows a person a line.
    clock : callable
        Seconds that only ever rise.
    """

    def __init__(
        self,
        shard: Shard,
        shards: Sequence[Shard],
        *,
        settings: str,
        experiment: str,
        logs: Path,
        record: Callable[[str], Path],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shard = shard
        self._shards = shards
        self._settings = settings
        self._experiment = experiment
        self._logs = logs
        self._record = record
        self._say = say
        self._clock = clock
        self._done = 0

    def __enter__(self) -> Progress:
        self._start = self._written = self._clock()
        self._write()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file(self._shard).unlink(missing_ok=True)

    def advance(self) -> None:
        """One more split is done."""
        self._done += 1
        now = self._clock()
        last = self._done == self._shard.count
        if not last and now - self._written < SOON / 4:
            return
        self._written = now
        self._write()
        done, speed = self._total()
        everything = sum(shard.count for shard in self._shards)
        if done >= everything or self._is_time_to_speak(now):
            self._say(line(self._experiment, done, everything, speed))

    def _write(self) -> None:
        state = {
            "settings": self._settings,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "done": self._done,
            "seconds": self._clock() - self._start,
        }
        files.write_json(self._file(self._shard), state)

    def _total(self) -> tuple[int, float]:
        """Splits done in all shards, and splits a second of those that are being done now."""
        done, speed = 0, 0.0
        for shard in self._shards:
            state = _read(self._file(shard))
            if self._counts(state) and _is_alive(state):
                done += state["done"]
                speed += state["done"] / max(state["seconds"], 1e-9)
            elif self._counts(_read(self._record(shard.name)).get("params", {})):
                done += shard.count
        return done, speed

    def _counts(self, state: dict[str, Any]) -> bool:
        return state.get("settings") == self._settings

    def _is_time_to_speak(self, now: float) -> bool:
        """Whether nobody has spoken lately; the longer a study takes, the more seldom it is spoken of."""
        pause = min(max(SOON, (now - self._start) / 10), SELDOM)
        stamp = self._logs / "spoken"
        try:
            lately = time.time() - stamp.stat().st_mtime < pause
        except FileNotFoundError:
            lately = now - self._start < SOON
        if not lately:
            files.write_bytes(stamp, b"")
        return not lately

    def _file(self, shard: Shard) -> Path:
        return self._logs / f"{shard.name}.progress"


def shard_progress(job: Any, shard: Shard, *, extent: str, settings: Any, title: str) -> Progress:
    """The progress of the shard a job does.

    Parameters
    ----------
    job : kalibre.adaptor.Job
        The job.
    shard : Shard
        Its shard.
    extent : str
        The whole study, as `kalibre.repeats.shards.extent` writes it.
    settings : plain built-ins
        What the shard is made with.
    title : str
        What the study is called.
    """
    folder = Path(job.output.record).parent.parent
    return Progress(
        shard,
        shards_of(extent),
        settings=digest_json(settings),
        experiment=title,
        logs=Path("logs", job.experiment, job.rule),
        record=lambda name: folder / name / "record.json",
        say=job.say,
    )


def line(experiment: str, done: int, everything: int, speed: float) -> str:
    """`study: 1,250 of 10,000 splits (12 %), about 40 s left`."""
    text = f"{experiment}: {done:,} of {everything:,} splits ({100 * done // everything} %)"
    if done >= everything or speed <= 0:
        return text
    return f"{text}, about {_duration((everything - done) / speed)} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _read(path: Path) -> dict[str, Any]:
    """A small JSON file; nothing if it is not there, or goes while it is read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_alive(state: dict[str, Any]) -> bool:
    """Whether the process that wrote a file still runs; of another machine's it is taken for granted."""
    if state["host"] != socket.gethostname():
        return True
    try:
        os.kill(state["process"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
