"""A fitted model in MLflow: loadable by `mlflow.sklearn.load_model`, with its versions pinned.

The model travels in the skops format, which names every type it needs and runs no code on its own.
The engine's estimators are trusted, and those of the libraries it is built on; a model that needs
types of anything else is kept as a plain file, and its run says why.
"""

from __future__ import annotations

import importlib.metadata
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalibre.persistence import foreign_types
from kalibre.tracking.store import active_store

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXAMPLE_ROWS = 5
USED_ELSEWHERE = "save_model"
UNTRUSTED_TAG = "kalibre.model_not_loaded"

# `kalibre` is left out: an index that knows a stranger's package of this name would serve that one.
_REQUIRED = ("numpy", "scipy", "pandas", "scikit-learn")

_log = logging.getLogger(__name__)


def log_model(
    client: MlflowClient,
    uri: str,
    run: Any,
    record: Mapping[str, Any],
    folder: Path,
    tables: Sequence[Path] = (),
) -> None:
    """Log the model of a record to its run, and finish the run.

    `mlflow.sklearn.log_model` takes no run id: the run is opened for it, so this comes last.
    A model that an interrupted attempt logged whole is left as it is.

    Parameters
    ----------
    client : MlflowClient
        Client of the store at `uri`.
    uri : str
        Address of the store.
    run : mlflow.entities.Run
        The record's run, with everything but the model.
    record : mapping
        The content of the record; one of its outputs is of the kind `model`.
    folder : Path
        Where the record lies.
    tables : sequence of Path
        The tables the rule read: the one with the model's features gives it its signature.
    """
    run_id = run.info.run_id
    for name, output in record["outputs"].items():
        if output["kind"] != "model" or _is_logged(client, run, name):
            continue
        path = folder / output["file"]
        foreign = _foreign_types(path)
        if foreign:
            client.log_artifact(run_id, str(path))
            client.set_tag(run_id, UNTRUSTED_TAG, "types not trusted: " + ", ".join(foreign)[:4000])
        else:
            _load_and_log(uri, run_id, name, path, record, tables)
    client.set_terminated(run_id, "FINISHED")


def has_model(record: Mapping[str, Any]) -> bool:
    """Whether a model is among the record's outputs."""
    return any(output["kind"] == "model" for output in record["outputs"].values())


def _load_and_log(
    uri: str, run_id: str, name: str, path: Path, record: Mapping[str, Any], tables: Sequence[Path]
) -> None:
    # Imported here: scikit-learn costs a second, and most records have no model.
    import mlflow
    import mlflow.sklearn
    import skops.io

    types = skops.io.get_untrusted_types(file=path)
    model = skops.io.load(path, trusted=types)
    predict = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    example = _example(model, tables)
    with active_store(uri), warnings.catch_warnings(), mlflow.start_run(run_id=run_id):
        # Advice on the columns and on what the model says of them, which it said when fitted too.
        warnings.simplefilter("ignore")
        mlflow.sklearn.log_model(
            model,
            name=name,
            serialization_format="skops",
            skops_trusted_types=types,
            pip_requirements=_requirements(record),
            pyfunc_predict_fn=predict,
            signature=_signature(model, predict, example),
            # The model to use elsewhere has one; for every other, 0.2 s more would only be time.
            input_example=example if record["rule"] == USED_ELSEWHERE else None,
            metadata={"kalibre": record["packages"].get("kalibre", ""), "rule": record["rule"]},
        )


def _is_logged(client: MlflowClient, run: Any, name: str) -> bool:
    """Whether the run has this model whole; half a one, left by a kill, is thrown away."""
    for output in run.outputs.model_outputs if run.outputs else []:
        model = client.get_logged_model(output.model_id)
        if model.name == name and str(model.status) == "READY":
            return True
        if model.name == name:
            client.delete_logged_model(output.model_id)
    return False


def _foreign_types(path: Path) -> list[str]:
    """The types a skops file needs which neither we nor the libraries below us define."""
    import skops.io

    return foreign_types(skops.io.get_untrusted_types(file=path))


def _signature(model: Any, predict: str, example: Any) -> Any:
    """What the model takes and gives, from an example."""
    from mlflow.models import infer_signature

    if example is None:
        return None
    try:
        return infer_signature(example, getattr(model, predict)(example))
    except (TypeError, ValueError) as error:
        _log.warning("the model is logged without a signature: %s", error)
        return None


def _example(model: Any, tables: Sequence[Path]) -> Any:
    """The first rows of the features the model was fitted on, None where no table has them all."""
    import pyarrow.parquet as pq

    names = list(getattr(model, "feature_names_in_", ()))
    for path in tables if names else ():
        with pq.ParquetFile(path) as file:
            if not set(names) <= set(file.schema_arrow.names):
                continue
            for rows in file.iter_batches(EXAMPLE_ROWS, columns=names):
                frame = rows.to_pandas()[names]
                # Categories are text to the model, as they were when it was fitted.
                texts = frame.select_dtypes("category").columns
                return frame.astype(dict.fromkeys(texts, object))
    return None


def _requirements(record: Mapping[str, Any]) -> list[str]:
    """What loading the model needs, as the record has it: MLflow would take seconds to infer it."""
    known = {name: record["packages"].get(name) for name in _REQUIRED}
    known["skops"] = importlib.metadata.version("skops")
    return [f"{name}=={version}" for name, version in known.items() if version]
