"""Derivatives of functions of `scipy`."""
