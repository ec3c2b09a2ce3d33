"""Data spoilt or enriched on purpose, so that a preparation step has something to mend or to find.

The lessons on corrupted records, missing values, outliers, notes and wide tables do not publish
their data. What stands here is a lesson of our own for each: a general alteration of any table,
drawn from a seed that the experiment file states, never tuned towards a printed number. Some draw
by the label, as the lessons' broken seal does: where they do, the altered column tells something of
the label by construction.

An alteration takes the whole table in its own order, before any split: what it does to a row
depends on the seed and on the row's place in the table, and on nothing that is learned.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kalibre.errors import InputError, suggestion
from kalibre.preparation.frames import check_columns

Alteration = Callable[..., pd.DataFrame]
Labels = NDArray[Any]


def alter(
    frame: pd.DataFrame, outcomes: Labels, alterations: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Apply alterations one after the other; the table given stays as it is.

    Parameters
    ----------
    frame : DataFrame, n rows
        The whole table.
    outcomes : array of 0 and 1, shape (n,)
        The label.
    alterations : sequence of mapping
        Each with `alter` (a name of `ALTERATIONS`), `seed`, and `params`.

    Raises
    ------
    InputError
        If there is no such alteration, parameter or column.
    """
    for spec in alterations:
        name, params = spec["alter"], spec.get("params") or {}
        function = _function(name, params)
        rng = np.random.default_rng(spec["seed"])
        try:
            frame = function(frame.copy(), np.asarray(outcomes), rng, **params)
        except (TypeError, ValueError) as error:
            raise InputError(f"alteration {name!r}: {error}") from error
    return frame


def wrong_unit(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    share: float,
    factor: float = 1000.0,
) -> pd.DataFrame:
    """A share of the records is written in a smaller unit: all the columns times `factor`."""
    wrong = _drawn(frame, rng, share)
    for column in _present(columns, frame):
        frame[column] = frame[column].astype(float)
        frame.loc[wrong, column] *= factor
    return frame


def wrong_sign(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    share: float,
) -> pd.DataFrame:
    """A share of the records has the columns with the wrong sign."""
    wrong = _drawn(frame, rng, share)
    for column in _present(columns, frame):
        frame.loc[wrong, column] *= -1
    return frame


def varied_spelling(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    share: float,
) -> pd.DataFrame:
    """A share of the words is typed otherwise: capitals, a capital first, or a space last."""
    ways = (str.upper, str.capitalize, lambda text: f"{text} ")
    for column in _present(columns, frame):
        words = frame[column].astype("str").tolist()
        for row in np.flatnonzero(_drawn(frame, rng, share)).tolist():
            words[row] = ways[int(rng.integers(len(ways)))](words[row])
        frame[column] = words
    return frame


def missing_by_label(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    share: float,
    share_positive: float,
) -> pd.DataFrame:
    """Values go missing, in one share of the negative and another of the positive rows."""
    chance = np.where(outcomes == 1, _share(share_positive), _share(share))
    for column in _present(columns, frame):
        missing = rng.random(len(frame)) < chance
        frame[column] = frame[column].astype(float).mask(missing)
    return frame


def outliers(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    share: float,
    factor: float,
) -> pd.DataFrame:
    """A share of the values of each column is `factor` times too large."""
    for column in _present(columns, frame):
        frame[column] = frame[column].astype(float)
        frame.loc[_drawn(frame, rng, share), column] *= factor
    return frame


def noise_columns(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    count: int,
    name: str = "noise",
) -> pd.DataFrame:
    """Columns of standard normal noise, `<name>_1` to `<name>_<count>`, that tell nothing."""
    noise = rng.standard_normal((len(frame), count))
    columns = [f"{name}_{i + 1}" for i in range(count)]
    return pd.concat(
        [frame, pd.DataFrame(noise, columns=columns, index=frame.index)], axis="columns"
    )


def noisy_copies(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    columns: Sequence[str],
    noise: float,
) -> pd.DataFrame:
    """Of each column a `<column>_copy` with noise of `noise` times its standard deviation."""
    for column in _present(columns, frame):
        values = frame[column].to_numpy(dtype=float)
        frame[f"{column}_copy"] = values + noise * np.nanstd(values) * rng.standard_normal(
            len(frame)
        )
    return frame


def note(
    frame: pd.DataFrame,
    outcomes: Labels,
    rng: np.random.Generator,
    *,
    column: str,
    phrases: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """A text column of phrases, each there or not by a chance that may differ with the label.

    A phrase has `text`, where `{name}` stands for the row's value of column `name`, `share`, and
    perhaps `share_positive`. Phrases stand in an order drawn anew for each row.
    """
    present = np.empty((len(frame), len(phrases)), dtype=bool)
    for i, phrase in enumerate(phrases):
        negative, positive = phrase["share"], phrase.get("share_positive", phrase["share"])
        chance = np.where(outcomes == 1, _share(positive), _share(negative))
        present[:, i] = rng.random(len(frame)) < chance
    order = rng.permuted(np.tile(np.arange(len(phrases)), (len(frame), 1)), axis=1)
    texts = [_filled(phrase["text"], frame) for phrase in phrases]
    frame[column] = [
        ". ".join(texts[i][row] for i in order[row].tolist() if present[row, i])
        for row in range(len(frame))
    ]
    return frame


ALTERATIONS: dict[str, Alteration] = {
    function.__name__: function
    for function in (
        wrong_unit,
        wrong_sign,
        varied_spelling,
        missing_by_label,
        outliers,
        noise_columns,
        noisy_copies,
        note,
    )
}


def _function(name: str, params: Mapping[str, Any]) -> Alteration:
    if name not in ALTERATIONS:
        raise InputError(f"no alteration {name!r}; {suggestion(name, ALTERATIONS)}")
    function = ALTERATIONS[name]
    wanted = [
        p for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY
    ]
    names = [p.name for p in wanted]
    for given in params:
        if given not in names:
            raise InputError(
                f"alteration {name!r} has no parameter {given!r}; {suggestion(given, names)}"
            )
    missing = [p.name for p in wanted if p.default is p.empty and p.name not in params]
    if missing:
        raise InputError(f"alteration {name!r} needs {', '.join(missing)}; add it to its params")
    return function


def _present(columns: Sequence[str], frame: pd.DataFrame) -> Sequence[str]:
    check_columns(columns, frame.columns, "the table to alter")
    return columns


def _share(share: float) -> float:
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies in [0, 1], found {share!r}")
    return share


def _drawn(frame: pd.DataFrame, rng: np.random.Generator, share: float) -> NDArray[np.bool_]:
    return rng.random(len(frame)) < _share(share)


def _filled(text: str, frame: pd.DataFrame) -> list[str]:
    """The phrase for every row, its placeholders filled from the row's columns."""
    import string

    names = [field for _, field, _, _ in string.Formatter().parse(text) if field]
    check_columns(names, frame.columns, f"phrase {text!r}: the table to alter")
    if not names:
        return [text] * len(frame)
    columns = zip(*(frame[name] for name in names), strict=True)
    return [text.format(**dict(zip(names, values, strict=True))) for values in columns]
