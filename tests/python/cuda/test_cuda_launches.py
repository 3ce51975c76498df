"""Around launches: kernels for other processes, callbacks, addresses as arguments, numbers given to ufuncs of a
device."""

import gc
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from lancehead import carray, cuda, njit, types
from lancehead.errors import NumbaPerformanceWarning


def made_here(scale):
    @cuda.jit(device=True)
    def inner(x):
        return x * scale

    @cuda.jit
    def outer(a):
        a[cuda.grid(1)] = inner(a[cuda.grid(1)])

    return outer


def test_kernels_that_have_no_name_go_by_value():
    kernel = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made_here(3)))))
    a = np.arange(4.0)
    kernel[2, 2](a)
    assert a.tolist() == [0, 3, 6, 9]
    eager = pickle.loads(pickle.dumps(cuda.jit("void(int32[::1])")(made_here(2).py_func)))
    assert eager.specialized and [str(s) for s in eager.signatures] == ["(array(int32, 1d, C),)"]
    # Another process needs the module whose globals the functions use.
    code = (
        "import pickle, sys, numpy as np; k = pickle.load(sys.stdin.buffer); a = np.arange(3.0); k(a); "
        "print(a.tolist(), k.blockdim)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(made_here(5)[1, 3]),
        capture_output=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    assert done.stdout.decode().strip() == "[0.0, 5.0, 10.0] (3, 1, 1)"


def test_ufuncs_that_have_no_name_go_by_value():
    for options in ({}, {"fastmath": True}):
        twice = cuda.vectorize(["int64(int64)", "float64(float64)"], **options)(lambda x: x * 2)
        assert pickle.loads(pickle.dumps(twice))(np.arange(3)).tolist() == [0, 2, 4]


def test_callbacks_before_launches():
    launch, seen = made_here(2)[1, 4], []
    launch.pre_launch_callbacks.append(lambda kernel, launch: seen.append((kernel.__name__, launch.blockdim)))
    launch(np.zeros(4))
    assert seen == [("outer", (4, 1, 1))]
    with pytest.raises(pickle.PicklingError, match="callbacks"):
        pickle.dumps(launch)


@cuda.jit
def scaled(a, by, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * by


def test_launches_that_are_kept():
    launch = scaled[1, 4]
    assert scaled[1, 4] is launch and launch.griddim == (1, 1, 1) and launch.stream == 0
    out, strided = np.zeros(4), np.zeros(8)
    unaligned = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)
    device = cuda.to_device(np.arange(4.0))
    for a in (
        np.arange(4.0),
        np.arange(4, dtype=np.int8),
        device,
        cuda.managed_array(4),
        np.arange(4.0).view(np.memmap),
    ):
        if isinstance(a, np.ndarray):
            a[:] = range(4)
        for to in (out, strided[::2], unaligned):
            for by in (2, 2.5, np.float32(3), True):
                launch(a, by, to)
                assert to.tolist() == [0, by, 2 * by, 3 * by]
    there = cuda.device_array(4)
    launch(device, 3, there)
    assert there.copy_to_host().tolist() == [0, 3, 6, 9]
    pairs = cuda.jit(lambda pair: set_first(*pair))
    pairs[1, 1]((out, device))
    assert out[0] == 1


@cuda.jit(device=True)
def set_first(to, a):
    to[0] = a[1]


def test_what_kept_launches_refuse():
    launch, a = scaled[1, 4], np.zeros(4)
    freed = cuda.to_device(a)
    launch(freed, 1, a)
    cuda.current_context().reset()
    big = np.zeros(4, ">f8")
    on_stream = scaled[1, 4, cuda.stream()]
    on_stream(a, 1, a)
    for wrong in ((freed, 1, a), (a, 1), (a, 1, a, a), (a, 1 << 70, a), (a, object(), a), (big, 1, a)):
        with pytest.raises(Exception) as quick:
            launch(*wrong)
        with pytest.raises(type(quick.value)) as slow:
            on_stream(*wrong)
        assert str(quick.value) == str(slow.value)
    with pytest.raises(TypeError):
        launch(a, by=1, out=a)
    with pytest.raises(IndexError, match=r"tid=\[2, 0, 0\] ctaid=\[1, 0, 0\]") as raised:
        by_index[2, 3](np.zeros(5))
    assert raised.value.thread == (2, 0, 0)


@cuda.jit
def by_index(a):
    a[cuda.grid(1)] = 1


def test_what_changes_between_kept_launches(monkeypatch):
    from lancehead import config

    launch, a = using_global[1, 2], np.zeros(2)
    launch(a)
    assert a.tolist() == [1, 1]
    monkeypatch.setitem(globals(), "ADDED", 5)
    launch(a)
    assert a.tolist() == [6, 6]
    seen = []
    launch.pre_launch_callbacks.append(lambda *_: seen.append(1))
    launch(a)
    launch.pre_launch_callbacks.clear()
    launch(a)
    assert seen == [1] and a.tolist() == [16, 16]
    monkeypatch.setattr(config, "CUDA_WARN_ON_IMPLICIT_COPY", 1)
    with pytest.warns(NumbaPerformanceWarning, match="Host array"):
        launch(a)
    monkeypatch.undo()
    kernel = made_here(3)
    kernel[1, 2](a)
    gone = weakref.ref(kernel), weakref.ref(kernel[1, 2])
    del kernel
    gc.collect()
    assert [g() for g in gone] == [None, None]


ADDED = 1


@cuda.jit
def using_global(a):
    a[cuda.grid(1)] += ADDED


def test_callbacks_of_linked_code():
    alive, count = [], []
    source = cuda.CUSource(
        "",
        setup_callback=lambda code: (alive.append(code.handle), count.append(1)),
        teardown_callback=lambda code: alive.remove(code.handle),
    )
    kernel = cuda.jit(link=[source])(made_here(2).py_func)
    for dtype in (np.float64, np.float64, np.int32):
        kernel[1, 1](np.zeros(1, dtype))
    assert len(set(alive)) == len(count) == 2
    cuda.current_context().reset()
    assert not alive
    kernel[1, 1](np.zeros(1))
    assert len(alive) == 1
    del kernel
    gc.collect()
    assert not alive and len(count) == 3


def test_addresses_as_arguments():
    signature = types.void(types.CPointer(types.float32), types.CPointer(types.int16), types.uint32)

    @cuda.jit(signature)
    def kernel(to, source, n):
        i = cuda.grid(1)
        if i < n:
            to[i] += source[i] * 2
            to[i] -= carray(source, (n,))[0]

    to, source = cuda.to_device(np.ones(5, np.float32)), cuda.to_device(np.arange(1, 6, dtype=np.int16))
    kernel[1, 32](*(a.__cuda_array_interface__["data"][0] for a in (to, source)), 4)
    assert to.copy_to_host().tolist() == [2, 4, 6, 8, 1]
    with pytest.raises(TypeError, match="No matching definition"):
        kernel[1, 32](1.5, 2.5, 4)
    a = np.array([1, 2, 3])
    get = njit("int64(CPointer(int64), int64)")(lambda p, i: p[i])
    assert get(a.ctypes.data, 2) == 3 and get(a[1:].ctypes.data, -1) == 1


def test_numbers_become_what_a_generalised_ufunc_takes():
    @cuda.guvectorize(["void(int32, int32[:], int32[:])"], "(),(t)->(t)")
    def scale(a, b, out):
        for i in range(b.size):
            out[i] = a * b[i]

    b = np.arange(4, dtype=np.int32)
    for number in (2, np.int64(2), np.uint8(2)):
        assert scale(number, b).tolist() == [0, 2, 4, 6]
    for wrong in (2.5, cuda.to_device(np.array(2)), np.array([2])):
        with pytest.raises(TypeError):
            scale(wrong, b)


@cuda.jit(device=True)
def first_sum(arrays, i):
    return arrays[0][i] + first_sum(arrays[1:], i) if len(arrays) > 0 else 0


@cuda.jit
def add_all(out, *ins):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = first_sum(ins, i)


@cuda.jit
def scale(out, a, factor=3, *more, offset=1):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * factor + offset + len(more)


def test_several_arguments_are_a_tuple():
    out, a, b = np.zeros(4), np.arange(4), np.ones(4, np.float32)
    for ins, expected in (((), 0 * a), ((a,), a), ((a, b), a + b), ((a, b, a), 2 * a + b)):
        add_all[1, 4](out, *ins)
        assert out.tolist() == expected.tolist()
    assert "tuple" in str(add_all.signatures[-1]).lower()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        add_all[1, 4]()


def test_parameters_have_defaults():
    out, a = np.zeros(4), np.arange(4)
    for args, expected in (((), 3 * a + 1), ((2,), 2 * a + 1), ((2.5, 1, "x"), 2.5 * a + 3)):
        scale[1, 4](out, a, *args)
        assert out.tolist() == expected.tolist()
