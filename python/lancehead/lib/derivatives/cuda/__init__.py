"""Derivatives of functions of `cuda`."""
