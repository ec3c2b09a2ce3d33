"""Models as bytes, in the skops format: nothing is ever unpickled."""

from __future__ import annotations

from typing import Any

import skops.io


def dump_model(estimator: Any) -> bytes:
    """A fitted estimator in the skops format."""
    return skops.io.dumps(estimator)
