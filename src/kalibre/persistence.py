"""Models as bytes, in the skops format: nothing is ever unpickled.

A skops file names every type and function it holds. Those of the engine and of the libraries below it are
trusted, and of a package that the experiment itself names as the model's; a file with any other is not
loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kalibre.errors import InputError

TRUSTED = ("kalibre", "sklearn", "numpy", "scipy", "pandas")
"""Packages whose types a model may hold."""

HARMLESS = frozenset({"functools.partial"})
"""Types that do nothing of their own: the function that a `partial` calls is listed beside it."""


def dump_model(estimator: Any) -> bytes:
    """A fitted estimator in the skops format.

    Raises
    ------
    InputError
        If it holds something that the format has no way to write.
    """
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    try:
        return bytes(skops.io.dumps(estimator))
    except UnsupportedTypeException as error:
        raise InputError(
            f"the model cannot be saved without pickling ({error}); name an estimator that is made of "
            "arrays, numbers and text"
        ) from error


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
    # Imported here: what only asks which types are trusted need not wait for scikit-learn.
    import skops.io

    types = skops.io.get_untrusted_types(data=content)
    foreign = foreign_types(types, also=also)
    if foreign:
        raise InputError(
            f"the model holds types of packages that nobody named: {', '.join(foreign)}; it is not loaded"
        )
    return skops.io.loads(content, trusted=types)


def foreign_types(types: Iterable[str], *, also: Iterable[str] = ()) -> list[str]:
    """Those of the types, by their dotted paths, that are not trusted; `also` as in `load_model`."""
    packages = {*TRUSTED, *(path.partition(".")[0] for path in also)}
    return [
        name for name in types if name not in HARMLESS and name.partition(".")[0] not in packages
    ]
