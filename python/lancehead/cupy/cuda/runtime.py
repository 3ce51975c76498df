"""Functions of the CUDA runtime that programs call."""

from __future__ import annotations

import os
from typing import Any

from lancehead.cupy import layout

is_hip = False
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
streamDefault, streamNonBlocking, streamLegacy, streamPerThread = 0, 1, 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
deviceAttributeComputeCapabilityMajor, deviceAttributeComputeCapabilityMinor = 75, 76


class CUDARuntimeError(RuntimeError):
    """An error of the runtime, with its number in `status`."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text or f"cudaError {status}")
        self.status = status


def getDeviceCount() -> int:
    """Number of devices."""
    from lancehead import cuda

    return len(cuda.gpus)


def getDevice() -> int:
    """Number of the device in use."""
    return int(layout.CURRENT.number)


def setDevice(device: int) -> None:
    """Makes a device the one in use."""
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")
    layout.CURRENT.number = device


def deviceSynchronize() -> None:
    """Waits for all work of the device."""
    from lancehead import cuda

    cuda.synchronize()


def runtimeGetVersion() -> int:
    """The version of CUDA, as a number such as 12040."""
    from lancehead import cuda

    major, minor = cuda.runtime.get_version()
    return int(major * 1000 + minor * 10)


def driverGetVersion() -> int:
    """The version of CUDA that the driver serves."""
    return runtimeGetVersion()


def memGetInfo() -> tuple[int, int]:
    """Free bytes and bytes of the device in use."""
    from lancehead import cuda

    found = cuda.current_context().get_memory_info()
    return int(found[0]), int(found[1])


def getDeviceProperties(device: int = 0) -> dict[str, Any]:
    """Facts of a device by their names."""
    from lancehead import cuda

    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")
    found = cuda.gpus[device]
    name = found.name
    major, minor = found.compute_capability
    return {
        "name": name if isinstance(name, bytes) else str(name).encode(), "major": major, "minor": minor,
        "warpSize": 32, "maxThreadsPerBlock": 1024,
        "multiProcessorCount": getattr(found, "MULTIPROCESSOR_COUNT", os.cpu_count()),
        "totalGlobalMem": memGetInfo()[1], "sharedMemPerBlock": 49152, "maxGridSize": (2147483647, 65535, 65535),
        "maxThreadsDim": (1024, 1024, 64),
    }  # fmt: skip


def deviceGetAttribute(attribute: int, device: int) -> int:
    """A fact of a device by its number."""
    from lancehead import cuda

    major, minor = cuda.gpus[device].compute_capability
    known = {75: major, 76: minor, 1: 1024, 10: 32, 16: os.cpu_count() or 1, 8: 49152}
    if attribute not in known:
        raise CUDARuntimeError(1, f"cudaErrorInvalidValue: attribute {attribute} is not known")
    return int(known[attribute])


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """Whether a device reaches the memory of another one."""
    return 0


def malloc(size: int) -> int:
    """Memory of the device, which is kept until `free`."""
    from lancehead.cupy.cuda.memory import Memory

    made = Memory(size)
    _KEPT[made.ptr] = made
    return int(made.ptr)


def free(ptr: int) -> None:
    """Gives memory back."""
    _KEPT.pop(int(ptr), None)


_KEPT: dict[int, Any] = {}


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copies bytes."""
    from lancehead.cupy.cuda.memory import _move

    _move(int(dst), int(src), size)


def memset(ptr: int, value: int, size: int) -> None:
    """Sets bytes to a value."""
    import ctypes

    from lancehead.cupy.cuda.memory import _own

    _own(size)
    ctypes.memset(int(ptr), value, size)


def streamSynchronize(stream: int) -> None:
    """Waits for a stream."""
    deviceSynchronize()


def profilerStart() -> None:
    """Begins a profile."""


def profilerStop() -> None:
    """Ends a profile."""
