"""Launches on a GPU with arguments that are not there yet: host arrays are copied there and back, texts there.

The dispatcher decides which arguments a kernel accepts and for which types it is compiled, as for the CPU device.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lancehead import _core
from lancehead.cuda import dlpack
from lancehead.cuda.args import ArgHint, In, Out
from lancehead.cuda.devicearray import (
    DeviceNDArray,
    DeviceRecord,
    GpuNDArray,
    MappedNDArray,
    as_cuda_array,
    is_shared,
)
from lancehead.cuda.errors import CudaAPIError, UnsupportedError
from lancehead.cuda.gpu import address_of, dense, extent_of, place, reached
from lancehead.cuda.memory import Foreign


def launch_on(gpu: _core.Gpu, launch: _core.Launch, stream: _core.GpuStream | None, args: tuple[Any, ...]) -> None:
    """Runs a kernel on a GPU. Without host arrays among the arguments it is only started.

    Raises:
        TypeError: the arguments are of other types than the kernel takes.
        CudaAPIError: the launch is refused, or something that was started before has gone wrong.
        UnsupportedError: an argument cannot be on a GPU.
    """
    copies = _Copies(gpu, stream)
    for a in args:
        _each_host_array(a, copies.note)
    copies.put()
    there = tuple(_on_gpu(a, copies) for a in args)
    for peer in copies.peers:
        _order(peer, None, gpu, stream)
    try:
        launch.run(there, copies.addresses, copies.texts)
    except Exception as error:
        # An exception of one thread leaves the results of the others, which are copied back.
        if hasattr(error, "thread"):
            copies.back()
        raise
    # Its memory may be read and freed there next.
    for peer in copies.peers:
        _order(gpu, stream, peer, None)
    copies.back()


def _order(first: _core.Gpu, done: _core.GpuStream | None, then: _core.Gpu, waiting: _core.GpuStream | None) -> None:
    """Makes a stream of a GPU wait for one of another."""
    event = first.event(False)
    event.record(done or first.stream(0))
    event.hold(waiting or then.stream(0))


def check_raised(
    gpu: _core.Gpu,
    stream: _core.GpuStream | None,
    address: int,
    barrier: int | None,
    sites: list[tuple[str, str, str, str, int]],
) -> None:
    """Waits, raises the exception that a thread has noted, and clears the note and the counter of the grid's
    barrier."""
    if stream is not None:
        stream.wait()
    note = np.zeros(8, np.int32)
    gpu.read(address, note.view(np.uint8))
    if not note[0]:
        return
    gpu.write(address, np.zeros(32, np.uint8))
    if barrier is not None:
        gpu.write(barrier, np.zeros(4, np.uint8))
    name, text, function, file, line = sites[note[1]]
    error: Any = getattr(builtins, name, Exception)(*([text] if text else []))
    error.block, error.thread = tuple(note[2:5].tolist()), tuple(note[5:8].tolist())
    error.add_note(f'File "{file}", line {line}, in {function}')
    raise placed(error)


def placed(error: Exception) -> Exception:
    """An exception of a thread, with the thread in its text."""
    thread, block = getattr(error, "thread", None), getattr(error, "block", None)
    if thread is not None and block is not None:
        where = f"tid={list(thread)} ctaid={list(block)}"
        error.args = (f"{where}: {error.args[0]}", *error.args[1:]) if error.args else (where,)
    return error


class _Host(NamedTuple):
    array: np.ndarray
    goes_in: bool
    comes_back: bool


class _Region:
    """Memory of the host that arrays of a launch share, and its copy on the GPU."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.arrays: list[_Host] = []
        self.memory: Any = None


