"""`lancehead.sparse` against `scipy.sparse`: formats, types of values and of indices, empty and unsorted arrays."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

from lancehead import sparse

scipy_sparse = pytest.importorskip("scipy.sparse")

pytestmark = pytest.mark.filterwarnings("ignore")

FORMATS = ("csr", "csc", "coo", "bsr")
#: Loops are compiled for each type: few types are in all tests, the others in those of a few operations.
DTYPES = ("bool", "int8", "float64", "complex64")
OTHERS = ("uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "complex128")
SHAPES = ((4, 6), (6, 4), (1, 1), (0, 3), (3, 0), (0, 0), (1, 9), (9, 1), (12, 12))


def entries(shape, dtype, index, seed=0, density=0.4):
    """Places in no order, of which some are there twice, and values, of which some are zero."""
    rng = np.random.default_rng(seed)
    n = int(shape[0] * shape[1] * density)
    row = rng.integers(0, max(shape[0], 1), n).astype(index)
    col = rng.integers(0, max(shape[1], 1), n).astype(index)
    if dtype == "bool":
        # SciPy counts a place that is there twice in some operations, and not in others.
        _, once = np.unique(row.astype(int) * max(shape[1], 1) + col, return_index=True)
        row, col, n = row[once], col[once], once.size
    data = rng.integers(0, 4, n).astype(dtype)
    if np.dtype(dtype).kind == "c":
        data += (1j * rng.integers(0, 3, n)).astype(dtype)
    if np.dtype(dtype).kind == "i":
        data -= np.asarray(1, dtype)
    return data, (row, col)


def pair(shape, dtype="float64", index="int32", seed=0, format="csr", messy=True):
    """An array of ours and one of SciPy, whose rows are in no order and have places twice if `messy`."""
    data, (row, col) = entries(shape, dtype, index, seed)
    if format == "coo":
        return (
            sparse.coo_array((data, (row, col)), shape=shape),
            scipy_sparse.coo_array((data, (row, col)), shape=shape),
        )
    if format == "bsr" or not messy:
        plain = scipy_sparse.coo_array((data, (row, col)), shape=shape).asformat(format)
        return sparse.SparseArray.from_scipy(plain.copy()), plain
    major, minor, n = (row, col, shape[0]) if format == "csr" else (col, row, shape[1])
    order = np.argsort(major, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=n)[:n])]).astype(index)
    parts = data[order], minor[order], indptr
    made = getattr(sparse, f"{format}_array")(parts, shape=shape, copy=True)
    return made, getattr(scipy_sparse, f"{format}_array")(parts, shape=shape, copy=True)


def same(found, expected, exact=True):
    """Kind, format, shape, type and values."""
    if scipy_sparse.issparse(expected):
        assert isinstance(found, sparse.SparseArray), type(found)
        assert found.format == expected.format
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        found, expected = found.toarray(), expected.toarray()
    else:
        assert not isinstance(found, sparse.SparseArray)
    if isinstance(expected, np.ndarray | np.generic):
        assert np.shape(found) == expected.shape
        assert np.asarray(found).dtype == expected.dtype
    if exact and np.asarray(expected).dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def agree(f, *pairs):
    """The same result, or the same class of exception with a message that has the same numbers and first word."""
    ours, theirs = [p[0] for p in pairs], [p[1] for p in pairs]
    try:
        expected = f(*theirs)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            f(*ours)
        facts = [w for w in str(error).replace("(", " ").replace(")", " ").split() if w.strip("-.,").isdigit()]
        text = str(raised.value).replace("(", " ").replace(")", " ").split()
        assert [w for w in text if w.strip("-.,").isdigit()] == facts, (error, raised.value)
        return
    same(f(*ours), expected)


@pytest.mark.parametrize("format", FORMATS)
def test_conversions(format):
    for seed, (shape, dtype, index) in enumerate(
        [(s, d, i) for s in SHAPES for d in DTYPES for i in ("int32", "int64")] + [((5, 7), d, "int32") for d in OTHERS]
    ):
        ours, theirs = pair(shape, dtype, index, seed, format)
        same(ours, theirs)
        for to in FORMATS:
            agree(lambda a, to=to: a.asformat(to), (ours, theirs))
            if to in ("csr", "csc"):
                made, expected = ours.asformat(to), theirs.asformat(to)
                assert made.indices.dtype == expected.indices.dtype
                if format not in ("bsr",):
                    np.testing.assert_array_equal(made.indptr, expected.indptr)
        np.testing.assert_array_equal(ours.toarray(order="F"), theirs.toarray())
        assert ours.toarray(order="F").flags.f_contiguous
        out = np.full(shape[::-1], 1, dtype).T[::1]
        assert ours.toarray(out=out) is out
        np.testing.assert_array_equal(out, theirs.toarray())
        assert ours.nnz == theirs.nnz
        same(ours.to_scipy().toarray(), theirs.toarray())
        same(sparse.SparseArray.from_scipy(theirs), theirs)


@pytest.mark.parametrize("format", FORMATS)
def test_arrays_share_memory(format):
    _, theirs = pair((4, 6), format=format, messy=False)
    ours = sparse.SparseArray.from_scipy(theirs)
    assert np.shares_memory(ours.data, theirs.data)
    assert np.shares_memory(ours.to_scipy().data, theirs.data)
    if format in ("csr", "csc", "coo"):
        assert np.shares_memory(ours.T.data, ours.data)
    assert not np.shares_memory(ours.copy().data, ours.data)
    if format in ("csr", "csc", "bsr"):
        for f in FORMATS:
            if f != "bsr":
                assert np.array_equal(getattr(sparse, f"{f}_array")(theirs).toarray(), theirs.toarray())


def test_order():
    for format in ("csr", "csc"):
        for dtype in ("bool", "int8", "float64"):
            for shape in ((7, 9), (2, 400), (0, 4)):
                ours, theirs = pair(shape, dtype, format=format, seed=3)
                assert ours.has_sorted_indices == theirs.has_sorted_indices
                assert ours.has_canonical_format == theirs.has_canonical_format
                ours.sort_indices(), theirs.sort_indices()
                np.testing.assert_array_equal(ours.indices, theirs.indices)
                assert ours.has_sorted_indices
                ours.sum_duplicates(), theirs.sum_duplicates()
                for name in ("indptr", "indices", "data"):
                    np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
                assert ours.has_canonical_format
                ours.eliminate_zeros(), theirs.eliminate_zeros()
                for name in ("indptr", "indices", "data"):
                    np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for format in ("coo", "bsr"):
        ours, theirs = pair((6, 8), format=format, seed=5)
        for name in ("sum_duplicates", "eliminate_zeros"):
            getattr(ours, name)(), getattr(theirs, name)()
            same(ours, theirs)
            assert ours.nnz == theirs.nnz


@pytest.mark.parametrize("format", FORMATS)
def test_products(format):
    for seed, (shape, dtype) in enumerate([(s, d) for s in SHAPES for d in DTYPES] + [((5, 7), d) for d in OTHERS]):
        if format == "coo" and 1 in shape:
            # SciPy's results have fewer dimensions there.
            continue
        p = pair(shape, dtype, ("int32", "int64")[seed % 2], seed, format)
        rng = np.random.default_rng(seed)
        for kind in (dtype, "float64"):
            x, y = rng.integers(0, 4, shape[1]).astype(kind), rng.integers(0, 4, shape[0]).astype(kind)
            agree(lambda a, x=x: a @ x, p)
            agree(lambda a, y=y: y @ a, p)
            m = rng.integers(0, 4, (shape[1], 3)).astype(kind)
            agree(lambda a, m=m: a @ m, p)
            agree(lambda a, m=m: a @ np.asfortranarray(m), p)
            agree(lambda a, y=y: np.stack([y, y]) @ a, p)
        agree(lambda a: a @ a.T, p)
        agree(lambda a: a @ np.ones(shape[1] + 1), p)
        agree(lambda a: a @ list(range(shape[1])), p)
        agree(lambda a: a @ 2, p)
    for other in FORMATS:
        agree(operator.matmul, pair((4, 6), format=format), pair((6, 4), format=other, seed=1))
        agree(operator.matmul, pair((4, 6), format=format), pair((5, 4), format=other, seed=1))


@pytest.mark.parametrize("format", FORMATS)
def test_elementwise(format):
    for seed, (shape, dtype) in enumerate([(s, d) for s in SHAPES[:7] for d in DTYPES]):
        p, q = pair(shape, dtype, "int32", seed, format), pair(shape, "float64", "int64", seed + 50)
        if shape == (1, 1):
            # SciPy chooses other formats for a single element.
            continue
        dense = np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)
        for f in (operator.add, operator.sub, operator.mul, operator.ne, operator.lt, operator.gt):
            if np.dtype(dtype).kind == "c" and f in (operator.lt, operator.gt):
                continue
            agree(f, p, q)
            agree(f, q, p)
        for f in (operator.add, operator.sub, operator.mul):
            agree(lambda a, f=f: f(a, dense), p)
            agree(lambda a, f=f: f(dense, a), p)
            for x in (0, 2, 2.5, True):
                agree(lambda a, f=f, x=x: f(a, x), p)
                agree(lambda a, f=f, x=x: f(x, a), p)
        agree(lambda a: a / 2, p)
        agree(lambda a: a / np.full(shape, 4.0), p)
        agree(lambda a: a**2, p)
        agree(lambda a: -a, p)
        agree(abs, p)
        agree(lambda a: a.astype("float32"), p)
        agree(lambda a: a != 0, p)
        agree(lambda a: a == dense, p)
        if dtype == "float64":
            agree(lambda a, b: a.maximum(b), p, q)
            agree(lambda a, b: a.minimum(b), p, q)
            agree(operator.eq, p, q)
            agree(operator.le, p, q)
            agree(lambda a: a > 1, p)
            agree(lambda a: a.sqrt(), p)
            agree(lambda a: a.floor(), p)
            agree(lambda a: a.maximum(-1), p)
    p = pair((4, 6), format=format)
    agree(operator.add, p, pair((4, 5)))
    agree(operator.mul, p, pair((4, 5)))
    agree(lambda a: a * np.arange(6), p)
    agree(lambda a: a * np.arange(4)[:, None], p)
    agree(lambda a: a * np.arange(5), p)
    agree(lambda a: a**0, p)
    agree(lambda a: a / None, p)
    found, expected = p[0].map(lambda x: x * x + 1.0), p[1].tocsr(copy=True)
    expected.sum_duplicates()
    expected.data = expected.data**2 + 1.0
    np.testing.assert_array_equal(found.toarray()[found.toarray() != 1], expected.toarray()[expected.toarray() != 1])


@pytest.mark.parametrize("format", ("csr", "csc", "coo"))
def test_parts(format):
    every = slice(None)
    keys = [
        0, -1, (1, 2), (every, 2), (2, slice(1, 4)), slice(1, 3), slice(None, None, -1), (every, slice(1, 5)),
        (every, slice(None, None, -2)), ([0, 2, 2, -1],), ([1, 0], [2, 5]), (every, [5, 0, 0]), ([1, 3], slice(0, 3)),
        np.array([True, False, True, True]), (every, np.array([1, 0, 1, 1, 0, 0], bool)), np.ix_([0, 3], [1, 1, 4]),
        ([[0, 1], [2, 3]], [[1, 0], [5, 5]]), Ellipsis, (0, Ellipsis), 9, (0, 6), (-5, 0), (every, [9]), None,
        (0, 0, 0), "a", 1.5, ([0, 1], [0, 1, 2]), slice(2, 2), ([],), [True], (0, [1, 2]), ([0, 3], 1),
    ]  # fmt: skip
    for dtype in ("int8", "float64"):
        p = pair((4, 6), dtype, format=format, seed=2)
        for key in keys:
            if format == "coo" and not isinstance(key, int | slice):
                continue
            agree(lambda a, key=key: a[key], p)
        if format != "coo":
            mask = p[1].toarray() > 1
            np.testing.assert_array_equal(p[0][mask], p[1][mask])
            np.testing.assert_array_equal(p[0][p[0] > 1], p[1][p[1] > 1])
        for k in range(-5, 8):
            agree(lambda a, k=k: a.diagonal(k), p)
        agree(lambda a: a.trace(), p)
    assert [row.shape for row in p[0]] == [(6,)] * 4


@pytest.mark.parametrize("format", ("csr", "csc"))
def test_assignments(format):
    for key, value in (
        ((1, 2), 5.0), ((0, slice(None)), 2.0), (slice(1, 3), 0.0), (([0, 1], [2, 2]), [7.0, 8.0]),
        ((slice(None), 3), np.arange(4.0)[:, None]), (slice(2, 4), np.ones((2, 6))), ((9, 0), 1.0),
    ):  # fmt: skip
        ours, theirs = pair((4, 6), format=format, messy=False)
        try:
            theirs[key] = value
        except IndexError:
            with pytest.raises(IndexError):
                ours[key] = value
            continue
        ours[key] = value
        np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    ours, theirs = pair((4, 6), format=format)
    ours.setdiag(4, 1), theirs.setdiag(4, 1)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize("format", FORMATS)
def test_reductions(format):
    for seed, (shape, dtype) in enumerate([(s, d) for s in SHAPES for d in DTYPES]):
        p = pair(shape, dtype, "int32", seed, format)
        for axis in (None, 0, 1, -1, 2, (0, 1), 0.5):
            agree(lambda a, axis=axis: a.sum(axis=axis), p)
            if isinstance(axis, int | None) and format != "bsr":
                agree(lambda a, axis=axis: np.asarray(a.count_nonzero(axis=axis), "int64"), p)
            if 0 not in shape:
                agree(lambda a, axis=axis: a.mean(axis=axis), p)
            if np.dtype(dtype).kind != "c" and format != "bsr" and isinstance(axis, int | None):
                for name in ("max", "min"):
                    agree(lambda a, name=name, axis=axis: getattr(a, name)(axis=axis), p)
                if dtype != "bool" and axis != 2 and 0 not in shape:
                    agree(lambda a, axis=axis: a.argmax(axis=axis), p)
                    agree(lambda a, axis=axis: a.argmin(axis=axis), p)
    nan = np.array([[np.nan, 1.0, 0.0], [-1.0, -2.0, -3.0], [0.0, 0.0, 0.0], [2.0, np.nan, 3.0]])
    p = sparse.csr_array(nan), scipy_sparse.csr_array(nan)
    for axis in (None, 0, 1):
        for name in ("max", "min", "nanmax", "nanmin"):
            agree(lambda a, name=name, axis=axis: getattr(a, name)(axis=axis), p)
    assert sparse.csr_array([[2, 3], [0, 5]]).reduce(lambda a, b: a * b, 1, 1).tolist() == [6, 5]


def test_lines():
    p = tuple(make([0.0, 2.0, 0.0, 3.0]) for make in (sparse.coo_array, scipy_sparse.coo_array))
    q = tuple(a.tocsr() for a in p)
    for f in (
        lambda a: a, lambda a: a.tocsr(), lambda a: a.T, lambda a: a * 2, lambda a: a @ np.arange(4), lambda a: a.sum(),
        lambda a: a.max(), lambda a: a.reshape(2, 2), lambda a: a[1], lambda a: a[[1, 2]], lambda a: a[1:],
        lambda a: a @ a, lambda a: a.tocsc(), lambda a: a > 1, lambda a: a.toarray(), lambda a: a @ np.ones(3),
        lambda a: a.nonzero()[0].astype("int64"),
    ):  # fmt: skip
        agree(f, p)
        agree(f, q)
    agree(operator.add, p, q)
    agree(operator.mul, q, p)
    agree(lambda a, b: b @ a, p, pair((3, 4)))
    agree(lambda a, b: a @ b, q, pair((4, 3)))


def test_constructors():
    def made(name, *args, **named):
        agree(lambda module: getattr(module, name)(*args, **named), (sparse, scipy_sparse))

    one = np.ones(1)
    for name in ("csr_array", "csc_array"):
        for args, named in (
            (((2, 3),), {}), (((2, 3),), {"dtype": "int8"}), ((3,), {}), (((-2, 3),), {}), ((np.ones((2, 2, 2)),), {}),
            (((one, [0], [0, 1, 2]),), {"shape": (1, 1)}), (((one, [0, 1], [0, 1]),), {"shape": (1, 1)}),
            (((one, [0], [1, 1]),), {"shape": (1, 1)}), (((np.ones(2), [0, 1], [0, 2]),), {}),
            ((([], [], [0]),), {}), (((np.ones((2, 2)), [0, 1], [0, 2]),), {}), ((np.ones((2, 2)),), {"dtype": "int8"}),
            ((np.ones((2, 2), "float16"),), {}), ((np.ones((2, 2), object),), {}),
            ((([1.0, 2], ([0, 0], [1, 1])),), {}), ((([1.0, 2], ([0, 3], [1, 1])),), {"shape": (2, 2)}),
            ((([], ([], [])),), {"shape": (2, 2)}), ((([], ([], [])),), {}), ((np.ones((2, 2)),), {"shape": (3, 3)}),
            (((one, np.array([0], "uint16"), [0, 1]),), {}),
        ):  # fmt: skip
            made(name, *args, **named)
    made("coo_array", ([1.0, 2], ([0, 1], [0, 5])), shape=(3, 3))
    made("coo_array", ([1.0, 2], ([0, -1], [0, 1])), shape=(3, 3))
    made("coo_array", ([1.0, 2], ([0, 1, 2], [0, 1])), shape=(3, 3))
    made("bsr_array", np.ones((4, 6)), blocksize=(3, 2))
    made("bsr_array", np.ones((4, 6)), blocksize=(2, 3))
    made("bsr_array", np.ones((4, 6)))
    made("bsr_array", (np.ones((1, 2, 3)), [0], [0, 1]))
    for kind, n in (("uint16", 5), ("uint32", 5), ("int32", 2**40)):
        a, b = (
            m.csr_array((one, np.array([0], kind), np.array([0, 1], kind)), shape=(1, n))
            for m in (sparse, scipy_sparse)
        )
        assert a.indices.dtype == b.indices.dtype
        assert a.indptr.dtype == b.indptr.dtype
    for indices in ([5], [-1]):
        with pytest.raises(ValueError, match="indices must be"):
            sparse.csr_array((one, indices, [0, 1]), shape=(1, 3))
    with pytest.raises(ValueError, match="non-decreasing"):
        sparse.csr_array((np.ones(2), [0, 1], [0, 2, 1, 2]), shape=(3, 3))
    with pytest.raises(ValueError, match="too large"):
        sparse.csr_array((one, np.array([2**63], "uint64"), [0, 1]), shape=(1, 3))


def test_arrays_that_are_changed_to_no_matrix():
    """Arrays that a program has changed are found before they are used as places."""
    for name, value in (("indices", 99), ("indices", -7), ("indptr", 1000), ("indptr", -5)):
        for format in ("csr", "csc"):
            a = pair((6, 6), format=format)[0].copy()
            getattr(a, name)[2] = value
            for f in (
                lambda a: a.toarray(), lambda a: a @ a, lambda a: a.T.tocoo(), lambda a: a[:, [1, 3]][[1, 2]],
                lambda a: a.sum(axis=0), lambda a: a.sum(axis=1), lambda a: a.diagonal(), lambda a: a.T.tobsr(),
                lambda a: a @ np.ones((6, 2)), lambda a: a.tobsr(), lambda a: a[[0, 1], [2, 3]],
            ):  # fmt: skip
                with pytest.raises((ValueError, IndexError)):
                    f(a)
            # These do not use indices as places.
            for f in (lambda a: a + a, lambda a: a[1:3], lambda a: a[1:3, 1:3], lambda a: a.sorted_indices()):
                if name == "indptr":
                    with pytest.raises(ValueError, match="in"):
                        f(a.copy())
                else:
                    f(a.copy())
            if name == "indices":
                with pytest.raises(IndexError):
                    a @ np.ones(6)
            else:
                # The loop reads no entry that is not there; of the row it finds some.
                a @ np.ones(6)


def test_threads_change_nothing():
    import lancehead

    rng = np.random.default_rng(1)
    a = scipy_sparse.random_array((3000, 4000), density=0.02, rng=rng, format="csr")
    # A row with as many entries as all others, and many without any.
    a = scipy_sparse.vstack(
        [a, scipy_sparse.csr_array(rng.random((1, 4000))), scipy_sparse.csr_array((500, 4000)), a]
    ).tocsr()
    ours, x = sparse.csr_array(a), rng.random(4000)
    results = []
    before = lancehead.get_num_threads()
    for threads in (1, min(2, before)):
        lancehead.set_num_threads(threads)
        results.append(
            [ours @ x, (ours @ ours.T).toarray(), ours.tocsc().data, ours @ np.stack([x, x], 1), ours[::-1].data]
        )
    lancehead.set_num_threads(before)
    for one, two in zip(*results):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(results[0][0], a @ x)
    np.testing.assert_allclose(results[0][1], (a @ a.T).toarray())
    np.testing.assert_array_equal(results[0][2], a.tocsc().data)


def test_semirings():
    a, b = pair((7, 5), seed=1, messy=False), pair((5, 6), seed=2, messy=False)
    x, y = a[1].toarray(), b[1].toarray()
    shortest = sparse.Semiring(min, lambda p, q: p + q, np.inf)
    stored = np.where(x != 0, x, np.inf)[:, :, None] + np.where(y != 0, y, np.inf)[None]
    for p in (a[0], a[0].tocsc()):
        q = b[0].copy()
        for m in (p, q):
            m.eliminate_zeros()
        found = p.matmul(q, shortest)
        dense = np.where(found.toarray() == 0, np.inf, found.toarray())
        np.testing.assert_array_equal(dense, stored.min(axis=1))
        v = np.arange(5.0)
        np.testing.assert_array_equal(p.matmul(v, shortest), (np.where(x != 0, x, np.inf) + v).min(axis=1))
        np.testing.assert_array_equal(
            p.matmul(v[:, None], shortest)[:, 0], (np.where(x != 0, x, np.inf) + v).min(axis=1)
        )


def test_warnings_are_ours():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        sparse.csr_array([[1.0]]) == 0  # noqa: B015
    assert [w.category for w in seen] == [sparse.SparseEfficiencyWarning]
