"""Arrays in the memory of a device. That of the CPU device is ordinary memory, but it is not the host's arrays': what
is copied is copied."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter, index
from typing import Any

import numpy as np

from lancehead import _core, config
from lancehead.cuda import dlpack
from lancehead.cuda.devices import current_context
from lancehead.cuda.gpu import address_of, allocated, current_gpu, fetch, opened, reach_of, upload
from lancehead.cuda.memory import Foreign, Freed, MemoryPointer, allocate, interface_of, over
from lancehead.cuda.streams import check, exported, external_stream, legacy_default_stream, on_gpu, wait
from lancehead.options import near_keywords, near_members

errmsg_contiguous_buffer = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)

# The default streams, which others have no need to be ordered with.
_DEFAULTS = 2


@near_members
class DeviceNDArray:
    """An array in device memory.

    >>> there = cuda.to_device(np.arange(3))
    >>> there.shape, there.copy_to_host()
    ((3,), array([0, 1, 2]))
    """

    __slots__ = ("__weakref__", "_data", "stream")
    __cuda_memory__ = __cuda_ndarray__ = True

    def __init__(self, data: np.ndarray, stream: Any = 0, device: int | None = None) -> None:
        _check_elements(data.dtype)
        self._data = data
        self.stream = stream
        current_context(device).arrays.add(self)

    def _over(self, data: np.ndarray, stream: Any = None) -> DeviceNDArray:
        return DeviceNDArray(data, self.stream if stream is None else stream)

    def _part(self, key: Any) -> Any:
        return self._data[key]

    def _set(self, key: Any, values: np.ndarray) -> None:
        self._data[key] = values

    @property
    def gpu_data(self) -> MemoryPointer:
        """The memory."""
        address = self._data.ctypes.data if self._data.size else 0
        return MemoryPointer(current_context(), address, self._data.nbytes, kept=self)

    def _free(self) -> None:
        self._data = Freed()  # type: ignore[assignment]

    shape = property(attrgetter("_data.shape"), doc="Extents.")
    strides = property(attrgetter("_data.strides"), doc="Distances between neighbours in bytes.")
    dtype = property(attrgetter("_data.dtype"), doc="Type of the elements.")
    ndim = property(attrgetter("_data.ndim"), doc="Number of dimensions.")
    size = property(attrgetter("_data.size"), doc="Number of elements.")
    nbytes = property(attrgetter("_data.nbytes"), doc="Bytes of the elements.")
    alloc_size = property(attrgetter("_data.nbytes"), doc="Bytes of the memory.")
    flags = property(attrgetter("_data.flags"), doc="Order of the memory, as NumPy describes it.")

    @property
    def device_ctypes_pointer(self) -> Any:
        """Address of the first element."""
        return ctypes.c_void_p(self._data.ctypes.data if self._data.size else None)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return interface_of(self._data, exported(self.stream, False))

    @property
    def T(self) -> DeviceNDArray:
        """The transposed array, over the same memory."""
        return self.transpose()

    @property
    def _numba_type_(self) -> _core.Type:
        return _core.typeof(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"<DeviceNDArray of {self.dtype}, shape {self.shape}>"

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if copy is False:
            raise ValueError("`copy=False` is not possible: a device array becomes one of the host by a copy")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._data.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()

    def __getitem__(self, item: Any) -> Any:
        found = self._data[item]
        if isinstance(found, np.ndarray) and (found.ndim or item == Ellipsis):
            if found.size and not np.shares_memory(found, self._data):
                raise NotImplementedError("device arrays are indexed with integers and slices only")
            return self._over(found)
        return DeviceRecord(self._over(self._part(_whole(item)))) if isinstance(found, np.void) else found

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """An element, or a part of the array over the same memory."""
        return self[item]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Copies a value or an array to a part of the array."""
        source = np.asarray(host_of(value))
        part = self._part(key)
        if source.ndim > np.ndim(part):
            raise ValueError(f"Can't assign {source.ndim}-D array to {np.ndim(part)}-D self")
        shape = (1,) * (np.ndim(part) - source.ndim) + source.shape
        for axis, (want, got) in enumerate(zip(np.shape(part), shape)):
            if got not in (1, want):
                raise ValueError(f"Can't copy sequence with size {got} to array axis {axis} with dimension {want}")
        self._set(key, source)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """The elements as a host array, copied into `ary` if that is given."""
        check(stream)
        if ary is None:
            return self._data.copy(order="A")
        _check_copy(ary, self._data, False)
        np.copyto(ary, self._data)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copies from a host or a device array."""
        check(stream)
        source = host_of(ary)
        _check_copy(self._data, source, is_cuda_array(ary) and not isinstance(ary, np.ndarray))
        self._set(..., source)

    def is_c_contiguous(self) -> bool:
        """Whether the memory is in row-major order without gaps."""
        return self._data.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Whether the memory is in column-major order without gaps."""
        return self._data.flags.f_contiguous

    def reshape(self, *newshape: Any, order: Any = "C") -> DeviceNDArray:
        """The same memory with another shape."""
        shape = newshape[0] if len(newshape) == 1 and not isinstance(newshape[0], int) else newshape
        made = self._data.reshape(shape, order=order)
        if made.size and not np.shares_memory(made, self._data):
            raise NotImplementedError("reshape would require copy")
        return self._over(made)

    def ravel(self, order: Any = "C", stream: Any = 0) -> DeviceNDArray:
        """The same memory in one dimension."""
        made = self._data.ravel(order=order)
        if made.size and not np.shares_memory(made, self._data):
            raise NotImplementedError("ravel would require copy")
        return self._over(made)

    def view(self, dtype: Any) -> DeviceNDArray:
        """The same memory as elements of another type."""
        return self._over(self._data.view(dtype))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceNDArray:
        """The same memory without dimensions of extent 1."""
        return self._over(self._data.squeeze(axis))

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """The same memory with the dimensions in another order."""
        if self.ndim > 2 and axes is None:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None:
            axes = tuple(axes)
            if sorted(axes) != list(range(self.ndim)):
                raise ValueError(f"invalid axes list {axes!r}")
        return self._over(self._data.transpose(axes))

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Parts of that many elements each, of an array of one dimension."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.dtype.itemsize:
            raise ValueError("only support unit stride")
        for start in range(0, self.size, section):
            yield self._over(self._data[start : start + section])

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """The same memory, for use in a stream."""
        return self._over(self._data, stream)

    def get_ipc_handle(self) -> Any:
        """Refused, see `open_ipc_array`."""
        return open_ipc_array(self, self.shape, self.dtype)


