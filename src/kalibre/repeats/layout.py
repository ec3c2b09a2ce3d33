"""The columns of a study's tables that are not measurements."""

from __future__ import annotations

SEED = "seed"
"""Seed of the split."""

FURTHER = "further_seed"
"""0, or what was added to the models' own seeds on the same split."""

NOTES = "notes"
"""What the stages said, a line a sentence."""

UNDEFINED = "undefined"
"""Measurements without a value, a line each: `NAME: REASON`."""

PARTS = "parts/"
"""Begins the names of columns that count a part's rows."""

MODEL = "model"
"""Under this name stands, in `undefined`, why a split has no value at all."""

_ROWS = "rows_"

NONE = "none"
"""The model's own probabilities: what every calibrator is compared with."""


def on_fewer(calibrator: str, rows: int) -> str:
    """Begins the names of what is measured after a calibrator that was learned on so many rows only."""
    return f"{calibrator}/{_ROWS}{rows}"


def fewer_rows(name: str) -> tuple[str, int | None]:
    """The same measurement after the whole calibrator, and the rows this one was learned on, if fewer."""
    calibrator, _, rest = name.partition("/")
    rows, _, measurement = rest.partition("/")
    count = rows.removeprefix(_ROWS)
    if rows == count or not count.isdecimal():
        return name, None
    return f"{calibrator}/{measurement}", int(count)
