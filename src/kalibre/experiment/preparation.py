"""The section `preparation`: what is done to the columns before a model sees them, in order."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from kalibre.errors import suggestion
from kalibre.experiment.base import Block, DottedPath, Name

KINDS = ("numeric", "categorical", "all")
"""Words that stand for columns; the same as those of `kalibre.preparation.chain`."""


def _columns(value: Any) -> Any:
    if isinstance(value, str):
        if value in KINDS:
            return value
        raise ValueError(
            f"give a list of columns, or one of {', '.join(KINDS)}; {suggestion(value, KINDS)}"
        )
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, str) for v in value):
        twice = next((v for i, v in enumerate(value) if v in value[:i]), None)
        if twice is not None:
            raise ValueError(f"column {twice!r} is named twice")
        return list(value)
    raise ValueError(f"give a list of columns, or one of {', '.join(KINDS)}")


StepColumns = Annotated[
    list[str] | str,
    BeforeValidator(_columns),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"enum": list(KINDS)},
            ]
        }
    ),
]


class Step(Block):
    """One step: a transformer, the columns it works on and its parameters."""

    step: DottedPath = Field(
        description="Importable path of a transformer's class, scikit-learn's or the lessons' own."
    )
    columns: StepColumns = Field(
        "all",
        description=(
            "Columns it works on, all others pass through: a list, or `numeric` (numbers and "
            "booleans), `categorical` (everything else) or `all` of what arrives at the step."
        ),
    )
    params: dict[str, Any] = Field(
        {},
        description=(
            "Parameters of the transformer; one that is an estimator is written "
            "{estimator: PATH, params: ...}, one that is a function {function: PATH}."
        ),
    )
    name: Name | None = Field(
        None, description="What tables and messages call the step; by default its class's name."
    )
    uses_label: bool | None = Field(
        None,
        description=(
            "Whether it learns from the label, where that cannot be seen from the transformer. A "
            "step that does not is not shown the label."
        ),
    )


def _names_apart(steps: list[Step]) -> list[Step]:
    names = [step.name for step in steps if step.name is not None]
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise ValueError(f"two steps are named {twice!r}; give each a name of its own")
    return steps


Preparation = Annotated[list[Step], AfterValidator(_names_apart)]
"""Steps in order; what one gives is what the next one gets."""
