"""A study as a person runs it: more splits later, another first seed, a kill in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kalibre.files import read_columns, read_json
from projects import Project
from reference import study as reference

FILE = "config/experiments/study.yaml"
MODELS = ("logistic", "naive_bayes")
ALL_OF_450 = (
    "seeds_0_to_49",
    "seeds_50_to_99",
    "seeds_100_to_199",
    "seeds_200_to_349",
    "seeds_350_to_449",
)
JOINED = [f"results/study/join_repeats/{model}/record.json" for model in MODELS]


def configure(project: Project, **settings: int) -> None:
    """Set keys of the section `repeats`."""
    path = project.root / FILE
    text = path.read_text()
    for key, value in settings.items():
        text, found = re.subn(rf"(?m)^  {key}: \d+", f"  {key}: {value}", text)
        assert found == 1, key
    path.write_text(text)


def shards(project: Project) -> set[str]:
    return {
        path.parent.name for path in project.root.glob("results/study/repeat_splits/*/record.json")
    }


def missing(project: Project) -> set[str]:
    """The shards that would be done now."""
    said = project.snakemake("--dry-run", *JOINED).checked().said
    return set(re.findall(r"repeat the splits, (seeds_\d+_to_\d+)", said))


def test_more_splits_run_only_the_shards_that_are_missing(fresh: Callable[..., Project]) -> None:
    project = fresh("study")
    project.snakemake(*JOINED).checked()
    assert shards(project) == {"seeds_0_to_49"}
    configure(project, splits=200)
    assert missing(project) == {"seeds_50_to_99", "seeds_100_to_199"}
    done = project.snakemake(*JOINED).checked()
    # Whoever waits is told how far it is.
    assert "study: 200 of 200 splits (100 %)" in done.err
    record = read_json(project.root / JOINED[0])
    assert record["metrics"]["splits"] == 200
    # Fewer splits need no shard at all.
    configure(project, splits=100)
    assert missing(project) == set()


def test_another_first_seed_gives_the_lessons_loop_from_there(
    fresh: Callable[..., Project],
) -> None:
    project = fresh("study")
    configure(project, first_seed=100, splits=8)
    project.snakemake(*JOINED).checked()
    for model, rows in reference.run_study(8, 100).items():
        table = read_columns(project.root / f"results/study/join_repeats/{model}/splits.parquet")
        assert np.asarray(table["seed"]).tolist() == list(range(100, 108))
        for name, column in (("none", 2), ("temperature", 3)):
            brier = np.asarray(table[f"{name}/validation/brier"])
            np.testing.assert_allclose(brier, rows[:, column], rtol=0, atol=1e-6)


def test_a_killed_study_goes_on_and_ends_as_if_nothing_had_happened(
    fresh: Callable[..., Project],
) -> None:
    project = fresh("study")
    configure(project, splits=450, shard=150)
    commands = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    running = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", *JOINED],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(project.root / "src"), "PATH": commands},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for(lambda: len(shards(project)) > 2)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = shards(project)
    project.snakemake("--unlock").checked()
    again = missing(project)
    # Lost is at most what was running: two shards, perhaps with their files just written.
    assert set(ALL_OF_450) - before <= again
    assert len(again & before) <= 2
    assert len(again) < len(ALL_OF_450)
    project.snakemake(*JOINED, "--cores", "2").checked()
    killed = [(project.root / path).read_bytes() for path in JOINED]
    # Undisturbed, in other shards and on one core, the records are the same to the byte.
    other = Project.new(project.root.parent / "other", experiments=["study"])
    configure(other, splits=450, shard=1000)
    other.snakemake(*JOINED, "--cores", "1").checked()
    assert [(other.root / path).read_bytes() for path in JOINED] == killed


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.05)
