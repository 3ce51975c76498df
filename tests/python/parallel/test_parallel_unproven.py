"""Parallel loops that are proven wrong, that nobody can prove, and those that a test before the loop decides on."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, prange

N = 30_000
SEEDS = (1, 2)
BOTH = ("python", "numba")


def previous(rng):
    def f(a):
        for i in prange(1, len(a)):
            a[i] = a[i - 1] + 1.0

    return f, (rng.random(N),)


def previous_row(rng):
    def f(a):
        for i in prange(1, a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i - 1, j] * 0.5

    return f, (rng.random((90, 30)),)


def alternating(rng):
    def f(a):
        s = 0.0
        for i in prange(len(a)):
            s = a[i] - s
        return s

    return f, (rng.random(N),)


def running_sum(rng):
    def f(a):
        s = 0.0
        for i in prange(len(a)):
            s += a[i]
            a[i] = s

    return f, (rng.random(N),)


def growing(rng):
    def f(a):
        out = [0.0]
        for i in prange(len(a)):
            out.append(a[i])
        return np.array(out)

    return f, (rng.random(50),)


PROVEN = (previous, previous_row, alternating, running_sum, growing)


def floyd_warshall(rng):
    def f(d):
        for k in range(len(d)):
            for i in prange(len(d)):
                for j in range(len(d)):
                    d[i, j] = min(d[i, j], d[i, k] + d[k, j])

    return f, (rng.random((60, 60)),)


def hogwild(rng):
    def f(w, index, x):
        for i in prange(len(x)):
            error = 0.0
            for j in range(index.shape[1]):
                error += w[index[i, j]] * x[i]
            for j in range(index.shape[1]):
                w[index[i, j]] -= 0.01 * (error - 1.0) * x[i]

    return f, (rng.random(50), rng.integers(0, 50, (N // 9, 3)), rng.random(N // 9))


def one_place_under_a_condition(rng):
    def f(a, out):
        for i in prange(len(a)):
            if a[i] > 0.99:
                out[3] = i

    return f, (rng.random(N), np.zeros(5))


def last_assigned(rng):
    def f(a):
        last = 0.0
        for i in prange(len(a)):
            if a[i] > 0.5:
                last = a[i]
            a[i] = last

    return f, (rng.random(N),)


def least_that_forgets_before_nan(rng):
    def f(a):
        m = np.inf
        for i in prange(len(a)):
            m = min(a[i], m)
        return m

    a = rng.random(N)
    a[rng.integers(N)] = np.nan
    return f, (a,)


def neighbours_by_table(rng):
    def f(a, index):
        for i in prange(len(index)):
            a[index[i]] = a[index[i] - 1] + 1.0

    return f, (rng.random(N), rng.permutation(N))


UNPROVEN = (
    floyd_warshall,
    hogwild,
    one_place_under_a_condition,
    last_assigned,
    least_that_forgets_before_nan,
    neighbours_by_table,
)


def scatter(index: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def make(rng):
        def f(out, index, a):
            for i in prange(len(index)):
                out[index[i]] = np.sin(a[i]) + np.exp(a[i]) * np.cos(a[i]) + np.log(1.0 + a[i]) + i

        return f, (np.zeros(N), index(rng), rng.random(N))

    return make


def scatter_rows(rng):
    def f(out, index, a):
        for i in prange(len(index)):
            for j in range(a.shape[1]):
                out[index[i], j] = a[i, j] + i

    return f, (np.zeros((N, 3)), rng.permutation(N), rng.random((N, 3)))


def scatter_by_column(rng):
    def f(out, table, a):
        for i in prange(len(table)):
            out[table[i, 1]] = np.sin(a[i]) + np.exp(a[i]) * np.cos(a[i])

    return f, (np.zeros(N), np.stack([rng.permutation(N)] * 3, 1), rng.random(N))


def slices(begin: Callable[[Any], Any], end: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def make(rng):
        def f(out, a, begin, end):
            for i in prange(len(begin)):
                out[begin[i] : end[i]] = a[begin[i] : end[i]].sum()

        starts = np.sort(rng.integers(0, N, 1000))
        return f, (np.zeros(N), rng.random(N), begin(starts), end(starts))

    return make


def rows_of_a_sparse_matrix(rng):
    def f(out, first, a):
        for i in prange(len(first) - 1):
            for j in range(first[i], first[i + 1]):
                out[j] = np.sqrt(a[j]) + i

    return f, (np.zeros(N), np.sort(rng.integers(0, N, 2000)), rng.random(N))


EXCLUDED = {
    "permutation": scatter(lambda rng: rng.permutation(N)),
    "permutation that counts from the end": scatter(lambda rng: -1 - rng.permutation(N)),
    "narrow permutation": scatter(lambda rng: rng.permutation(N).astype(np.uint16)),
    "every other of a table": scatter(lambda rng: np.repeat(rng.permutation(N), 2)[::2]),
    "rows": scatter_rows,
    "column of a table": scatter_by_column,
    "slices": slices(lambda s: s[:-1], lambda s: s[1:]),
    "slices with gaps": slices(lambda s: s[:-1], lambda s: s[:-1] + (s[1:] - s[:-1]) // 2),
    "rows of a sparse matrix": rows_of_a_sparse_matrix,
}
FOUND = {
    "repeated": scatter(lambda rng: rng.integers(0, N, N)),
    "from both ends": scatter(lambda rng: rng.permutation(N) * rng.choice([1, -1], N) % N - N * (rng.random(N) < 0.5)),
    "overlapping slices": slices(lambda s: s, lambda s: s + 100),
    "slices out of order": slices(lambda s: s[:-1][::-1], lambda s: s[1:][::-1]),
    "slices that end at the end": slices(lambda s: s[:-1], lambda s: s[1:] - N),
}


def in_order(f: Any, args: Any) -> Any:
    """The result of the serial loop, and its arguments afterwards."""
    args = copy.deepcopy(args)
    return f(*args), args


def compiled(f: Any, args: Any, **options: Any) -> tuple[Any, list[str]]:
    """The result of the compiled loop and its arguments afterwards, and its warnings."""
    args = copy.deepcopy(args)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = njit(parallel=True, **options)(f)(*args)
    assert all(isinstance(w.message, errors.ParallelRaceWarning) for w in given)
    return (result, args), [str(w.message) for w in given]


def agree(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got[0] if got[0] is not None else 0, expected[0] if expected[0] is not None else 0)
    for x, y in zip(got[1], expected[1]):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("make", PROVEN)
def test_what_is_proven_wrong_is_an_error_or_runs_in_order(make: Any) -> None:
    f, args = make(np.random.default_rng(1))
    with pytest.raises(errors.ParallelRaceError, match="depend on each other"):
        compiled(f, args)
    got, told = compiled(f, args, semantics="numba")
    agree(got, in_order(f, args))
    assert len(told) == 1


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("make", UNPROVEN)
def test_what_nobody_can_prove_runs_in_order(make: Any, semantics: str) -> None:
    for seed in SEEDS:
        f, args = make(np.random.default_rng(seed))
        got, told = compiled(f, args, semantics=semantics)
        agree(got, in_order(f, args))
        assert len(told) == 1
        assert "test_parallel_unproven.py:" in told[0] and "^^^" in told[0]


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("name", EXCLUDED)
def test_what_a_test_excludes_runs_in_parallel(name: str, semantics: str) -> None:
    for seed in SEEDS:
        f, args = EXCLUDED[name](np.random.default_rng(seed))
        got, told = compiled(f, args, semantics=semantics)
        agree(got, in_order(f, args))
        assert told == []
        compiled_again = njit(parallel=True)(f)
        compiled_again(*copy.deepcopy(args))
        assert "runs in parallel" in diagnostics(compiled_again)


def diagnostics(f: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        f.parallel_diagnostics()
    return out.getvalue()


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("name", FOUND)
def test_what_a_test_finds_runs_in_order(name: str, semantics: str) -> None:
    f, args = FOUND[name](np.random.default_rng(3))
    got, told = compiled(f, args, semantics=semantics)
    agree(got, in_order(f, args))
    assert len(told) == 1 and all("meet in this call" in text for text in told)


def test_an_index_out_of_range_raises_in_its_iteration() -> None:
    f, (out, index, a) = EXCLUDED["permutation"](np.random.default_rng(1))
    index[N // 2] = N
    got = out.copy()
    with pytest.raises(IndexError):
        njit(parallel=True)(f)(got, index, a)
    with pytest.raises(IndexError):
        f(out, index, a)
    np.testing.assert_allclose(got, out)


def add_one(out, a):
    for i in prange(len(out)):
        out[i] = a[i] + 1.0


def smooth(out, a):
    for i in prange(1, len(out) - 1):
        out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0


VIEWS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "up": lambda x: (x[1:], x[:-1]),
    "down": lambda x: (x[:-1], x[1:]),
    "the same": lambda x: (x, x),
    "backwards": lambda x: (x[::-1], x),
    "odd and even": lambda x: (x[::2], x[1::2]),
    "columns": lambda x: (x.reshape(-1, 3)[:, 0], x.reshape(-1, 3)[:, 2]),
    "neighbours": lambda x: (x.reshape(-1, 3)[:, 0], x[1:].reshape(-1)[: N // 3]),
    "halves": lambda x: (x[: N // 2], x[N // 2 :]),
}


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("function", (add_one, smooth))
@pytest.mark.parametrize("name", VIEWS)
def test_arrays_that_overlap_are_as_in_order(name: str, function: Any, semantics: str) -> None:
    x = np.random.default_rng(5).random(N)
    expected, got = x.copy(), x.copy()
    function(*VIEWS[name](expected))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        njit(parallel=True, semantics=semantics)(function)(*VIEWS[name](got))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_arrays_apart_and_equal_ones_are_not_told_of() -> None:
    x = np.random.default_rng(5).random(N)
    for name in ("the same", "odd and even", "columns", "halves"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            njit(parallel=True)(add_one)(*VIEWS[name](x))


def least(d, j):
    best, at = np.inf, -1
    for i in prange(len(d)):
        if d[i] < best and i != j:
            best = d[i]
            at = i
    return best, at


def least_the_other_way(d, j):
    best, at = np.inf, -1
    for i in prange(len(d)):
        if i != j and best > d[i]:
            best = d[i]
            at = i
    return best, at


def least_nested(d, j):
    best, at = np.inf, -1
    for i in prange(len(d)):
        if d[i] < best:
            if i != j:
                if d[i] > 0.001:
                    best, at = d[i], i
    return best, at


def least_of_bits(d, j):
    best, at = np.inf, -1
    for i in prange(len(d)):
        if (d[i] < best) & (i != j):
            best = d[i]
            at = i
    return best, at


def last_greatest(d, j):
    best, at = -np.inf, -1
    for i in prange(len(d)):
        if d[i] >= best and i != j and d[i] < 0.9:
            best = d[i]
            at = i
    return best, at


def least_pair(d, j):
    best, at, other = np.inf, -1, -1
    for i in prange(200):
        for k in range(200):
            x = abs(d[i] - d[k])
            if x < best and i != k and k != j:
                best, at, other = x, i, k
    return best, at, other


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize(
    "f", (least, least_the_other_way, least_nested, least_of_bits, last_greatest, least_pair), ids=lambda f: f.__name__
)
def test_the_best_under_conditions_is_a_reduction(f: Any, semantics: str) -> None:
    for seed in SEEDS:
        d = np.random.default_rng(seed).random(N).round(3)
        for j in (int(d.argmin()), 7):
            (got, _), told = compiled(f, (d, j), semantics=semantics)
            assert told == [] and got == f(d, j)


def set_in_a_short_loop(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        for j in range(1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k]
            out[i] = s
        for j in range(1, 2):
            s -= a[i, 0]
            out[i] += s
    return out


def array_of_a_short_loop(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        for j in range(7, 1, -3):
            for k in range(2):
                t = a[i] * (j + k)
        out[i] = t.sum()
    return out


@pytest.mark.parametrize("semantics", BOTH)
@pytest.mark.parametrize("f", (set_in_a_short_loop, array_of_a_short_loop), ids=lambda f: f.__name__)
def test_a_loop_of_constant_length_assigns(f: Any, semantics: str) -> None:
    a = np.random.default_rng(1).random((500, 7))
    (got, _), told = compiled(f, (a,), semantics=semantics)
    assert told == []
    np.testing.assert_allclose(got, f(a), rtol=1e-12)


FILE = """
import sys
import warnings
import numpy as np
from lancehead import njit, prange

