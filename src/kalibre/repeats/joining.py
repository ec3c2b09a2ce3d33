"""Are these the shards of one study, and all of them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalibre.errors import InputError


def check_same_settings(records: Sequence[Mapping[str, Any]], rule: str) -> None:
    """Refuse shards that were made with different settings.

    Raises
    ------
    InputError
        If their records do not all hold the same digest of the settings.
    """
    if len({record["params"]["settings"] for record in records}) != 1:
        raise InputError(
            "the shards of this study were made with different settings; run `snakemake` again with "
            f"`--forcerun {rule}`"
        )


def check_seeds(seeds: NDArray[np.int64], splits: int, first_seed: int) -> None:
    """Refuse shards that do not hold every split once.

    Raises
    ------
    InputError
        Naming the first split that is missing.
    """
    wanted = np.arange(first_seed, first_seed + splits)
    if not np.array_equal(seeds, wanted):
        missing = np.setdiff1d(wanted, seeds)
        raise InputError(
            f"the shards hold {len(seeds)} splits, not the {splits} from seed {first_seed} on"
            + (f"; the first that is missing has seed {missing[0]}" if len(missing) else "")
        )
