"""Is the tracking store fit to take runs? Found out in seconds, and said in one message.

MLflow itself would retry an unreachable store for minutes, quietly create a new database in place
of one that vanished, and repeat the address with its password in its errors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kalibre.errors import InputError
from kalibre.tracking.address import (
    DATABASE,
    VARIABLE,
    is_database,
    redact,
    store_file,
    without_secrets,
)

REFILL = "snakemake all --forcerun init_tracking"

_SECONDS = 5


def check(uri: str) -> None:
    """Check that a store exists and answers.

    Raises
    ------
    InputError
        If it does not, or is of a kind that MLflow refuses.
    """
    scheme = uri.partition(":")[0]
    path = store_file(uri)
    if path is not None:
        _check_sqlite(path)
    elif scheme in ("http", "https"):
        _check_server(uri)
    elif is_database(uri):
        _check_database(uri)
    elif scheme == "file" or ("://" not in uri and not scheme.startswith("databricks")):
        _check_folder(uri)


@contextmanager
def plain_errors(uri: str) -> Iterator[None]:
    """Turn the errors of MLflow and of its store into one message that shows no password.

    Raises
    ------
    InputError
        In place of whatever MLflow, SQLAlchemy or the network raised.
    """
    try:
        yield
    except Exception as error:
        # By name, because importing the classes would import MLflow for a mistake found before it.
        families = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
        if not families & {"mlflow", "sqlalchemy", "requests", "alembic"}:
            raise
        said = without_secrets(str(error), uri)
        raise InputError(f"tracking store {redact(uri)}: {said}") from None


def _check_sqlite(path: Path) -> None:
    if not path.exists():
        raise InputError(
            f"the tracking store {path} is gone. The results on disk are complete; refill it with: "
            f"{REFILL}"
        )
    with path.open("rb") as file:
        head = file.read(16)
    if head and head != b"SQLite format 3\0":
        raise InputError(
            f"{path} is not an SQLite database; move it away, or set {VARIABLE} to another store"
        )


def _check_server(uri: str) -> None:
    """Ask a server for a sign of life; any answer will do, refusals have messages of their own."""
    import requests

    insecure = os.environ.get("MLFLOW_TRACKING_INSECURE_TLS", "").lower() in ("1", "true")
    authorities = os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH") or not insecure
    own = os.environ.get("MLFLOW_TRACKING_CLIENT_CERT_PATH")
    address = f"{uri.rstrip('/')}/health"
    try:
        requests.get(address, timeout=_SECONDS, verify=authorities, cert=own)
    except requests.exceptions.RequestException as error:
        raise InputError(_silent(uri, error)) from None


def _check_database(uri: str) -> None:
    """Open one connection: MLflow itself would try ten times, waiting longer and longer."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError

    options = {} if uri.startswith("mssql") else {"connect_timeout": _SECONDS}
    try:
        engine = create_engine(uri, connect_args=options)
        engine.connect().close()
        engine.dispose()
    except ModuleNotFoundError as error:
        raise InputError(
            f"the tracking store {redact(uri)} needs the Python package {error.name!r}: install it "
            f"into the environment, or put an MLflow server before the database"
        ) from None
    except SQLAlchemyError as error:
        raise InputError(_silent(uri, error)) from None


def _check_folder(uri: str) -> None:
    if os.environ.get("MLFLOW_ALLOW_FILE_STORE", "").lower() not in ("1", "true"):
        raise InputError(
            f"{VARIABLE}={uri!r} is a folder, a kind of store that MLflow no longer accepts; "
            f"allowed: sqlite:///{DATABASE}, http://host:port, postgresql://user@host/database"
        )


def _silent(uri: str, error: BaseException) -> str:
    # The first cause says it in a few words; each library above it adds a line of its own.
    while error.__context__ is not None:
        error = error.__context__
    said = without_secrets(" ".join(str(error).split()), uri)
    return (
        f"the tracking store {redact(uri)} does not answer: {said}. Start it, correct {VARIABLE}, "
        f"or unset it to use {DATABASE} in the project folder"
    )
