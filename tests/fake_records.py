"""Records as a small experiment leaves them on disk, for tests of what is made of records."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kalibre.columns import Categories
from kalibre.digests import digest_bytes
from kalibre.files import write_bytes, write_columns, write_json, write_text

PACKAGES = {"kalibre": "0.1.0", "numpy": "2.4.6", "python": "3.11.7", "scikit-learn": "1.9.1"}


def write_record(root: Path, experiment: str, rule: str, *subject: str, **parts: Any) -> Path:
    """Write `results/<experiment>/<rule>/<subject>/record.json`; `parts` fill its empty parts."""
    path = root.joinpath("results", experiment, rule, *subject, "record.json")
    record: dict[str, Any] = {
        "rule": rule,
        "experiment": experiment,
        "subject": dict(zip(("model", "calibrator"), subject, strict=False)),
        "params": {},
        "metrics": {},
        "undefined": {},
        "rows": {},
        "notes": [],
        "inputs": {},
        "outputs": {},
        "sources": "5" * 32,
        "packages": PACKAGES,
    }
    write_json(path, record | parts)
    return path


def output(name: str, kind: str, content: str = "") -> dict[str, str]:
    """An entry of a record's outputs."""
    return {"file": name, "kind": kind, "digest": digest_bytes(f"{name}{content}".encode())}


def write_experiment(
    root: Path, experiment: str = "trivia", metrics: Mapping[str, float] | None = None
) -> list[Path]:
    """Three records, one after the other: a table, a fitted model's scores, their evaluation."""
    folder = root / "results" / experiment
    rows = np.arange(12)
    region = Categories((rows % 2).astype(np.int32), ("north", "south"))
    table_columns = {"row": rows, "price": rows / 7, "region": region}
    write_columns(folder / "make_table/table.parquet", table_columns)
    table = output("table.parquet", "data")
    make = write_record(root, experiment, "make_table", outputs={"table": table})
    scores = output("scores.parquet", "data")
    write_columns(folder / "read_scores/linear/scores.parquet", {"probability": rows / 12})
    read = write_record(
        root,
        experiment,
        "read_scores",
        "linear",
        inputs={"make_table/table": table["digest"]},
        outputs={"scores": scores},
        rows={"learned": {"count": 9, "digest": "9" * 32}},
    )
    write_text(folder / "evaluate/linear/none/reliability.csv", "bin,count\n0,5\n1,7\n")
    write_text(folder / "evaluate/linear/none/pages/page.html", "<p>0.8</p>")
    evaluate = write_record(
        root,
        experiment,
        "evaluate",
        "linear",
        "none",
        inputs={"read_scores/linear/scores": scores["digest"]},
        params={"bins/fifths/count": 5, "weighted": False, "group": None},
        metrics={"test/brier": 0.172, "test/fifths/ece": 0.04} | dict(metrics or {}),
        undefined={"test/roc_auc": "one class only"},
        notes=["3 rows were clipped"],
        outputs={
            "reliability": output("reliability.csv", "table"),
            "page": output("pages/page.html", "page"),
        },
    )
    return [make, read, evaluate]


def write_series(path: Path, steps: int, **columns: np.ndarray) -> None:
    """Write stepped metrics, as a study of many splits keeps them."""
    write_columns(path, {"step": np.arange(steps), **columns})


def write_model(path: Path, model: Any) -> None:
    """Write a fitted model in the skops format."""
    import skops.io

    write_bytes(path, skops.io.dumps(model))
