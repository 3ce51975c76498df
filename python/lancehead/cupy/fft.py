"""Fourier transforms, by NumPy's functions over the memory of arrays. Results have the precision of the operand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lancehead.cupy.hosted import hosted as _of

fft = _of(np.fft.fft)
fft2 = _of(np.fft.fft2)
fftfreq = _of(np.fft.fftfreq)
fftn = _of(np.fft.fftn)
fftshift = _of(np.fft.fftshift)
hfft = _of(np.fft.hfft)
ifft = _of(np.fft.ifft)
ifft2 = _of(np.fft.ifft2)
ifftn = _of(np.fft.ifftn)
ifftshift = _of(np.fft.ifftshift)
ihfft = _of(np.fft.ihfft)
irfft = _of(np.fft.irfft)
irfft2 = _of(np.fft.irfft2)
irfftn = _of(np.fft.irfftn)
rfft = _of(np.fft.rfft)
rfft2 = _of(np.fft.rfft2)
rfftfreq = _of(np.fft.rfftfreq)
rfftn = _of(np.fft.rfftn)


class _Config:
    """Options of transforms: there is nothing to plan."""

    use_multi_gpus = False

    def __init__(self) -> None:
        self._plans_nd = True

    @property
    def enable_nd_planning(self) -> bool:
        """Whether transforms of several axes are one; deprecated, and of no effect."""
        warnings.warn("enable_nd_planning is deprecated and has no effect", DeprecationWarning, stacklevel=2)
        return self._plans_nd

    @enable_nd_planning.setter
    def enable_nd_planning(self, value: bool) -> None:
        warnings.warn("enable_nd_planning is deprecated and has no effect", DeprecationWarning, stacklevel=2)
        self._plans_nd = value


config: Any = _Config()

__all__ = [
    "config", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
