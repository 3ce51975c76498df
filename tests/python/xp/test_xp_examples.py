"""The programs in `examples/xp` run on a named device, too; they compare their results with NumPy's and SciPy's."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from lancehead import xp
from lancehead.demo.program import measure
from lancehead.demo.programs import xp_group_by, xp_sparse_pca

FOLDER = Path(__file__).parents[3] / "examples" / "xp"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture
def program(monkeypatch):
    """Imports a program by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - names:
        if name in PROGRAMS:
            del sys.modules[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_on_a_device(name):
    command = [sys.executable, str(FOLDER / f"{name}.py"), "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 2


def test_programs_are_short():
    for name in PROGRAMS:
        assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 85, name


def test_kmeans(program):
    kmeans = program("kmeans")
    images = load_digits().data
    centres, labels = kmeans.kmeans(xp.asarray(images), 10, 300, 3)
    start = images[np.random.default_rng(3).choice(len(images), 10, replace=False)]
    known = KMeans(10, init=start, n_init=1, max_iter=300, tol=0.0).fit(images)
    error = ((images - np.asarray(centres)[np.asarray(labels)]) ** 2).sum()
    np.testing.assert_allclose(error, known.inertia_, rtol=1e-6)


@pytest.mark.parametrize("a, b", [("", ""), ("", "abc"), ("abc", ""), ("kitten", "sitting"), ("aaaa", "aa")])
def test_levenshtein(program, a, b):
    levenshtein = program("levenshtein")
    assert levenshtein.distance(a, b) == levenshtein.table(a, b)


def test_equalised_greys_keep_their_order(program):
    equalise = program("equalise")
    grey = np.random.default_rng(1).integers(30, 90, (50, 40)).astype(np.uint8)
    result = np.asarray(equalise.equalised(xp.asarray(grey)))
    assert result.dtype == np.uint8
    assert (result.min(), result.max()) == (0, 255)
    order = np.argsort(grey, axis=None, kind="stable")
    assert (np.diff(result.ravel()[order].astype(int)) >= 0).all()


@pytest.mark.parametrize("row", [xp_sparse_pca, xp_group_by])
def test_rows_of_the_demo(row):
    result = measure(row.PROGRAM, quick=True)
    assert result.failure == ""
