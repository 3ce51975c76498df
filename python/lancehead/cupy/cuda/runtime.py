"""Functions of the CUDA runtime that programs call."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from lancehead.cupy import layout
from lancehead.options import public

is_hip = False
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
memoryTypeUnregistered, memoryTypeHost, memoryTypeDevice, memoryTypeManaged = range(4)
streamDefault, streamNonBlocking, streamLegacy, streamPerThread = 0, 1, 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
deviceAttributeComputeCapabilityMajor, deviceAttributeComputeCapabilityMinor = 75, 76

#: Errors of the runtime and of the driver by their numbers: the names and what they say.
_ERRORS = {
    1: ("InvalidValue", "INVALID_VALUE", "invalid argument"),
    2: ("MemoryAllocation", "OUT_OF_MEMORY", "out of memory"),
    100: ("NoDevice", "NO_DEVICE", "no CUDA-capable device is detected"),
    101: ("InvalidDevice", "INVALID_DEVICE", "invalid device ordinal"),
    301: ("FileNotFound", "FILE_NOT_FOUND", "file not found"),
    400: ("InvalidResourceHandle", "INVALID_HANDLE", "invalid resource handle"),
    500: ("SymbolNotFound", "NOT_FOUND", "named symbol not found"),
    801: ("NotSupported", "NOT_SUPPORTED", "operation not supported"),
}


def message(status: int, is_driver: bool) -> str:
    """The text of an error of the runtime or of the driver."""
    runtime, driver, text = _ERRORS.get(status, ("Unknown", "UNKNOWN", "unknown error"))
    return f"CUDA_ERROR_{driver}: {text}" if is_driver else f"cudaError{runtime}: {text}"


class CUDARuntimeError(RuntimeError):
    """An error of the runtime, with its number in `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(message(status, False))
        self.status = status

    def __reduce__(self) -> Any:
        return CUDARuntimeError, (self.status,)


def getDeviceCount() -> int:
    """Number of devices."""
    from lancehead import cuda

    return len(cuda.gpus)


def getDevice() -> int:
    """Number of the device in use."""
    return int(layout.CURRENT.number)


def check(device: int) -> None:
    """CUDARuntimeError for a device that is not there."""
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101)


def setDevice(device: int) -> None:
    """Makes a device the one in use."""
    check(device)
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

    check(device)
    found = cuda.gpus[device]
    name = found.name
    major, minor = found.compute_capability
    return {
        "name": name if isinstance(name, bytes) else str(name).encode(), "major": major, "minor": minor,
        "warpSize": 32, "maxThreadsPerBlock": 1024,
        "multiProcessorCount": int(getattr(found, "MULTIPROCESSOR_COUNT", os.cpu_count()) or 1),
        "totalGlobalMem": memGetInfo()[1], "sharedMemPerBlock": 49152, "maxGridSize": (2147483647, 65535, 65535),
        "maxThreadsDim": (1024, 1024, 64),
    }  # fmt: skip


def attributes(device: int) -> dict[int, tuple[str, int]]:
    """Attributes of a device by their numbers: names and values."""
    p = getDeviceProperties(device)
    sizes = [*p["maxThreadsDim"], *p["maxGridSize"]]
    names = [f"MaxBlockDim{x}" for x in "XYZ"] + [f"MaxGridDim{x}" for x in "XYZ"]
    return {
        1: ("MaxThreadsPerBlock", p["maxThreadsPerBlock"]), **{2 + k: v for k, v in enumerate(zip(names, sizes))},
        8: ("MaxSharedMemoryPerBlock", p["sharedMemPerBlock"]), 10: ("WarpSize", p["warpSize"]),
        16: ("MultiProcessorCount", p["multiProcessorCount"]),
        39: ("MaxThreadsPerMultiProcessor", p["maxThreadsPerBlock"]),
        75: ("ComputeCapabilityMajor", p["major"]), 76: ("ComputeCapabilityMinor", p["minor"]),
        83: ("ManagedMemory", 1), 95: ("CooperativeLaunch", 1), 115: ("MemoryPoolsSupported", 0),
    }  # fmt: skip


cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ = 1, 2, 3, 4
cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ = 5, 6, 7
cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrWarpSize, cudaDevAttrMultiProcessorCount = 8, 10, 16
cudaDevAttrMaxThreadsPerMultiProcessor, cudaDevAttrManagedMemory, cudaDevAttrCooperativeLaunch = 39, 83, 95
cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor, cudaDevAttrMemoryPoolsSupported = 75, 76, 115


def deviceGetAttribute(attribute: int, device: int) -> int:
    """A fact of a device by its number."""
    known = attributes(device)
    if attribute not in known:
        raise CUDARuntimeError(1)
    return known[attribute][1]


def _place(device: int) -> str:
    return f"0000:{device:02X}:00.0"


def deviceGetPCIBusId(device: int) -> str:
    """The place of a device in the machine."""
    check(device)
    return _place(device)


def deviceGetByPCIBusId(bus_id: str) -> int:
    """The number of the device at a place."""
    parts = bus_id.replace(".", ":").split(":")
    if len(parts) != 4 or not all(p and set(p) <= set("0123456789abcdefABCDEF") for p in parts):
        raise CUDARuntimeError(1)
    for device in range(getDeviceCount()):
        if _place(device) == bus_id.upper():
            return device
    raise CUDARuntimeError(101)


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """Whether a device reaches the memory of another one."""
    check(device)
    check(peer)
    return 0


# --- memory ----------------------------------------------------------------------------------------------------------
#: Memory and streams that are kept until programs give them back, and of which kind the memory is.
_KEPT: dict[int, tuple[int, Any]] = {}
_STREAMS: dict[int, Any] = {}


def _kept(size: int, kind: int) -> int:
    from lancehead.cupy.cuda.memory import Memory
    from lancehead.cupy.cuda.pinned_memory import PinnedMemory

    made: Any = PinnedMemory(size) if kind == memoryTypeHost else Memory(size)
    _KEPT[made.ptr] = kind, made
    return int(made.ptr)


def malloc(size: int) -> int:
    """Memory of the device, which is kept until `free`."""
    return _kept(size, memoryTypeDevice)


def mallocManaged(size: int, flags: int = 1) -> int:
    """Memory that the host and devices reach, which is kept until `free`."""
    return _kept(size, memoryTypeManaged)


def hostAlloc(size: int, flags: int = 0) -> int:
    """Memory of the host, which is kept until `freeHost`."""
    return _kept(size, memoryTypeHost)


def free(ptr: int) -> None:
    """Gives memory back."""
    if ptr and _KEPT.pop(int(ptr), None) is None:
        raise CUDARuntimeError(1)


def freeHost(ptr: int) -> None:
    """Gives memory of the host back."""
    free(ptr)


class PointerAttributes(NamedTuple):
    """Facts of an address: the device, the address there and on the host, the kind of memory."""

    device: int
    devicePointer: int
    hostPointer: int
    type: int


def pointerGetAttributes(ptr: int) -> PointerAttributes:
    """Facts of an address. Those of arrays are of memory of the device."""
    kind = _KEPT.get(int(ptr), (memoryTypeDevice, None))[0]
    on_host = int(ptr) if kind != memoryTypeDevice else 0
    return PointerAttributes(getDevice(), int(ptr), on_host, kind)


def pointerGetMemoryType(ptr: int) -> int:
    """The kind of memory that an address is of."""
    return pointerGetAttributes(ptr).type


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copies bytes."""
    from lancehead.cupy.cuda.memory import move

    move(int(dst), int(src), size)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """Copies bytes, at once: that is an order which a stream allows."""
    memcpy(dst, src, size, kind)


def memset(ptr: int, value: int, size: int) -> None:
    """Sets bytes to a value."""
    from lancehead.cupy.cuda.memory import fill

    fill(int(ptr), value, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:
    """Sets bytes to a value, at once."""
    memset(ptr, value, size)


# --- streams ---------------------------------------------------------------------------------------------------------
def streamCreate() -> int:
    """A new stream, which is kept until `streamDestroy`."""
    from lancehead import cuda

    made = cuda.stream()
    _STREAMS[int(made)] = made
    return int(made)


def streamCreateWithFlags(flags: int) -> int:
    """A new stream."""
    return streamCreate()


def streamDestroy(stream: int) -> None:
    """Gives a stream back."""
    if _STREAMS.pop(stream, None) is None:
        raise CUDARuntimeError(400)


def streamSynchronize(stream: int) -> None:
    """Waits for a stream."""
    deviceSynchronize()


def profilerStart() -> None:
    """Begins a profile."""


def profilerStop() -> None:
    """Ends a profile."""


def __dir__() -> list[str]:
    return [
        name
        for name in globals()
        if name[0] != "_" and name not in ("Any", "NamedTuple", "annotations", "layout", "os", "public")
    ]


public(globals())
