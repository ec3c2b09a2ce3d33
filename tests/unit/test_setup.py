"""The set-up: locks, conda file and project file agree, and `make` does what it says on any machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def ranges(requirements: list[str]) -> dict[str, SpecifierSet]:
    """Package to the versions allowed."""
    parsed = [Requirement(text) for text in requirements]
    return {canonicalize_name(one.name): one.specifier for one in parsed}


def direct(lock: str) -> dict[str, SpecifierSet]:
    """What the project itself asks for and `lock` therefore holds."""
    wanted = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["build"]
    if lock == "requirements-dev.lock":
        wanted = wanted + PROJECT["project"]["optional-dependencies"]["dev"]
    return ranges(wanted)


def entries(lock: str) -> list[str]:
    """One text for each package of a lock: its pin and all its hashes."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    code = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    return code.replace("\\\n", " ").strip().splitlines()


def pins(lock: str) -> dict[str, str]:
    """Package to its pinned version."""
    return dict(entry.split()[0].split("==") for entry in entries(lock))


# ---- pyproject.toml, environment.yml and the locks


def test_conda_users_get_the_same_packages_and_ranges():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *packages, pip, from_pip = conda["dependencies"]
    expected = ranges(PROJECT["project"]["dependencies"])
    expected["python"] = SpecifierSet(PROJECT["project"]["requires-python"])
    assert ranges(packages) == expected
    assert (pip, from_pip) == ("pip", {"pip": ["--editable ."]})


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_pins_what_the_project_asks_for_within_its_range(lock):
    pinned = pins(lock)
    outside = {
        name: pinned.get(name)
        for name, allowed in direct(lock).items()
        if name not in pinned or not allowed.contains(pinned[name])
    }
    assert outside == {}


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_has_a_hash_for_every_package(lock):
    for entry in entries(lock):
        assert re.search(r"^\S+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry), entry.split()[0]


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_address_and_no_folder_of_a_machine(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"\w+://\S*|--(?:extra-)?index-url|--find-links|(?<!\w)/\w+/\S*", text) == []


def test_development_lock_holds_the_runtime_pins():
    runtime, development = pins(LOCKS[0]), pins(LOCKS[1])
    assert runtime.items() <= development.items()


def test_no_deep_learning_library_comes_along():
    heavy = ("torch", "tensorflow", "jax", "nvidia", "triton")
    assert [name for name in pins(LOCKS[1]) if name.startswith(heavy)] == []


def test_build_backend_is_pinned_by_the_locks():
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])


def test_tools_check_for_the_oldest_python_allowed():
    major, minor = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["project"]["requires-python"]).groups()
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{major}{minor}"
    assert PROJECT["tool"]["mypy"]["python_version"] == f"{major}.{minor}"
    assert f"OLDEST = {major}, {minor}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


# ---- Makefile


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the Makefile and what its environment is made from."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ["Makefile", "pyproject.toml", *LOCKS]:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def make(project: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run make as a person would, whatever make runs these tests."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=project,
        env=inherited | settings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def messages(run: subprocess.CompletedProcess[str]) -> list[str]:
    """What was said, but for make's own closing line."""
    return [line for line in run.stderr.splitlines() if not line.startswith("make: ***")]


def stand_in(project: Path, script: str) -> str:
    """A program in the place of python3."""
    path = project / "python"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def ready_environment(project: Path) -> None:
    """An environment as far as make can tell: made for this folder, newer than the locks."""
    commands = project / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "python").symlink_to(sys.executable)
    for name, content in [(".place", f"{project.resolve()}\n"), (".runtime", ""), (".dev", "")]:
        (project / ".venv" / name).write_text(content, encoding="utf-8")


def test_python_that_is_too_old_is_named_with_the_way_out(project):
    old = stand_in(project, '[ "$1" = -V ] && echo Python 3.9.2; exit 1')
    run = make(project, "env", f"PYTHON={old}")
    assert run.returncode != 0
    found = f"kalibre needs a Python from 3.11 to 3.14; {old} is Python 3.9.2."
    assert messages(run) == [f"{found} Name another one: make PYTHON=python3.12"]
    assert not (project / ".venv").exists()


def test_missing_python_is_said(project):
    run = make(project, "env", "PYTHON=no-such-python")
    assert run.returncode != 0
    assert messages(run) == [
        "kalibre needs Python 3.11 or newer, and there is no no-such-python here."
    ]


def test_python_without_venv_is_said_with_the_package_to_install(project):
    bare = stand_in(project, 'case "$2" in *ensurepip*) exit 1;; esac')
    run = make(project, "env", f"PYTHON={bare}")
    assert run.returncode != 0
    found = f"{bare} lacks its modules venv and ensurepip."
    assert messages(run) == [f"{found} On Debian and Ubuntu: apt-get install python3-venv"]


def test_path_with_a_space_puts_the_environment_into_the_cache_folder(project):
    spaced = project.rename(project.with_name("my project"))
    note = stand_in(spaced, '[ "$2" = venv ] && mkdir -p "$3/bin" && exit 9; exit 0')
    cache = spaced.parent / "cache"
    run = make(spaced, "env", f"PYTHON={note}", XDG_CACHE_HOME=str(cache))
    assert run.returncode != 0  # the stand-in makes no real environment
    assert (spaced / ".venv").is_symlink()
    assert (spaced / ".venv").resolve().parent == (cache / "kalibre").resolve()
    assert (spaced / ".venv" / "bin").is_dir()


