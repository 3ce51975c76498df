"""Reductions, sorting and products of matrices against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancehead import njit
from strategies import ALL, FLOATS, INTEGERS, NUMBERS, REAL, arrays, check, elements, layouts


@njit
def total(a):
    return a.sum()


@njit
def product(a):
    return a.prod()


@njit
def mean(a):
    return a.mean()


@njit
def least(a):
    return a.min()


@njit
def greatest(a):
    return a.max()


@njit
def places(a):
    return a.argmin(), a.argmax()


@njit
def truth(a):
    return a.any(), a.all()


@njit
def total_down(a):
    return a.sum(axis=0)


@njit
def total_across(a):
    return a.sum(axis=1)


@njit
def extremes_across(a):
    return a.min(axis=1), a.max(axis=1)


@njit
def places_down(a):
    return np.argmin(a, axis=0), np.argmax(a, axis=0)


@njit
def truth_down(a):
    return np.any(a, axis=0), np.all(a, axis=0)


@njit
def mean_down(a):
    return a.mean(axis=0)


@pytest.mark.parametrize("reduction", [total, product, mean], ids=lambda f: f.__name__)
@given(a=arrays(NUMBERS, plain=True))
def test_sums(reduction, a):
    check(reduction, a, tolerance=1e-5)


@pytest.mark.parametrize("reduction", [total, product], ids=lambda f: f.__name__)
@given(a=arrays(INTEGERS))
def test_sums_of_integers_wrap(reduction, a):
    check(reduction, a)


@pytest.mark.parametrize("reduction", [least, greatest, places], ids=lambda f: f.__name__)
@given(a=arrays(("bool", *REAL)))
def test_extremes(reduction, a):
    check(reduction, a)


@given(a=arrays(ALL))
def test_truth(a):
    check(truth, a)


@pytest.mark.parametrize("reduction", [total_down, total_across, mean_down], ids=lambda f: f.__name__)
@given(a=arrays(("float64", "int32", "uint8", "bool"), dims=(2, 2), plain=True))
def test_sums_along_an_axis(reduction, a):
    check(reduction, a, tolerance=1e-14)


@pytest.mark.parametrize("reduction", [extremes_across, places_down, truth_down], ids=lambda f: f.__name__)
@given(a=arrays(("float64", "int16"), dims=(2, 2)))
def test_others_along_an_axis(reduction, a):
    check(reduction, a)


@njit
def sort(a):
    return np.sort(a)


@njit
def sort_in_place(a):
    a.sort()
    return a


@njit
def order(a):
    return a[np.argsort(a)[0]] if a.size else a.sum(), np.argsort(a).sum()


@given(a=arrays(("bool", *REAL), dims=(1, 1)))
def test_sort(a):
    check(sort, a)
    check(sort_in_place, a)


@given(a=st.lists(st.floats(), max_size=300).map(np.array))
def test_sort_of_many(a):
    check(sort, a.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32, np.int16, np.uint8])
def test_sort_by_digits(dtype):
    """Lengths around those from which numbers are dealt by their bytes, of which some are all alike."""
    random = np.random.default_rng(3)
    sort = njit(lambda x: np.sort(x))
    for n in [199, 200, 799, 800, 1500, 70000]:
        bits = random.integers(0, 1 << 32, n, dtype=np.uint32)
        for x in [bits, bits % 5, bits << 20, np.sort(bits), np.sort(bits)[::-1].copy(), bits[:1].repeat(n)]:
            a = x.view(dtype) if dtype().itemsize == 4 else x.astype(dtype)
            want, got = np.sort(a), sort(a)
            assert np.array_equal(got, want, equal_nan=dtype == np.float32)


@given(a=arrays(REAL, dims=(1, 1)))
def test_argsort(a):
    check(order, a)


@njit
def matmul(a, b):
    return a @ b


@st.composite
def matrices(draw):
    """Two matrices, or vectors, that can mostly be multiplied."""
    dtype = draw(st.sampled_from(("float64", "float32", "complex128", "int64")))
    n, m, k = (draw(st.integers(0, 5)) for _ in range(3))
    shapes = draw(st.sampled_from((((n, m), (m, k)), ((n, m), (m,)), ((m,), (m, k)), ((m,), (m,)), ((n, m), (k, n)))))
    made = []
    for shape in shapes:
        values = [draw(elements(dtype, plain=True)) for _ in range(int(np.prod(shape)))]
        made.append(layouts(np.array(values, dtype).reshape(shape), draw(st.sampled_from(("C", "F", "strided")))))
    return made


@given(operands=matrices())
def test_matmul(operands):
    check(matmul, *operands, tolerance=1e-5)


@njit
def cosine(a, b):
    return np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b))


def test_dot_in_an_expression():
    check(cosine, np.arange(1.0, 5.0), np.arange(4.0, 0.0, -1.0), tolerance=1e-15)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 127, 128, 129, 1000, 10_007])
def test_sum_of_many(dtype, size):
    a = np.random.default_rng(size).random(size).astype(dtype)
    assert total(a) == pytest.approx(float(a.astype(np.float64).sum()), rel=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.optimised
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_partial_sums_are_a_vector(dtype):
    """Eight of them, added side by side, give the bits that NumPy's give; blocks of a pool end elsewhere."""

    @njit(parallel=False)
    def whole(a):
        return np.sum(a)

    for n in [1, 7, 8, 9, 16, 127, 128, 129, 1000, 5003]:
        a = np.random.default_rng(n).random(n).astype(dtype)
        assert whole(a) == np.sum(a) and whole(a[::2]) == np.sum(a[::2])
    code = "".join(whole.inspect_llvm().values())
    assert f" x {'double' if dtype == 'f8' else 'float'}>" in code


