"""Derivatives of functions of `numpy`."""
