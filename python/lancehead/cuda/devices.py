"""Devices: what there is, and which is used."""

from __future__ import annotations

import functools
import os
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from lancehead import _core
from lancehead.cuda.errors import UnsupportedError
from lancehead.cuda.gpu import CPU_INSTEAD, count, current_gpu, extent_of, here, opened, reached, use
from lancehead.cuda.memory import Deallocations, HostMemory, MemoryManager, MemoryPointer, allocate
from lancehead.cuda.streams import Event, Stream, event, external_stream, stream
from lancehead.options import near_keywords, near_members


class MemoryInfo(NamedTuple):
    """Bytes of device memory."""

    free: int
    total: int


@near_members
class Device:
    """A device. The CPU has the limits of compute capability 9.0."""

    compute_capability = (9, 0)
    MAX_THREADS_PER_BLOCK = 1024
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = 1024, 1024, 64
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = 2147483647, 65535, 65535
    MAX_SHARED_MEMORY_PER_BLOCK, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 49152, 232448
    WARP_SIZE, MAX_REGISTERS_PER_BLOCK, MAX_THREADS_PER_MULTI_PROCESSOR = 32, 65536, 2048
    COOPERATIVE_LAUNCH, UNIFIED_ADDRESSING, CAN_MAP_HOST_MEMORY, MANAGED_MEMORY = 1, 1, 1, 1
    COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = compute_capability
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, MAX_REGISTERS_PER_MULTIPROCESSOR, MAX_BLOCKS_PER_MULTIPROCESSOR = (
        233472,
        65536,
        32,
    )
    RESERVED_SHARED_MEMORY_PER_BLOCK, MEMORY_POOLS_SUPPORTED, STREAM_PRIORITIES_SUPPORTED, INTEGRATED = 0, 0, 0, 1
    PAGEABLE_MEMORY_ACCESS, CONCURRENT_MANAGED_ACCESS, HOST_NATIVE_ATOMIC_SUPPORTED, ECC_ENABLED = 1, 1, 1, 0
    KERNEL_EXEC_TIMEOUT, COMPUTE_MODE, GPU_OVERLAP, TCC_DRIVER, MULTI_GPU_BOARD = 0, 0, 1, 0, 0
    PCI_DOMAIN_ID, PCI_BUS_ID, PCI_DEVICE_ID, MAX_PITCH, TEXTURE_ALIGNMENT, L2_CACHE_SIZE = (
        0,
        0,
        0,
        2147483647,
        512,
        1 << 20,
    )
    CLOCK_RATE, MEMORY_CLOCK_RATE, GLOBAL_MEMORY_BUS_WIDTH = 1000000, 1000000, 64
    TOTAL_CONSTANT_MEMORY, ASYNC_ENGINE_COUNT, CONCURRENT_KERNELS = 65536, 1, 1
    supports_float16, supports_bfloat16 = True, True

    def __init__(self, number: int) -> None:
        self.id = number
        self.name = b"CPU"
        self.MULTIPROCESSOR_COUNT = os.cpu_count() or 1
        self.uuid = f"GPU-00000000-0000-0000-0000-{number:012d}"

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name!r}'>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def get_primary_context(self) -> Context:
        """The context of the device."""
        return context_of(self)

    def reset(self) -> None:
        """Frees all that was made on the device."""
        self.get_primary_context().reset()


