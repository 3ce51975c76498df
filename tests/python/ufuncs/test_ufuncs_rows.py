"""Rows of generalised ufuncs that run together: the bits of row after row, whatever the shapes, strides and
overlaps."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancehead import guvectorize

KINDS = {np.float64: "float64", np.float32: "float32", np.complex128: "complex128", np.int64: "int64"}


def normalise(a, out):
    n = a.shape[0]
    s = a[0] * 0
    for j in range(n):
        s += a[j]
    q = s * 0
    for j in range(n):
        q += (a[j] - s) * (a[j] - s)
    for j in range(n):
        out[j] = (a[j] - s) * q


def moments(a, b, total, last):
    s = b * 0
    for j in range(a.shape[0]):
        s += a[j] * b
    total[0] = s
    for j in range(a.shape[0]):
        last[j] = a[j] + s


def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = out[0, 0] * 0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s


def running(a, out):
    s = a[0] * 0
    for j in range(a.shape[0]):
        s += a[j]
        out[j] = s


CORES = {
    normalise: ("({t}[:], {t}[:])", "(n)->(n)", 1),
    moments: ("({t}[:], {t}, {t}[:], {t}[:])", "(n),()->(),(n)", 2),
    product: ("({t}[:, :], {t}[:, :], {t}[:, :])", "(m,k),(k,n)->(m,n)", 2),
    running: ("({t}[:], {t}[:])", "(n)->(n)", 1),
}


def made(core, dtype):
    signature, layout, _ = CORES[core]
    return guvectorize([signature.format(t=KINDS[dtype])], layout)(core)


compiled = {(core, dtype): made(core, dtype) for core in CORES for dtype in KINDS}


def row_by_row(core, ins, outs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(len(outs[0])):
            views = [o[i, None] if o.ndim == 1 else o[i] for o in outs]
            core(*(a[i] for a in ins), *views)


def values(rng, shape, dtype):
    a = (
        rng.integers(-9, 10, shape)
        if dtype == np.int64
        else rng.normal(size=shape) * np.exp(4 * rng.normal(size=shape))
    )
    return (a + 1j * rng.normal(size=shape)).astype(dtype) if dtype == np.complex128 else a.astype(dtype)


def laid_out(a, kind):
    """The same values in memory of another form."""
    if kind == "reversed":
        return a[::-1].copy()[::-1]
    if kind == "F":
        return np.asfortranarray(a)
    if kind == "spread":
        wide = np.zeros((2 * a.shape[0] + 1, *(2 * n + 1 for n in a.shape[1:])), a.dtype)
        part = wide[tuple(slice(0, 2 * n, 2) for n in a.shape)]
        part[...] = a
        return part
    return a.copy()


def shapes(core, rows, n, m):
    if core is product:
        return [(rows, m, n), (rows, n, m)], [(rows, m, m)]
    return [(rows, n), (rows,)][: CORES[core][2]], [(rows,), (rows, n)] if core is moments else [(rows, n)]


forms = st.sampled_from(["C", "F", "reversed", "spread"])


@settings(deadline=None)
@given(
    st.sampled_from(list(CORES)),
    st.sampled_from(list(KINDS)),
    st.integers(0, 40),
    st.integers(1, 9),
    st.integers(1, 4),
    st.lists(forms, min_size=4, max_size=4),
    st.integers(0, 2**32),
)
def test_the_bits_of_row_after_row(core, dtype, rows, n, m, kinds, seed):
    rng = np.random.default_rng(seed)
    in_shapes, out_shapes = shapes(core, rows, n, m)
    ins = [laid_out(values(rng, s, dtype), k) for s, k in zip(in_shapes, kinds, strict=False)]
    outs = [laid_out(np.zeros(s, dtype), k) for s, k in zip(out_shapes, kinds[2:], strict=False)]
    expected = [np.zeros(s, dtype) for s in out_shapes]
    row_by_row(core, ins, expected)
    compiled[core, dtype](*ins, *outs)
    for got, want in zip(outs, expected, strict=True):
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 40])
def test_results_over_inputs(rows):
    rng = np.random.default_rng(rows)
    for shift in (0, 1, 3):
        ours = rng.normal(size=(rows + 4) * 6)
        expected = ours.copy()
        inside, outside = (m[: rows * 6].reshape(rows, 6) for m in (ours, expected))
        over, want = (m[shift : shift + rows * 6].reshape(rows, 6) for m in (ours, expected))
        computed = np.zeros((rows, 6))
        row_by_row(normalise, [outside], [computed])
        want[...] = computed
        compiled[normalise, np.float64](inside, over)
        assert ours.tobytes() == expected.tobytes()


def test_rows_that_share_memory():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(20, 6))
    ours, expected = np.zeros(30), np.zeros(30)
    shared, want = (np.lib.stride_tricks.as_strided(m, (20, 6), (8, 8)) for m in (ours, expected))
    computed = np.zeros((20, 6))
    row_by_row(normalise, [a], [computed])
    for i in range(20):
        want[i] = computed[i]
    compiled[normalise, np.float64](a, shared)
    assert ours.tobytes() == expected.tobytes()


def test_one_row_for_all():
    a, out, expected = np.arange(7.0), np.zeros((19, 7)), np.zeros((19, 7))
    row_by_row(normalise, [np.broadcast_to(a, (19, 7))], [expected])
    compiled[normalise, np.float64](np.broadcast_to(a, (19, 7)), out)
    assert (out == expected).all()


def test_exceptions_come_where_they_came():
    @guvectorize(["(float64[:], float64[:], float64[:])"], "(n),(m)->()")
    def beyond(a, b, out):
        s = 0.0
        for j in range(a.shape[0]):
            s += a[j] * b[j]
        out[0] = s

    out = np.full(20, 7.0)
    with pytest.raises(IndexError):
        beyond(np.ones((20, 3)), np.ones((20, 2)), out)
    assert (out == 7).all()
    beyond(np.ones((20, 2)), np.ones((20, 3)), out)
    assert (out == 2).all()


def test_the_first_of_none():
    with pytest.raises(IndexError):
        compiled[normalise, np.float64](np.zeros((9, 0)))
    assert compiled[normalise, np.float64](np.zeros((0, 5))).shape == (0, 5)


def test_softmax():
    @guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
    def softmax(a, out):
        m = a[0]
        for j in range(a.shape[0]):
            m = max(m, a[j])
        s = 0.0
        for j in range(a.shape[0]):
            out[j] = math.exp(a[j] - m)
            s += out[j]
        for j in range(a.shape[0]):
            out[j] /= s

    a = np.random.default_rng(6).normal(size=(43, 17))
    one_by_one = np.stack([softmax(row) for row in a])
    assert softmax(a).tobytes() == one_by_one.tobytes()
    e = np.exp(a - a.max(1, keepdims=True))
    assert np.allclose(softmax(a), e / e.sum(1, keepdims=True), rtol=1e-14)
