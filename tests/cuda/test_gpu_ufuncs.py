"""Ufuncs and reductions on a GPU, and on the CPU device: the results are those of the CPU's ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import cuda, guvectorize, vectorize
from lancehead.cuda.devicearray import DeviceNDArray, GpuNDArray
from stand_in import StandIn, forget


def blend(x, y):
    return x * 2 + y


def both(f: Any, *signatures: Any) -> tuple[Any, Any]:
    return vectorize(list(signatures))(f), cuda.vectorize(list(signatures))(f)


def same(got: Any, want: Any) -> None:
    got = got.copy_to_host() if isinstance(got, DeviceNDArray) else got
    assert type(got) is type(want) and got.dtype == want.dtype and np.shape(got) == np.shape(want)
    assert np.array_equal(got, want)


ARGUMENTS = {
    "one dimension": (np.arange(1000.0), np.arange(1000.0)[::-1]),
    "broadcast": (np.arange(12.0).reshape(3, 1, 4), np.arange(5.0)[:, None]),
    "a number": (np.arange(7.0), 2.5),
    "numbers": (1.5, 2),
    "no dimension": (np.array(1.5), np.float64(2)),
    "Fortran's order": (np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)), np.asfortranarray(np.ones((2, 3, 4)))),
    "both orders": (np.arange(12.0).reshape(3, 4), np.asfortranarray(np.ones((3, 4)))),
    "gaps": (np.arange(48.0).reshape(4, 12)[::2, 1::3], np.arange(4.0)),
    "backwards": (np.arange(10.0)[::-1], np.arange(10)),
    "other types": (np.arange(6, dtype=np.int16).reshape(2, 3), np.array([True, False, True])),
    "nothing": (np.ones((0, 3)), np.ones(3)),
    "not numbers": (np.array([np.nan, np.inf, -0.0]), np.array([1, -np.inf, -0.0])),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_elements(gpu: StandIn, name: str) -> None:
    args = ARGUMENTS[name]
    on_host, there = both(blend, "float64(float64, float64)")
    with np.errstate(invalid="ignore"):
        want = on_host(*args)
    assert repr(there(*args)) == repr(want) and type(there(*args)) is type(want)
    # Arrays with gaps are parts of whole ones.
    dense = [a if np.ndim(a) == 0 else cuda.to_device(np.ascontiguousarray(a)) for a in args]
    if any(isinstance(d, GpuNDArray) for d in dense):
        got = there(*dense)
        assert isinstance(got, GpuNDArray) and repr(got.copy_to_host()) == repr(np.asarray(want))
    assert bool(gpu.launches) == (np.size(want) > 0)


def test_types_are_those_of_the_cpu_s_loops(gpu: StandIn) -> None:
    on_host, there = both(
        blend, "float32(float32, float32)", "float64(float64, float64)", "complex64(complex64, complex64)"
    )
    for x in (np.ones(3, np.float32), np.ones(3, np.int8), np.ones(3, np.int64), np.ones(3, np.complex64)):
        for y in (2, 2.5, np.float32(3), np.arange(3, dtype=np.float16)):
            same(there(cuda.to_device(x), y), on_host(x, y))
    with pytest.raises(TypeError, match="not supported for the input types"):
        there(cuda.to_device(np.ones(3, np.complex128)), 1)
    learned, by_itself = vectorize(blend), cuda.vectorize(blend)
    for a in (np.arange(4, dtype=np.int32), np.arange(4, dtype=np.float32)):
        same(by_itself(cuda.to_device(a), 2), learned(a, 2))


def test_outputs(gpu: StandIn) -> None:
    on_host, there = both(blend, "float64(float64, float64)")
    x, y = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    want = on_host(x, y)
    for like in (np.zeros((3, 4)), np.zeros((3, 4), np.float32), np.zeros((3, 4), order="F"), np.zeros((2, 3, 4))):
        out = cuda.to_device(like)
        assert there(x, cuda.to_device(y), out=out) is out
        assert np.array_equal(out.copy_to_host(), np.broadcast_to(want, like.shape))
        host = np.zeros_like(like)
        assert there(x, cuda.to_device(y), host) is host and np.array_equal(host, out.copy_to_host())
    part = cuda.to_device(np.zeros((6, 8)))
    there(x, y, out=part[::2, 1::2])
    assert np.array_equal(part.copy_to_host()[::2, 1::2], want) and not part.copy_to_host()[1::2].any()
    with pytest.raises(TypeError, match="same_kind"):
        there(x, y, out=cuda.device_array((3, 4), np.int32))
    for shape in ((4,), (3, 1), (3, 5)):
        with pytest.raises(ValueError):
            there(x, y, out=cuda.device_array(shape))
    a = cuda.to_device(np.arange(8.0))
    there(a, a, out=a)
    assert a.copy_to_host().tolist() == [3.0 * i for i in range(8)]
    there(a[:-1], 0, out=a[1:])
    assert a.copy_to_host().tolist() == [0, *(6.0 * i for i in range(7))]


def test_several_results_and_streams(gpu: StandIn) -> None:
    @cuda.vectorize(["int64(int64, int64)"])
    def rest(x, y):
        return x % y

    stream = cuda.stream()
    x = cuda.to_device(np.arange(10), stream=stream)
    assert rest(x, 3, stream=stream).copy_to_host(stream=stream).tolist() == [i % 3 for i in range(10)]
    rest.max_blocksize = 4
    gpu.launches.clear()
    rest(x, 3)
    assert gpu.launches[0][1] == (3, 1, 1, 4, 1, 1)
    with pytest.raises(TypeError, match="positional"):
        rest(x)


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_reductions(gpu: StandIn, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANCEHEAD_CUDA_DEVICE", where)
    forget()

    @cuda.reduce
    def total(x, y):
        return x + y

    @cuda.reduce
    def largest(x, y):
        return max(x, y)

    add = cuda.vectorize(["int64(int64, int64)"])(lambda x, y: x + y)
    for n in (1, 2, 255, 256, 257, 5000, 100003):
        a = np.random.default_rng(n).integers(-1000, 1000, n)
        for given in (a, cuda.to_device(a)):
            assert total(given) == add.reduce(given) == a.sum() and total(given, init=5) == a.sum() + 5
            assert largest(given, init=-2000) == a.max() and largest(given, size=1, init=-2000) == a[0]
        res = cuda.to_device(np.zeros(1, np.int64))
        assert total(cuda.to_device(a)[::2], res=res) is None and res.copy_to_host()[0] == a[::2].sum()
    assert total(np.zeros(0), init=3) == 3
    for bad in (np.ones((2, 2)), np.ones(0)):
        with pytest.raises((AssertionError, TypeError)):
            add.reduce(cuda.to_device(bad))


def test_rows(gpu: StandIn) -> None:
    def shifted(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y

    def dot(a, b, out):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = 0
                for k in range(b.shape[0]):
                    out[i, j] += a[i, k] * b[k, j]

    def norm(x, out):
        out[0] = 0
        for v in x:
            out[0] += v * v

    r = np.random.default_rng(1)
    cases = [
        (shifted, "void(float64[:], float64, float64[:])", "(n),()->(n)", (r.random((4, 3)), r.random(4))),
        (shifted, "void(float64[:], float64, float64[:])", "(n),()->(n)", (np.arange(3), 2)),
        (shifted, "void(float64[:], float64, float64[:])", "(n),()->(n)", (r.random((2, 1, 3)), r.random((5, 2)).T)),
        (shifted, "void(float64[:], float64, float64[:])", "(n),()->(n)", (r.random((0, 3)), 1.0)),
        (dot, "void(float32[:,:], float32[:,:], float32[:,:])", "(m,n),(n,p)->(m,p)",
         (r.integers(0, 9, (5, 2, 3)).astype("f4"), r.integers(0, 9, (3, 4)).astype("f4"))),
        (norm, "void(float64[:], float64[:])", "(n)->()", (r.integers(0, 9, (3, 2, 4))[:, :, ::2],)),
        (norm, "void(float64[:], float64[:])", "(n)->()", (r.integers(0, 9, 4),)),
    ]  # fmt: skip
    for f, signature, layout, args in cases:
        on_host, there = guvectorize([signature], layout)(f), cuda.guvectorize([signature], layout)(f)
        want = on_host(*args)
        assert np.array_equal(there(*args), want) and there(*args).dtype == want.dtype
        given = [cuda.to_device(np.ascontiguousarray(a)) if np.ndim(a) else a for a in args]
        same(there(*given), np.asarray(want))
        wide = cuda.to_device(np.zeros((2, *np.shape(want), 2)))
        there(*given, out=wide[:, ..., 1])
        assert (
            np.array_equal(wide.copy_to_host()[..., 1], np.broadcast_to(want, (2, *np.shape(want))))
            and not wide.copy_to_host()[..., 0].any()
        )

    @cuda.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(n),()")
    def pair(x, y, total):
        total[0] = 7
        for i in range(x.shape[0]):
            y[i] = x[i] + 1
            total[0] += x[i]

    for a in (np.arange(6.0).reshape(2, 3), np.zeros((2, 0))):
        y, total = pair(cuda.to_device(a))
        assert np.array_equal(y.copy_to_host(), a + 1) and np.array_equal(total.copy_to_host(), a.sum(axis=1) + 7)
    with pytest.raises(ValueError, match="core dimension n"):
        cuda.guvectorize([cases[4][1]], cases[4][2])(dot)(np.ones((2, 3), "f4"), np.ones((2, 3), "f4"))
    grown = cuda.guvectorize("(n),()->(n)")(shifted)
    out = cuda.device_array((2, 3))
    grown(cuda.to_device(np.ones((2, 3))), 2, out)
    assert out.copy_to_host().tolist() == [[3] * 3] * 2
