"""Models as bytes, in the skops format: nothing is ever unpickled.

A skops file names every type it holds. Those of the engine and of the libraries below it are trusted, and
of a package that the experiment itself names as the model's; a file with any other type is not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import skops.io

from kalibre.errors import InputError

TRUSTED = ("kalibre", "sklearn", "numpy", "scipy", "pandas")
"""Packages whose types a model may hold."""


def dump_model(estimator: Any) -> bytes:
    """A fitted estimator in the skops format."""
    return skops.io.dumps(estimator)


def load_model(content: bytes, *, also: Iterable[str] = ()) -> Any:
    """The estimator that `dump_model` made bytes of.

    Parameters
    ----------
    content : bytes
        A file of the skops format.
    also : iterable of str
        Dotted paths of classes whose packages are trusted besides `TRUSTED`.

    Raises
    ------
    InputError
        If it holds a type of another package.
    """
    packages = {*TRUSTED, *(path.partition(".")[0] for path in also)}
    types = skops.io.get_untrusted_types(data=content)
    foreign = [name for name in types if name.partition(".")[0] not in packages]
    if foreign:
        raise InputError(
            f"the model holds types of packages that nobody named: {', '.join(foreign)}; it is not loaded"
        )
    return skops.io.loads(content, trusted=types)
