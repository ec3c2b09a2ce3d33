"""Digests of content: two artifacts with equal values have equal digests, whatever their files' bytes.

Tables are digested by their values, models by class, parameters and fitted state: a model file holds
times and addresses, and a Parquet file the version of its writer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.columns import Categories, Column

LENGTH = 32


def digest_bytes(content: bytes) -> str:
    """SHA-256 of the bytes, first 32 hexadecimal characters."""
    return hashlib.sha256(content).hexdigest()[:LENGTH]


def digest_json(value: Any) -> str:
    """Digest of plain built-ins, independent of the order of keys."""
    return digest_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())


def digest_columns(columns: Mapping[str, Column]) -> str:
    """Digest of a table: column names in order, kinds and values."""
    state = hashlib.sha256()
    for name, column in columns.items():
        state.update(name.encode() + b"\0")
        _add_column(state, column)
    return state.hexdigest()[:LENGTH]


def digest_object(value: Any) -> str:
    """Digest of a fitted estimator, or any object, by its class and state.

    Walks attributes, mappings, sequences and arrays; structured arrays go field by field, because the
    padding between their fields is not part of the value.

    Raises
    ------
    TypeError
        If a part of the state is of a kind whose content cannot be read.
    """
    state = hashlib.sha256()
    _add_object(state, value, {})
    return state.hexdigest()[:LENGTH]


def _add_column(state: Any, column: Column) -> None:
    if isinstance(column, Categories):
        state.update(b"categories")
        _add_strings(state, column.names)
        _add_array(state, column.codes)
    else:
        _add_array(state, column)


def _add_strings(state: Any, values: Any) -> None:
    joined = json.dumps([None if v is None else str(v) for v in values], ensure_ascii=False)
    state.update(joined.encode())


def _add_array(state: Any, array: NDArray) -> None:
    if array.dtype.kind == "U":
        # The same words at any width; as objects they come back from a file.
        array = array.astype(object)
    state.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.names:
        for field in array.dtype.names:
            state.update(field.encode())
            _add_array(state, np.ascontiguousarray(array[field]))
    elif array.dtype.hasobject:
        _add_strings(state, array.ravel().tolist())
    else:
        # A view as bytes of the contiguous array: no copy of large columns.
        state.update(
            np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
        )


def _add_object(state: Any, value: Any, seen: dict[int, Any]) -> None:
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        state.update(f"{type(value).__name__}:{value!r};".encode())
    elif isinstance(value, np.generic):
        _add_array(state, np.asarray(value))
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            for item in value.ravel():
                _add_object(state, item, seen)
        else:
            _add_array(state, value)
    elif isinstance(value, Mapping):
        state.update(b"{")
        for key in sorted(value, key=repr):
            state.update(repr(key).encode())
            _add_object(state, value[key], seen)
        state.update(b"}")
    elif isinstance(value, (list, tuple)):
        state.update(b"[")
        for item in value:
            _add_object(state, item, seen)
        state.update(b"]")
    elif isinstance(value, (set, frozenset)):
        state.update(repr(sorted(map(repr, value))).encode())
    elif isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        state.update(f"{value.__module__}.{value.__qualname__}".encode())
    else:
        _add_instance(state, value, seen)


def _add_instance(state: Any, value: Any, seen: dict[int, Any]) -> None:
    kind = type(value)
    state.update(f"<{kind.__module__}.{kind.__qualname__}>".encode())
    if id(value) in seen:
        return
    # The object itself is kept, so that its id is not given to another one during the walk.
    seen[id(value)] = value
    if isinstance(value, np.dtype):
        state.update(str(value).encode())
        return
    content = value.__getstate__() if hasattr(value, "__getstate__") else None
    if content is None:
        content = value.__reduce_ex__(2)[1:3]
    if isinstance(content, Mapping):
        content = {k: v for k, v in content.items() if k != "_sklearn_version"}
    _add_object(state, content, seen)
