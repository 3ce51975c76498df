"""Functions beyond NumPy: what Numba has in `numba.np.extensions`."""

from typing import Any

import numpy as np

from lancehead.options import public

__all__ = ["cross2d"]
public(globals())


def cross2d(a: Any, b: Any) -> Any:
    """The third components of vector products, of vectors of two dimensions.

    >>> cross2d(np.array([1, 2]), np.array([3, 4]))
    array(-2)
    """
    x, y = np.asarray(a), np.asarray(b)
    if x.shape[-1] != 2 or y.shape[-1] != 2:
        raise ValueError("Incompatible dimensions for 2D cross product\n(dimension must be 2 for both inputs)")
    return np.asarray(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
