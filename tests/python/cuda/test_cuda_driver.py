"""Objects of the driver that there are without a GPU: memory, records of the device, what programs ask of arrays."""

import ctypes
import gc

import numpy as np
import pytest

from lancehead import cuda, from_dtype
from lancehead.cuda.cudadrv import devicearray, driver, linkable_code


def test_memory_of_the_device_is_copied_and_set() -> None:
    context, host = cuda.current_context(), np.arange(10, dtype=np.uint32)
    a, b, back = context.memalloc(40), context.memalloc(40), np.zeros(10, np.uint32)
    driver.host_to_device(a, host, 40)
    driver.device_to_device(b, a, 40)
    driver.device_to_host(back, b, 40)
    assert back.tolist() == host.tolist() and driver.device_memory_size(b) == 40
    driver.device_memset(a, 0xAB, 20)
    driver.device_to_host(back, a, 40)
    assert back.tolist() == [0xABABABAB] * 5 + [5, 6, 7, 8, 9]
    mapped = cuda.mapped_array(3, np.int16)
    driver.device_memset(mapped, 1, driver.device_memory_size(mapped))
    assert mapped.tolist() == [257] * 3


@pytest.mark.parametrize("make", ["memalloc", "memhostalloc", "memallocmanaged", "mempin", "array"])
def test_memory_has_an_address(make: str) -> None:
    context, a = cuda.current_context(), np.arange(3)
    if make == "mempin":
        memory = context.mempin(a, a.ctypes.data, a.nbytes)
        assert memory.device_pointer == a.ctypes.data
    else:
        memory = cuda.to_device(a).gpu_data if make == "array" else getattr(context, make)(24)
    assert driver.is_device_memory(memory) and not driver.is_device_memory(a)
    assert driver.device_pointer(memory) == memory.device_ctypes_pointer.value != 0
    with pytest.raises(Exception, match="Not a CUDA memory object"):
        driver.require_device_memory(a)


def test_views_keep_memory_alive() -> None:
    freed = []
    memory = driver.MemoryPointer(
        context=cuda.current_context(), pointer=ctypes.c_void_p(4096), size=40, finalizer=lambda: freed.append(1)
    )
    view = memory.view(8).view(8, 20)
    assert (int(view), view.size, view.owner is memory, memory.refct) == (4112, 12, True, 2)
    whole = memory.own()
    assert memory.refct == 3 and whole == memory.own()
    del memory, whole
    gc.collect()
    assert not freed
    with pytest.raises(RuntimeError, match="size cannot be negative"):
        view.view(20)
    del view
    gc.collect()
    assert freed == [1]


@pytest.mark.parametrize(
    "made", [np.arange(6), np.arange(6).reshape(2, 3, order="F")[:, ::-1], np.asarray(3), ctypes.c_double(2.5), b"abc"]
)
def test_extents_of_memory_of_the_host(made: object) -> None:
    first, end = driver.host_memory_extents(made)
    size = made.nbytes if isinstance(made, np.ndarray) else len(bytes(made))  # type: ignore[arg-type]
    assert end - first == driver.host_memory_size(made) == size
    assert first <= driver.host_pointer(made, readonly=True) < end


def test_records_of_the_device_have_what_arrays_have() -> None:
    dtype = np.dtype([("a", np.int32), ("b", np.float32)], align=True)
    record = cuda.DeviceRecord(dtype)
    assert (record.shape, record.strides, record.dtype, record.alloc_size) == ((), (), dtype, 8)
    assert record._numba_type_ == from_dtype(dtype) and record.gpu_data.size == 8
    host = np.array((3, 2.5), dtype)[()]
    record.copy_to_device(host)
    record["a"] = 4
    other, is_new = devicearray.auto_device(host)
    assert is_new and isinstance(other, cuda.DeviceRecord)
    assert (record.copy_to_host().item(), other.copy_to_host().item()) == ((4, 2.5), (3, 2.5))
    assert devicearray.from_record_like(record).gpu_data != record.gpu_data


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_arrays_without_their_repetitions(order: str) -> None:
    a = cuda.device_array((4, 6), order=order)
    for view in (a, a.T, a[::2], a[1], np.broadcast_to(np.arange(3), (2, 3)), np.zeros(10)[::2]):
        core = devicearray.array_core(view)
        assert devicearray.is_contiguous(view) == core.flags["C_CONTIGUOUS"]
    devicearray.sentry_contiguous(a)
    devicearray.verify_cuda_ndarray_interface(a)
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        devicearray.sentry_contiguous(a[::2, ::2])
    with pytest.raises(ValueError, match="require an cuda ndarray object"):
        devicearray.verify_cuda_ndarray_interface(np.zeros(3))


def test_code_that_is_linked_is_where_numba_cuda_has_it() -> None:
    assert linkable_code.CUSource is cuda.CUSource