warnings.simplefilter("always")
told = []
warnings.showwarning = lambda message, *rest: told.append(str(message))

@njit(parallel=True, cache=True)
def inner(d, k):
    for i in prange(len(d)):
        for j in range(len(d)):
            d[i, j] = min(d[i, j], d[i, k] + d[k, j])

@njit(parallel=True, cache=True)
def outer(d):
    for k in range(len(d)):
        inner(d, k)

for _ in range(3):
    outer(np.ones((4, 4)))
print(len(told), "program.py:15" in told[0], outer.stats.cache_hits)
"""


def test_code_from_the_cache_warns_too(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FILE)
    path = os.pathsep.join([str(Path(lancehead.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    said = [subprocess.check_output([sys.executable, str(program)], env=env, text=True).split() for _ in range(2)]
    assert said[0][:2] == said[1][:2] == ["1", "True"]
    hits = [sum(map(int, filter(str.isdigit, "".join(words[2:])))) for words in said]
    assert hits[1] > hits[0]


def test_functions_that_share_code_warn_once() -> None:
    def made(c):
        @njit(parallel=True)
        def f(a):
            for i in prange(len(a)):
                if a[i] > c:
                    a[0] = i
            return a

        return f

    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for c in (1.0, 2.0, 3.0, 4.0, 5.0):
            made(c)(np.ones(5))
    # The first function is compiled for its value, and the others share code.
    assert len(given) == 2


OBJECTS = """
import sys
import warnings
from dataclasses import dataclass