TRUTHS = [
    lambda a: np.sum(a, dtype=np.bool_),
    lambda a: np.prod(a, dtype=np.bool_),
    lambda a: np.cumsum(a, dtype=np.bool_),
    lambda a: np.cumprod(a, dtype=np.bool_),
    lambda a: np.sum(a, 0, np.bool_),
    lambda a: np.prod(a, 1, bool),
    lambda a: np.cumsum(a, 1, np.bool_),
    lambda a: np.cumprod(a, 0, np.bool_),
    lambda a: np.sum(a, (0, 1), np.bool_),
    lambda a: np.sum(a, 1, np.bool_, keepdims=True),
    lambda a: a.sum(dtype=np.bool_),
    lambda a: a.prod(0, np.bool_),
    lambda a: np.nansum(a, dtype=np.bool_),
    lambda a: np.nansum(a, 0, np.bool_),
    lambda a: np.nanprod(a, 1, np.bool_),
    lambda a: np.nancumsum(a, 0, np.bool_),
    lambda a: np.nancumprod(a, dtype=np.bool_),
    lambda a: np.mean(a, dtype=np.bool_),
    lambda a: np.add.reduce(a, 0, np.bool_),
    lambda a: np.multiply.reduce(a, 1, np.bool_),
    lambda a: np.add.accumulate(a, 0, np.bool_),
]


@pytest.mark.parametrize("f", TRUTHS, ids=range(len(TRUTHS)))
def test_truth_values_are_not_counted(f):
    compiled, parallel = njit(f), njit(f, parallel=True)
    for a in (
        np.array([[256, 0, 3], [2, 0, 1]]),
        np.array([[0.5, np.nan], [0.0, -0.0]]),
        np.zeros((2, 2)),
        np.ones((3, 2), bool),
        np.ones((2, 0)).reshape(1, 0) if f is TRUTHS[0] else np.ones((1, 1)),
    ):
        want = f(a)
        for g in (compiled, parallel):
            got = g(a)
            assert np.asarray(got).dtype == bool
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("options", [{}, {"parallel": True}])
@pytest.mark.parametrize("value", [2.5, 3, True, 1 - 2j, np.nan])
def test_zero_dimensional_arrays(options, value):
    fs = [
        lambda a: np.sum(a),
        lambda a: np.prod(a),
        lambda a: np.mean(a),
        lambda a: np.var(a),
        lambda a: np.std(a),
        lambda a: a.std(ddof=0, keepdims=True),
        lambda a: np.min(a),
        lambda a: np.max(a),
        lambda a: np.argmin(a),
        lambda a: np.argmax(a),
        lambda a: np.all(a),
        lambda a: np.any(a),
        lambda a: np.cumsum(a),
        lambda a: np.cumprod(a),
        lambda a: np.count_nonzero(a),
        lambda a: np.sum(a, keepdims=True),
        lambda a: a.mean() + a.sum(),
        lambda a: np.nansum(a),
        lambda a: np.nanmean(a),
        lambda a: np.nanstd(a),
        lambda a: np.sort(np.sum(a, axis=()).reshape(1)),
        lambda a: np.sum(a, ()),
        lambda a: (a + 1).sum(),
        lambda a: (a * a).mean(),
    ]
    a = np.array(value)
    with np.errstate(all="ignore"):
        for f in fs:
            np.testing.assert_allclose(njit(f, **options)(a), f(a), rtol=1e-12)
