"""Which modules a rule uses: all that it imports, and nothing that must not rerun it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from kalibre import sources
from kalibre.data.table import SOURCES
from kalibre.sources import module_file, owning_module, used_modules

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))
TRACKING = {"track", "init_tracking"}
COMPUTING = [script for script in SCRIPTS if script.stem not in TRACKING]
LIGHT = ["evaluate", "calibrate", "read_scores", "split_rows", "summarise", "measure_figures"]
"""Rules that run many times: an import costs more than most of their jobs."""


def names(paths: list[Path]) -> set[str]:
    """Modules of the engine by their path within it."""
    return {
        path.relative_to(sources.SOURCE).as_posix()
        for path in paths
        if path.is_relative_to(sources.SOURCE)
    }


def statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in tree if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports, at whatever depth of its code."""
    found: set[str] = set()
    for node in statements(path):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
        found |= {str(module).split(".")[0] for module in modules}
    return found


# ---- modules by name


def test_a_module_has_a_file_and_a_package_its_init():
    assert module_file("kalibre.files") == sources.SOURCE / "files.py"
    assert module_file("kalibre.metrics") == sources.SOURCE / "metrics/__init__.py"
    assert module_file("kalibre") == sources.SOURCE / "__init__.py"


@pytest.mark.parametrize("name", ["numpy", "kalibre.nothing", "kalibre.files.write_json", ""])
def test_anything_else_has_none(name: str):
    assert module_file(name) is None


@pytest.mark.parametrize(
    ("dotted", "module"),
    [
        ("kalibre.models.tree.GiniTree", "kalibre.models.tree"),
        ("kalibre.models.tree", "kalibre.models.tree"),
        ("kalibre.data.table:make_table", "kalibre.data.table"),
        ("sklearn.tree.DecisionTreeClassifier", None),
    ],
)
def test_a_class_belongs_to_the_module_that_defines_it(dotted: str, module: str | None):
    assert owning_module(dotted) == module


# ---- what a script uses


def write(folder: Path, text: str) -> Path:
    script = folder / "script.py"
    script.write_text(text)
    return script


@pytest.mark.parametrize(
    "text",
    [
        "import kalibre.files",
        "import kalibre.files as f",
        "from kalibre import files",
        "from kalibre.files import write_json",
        "def late():\n    from kalibre.files import write_json",
        "if False:\n    import kalibre.files",
    ],
)
def test_an_import_is_seen_in_every_spelling_and_at_any_depth(tmp_path: Path, text: str):
    used = used_modules(write(tmp_path, text))
    assert {"__init__.py", "files.py"} <= names(used)


def test_imports_are_followed_through_modules(tmp_path: Path):
    assert "columns.py" in names(used_modules(write(tmp_path, "import kalibre.files")))


def test_a_package_on_the_way_is_used_too(tmp_path: Path):
    used = names(used_modules(write(tmp_path, "from kalibre.metrics.bins import EqualWidth")))
    assert "metrics/__init__.py" in used


def test_a_script_uses_itself(tmp_path: Path):
    script = write(tmp_path, "import numpy")
    assert used_modules(script) == [script.resolve()]


def test_what_the_configuration_names_is_used_when_it_is_the_engines(tmp_path: Path):
    script = write(tmp_path, "")
    used = used_modules(script, ["kalibre.models.tree.GiniTree", "sklearn.dummy.DummyClassifier"])
    assert {"models/tree.py", "models/__init__.py"} <= names(used)
    assert "models/linear.py" not in names(used)


# ---- what the rules use


@pytest.mark.parametrize("path", sorted(sources.SOURCE.rglob("__init__.py")), ids=str)
def test_a_package_imports_nothing(path: Path):
    """Otherwise every rule would use all of it."""
    assert statements(path) == []


@pytest.mark.parametrize("script", COMPUTING, ids=lambda script: script.stem)
def test_a_computing_rule_uses_no_tracking_module(script: Path):
    named = SOURCES.values() if script.stem == "make_table" else []
    assert [n for n in names(used_modules(script, named)) if n.startswith("tracking/")] == []


@pytest.mark.parametrize("script", COMPUTING, ids=lambda script: script.stem)
def test_a_computing_rule_never_imports_mlflow(script: Path):
    named = SOURCES.values() if script.stem == "make_table" else []
    assert [p for p in used_modules(script, named) if "mlflow" in imported(p)] == []


def test_only_tracking_knows_mlflow():
    outside = [p for p in sources.SOURCE.rglob("*.py") if "tracking" not in p.parts]
    assert [path for path in outside if "mlflow" in imported(path)] == []


def test_only_the_adaptor_knows_snakemake():
    engine = [p for p in sources.SOURCE.rglob("*.py") if p.name != "adaptor.py"]
    assert [path for path in engine if "snakemake" in imported(path)] == []


@pytest.mark.parametrize("rule", LIGHT)
def test_a_rule_of_many_jobs_loads_numpy_and_nothing_heavier(rule: str):
    modules = [p for p in used_modules(ROOT / f"workflow/scripts/{rule}.py") if p.stem != rule]
    imports = "\n".join(
        f"import {'.'.join(p.relative_to(sources.SOURCE.parent).with_suffix('').parts)}"
        for p in modules
        if p.name != "__init__.py"
    )
    heavy = (
        "print(*sorted({'mlflow', 'pandas', 'scipy', 'sklearn', 'pydantic'} & set(sys.modules)))"
    )
    program = f"import sys\n{imports}\n{heavy}"
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert run.stdout.split() == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_stays_thin(script: Path):
    """It is compared by content, but what it calls is what is tested."""
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 40
