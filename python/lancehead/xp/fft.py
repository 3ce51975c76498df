"""The extension `fft` of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.options import near_keywords, public
from lancehead.xp import dtypes
from lancehead.xp.arrays import from_numpy, ndarray, wrap
from lancehead.xp.devices import as_device
from lancehead.xp.elementwise import as_node
from lancehead.xp.graph import made
from lancehead.xp.manipulation import axes_of, axis_of, roll

_NORMS = ("backward", "ortho", "forward")


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.complex64 if dtype in (dtypes.float32, dtypes.complex64) else dtypes.complex128


def _line(name: str, x: ndarray, n: Any, axis: int, norm: str, extent: Any, dtype: Any) -> ndarray:
    _check(name, x, norm)
    k = axis_of(axis, x.ndim)
    n = x.shape[k] if n is None else int(n)
    length = extent(n)
    if n < 1 or length < 1:
        raise ValueError(f"a transform of {n} elements is none")
    shape = (*x.shape[:k], length, *x.shape[k + 1 :])
    # The inverse of real ones counts elements of its result.
    count = length if name in ("irfft", "hfft") else n
    node = made(name, _call, (as_node(x),), shape, dtype, static=(name, k, norm), dynamic=(count,), is_costly=True)
    return wrap(node)


def _call(a: str, n: str, name: str, axis: int, norm: str) -> str:
    return f"np.fft.{name}({a}, {n}, {axis}, {norm!r})"


def _check(name: str, x: ndarray, norm: str) -> None:
    if norm not in _NORMS:
        raise ValueError(f"norm is one of {', '.join(_NORMS)}, not {norm!r}")
    real = name in ("rfft", "rfftn", "ihfft")
    if x.dtype not in (dtypes.REAL_FLOATING if real else dtypes.REAL_FLOATING + dtypes.COMPLEX):
        raise TypeError(f"{name} does not take arrays of {x.dtype}")


def _same(n: int) -> int:
    return n


def _half(n: int) -> int:
    return n // 2 + 1


def fft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The discrete Fourier transform along an axis, of `n` elements."""
    return _line("fft", x, n, axis, norm, _same, _complex(x.dtype))


def ifft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The inverse of `fft`."""
    return _line("ifft", x, n, axis, norm, _same, _complex(x.dtype))


def rfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The transform of real numbers: its first half."""
    return _line("rfft", x, n, axis, norm, _half, _complex(x.dtype))


def irfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The inverse of `rfft`; the result has `n` elements."""
    k = axis_of(axis, x.ndim)
    wanted = 2 * (x.shape[k] - 1) if n is None else int(n)
    return _line("irfft", x, wanted, axis, norm, _same, _real(x.dtype))


def hfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The transform of a line with Hermitian symmetry, which is real; the result has `n` elements."""
    k = axis_of(axis, x.ndim)
    wanted = 2 * (x.shape[k] - 1) if n is None else int(n)
    return _line("hfft", x, wanted, axis, norm, _same, _real(x.dtype))


def ihfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The inverse of `hfft`."""
    return _line("ihfft", x, n, axis, norm, _half, _complex(x.dtype))


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.float32 if dtype in (dtypes.float32, dtypes.complex64) else dtypes.float64


def _axes(x: ndarray, s: Any, axes: Any) -> tuple[list[int], tuple[int, ...]]:
    if axes is None:
        axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
    found = axes_of(tuple(axes), x.ndim)
    extents = (
        [x.shape[k] for k in found]
        if s is None
        else [x.shape[k] if n == -1 else int(n) for n, k in zip(s, found, strict=True)]
    )
    return extents, found


def fftn(x: ndarray, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> ndarray:
    """The transform along several axes, all for None."""
    extents, found = _axes(x, s, axes)
    for n, k in zip(extents, found, strict=True):
        x = fft(x, n=n, axis=k, norm=norm)
    return x


def ifftn(x: ndarray, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> ndarray:
    """The inverse of `fftn`."""
    extents, found = _axes(x, s, axes)
    for n, k in zip(extents, found, strict=True):
        x = ifft(x, n=n, axis=k, norm=norm)
    return x


def rfftn(x: ndarray, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> ndarray:
    """The transform of real numbers along several axes: half of the last."""
    extents, found = _axes(x, s, axes)
    x = rfft(x, n=extents[-1], axis=found[-1], norm=norm)
    for n, k in zip(extents[:-1], found[:-1], strict=True):
        x = fft(x, n=n, axis=k, norm=norm)
    return x


def irfftn(x: ndarray, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> ndarray:
    """The inverse of `rfftn`."""
    extents, found = _axes(x, s, axes)
    for n, k in zip(extents[:-1], found[:-1], strict=True):
        x = ifft(x, n=n, axis=k, norm=norm)
    return irfft(x, n=2 * (x.shape[found[-1]] - 1) if s is None else extents[-1], axis=found[-1], norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> ndarray:
    """The frequencies of a transform of `n` elements at a distance."""
    where = as_device(device)
    return from_numpy(np.fft.fftfreq(n, d).astype(dtypes.float64 if dtype is None else dtype), where)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> ndarray:
    """The frequencies of the transform of `n` real elements at a distance."""
    where = as_device(device)
    return from_numpy(np.fft.rfftfreq(n, d).astype(dtypes.float64 if dtype is None else dtype), where)


def fftshift(x: ndarray, /, *, axes: Any = None) -> ndarray:
    """Frequencies in ascending order along axes."""
    found = axes_of(axes, x.ndim)
    return roll(x, tuple(x.shape[k] // 2 for k in found), axis=found)


def ifftshift(x: ndarray, /, *, axes: Any = None) -> ndarray:
    """The inverse of `fftshift`."""
    found = axes_of(axes, x.ndim)
    return roll(x, tuple(-(x.shape[k] // 2) for k in found), axis=found)


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip
public(globals())

near_keywords(globals())
