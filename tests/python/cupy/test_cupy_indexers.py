"""Arrays and indexers in bodies of CuPy's kernels: `CArray`, `CIndexer`, `loop_prep`, names of reductions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lancehead import cupy as cp

GRID = np.arange(6.0).reshape(2, 3)


def elementwise(ins, outs, body, *args, **named):
    size = named.pop("size", None)
    kernel = cp.ElementwiseKernel(ins, outs, body, "k", **named)
    return (kernel(*args) if size is None else kernel(*args, size=size)).get()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("z = x.ndim * 100 + x.shape()[0] * 10 + _ind.get()[0]", [220, 221, 222]),
        ("ptrdiff_t j[] = {1, i}; z = x[j]", GRID[1]),
        ("z = x[{1, i}]", GRID[1]),
        ("z = x[i + x.shape()[1]]", GRID[1]),
        ("const ptrdiff_t* s = x.shape(); z = s[1] * s[0] + x.size()", [12] * 3),
        ("_ind.set(n - 1 - i); z = _ind.get()[0] + _ind.size() * _ind.ndim", [5, 4, 3]),
    ],
)
def test_raw_arrays(body, expected):
    for x in (cp.asarray(GRID), cp.asarray(GRID.T.copy()).T, cp.asarray(np.pad(GRID, 2))[2:4, 2:5]):
        np.testing.assert_array_equal(elementwise("raw T x", "T z", body, x, size=3), expected)


def test_strides_of_raw_arrays():
    x = cp.asarray(GRID)
    for a, strides in ((x, (24, 8)), (x.T, (8, 24)), (x[:, ::2], (24, 16))):
        np.testing.assert_array_equal(elementwise("raw T x", "int64 z", "z = x.strides()[i]", a, size=2), strides)
        is_dense = elementwise("raw T x", "bool z", "z = x.c_contiguous", a, size=1)
        assert is_dense.item() == (a is x)


def test_indices_of_elements():
    x, turned = cp.asarray(GRID), cp.asarray(GRID).T
    body = "z = _ind.get()[0] * 10 + _ind.get()[_ind.ndim - 1]"
    rows, columns = np.indices((2, 3))
    np.testing.assert_array_equal(elementwise("T x", "int64 z", body, x, reduce_dims=False), rows * 10 + columns)
    # Axes that follow each other in memory are one.
    np.testing.assert_array_equal(elementwise("T x", "int64 z", body, x), np.arange(6).reshape(2, 3) * 11)
    np.testing.assert_array_equal(elementwise("T x", "int64 z", body, turned), columns.T * 10 + rows.T)
    cube = cp.asarray(np.arange(24.0).reshape(2, 3, 4))[:, :, :3]
    assert set(elementwise("T x", "int64 z", "z = _ind.ndim", cube).flat) == {2}
    found = elementwise("T x, raw T y", "T z", "z = y[_ind.get()]", x, x, reduce_dims=False)
    np.testing.assert_array_equal(found, GRID)
    # A kernel has a text for each rank.
    kernel = cp.ElementwiseKernel("T x", "int64 z", "z = _ind.ndim", "k", reduce_dims=False)
    assert [int(kernel(cp.ones((1,) * n)).max()) for n in (1, 2, 3)] == [1, 2, 3]


def test_before_and_after_the_loop():
    five = cp.arange(5.0)
    expected = np.arange(5.0) * 8
    twice = "template<typename T> __device__ T twice(T a) { return 2 * a; }"
    prep = "T last = twice(x[_ind.size() - 1]);"
    found = elementwise("raw T x, T y", "T z", "z = y * last", five, five, preamble=twice, loop_prep=prep)
    np.testing.assert_array_equal(found, expected)
    found = elementwise("T x, T y", "T z", "z = x + c", five, five, loop_prep="T c = _raw_y[1] + _raw_x.size();")
    np.testing.assert_array_equal(found, np.arange(5.0) + 6)
    out = cp.zeros(5)
    elementwise("T x, raw T w", "T z", "s += x; z = s", five, out, loop_prep="T s = 1;", after_loop="w[0] = 4;")
    found = elementwise("T x, raw T w", "T z", "z = w[i % w.size()] + _raw_x[n - 1 - i]", five, cp.ones(2))
    np.testing.assert_array_equal(found, np.arange(5.0)[::-1] + 1)


def test_leaving_an_element():
    four = cp.arange(4.0)
    body = "z = t; if (x < 2) continue; for (int k = 0; k < 9; k++) { if (k == 2) break; z += x; }"
    np.testing.assert_array_equal(elementwise("T x, T t", "T z", body, four, 7.0), [7, 7, 11, 13])
    np.testing.assert_array_equal(elementwise("T x", "T z", "z = 1; if (x > 1) return; z = 5", four), [5, 5, 1, 1])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("shape", [(2, 3), (70, 130)])
def test_names_of_reductions(axis, shape):
    x = np.random.default_rng(0).integers(0, 9, shape).astype(float)
    total = x.sum(axis=axis)
    size = x.size // np.size(total)

    def reduced(map_expr, post, reduce="a + b", identity="0", ins="T x", args=(), **named):
        kernel = cp.ReductionKernel(ins, "float64 y", map_expr, reduce, post, identity, "k", **named)
        return kernel(cp.asarray(x), *args, axis=axis).get()

    np.testing.assert_allclose(reduced("x", "y = a / _in_ind.size()"), total / x.size)
    np.testing.assert_allclose(reduced("x", "y = a / (_in_ind.size() / _out_ind.size())"), x.mean(axis=axis))
    np.testing.assert_array_equal(reduced("_J", "y = a"), np.full(total.shape, size * (size - 1) // 2))
    own = np.arange(np.size(total)).reshape(total.shape)
    np.testing.assert_array_equal(reduced("_i", "y = a + 10 * _i", "max(a, b)"), own * 11)
    np.testing.assert_array_equal(reduced("_j", "y = a", "min(a, b)", None), own)
    np.testing.assert_array_equal(reduced("_type_reduce(x)", "y = static_cast<_type_reduce>(a)"), total)
    w = np.arange(float(size))
    found = reduced("x * w[_J]", "y = a + w.size() + w.ndim", ins="T x, raw T w", args=(cp.asarray(w),))
    turned = x.reshape(-1) if np.ndim(total) == 0 else x if axis != 0 else x.T
    np.testing.assert_allclose(found, (turned * w).sum(axis=-1) + size + 1)
    places = reduced("_in_ind.get()[_in_ind.ndim - 1]", "y = a + _in_ind.ndim", "max(a, b)", reduce_dims=False)
    last = shape[1] - 1 if np.ndim(total) == 0 else own
    np.testing.assert_array_equal(places, last + 2)
    if np.ndim(total):
        np.testing.assert_array_equal(reduced("x", "y = _out_ind.get()[0] * _out_ind.ndim"), own)


def test_places_of_extremes():
    x = np.random.default_rng(1).permutation(600).reshape(20, 30)
    kernel = cp.ReductionKernel(
        "int64 x", "int64 y", "x * 1000 + _J", "a > b ? a : b", "y = a % 1000", "-1", "place", reduce_type="long long"
    )
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(kernel(cp.asarray(x), axis=axis).get(), x.argmax(axis=axis))


def test_refused_members():
    x = cp.arange(3.0)
    for body, name in (("z = x.rank()", "rank"), ("z = _ind.shape()[0]", "shape"), ("z = x.place", "place")):
        with pytest.raises(cp.cuda.compiler.CompileException, match=name):
            elementwise("raw T x", "T z", body, x, size=1)
    with pytest.raises(cp.cuda.compiler.CompileException, match="1 indices are needed, not 2"):
        elementwise("raw T x", "T z", "z = x[{0, 1}]", x, size=1)
    assert math.isclose(float(elementwise("raw T x", "T z", "z = x[{2}]", x, size=1)[0]), 2.0)
