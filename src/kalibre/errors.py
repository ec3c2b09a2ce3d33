"""The one exception a person may cause, and the wording its messages share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """A mistake in the input: one message that says what was found, what is allowed, how to mend it.

    Whoever runs the engine prints the message alone, without a traceback, and exits with 1.
    """


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """The allowed word closest in spelling to `word`, or None when nothing is near."""
    found = difflib.get_close_matches(str(word), list(allowed), n=1, cutoff=0.55)
    return found[0] if found else None


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """A clause that names the nearest allowed word, or lists all of them."""
    choices = list(allowed)
    near = nearest(word, choices)
    if near is not None:
        return f"did you mean {near!r}?"
    return "allowed: " + ", ".join(sorted(choices))
