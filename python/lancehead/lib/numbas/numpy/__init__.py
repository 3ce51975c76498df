"""Functions of `numpy` as Numba has them."""
