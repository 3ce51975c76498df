"""Derivatives of functions of `lancehead`."""