class GpuNDArray(DeviceNDArray):
    """An array in the memory of a GPU. Its descriptor holds GPU addresses: the host never reads elements in place."""

    __slots__ = ("gpu",)

    def __init__(self, data: np.ndarray, stream: Any, gpu: _core.Gpu) -> None:
        super().__init__(data, stream, gpu.number)
        self.gpu = gpu

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return interface_of(self._data, exported(self.stream, True))

    def _over(self, data: np.ndarray, stream: Any = None) -> DeviceNDArray:
        return GpuNDArray(data, self.stream if stream is None else stream, self.gpu)

    def _part(self, key: Any) -> Any:
        return self._data[_whole(key)]

    def _set(self, key: Any, values: np.ndarray) -> None:
        upload(self.gpu, self._part(key), values)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        there = on_gpu(self.gpu, stream)
        host = np.empty_like(self._data, subok=False) if ary is None else ary
        _check_copy(host, self._data, False)
        fetch(self.gpu, self._data, host, there)
        # Of a new array nobody would know when it is filled.
        if ary is None and there is not None:
            there.wait()
        return host

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        there = on_gpu(self.gpu, stream)
        # Between GPUs and within one, memory without gaps is copied as it is.
        if isinstance(ary, GpuNDArray):
            _check_copy(self._data, ary._data, True)
            if _is_contiguous(self._data) and _is_contiguous(ary._data) and self.size:
                to, source = address_of(self._data), address_of(ary._data)
                if ary.gpu is self.gpu:
                    self.gpu.copy(to, source, self.nbytes, there)
                else:
                    self.gpu.copy_from(to, ary.gpu, source, self.nbytes)
                return
        source = host_of(ary)
        _check_copy(self._data, source, is_cuda_array(ary) and not isinstance(ary, np.ndarray))
        upload(self.gpu, self._data, source, there)

    def reshape(self, *newshape: Any, order: str = "C") -> DeviceNDArray:
        _check_dense(self._data, order, "reshape")
        return super().reshape(*newshape, order=order)

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceNDArray:
        _check_dense(self._data, order, "ravel")
        return super().ravel(order, stream)

    def __getitem__(self, item: Any) -> Any:
        parts = item if isinstance(item, tuple) else (item,)
        part = self._over(self._part(item))
        if part.ndim or any(p is Ellipsis for p in parts):
            return part
        return DeviceRecord(part) if self.dtype.names else part.copy_to_host()[()]

    def __dlpack__(  # type: ignore[override]
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        if dl_device is not None and tuple(dl_device) == (dlpack.HOST, 0):
            if copy is False:
                raise ValueError("an array of a GPU cannot become one of the host without a copy")
            return dlpack.exported(self.copy_to_host(), (dlpack.HOST, 0), max_version)
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(
                f"the array is on device {self.__dlpack_device__()}, not {dl_device}; cuda.to_device copies it to the "
                "one in use"
            )
        source = to_device(self) if copy else self
        if stream != -1:
            # Whatever stream the other library uses: what was started is done.
            self.gpu.wait()
        return dlpack.exported(source._data, self.__dlpack_device__(), max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.GPU, self.gpu.number


def _whole(item: Any) -> Any:
    """An index that gives part of an array, if it is one element too.

    Raises:
        NotImplementedError: the index would gather elements.
    """
    parts = item if isinstance(item, tuple) else (item,)
    if not all(
        p is None or p is Ellipsis or isinstance(p, (slice, str, int, np.integer)) and not isinstance(p, bool)
        for p in parts
    ):
        raise NotImplementedError("device arrays are indexed with integers and slices only")
    return item if any(p is Ellipsis or isinstance(p, str) for p in parts) else (*parts, Ellipsis)


def _check_dense(a: np.ndarray, order: str, what: str) -> None:
    # Whether NumPy would copy is not known beforehand where there are gaps, and it must not.
    if not (a.flags.f_contiguous if order == "F" else a.flags.c_contiguous) or order not in ("C", "F"):
        raise NotImplementedError(f"{what} would require copy")


class DeviceRecord:
    """A record in device memory.

    >>> record = cuda.to_device(np.array((1, 2.5), dtype=[("n", int), ("x", float)])[()])
    >>> float(record["x"])
    2.5
    """

    def __init__(self, dtype: Any, stream: Any = 0) -> None:
        """A record of a dtype, whose fields are not set, or the one of an array without dimensions."""
        self.place = dtype if isinstance(dtype, DeviceNDArray) else device_array((), dtype, stream=stream)

    shape = property(attrgetter("place.shape"), doc="No extents.")
    strides = property(attrgetter("place.strides"), doc="No distances.")
    dtype = property(attrgetter("place.dtype"), doc="Its fields.")
    alloc_size = property(attrgetter("place.alloc_size"), doc="Bytes of the memory.")
    gpu_data = property(attrgetter("place.gpu_data"), doc="The memory.")
    device_ctypes_pointer = property(attrgetter("place.device_ctypes_pointer"), doc="Address of the record.")

    @property
    def _numba_type_(self) -> _core.Type:
        return _core.typeof(self._data)

    @property
    def _data(self) -> Any:
        # The memory itself, of a GPU a copy.
        return host_of(self.place)[()]

    def _store(self, record: Any, stream: Any = 0) -> None:
        self.place.copy_to_device(np.asarray(record), stream)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """The record as a host value; `ary`, a record or an array of one, is filled if it is given."""
        if ary is None:
            return self._data.copy()
        _copy_fields(ary, self._data)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copies the fields of a record of the host."""
        record = self._data
        _copy_fields(record, ary)
        self._store(record, stream)

    def __getitem__(self, item: Any) -> Any:
        return self._data[item]

    def __setitem__(self, key: Any, value: Any) -> None:
        record = self._data
        record[key] = host_of(value)
        self._store(record)

    def __len__(self) -> int:
        return len(self._data)


def _copy_fields(to: Any, source: Any) -> None:
    for name in source.dtype.names:
        to[name] = source[name]


def _check_elements(dtype: np.dtype) -> None:
    if dtype.hasobject:
        raise TypeError(f"a device has no memory for Python objects, of which an array of {dtype} consists")


def _check_copy(dst: np.ndarray, src: np.ndarray, on_device: bool) -> None:
    if dst.shape != src.shape:
        raise ValueError(f"incompatible shape: {dst.shape} vs. {src.shape}")
    if dst.dtype != src.dtype:
        raise TypeError(f"incompatible dtype: {dst.dtype} vs. {src.dtype}")
    # Between arrays of a device, memory is copied as it is; elements of extent 1 and those of host arrays go where they
    # belong.
    steps = [[s for s, n in zip(a.strides, a.shape) if n > 1] for a in (dst, src)]
    if on_device and dst.size and steps[0] != steps[1]:
        raise ValueError(f"incompatible strides: {dst.strides} vs. {src.strides}")


def _core_of(a: np.ndarray) -> np.ndarray:
    # A broadcast array without its repetitions.
    return (
        a[tuple(slice(0, 1) if s == 0 and n > 1 else slice(None) for s, n in zip(a.strides, a.shape))]
        if 0 in a.strides
        else a
    )


def _is_contiguous(a: np.ndarray) -> bool:
    return bool(a.flags.c_contiguous or a.flags.f_contiguous)


def host_of(value: Any) -> Any:
    """The memory of a device array, of a GPU a copy; other values themselves."""
    if isinstance(value, GpuNDArray):
        return value.copy_to_host()
    if isinstance(value, (DeviceNDArray, DeviceRecord)):
        return value._data
    return (
        host_of(as_cuda_array(value))
        if hasattr(value, "__cuda_array_interface__") and not isinstance(value, np.ndarray)
        else value
    )


def is_cuda_array(obj: object) -> bool:
    """Whether an object is an array in device memory.

    >>> cuda.is_cuda_array(cuda.to_device(np.arange(3))), cuda.is_cuda_array(np.arange(3))
    (True, False)
    """
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A device array over the memory of an object that has one.

    >>> there = cuda.to_device(np.arange(3))
    >>> cuda.as_cuda_array(there) is there
    True
    """
    if isinstance(obj, DeviceNDArray):
        return obj
    if isinstance(obj, MappedNDArray):
        return (_device_array if is_shared(obj) else DeviceNDArray)(np.asarray(obj), obj.stream)
    if hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray):
        return from_dlpack(obj)
    raise TypeError("*obj* doesn't implement the cuda array interface.")


def from_dlpack(obj: Any) -> DeviceNDArray:
    """A device array over the memory of an object that hands it over by DLPack.

    >>> there = cuda.from_dlpack(cuda.to_device(np.arange(3)))
    >>> there.copy_to_host()
    array([0, 1, 2])

    Raises:
        BufferError: it is not memory of a device in use: without a GPU the host's.
    """
    kind, number = obj.__dlpack_device__()
    if current_gpu() is None:
        return DeviceNDArray(np.from_dlpack(obj))
    if kind != dlpack.GPU:
        raise BufferError("the array is not in the memory of a GPU: cuda.to_device copies it there")
    return GpuNDArray(dlpack.imported(obj, legacy_default_stream().handle), 0, opened(number))


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A device array over the memory that a description of its `__cuda_array_interface__` names.

    The memory must be that of the device in use: without a GPU the host's. `owner` is kept alive.

    >>> there = cuda.to_device(np.arange(3))
    >>> cuda.from_cuda_array_interface(there.__cuda_array_interface__, owner=there).copy_to_host()
    array([0, 1, 2])

    Raises:
        NotImplementedError: the array is masked, or of a version after 3.
    """
    data = over(desc, owner)
    handle = desc.get("stream")
    stream: Any = 0 if handle is None else external_stream(handle)
    made = _device_array(data, stream)
    if sync and config.CUDA_ARRAY_INTERFACE_SYNC and handle is not None:
        _order_after(stream, made)
    return made


def _order_after(stream: Any, array: DeviceNDArray) -> None:
    """Has what is started here come after what another library has put into a stream. The host does not wait: streams
    that wait for the default one do, and that waits for an event."""
    if not isinstance(array, GpuNDArray):
        stream.synchronize()
    elif int(stream) > _DEFAULTS:
        event = array.gpu.event(False)
        event.record(stream.on(array.gpu))
        event.hold(array.gpu.stream(0))


def _device_array(data: np.ndarray, stream: Any) -> DeviceNDArray:
    """An array of what is in the memory of a device."""
    gpu = current_gpu()
    if gpu is not None and gpu.devices > 1 and data.size:
        gpu = opened(gpu.owner(address_of(data)))
    return DeviceNDArray(data, stream) if gpu is None else GpuNDArray(data, stream, gpu)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """Copies an array, or anything that NumPy makes one of, to the device; into `to` if that is given.

    A record becomes a `DeviceRecord`.

    >>> cuda.to_device([1.0, 2.0]).copy_to_host()
    array([1., 2.])
    """
    if isinstance(obj, DeviceNDArray) and to is None:
        if copy:
            made = device_array_like(obj, stream)
            _store_all(made, obj)
        return made if copy else obj
    check(stream)
    if isinstance(obj, np.void) and obj.dtype.names and to is None:
        return to_device(np.asarray(obj), stream, copy)[()]  # type: ignore[no-any-return]
    source = np.asarray(host_of(obj))
    if not _is_contiguous(_core_of(source)):
        raise ValueError(errmsg_contiguous_buffer)
    if to is None:
        to = device_array_like(source, stream)
    if copy:
        to.copy_to_device(source, stream)
    return to


def auto_device(
    obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False
) -> tuple[DeviceNDArray, bool]:
    """An array in device memory for an array or a number, and whether it is a new one."""
    if is_cuda_array(obj):
        return as_cuda_array(obj), False
    return to_device(obj if isinstance(obj, np.void) else np.asanyarray(obj), stream, copy), True


def _store_all(to: DeviceNDArray, source: DeviceNDArray) -> None:
    if to.strides == source.strides:
        to.copy_to_device(source)
    else:
        to._set(..., host_of(source))


def _shape(shape: Any) -> tuple[int, ...]:
    given = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    try:
        return tuple(index(n) for n in given)
    except TypeError:
        raise TypeError("an array's shape is made of integers") from None


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """An array on the device whose elements are not set.

    >>> cuda.device_array((2, 3), np.float32).shape
    (2, 3)
    """
    gpu = current_gpu()
    if gpu is None:
        return DeviceNDArray(_host_array(shape, dtype, strides, order), stream)
    return GpuNDArray(allocated(gpu.allocate, _shape(shape), np.dtype(dtype), strides, order), stream, gpu)


def _host_array(shape: Any, dtype: Any, strides: Any, order: str) -> np.ndarray:
    if strides is not None:
        return _strided(_shape(shape), np.dtype(dtype), strides)
    return allocate(_shape(shape), np.dtype(dtype), order, current_context().deallocations)


def _strided(shape: tuple[int, ...], dtype: np.dtype, strides: Any) -> np.ndarray:
    steps = (strides,) if isinstance(strides, int) else tuple(strides)
    before, beyond = reach_of(shape, steps, dtype.itemsize)
    return np.ndarray(shape, dtype, np.empty(before + beyond, np.uint8), before, steps)


def _like(ary: Any) -> np.ndarray:
    a = ary._data if isinstance(ary, DeviceNDArray) else host_of(ary)
    if _is_contiguous(a) and current_gpu() is None:
        return allocate(a.shape, a.dtype, "C" if a.flags.c_contiguous else "F", current_context().deallocations)
    # As for any array with gaps: the order of the dimensions is kept, the gaps are not.
    return np.empty_like(a, subok=False)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """An array on the device with the shape, type and order of another.

    >>> cuda.device_array_like(np.ones((2, 3), np.int8)).dtype
    dtype('int8')
    """
    gpu, like = current_gpu(), _like(ary)
    return (
        DeviceNDArray(like, stream)
        if gpu is None
        else GpuNDArray(allocated(gpu.allocate, like.shape, like.dtype, like.strides), stream, gpu)
    )


def open_ipc_array(handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0) -> Any:
    """Nothing yet: memory of a device has no handles for other processes.

    >>> try:
    ...     cuda.open_ipc_array(b"", 3, np.float64)
    ... except OSError as error:
    ...     print("no IPC handles" in str(error))
    True

    Raises:
        OSError: always; it says what to do on the CPU device.
    """
    raise OSError(
        "device memory has no IPC handles. On the CPU device kernels use arrays of the host where they are: "
        "np.ndarray(shape, dtype, buffer=shm.buf) with multiprocessing.shared_memory.SharedMemory is one for all "
        "processes"
    )


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> np.ndarray:
    """A host array that can be copied to and from the device fast.

    >>> cuda.pinned_array(3, np.float32).dtype
    dtype('float32')
    """
    return _reached(shape, dtype, strides, order)


def pinned_array_like(ary: Any) -> np.ndarray:
    """A host array like another that can be copied to and from the device fast.

    >>> cuda.pinned_array_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    return _reached_like(ary)


def _reached(shape: Any, dtype: Any, strides: Any, order: str) -> np.ndarray:
    """An array of the host in memory that a GPU reaches."""
    _check_elements(np.dtype(dtype))
    gpu = current_gpu()
    if gpu is None:
        return _host_array(shape, dtype, strides, order)
    return allocated(gpu.allocate_host, _shape(shape), np.dtype(dtype), strides, order)


def _reached_like(ary: Any) -> np.ndarray:
    like = _like(ary)
    return like if current_gpu() is None else _reached(like.shape, like.dtype, like.strides, "C")


def mapped_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0,
                 portable: bool = False,
                 wc: bool = False) -> np.ndarray:  # fmt: skip
    """An array that both the host and the device use.

    >>> a = cuda.mapped_array(3, np.int64)
    >>> a[:] = 5
    >>> @cuda.jit
    ... def double(a): a[cuda.grid(1)] *= 2
    >>> double[1, 3](a); cuda.synchronize(); int(a[0])
    10
    """
    return _shared(_reached(shape, dtype, strides, order), MappedNDArray, stream)


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> np.ndarray:
    """An array like another that both the host and the device use.

    >>> cuda.mapped_array_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    return _shared(_reached_like(ary), MappedNDArray, stream)


def managed_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0,
                  attach_global: bool = True) -> np.ndarray:  # fmt: skip
    """An array that both the host and the device use.

    >>> a = cuda.managed_array(3, np.int64)
    >>> a[:] = 5
    >>> int(a.sum())
    15
    """
    return _shared(_reached(shape, dtype, strides, order), ManagedNDArray, stream)


def _shared(data: np.ndarray, kind: type[MappedNDArray], stream: Any) -> np.ndarray:
    made = data.view(kind)
    made.stream = stream
    return made


@contextmanager
def mapped(*arrays: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> Iterator[Any]:
    """Host arrays that the device can use in the block.

    >>> a = np.arange(3)
    >>> @cuda.jit
    ... def double(a): a[cuda.grid(1)] *= 2
    >>> with cuda.mapped(a) as there:
    ...     double[1, 3](there)
    >>> a
    array([0, 2, 4])
    """
    made = [DeviceNDArray(a) for a in arrays]
    yield made[0] if len(made) == 1 else made


class MappedNDArray(np.ndarray):
    """An array that both the host and the device use."""

    stream: Any = 0
    __cuda_memory__ = __cuda_ndarray__ = True
    alloc_size = property(attrgetter("nbytes"), doc="Bytes of the memory.")

    @property
    def device_ctypes_pointer(self) -> Any:
        """Address of the first element."""
        return ctypes.c_void_p(self.ctypes.data if self.size else None)

    def __array_finalize__(self, obj: Any) -> None:
        self.stream = getattr(obj, "stream", 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return interface_of(np.asarray(self), exported(self.stream, current_gpu() is not None))

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """The elements as a host array, after what was started."""
        wait()
        return DeviceNDArray(np.asarray(self)).copy_to_host(ary, stream)


def is_shared(a: np.ndarray) -> bool:
    """Whether the memory is one that a GPU uses too: that of results of arithmetic with such arrays is not."""
    base: Any = a
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, Foreign) and isinstance(base.owner, _core.GpuMemory) and base.owner.is_host


class ManagedNDArray(MappedNDArray):
    """An array that both the host and the device use, wherever it is."""


near_keywords(globals())
