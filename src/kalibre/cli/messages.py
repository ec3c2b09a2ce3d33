"""The engine's messages name keys of an experiment file; on the command line they name options.

Before there is a file, "say `encoding: latin-1` under `data`" helps nobody: it becomes
"say `--encoding latin-1`".
"""

from __future__ import annotations

import re
import shlex

_SAY = re.compile(r"`(encoding|delimiter|positive): ([^`]*)` under `data`")
_MISSING = re.compile(r"`missing: \[(.*?)\]` under `data`")
_KINDS = re.compile(r"`kinds: \{(.*): category\}`(?: under `data`)?")
_KEY = re.compile(r"`(?:data\.)?(target|outcome|probability|logit|id|group|time|weight)`")
_LEAVE_OUT = re.compile(r"`(?:data\.)?leave_out`")


def with_options(message: str) -> str:
    """A message on a section `data` as one on the command's options."""
    message = _SAY.sub(lambda m: f"`--{m[1]} {_word(m[2])}`", message)
    message = _MISSING.sub(lambda m: f"`--missing {_word(m[1])}`", message)
    message = _KINDS.sub(lambda m: f"`--category {_word(m[1])}`", message)
    message = message.replace("`positive`", "`--positive`")
    message = _LEAVE_OUT.sub("`--leave-out`", message)
    return _KEY.sub(lambda m: f"`--{m[1]}`", message)


def _word(text: str) -> str:
    """A value as a shell takes it, without the quotation marks it has in YAML."""
    bare = text.strip()
    if len(bare) >= 2 and bare[0] == bare[-1] and bare[0] in "'\"":
        bare = bare[1:-1]
    return shlex.quote(bare)
