"""One kernel on arguments of all kinds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from guarded import Task
from lancehead import cuda

N = 1 << 20


@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


def _arguments() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.random(N, np.float32), rng.random(N, np.float32)


def host_arrays() -> None:
    """Arrays of the host are copied there and back."""
    a, b = _arguments()
    out = np.full(N, np.nan, np.float32)
    vector_add[N // 256, 256](a, b, out)
    np.testing.assert_array_equal(out, a + b)


def device_arrays() -> None:
    """Arrays of the device stay there."""
    a, b = _arguments()
    out = cuda.device_array(N, np.float32)
    vector_add[N // 256, 256](cuda.to_device(a), cuda.to_device(b), out)
    np.testing.assert_array_equal(out.copy_to_host(), a + b)


def stream() -> None:
    """A stream does what is put into it in order."""
    a, b = _arguments()
    stream = cuda.stream()
    there, other = cuda.to_device(a, stream=stream), cuda.to_device(b, stream=stream)
    for _ in range(10):
        vector_add[N // 256, 256, stream](there, other, there)
    want = a.copy()
    for _ in range(10):
        want += b
    np.testing.assert_array_equal(there.copy_to_host(stream=stream), want)
    stream.synchronize()


def two_streams() -> None:
    """Two streams do not mix their work; one waits for the other's event."""
    a, b = _arguments()
    streams, event = [cuda.stream(), cuda.stream()], cuda.event(timing=False)
    there = [cuda.to_device(a, stream=streams[0]), cuda.to_device(b, stream=streams[1])]
    for _ in range(20):
        for array, stream in zip(there, streams, strict=True):
            scale[N // 256, 256, stream](array, np.float32(2))
    event.record(streams[0])
    event.wait(streams[1])
    out = cuda.device_array(N, np.float32)
    vector_add[N // 256, 256, streams[1]](*there, out)
    np.testing.assert_array_equal(out.copy_to_host(stream=streams[1]), a * np.float32(2**20) + b * np.float32(2**20))


def scalars() -> None:
    """Scalars of all sizes arrive."""

    @cuda.jit
    def each(half, flag, c, small, unsigned, wide, out):
        out[0] = half
        out[1] = 1.0 if flag else 2.0
        out[2] = c.real
        out[3] = c.imag
        out[4] = small
        out[5] = unsigned
        out[6] = wide

    for flag in (True, False):
        out = np.zeros(7)
        each[1, 1](np.float16(1.5), flag, np.complex64(2 - 3j), np.int8(-4), np.uint16(65535), -(2**40), out)
        assert out.tolist() == [1.5, 1.0 if flag else 2.0, 2, -3, -4, 65535, -(2**40)], out
        each[1, 1](np.float16(-0.25), np.bool_(flag), 5 + 6j, np.int8(7), np.uint16(8), 9, out)
        assert out.tolist() == [-0.25, 1.0 if flag else 2.0, 5, 6, 7, 8, 9], out


def small_types() -> None:
    """Arrays of types that are smaller than a register, or larger."""
    for dtype in ("f2", "i1", "u1", "i2", "i8", "f8", "c8", "c16"):
        a = np.arange(100).astype(dtype)
        out = np.zeros_like(a)
        vector_add[1, 128](a, a, out)
        np.testing.assert_array_equal(out, a + a, err_msg=dtype)


def records() -> None:
    """Records have the layout of NumPy's."""
    item = np.dtype([("x", "f4"), ("n", "i8"), ("k", "i1")], align=True)

    @cuda.jit
    def double(items):
        i = cuda.grid(1)
        if i < items.size:
            items[i].x *= 2
            items[i].n += items[i].k

    host = np.zeros(100, item)
    host["x"], host["n"], host["k"] = np.arange(100), np.arange(100) << 40, np.arange(100) - 50
    there = cuda.to_device(host)
    double[1, 128](there)
    back = there.copy_to_host()
    np.testing.assert_array_equal(back["x"], host["x"] * 2)
    np.testing.assert_array_equal(back["n"], host["n"] + host["k"])


def _many(count: int) -> None:
    names = [f"a{i}" for i in range(count)]
    made: dict[str, object] = {}
    exec(f"def total({', '.join(names)}, out):\n    out[0] = {' + '.join(names)}", made)
    out = np.zeros(1, np.int64)
    cuda.jit(made["total"])[1, 1](*range(count), out)
    assert out[0] == sum(range(count)), out


def scalars_300() -> None:
    """As many bytes of scalars as all drivers take."""
    _many(300)


def scalars_600() -> None:
    """More than 4352 bytes of scalars: GPUs from 7.0 on take them, with drivers of CUDA 12.1 and later."""
    _many(600)


def empty_arrays() -> None:
    """Arrays without elements, and grids that have nothing to do."""
    nothing = np.zeros(0, np.float32)
    vector_add[1, 32](nothing, nothing, nothing)
    there = cuda.device_array((3, 0), np.float32)
    assert there.copy_to_host().shape == (3, 0)
    scale[1, 32](there.reshape(0), 2)
    cuda.synchronize()


def views() -> None:
    """Views with strides, negative ones too, of the host and of the device."""
    host = np.arange(4000, dtype=np.float32)
    for put in (lambda a: a, cuda.to_device):
        a = put(host.copy())
        out = np.zeros(1000, np.float32)
        vector_add[4, 256](a[::-4], a[1::4], out)
        np.testing.assert_array_equal(out, host[::-4] + host[1::4])
        scale[8, 256](a[::2], np.float32(3))
        back = a if put is not cuda.to_device else a.copy_to_host()
        np.testing.assert_array_equal(back, np.where(np.arange(4000) % 2, host, host * 3))


def without_dimensions() -> None:
    """Arrays of no dimension."""

    @cuda.jit
    def add_one(a):
        a[()] += 1

    host, there = np.array(1.5), cuda.to_device(np.array(2.5))
    add_one[1, 1](host)
    add_one[1, 1](there)
    assert host == 2.5 and there.copy_to_host() == 3.5


def checks() -> Iterator[Task]:
    """Of this step."""
    every = (
        host_arrays, device_arrays, stream, two_streams, scalars, small_types, records, scalars_300, scalars_600,
        empty_arrays, views, without_dimensions,
    )  # fmt: skip
    for check in every:
        yield Task(check.__name__, check)
