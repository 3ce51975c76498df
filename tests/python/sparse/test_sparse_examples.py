"""The programs in `examples/sparse`, those in docstrings, and arrays that are made of others."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from lancehead import sparse
from lancehead.sparse import csgraph

scipy_sparse = pytest.importorskip("scipy.sparse")

FOLDER = Path(__file__).parents[3] / "examples" / "sparse"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture
def program(monkeypatch):
    """Imports a program by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in PROGRAMS:
        sys.modules.pop(name, None)


def test_poisson(program, capsys):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a, x, source = program("poisson").main(30)
    np.testing.assert_allclose(x, linalg.spsolve(a.to_scipy().tocsc(), source.reshape(-1)), atol=1e-8)
    assert "900 unknowns, 4380 entries" in capsys.readouterr().out


def test_imports(program, capsys):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    names, links, ranks = program("imports").main("numpy")
    known = links.to_scipy()
    assert links.shape[0] > 500
    np.testing.assert_allclose(ranks.sum(), 1.0)
    assert capsys.readouterr().out.splitlines()[0].split()[-2] == str(csgraph.connected_components(known)[0])
    assert names[int(np.argmax(ranks))]


def test_licences(program, capsys):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    table, weighed, similar = program("licences").main()
    known = text.TfidfTransformer().fit_transform(table.to_scipy())
    np.testing.assert_allclose(weighed.toarray(), known.toarray())
    np.testing.assert_allclose(similar.toarray(), (known @ known.T).toarray(), atol=1e-12)
    assert "mean similarity" in capsys.readouterr().out


def test_ladders(program, capsys):
    pytest.importorskip("english_words")
    known = pytest.importorskip("scipy.sparse.csgraph")
    words, graph, ranks, ladder = program("ladders").main()
    distances = known.dijkstra(graph.to_scipy(), unweighted=True, indices=words.index("black"))
    assert len(ladder) - 1 == distances[words.index("white")]
    assert all(sum(a != b for a, b in zip(*pair, strict=True)) == 1 for pair in zip(ladder, ladder[1:], strict=False))
    np.testing.assert_allclose(ranks.sum(), 1.0)
    assert f"{len(words)} words" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["arrays", "building", "csgraph", "device", "graph_conversions", "others", "products", "reductions"]
)
def test_docstrings(name):
    module = importlib.import_module(f"lancehead.sparse.{name}")
    names = {**vars(sparse), **vars(csgraph), **vars(module), "np": np}
    done = doctest.testmod(module, extraglobs=names)
    assert done.failed == 0
    assert done.attempted > 0


def test_arrays_of_others():
    rng = np.random.default_rng(1)
    a, b = (
        scipy_sparse.random_array((3, 4), density=0.5, rng=rng),
        scipy_sparse.random_array((2, 4), density=0.5, rng=rng),
    )
    for f in (
        lambda m: m.eye_array(4), lambda m: m.eye_array(3, 5, k=1, dtype="int8"), lambda m: m.eye_array(3, k=-1),
        lambda m: m.diags_array([1.0, -2.0], offsets=[0, 1], shape=(4, 4)), lambda m: m.diags_array([1.0, 2, 3]),
        lambda m: m.diags_array([[1.0, 2], [3.0, 4, 5]], offsets=[1, 0]),
        lambda m: m.kron(m.csr_array(a), m.csr_array(b)),
        lambda m: m.vstack([m.csr_array(a), m.csr_array(b)]), lambda m: m.hstack([m.csr_array(a), m.eye_array(3)]),
        lambda m: m.block_array([[m.csr_array(a), None], [None, m.csr_array(b)]]), lambda m: m.tril(m.csr_array(a)),
        lambda m: m.triu(m.csr_array(a), 1), lambda m: m.random_array((4, 5), density=0.3, rng=1) * 0,
    ):  # fmt: skip
        found, expected = f(sparse), f(scipy_sparse)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert sparse.random_array((40, 50), density=0.1, rng=3).nnz == 200
    for x, y in zip(sparse.find(a), scipy_sparse.find(a.tocsr()), strict=True):
        np.testing.assert_array_equal(x, y)
    with pytest.raises(ValueError, match="different extents"):
        sparse.hstack([a, b])
    with pytest.raises(ValueError, match="does not agree"):
        sparse.diags_array([[1, 2]], offsets=[0], shape=(4, 4))
    assert sparse.issparse(a)
    assert not sparse.issparse(np.ones(2))
