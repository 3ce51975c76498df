"""Fourier transforms on the CPU device, compiled: of some axes, in the scale of cuFFT, which divides by nothing."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np

from lancehead.decorators import njit


@njit
def whole(a, axes):
    """The transform."""
    return np.fft.fftn(a, axes=axes)


@njit
def inverse(a, axes):
    """The inverse transform."""
    return np.fft.ifftn(a, axes=axes, norm="forward")


@njit
def from_real(a, axes):
    """The transform of real numbers: the last axis keeps the first half of its frequencies."""
    return np.fft.rfftn(a, axes=axes)


@njit
def to_real(a, shape, axes):
    """The inverse of `from_real` for real numbers of a shape."""
    return np.fft.irfftn(a, shape, axes=axes, norm="forward")
