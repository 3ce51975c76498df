"""Kernels on a GPU: the whole path through the driver, with a library that stands in for it."""

from __future__ import annotations

import gc
import mmap
import threading
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from corpus import make
from lancehead import _core, cuda
from lancehead.cuda import linking
from lancehead.cuda.cudadrv.driver import CudaAPIError
from lancehead.cuda.devicearray import GpuNDArray
from stand_in import StandIn, forget

KERNELS = make(cuda)


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


def test_host_arrays_are_copied_there_and_back(gpu: StandIn) -> None:
    x, y, out = np.arange(1000.0), np.ones(1000), np.zeros(1000)
    add[4, 256](x, y, out)
    assert np.array_equal(out, np.arange(1000) + 1.0)
    assert gpu.launches == [("add", (4, 1, 1, 256, 1, 1), 0, False)]
    assert gpu.used == 0


def test_device_arrays_stay_there(gpu: StandIn) -> None:
    x, out = cuda.to_device(np.arange(100, dtype=np.float32)), cuda.device_array(100, np.float32)
    assert isinstance(x, GpuNDArray) and gpu.used == 800
    add[1, 128](x, x, out)
    scale[1, 128](out, 3)
    assert np.array_equal(out.copy_to_host(), np.arange(100) * 6)
    assert np.array_equal(cuda.to_device(out[10:20:2]).copy_to_host(), np.arange(10, 20, 2) * 6)
    del x, out
    assert gpu.used == 0


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_of_the_corpus(gpu: StandIn, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    k = KERNELS[name]
    direct, there = (k.arguments(np.random.default_rng(1)) for _ in range(2))
    cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*there)
    assert len(gpu.launches) == 1
    monkeypatch.setenv("LANCEHEAD_CUDA_DEVICE", "cpu")
    forget()
    cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*direct)
    assert len(gpu.launches) == 1
    for a, b in zip(direct, there, strict=True):
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def test_the_card_s_facts(gpu: StandIn) -> None:
    device = cuda.get_current_device()
    assert (device.name, device.compute_capability, device.WARP_SIZE) == (b"a fake", (9, 0), 32)
    assert len(cuda.gpus) == 1 and cuda.is_available() and cuda.detect()
    free, total = cuda.current_context().get_memory_info()
    assert free == total == 64 << 20
    with pytest.raises(IndexError):
        cuda.select_device(1)


