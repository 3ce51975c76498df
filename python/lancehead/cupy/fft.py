"""Fourier transforms, by NumPy's functions over the memory of arrays. Results have the precision of the operand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lancehead.cupy.hosted import hosted as _of
from lancehead.options import public


def _of_axes(f: Any, last: Any = None) -> Any:
    # A transform of several axes, which leaves an array alone that it has none of.
    transform = _of(f)

    def g(a: Any, s: Any = None, axes: Any = last, norm: Any = None) -> Any:
        return a if axes is not None and not len(axes) else transform(a, s=s, axes=axes, norm=norm)

    g.__name__ = g.__qualname__ = f.__name__
    g.__doc__ = transform.__doc__
    return g


fft = _of(np.fft.fft)
fft2 = _of_axes(np.fft.fft2, (-2, -1))
fftfreq = _of(np.fft.fftfreq)
fftn = _of_axes(np.fft.fftn)
fftshift = _of(np.fft.fftshift)
hfft = _of(np.fft.hfft)
ifft = _of(np.fft.ifft)
ifft2 = _of_axes(np.fft.ifft2, (-2, -1))
ifftn = _of_axes(np.fft.ifftn)
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
public(globals())