import numpy as np
from lancehead import float64, njit, prange
from lancehead.experimental import jitclass


@jitclass([("x", float64[:]), ("y", float64[:])])
class Pair:
    def __init__(self, x, y):
        self.x = x
        self.y = y


@dataclass
class Record:
    x: float64[:]
    y: float64[:]


def local(make, b):
    a = make(np.zeros(len(b)), np.ones(len(b)))
    for i in prange(len(b)):
        a.x[i] = b[i] + a.y[i]
    return a.x


def overlapping(make, b):
    whole = np.ones(len(b) + 1)
    a = make(whole[1:], whole[:-1])
    for i in prange(len(b)):
        a.x[i] = a.y[i] + b[i]
    return whole


def own_array(make, b):
    whole = np.ones(len(b) + 1)
    a = make(whole[1:], b)
    for i in prange(len(b)):
        a.x[i] = whole[i] + b[i]
    return whole


def two_objects(make, b):
    a = make(np.ones(len(b)), b)
    c = make(a.x, b)
    for i in prange(len(b) - 1):
        a.x[i] = c.x[i + 1] + b[i]
    return a.x


def replaced(make, b):
    a = make(np.ones(len(b)), np.ones(len(b)))
    for i in prange(len(b)):
        a.x = b
        a.x[i] = i
    return a.x