def test_scalars_tuples_and_records(gpu: StandIn) -> None:
    Pair = namedtuple("Pair", "left right")
    item = np.dtype([("x", "f4"), ("n", "i8")])

    @cuda.jit
    def mix(pair, both, c, small, flag, record, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = pair.left[i] * pair.right + both[0] + both[1][0] * c + (small if flag else 0) + record.n
            if i == 0:
                record.x = 2.5

    records, out, left = np.zeros(2, item), np.zeros(5, np.complex128), np.arange(5.0)
    records[1] = 1, 7
    for put in (lambda a: a, cuda.to_device):
        out[:] = 0
        there = put(records)
        mix[1, 32](Pair(put(left), np.float32(0.5)), (3, (1.5, "x")[:1]), 2 - 1j, np.int8(-3), True, there[1], out)
        assert np.array_equal(out, left * 0.5 + 3 + 1.5 * (2 - 1j) - 3 + 7)
        now = there if put is not cuda.to_device else there.copy_to_host()
        assert now["x"].tolist() == [0, 2.5]


def test_overlapping_host_arrays_are_one_memory(gpu: StandIn) -> None:
    @cuda.jit
    def shift(a, b, c):
        i = cuda.threadIdx.x
        x = a[i]
        cuda.syncthreads()
        b[i] = x
        c[0, i % 2] = -1

    memory, square = np.arange(10.0), np.arange(12.0).reshape(3, 4)
    shift[1, 9](memory[:-1], memory[1:], square[::2, 3:0:-2])
    assert memory.tolist() == [0, *range(9)]
    square_want = np.arange(12.0).reshape(3, 4)
    square_want[0, [1, 3]] = -1
    assert np.array_equal(square, square_want)


def test_what_is_copied_there_and_what_back(gpu: StandIn) -> None:
    a, b, c = np.ones(4), np.ones(4), np.ones(4)
    fixed = np.full(4, 5.0)
    fixed.flags.writeable = False

    @cuda.jit
    def k(a, b, c, fixed):
        i = cuda.grid(1)
        b[i] = a[i] + fixed[i]
        a[i] = 0
        c[i] += 1

    k[1, 4](cuda.In(a), cuda.Out(b), cuda.InOut(c), fixed)
    assert (a.tolist(), b.tolist(), c.tolist()) == ([1] * 4, [6] * 4, [2] * 4)
    scale[1, 4](np.zeros(0), 2)
    pinned, mapped = cuda.pinned_array(4), cuda.mapped_array(4)
    pinned[:] = mapped[:] = 3
    scale[1, 4](pinned, 2)
    scale[1, 4](mapped, 2)
    cuda.synchronize()
    assert pinned.tolist() == mapped.tolist() == [6] * 4


def test_arrays_are_pinned_and_profilers_told(gpu: StandIn) -> None:
    # These have pages of their own: a page can be registered once.
    a, whole = (np.frombuffer(mmap.mmap(-1, 8 * n)) for n in (1 << 16, 1 << 18))
    a[:] = whole[:] = 1
    b = whole.reshape(1 << 9, 1 << 9)[::2, 1:3]
    with cuda.pinned(a, b, np.zeros(0)), cuda.profiling():
        assert (gpu.library.fake_registered(), gpu.library.fake_profiled()) == (2, 1)
        scale[1, 4](a, 2)
    assert gpu.library.fake_registered() == 0 and a[:5].tolist() == [2] * 4 + [1]


def test_views_and_copies(gpu: StandIn) -> None:
    host = np.arange(24.0).reshape(2, 3, 4)
    for h in (host, np.asfortranarray(host)):
        d = cuda.to_device(h)
        assert d.strides == h.strides and d.copy_to_host().strides == h.strides
        for view in (lambda a: a[1], lambda a: a[:, ::-1, 1:3], lambda a: a[..., 0], lambda a: a[0, 1, 2],
                     lambda a: a[:, None],
                     lambda a: a.transpose((2, 0, 1)), lambda a: a[1, ..., 2:],
                     lambda a: a.view(np.int64)):  # fmt: skip
            got, want = view(d), view(h)
            got = got.copy_to_host() if isinstance(got, GpuNDArray) else got
            assert np.array_equal(got, want) and got.dtype == want.dtype
    d = cuda.to_device(host)
    assert np.array_equal(d.reshape(6, 4).T.copy_to_host(), host.reshape(6, 4).T)
    assert np.array_equal(d.ravel().copy_to_host(), host.ravel())
    with pytest.raises(NotImplementedError, match="would require copy"):
        d[:, :, 1:].reshape(-1)
    with pytest.raises(NotImplementedError, match="integers and slices"):
        d[[0, 1]]
    want = host.copy()
    d[0, 1:, ::2], want[0, 1:, ::2] = 7, 7
    d[1, 2, 3], want[1, 2, 3] = -1, -1
    d[1, :2] = cuda.to_device(np.ones(4))
    want[1, :2] = 1
    assert np.array_equal(d.copy_to_host(), want)
    other = cuda.device_array_like(d)
    other.copy_to_device(d)
    d.copy_to_device(np.zeros_like(host))
    assert np.array_equal(other.copy_to_host(), want) and not np.asarray(d).any()
    assert np.array_equal(cuda.to_device(other[0, :, 1:]).copy_to_host(), want[0, :, 1:])
    with pytest.raises(ValueError, match="incompatible shape"):
        d.copy_to_device(host[0])
    assert cuda.device_array((3, 0)).copy_to_host().shape == (3, 0)
    assert cuda.device_array((2, 3), np.int32, strides=(-12, 4)).copy_to_host().shape == (2, 3)


def test_other_libraries_arrays(gpu: StandIn) -> None:
    d = cuda.to_device(np.arange(6, dtype=np.int16).reshape(2, 3))

    class Theirs:
        __cuda_array_interface__ = d.T.__cuda_array_interface__

    assert Theirs.__cuda_array_interface__["data"][0] == d.device_ctypes_pointer.value
    assert np.array_equal(cuda.as_cuda_array(Theirs()).copy_to_host(), d.copy_to_host().T)
    scale[1, 32](cuda.as_cuda_array(d).ravel(), 2)

    @cuda.jit
    def negate(a):
        i, j = cuda.grid(2)
        a[i, j] = -a[i, j]

    negate[1, (3, 2)](Theirs())
    assert d.copy_to_host().tolist() == [[0, -2, -4], [-6, -8, -10]]


def test_dynamic_shared_memory_and_cooperative_launches(gpu: StandIn) -> None:
    @cuda.jit
    def reverse(a):
        s = cuda.shared.array(0, np.float32)
        i = cuda.threadIdx.x
        s[i] = a[i]
        cuda.syncthreads()
        a[i] = s[a.size - 1 - i]

    @cuda.jit
    def whole(a):
        i = cuda.grid(1)
        x = a[a.size - 1 - i]
        cuda.cg.this_grid().sync()
        a[i] = x

    a = np.arange(64, dtype=np.float32)
    reverse[1, 64, 0, 256](a)
    whole[2, 32](a)
    assert a.tolist() == list(range(64))
    assert [launch[2:] for launch in gpu.launches] == [(256, False), (0, True)]


def test_dynamic_shared_memory_beside_that_of_the_kernel(gpu: StandIn) -> None:
    @cuda.jit
    def both(a):
        some, more = cuda.shared.array(2, np.float32), cuda.shared.array(0, np.float32)
        i = cuda.threadIdx.x
        some[i], more[i] = a[i], 1
        cuda.syncthreads()
        a[i] = some[1 - i] + more[1 - i]

    a = np.array([1, 2], np.float32)
    # Together more than a kernel has without asking: the library that stands in refuses it unless it is asked.
    both[1, 2, 0, 48 << 10](a)
    assert a.tolist() == [3, 2]


def test_threads_of_python_have_no_context_at_first(gpu: StandIn) -> None:
    a, start, end = cuda.to_device(np.ones(4)), cuda.event(), cuda.event()
    start.record()
    scale[1, 4](a, 2)
    end.record()
    facts: list[Any] = []

    def elsewhere() -> None:
        end.synchronize()
        facts.extend(
            [end.query(), cuda.event_elapsed_time(start, end), next(iter(scale.overloads.values())).regs_per_thread]
        )

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert facts[1:] == [1.5, 32]


def test_arrays_that_change_places(gpu: StandIn) -> None:
    @cuda.jit
    def swap(a, b, n):
        for _ in range(n):
            a, b = b, a
        a[cuda.threadIdx.x] = n

    a, b = np.zeros(3), np.zeros(3)
    swap[1, 3](a, b, 3)
    assert (a.tolist(), b.tolist()) == ([0] * 3, [3] * 3)


def test_exceptions_are_read_back(gpu: StandIn) -> None:
    @cuda.jit(debug=True, opt=False)
    def checked(a, n):
        i = cuda.grid(1)
        if i == 5:
            raise ValueError("five")
        a[i + n] = i

    a = np.zeros(8, np.int64)
    with pytest.raises(ValueError, match=r"tid=\[1, 0, 0\] ctaid=\[1, 0, 0\]: five") as caught:
        checked[2, 4](a, 0)
    assert caught.value.thread == (1, 0, 0) and "in test_exceptions" in caught.value.__notes__[0]
    with pytest.raises(IndexError, match=r"tid=\[0, 0, 0\]"):
        checked[1, 1](a, 8)
    checked[1, 4](a, 4)
    assert a.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_errors_are_those_that_cuda_has(gpu: StandIn) -> None:
    a = cuda.to_device(np.ones(4))
    for grid, block, shared in (
        (1, 2048, 0),
        (0, 1, 0),
        (1 << 32, 1, 0),
        ((1, 70000), 1, 0),
        (1, 1, -1),
        (1, 1, 1 << 20),
    ):
        with pytest.raises(CudaAPIError, match=r"\[1\] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE"):
            scale[grid, block, 0, shared](a, 2)
    with pytest.raises(
        CudaAPIError, match=r"\[2\] Call to cuMemAlloc(FromPool)?Async results in CUDA_ERROR_OUT_OF_MEMORY"
    ):
        cuda.device_array(1 << 40, np.uint8)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'factor'"):
        scale[1, 4](a)
    with pytest.raises(cuda.errors.TypingError):
        scale[1, 4](a, None)
    view = a[1:]
    a.gpu_data.free()
    for use in (lambda: a.copy_to_host(), lambda: scale[1, 4](a, 2), lambda: a[0]):
        with pytest.raises(CudaAPIError, match="freed"):
            use()
    assert view.copy_to_host().tolist() == [1, 1, 1]
    cuda.close()
    with pytest.raises(CudaAPIError, match="freed"):
        scale[1, 4](view, 2)
    gc.collect()
    assert gpu.used == 0


def test_what_a_gpu_does_not_do_yet_is_said(gpu: StandIn) -> None:
    @cuda.jit
    def texts(a, s):
        a[0] = len(s)

    @cuda.jit
    def buffers(a, b):
        a[0] = b[0]

    with pytest.raises(cuda.errors.TypingError, match="a GPU has no strings but constants"):
        texts[1, 1](np.zeros(1), "text")
    with pytest.raises(cuda.errors.UnsupportedError, match="LANCEHEAD_CUDA_DEVICE=cpu"):
        buffers[1, 1](np.zeros(1), b"text")


def test_texts_are_passed_on(gpu: StandIn) -> None:
    @cuda.jit
    def chosen(a, names, which):
        # The driver's own function would print them.
        text = names[0] if which else names[1]
        if a[0] < 0:
            print(text, a[0])
        a[0] = 1

    types = "void(float64[::1], UniTuple(unicode_type, 2), boolean)"
    assert "vprintf" in cuda.compile_ptx(chosen.py_func, types)[0]

    @cuda.jit
    def beside(a, name, factor):
        a[cuda.grid(1)] *= factor[0]

    a = np.ones(3)
    beside[1, 3](a, "a name", (2.0, "é"))
    beside[1, 3](cuda.as_cuda_array(cuda.to_device(a)), "", (2.0, ""))
    assert a.tolist() == [2] * 3


def test_a_kernel_has_no_code_for_the_cpu(gpu: StandIn) -> None:
    d = cuda.to_device(np.ones(4))
    kernel = cuda.jit(scale.py_func, launch_bounds=(128, 2))
    kernel[1, 4](d, 2)
    ((types, facts),) = kernel.overloads.items()
    assert (facts.entry, kernel.get_regs_per_thread(types), facts.shared_mem_per_block) == ("gpu", 32, 0)
    assert facts.max_cooperative_grid_blocks(128) == 16 * 132 and facts.max_cooperative_grid_blocks(256) == 0
    assert ".entry scale" in kernel.inspect_asm(types) and "nvptx" in kernel.inspect_llvm(types)
    kernel.recompile()
    kernel[1, 4](d, 2)
    assert d.copy_to_host().tolist() == [4] * 4


def test_signatures_are_compiled_for_the_gpu_only(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make, a = [], _core.dispatcher, np.ones(4)
    monkeypatch.setattr(
        _core, "dispatcher", lambda function, options, *rest: made.append(options) or make(function, options, *rest)
    )
    cuda.jit("void(float64[::1], int64)")(scale.py_func)[1, 4](a, 2)
    assert a.tolist() == [2] * 4 and ["_gpu" in options for options in made] == [True]


def test_several_arguments_are_a_tuple_and_parameters_have_defaults(gpu: StandIn) -> None:
    @cuda.jit
    def add(out, *ins, factor=2):
        i = cuda.grid(1)
        out[i] = factor * (ins[0][i] + ins[1][i]) + len(ins)

    host, there = np.zeros(4), cuda.to_device(np.arange(4.0))
    launch = add[1, 4]
    launch(host, there, np.ones(4))
    assert host.tolist() == [4, 6, 8, 10]
    out = cuda.to_device(host)
    launch(out, there, there, there)
    assert out.copy_to_host().tolist() == [3, 7, 11, 15]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        launch()


def test_arrays_that_are_not_aligned_are_refused_there(gpu: StandIn) -> None:
    d = cuda.to_device(np.zeros(33, np.uint8))
    beside = d[1:].view(np.float64)
    for given in (beside, (beside,)):
        with pytest.raises(cuda.errors.UnsupportedError, match="not aligned"):
            cuda.jit(lambda a: None)[1, 1](given)
    copy = cuda.to_device(beside)
    scale[1, 4](copy, 2)
    assert copy.copy_to_host().tolist() == [0] * 4


def test_other_devices_and_options_take_the_long_way(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cuda.jit(scale.py_func)
    launch = kernel[1, 4]
    assert (launch.griddim, launch.blockdim, launch.dispatcher) == ((1, 1, 1), (4, 1, 1), kernel)
    d, host = cuda.to_device(np.ones(4)), np.ones(4)
    launch(d, 2)
    launch(d, np.float32(2))
    launch(host, True)
    monkeypatch.setenv("LANCEHEAD_CUDA_DEVICE", "cpu")
    forget()
    launch(host, 3)
    assert host.tolist() == [3] * 4
    monkeypatch.delenv("LANCEHEAD_CUDA_DEVICE")
    forget()
    again = kernel[1, 4]
    assert again is not launch and kernel[1, 4] is again
    launch(host, 1)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        launch(1, 2, 3)
    with pytest.raises(TypeError, match="lists"):
        launch([1.0], 2)


def test_signatures_globals_and_reductions(gpu: StandIn) -> None:
    @cuda.jit("void(float32[:], float32)")
    def eager(a, x):
        a[cuda.grid(1)] = x / 2

    a = np.zeros(3, np.float32)
    eager[1, 3](a, 3)
    assert a.tolist() == [1.5] * 3 and len(eager.signatures) == 1

    @cuda.reduce
    def total(x, y):
        return x + y

    assert total(cuda.to_device(np.arange(1000))) == total(np.arange(1000)) == 499500


def test_the_choice_of_devices(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(device: str, driver: str | None) -> Any:
        monkeypatch.setenv("LANCEHEAD_CUDA_DEVICE", device)
        monkeypatch.setenv("LANCEHEAD_CUDA_DRIVER", driver or str(gpu.path))
        forget()
        return cuda.get_current_device().name

    assert choose("gpu", None) == choose("", None) == b"a fake"
    assert choose("cpu", None) == choose("", "nowhere.so") == b"CPU"
    with pytest.raises(cuda.errors.CudaSupportError, match="there is no GPU"):
        choose("gpu", "nowhere.so")
    with pytest.raises(cuda.errors.CudaSupportError, match="it is cpu or gpu"):
        choose("tpu", None)


MIXED = """.version 7.8
.target sm_75
.address_size 64
.visible .func (.param .b32 status) mixed(.param .b64 result, .param .b32 x, .param .b32 negate, .param .b64 y)
{
    .reg .b32 %r<4>;
    .reg .f64 %d<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p;
    ld.param.u64 %rd1, [result];
    ld.param.s32 %r1, [x];
    ld.param.u32 %r2, [negate];
    ld.param.f64 %d1, [y];
    cvt.rn.f64.s32 %d2, %r1;
    add.f64 %d3, %d1, %d2;
    setp.ne.u32 %p, %r2, 0;
    @%p neg.f64 %d3, %d3;
    st.f64 [%rd1], %d3;
    mov.u32 %r3, 0;
    st.param.b32 [status+0], %r3;
    ret;
}
"""


def test_machine_code_is_joined_to_kernels(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = cuda.declare_device("mixed", "float64(int16, bool_, float64)", link=cuda.Cubin(b"machine code"))
    seen = []

    def joined(ptx: str, functions: list[Any], kernel: int, arch: str, lines: bool) -> bytes:
        seen.append((functions, kernel, arch, lines))
        return b"\x7fFAKE" + linking._joined([ptx, MIXED]).encode()

    monkeypatch.setattr(linking, "machine_code", joined)

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = mixed(x[i], x[i] < 0, y[i]) + mixed(1, False, 1)

    x, y, assembled = np.arange(-8, 8, dtype=np.int16), np.full(16, 0.5), gpu.assembled
    kernel[1, 32](x, y)
    kernel[1, 32](x, y.copy())
    assert (y == np.where(x < 0, -(x + 0.5), x + 0.5) + 2).all() and gpu.assembled == assembled
    major, minor = cuda.get_current_device().compute_capability
    assert seen == [([mixed], 0, f"sm_{major}{minor}", False)]
