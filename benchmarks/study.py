"""How many splits a second does the engine do, against the lesson's loop as it is printed?

Run ``python -m benchmarks.study``, and ``python -m benchmarks.study whole`` for the target `study` with ten
thousand splits, tracking included (some minutes). BLAS has one thread on both sides. The loop and the engine
take turns, a hundred splits each, in one process, so that a busy machine slows both; times are medians, and
the numbers have to be the same. Exits with 1 if a promise is broken.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from kalibre.columns import Columns
from kalibre.data.biopsies import make_table
from kalibre.experiment.load import load_experiment
from kalibre.repeats.settings import study_settings
from kalibre.repeats.shard import repeat_splits
from projects import ROOT, Project
from reference import study as reference

SPLITS = 1000
TURN = 100
SPREAD = 400
MANY = 10_000
CORES = 2
STUDY = ROOT / "config" / "experiments" / "study.yaml"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}

# What both measure, by the engine's names, the loop's column, and how near they have to be. The loop's search
# stops within 1e-5 of the temperature it looks for.
NUMBERS = (
    ("none/validation/mean_confidence", 0, 1e-12),
    ("none/validation/accuracy", 1, 0.0),
    ("none/validation/brier", 2, 1e-12),
    ("temperature/validation/brier", 3, 1e-6),
    ("temperature/temperature", 4, 1e-5),
)


class Line(NamedTuple):
    """One measurement, and what is promised for it."""

    what: str
    measured: float
    promised: float
    at_least: bool

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        if self.at_least:
            return self.measured >= self.promised
        return self.measured <= self.promised


@cache
def study() -> tuple[Columns, Columns, dict[str, Any]]:
    spec = load_experiment(STUDY)
    table = make_table(spec.data.model_dump())
    return table.features, table.roles, study_settings(spec)


def engine(first: int, splits: int) -> Columns:
    features, roles, settings = study()
    return repeat_splits(features, roles, seeds=range(first, first + splits), study=settings)[0]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def check_equal(loop: dict[str, np.ndarray], table: Columns) -> None:
    for model, rows in loop.items():
        for name, column, tolerance in NUMBERS:
            measured = np.asarray(table[f"{model}/{name}"])
            np.testing.assert_allclose(measured, rows[:, column], rtol=0, atol=tolerance)


def take_turns() -> tuple[float, float]:
    """Median seconds a split, of the loop and of the engine.

    Raises
    ------
    AssertionError
        If their numbers differ.
    """
    reference.run_study(2)
    engine(0, 2)
    loop_times, engine_times = [], []
    for first in range(0, SPLITS, TURN):
        loop_time, loop = seconds(lambda first=first: reference.run_study(TURN, first))
        engine_time, table = seconds(lambda first=first: engine(first, TURN))
        check_equal(loop, table)
        loop_times.append(loop_time / TURN)
        engine_times.append(engine_time / TURN)
    return statistics.median(loop_times), statistics.median(engine_times)


def shard_in_a_process(first: int, splits: int) -> float:
    """Do a shard with one thread; the most memory its process has held, in megabytes."""
    with threadpool_limits(1):
        engine(first, splits)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def gain_of_cores() -> float:
    """Best time on one process over best time on `CORES`, rounds in turn, all begun beforehand."""
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(CORES, mp_context=context) as several,
    ):
        for pool in (one, several):
            spread(pool)
        times = [
            (seconds(lambda: spread(one))[0], seconds(lambda: spread(several))[0]) for _ in range(5)
        ]
    return min(t for t, _ in times) / min(t for _, t in times)


def spread(pool: ProcessPoolExecutor) -> None:
    tasks = [pool.submit(shard_in_a_process, first, 50) for first in range(0, SPREAD, 50)]
    for task in tasks:
        task.result()


def memory_of(splits: int) -> float:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(shard_in_a_process, 0, splits).result()


def one_process() -> Iterator[Line]:
    loop, own = take_turns()
    print(f"a split, in milliseconds: the loop {loop * 1e3:.2f}, the engine {own * 1e3:.2f}")
    yield Line("splits a second, times the loop's", loop / own, 1.5, at_least=True)
    yield Line(f"times one core's, on {CORES}", gain_of_cores(), 1.8, at_least=True)
    few, many = memory_of(100), memory_of(2000)
    yield Line("megabytes of a process, 2,000 splits", many, 400, at_least=False)
    yield Line("of these, more than with 100 splits", many - few, 20, at_least=False)


def whole_target() -> Iterator[Line]:
    """`snakemake study` with ten thousand splits, against the loop's own time divided by the cores."""
    cores = os.cpu_count() or 1
    reference.run_study(2)
    times = []
    with tempfile.TemporaryDirectory() as folder:
        project = Project.new(Path(folder, "project"), experiments=["study"])
        file = project.root / "config" / "experiments" / "study.yaml"
        file.write_text(re.sub(r"splits: \d+", f"splits: {MANY}", file.read_text()))
        times += [seconds(lambda: reference.run_study(TURN))[0] for _ in range(3)]
        target, _ = seconds(lambda: project.snakemake("study").checked())
        times += [seconds(lambda: reference.run_study(TURN))[0] for _ in range(3)]
        logs = project.root / "logs" / "study"
        shards = [peak(file) for file in (logs / "repeat_splits").glob("*.tsv")]
        track = peak(logs / "track.tsv")
    bare = statistics.median(times) / TURN * MANY / cores
    print(
        f"{MANY:,} splits on {cores} cores, in seconds: the loop {bare:.0f}, the target {target:.0f}"
    )
    yield Line("whole target, times the bare loop", target / bare, 1.0, at_least=False)
    yield Line("megabytes of a computing process", max(shards), 400, at_least=False)
    yield Line("megabytes of the tracking process", track, 600, at_least=False)


def peak(file: Path) -> float:
    """The most memory of a job, from Snakemake's table of it, in megabytes."""
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    return float(dict(zip(rows[0], rows[1], strict=True))["max_rss"])


def main() -> int:
    os.environ.update(ONE_THREAD)
    kept = True
    with threadpool_limits(1):
        for line in whole_target() if "whole" in sys.argv[1:] else one_process():
            bound = "at least" if line.at_least else "at most"
            text = f"{line.what:<38}{line.measured:>9.2f}   {bound} {line.promised:g}"
            print(text if line.kept else f"{text}  broken", flush=True)
            kept &= line.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
