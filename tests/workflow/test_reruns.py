"""What an edit reruns: the rules that use what was edited, what lies downstream, and nothing else."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from built import LESSONS, Built
from projects import PARTS, Plan, Project, appended, replaced

COMPUTING = ("make_table", "split_rows", "fit_model", "read_scores", "calibrate", "evaluate")
INLINE = ("overconfident", "calibrated", "constant_half")
SUBSCRIBERS = "config/experiments/subscribers.yaml"


@pytest.fixture
def project(built: Built) -> Project:
    """A project in which all is built."""
    return built.project


def pending_after(
    project: Project, path: str, change: Callable[[str], str]
) -> tuple[Plan, set[str]]:
    """The plan with an edit in place, and the jobs that would run."""
    with project.edited(path, change):
        plan = project.plan("all")
    return plan, plan.pending


def experiments(jobs: Iterable[str]) -> set[str]:
    """The experiments that jobs belong to; some belong to none."""
    return {name.split("/")[0] for name in jobs} & set(LESSONS)


def sources(project: Project) -> Iterable[Path]:
    """Every file of the project that is not made by the workflow."""
    for part in PARTS:
        place = project.root / part
        files = [place] if place.is_file() else [p for p in place.rglob("*") if p.is_file()]
        yield from (path for path in files if "__pycache__" not in path.parts)


# ---- edits that change nothing


def test_touching_every_file_reruns_nothing(project: Project):
    before = {path: path.stat() for path in sources(project)}
    try:
        for path in before:
            path.touch()
        assert project.plan("all").pending == set()
    finally:
        for path, stat in before.items():
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _turned(value: Any, key: str = "") -> Any:
    """All keys in the reverse order, but for the cuts of a split, whose order is a setting."""
    if isinstance(value, dict):
        keys = list(value) if key == "parts" else list(value)[::-1]
        return {k: _turned(value[k], k) for k in keys}
    return [_turned(item) for item in value] if isinstance(value, list) else value


def test_reordering_the_keys_of_the_experiments_reruns_nothing(project: Project):
    files = [f"config/experiments/{name}.yaml" for name in LESSONS]
    before = {path: project.read(path) for path in files}
    try:
        for path, text in before.items():
            content = yaml.load(text, yaml.BaseLoader)
            turned = yaml.safe_dump(_turned(_typed(content)), sort_keys=False, allow_unicode=True)
            (project.root / path).write_text(turned, encoding="utf-8")
        assert project.plan("all").pending == set()
    finally:
        for path, text in before.items():
            (project.root / path).write_text(text, encoding="utf-8")


def _typed(value: Any) -> Any:
    """Scalars as YAML types them, keys as they are written (`on` is a word)."""
    if isinstance(value, dict):
        return {k: _typed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    typed = yaml.safe_load(value) if value else value
    return typed if isinstance(typed, (int, float, bool)) else value


def test_comments_and_spaces_in_an_experiment_rerun_nothing(project: Project):
    _, pending = pending_after(project, SUBSCRIBERS, lambda text: f"# A remark.\n\n{text}\n")
    assert pending == set()


def test_a_remark_in_the_rules_reruns_nothing(project: Project):
    with project.edited("Snakefile", appended):
        _, pending = pending_after(project, "workflow/rules/models.smk", appended)
    assert pending == set()


# ---- one block of one experiment


@pytest.mark.parametrize(
    ("path", "old", "new", "first"),
    [
        pytest.param(
            "config/experiments/trivia.yaml",
            "{edges: [0.6, 0.8, 1.0, 1.0]}",
            "{edges: [0.6, 0.9, 1.0]}",
            [*(f"evaluate/{model}/none" for model in INLINE), "compare_scores"],
            id="bins",
        ),
        pytest.param(
            SUBSCRIBERS,
            "{power: 3.0}",
            "{power: 2.5}",
            ["calibrate/linear/sharpened"],
            id="calibrator",
        ),
        pytest.param(
            SUBSCRIBERS,
            "learn_on: [train], models: [tree_d8]}",
            "learn_on: [train], models: [tree_d8], params: {rounds: 500}}",
            ["calibrate/tree_d8/refitted"],
            id="calibrator's params",
        ),
        pytest.param(
            SUBSCRIBERS, "max_depth: 8", "max_depth: 7", ["fit_model/tree_d8"], id="model"
        ),
        pytest.param(SUBSCRIBERS, "train: 756", "train: 700", ["split_rows"], id="split"),
        pytest.param(
            SUBSCRIBERS, "seed: 20260218", "seed: 7", ["make_table", "split_rows"], id="data"
        ),
        pytest.param(SUBSCRIBERS, "title: Order", "title: Rank", ["track"], id="title"),
    ],
)
def test_editing_a_block_reruns_what_uses_it_and_what_lies_downstream(
    project: Project, path: str, old: str, new: str, first: list[str]
):
    plan, pending = pending_after(project, path, replaced(old, new))
    experiment = Path(path).stem
    # Every setting is shown in the experiment's summary.
    shown = plan.of("summarise", experiment=experiment)
    edited = {f"{experiment}/{name}" for name in first}
    assert pending == plan.with_downstream(edited | shown)


def test_editing_one_experiment_leaves_the_others_alone(project: Project):
    plan, pending = pending_after(project, SUBSCRIBERS, replaced("seed: 20260218", "seed: 7"))
    assert experiments(pending) == {"subscribers"}
    assert set(COMPUTING) - {"read_scores"} <= plan.rules(pending)


# ---- one module of the engine


@pytest.mark.parametrize(
    ("module", "uses", "spared"),
    [
        (
            "metrics/proper.py",
            {"evaluate"},
            {"make_table", "split_rows", "fit_model", "read_scores", "calibrate", "init_tracking"},
        ),
        ("calibrators/temperature.py", {"calibrate"}, {"make_table", "split_rows", "fit_model"}),
        ("splits.py", {"split_rows"}, {"make_table", "read_scores", "init_tracking"}),
        ("summary.py", {"summarise"}, set(COMPUTING)),
        ("ledger.py", {"measure_figures", "compare_published"}, {*COMPUTING, "summarise"}),
    ],
)
def test_editing_a_module_reruns_the_rules_that_use_it_and_what_lies_downstream(
    project: Project, module: str, uses: set[str], spared: set[str]
):
    path = f"src/kalibre/{module}"
    plan, pending = pending_after(project, path, appended)
    assert uses <= plan.rules(plan.users(path))
    assert pending == plan.with_downstream(plan.users(path))
    assert plan.rules(pending) & spared == set()


def test_editing_a_model_refits_that_model_alone(project: Project):
    path = "src/kalibre/models/linear.py"
    plan, pending = pending_after(project, path, appended)
    fitted = {name for name in pending if plan[name].rule == "fit_model"}
    assert fitted == {"subscribers/fit_model/linear"}
    assert not any(name.startswith(("trivia/", "biopsy/")) for name in pending)


def test_editing_a_data_source_makes_that_sources_tables_alone(project: Project):
    plan, pending = pending_after(project, "src/kalibre/data/biopsies.py", appended)
    assert {n for n in pending if plan[n].rule == "make_table"} == {"biopsy/make_table"}
    assert experiments(pending) == {"biopsy"}


@pytest.mark.parametrize("module", ["project", "store"])
def test_editing_tracking_code_computes_nothing_again(project: Project, module: str):
    plan, pending = pending_after(project, f"src/kalibre/tracking/{module}.py", appended)
    assert "track" in plan.rules(pending)
    assert plan.rules(pending) <= {"track", "init_tracking"}


def test_editing_how_failures_are_shown_reruns_nothing(project: Project):
    _, pending = pending_after(project, "src/kalibre/tracking/failures.py", appended)
    assert pending == set()


def test_editing_a_script_reruns_its_rule(project: Project):
    path = "workflow/scripts/evaluate.py"
    plan, pending = pending_after(project, path, appended)
    assert plan.rules(plan.users(path)) == {"evaluate"}
    assert pending == plan.with_downstream(plan.users(path))


def test_editing_the_ledger_measures_the_figures_again_and_computes_nothing(project: Project):
    plan, pending = pending_after(project, "config/published.csv", lambda text: text + "\n")
    assert {"measure_figures", "compare_published"} <= plan.rules(pending)
    assert plan.rules(pending) & {*COMPUTING, "summarise"} == set()


# ---- and they do rerun


def test_an_edited_block_is_built_and_then_there_is_nothing_to_be_done(
    built: Built, tmp_path: Path
):
    project = built.project.clone(tmp_path / "clone")
    project.replace("config/experiments/trivia.yaml", "[0.6, 0.8, 1.0, 1.0]", "[0.6, 0.9, 1.0]")
    project.snakemake("results/trivia/figures.csv").checked()
    changed = {
        path for path, content in project.records().items() if content != built.records[path]
    }
    assert {Path(path).parts[2] for path in changed} == {"evaluate", "summarise", "measure_figures"}
    assert {Path(path).parts[1] for path in changed} == {"trivia"}
    again = project.snakemake("results/trivia/figures.csv").checked()
    assert "Nothing to be done" in again.said
