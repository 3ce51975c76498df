"""Modules of `numpy.polynomial` as Numba has them."""