def test_path_with_a_space_keeps_an_environment_made_by_hand_and_says_why(project):
    spaced = project.rename(project.with_name("my project"))
    (spaced / ".venv" / "bin").mkdir(parents=True)
    run = make(spaced, "env", f"PYTHON={sys.executable}", XDG_CACHE_HOME=str(spaced.parent / "c"))
    assert run.returncode != 0
    assert len(messages(run)) == 1
    assert "Remove .venv and run make again" in run.stderr
    assert (spaced / ".venv" / "bin").is_dir()


def test_no_place_without_a_space_for_the_environment_is_said(project):
    spaced = project.rename(project.with_name("my project"))
    run = make(spaced, "env", f"PYTHON={sys.executable}", XDG_CACHE_HOME=str(spaced / "cache"))
    assert run.returncode != 0
    assert len(messages(run)) == 1
    assert "set XDG_CACHE_HOME to a path without spaces" in run.stderr


@pytest.mark.parametrize("stamp", [".venv/.runtime", ".venv/.dev"])
def test_ready_environment_is_left_alone(project, stamp):
    ready_environment(project)
    assert make(project, "--question", stamp).returncode == 0


@pytest.mark.parametrize(
    ("edited", "stamp"),
    [
        ("requirements.lock", ".venv/.runtime"),
        ("requirements-dev.lock", ".venv/.dev"),
        ("pyproject.toml", ".venv/.runtime"),
        ("pyproject.toml", ".venv/.dev"),
    ],
)
def test_newer_lock_or_project_file_is_installed(project, edited, stamp):
    ready_environment(project)
    later = (project / stamp).stat().st_mtime + 10
    os.utime(project / edited, (later, later))
    assert make(project, "--question", stamp).returncode == 1


def test_moved_project_gets_a_new_environment(project):
    ready_environment(project)
    moved = project.rename(project.with_name("moved"))
    assert make(moved, "--question", "env").returncode == 1


def test_environment_whose_python_has_gone_is_made_anew(project):
    ready_environment(project)
    (project / ".venv" / "bin" / "python").unlink()
    assert make(project, "--question", "env").returncode == 1


def test_page_of_a_tracking_server_is_pointed_to(project):
    ready_environment(project)
    run = make(project, "ui", MLFLOW_TRACKING_URI="https://runs.example.org")
    assert (run.returncode, run.stdout) == (0, "The runs are at https://runs.example.org\n")


def test_clean_removes_what_was_made_and_says_so(project):
    made = ["results/trivia/record.json", "results/.hidden", "logs/a.log", "mlflow.db"]
    made += ["mlflow.db-wal", "mlruns/1/a", "mlartifacts/1/a", ".snakemake/a"]
    kept = ["results/README.md", "config/config.yaml", ".venv/bin/a"]
    for name in made + kept:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    run = make(project, "clean")
    assert run.returncode == 0
    assert run.stdout.startswith("Removing: results/ (but for its README.md), logs/, mlflow.db")
    assert [name for name in made if (project / name).exists()] == []
    assert [name for name in kept if not (project / name).exists()] == []


def test_clean_has_nothing_against_a_fresh_clone(project):
    assert make(project, "clean").returncode == 0


# ---- .gitignore


def test_git_sees_sources_and_not_what_is_made(tmp_path):
    shutil.copy2(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    made = ["results/trivia/record.json", "results/index.html", "logs/a.log", "mlflow.db"]
    made += ["mlruns/1/a", "mlartifacts/1/a", ".venv/bin/python", ".snakemake/a", "uv.lock"]
    made += ["src/kalibre/__pycache__/a.pyc", "src/kalibre.egg-info/PKG-INFO"]
    sources = ["results/README.md", "src/kalibre/errors.py", "requirements.lock"]
    sources += ["config/experiments/logs.yaml", "tests/results/a.csv"]
    for name in made + sources:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    seen = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert sorted(seen) == sorted([".gitignore", *sources])


# ---- Skipped tests


SKIPPING_TESTS = """
import pytest

def test_part():
    pytest.skip("no database server")

@pytest.mark.skipif(True, reason="no browser")
def test_other_part():
    pass

@pytest.mark.xfail(reason="known")
def test_known():
    assert False
"""


def outcome(folder: Path, **settings: str) -> str:
    """The closing line of pytest on `folder`, under the project's own conftest."""
    shutil.copy2(ROOT / "tests" / "conftest.py", folder)
    inherited = {k: v for k, v in os.environ.items() if k != "KALIBRE_REQUIRE_PARTS"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "."],
        cwd=folder,
        env=inherited | settings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return run.stdout.strip().splitlines()[-1]


def test_missing_part_skips_on_a_persons_machine(tmp_path):
    (tmp_path / "test_parts.py").write_text(SKIPPING_TESTS, encoding="utf-8")
    assert outcome(tmp_path).startswith("2 skipped, 1 xfailed")


def test_missing_part_fails_where_all_parts_are_due(tmp_path):
    (tmp_path / "test_parts.py").write_text(SKIPPING_TESTS, encoding="utf-8")
    assert outcome(tmp_path, KALIBRE_REQUIRE_PARTS="1").startswith("1 failed, 1 xfailed, 1 error")


def test_module_that_skips_fails_where_all_parts_are_due(tmp_path):
    text = 'import pytest\npytest.importorskip("no_such_module")\n'
    (tmp_path / "test_module.py").write_text(text, encoding="utf-8")
    assert "1 error" in outcome(tmp_path, KALIBRE_REQUIRE_PARTS="1")
