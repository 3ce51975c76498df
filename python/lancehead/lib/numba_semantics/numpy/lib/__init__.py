"""Modules of `numpy.lib` as Numba has them."""
