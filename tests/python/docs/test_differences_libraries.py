"""Rows of `docs/differences.md` about SciPy's linear algebra and sparse arrays."""

import warnings

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse

from difference_rows import row
from lancehead import njit, sparse

DENSE = np.array([[0.0, 2.0], [3.0, 0.0]])


@row("several results for a stack of matrices")
def test_results_for_stacks_are_tuples():
    def decompose(a):
        return la.eigh(a)

    stack = np.stack([2 * np.eye(2), 3 * np.eye(2)])
    values, vectors = njit(decompose)(stack)
    assert type(njit(decompose)(stack)) is tuple
    assert (values.tolist(), vectors.shape) == ([[2, 2], [3, 3]], (2, 2, 2))
    assert type(decompose(stack)) is list


@row("`lu` of a matrix of one element, and `expm` of one of small integers")
def test_types_do_not_depend_on_extents():
    lu, expm = njit(lambda a: la.lu(a)), njit(lambda a: la.expm(a))
    for dtype in (np.int8, np.float32):
        one, larger = np.array([[2]], dtype), np.eye(3, dtype=dtype)
        assert [part.dtype for part in lu(one)] == [part.dtype for part in lu(larger)]
        assert expm(one).dtype == expm(larger).dtype == la.expm(larger).dtype
    assert la.expm(np.array([[2]], np.int8)).dtype == np.float16


@row("matrices that are singular or poorly conditioned, but not exactly singular")
def test_poorly_conditioned_matrices_give_no_warning():
    def solve(a, b):
        return la.solve(a, b)

    a, b = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), np.ones(2)
    with pytest.warns(la.LinAlgWarning):
        wanted = solve(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(njit(solve)(a, b), wanted)


@row("`overwrite_a`, `overwrite_b`")
def test_operands_are_never_overwritten():
    def solve(a, b):
        return la.solve(a, b, overwrite_a=True, overwrite_b=True)

    a, b = np.array([[4.0, 1.0], [2.0, 3.0]], order="F"), np.array([1.0, 2.0])
    before = a.copy(), b.copy()
    solution = njit(solve)(a, b)
    assert (a == before[0]).all() and (b == before[1]).all()
    np.testing.assert_allclose(solve(a, b), solution)
    assert not (a == before[0]).all()


@row("`solve_triangular` with a `trans` that has no meaning")
def test_transpositions_without_a_meaning():
    solve = njit(lambda a, b: la.solve_triangular(a, b, trans=3))
    with pytest.raises(ValueError, match="trans"):
        solve(DENSE, np.ones(2))
    with pytest.raises(ValueError, match="trans"):
        njit(lambda a, b: la.solve_triangular(a, b, trans="X"))(DENSE, np.ones(2))


@row("`A / x` with a number")
def test_quotients_are_rounded_once():
    values = np.arange(1.0, 50.0)
    ours, theirs = ((m.csr_array(values[None]) / 49.0).data for m in (sparse, scipy.sparse))
    assert (ours == values / 49.0).all()
    assert (theirs == values * (1 / 49.0)).all()
    assert (ours != theirs).any()


@row("sums of a dozen terms and more in products with vectors")
def test_products_with_vectors_add_in_parts():
    rng = np.random.default_rng(0)
    dense, x = rng.random((30, 50)), rng.random(50)
    ours, theirs = (m.csr_array(dense) @ x for m in (sparse, scipy.sparse))
    in_order = np.cumsum(dense * x, axis=1)[:, -1]
    assert (ours != in_order).any()
    np.testing.assert_allclose(ours, in_order, rtol=1e-14)
    np.testing.assert_allclose(theirs, in_order, rtol=1e-14)


@row("order of the entries of a row in a product of two sparse arrays")
def test_order_of_entries_of_products():
    dense = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    ours, theirs = (m.csr_array(dense) @ m.csr_array(dense) for m in (sparse, scipy.sparse))
    assert ours.indices.tolist() == [0, 1, 2, 1, 2, 0, 0, 1, 2]
    assert theirs.indices.tolist() == [2, 1, 0, 0, 2, 1, 2, 1, 0]
    assert (ours.toarray() == theirs.toarray()).all()


@row("`True` twice at one place")
def test_truth_values_twice_at_one_place():
    parts = np.array([True, True]), np.array([1, 1]), np.array([0, 2, 2])
    ours, theirs = (m.csr_array(parts, shape=(2, 2)) for m in (sparse, scipy.sparse))
    ones = np.ones(2, np.int64)
    assert ours.toarray().tolist() == [[False, True], [False, False]]
    assert ours[0, 1]
    assert (ours @ ones).tolist() == [2, 0]
    assert theirs.toarray().tolist() == ours.toarray().tolist()


@row("`longdouble` and `clongdouble` values", "arrays of more than two dimensions, `A[i]` with `None`")
def test_values_and_dimensions_that_are_refused():
    for dtype in (np.longdouble, np.clongdouble):
        assert scipy.sparse.csr_array(np.eye(2, dtype=dtype)).dtype == dtype
        with pytest.raises(ValueError, match="does not support dtype"):
            sparse.csr_array(np.eye(2, dtype=dtype))
    assert scipy.sparse.coo_array(np.ones((2, 2, 2))).ndim == 3
    with pytest.raises(ValueError, match="don't yet support 3D"):
        sparse.coo_array(np.ones((2, 2, 2)))
    assert scipy.sparse.csr_array(DENSE)[0, None].shape == (1, 2)
    with pytest.raises(IndexError, match="not supported"):
        sparse.csr_array(DENSE)[0, None]


@row("matrices (`csr_matrix`) as instances of `csr_array`")
def test_classes_of_matrices():
    for module, is_one in ((sparse, True), (scipy.sparse, False)):
        matrix = module.csr_matrix(DENSE)
        assert isinstance(matrix, module.csr_array) is is_one
        assert not isinstance(matrix, module.sparray)


@row("operations of `dok` and `lil` that SciPy lacks", "keys of `dok_array` after a conversion")
def test_dictionaries_and_lists_of_entries():
    for name in ("dok_array", "lil_array"):
        ours, theirs = (getattr(m, name)(DENSE) for m in (sparse, scipy.sparse))
        assert (ours.max(), ours.argmax()) == (3, 2)
        assert (ours.sqrt().toarray() == np.sqrt(DENSE)).all()
        for method in ("max", "argmax", "sqrt"):
            with pytest.raises(AttributeError):
                getattr(theirs, method)()
    keys = [{type(place) for key in m.csr_array(DENSE).todok().keys() for place in key} for m in (sparse, scipy.sparse)]
    assert keys[0] == {int} != keys[1]


@row("random places and values of `random_array` for a seed")
def test_random_arrays_have_an_order_of_their_own():
    ours, theirs = (m.random_array((20, 20), density=0.3, rng=1).toarray() for m in (sparse, scipy.sparse))
    assert (ours == sparse.random_array((20, 20), density=0.3, rng=1).toarray()).all()
    assert np.count_nonzero(ours) == np.count_nonzero(theirs) == 120
    assert (ours != theirs).any()


@row("places `argmax(explicit=True)`")
def test_places_of_stored_elements():
    assert scipy.sparse.csr_array(DENSE).argmax(axis=0, explicit=True).tolist() == [1, 0]
    with pytest.raises(NotImplementedError):
        sparse.csr_array(DENSE).argmax(explicit=True)
