"""Fourier transforms on the CPU device, compiled: of the last one, two or three axes, in the scale of cuFFT, which
divides by nothing."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.decorators import njit


@njit
def _forward1(a):
    return np.fft.fft(a)


@njit
def _forward2(a):
    return np.fft.fft2(a)


@njit
def _forward3(a):
    return np.fft.fftn(a, axes=(1, 2, 3))


@njit
def _inverse1(a):
    return np.fft.ifft(a, norm="forward")


@njit
def _inverse2(a):
    return np.fft.ifft2(a, norm="forward")


@njit
def _inverse3(a):
    return np.fft.ifftn(a, axes=(1, 2, 3), norm="forward")


@njit
def _half(a):
    return np.fft.rfft(a)


@njit
def _whole(a, n):
    return np.fft.irfft(a, n, norm="forward")


def whole(a: np.ndarray) -> np.ndarray:
    """The transform of all axes after the first one."""
    forward: tuple[Any, ...] = (_forward1, _forward2, _forward3)
    return forward[a.ndim - 2](a)  # type: ignore[no-any-return]


def inverse(a: np.ndarray) -> np.ndarray:
    """The inverse transform of all axes after the first one."""
    inverses: tuple[Any, ...] = (_inverse1, _inverse2, _inverse3)
    return inverses[a.ndim - 2](a)  # type: ignore[no-any-return]


def from_real(a: np.ndarray) -> np.ndarray:
    """The transform of real numbers: the last axis keeps the first half of its frequencies."""
    found: np.ndarray = _half(a)
    for axis in range(1, a.ndim - 1):
        found = _along(found, axis, _forward1)
    return found


def to_real(a: np.ndarray, n: int) -> np.ndarray:
    """The inverse of `from_real` for so many real numbers in the last axis."""
    for axis in range(1, a.ndim - 1):
        a = _along(a, axis, _inverse1)
    return _whole(np.ascontiguousarray(a), n)  # type: ignore[no-any-return]


def _along(a: np.ndarray, axis: int, transform: Any) -> np.ndarray:
    moved = np.ascontiguousarray(np.moveaxis(a, axis, -1))
    return np.moveaxis(transform(moved.reshape(-1, moved.shape[-1])).reshape(moved.shape), -1, axis)
