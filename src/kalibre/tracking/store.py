"""The tracking store: created and migrated once, before anything is tracked.

A fresh SQLite store that several processes open at once breaks in the migration of its schema, and
one whose migration is killed can never be opened again. So one rule initialises it, and the file
gets its name when it is whole.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from kalibre.errors import InputError
from kalibre.files import replace_file
from kalibre.tracking.address import (
    DATABASE,
    VARIABLE,
    default_uri,
    is_database,
    redact,
    resolve_uri,
    store_file,
)
from kalibre.tracking.reach import REFILL, check, plain_errors

if TYPE_CHECKING:
    from mlflow import MlflowClient

__all__ = [
    "active_store",
    "connect",
    "initialise",
    "redact",
    "require_experiment",
    "resolve_uri",
    "store_file",
]

ARTIFACTS = "mlartifacts"
OWNER_TAG = "kalibre.experiment"

# A run or an experiment named in the environment would beat the ones we name (mlflow#15713).
_DROPPED = ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME")
_FIXED = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_ENABLE_ASYNC_LOGGING": "false",
    "MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
# MLflow's own values keep trying for minutes; these give up after about fifteen seconds.
_PATIENCE = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "4",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",
}

_log = logging.getLogger(__name__)


def initialise(uri: str, experiments: Iterable[str], *, root: Path) -> dict[str, str]:
    """Create the store if it is new, and the experiments it lacks.

    Parameters
    ----------
    uri : str
        Address of the store, from `resolve_uri`.
    experiments : iterable of str
        Names of experiments, which are their names in MLflow too.
    root : Path
        The project folder, which takes the artifacts of a store that is a bare database.

    Returns
    -------
    dict of str to str
        Name to experiment id.

    Raises
    ------
    InputError
        If the store cannot be reached, is of a kind MLflow refuses, or needs a migration by hand.
    """
    root = Path(root).resolve()
    with plain_errors(uri):
        path = store_file(uri)
        if path is not None and not path.exists():
            _create_sqlite(path)
        client = connect(uri)
        if uri == default_uri(root):
            _warn_of_file_store(root)
        return {name: _experiment_id(client, uri, name, root) for name in experiments}


def connect(uri: str) -> MlflowClient:
    """A client of a store that exists and answers.

    Raises
    ------
    InputError
        If it does not, within seconds.
    """
    check(uri)
    _prepare_mlflow()
    return _client(uri)


def require_experiment(client: MlflowClient, uri: str, experiment_id: str, name: str) -> Any:
    """The experiment of this id, which must still be the one that was initialised.

    Raises
    ------
    InputError
        If the store holds no such experiment: it was emptied or replaced since.
    """
    from mlflow.exceptions import MlflowException

    try:
        experiment = client.get_experiment(experiment_id)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        experiment = None
    if experiment is None or experiment.name != name or experiment.lifecycle_stage != "active":
        raise InputError(
            f"the tracking store {redact(uri)} has no experiment {name!r} with id {experiment_id}: "
            f"it was emptied, replaced or changed by hand. The results on disk are complete; "
            f"refill it with: {REFILL}"
        )
    return experiment


@contextmanager
def active_store(uri: str) -> Iterator[None]:
    """Make `uri` the store of MLflow's module-level functions, and undo it afterwards."""
    import mlflow

    before = os.environ.get(VARIABLE)
    mlflow.set_tracking_uri(uri)
    try:
        yield
    finally:
        # This clears the variable, which a later `resolve_uri` reads.
        mlflow.set_tracking_uri(None)
        if before is not None:
            os.environ[VARIABLE] = before


def _prepare_mlflow() -> None:
    """Import MLflow without its chatter and background work, and with a bounded patience."""
    for name in _DROPPED:
        os.environ.pop(name, None)
    os.environ.update(_FIXED)
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: F401  (reads the variables above while it is imported)

    for logger in ("mlflow", "alembic"):
        logging.getLogger(logger).setLevel(logging.WARNING)


def _client(uri: str) -> MlflowClient:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri, registry_uri=uri)


def _create_sqlite(path: Path) -> None:
    """Create and migrate a store under a temporary name."""
    _prepare_mlflow()
    replace_file(path, lambda temporary: _client(f"sqlite:///{temporary}").search_experiments())


def _experiment_id(client: MlflowClient, uri: str, name: str, root: Path) -> str:
    """The id of the experiment of this name: found, brought back from the bin, or created."""
    location = _artifact_folder(uri, name, root)
    found = client.get_experiment_by_name(name)
    if found is not None and found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
        _log.warning("the experiment %r had been deleted in MLflow; it is restored", name)
    if found is not None and _has_moved(found, location):
        # MLflow keeps absolute paths: old artifacts are not found, new ones go to the old folder.
        older = f"{name} (moved, {found.experiment_id})"
        client.rename_experiment(found.experiment_id, older)
        _log.warning("the project has moved; MLflow's runs from before are now in %r", older)
        found = None
    return str(found.experiment_id) if found else _create_experiment(client, name, location)


def _create_experiment(client: MlflowClient, name: str, location: Path | None) -> str:
    from mlflow.exceptions import MlflowException

    # The kind saves people a question that the UI asks of every experiment without one.
    tags = {OWNER_TAG: name, "mlflow.experimentKind": "custom_model_development"}
    address = None if location is None else location.as_uri()
    try:
        return str(client.create_experiment(name, artifact_location=address, tags=tags))
    except MlflowException as error:
        # Another process that shares the store was quicker.
        other = client.get_experiment_by_name(name)
        if error.error_code != "RESOURCE_ALREADY_EXISTS" or other is None:
            raise
        return str(other.experiment_id)


def _artifact_folder(uri: str, name: str, root: Path) -> Path | None:
    """Where an experiment's artifacts lie; None where a server decides."""
    path = store_file(uri)
    if path is not None:
        return path.parent.resolve() / ARTIFACTS / name
    return root / ARTIFACTS / name if is_database(uri) else None


def _has_moved(experiment: Any, location: Path | None) -> bool:
    """Whether an experiment of ours in a local store keeps its artifacts in a folder of before."""
    address = urlsplit(experiment.artifact_location or "")
    if location is None or OWNER_TAG not in experiment.tags or address.scheme != "file":
        return False
    return Path(url2pathname(address.path)) != location


def _warn_of_file_store(root: Path) -> None:
    """A leftover `mlruns` makes a bare `mlflow ui` show that folder in place of our store."""
    if any((root / "mlruns").glob("[0-9]*/meta.yaml")):
        _log.warning(
            "the folder mlruns is an older MLflow's store, and a bare `mlflow ui` shows it instead "
            "of our runs. Move it away, or use: mlflow ui --backend-store-uri sqlite:///%s",
            DATABASE,
        )
