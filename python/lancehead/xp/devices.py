"""Devices of arrays: `cpu`, and the devices of [`lancehead.cuda`][]: `cuda:0` and so on.

Without a GPU, lancehead's CPU device stands in for `cuda:0`. The value of an array on such a device is a device array
of `lancehead.cuda`, in row-major order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

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
_default: list[Device] = []


#: Devices other than the host that programs have named.
IN_USE: set[Device] = set()
#: Called before the first of them is used, to load what computes there.
BEFORE_USE: list[Callable[[], None]] = []


def _cuda(number: int) -> Device:
    return _CUDA.setdefault(number, Device(f"cuda:{number}", number))


def devices() -> list[Device]:
    """All devices."""
    from lancehead import cuda

    return [CPU, *(_cuda(i) for i in range(len(cuda.gpus)))]


def default_device() -> Device:
    """The device of arrays that are made without one: that of `LANCEHEAD_XP_DEVICE`, else `cpu`."""
    if not _default:
        _default.append(_named(os.environ.get("LANCEHEAD_XP_DEVICE") or "cpu"))
    return _default[0]


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
    if not IN_USE:
        for load in BEFORE_USE:
            load()
    IN_USE.add(found)
    return found


def as_device(device: Any) -> Device:
    """The device that an argument names, the default one for None; ValueError for one that is not here."""
    if device is None:
        return _default[0] if _default else default_device()
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
    from lancehead.cuda.gpu import current_gpu

    return current_gpu() is not None


#: Whether the CPU device computes by the kernels of GPUs: `LANCEHEAD_XP_KERNELS=1`, for tests of these.
KERNELS = [os.environ.get("LANCEHEAD_XP_KERNELS") == "1"]


def has_kernels(device: Device | None) -> bool:
    """Whether a device computes by kernels, as GPUs do. The CPU device has the host's memory and its functions."""
    return device is not None and device.number is not None and (KERNELS[0] or is_gpu(device))


def current(device: Device) -> Any:
    """A context in which a device is the one in use."""
    from lancehead import cuda

    return nullcontext() if len(cuda.gpus) == 1 or device.number is None else cuda.gpus[device.number]


def uploaded(value: Any, device: Device) -> Any:
    """A copy of an array of NumPy, or of another device, in a device's memory."""
    from lancehead import cuda

    if not isinstance(value, (np.ndarray, cuda.DeviceNDArray)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        value = np.ascontiguousarray(value).reshape(value.shape)
    with current(device):
        return cuda.to_device(value)


def over(value: np.ndarray, device: Device) -> Any:
    """An array of a CPU device over memory of the host, in row-major order."""
    from lancehead import cuda

    with current(device):
        return cuda.DeviceNDArray(value)


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
    "is_gpu", "mixed", "on_device", "over", "over_host", "uploaded",
]  # fmt: skip