b = np.random.default_rng(1).random(30_000)
for make in (Pair, Record):
    for f in (local, overlapping, own_array, two_objects, replaced):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got = njit(parallel=True)(f)(make, b.copy())
        assert np.allclose(got, f(make, b.copy())), (f, make)
        assert (f is not local) or not told, f
print("fine")
"""


def test_arrays_of_objects_are_written(tmp_path: Path) -> None:
    program = tmp_path / "objects.py"
    program.write_text(OBJECTS)
    path = os.pathsep.join([str(Path(lancehead.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, str(program)], env=env, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr


def test_where_the_warning_is_an_error_each_call_raises_it() -> None:
    f, args = floyd_warshall(np.random.default_rng(1))
    f = njit(parallel=True)(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.ParallelRaceWarning)
        for _ in range(2):
            with pytest.raises(errors.ParallelRaceWarning):
                f(*args)


def test_the_user_may_vouch() -> None:
    f, args = floyd_warshall(np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        njit(parallel={"unsafe": True})(f)(*copy.deepcopy(args))


@pytest.mark.parametrize("semantics", BOTH)
def test_a_setting_says_what_becomes_of_unproven_loops(semantics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, args = floyd_warshall(np.random.default_rng(1))
    wrong, wrong_args = previous(np.random.default_rng(1))
    monkeypatch.setenv("LANCEHEAD_UNPROVEN", "parallel")
    _, told = compiled(f, args, semantics=semantics)
    assert told == []
    if semantics == "numba":
        _, told = compiled(wrong, wrong_args, semantics=semantics)
        assert len(told) == 1
    monkeypatch.setenv("LANCEHEAD_UNPROVEN", "error")
    for g, given in ((f, args), (wrong, wrong_args)):
        with pytest.raises(errors.ParallelRaceError):
            compiled(g, given, semantics=semantics)
    monkeypatch.setenv("LANCEHEAD_UNPROVEN", "serial")
    _, told = compiled(f, args, semantics=semantics)
    assert len(told) == 1


@pytest.mark.parametrize("semantics", BOTH)
def test_functions_of_the_library_are_seen_through(semantics: str) -> None:
    def merge(into: Any, other: Any) -> None:
        into = into.ravel()
        other = other.ravel()
        for i in prange(len(into)):
            if not other[i] <= 0 and other[i] > into[i]:
                into[i] = other[i]

    random = np.random.default_rng(3)
    tables = [random.random((5, 7)), random.random((5, 7, 2))[:, :, 1], np.asfortranarray(random.random((5, 7)))]
    for into in tables:
        for other in tables:
            got, told = compiled(merge, (into.copy(), other), semantics=semantics)
            agree(got, in_order(merge, (into.copy(), other)))
            assert told == []


def test_a_wrong_setting_is_named() -> None:
    path = os.pathsep.join([str(Path(lancehead.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "LANCEHEAD_UNPROVEN": "sequential", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", "import lancehead"], env=env, capture_output=True, text=True)
    assert "LANCEHEAD_UNPROVEN=sequential: it is serial, parallel or error" in done.stderr


def test_threads_call_such_loops_at_once() -> None:
    made = [make(np.random.default_rng(8)) for make in (*UNPROVEN, *EXCLUDED.values(), *FOUND.values())]
    functions = [(njit(parallel=True, nogil=True)(f), args, in_order(f, args)) for f, args in made]
    failed: list[Any] = []

    def run(first: int) -> None:
        try:
            for i in range(len(functions)):
                f, args, expected = functions[(first + i) % len(functions)]
                mine = copy.deepcopy(args)
                agree((f(*mine), mine), expected)
        except BaseException as error:
            failed.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=run, args=(i * 3,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert failed == []
