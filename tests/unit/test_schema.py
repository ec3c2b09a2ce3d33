"""The schema that editors read says what the validating models say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from kalibre.experiment.load import _Loader
from kalibre.experiment.schema import PLACE, experiment_schema
from kalibre.files import read_json

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config/experiments").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(experiment_schema())


def mistakes(content: Any) -> list[str]:
    """What an editor would mark."""
    return [f"{list(e.path)}: {e.message}" for e in VALIDATOR.iter_errors(content)]


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of every section, with its schema."""
    for name, section in {"": schema, **schema.get("$defs", {})}.items():
        for key, content in section.get("properties", {}).items():
            yield f"{name or 'Experiment'}.{key}", content


def test_the_schema_on_disk_is_the_one_the_models_give():
    assert read_json(ROOT / PLACE) == experiment_schema(), (
        "write it anew: python -m kalibre.experiment.schema"
    )


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(experiment_schema())


def test_bounds_are_in_the_schemas_own_words():
    """Pydantic writes `ge: 1`, which no editor heeds, where it does not see the bound's type."""
    words = set(experiment_schema().get("$defs", {}))

    def keys(schema: Any) -> set[str]:
        if isinstance(schema, dict):
            return set(schema) | {key for value in schema.values() for key in keys(value)}
        return {key for item in schema for key in keys(item)} if isinstance(schema, list) else set()

    assert {"ge", "gt", "le", "lt", "min_length"} & (keys(experiment_schema()) - words) == set()


@pytest.mark.parametrize("key", [key for key, _ in properties(experiment_schema())])
def test_every_key_has_a_description(key: str):
    assert dict(properties(experiment_schema()))[key].get("description")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_experiment_of_the_project_passes(path: Path):
    assert mistakes(yaml.load(path.read_text(encoding="utf-8"), _Loader)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"titel": "misspelt"},
        {"data": {"source": "nosuch"}},
        {"data": {"source": "biopsies", "seed": 7}},
        {"split": {"parts": {"test": 0}}},
        {"split": {"parts": {"test": 1.5}}},
        {"evaluation": {"bins": {"tenths": {"count": 0}}}},
    ],
    ids=str,
)
def test_what_the_models_refuse_an_editor_marks(change: dict[str, Any]):
    assert mistakes({"data": {"source": "biopsies"}}) == []
    assert mistakes({"data": {"source": "biopsies"}} | change)
