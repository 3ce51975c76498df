"""Memory of GPUs that others use too: other libraries, other GPUs, the host, and kernels that have captured it."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from lancehead import cuda, njit
from lancehead.cuda.cudadrv.driver import CudaAPIError
from lancehead.cuda.devicearray import GpuNDArray
from stand_in import StandIn, forget


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


class Theirs:
    """An array of another library: DLPack and nothing else, of some version."""

    def __init__(self, array: Any, versions: bool) -> None:
        self.array, self.versions, self.streams = array, versions, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **kwargs: Any) -> Any:
        if not self.versions and "max_version" in kwargs:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(kwargs.pop("stream", None))
        return self.array.__dlpack__(**kwargs)


@pytest.mark.parametrize("versions", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u8", "c16", "bool", "bfloat16"])
def test_dlpack_there_and_back(gpu: StandIn, versions: bool, dtype: str) -> None:
    kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)
    host = np.arange(24).reshape(4, 6).astype(kind)
    d = cuda.to_device(host)
    for view in (
        lambda a: a,
        lambda a: a.T,
        lambda a: a[1:, ::2],
        lambda a: a[::-1],
        lambda a: a[2, 3:4],
        lambda a: a[:0],
    ):
        theirs = Theirs(view(d), versions)
        ours = cuda.from_dlpack(theirs)
        assert isinstance(ours, GpuNDArray) and ours.dtype == kind and theirs.streams == [1]
        assert (
            np.array_equal(ours.copy_to_host(), view(host))
            and ours.device_ctypes_pointer.value == view(d).device_ctypes_pointer.value
        )
    used = gpu.used
    kept = cuda.from_dlpack(Theirs(d, versions))
    del d, theirs, ours
    assert gpu.used == used and np.array_equal(kept.copy_to_host(), host)
    kept[0, 0] = 1
    assert kept.copy_to_host()[0, 0] == 1
    del kept
    assert gpu.used == 0


def test_dlpack_as_arguments(gpu: StandIn) -> None:
    d, host = cuda.to_device(np.ones(4)), np.ones(4)
    scale[1, 4](Theirs(d, True), 2)
    scale[1, 4](Theirs(host, True), 3)
    assert d.copy_to_host().tolist() == [2] * 4 and host.tolist() == [3] * 4
    with pytest.raises(BufferError, match=r"cuda\.to_device"):
        cuda.from_dlpack(host)


def test_dlpack_to_the_host_and_refusals(gpu: StandIn) -> None:
    d = cuda.to_device(np.arange(3.0))
    with pytest.raises((BufferError, RuntimeError), match=r"[Dd]evice"):
        np.from_dlpack(d)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.from_dlpack(d, device="cpu").tolist() == [0, 1, 2]
    copied = cuda.from_dlpack(Theirs(d, True))
    assert d.__dlpack_device__() == (2, 0)
    with pytest.raises(ValueError, match="without a copy"):
        d.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="on device"):
        d.__dlpack__(dl_device=(2, 7))
    d[0] = 5
    assert copied.copy_to_host()[0] == 5


def test_dlpack_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANCEHEAD_CUDA_DEVICE", "cpu")
    forget()
    a = np.ones(4)
    scale[1, 4](Theirs(a, True), 2)
    ours = cuda.from_dlpack(Theirs(a, True))
    scale[1, 4](ours, 3)
    assert a.tolist() == [6] * 4
    forget()


@pytest.fixture
def two(gpu: StandIn) -> StandIn:
    gpu.library.fake_have(2)
    forget()
    return gpu


def test_several_gpus(two: StandIn) -> None:
    assert [d.id for d in cuda.gpus] == [0, 1]
    here = cuda.to_device(np.arange(4.0))
    with cuda.gpus[1]:
        there = cuda.to_device(np.arange(4.0))
        assert there.__dlpack_device__() == (2, 1) and cuda.get_current_device().id == 1
        scale[1, 4](there, 2)
        with pytest.raises(CudaAPIError, match="in the memory of GPU 0, the kernel runs on GPU 1"):
            scale[1, 4](here, 2)
        copied = cuda.to_device(here)
        assert copied.gpu.number == 1 and copied.copy_to_host().tolist() == [0, 1, 2, 3]
    assert cuda.get_current_device().id == 0
    assert there.copy_to_host().tolist() == [0, 2, 4, 6]
    here.copy_to_device(there)
    here[:2] = there[2:]
    assert here.copy_to_host().tolist() == [4, 6, 4, 6]
    assert here[1:].gpu.number == 0 and there[1:].gpu.number == 1

    class Described:
        __cuda_array_interface__ = there.__cuda_array_interface__

    assert cuda.as_cuda_array(Described()).gpu.number == 1
    cuda.select_device(1)
    scale[1, 4](Described(), 0.5)
    cuda.select_device(0)
    assert there.copy_to_host().tolist() == [0, 1, 2, 3]
    cuda.gpus[1].reset()
    with pytest.raises(CudaAPIError, match="freed"):
        there.copy_to_host()
    assert here.copy_to_host().size == 4


def test_access_between_gpus(two: StandIn) -> None:
    context = cuda.current_context()
    with cuda.gpus[1]:
        there = cuda.to_device(np.ones(4))
        other = cuda.current_context()
    assert context.can_access_peer(1) and not context.can_access_peer(context)
    with pytest.raises(CudaAPIError, match="enable_peer_access"):
        scale[1, 4](there, 2)
    for peer in (1, other, cuda.gpus[1]):
        context.enable_peer_access(peer)
    scale[1, 4](there, 2)
    assert there.copy_to_host().tolist() == [2] * 4
    scale[1, 4](there, 2)
    # Kernels of one GPU may still use memory that is freed on another.
    del there
    gc.collect()
    other.synchronize()
    cuda.synchronize()
    assert two.used == 0


def test_memory_of_the_host_that_kernels_use(gpu: StandIn) -> None:
    for make in (cuda.mapped_array, cuda.managed_array):
        a = make((2, 3), np.float32, order="F")
        a[:] = 2
        used = gpu.used
        scale[1, 8](a.T.ravel(), 3)
        scale[1, 8](a[0], 5)
        cuda.synchronize()
        assert gpu.used == used > 0 and a.tolist() == [[30] * 3, [6] * 3]
        assert isinstance(cuda.as_cuda_array(a), GpuNDArray) and a.copy_to_host().tolist() == a.tolist()
        b = a[0] + 1
        scale[1, 8](b, 2)
        assert b.tolist() == [62] * 3 and gpu.used == used
        like = cuda.mapped_array_like(a)
        assert like.strides == a.strides
        del a, like
        assert gpu.used == 0
    a = cuda.pinned_array(5, np.int64)
    a[:] = 1
    scale[1, 8](a, 2)
    assert a.tolist() == [2] * 5 and type(a) is np.ndarray and gpu.used == 40
    assert cuda.pinned_array_like(a).shape == (5,) and cuda.pinned_array((0, 3)).shape == (0, 3)


def test_captured_arrays_of_the_gpu(gpu: StandIn) -> None:
    there, table = cuda.to_device(np.arange(12.0).reshape(3, 4)), np.arange(3.0)

    class Described:
        __cuda_array_interface__ = there[:, ::2].__cuda_array_interface__

    described = Described()

    @cuda.jit
    def captures(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = there[i, 1] + described[i, 1] * 100 + table[i] * 10000
            there[i, 0] = -1

    a = np.zeros(3)
    captures[1, 32](a)
    assert a.tolist() == [201, 10605, 21009] and there.copy_to_host()[:, 0].tolist() == [-1] * 3
    there[0, 1] = 7
    captures[1, 32](a)
    assert a[0] == 207

    @njit
    def on_the_host():
        return there[0, 0]

    with pytest.raises(cuda.errors.TypingError, match="memory of a GPU"):
        on_the_host()


def test_a_kernel_reads_arrays_of_its_own_gpu(two: StandIn) -> None:
    with cuda.gpus[1]:
        there = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def double(out):  # type: ignore[no-untyped-def]
        out[cuda.threadIdx.x] = 2 * there[cuda.threadIdx.x]

    out = np.zeros(4)
    with pytest.raises(CudaAPIError, match="an array that the kernel reads is in the memory of GPU 1"):
        double[1, 4](out)
    with cuda.gpus[1]:
        double[1, 4](out)
    assert out.tolist() == [0, 2, 4, 6]
    # The last test of this file, as what a kernel reads is kept.
    cuda.current_context().enable_peer_access(1)
    double[1, 4](out)
