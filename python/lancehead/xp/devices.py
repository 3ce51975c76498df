"""Devices of arrays: `cpu`, and the devices of [`lancehead.cuda`][]: `cuda:0` and so on.

Without a GPU, lancehead's CPU device stands in for `cuda:0`. The value of an array on such a device is a device array
of `lancehead.cuda`, in row-major order.
"""

from __future__ import annotations

import functools
import os
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from lancehead.options import suggestion


class Device:
    """Where arrays are: `cpu` or `cuda:0`, `cuda:1` and so on. It equals its name."""

    __slots__ = ("name", "number")

    def __init__(self, name: str, number: int | None = None) -> None:
        self.name = name
        #: The number among the devices of `lancehead.cuda`; None for the host.
        self.number = number

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return str(other) == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        # There is one object for each device.
        return _named, (self.name,)


CPU = Device("cpu")
_CUDA: dict[int, Device] = {}

#: The device of arrays that are made without one; None until it is asked for.
_default: Device | None = None

#: Devices other than the host that programs have named.
IN_USE: set[Device] = set()


class _Memory(Protocol):
    """The module `device_memory`."""

    def count(self) -> int: ...
    def is_real(self) -> bool: ...
    def current(self, number: int | None) -> AbstractContextManager[object]: ...
    def uploaded(self, value: Any, number: int | None) -> Any: ...
    def over(self, value: np.ndarray, number: int | None) -> Any: ...
    def shared(self, owner: object) -> tuple[Any, int]: ...
    def imported(self, owner: Any) -> Any: ...


@functools.cache
def _memory() -> _Memory:
    # CUDA takes as long to import as all of this package, and few programs have arrays on devices.
    from lancehead.xp import device_memory

    return device_memory


def _cuda(number: int) -> Device:
    return _CUDA.setdefault(number, Device(f"cuda:{number}", number))


def devices() -> list[Device]:
    """All devices."""
    return [CPU, *(_cuda(i) for i in range(_memory().count()))]


def default_device() -> Device:
    """The device of arrays that are made without one: that of `LANCEHEAD_XP_DEVICE`, else `cpu`."""
    global _default
    if _default is None:
        _default = _named(os.environ.get("LANCEHEAD_XP_DEVICE") or "cpu")
    return _default


def _named(device: Any) -> Device:
    name = str(device)
    if name == "cpu":
        return CPU
    found = _cuda(0) if name == "cuda" else None
    if name.startswith("cuda:") and name[5:].isdecimal():
        found = _cuda(int(name[5:]))
    here = devices() if found is not None else [CPU]
    if found is None or found not in here:
        known = ", ".join(f"'{d}'" for d in devices())
        near = suggestion(name, map(str, devices()))
        raise ValueError(f"there is no device {name!r}; arrays are on {known}{near}")
    IN_USE.add(found)
    return found


def as_device(device: Any) -> Device:
    """The device that an argument names, the default one for None; ValueError for one that is not here."""
    if device is None:
        return _default or default_device()
    return device if device is CPU else _named(device)


def mixed(one: Device, other: Device) -> ValueError:
    """The error for operands on two devices."""
    return ValueError(
        f"the operands are on the devices {str(one)!r} and {str(other)!r}; x.to_device({str(one)!r}) copies an array "
        "to one of them"
    )


def on_device(*given: Any) -> bool:
    """Whether an array or a node is on a device that is not the host."""
    for x in given:
        device = x.device
        if device is not None and device.number is not None:
            return True
    return False


def by_kernels(*given: Any) -> bool:
    """Whether an array or a node is on a device that computes by kernels."""
    for x in given:
        device = x.device
        if device is not None and device.number is not None and has_kernels(device):
            return True
    return False


def is_gpu(device: Device | None) -> bool:
    """Whether a device is a real GPU, whose memory the host does not reach."""
    if device is None or device.number is None:
        return False
    return _memory().is_real()


#: Whether the CPU device computes by the kernels of GPUs: `LANCEHEAD_XP_KERNELS=1`, for tests of these.
KERNELS = os.environ.get("LANCEHEAD_XP_KERNELS") == "1"


def has_kernels(device: Device | None) -> bool:
    """Whether a device computes by kernels, as GPUs do. The CPU device has the host's memory and its functions."""
    return device is not None and device.number is not None and (KERNELS or is_gpu(device))


def current(device: Device) -> Any:
    """A context in which a device is the one in use."""
    return _memory().current(device.number)


def uploaded(value: Any, device: Device) -> Any:
    """A copy of an array of NumPy, or of another device, in a device's memory."""
    return _memory().uploaded(value, device.number)


def over(value: np.ndarray, device: Device) -> Any:
    """An array of a CPU device over memory of the host, in row-major order."""
    return _memory().over(value, device.number)


def shared(owner: object) -> tuple[Any, Device]:
    """The device array of the memory of what has `__cuda_array_interface__`, and its device."""
    found, number = _memory().shared(owner)
    return found, as_device(f"cuda:{number}")


def imported(owner: Any) -> Any:
    """The device array of the memory of a device's array with `__dlpack__`."""
    return _memory().imported(owner)


def fetched(value: Any) -> np.ndarray:
    """The value of a node as an array of NumPy, of a device array a copy."""
    if hasattr(value, "copy_to_host"):
        found: np.ndarray = value.copy_to_host()
        return found
    return np.asarray(value)


def over_host(value: Any) -> Any:
    """The memory of a CPU device's array as an array of NumPy; other values themselves."""
    return value._data if hasattr(value, "copy_to_host") else value


__all__ = [
    "CPU", "Device", "as_device", "by_kernels", "current", "default_device", "devices", "fetched", "has_kernels",
    "imported", "is_gpu", "mixed", "on_device", "over", "over_host", "shared", "uploaded",
]  # fmt: skip
