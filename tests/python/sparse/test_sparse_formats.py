"""The formats `dia`, `dok` and `lil`, matrices, and arrays that are made of others, against SciPy."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest

from lancehead import cuda, sparse, xp
from lancehead.sparse import csgraph
from test_sparse import entries

scipy_sparse = pytest.importorskip("scipy.sparse")

pytestmark = pytest.mark.filterwarnings("ignore")

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
NEW = ("dia", "dok", "lil")
SHAPES = ((4, 6), (6, 4), (1, 1), (0, 3), (3, 0), (0, 0), (1, 9), (9, 1))
DENSE = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 0.0]])


def told(f, *args):
    """A result as its kind, shape, type and values; an exception as its class."""
    try:
        x = f(*args)
    except Exception as error:
        return type(error).__name__
    if hasattr(x, "toarray"):
        return type(x).__name__, x.shape, x.dtype, x.toarray().tolist()
    if isinstance(x, np.ndarray | np.generic):
        # SciPy multiplies by one over a number where it divides here.
        return (
            type(x).__name__,
            x.shape,
            x.dtype,
            np.round(x, 9).astype(str).tolist() if x.dtype.kind in "fc" else x.tolist(),
        )
    return type(x).__name__, repr(x)


def both(f, *args):
    """Compares a function of the two modules."""
    assert told(f, sparse, *args) == told(f, scipy_sparse, *args)


@pytest.mark.parametrize("format", NEW)
def test_conversions(format):
    for seed, (shape, dtype, index) in enumerate(
        itertools.product(SHAPES, ("bool", "int8", "float64", "complex64"), ("int32", "int64"))
    ):
        data, places = entries(shape, dtype, index, seed)
        for kind in ("array", "matrix"):

            def made(m, kind=kind, data=data, places=places, shape=shape):
                return getattr(m, f"coo_{kind}")((data, places), shape=shape).asformat(format)

            both(made)
            for to in FORMATS:
                both(lambda m, to=to: made(m).asformat(to))
            both(lambda m: made(m).T)
            both(lambda m: made(m).nnz)
            both(lambda m: getattr(m, f"{format}_{kind}")(shape, dtype=dtype))
            both(lambda m: getattr(m, f"{format}_{kind}")(made(scipy_sparse)))
            ours = made(sparse)
            assert type(ours.to_scipy()).__name__ == f"{format}_array"
            np.testing.assert_array_equal(ours.to_scipy().toarray(), ours.toarray())


#: Operations of an array `a` of the module `m`; those where SciPy's class has no such method are left out.
OPERATIONS = """
a + a; a + a.tocsr(); a.tocsr() + a; a * 2; 2 * a; a * a; a @ a; -a; abs(a); a / 2; a.astype("f4"); a**2; a != a.T
a.maximum(a); a.conj(); a.reshape(1, 9); a > 1; a != 0; a[:1]; a[0]; a[:, 0]; a[1, 1]; a[[0, 1], [0, 1]]; a[[0, 1]]
a.multiply(np.ones((3, 3))); round(a); a.real; a - a; a.power(2); a.sum(0); a.sum(1); a.sum(); a.mean(0); a @ np.ones(3)
np.ones(3) @ a; a @ np.ones((3, 2)); np.ones((2, 3)) @ a; a * np.ones((3, 3)); a + np.ones((3, 3)); a.diagonal()
a.todense(); a.toarray(); a.copy(); a.nnz; a.size; a.trace(); a.nonzero()[0]; a.dot(2); a.dot(np.ones(3)); a + 0
a.minimum(np.ones((3, 3))); a @ np.asmatrix(np.ones((3, 2))); a == 2; repr(a); a.max(); a.max(0); a.argmax(1); a.sqrt()
a.getnnz(); a.getrow(0); a.getH(); a.asfptype(); a.getformat(); a.get_shape(); a * a.tocsr(); a.tocsr() * a; len(a)
bool(a); a.setdiag(7) or a; a.resize(2, 2) or a; a[0:2, 1:3]; a.transpose(); a.format; a - a.tocsr(); a.argmin(0)
a.tocsr() @ a; a.tocsr().multiply(a); a.count_nonzero() + 0; str(a); a.asformat("csr"); a.eliminate_zeros; a**0
"""


@pytest.mark.parametrize("kind", ("array", "matrix"))
@pytest.mark.parametrize("format", FORMATS)
def test_operations(format, kind):
    left_out = {"a.eliminate_zeros", "a.count_nonzero() + 0", "a**0"}
    for text in OPERATIONS.replace("\n", ";").split(";"):
        if not (text := text.strip()) or text in left_out:
            continue

        def run(m, text=text):
            made = getattr(m, f"{format}_{kind}")(DENSE)
            return eval(text, {"a": made, "m": m, "np": np})

        expected = told(run, scipy_sparse)
        # Diagonals are shown in another order.
        if (
            expected == "AttributeError"
            or (format, text) == ("dia", "str(a)")
            or (format == "bsr" and "getcol" in text)
        ):
            continue
        assert told(run, sparse) == expected, text


def test_assignments():
    for format, kind in itertools.product(("lil", "dok", "csr", "csc", "coo"), ("array", "matrix")):
        for key, value in (
            ((0, 1), 7), ((-1, -1), 2), ((0, 1), 0), (0, 5), ((slice(None), 1), 3), ((slice(0, 2), slice(1, 3)), 1),
            (([0, 1], [1, 1]), [8, 9]), ((5, 0), 1), ((0, -4), 1), ((slice(0, 1), slice(None)), [[1, 2, 3]]),
        ):  # fmt: skip

            def assigned(m, format=format, kind=kind, key=key, value=value):
                a = getattr(m, f"{format}_{kind}")(DENSE)
                a[key] = value
                return a

            both(assigned)
    for format in ("dok", "csr"):
        for key, value in ((1, 4), (-1, 2), (slice(0, 2), 6), ([0, 2], [1, 2]), (9, 1)):

            def assigned(m, format=format, key=key, value=value):
                a = getattr(m, f"{format}_array")(np.array([1.0, 0.0, 2.0]))
                a[key] = value
                return a

            both(assigned)
    both(lambda m: m.dia_array(DENSE)[0])
    both(lambda m: m.coo_matrix(DENSE)[0])


def test_cases_of_scipys_tests():
    for text in (
        "A @ np.ones((3, 0))", "A.T @ np.ones((3, 0))", "A.tocoo() @ np.ones((3, 0))", "A.tobsr() @ np.ones((3, 0))",
        "m.csr_array(([2**63 + 1, 1], ([0, 1], [0, 1])), dtype=np.uint64)", "A.transpose(1)", "A.asformat('array')",
        "C < C.T", "C > C.T", "C.maximum(C.T)", "C.minimum(C.T)", "A @ object()", "M * object()", "object() * M",
        "M**1j", "M**1.5", "M**-1", "M**3", "m.csr_matrix(np.eye(2, dtype='i1')).asfptype()",
        "M.todense(out=np.asmatrix(np.ones((3, 3))))", "M[1:, 1, ...]", "M[..., 1]", "M[1, ...]", "M[:2, np.array(-1)]",
    ):  # fmt: skip

        def run(m, text=text):
            complex_ones = DENSE + 1j * DENSE.T
            return eval(
                text,
                {"A": m.csr_array(DENSE), "M": m.csr_matrix(DENSE), "C": m.csr_array(complex_ones), "m": m, "np": np},
            )

        both(run)
    coo, known = sparse.coo_array(DENSE), scipy_sparse.coo_array(DENSE)
    for a in (coo, known):
        a.row, a.col = a.col.copy(), a.row.copy()
    np.testing.assert_array_equal(coo.toarray(), known.toarray())
    for key, value in (
        (((0, 1), (1, 2)), 5), (([0, 1], 2), 7), ((0, [1, 2]), [3, 4]), ((slice(None), 0), np.arange(3)),
        ((slice(0, 2), 1), np.array([8, 9])), (([[0], [2]], [0, 1]), 6), (([0, 1], [0, 1, 2]), 1),
    ):  # fmt: skip

        def assigned(m, key=key, value=value):
            a = m.csr_array(DENSE)
            a[key] = value
            return a

        both(assigned)


def test_dictionary_and_lists():
    for text in (
        "sorted((int(i), int(j), v) for (i, j), v in d.items())", "(0, 1) in d",
        "(2, 2) in d", "len(d)", "d.get((0, 1))", "d.get((2, 2), 5)",
        "d.get((9, 9))",
        "d.pop((0, 1))", "d.pop((2, 2), 3)", "d.setdefault((2, 2), 4.0)", "d.update({(2, 2): 1.0}) or d",
        "d.clear() or d",
        "d.__delitem__((0, 1)) or d", "d.update({(0, 5): 1})", "d.update({(0, -1): 1})", "d.update({(0.5, 1): 1})",
        "d.update(np.zeros((2, 2)))", "reversed(d)", "type(d).fromkeys([(0, 1), (2, 0)], 3)",
        "type(d).fromkeys([2, 5])",
        "type(d).fromkeys({(1, 1): 7})",
    ):  # fmt: skip
        both(lambda m, text=text: eval(text, {"d": m.dok_array(DENSE), "np": np}))
    both(lambda m: m.lil_array(DENSE).rows.tolist() + m.lil_array(DENSE).data.tolist())
    row = sparse.lil_array(DENSE)
    view = row.getrowview(1)
    view[0, 0] = 9.0
    assert row[1, 0] == 9.0
    both(lambda m: m.lil_array(DENSE).getrow(1))


def test_constructors():
    ones = np.ones((2, 4))
    for arg, named in (
        ((ones, [0, 1]), {"shape": (4, 4)}), ((ones, [0, -2]), {"shape": (3, 5)}), ((ones, [0]), {"shape": (4, 4)}),
        ((ones, [1, 1]), {"shape": (4, 4)}), ((ones, [0, 1]), {}), ((np.ones(3), 1), {"shape": (3, 4)}),
    ):  # fmt: skip
        both(lambda m, arg=arg, named=named: m.dia_array(arg, **named))
        both(lambda m, arg=arg, named=named: m.dia_matrix(arg, **named).sum(0))
    for format, kind in itertools.product(FORMATS, ("array", "matrix")):
        for given in ([1, 2, 3], 5, (3,), (2, 3), [[1, 2]], np.zeros((0, 2))):
            if (format, kind) == ("dok", "matrix") and np.ndim(given) < 2 and np.size(given) != 2:
                # SciPy has no dictionaries of these.
                continue
            if kind == "array" and isinstance(given, tuple | list) and np.ndim(given) == 1:
                # Of arrays some formats have one dimension.
                continue
            both(lambda m, f=format, k=kind, g=given: getattr(m, f"{f}_{k}")(g))


def test_functions_that_make_arrays():
    text = """
    eye(3); eye(2, 4, 1); eye(3, dtype=int, format="csr"); identity(3); eye_array(3); eye_array(2, 4, k=-1); eye(0)
    diags([1, 2, 3]); diags([[1, 2], [3]], [0, 1]); diags_array([[1, 2], [3]], offsets=[0, 1]); diags([1], [0], (3, 3))
    spdiags(np.arange(8).reshape(2, 4), [0, 1], 4, 4); spdiags(np.ones((1, 3)), [0], 3, 3); diags([[1, 2]], [0, 1])
    kron(A, B); kron(A, A); kron(np.eye(2), np.eye(2)); kron(A, B, "csr"); kronsum(A, A); kronsum(M, M); kron(M, A)
    block_diag([A, B]); block_diag([M, 3]); block_diag([np.eye(2), [1, 2]]); hstack([A, A])
    bmat([[A, None], [None, B]]); bmat([[M, None], [None, M]]); vstack([A, A]); vstack([M, M]); hstack([M, np.eye(3)])
    vstack([A.tocsc(), A]); tril(A); tril(M, 1); triu(A, -1); tril(np.eye(3))
    block_array([[A, A]]); swapaxes(A, 0, 1); triu(M)
    permute_dims(A, (1, 0)); diags([1, 2, 3, 4], 0, (2, 2)); diags([[1, 2]], 0); diags([]); diags([1, 2], [0], (3, 3))
    eye(2, 3, 4); eye(2, 3, -2); eye(2, 3, 3); bmat([[None, None]]); bmat([[A, None], [None, None]])
    diags([1], [5], (3, 3))
    swapaxes(A, 0, 5); permute_dims(A, (0, 0)); hstack([A.tocsc(), A.tocsc()]); isspmatrix(A); isspmatrix(M)
    isspmatrix_csr(M); isspmatrix_csc(M); issparse(M); get_index_dtype(maxval=5); get_index_dtype(maxval=2**40)
    get_index_dtype(np.zeros(3, "i8")); get_index_dtype(np.zeros(3, "i8"), check_contents=True); isinstance(A, sparray)
    isinstance(M, sparray); isinstance(M, spmatrix); isinstance(A, spmatrix); vstack([A, np.ones((2, 3))])
    """
    for part in text.replace("\n", ";").split(";"):
        if not (part := part.strip()):
            continue

        def run(m, part=part):
            names = {**{n: getattr(m, n) for n in sparse.__all__ if hasattr(m, n)}, "np": np}
            names |= {"A": m.csr_array(DENSE), "B": m.csr_array(DENSE[:2] * [1.0, 0.0, 0.0]), "M": m.csr_matrix(DENSE)}
            return eval(part, names)

        assert told(run, sparse) == told(run, scipy_sparse), part
    for f in (sparse.random, sparse.rand):
        found = f(20, 30, density=0.25, rng=1)
        assert (type(found).__name__, found.nnz, found.shape) == ("coo_matrix", 150, (20, 30))
    assert sparse.random(5, 5, density=1.0, random_state=np.random.RandomState(1), data_rvs=np.ones).sum() == 25


@pytest.mark.parametrize("kind", ("array", "matrix"))
def test_files(kind):
    for format in ("csr", "csc", "coo", "bsr", "dia"):
        ours, theirs = (getattr(m, f"{format}_{kind}")(DENSE) for m in (sparse, scipy_sparse))
        for save, load in ((sparse, scipy_sparse), (scipy_sparse, sparse), (sparse, sparse)):
            file = io.BytesIO()
            save.save_npz(file, theirs if save is scipy_sparse else ours)
            file.seek(0)
            found = load.load_npz(file)
            assert type(found).__name__ == f"{format}_{kind}"
            np.testing.assert_array_equal(found.toarray(), DENSE)
    file = io.BytesIO()
    np.savez(file, data=DENSE)
    file.seek(0)
    both(lambda m: m.save_npz(file, m.dok_array((2, 2))))
    with pytest.raises(ValueError, match="does not contain"):
        sparse.load_npz(file)


def test_every_name_is_there_or_refused_with_a_reason():
    for ours, theirs in ((sparse, scipy_sparse), (csgraph, scipy_sparse.csgraph)):
        for name in dir(theirs):
            if not name.startswith("_") and name != "test" and not hasattr(ours, name):
                with pytest.raises(AttributeError, match=f"'{name}': .{{10}}"):
                    getattr(ours, name)
    with pytest.raises(AttributeError, match="'nothing'$"):
        sparse.nothing


def test_scattered_entries_and_rows_in_order():
    rng = np.random.default_rng(0)
    n, rows = 150_000, 140_001
    # Rows far apart are placed by ranges; rows in order at once; and in order but for the last.
    lines = rng.integers(0, rows, n), np.sort(rng.integers(5, rows - 7, n)), np.append(np.arange(n - 1) % rows, 0)
    for row, dtype in itertools.product(lines, ("float64", "int8")):
        col, data = rng.integers(0, 50, n), rng.integers(0, 5, n).astype(dtype)
        ours, theirs = (m.coo_array((data, (row, col)), shape=(rows, 50)).tocsr() for m in (sparse, scipy_sparse))
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(ours.tocsc(), name), getattr(theirs.tocsc(), name))
            turned, expected = ours.tocsc().tocsr(), theirs.tocsc().tocsr()
            np.testing.assert_array_equal(getattr(turned, name), getattr(expected, name))
    for place in (0, n // 2, n - 1):
        for wrong in (-1, rows):
            coo = sparse.coo_array((data, (lines[0], col)), shape=(rows, 50), copy=True)
            coo.coords[0][place] = wrong
            with pytest.raises(ValueError, match="axis 0 index"):
                coo.tocsr()
    for row in ([0, 0, 1], [2, 2, 2], [0, 3, 3], [3, 0, 0], []):
        both(lambda m, row=row: m.coo_array(([1] * len(row), (row, [2, 1, 0][: len(row)])), shape=(4, 3)).tocsr())


def test_graphs_from_and_to_dense():
    dense = np.array([[0.0, 2.0, np.inf], [3.0, 0.0, np.nan], [0.0, 1.0, 0.0]])
    for text in (
        "csgraph_from_dense(x)", "csgraph_from_dense(x, np.inf)", "csgraph_from_dense(x, nan_null=False).nnz",
        "csgraph_to_dense(csgraph_from_dense(x))", "csgraph_to_dense(csgraph_from_dense(x), -1)",
        "csgraph_to_masked(csgraph_from_dense(x)).mask", "csgraph_masked_from_dense(x).mask",
        "csgraph_from_dense(x[:2])",
        "reconstruct_path(csgraph_from_dense(x), np.array([-9999, 0, 1]))",
        "construct_dist_matrix(csgraph_from_dense(x), johnson(csgraph_from_dense(x), return_predecessors=True)[1])",
        "dijkstra(csgraph_from_dense(x), indices=np.array([[0, 1], [2, 0]]))",
        "shortest_path(csgraph_from_dense(x), method='FW', indices=[0])",
    ):  # fmt: skip
        results = [
            told(lambda g=g, t=text: eval(t, {**vars(g), "x": dense, "np": np}))
            for g in (csgraph, scipy_sparse.csgraph)
        ]
        assert results[0] == results[1], text


def test_products_on_a_device():
    a, rng = sparse.csr_array(DENSE[:2]), np.random.default_rng(0)
    moved = sparse.on_device(a)
    for dtype, shape in itertools.product(("float64", "int32", "complex64"), ((3,), (3, 1), (3, 5), (3, 0))):
        x = rng.integers(0, 5, shape).astype(dtype)
        for b in (a, moved, a.tolil(), sparse.csc_matrix(a)):
            found = b @ cuda.to_device(x)
            assert found.shape == (2, *shape[1:])
            np.testing.assert_allclose(found.copy_to_host(), a.toarray() @ x)
            assert found.dtype == (a.toarray() @ x).dtype
    lazy = xp.asarray(np.arange(3.0), device="cuda:0")
    for b in (a, moved):
        found = b @ lazy
        assert str(found.device) == "cuda:0"
        np.testing.assert_array_equal(np.asarray(found), DENSE[:2] @ np.arange(3.0))
    with pytest.raises(TypeError, match="on a device"):
        sparse.matmul(cuda.to_device(np.ones(2)), a)
    with pytest.raises(TypeError, match="semiring"):
        sparse.matmul(a, lazy, sparse.Semiring(min, lambda a, b: a + b, np.inf))
    with pytest.raises(TypeError, match="in a device's memory"):
        moved @ np.ones(3)
    with pytest.raises(ValueError, match="dimension mismatch"):
        moved @ cuda.to_device(np.ones(4))
    with pytest.raises(ValueError, match="two dimensions"):
        sparse.on_device(sparse.coo_array([1, 2]))