class _Copies:
    """Host arrays of a launch. Those that overlap do so on the GPU as well."""

    def __init__(self, gpu: _core.Gpu, stream: _core.GpuStream | None) -> None:
        self.gpu, self.stream = gpu, stream
        self.regions: list[_Region] = []
        self.addresses: set[int] = set()
        self.texts: dict[str, int] = {}
        self.peers: set[_core.Gpu] = set()
        self._memory: list[_core.GpuMemory] = []

    def put_text(self, text: str) -> None:
        """Copies a text to the GPU."""
        # The printing code on the GPU reads up to a zero byte.
        data = np.frombuffer(text.encode("utf-8", "surrogatepass") + b"\0", np.uint8)
        memory = self.gpu.allocate(data.size)
        self.gpu.write(memory.address, data, self.stream)
        self._memory.append(memory)
        self.texts[text] = memory.address
        self.addresses.add(memory.address)

    def note(self, array: np.ndarray, hint: type | None) -> None:
        """Adds an array."""
        if not array.size:
            return
        region = _Region(*extent_of(array))
        region.arrays.append(_Host(array, hint is not Out, hint is not In and array.flags.writeable))
        for other in [r for r in self.regions if r.low < region.high and region.low < r.high]:
            region.low, region.high = min(region.low, other.low), max(region.high, other.high)
            region.arrays[:0] = other.arrays
            self.regions.remove(other)
        self.regions.append(region)

    def put(self) -> None:
        """Copies the arrays to the GPU."""
        for region in self.regions:
            region.memory = self.gpu.allocate(region.high - region.low)
            into = [h.array for h in region.arrays if h.goes_in]
            # Between the elements of the arrays is memory that nobody reads there.
            raw = dense(into[0]) if len(region.arrays) == 1 and into else None
            if raw is None and into:
                raw = np.zeros(region.high - region.low, np.uint8)
                for a in into:
                    _part(raw, a, region.low)[...] = a
            if raw is not None:
                self.gpu.write(region.memory.address, raw, self.stream)

    def there(self, array: np.ndarray) -> np.ndarray:
        """The descriptor of an array's copy on the GPU."""
        if not array.size:
            made = np.empty(array.shape, array.dtype)
            made.flags.writeable = array.flags.writeable
            return made
        low, high = extent_of(array)
        region = next(r for r in self.regions if r.low <= low and high <= r.high)
        made = place(region.memory, array.shape, array.dtype, array.strides, "C", address_of(array) - region.low)
        made.flags.writeable = array.flags.writeable
        return made

    def back(self) -> None:
        """Copies the arrays back from the GPU, which waits for it."""
        if self.regions and self.stream is not None:
            self.stream.wait()
        for region in self.regions:
            back = [h.array for h in region.arrays if h.comes_back]
            if not back:
                continue
            raw = dense(back[0]) if len(back) == 1 and extent_of(back[0]) == (region.low, region.high) else None
            if raw is not None:
                self.gpu.read(region.memory.address, raw)
                continue
            raw = np.empty(region.high - region.low, np.uint8)
            self.gpu.read(region.memory.address, raw)
            for a in back:
                a[...] = _part(raw, a, region.low)


def _part(raw: np.ndarray, like: np.ndarray, low: int) -> np.ndarray:
    return np.ndarray(like.shape, like.dtype, raw, address_of(like) - low, like.strides)


def _each_host_array(value: Any, note: Callable[[np.ndarray, type | None], None], hint: type | None = None) -> None:
    """Names the host arrays in an argument."""
    if isinstance(value, ArgHint):
        _each_host_array(value.value, note, type(value))
    elif isinstance(value, tuple):
        for v in value:
            _each_host_array(v, note, hint)
    elif (array := _host_array(value)) is not None:
        note(array, hint)


def _host_array(value: Any) -> np.ndarray | None:
    """The array of the host that an argument is."""
    if isinstance(value, np.ndarray):
        return None if isinstance(value, MappedNDArray) and is_shared(value) else np.asarray(value)
    if isinstance(value, np.void):
        return _array_of(value)
    if isinstance(value, DeviceNDArray):
        # It was made before, on the CPU device, or describes mapped memory.
        value._data.dtype  # noqa: B018 - raises if it was freed
        return None if isinstance(value, GpuNDArray) else value._data
    if isinstance(value, DeviceRecord):
        return _host_array(value.place)
    if (
        hasattr(value, "__dlpack_device__")
        and not isinstance(value, GpuNDArray)
        and value.__dlpack_device__()[0] == dlpack.HOST
    ):
        return np.from_dlpack(value)
    return None


def _array_of(record: np.void) -> np.ndarray:
    # NumPy would copy the record, which is a place in an array.
    known = {"shape": (record.itemsize,), "typestr": "|u1", "data": record.__array_interface__["data"], "version": 3}
    return np.ndarray((), record.dtype, np.asarray(Foreign(known, record)))


def check_reach(gpu: _core.Gpu, array: Any, what: str = "an array that the kernel reads") -> None:
    """Refuses an array, which may be any object, in the memory of another GPU than that of the kernel.

    Raises:
        CudaAPIError: kernels cannot use that memory.
    """
    if isinstance(array, GpuNDArray) and array.gpu is not gpu and (gpu, array.gpu) not in reached:
        text = (
            f"{what} is in the memory of GPU {array.gpu.number}, the kernel runs on GPU {gpu.number}: select that one, "
            "copy the array with cuda.to_device, or call current_context().enable_peer_access: CUDA_ERROR_INVALID_VALUE"
        )
        raise CudaAPIError(1, text)


def _on_gpu(value: Any, copies: _Copies) -> Any:
    """An argument whose arrays are on the GPU."""
    if isinstance(value, ArgHint):
        return _on_gpu(value.value, copies)
    if isinstance(value, tuple):
        parts = [_on_gpu(v, copies) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, DeviceRecord):
        return _on_gpu(value.place, copies)[()]
    if isinstance(value, GpuNDArray):
        check_reach(copies.gpu, value, "an argument")
        if value.gpu is not copies.gpu:
            copies.peers.add(value.gpu)
        made = value._data
    elif (host := _host_array(value)) is not None:
        made = copies.there(host)
    elif isinstance(value, MappedNDArray):
        made = np.asarray(value)
    elif isinstance(value, str):
        copies.put_text(value)
        return value
    elif hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
        return _on_gpu(as_cuda_array(value), copies)
    else:
        return value
    if not made.flags.aligned:
        raise UnsupportedError(
            "an argument is an array whose elements are not aligned in the memory of the GPU: cuda.to_device makes a "
            "copy that is"
        )
    copies.addresses.add(address_of(made))
    return made[()] if isinstance(value, np.void) else made