# Attributes by CUDA's numbers.
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1, "MAX_BLOCK_DIM_X": 2, "MAX_BLOCK_DIM_Y": 3, "MAX_BLOCK_DIM_Z": 4, "MAX_GRID_DIM_X": 5,
    "MAX_GRID_DIM_Y": 6,
    "MAX_GRID_DIM_Z": 7, "MAX_SHARED_MEMORY_PER_BLOCK": 8, "TOTAL_CONSTANT_MEMORY": 9, "WARP_SIZE": 10, "MAX_PITCH": 11,
    "MAX_REGISTERS_PER_BLOCK": 12, "CLOCK_RATE": 13, "TEXTURE_ALIGNMENT": 14, "GPU_OVERLAP": 15,
    "MULTIPROCESSOR_COUNT": 16,
    "KERNEL_EXEC_TIMEOUT": 17, "INTEGRATED": 18, "CAN_MAP_HOST_MEMORY": 19, "COMPUTE_MODE": 20,
    "CONCURRENT_KERNELS": 31, "ECC_ENABLED": 32,
    "PCI_BUS_ID": 33, "PCI_DEVICE_ID": 34, "TCC_DRIVER": 35, "MEMORY_CLOCK_RATE": 36, "GLOBAL_MEMORY_BUS_WIDTH": 37,
    "L2_CACHE_SIZE": 38,
    "MAX_THREADS_PER_MULTI_PROCESSOR": 39, "ASYNC_ENGINE_COUNT": 40, "UNIFIED_ADDRESSING": 41, "PCI_DOMAIN_ID": 50,
    "COMPUTE_CAPABILITY_MAJOR": 75, "COMPUTE_CAPABILITY_MINOR": 76, "STREAM_PRIORITIES_SUPPORTED": 78,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 81, "MAX_REGISTERS_PER_MULTIPROCESSOR": 82, "MANAGED_MEMORY": 83,
    "MULTI_GPU_BOARD": 84,
    "HOST_NATIVE_ATOMIC_SUPPORTED": 86, "PAGEABLE_MEMORY_ACCESS": 88, "CONCURRENT_MANAGED_ACCESS": 89,
    "COOPERATIVE_LAUNCH": 95,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97, "MAX_BLOCKS_PER_MULTIPROCESSOR": 106,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": 111,
    "MEMORY_POOLS_SUPPORTED": 115,
}  # fmt: skip


class Context:
    """Where memory of a device lives."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.gpu: _core.Gpu | None = getattr(device, "gpu", None)
        self.memory_manager = MemoryManager(self.get_memory_info().total)
        self.arrays: weakref.WeakSet[Any] = weakref.WeakSet()
        #: Loaded modules of linked code, which call the teardown callbacks when they are unloaded.
        self.loaded: list[Any] = []

    @property
    def deallocations(self) -> Deallocations:
        """Freed memory that may still be in use."""
        return self.memory_manager.deallocations

    def memalloc(self, bytesize: int) -> MemoryPointer:
        """Memory of the device."""
        if self.gpu is not None:
            raise UnsupportedError(f"memory of a GPU is made by cuda.device_array; {CPU_INSTEAD}")
        made = allocate(bytesize, np.dtype(np.uint8), deallocations=self.deallocations)
        return MemoryPointer(self, made.ctypes.data, bytesize, kept=made)

    def memhostalloc(self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> HostMemory:
        """Memory of the host that can be copied fast, or that the device can use."""
        return np.empty(bytesize, np.uint8).view(HostMemory)

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> HostMemory:
        """Memory that both the host and the device use."""
        return np.empty(bytesize, np.uint8).view(HostMemory)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> MemoryPointer:
        """Memory of the host, which the CPU device uses as it is."""
        if self.gpu is not None:
            raise UnsupportedError(f"memory that a GPU reaches is made by cuda.mapped_array; {CPU_INSTEAD}")
        return MemoryPointer(self, pointer, size, kept=owner)

    def get_ipc_handle(self, memory: Any) -> Any:
        """Refused, as an array's own."""
        return memory.get_ipc_handle()

    def create_stream(self) -> Stream:
        """A new stream."""
        return stream()

    def create_external_stream(self, ptr: int) -> Stream:
        """A stream made by another library."""
        return external_stream(ptr)

    def create_event(self, timing: bool = True) -> Event:
        """A new event."""
        return event(timing)

    def get_memory_info(self) -> MemoryInfo:
        """Free and total bytes of memory."""
        if self.gpu is not None:
            return MemoryInfo(*self.gpu.memory())
        page = os.sysconf("SC_PAGE_SIZE")
        return MemoryInfo(os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page)

    def synchronize(self) -> None:
        """Waits for all that was started.

        Raises:
            CudaAPIError: something that was started has gone wrong.
        """
        if self.gpu is not None:
            self.gpu.wait()

    def reset(self) -> None:
        """Frees the arrays that were made: what uses them after that raises CudaAPIError."""
        for array in list(self.arrays):
            array._free()
        self.arrays.clear()
        while self.loaded:
            self.loaded.pop()()
        self.deallocations.clear()

    def can_access_peer(self, peer_context: int | Context | Device) -> bool:
        """Whether kernels can use the memory of another device, once that is enabled: that of all CPU devices is
        one."""
        return self.gpu is None or self.gpu.can_reach(_peer(peer_context))

    def enable_peer_access(self, peer_context: int | Context | Device, flags: int = 0) -> None:
        """Lets kernels use the memory of another device."""
        if self.gpu is not None:
            other = _peer(peer_context)
            self.gpu.reach(other)
            reached.add((self.gpu, other))

    def push(self) -> None:
        """Makes it the current context."""
        here.before += (here.number,)
        use(self.device.id)

    def pop(self) -> None:
        """Goes back to the one before."""
        *before, last = here.before
        here.before = tuple(before)
        use(last)

    def __enter__(self) -> Context:
        self.push()
        return self

    def __exit__(self, *exc: object) -> None:
        self.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)


