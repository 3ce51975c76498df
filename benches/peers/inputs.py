"""Arrays that primitives are measured on: equal ones for lancehead, NumPy, Thrust and JAX in its own process."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace

import numpy as np

#: Columns of matrices of so many elements.
COLUMNS = {100: 10, 10_000: 100, 1_000_000: 1000, 10_000_000: 2500}
#: Greatest elements that are looked for, and bins of histograms.
FEW, BINS = 10, 100


def inputs(n: int, names: Collection[str] = ()) -> SimpleNamespace:
    """Lines of n elements, and what goes with them; those of some names only, since all of long lines are large."""
    rng = np.random.default_rng(n)
    columns = COLUMNS.get(n, max(int(n**0.5), 1))
    side = int(n**0.5)
    x, y = rng.random(n), rng.random(n)
    makers = {
        "keys": lambda: rng.integers(0, n, n),
        "mask": lambda: x > 0.5,
        "places": lambda: rng.permutation(n),
        # Segments of a hundred elements on average, some of them empty.
        "offsets": lambda: np.concatenate([[0], np.sort(rng.integers(0, n + 1, max(n // 100, 2) - 1)), [n]]),
        # Sorted, with equal neighbours; half of the elements of one are in the other.
        "a": lambda: np.sort(rng.integers(0, n, n) * 1.0),
        "b": lambda: np.sort(rng.integers(n // 2, n + n // 2, n) * 1.0),
        "runs": lambda: np.repeat(rng.random(n // 4 + 1), rng.integers(1, 12, n // 4 + 1))[:n],
        "counts": lambda: rng.integers(0, 1000, n),
        "left": lambda: x[:side].copy(),
        "right": lambda: y[:side].copy(),
    }
    found = {name: make() for name, make in makers.items() if not names or name in names}
    return SimpleNamespace(x=x, y=y, matrix=x[: n // columns * columns].reshape(-1, columns), **found)
