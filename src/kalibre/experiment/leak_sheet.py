"""The section `leak_sheet`: what its author states on kinds of leakage that no row can show."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from kalibre.errors import suggestion
from kalibre.experiment.base import Block
from kalibre.leak_sheet import TYPES


class Statement(Block):
    """A statement on one type of leakage."""

    statement: str = Field(min_length=1, description="What is stated, in a sentence.")
    by: str = Field("the experiment file", min_length=1, description="Who states it.")


def _known_types(statements: dict[str, Statement]) -> dict[str, Statement]:
    for key in statements:
        if key not in TYPES:
            raise ValueError(f"found {key!r}; {suggestion(key, TYPES)}")
    return statements


LeakSheet = Annotated[dict[str, Statement], AfterValidator(_known_types)]
"""Type of leakage (`temporal`, `sampling_bias`, ...) to the statement on it."""