class _Managed(Device):
    """A device of the list, which `with` makes the current one."""

    gpu: _core.Gpu | None = None

    def __enter__(self) -> _Managed:
        context_of(self).push()
        return self

    def __exit__(self, *exc: object) -> None:
        context_of(self).pop()


class _ManagedGpu(_Managed):
    """A GPU of the list; the driver reports its name and attributes."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.gpu = opened(number)
        self.name = self.gpu.name.encode()
        self.compute_capability = self.gpu.capability
        self.uuid = f"GPU-{uuid.UUID(bytes=bytes(self.gpu.uuid))}"
        for name, attribute in _ATTRIBUTES.items():
            setattr(self, name, self.gpu.attribute(attribute))
        # Both are in every GPU that is supported, in software before 8.0.
        self.supports_float16 = self.supports_bfloat16 = True

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} {self.name!r}>"


def _peer(device: int | Context | Device) -> _core.Gpu:
    return opened(
        device.device.id if isinstance(device, Context) else device.id if isinstance(device, Device) else device
    )


_contexts: dict[Device, Context] = {}


def context_of(device: Device) -> Context:
    """The context of a device."""
    if device not in _contexts:
        _contexts[device] = Context(device)
    return _contexts[device]


_number = os.environ.get("LANCEHEAD_CPU_DEVICES", "").strip() or "1"
if not (_number.isdecimal() and int(_number) > 0):
    raise ValueError(f"LANCEHEAD_CPU_DEVICES={_number}: the number of devices is an integer above 0")
_count = int(_number)


class DeviceList:
    """The devices."""

    @functools.cached_property
    def lst(self) -> list[_Managed]:
        """The GPUs; without one, CPU devices."""
        return [_ManagedGpu(i) for i in range(count())] or [_Managed(i) for i in range(_count)]

    def __len__(self) -> int:
        return len(self.lst)

    def __getitem__(self, i: int) -> _Managed:
        return self.lst[i]

    def __iter__(self) -> Iterator[_Managed]:
        return iter(self.lst)

    def __repr__(self) -> str:
        return "<Managed Device " + ", ".join(str(d.id) for d in self.lst) + ">"

    @property
    def current(self) -> _Managed:
        """The device in use."""
        return self.lst[here.number]


gpus = DeviceList()


def list_devices() -> DeviceList:
    """All devices.

    >>> [device.id for device in cuda.list_devices()]
    [0]
    """
    return gpus


def get_current_device() -> Device:
    """The device in use.

    >>> cuda.get_current_device().id
    0
    """
    return gpus.current


def select_device(device_id: int) -> Context:
    """Makes a device the one in use.

    >>> cuda.select_device(0).device.id
    0
    """
    if not 0 <= device_id < len(gpus):
        raise IndexError(f"there is no device {device_id}: there are {len(gpus)}")
    use(device_id)
    return context_of(gpus[device_id])


def current_context(devnum: int | None = None) -> Context:
    """The context of the device in use, or of another.

    >>> free, total = cuda.current_context().get_memory_info()
    >>> 0 < free <= total
    True
    """
    return context_of(gpus.current if devnum is None else gpus[devnum])


def require_context(function: Any) -> Any:
    """Nothing: a device is always there.

    >>> @cuda.require_context
    ... def work():
    ...     return cuda.to_device(np.arange(3)).size
    >>> work()
    3
    """
    return function


def close() -> None:
    """Frees all that was made on the devices; what uses an array after that raises CudaAPIError.

    >>> there = cuda.to_device(np.arange(3))
    >>> cuda.close()
    >>> try:
    ...     there.copy_to_host()
    ... except cuda.errors.CudaAPIError as error:
    ...     print("the memory was freed" in str(error))
    True
    """
    for context in _contexts.values():
        context.reset()


def synchronize() -> None:
    """Waits for all that was started.

    >>> @cuda.jit
    ... def kernel(a): a[cuda.grid(1)] += 1
    >>> there = cuda.to_device(np.zeros(3))
    >>> kernel[1, 3](there)
    >>> cuda.synchronize()
    """
    current_context().synchronize()


def is_available() -> bool:
    """Whether kernels can run: always, on the CPU if nowhere else.

    >>> cuda.is_available()
    True

    Raises:
        CudaSupportError: `LANCEHEAD_CUDA_DEVICE=gpu`, and there is no GPU.
    """
    return len(gpus) > 0


def cuda_error() -> None:
    """Why devices cannot be used: they can.

    >>> cuda.cuda_error() is None
    True
    """
    return None


def is_float16_supported() -> bool:
    """Whether kernels can work with `float16`.

    >>> cuda.is_float16_supported()
    True
    """
    return gpus.current.supports_float16


def is_bfloat16_supported() -> bool:
    """Whether kernels can work with `bfloat16`.

    >>> cuda.is_bfloat16_supported()
    True
    """
    return gpus.current.supports_bfloat16


def is_supported_version() -> bool:
    """Whether the version of CUDA will do.

    >>> cuda.is_supported_version()
    True
    """
    return True


def detect() -> bool:
    """Writes what devices there are.

    >>> found = cuda.detect()  # doctest: +ELLIPSIS
    Found 1 CUDA devices
    ...
    """
    print(f"Found {len(gpus)} CUDA devices")
    for d in gpus:
        print(f"id {d.id}    {d.name.decode():>20}                              [SUPPORTED]")
        print(f"                      Compute Capability: {d.compute_capability[0]}.{d.compute_capability[1]}")
    print("Summary:")
    print(f"\t{len(gpus)}/{len(gpus)} devices are supported")
    return True


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Memory is freed after the block at the earliest.

    >>> with cuda.defer_cleanup():
    ...     there = cuda.to_device(np.arange(3))
    ...     del there
    """
    context = current_context()
    gpu = context.gpu
    if gpu is not None:
        gpu.defer()
    try:
        with context.memory_manager.defer_cleanup():
            yield
    finally:
        if gpu is not None:
            gpu.free_deferred()


@contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """Host arrays can be copied to and from a GPU fast in the block.

    >>> a = np.arange(3)
    >>> with cuda.pinned(a):
    ...     there = cuda.to_device(a)
    """
    gpu, held = current_gpu(), []
    try:
        for low, high in map(extent_of, [a for a in arrays if a.size]):
            if gpu is None:
                break
            gpu.pin(low, high - low, True)
            held.append((low, high - low))
        yield
    finally:
        if gpu is not None and held:
            # Copies that were started may still read them.
            gpu.wait()
            for at, size in held:
                gpu.pin(at, size, False)


def profile_start() -> None:
    """Has profilers of a GPU begin to look; they see the CPU device as any native code.

    >>> cuda.profile_start()
    >>> cuda.profile_stop()
    """
    if (gpu := current_gpu()) is not None:
        gpu.profile(True)


def profile_stop() -> None:
    """Ends `profile_start`.

    >>> cuda.profile_start()
    >>> cuda.profile_stop()
    """
    if (gpu := current_gpu()) is not None:
        gpu.profile(False)


@contextmanager
def profiling() -> Iterator[None]:
    """Has profilers of a GPU look during the block.

    >>> with cuda.profiling():
    ...     there = cuda.to_device(np.arange(3))
    """
    profile_start()
    try:
        yield
    finally:
        profile_stop()


near_keywords(globals())
