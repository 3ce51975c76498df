"""Host code: devices, streams and memory outside of kernels."""

import os
import subprocess
import sys
import threading
from collections import namedtuple
from contextlib import suppress
from multiprocessing import shared_memory

import numpy as np
import pytest

import lancehead
from lancehead import cuda, errors
from lancehead.cuda.cudadrv.driver import CudaAPIError


@cuda.jit
def up(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


def test_memory_that_was_freed_is_not_used():
    a = cuda.to_device(np.arange(4.0))
    whole, view = a.gpu_data, a[1:]
    assert (
        int(whole) == a.device_ctypes_pointer.value == whole.device_pointer and whole.size == 32 and whole == a.gpu_data
    )
    whole.free()
    for use in (
        lambda: a.copy_to_host(),
        lambda: a[0],
        lambda: up[1, 32](a),
        lambda: a.shape,
        lambda: np.asarray(a),
        lambda: cuda.to_device(a),
    ):
        with pytest.raises(CudaAPIError, match="freed"):
            use()
    assert view.copy_to_host().tolist() == [1, 2, 3]


def test_closing_frees_all_arrays():
    a = cuda.to_device(np.zeros(3))
    cuda.close()
    with pytest.raises(CudaAPIError, match="freed"):
        up[1, 32](a)
    b = cuda.to_device(np.zeros(3))
    up[1, 32](b)
    assert b.copy_to_host().tolist() == [1, 1, 1]


def test_streams_that_are_closed_take_nothing():
    stream = cuda.stream()
    launch = up[1, 32, stream]
    launch(np.zeros(3))
    stream.close()
    for use in (
        lambda: up[1, 32, stream], lambda: launch(np.zeros(3)), stream.synchronize, lambda: cuda.event().record(stream),
        lambda: cuda.to_device(np.zeros(3), stream=stream), lambda: cuda.device_array(3).copy_to_host(stream=stream),
        lambda: stream.add_callback(lambda *_: None),
    ):  # fmt: skip
        with pytest.raises(CudaAPIError, match="CUDA_ERROR_INVALID_HANDLE"):
            use()


def test_events_without_times():
    first, second = cuda.event(timing=False), cuda.event()
    first.record(), second.record()
    second.synchronize()
    with pytest.raises(CudaAPIError, match="no time"):
        first.elapsed_time(second)


def test_python_objects_are_no_elements():
    things = np.array([1, "a", None], object)
    for make in (
        lambda: cuda.to_device(things), lambda: cuda.device_array(3, object), lambda: cuda.pinned_array(3, object),
        lambda: cuda.managed_array(3, object), lambda: cuda.to_device(np.zeros(2, [("a", "O")])),
        lambda: cuda.to_device(None),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="no memory for Python objects"):
            make()


def test_copies_between_orders():
    c = np.arange(24.0).reshape(2, 3, 4)
    f = np.asfortranarray(c)
    for mine in (c, f):
        d = cuda.to_device(mine)
        for other in (c, f, np.repeat(c, 2, axis=0)[::2]):
            d.copy_to_device(other)
            assert (d.copy_to_host() == c).all()
        strided = np.zeros((4, 3, 4))[::2]
        assert (d.copy_to_host(strided) == c).all()
    with pytest.raises(ValueError, match="incompatible strides"):
        cuda.to_device(c).copy_to_device(cuda.to_device(f))
    with pytest.raises(ValueError, match="incompatible strides"):
        cuda.to_device(np.arange(10)).copy_to_device(cuda.to_device(np.arange(20))[::2])
    wide = np.broadcast_to(np.arange(6).reshape(2, 1, 3), (2, 4, 3))
    assert (cuda.to_device(wide).copy_to_host() == wide).all()
    with pytest.raises(ValueError, match="non-contiguous"):
        cuda.to_device(c[:, ::2])


def test_names_of_types_and_attributes_of_devices():
    assert cuda.float32 == cuda.types.float32 and cuda.runtime.get_version()[0] >= 12
    device = cuda.get_current_device()
    assert (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR) == device.compute_capability
    assert device.MAX_BLOCKS_PER_MULTIPROCESSOR > 0 and cuda.current_context().can_access_peer(0)


def test_two_devices():
    script = """
import threading
import numpy as np
from lancehead import cuda
assert len(cuda.gpus) == 2
a = cuda.to_device(np.zeros(3))
with cuda.gpus[1]:
    assert cuda.get_current_device().id == 1
    b = cuda.to_device(np.ones(3))
    with cuda.gpus[0]:
        assert cuda.current_context().device.id == 0
    assert cuda.current_context().device.id == 1
assert cuda.get_current_device().id == 0
used = []
def elsewhere():
    used.append(cuda.get_current_device().id)
    cuda.select_device(1)
    used.append(cuda.get_current_device().id)
with cuda.gpus[1]:
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
assert used == [0, 1] and cuda.get_current_device().id == 0
cuda.gpus[1].reset()
assert a.copy_to_host().sum() == 0
try:
    b.copy_to_host()
except cuda.cudadrv.driver.CudaAPIError:
    print("done")
"""
    environment = {**os.environ, "LANCEHEAD_CPU_DEVICES": "2"}
    assert (
        subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        ).stdout
        == "done\n"
    )
    for wrong in ("x", "0"):
        environment["LANCEHEAD_CPU_DEVICES"] = wrong
        done = subprocess.run(
            [sys.executable, "-c", "from lancehead import cuda"], env=environment, capture_output=True, text=True
        )
        assert f"LANCEHEAD_CPU_DEVICES={wrong}: the number of devices is an integer above 0" in done.stderr


