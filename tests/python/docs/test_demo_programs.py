"""Programs of the demo that use whole modules of NumPy, SciPy or Dask give what scikit-learn and theory give."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict

from lancehead import get_num_threads, set_num_threads
from lancehead.demo.program import measure
from lancehead.demo.programs import (
    cuda_sparse_pca,
    cupy_elementwise,
    cupy_fuse,
    cupy_raw_matmul,
    cupy_saxpy_trig,
    dask_components,
    grad_digits,
    grad_heat,
    grad_logistic,
    kalman,
    options,
    pca,
    poisson,
    ridge,
    sparse_poisson,
    sparse_tf_idf,
)


@pytest.fixture
def one_thread():
    """Sets the number of threads back afterwards."""
    before = get_num_threads()
    yield lambda: set_num_threads(1)
    set_num_threads(before)


def test_pca():
    images, count = pca.PROGRAM.inputs(True)
    shares, axes, places = pca.PROGRAM.compiled(images, count)
    known = PCA(count, svd_solver="full").fit(images)
    np.testing.assert_allclose(shares, known.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(axes @ known.components_.T), np.eye(count), atol=1e-9)
    np.testing.assert_allclose(np.abs(places), np.abs(known.transform(images)), atol=1e-9)
    assert (axes.max(axis=1) == np.abs(axes).max(axis=1)).all()


def test_ridge():
    x, y, penalties, folds = ridge.PROGRAM.inputs(True)
    # Of folds of one size, scikit-learn makes the same.
    x, y = x[:440], y[:440]
    best, weights, errors = ridge.PROGRAM.compiled(x, y, penalties, folds)
    for penalty, error in zip(penalties, errors, strict=True):
        guessed = cross_val_predict(Ridge(penalty, fit_intercept=False), x, y, cv=KFold(folds))
        np.testing.assert_allclose(error, np.sqrt(((guessed - y) ** 2).mean()), rtol=1e-10)
    assert best == penalties[errors.argmin()]
    np.testing.assert_allclose(weights, Ridge(best, fit_intercept=False).fit(x, y).coef_, rtol=1e-8)


def test_options_do_not_depend_on_threads(one_thread):
    arguments = options.PROGRAM.inputs(True)
    several = options.PROGRAM.compiled(*arguments)
    one_thread()
    assert options.PROGRAM.compiled(*arguments) == several
    seeds = [options.PROGRAM.compiled(seed, *arguments[1:]) for seed in range(100)]
    off = np.array([(price - options.black_scholes()) / error for price, error in seeds])
    # A standard error is one: the mean of 100 squares is 1, give or take 0.14.
    assert 0.5 < (off**2).mean() < 1.5


@pytest.mark.parametrize(
    "row",
    [cuda_sparse_pca, cupy_saxpy_trig, cupy_elementwise, cupy_fuse, sparse_poisson, sparse_tf_idf, dask_components],
    ids=lambda row: row.PROGRAM.name,
)
def test_rows(row):
    assert measure(row.PROGRAM, quick=True).failure == ""


@pytest.mark.parametrize("name", ["sparse_ladders", "sparse_pagerank"])
def test_rows_with_words(name):
    pytest.importorskip("english_words")
    row = importlib.import_module(f"lancehead.demo.programs.{name}")
    assert measure(row.PROGRAM, quick=True).failure == ""


def test_ladders_change_a_letter_at_a_time():
    pytest.importorskip("english_words")
    ladders = importlib.import_module("lancehead.demo.programs.sparse_ladders")
    graph = ladders.graph_of(["at", "bat", "bet", "cat", "cats", "dog"])
    assert {(int(i), int(j)) for i, j in zip(*graph.nonzero())} == {
        (a, b) for pair in ((0, 1), (0, 3), (1, 2), (1, 3), (3, 4)) for a, b in (pair, pair[::-1])
    }
    order, before = ladders.PROGRAM.compiled(graph, 2)
    assert set(order.tolist()) == {0, 1, 2, 3, 4}
    assert before[4] == 3 and before[2] == before[5] < 0


def test_raw_matmul():
    a, b = cupy_raw_matmul.PROGRAM.inputs(True)
    np.testing.assert_allclose(cupy_raw_matmul.PROGRAM.compiled(a, b), a @ b, rtol=1e-5)
    assert measure(cupy_raw_matmul.PROGRAM, quick=True).failure == ""


def test_tf_idf():
    (counts,) = sparse_tf_idf.PROGRAM.inputs(True)
    weighed = TfidfTransformer().fit_transform(counts).toarray()
    similar = weighed @ weighed.T
    np.fill_diagonal(similar, 0.0)
    best, total = sparse_tf_idf.PROGRAM.compiled(counts)
    np.testing.assert_allclose(best, similar.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(total, similar.sum(axis=1), rtol=1e-12)


def test_components_of_a_file_in_blocks():
    (path,) = dask_components.PROGRAM.inputs(True)
    table = dask_components.table(path)
    assert len(table) > dask_components.BLOCK_ROWS
    variances, _ = dask_components.PROGRAM.compiled(path)
    np.testing.assert_allclose(variances, PCA().fit(table).explained_variance_ * (1 - 1 / len(table)), rtol=1e-8)


@pytest.mark.parametrize("row", [grad_digits, grad_heat, grad_logistic], ids=lambda row: row.PROGRAM.name)
def test_derivatives_are_those_by_hand(row):
    assert not measure(row.PROGRAM, quick=True).failure


def test_a_control_by_differences():
    control, wanted = grad_heat.PROGRAM.inputs(True)
    slope = grad_heat.PROGRAM.compiled(control, wanted)[1]
    along = np.random.default_rng(0).normal(size=control.size)
    ends = [grad_heat.miss(control + sign * 1e-6 * along, wanted) for sign in (1.0, -1.0)]
    np.testing.assert_allclose(slope @ along, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_answers_that_theory_refuses_are_failures():
    for program, words, wrong in (
        (options.PROGRAM, "away", lambda *_: (options.black_scholes() * 1.1, 0.01)),
        (poisson.PROGRAM, "away", np.copy),
        (kalman.PROGRAM, "away", lambda measured: np.concatenate((measured, 0.0 * measured), axis=2)),
        (sparse_poisson.PROGRAM, "heat flows out", lambda matrix, source: np.full(source.size, 0.1)),
        (cuda_sparse_pca.PROGRAM, "is explained", lambda v, tries, k: (1.0, np.arange(k))),
        (dask_components.PROGRAM, "noise", lambda path: (np.ones(16), np.ones(3))),
    ):
        assert words in measure(replace(program, plain=wrong, compiled=wrong), quick=True).failure
        assert not measure(program, quick=True).failure
