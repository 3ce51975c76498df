"""`__cuda_array_interface__`: device memory shared with other libraries."""

import numpy as np
import pytest

from lancehead import config, cuda, errors, vectorize


class Foreign:
    def __init__(self, array):
        self.kept = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_there_and_back():
    a = np.arange(12.0).reshape(3, 4)
    d = cuda.to_device(a)
    described = d.__cuda_array_interface__
    assert described["shape"] == (3, 4) and described["typestr"] == "<f8" and described["version"] == 3
    assert described["strides"] is None and described["stream"] is None
    other = cuda.as_cuda_array(Foreign(d[:, ::2]))
    assert other.shape == (3, 2) and (other.copy_to_host() == a[:, ::2]).all()
    other[:] = 7.0
    assert (d.copy_to_host()[:, ::2] == 7).all()
    assert cuda.is_cuda_array(Foreign(d)) and not cuda.is_cuda_array(a)
    assert cuda.device_array(0).__cuda_array_interface__["data"][0] == 0


def test_as_arguments_and_captured():
    d = cuda.to_device(np.zeros(4))
    shared = Foreign(d)

    @cuda.jit
    def add(a, x):
        a[cuda.grid(1)] += x

    @cuda.jit
    def captured():
        shared[cuda.grid(1)] = d[cuda.grid(1)] + 1

    add[1, 4](shared, 2)
    captured[1, 4]()
    assert (d.copy_to_host() == 3).all()


def test_ufuncs():
    @cuda.vectorize(["float64(float64, float64)"])
    def add(a, b):
        return a + b

    a = np.arange(4.0)
    out = Foreign(cuda.device_array(4))
    assert (add(Foreign(cuda.to_device(a)), 1.0).copy_to_host() == a + 1).all()
    assert (add(a, 2.0, out=out).copy_to_host() == a + 2).all()
    assert (out.kept.copy_to_host() == a + 2).all()


def test_reductions_whatever_a_ufunc_is_called():
    @vectorize(["float64(float64, float64)", "int32(int32, int32)"], target="cuda")
    def add(x, y):
        return x + y

    for dtype in (np.int32, np.float64):
        total = add.reduce(np.arange(100, dtype=dtype))
        assert total == 4950 and total.dtype == dtype


def test_streams_and_what_is_refused():
    stream = cuda.stream()
    d = cuda.device_array(3, stream=stream)
    assert d.__cuda_array_interface__["stream"] == int(stream)
    made = cuda.as_cuda_array(Foreign(d))
    assert made.stream.external and int(made.stream) == int(stream)
    masked = {**d.__cuda_array_interface__, "mask": d}
    with pytest.raises(NotImplementedError, match="Masked arrays are not supported"):
        cuda.from_cuda_array_interface(masked)
    with pytest.raises(TypeError, match="cuda array interface"):
        cuda.as_cuda_array(3)
    assert cuda.mapped_array(3).__cuda_array_interface__["stream"] is None
    assert cuda.managed_array(3, stream=stream).__cuda_array_interface__["stream"] == int(stream)


def test_what_waits_to_be_freed_is_counted():
    waiting = cuda.current_context().deallocations
    waiting.clear()
    with cuda.defer_cleanup():
        cuda.to_device(np.ones(3))
        waiting.clear()
        assert len(waiting) == 1
    waiting.clear()
    for _ in range(config.CUDA_DEALLOCS_COUNT + 1):
        cuda.to_device(np.ones(3))
    assert len(waiting) == 0


def test_short_vectors():
    float4, float2, short2 = cuda.float4, cuda.float2, cuda.short2

    @cuda.jit
    def kernel(out):
        v = float4(float2(1, 2.5), 3, 4)
        w = short2(70000, 2)
        out[0], out[1], out[2], out[3], out[4] = v.x, v.y, v.z, v.w, w.x

    out = np.zeros(5)
    kernel[1, 1](out)
    assert out.tolist() == [1, 2.5, 3, 4, 70000 - 65536]


@pytest.mark.parametrize("name", cuda.vector_types.vector_types)
def test_short_vectors_are_elements(name):
    vector, last = cuda.vector_types.vector_types[name], int(name[-1]) - 1

    @cuda.jit
    def turn(a, out):
        s, own = cuda.shared.array((2, 32), vector), cuda.local.array(3, vector)
        t = cuda.threadIdx.x
        if last == 0:
            s[0, t] = vector(a[t])
        elif last == 1:
            s[0, t] = vector(t, a[t])
        elif last == 2:
            s[0, t] = vector(t, t, a[t])
        else:
            s[0, t] = vector(t, t, t, a[t])
        cuda.syncthreads()
        s[1, t] = s[0, 31 - t]
        own[1], own[0] = s[1, t], s[0, t]
        own[0], own[-1] = own[1], own[0]
        d = cuda.shared.array(0, vector)
        d[t] = own[0]
        cuda.syncthreads()
        out[t], out[32 + t] = d[t][last], own[2][last]
        if t == 0:
            out[64] = d.size

    a, out = np.arange(32).astype(vector.base_type.name), np.zeros(65)
    size = a.itemsize * (last + 1) * 32
    for kernel in (turn, cuda.jit(debug=True)(turn.py_func)):
        kernel[1, 32, 0, size](a, out)
        assert out.tolist() == [*range(31, -1, -1), *range(32), 32]


def test_what_is_stored_as_a_short_vector():
    @cuda.jit(device=True)
    def total(vectors):
        s = 0.0
        for v in vectors:
            s += v.x * v.y
        return s

    @cuda.jit
    def kernel(out):
        s = cuda.local.array(4, cuda.double2)
        for i in range(4):
            s[i] = (i, i + 1.0)
        s[:2] = s[2:]
        out[0], out[1], out[2], out[3] = total(s), total(s[::2]), s[1].y, s.view(np.float64)[2]

    out = np.zeros(4)
    kernel[1, 1](out)
    assert out.tolist() == [36, 12, 4, 3]

    @cuda.jit
    def three(out):
        cuda.local.array(4, cuda.float2)[0] = cuda.float3(1, 2, 3)

    with pytest.raises(errors.TypingError, match="`float32x2` takes 2 numbers, 3 were given"):
        three[1, 1](out)

    @cuda.jit
    def part(out):
        s = cuda.local.array(4, cuda.float2)
        s[0].x = 1

    with pytest.raises(errors.UnsupportedError, match="make a new one of the old one's parts"):
        part[1, 1](out)
