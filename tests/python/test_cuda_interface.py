"""`__cuda_array_interface__`: device memory shared with other libraries."""

import numpy as np
import pytest

from lancehead import config, cuda


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
