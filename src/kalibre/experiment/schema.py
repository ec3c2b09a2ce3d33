"""The JSON schema of an experiment file, for editors that complete and check YAML.

It is generated from the models that validate: `python -m kalibre.experiment.schema` writes it anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kalibre.experiment.experiment import Experiment
from kalibre.files import write_json

PLACE = Path("workflow/schemas/experiment.schema.json")


def experiment_schema() -> dict[str, Any]:
    """The schema of a whole experiment file."""
    schema = Experiment.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


if __name__ == "__main__":
    write_json(PLACE, experiment_schema())
