"""Where do the runs go? The address of the tracking store; nothing here imports MLflow.

The store is `mlflow.db` in the project folder, MLflow's own default, so that a bare `mlflow ui`
there shows the runs, or whatever MLFLOW_TRACKING_URI names: a server, another database. Its address
is always explicit and absolute: a leftover `mlruns` folder changes what MLflow takes by default.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from kalibre.errors import InputError

VARIABLE = "MLFLOW_TRACKING_URI"
DATABASE = "mlflow.db"
DATABASES = ("postgresql", "mysql", "mssql")

_SQLITE = re.compile(r"(sqlite(?:\+\w+)?:///)([^?]*)(\?.*)?", re.DOTALL)
_SECRET_OPTION = re.compile(r"([?&][^=&]*(?:pass|pwd|token|secret)[^=&]*=)[^&]*", re.IGNORECASE)
# A shorter password could be part of any word.
_SHORTEST_SECRET = 4


def resolve_uri(project_root: Path) -> str:
    """The absolute address of the tracking store.

    Parameters
    ----------
    project_root : Path
        The project folder: holds the default store, and a relative SQLite address starts there.

    Returns
    -------
    str
        The address, with its password if it has one: `redact` it before it is shown or written.

    Raises
    ------
    InputError
        If no other process could open the address, or a folder's name makes it ambiguous.
    """
    uri = os.environ.get(VARIABLE, "").strip() or f"sqlite:///{DATABASE}"
    if not uri.startswith("sqlite"):
        return uri
    parts = _SQLITE.fullmatch(uri)
    if parts is None or parts[2] in ("", ":memory:"):
        raise InputError(
            f"{VARIABLE}={uri!r} is a store in memory, which ends with the process that opened it; "
            f"name a file: sqlite:///{DATABASE}"
        )
    path = os.path.normpath(Path(project_root).resolve() / parts[2])
    if "?" in path:
        raise InputError(
            f"the path {path!r} holds a question mark, where an SQLite address's options begin; "
            f"rename the folder or set {VARIABLE} to another store"
        )
    return f"{parts[1]}{path}{parts[3] or ''}"


def default_uri(root: Path) -> str:
    """The address of the store in the project folder."""
    return f"sqlite:///{Path(root).resolve() / DATABASE}"


def redact(uri: str) -> str:
    """The address without its password or token, fit to be printed and written."""
    scheme, mark, rest = uri.partition("://")
    if not mark or scheme.startswith("sqlite"):
        return uri
    credentials, at, place = rest.rpartition("@")
    if at:
        user, colon, _ = credentials.partition(":")
        if colon:
            credentials = f"{user}:***"
        elif scheme in ("http", "https"):
            credentials = "***"
    return _SECRET_OPTION.sub(r"\1***", f"{scheme}://{credentials}{at}{place}")


def without_secrets(text: str, uri: str) -> str:
    """The text without the address's password, in whichever form a library repeats it."""
    text = text.replace(uri, redact(uri))
    credentials, at, _ = uri.partition("://")[2].rpartition("@")
    if not at or uri.startswith("sqlite"):
        return text
    text = text.replace(credentials + at, "***@")
    password = credentials.partition(":")[2] or credentials
    for secret in {password, unquote(password)}:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


def store_file(uri: str) -> Path | None:
    """The file of an SQLite store, None for any other store."""
    parts = _SQLITE.fullmatch(uri)
    return None if parts is None else Path(parts[2])


def is_database(uri: str) -> bool:
    """Whether the address is a bare database's other than SQLite's, without a server before it."""
    return uri.partition(":")[0].partition("+")[0] in DATABASES
