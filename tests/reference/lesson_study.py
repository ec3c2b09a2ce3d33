"""Every figure of the repeated experiment on biopsies (seed 004), measured by its own loop."""

from __future__ import annotations

import numpy as np

from reference import study

Figures = dict[str, float]


def figures(splits: int = study.SPLITS, first_seed: int = study.FIRST_SEED) -> Figures:
    """Return the study's figures, unrounded, under the identifiers of the ledger.

    Declared confidence and accuracy are in per cent, as the lesson prints them.
    """
    sizes = study.cut(study.load_biopsies().outcomes, first_seed)
    measured: Figures = {
        "study/setting/splits": splits,
        "study/setting/temperature_low": study.TEMPERATURE_LOW,
        "study/setting/temperature_high": study.TEMPERATURE_HIGH,
        "study/data/validation": len(sizes.validation),
        "study/data/train": len(sizes.train),
        "study/data/calibration": len(sizes.calibration),
    }
    for name, table in study.run_study(splits, first_seed).items():
        measured |= summarise(name, table)
    return measured


def summarise(name: str, table: np.ndarray) -> Figures:
    """Return what the lesson prints of one model, from its table of splits."""
    columns = dict(zip(study.SplitResult._fields, table.T, strict=True))
    means = {field: float(values.mean()) for field, values in columns.items()}
    return {
        f"study/{name}/declared": 100 * means["declared"],
        f"study/{name}/accuracy": 100 * means["accuracy"],
        f"study/{name}/raw/brier": means["brier_raw"],
        f"study/{name}/temperature/brier": means["brier_temperature"],
        f"study/{name}/temperature/temperature": means["temperature"],
        f"study/{name}/lower_brier_count": int(
            (columns["brier_temperature"] < columns["brier_raw"]).sum()
        ),
        f"study/{name}/decisions_kept_count": int(columns["decisions_kept"].sum()),
    }
