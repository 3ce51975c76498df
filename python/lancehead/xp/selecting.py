"""The compiled loops of selections, with the order of the elements as their first argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.decorators import njit
from lancehead.lib.primitives import merging, ordering, selecting
from lancehead.xp import dtypes

plain_before, float_before, pair_before = (
    njit(selecting.plain_before),
    njit(selecting.float_before),
    njit(selecting.pair_before),
)
chosen, chosen_elements = njit(selecting.chosen), njit(selecting.chosen_elements)
parted, parted_elements = njit(selecting.parted), njit(selecting.parted_elements)
# Blocks keep their finds in parts of their own, also where it is parallel.
smallest, top_rows = (
    njit(parallel={"unsafe": True})(selecting.smallest),
    njit(parallel={"unsafe": True})(selecting.top_rows),
)
# Parts of lines are apart.
runs = njit(parallel={"unsafe": True}, boundscheck=False)(selecting.runs)
merged = njit(parallel={"unsafe": True}, boundscheck=False)(merging.merged)
combined = njit(parallel={"unsafe": True}, boundscheck=False)(merging.combined)
stable_order = njit(error_model="numpy", boundscheck=False)(ordering.stable_order)
smallest_of_rows = njit(parallel=True)(selecting.smallest_of_rows)


def before(dtype: np.dtype[Any]) -> Any:
    """The function that says whether an element of a type is before another one."""
    if dtype in dtypes.COMPLEX:
        return pair_before
    return float_before if dtype.kind == "f" else plain_before