def test_launches_are_kept_by_their_geometry():
    @cuda.jit
    def kernel(a):
        a[0] = cuda.gridDim.x * 100 + cuda.blockDim.x * 10 + cuda.blockDim.y

    a = np.zeros(1, np.int64)
    for grid, block, want in ((1, 2, 121), (2, 2, 221), (1, (2, 1), 121), ((1, 1), (2, 3), 123), (1, 2, 121)):
        kernel[grid, block](a)
        assert a[0] == want and kernel[grid, block] is kernel[grid, block]
    kernel[[2], (np.int32(3), 1)](a)
    assert a[0] == 231
    for wrong in ((1.0, 2), ((1.0, 1.0), (2, 3)), (1,), (1, 2, 3, 4, 5, 6)):
        with pytest.raises((TypeError, ValueError)):
            kernel[wrong]


def test_blocks_are_no_larger_than_launch_bounds_say() -> None:
    @cuda.jit(launch_bounds=(64, 2))
    def kernel(a):
        a[cuda.grid(1)] = 1

    a = np.zeros(128)
    kernel[2, 64](a)
    assert a.all()
    with pytest.raises(
        CudaAPIError, match="CUDA_ERROR_INVALID_VALUE: a block of 128 threads, and launch_bounds says at most 64"
    ):
        kernel[1, (64, 2)](a)


def test_static_shared_memory_has_the_limit_of_a_card() -> None:
    @cuda.jit
    def most(a):
        s = cuda.shared.array(12288, np.float32)
        s[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        a[0] = s[5]

    @cuda.jit
    def more(a):
        s, one = cuda.shared.array(12288, np.float32), cuda.shared.array(1, np.float32)
        s[cuda.threadIdx.x] = one[0] = 1
        cuda.syncthreads()
        a[0] = s[5] + one[0]

    a = np.zeros(1)
    most[1, 32](a)
    assert a[0] == 1
    with pytest.raises(CudaAPIError, match="too much shared data"):
        more[1, 32](a)


def test_other_threads_go_on_while_a_kernel_runs() -> None:
    @cuda.jit
    def waits(flag):
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass

    flag = np.zeros(1, np.int64)
    device = cuda.to_device(flag)
    threading.Timer(0.2, device.copy_to_device, (np.ones(1, np.int64),)).start()
    waits[1, 1](device)
    assert device.copy_to_host()[0] == 1


def test_records_of_the_device_are_made_and_copied() -> None:
    dtype = np.dtype([("x", np.float32), ("y", np.int64), ("v", np.int8, (2,))], align=True)
    host = np.zeros(1, dtype)
    host["x"], host["v"] = 2, 7

    @cuda.jit
    def change(r):
        r.y, r.x = r.x + r.v[1], 5

    record = cuda.to_device(host[0])
    assert isinstance(record, cuda.DeviceRecord)
    change[1, 1](record)
    assert host[0]["x"] == 2 and record.copy_to_host().tolist()[:2] == (5, 9)
    into = np.zeros(1, dtype)
    record.copy_to_host(into[0])
    assert into[0] == record.copy_to_host()
    record.copy_to_device(host[0])
    assert record["y"] == 0 and record["v"].tolist() == [7, 7]


Pair = namedtuple("Pair", "a b")


def test_device_arrays_in_named_tuples() -> None:
    @cuda.jit
    def add(pair, out):
        out[0] = pair.a[1] + pair.b[0][0]

    out = np.zeros(1)
    add[1, 1](Pair(cuda.to_device(np.arange(2.0)), (np.ones(1, np.int32),)), out)
    assert out[0] == 2


def test_types_of_device_arrays() -> None:
    for shape in ((3,), (0, 4), ()):
        host = np.zeros(shape, np.float32)
        assert lancehead.typeof(cuda.to_device(host)) == lancehead.typeof(host)


def test_what_is_known_of_an_overload() -> None:
    @cuda.jit("void(float32[::1])")
    def fill(a):
        a[cuda.grid(1)] = 1

    facts = next(iter(fill.overloads.values()))
    assert ".visible .entry" in facts.inspect_asm((8, 0)) and "define" in facts.inspect_llvm()


def test_a_kernel_is_no_generator() -> None:
    @cuda.jit
    def counts(a):
        yield a[0]

    with pytest.raises(errors.TypingError, match="a kernel returns nothing"):
        counts[1, 1](np.zeros(1))


def test_handles_for_other_processes_are_refused_and_shared_memory_is_used() -> None:
    array = cuda.to_device(np.zeros(4))
    for refused in (
        array.get_ipc_handle,
        lambda: cuda.current_context().get_ipc_handle(array.gpu_data),
        lambda: cuda.open_ipc_array(b"", 4, float),
    ):
        with pytest.raises(OSError, match="shared_memory"):
            refused()
    program = """if 1:
        import sys
        import numpy as np
        from multiprocessing import shared_memory
        from lancehead import cuda

        @cuda.jit
        def up(a):
            a[cuda.grid(1)] += 1

        memory = shared_memory.SharedMemory(sys.argv[1])
        up[1, 4](np.ndarray(4, np.float64, memory.buf))
    """
    memory = shared_memory.SharedMemory(create=True, size=32)
    shared = np.ndarray(4, np.float64, memory.buf)
    shared[:] = 3
    subprocess.run([sys.executable, "-c", program, memory.name], check=True, capture_output=True)
    assert shared.tolist() == [4] * 4
    del shared
    memory.close()
    # On some versions the other process removes it when it ends.
    with suppress(FileNotFoundError):
        memory.unlink()


def test_what_is_no_stream_is_refused() -> None:
    for wrong in ("a", 1.5, object()):
        with pytest.raises(TypeError, match="a stream is made by"):
            up[1, 1, wrong](np.zeros(1))
    up[1, 1, cuda.default_stream()](np.zeros(1))
