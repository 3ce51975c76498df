"""CuPy's interface: arrays against NumPy, what differs from NumPy, random numbers, streams, memory, test decorators."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lancehead.cupy as cp
from lancehead.cupy import testing

ROOT = Path(__file__).parents[3]


def random(shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).uniform(-9, 9, shape).astype(dtype)


def same(found, expected, is_ordered=False, rtol=1e-5):
    """Asserts that an array of the device has NumPy's type, shape, values, and order of memory if that is wanted."""
    expected = np.asarray(expected)
    assert isinstance(found, cp.ndarray)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found.get(), expected, rtol=rtol)
    if is_ordered:
        assert found.flags.c_contiguous or not expected.flags.c_contiguous
        assert found.flags.f_contiguous or not expected.flags.f_contiguous


LAYOUTS = {
    "c": lambda a: a, "f": lambda a: a.copy(order="F"), "none": lambda a: a[:0], "one": lambda a: a[:1, :1],
    "t": lambda a: a.transpose(2, 0, 1), "step": lambda a: a[::-1, ::2],
}  # fmt: skip

ORDERED = {"add", "where", "clip", "astype", "zeros_like", "swap", "cbrt", "flip", "ravel"}
FUNCTIONS = {
    "add": lambda m, a: a + a * 2, "reduce": lambda m, a: a.sum(axis=1), "all": lambda m, a: a.sum(),
    "where": lambda m, a: m.where(a > 0, a, -a), "clip": lambda m, a: a.clip(-2, 2),
    "cumsum": lambda m, a: a.cumsum(axis=0), "mean": lambda m, a: a.mean(axis=(0, 2)) if a.size else a,
    "sort": lambda m, a: m.sort(a, axis=0), "ravel": lambda m, a: a.ravel("F"), "flip": lambda m, a: m.flip(a, 1),
    "concatenate": lambda m, a: m.concatenate([a, a], axis=1), "astype": lambda m, a: a.astype(np.float64),
    "zeros_like": lambda m, a: m.zeros_like(a), "swap": lambda m, a: a.swapaxes(0, 2), "cbrt": lambda m, a: m.cbrt(a),
    "tile": lambda m, a: m.tile(a, 2), "take": lambda m, a: a.take(m.asarray([0, -1]), axis=2),
    "roll": lambda m, a: m.roll(a, 1),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions(layout):
    host = LAYOUTS[layout](random((3, 4, 5)))
    there = LAYOUTS[layout](cp.asarray(random((3, 4, 5))))
    for name, f in FUNCTIONS.items():
        same(f(cp, there), f(np, host), name in ORDERED)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64"])
def test_types(dtype):
    host = random((2, 3)).astype(dtype)
    there = cp.asarray(host)
    for f in (lambda a: a + 1, lambda a: a.T * a.T, lambda a: a.sum(0), lambda a: a == a, lambda a: a * 2.5, abs):
        same(f(there), f(host))


def test_writes_and_views():
    host, there = random((4, 5)), cp.asarray(random((4, 5)))
    for a in (host, there):
        a[1] = 7
        a[:, 2] += 1
        a.T[3] = a[0, 0]
        a[a > 5] = 0
        a[[0, 1], [2, 3]] = 9
        a.shape = (2, 10)
    same(there, host)
    assert there.T.base is there


def test_numbers_of_numpy_count_with_their_types():
    """Unlike those of Python they have types, which decide on the results' types and precision."""
    numbers = (
        np.float64(1.1),
        np.float32(1.1),
        np.complex128(0.1j),
        np.int64(2**40),
        np.uint32(2**31),
        np.float16(0.1),
    )
    for d in (np.float32, np.int32, np.float16, np.complex64):
        a = np.arange(1, 4).astype(d)
        x = cp.asarray(a)
        for s in numbers:
            precision = {"e": 1e-2, "f": 1e-6, "F": 1e-6}.get((a + s).dtype.char, 1e-13)
            same(x + s, a + s, rtol=precision)
            same(s * x, s * a, rtol=precision)
            same(cp.subtract(x, s), a - s, rtol=precision)
            same(x == s, a == s)
            same(x / 10 == s, a / 10 == s)
            same(cp.where(x > 1, x, s), np.where(a > 1, a, s))
        for s in (1.1, 2, True, 0.1j):
            same(x + s, a + s)
            same(x == s, a == s)


def test_objects_bounds_and_parts():
    a = np.arange(6).reshape(2, 3)
    x = cp.asarray(a)
    for value in (None, Ellipsis, object()):
        same(x == value, np.zeros((2, 3), bool))
        same(value != x, np.ones((2, 3), bool))
    assert (x == "a") is False
    for d in (np.uint8, np.int8, np.int64, np.uint64):
        small = np.arange(5).astype(d)
        same(cp.clip(cp.asarray(small), -(2**63), 2**64), small)
        same(cp.clip(cp.asarray(small), -1 if d in (np.int8, np.int64) else 0, 3), np.clip(small, 0, 3))
    for key in (([True, True], [[True] * 3]), np.empty((0, 1), bool), np.zeros(0, bool), np.ones(3, bool), [[]],
                (slice(None), np.zeros(0, bool)), np.empty((0, 3), bool)):  # fmt: skip
        try:
            expected = a[key if isinstance(key, (tuple, np.ndarray)) else np.asarray(key, int)]
        except IndexError:
            with pytest.raises(IndexError):
                x[key]
        else:
            same(x[key], expected)
    out = cp.zeros((2, 3), int)
    found = cp.divmod(x, 2, out=(None, out))
    assert found[1] is out
    for f, g in zip(found, np.divmod(a, 2), strict=True):
        same(f, g)
    assert cp.fft.fft2(x, axes=()) is x
    for name in ("sum", "prod", "max", "min", "mean", "var", "std"):
        there = getattr(cp, name)(a, axis=1)
        assert type(there) is np.ndarray
        np.testing.assert_array_equal(there, getattr(a, name)(1))
    same(cp.fft.ifftn(x, axes=(0,)), np.fft.ifftn(a, axes=(0,)))
    same(x.astype(np.float32, order=None), a.astype(np.float32))
    y = cp.asarray([1.0, np.nan])
    assert cp.nan_to_num(y, copy=False) is y
    same(y, np.array([1.0, 0.0]))
    for f, g in zip(cp.mask_indices(3, cp.triu, 1), np.mask_indices(3, np.triu, 1), strict=True):
        same(f, g)
    assert cp.apply_along_axis(lambda v: v.sum(), 1, cp.zeros((3, 0))).shape == (3,)
    assert cp.result_type(x, np.float32(1), "f2") == np.result_type(a, np.float32(1), "f2")
    assert (np.can_cast(x, np.float32), np.can_cast(x, np.float64)) == (False, True)
    assert np.common_type(x) is np.float64
    assert (np.min_scalar_type(x), cp.min_scalar_type(3)) == (a.dtype, np.dtype(np.uint8))
    with pytest.warns(DeprecationWarning):
        same(cp.row_stack((x, x)), np.vstack((a, a)))


def test_differs_from_numpy():
    x = cp.arange(6)
    same(x.sum(), np.asarray(15))
    assert isinstance(x.max(), cp.ndarray)
    assert not x.max().ndim
    assert x[cp.asarray([7, -8])].get().tolist() == [1, 4]
    for f in (
        lambda: np.asarray(x),
        lambda: x + np.ones(6),
        lambda: cp.cumsum(np.ones(3)),
        lambda: cp.concatenate([np.ones(3)]),
    ):
        with pytest.raises(TypeError):
            f()
    same(np.sin(x), np.sin(np.arange(6)))
    same(np.mean(x), np.asarray(2.5))
    assert cp.get_array_module(x) is cp
    assert cp.get_array_module(np.ones(2), 3) is np
    assert type(cp.asnumpy(x)) is np.ndarray


def test_host_and_device():
    x = cp.zeros((2, 3), order="F")
    x.set(random((2, 3), np.float64))
    same(x, random((2, 3), np.float64))
    out = np.empty((2, 3))
    assert x.get(out=out) is out
    with pytest.raises(TypeError):
        x.set(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError):
        x.set(np.zeros(3))
    assert x.device == cp.cuda.Device(0)
    assert x.data.ptr
    assert x[:, 1].data.ptr > x.data.ptr or x.strides[1] < 0
    same(pickle.loads(pickle.dumps(x)), x.get())


def test_scatter_and_scan():
    x = cp.zeros(3)
    x.scatter_add(cp.asarray([0, 2, 0]), cp.asarray([1.0, 2.0, 3.0]))
    assert x.get().tolist() == [4.0, 0.0, 2.0]
    x.scatter_max(cp.asarray([1, 1]), cp.asarray([5.0, 4.0]))
    assert x.get().tolist() == [4.0, 5.0, 2.0]


def test_out_and_where():
    x, out = cp.arange(4.0), cp.zeros(4)
    assert cp.add(x, 1, out=out) is out
    assert out.get().tolist() == [1, 2, 3, 4]
    cp.multiply(x, 10, out=out, where=cp.asarray([True, False, True, False]))
    assert out.get().tolist() == [0, 2, 20, 4]
    with pytest.raises(TypeError):
        cp.add(x, 1, out=cp.zeros(4, dtype=np.int32))
    with pytest.raises(ValueError):
        cp.add(x, 1, out=cp.zeros(5))


def test_linear_algebra_and_transforms():
    a = random((3, 3), np.float64)
    x = cp.asarray(a)
    same(x @ x, a @ a)
    same(cp.linalg.solve(x, x[:, 0]), np.linalg.solve(a, a[:, 0]))
    same(cp.linalg.norm(x), np.linalg.norm(a))
    w, _ = cp.linalg.eigh(x + x.T)
    same(w, np.linalg.eigh(a + a.T)[0])
    same(cp.fft.ifft(cp.fft.fft(x)).real, a)


def test_random():
    cp.random.seed(3)
    a = cp.random.rand(4, 5)
    cp.random.seed(3)
    same(cp.random.rand(4, 5), a.get())
    assert set(cp.random.randint(2, 5, 100).get().tolist()) == {2, 3, 4}
    assert sorted(cp.random.permutation(9).get().tolist()) == list(range(9))
    rng = cp.random.default_rng(1)
    same(rng.random(5), cp.random.Generator(cp.random.XORWOW(1)).random(5).get())
    assert abs(float(rng.normal(3.0, 1.0, 10_000).mean()) - 3.0) < 0.1
    with pytest.raises(ValueError):
        cp.random.randint(3, 3)


def test_streams_and_memory():
    stream, start, end = cp.cuda.Stream(), cp.cuda.Event(), cp.cuda.Event()
    with stream:
        assert cp.cuda.get_current_stream() is stream
        start.record()
        x = cp.ones(3) * 2
        end.record()
    stream.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    assert x.sum() == 6
    pool = cp.cuda.MemoryPool()
    p = pool.malloc(1000)
    assert (pool.used_bytes(), pool.total_bytes()) == (1024, 1024)
    del p
    assert (pool.used_bytes(), pool.n_free_blocks()) == (0, 1)
    pool.set_limit(size=512)
    pool.free_all_blocks()
    with pytest.raises(cp.cuda.memory.OutOfMemoryError):
        pool.malloc(1000)
    pinned = np.frombuffer(cp.cuda.alloc_pinned_memory(64), np.float64, 8)
    pinned[:] = 1
    same(cp.asarray(pinned), np.ones(8))
    assert cp.cuda.runtime.getDeviceCount() >= 1


@testing.for_all_dtypes(no_complex=True)
@testing.numpy_cupy_array_equal()
def test_decorators(xp, dtype):
    return testing.shaped_arange((2, 3), xp, dtype)[::-1] + dtype(1)


def test_decorators_see_differences():
    @testing.for_dtypes("fd")
    @testing.numpy_cupy_allclose()
    def different(xp, dtype):
        return xp.ones(2, dtype) if xp is np else xp.zeros(2, dtype)

    with pytest.raises(AssertionError):
        different()

    @testing.numpy_cupy_array_equal()
    def refused(xp):
        if xp is cp:
            raise ValueError
        return xp.ones(2)

    with pytest.raises(AssertionError):
        refused()


def test_served_names():
    assert [name for name in cp.__all__ if not hasattr(cp, name)] == []
    page = (ROOT / "docs" / "cupy.md").read_text(encoding="utf-8")
    assert [name for name in cp.__all__ if f"`{name}`" not in page] == []


def test_import_is_lazy():
    code = "import sys, lancehead; assert not any(m.startswith('lancehead.cupy') for m in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "examples" / "cupy").glob("*.py")))
def test_examples(name):
    path = ROOT / "examples" / "cupy" / f"{name}.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 2


def test_beside():
    from lancehead import cupyx
    from lancehead.cupyx import jit
    from lancehead.cupyx.scipy import special

    @jit.rawkernel()
    def twice(x, n):
        i = jit.grid(1)
        if i < n:
            x[i] *= 2

    x = cp.ones(3)
    twice((1,), (32,), (x, 3))
    twice[1, 32](x[:1], 1)
    assert x.get().tolist() == [4, 2, 2]
    cupyx.scatter_add(x, cp.asarray([0, 0]), 1.0)
    assert x.get().tolist() == [6, 2, 2]
    np.testing.assert_allclose(cupyx.rsqrt(x).get(), [6**-0.5, 2**-0.5, 2**-0.5])
    assert cupyx.zeros_pinned((2, 2)).tolist() == [[0, 0], [0, 0]]
    np.testing.assert_allclose(special.erf(cp.asarray([0.0, 9.0])).get(), [0, 1])


def test_fuse():
    @cp.fuse(kernel_name="squared_difference")
    def f(x, y):
        return (x - y) * (x - y)

    same(f(cp.arange(4.0), 1.0), np.asarray([1.0, 0.0, 1.0, 4.0]))
    assert f(3.0, 1.0) == 4.0
    with pytest.raises(TypeError):
        cp.fuse(1, 2)


def test_unsafe_output_decides():
    a = np.arange(1, 7, dtype=np.int16)
    for dtype in ("bool", "int8", "float32"):
        out, there = np.zeros(6, dtype), cp.zeros(6, dtype)
        np.add(a, a.astype(float), out=out, casting="unsafe")
        cp.add(cp.asarray(a), cp.asarray(a.astype(float)), out=there, casting="unsafe")
        same(there, out)
