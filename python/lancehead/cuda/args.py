"""Arguments of kernels: what a host array is copied for."""

from __future__ import annotations

from typing import Any

import numpy as np

from lancehead.cuda.devicearray import DeviceNDArray, DeviceRecord, ManagedNDArray, MappedNDArray, as_cuda_array


class ArgHint:
    """A host array with what it is copied for."""

    def __init__(self, value: Any) -> None:
        self.value = value


class In(ArgHint):
    """A host array that is copied to the device, and not back.

    >>> @cuda.jit
    ... def kernel(a, out): out[0] = a[0]
    >>> a, out = np.full(1, 7), np.zeros(1, int)
    >>> kernel[1, 1](cuda.In(a), cuda.Out(out)); out
    array([7])
    """


class Out(ArgHint):
    """A host array that is copied back from the device, and not to it.

    >>> @cuda.jit
    ... def kernel(out): out[0] = 7
    >>> out = np.zeros(1, int)
    >>> kernel[1, 1](cuda.Out(out)); out
    array([7])
    """


class InOut(ArgHint):
    """A host array that is copied to the device and back.

    >>> @cuda.jit
    ... def kernel(a): a[0] += 1
    >>> a = np.full(1, 7)
    >>> kernel[1, 1](cuda.InOut(a)); a
    array([8])
    """


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> ArgHint:
    """An argument with what it is copied for, which an extension's `prepare_args` may say for arrays without it."""
    return value if isinstance(value, ArgHint) else default(value)


def _in(hint: In) -> Any:
    value = hint.value
    return value._data if isinstance(value, DeviceNDArray) else np.array(value, order="A", copy=True)


def _record(record: DeviceRecord) -> Any:
    return record._data


def _device(array: DeviceNDArray) -> Any:
    array._data.dtype  # noqa: B018 - raises if it was freed
    return array._data


_NATIVE: dict[type, Any] = {
    DeviceNDArray: _device,
    DeviceRecord: _record,
    MappedNDArray: np.asarray,
    ManagedNDArray: np.asarray,
    In: _in,
    Out: lambda h: native(h.value),
    InOut: lambda h: native(h.value),
    tuple: lambda t: tuple(map(native, t)),
}

_PLAIN = frozenset((int, float, complex, bool, np.ndarray, np.float32, np.float64, np.int32, np.int64))


def native(value: Any) -> Any:
    """Converts an argument for the CPU device, whose memory is the host's: an array that would be copied there and back
    is used in place.
    """
    convert = _NATIVE.get(type(value))
    if convert is not None:
        return convert(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(native, value))
    if (
        type(value) in _PLAIN
        or not hasattr(value, "__cuda_array_interface__")
        and (isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"))
    ):
        return value
    return _device(as_cuda_array(value))


def natives(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """As `native`, of a launch's arguments: mostly there is nothing to convert."""
    if _PLAIN.issuperset(map(type, values)):
        return values
    return tuple([_device(v) if type(v) is DeviceNDArray else native(v) for v in values])
