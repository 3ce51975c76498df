"""Functions of built extension modules, called from compiled code."""

import gc
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from lancehead import _core, cuda, errors, njit, prange, vectorize
from lancehead._command import ahead
from test_ahead import archive, built  # noqa: F401

SOURCE = """
import numpy as np
from lancehead import njit

@njit("float64(float64[::1])")
def norm(a):
    return np.sqrt(np.sum(a * a))

@njit(["int64(int64, int64)", "float64(float64, float64)"])
def divide(x, y):
    return x // y

@njit("float64[:](float64[:], int64)")
def rest(a, n):
    return a[n:]

@njit("float64[::1](int64)")
def make(n):
    return np.arange(n) * 1.0

@njit("void(float64[:], float64)")
def fill(a, x):
    a[:] = x

@njit("Tuple((int64, unicode_type))(unicode_type, int64)")
def greet(name, n):
    return n + 1, "hello " + name * n

@njit("unicode_type(boolean)")
def constant(flag):
    return "yes" if flag else "no"

@njit("optional(float64[:])(float64[:])")
def some(a):
    if a.size:
        return a
    return None

@njit("int64(int64)")
def refuse(x):
    if x > 1:
        raise ValueError("too large", x, 1.5, True, None, 2j)
    return x

@njit("Tuple((int8, uint64, float32, complex64, boolean))(int8, uint64, float32, complex64, boolean)")
def mixed(a, b, c, d, e):
    return a, b, c, d, not e

@njit("Tuple((float64[:,:], float64[:]))(Tuple((float64[:,:], float64[:])))")
def swap(pair):
    return pair[0].T, pair[1][::-1]

@njit("float32(int64)")
def converted(x):
    return x / 2

@njit("void(int64)")
def nothing(x):
    pass
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory, archive):  # noqa: F811
    directory = tmp_path_factory.mktemp("calls")
    built(directory, "calls", SOURCE, library=False)
    sys.path.insert(0, str(directory / "out"))
    try:
        yield __import__("calls_native")
    finally:
        sys.path.remove(str(directory / "out"))


def test_numbers_by_the_signature_that_a_dispatcher_would_choose(calls):
    @njit
    def divide(x, y):
        return calls.divide(x, y)

    cases = [(7, 2), (7.5, 2), (np.int8(-7), 2), (np.float32(7.5), 2), (True, 1)]
    assert [divide(*c) for c in cases] == [3, 3.0, -4, 3.0, 1]
    assert [type(divide(*c)) for c in cases] == [int, float, int, float, int]

    @njit
    def mixed(a, b, c, d, e):
        return calls.mixed(a, b, c, d, e)

    given = (np.int8(-5), np.uint64(2**64 - 1), np.float32(1.5), np.complex64(1 - 2j), True)
    assert mixed(*given) == (-5, 2**64 - 1, 1.5, 1 - 2j, False)

    @njit
    def others(x):
        calls.nothing(x)
        return calls.converted(x)

    assert others(3) == 1.5


def test_arguments_by_name(calls):
    @njit
    def named(a):
        return calls.divide(y=2, x=a), calls.divide(a, y=3)

    assert named(9) == (4, 3)

    def error(f, *args):
        with pytest.raises(errors.TypingError) as e:
            njit(f)(*args)
        return str(e.value)

    assert "no free argument `z`" in error(lambda x: calls.divide(x, z=1), 1)
    assert "missing the argument `x`" in error(lambda x: calls.divide(y=x), 1)
    assert "multiple values" in error(lambda x: calls.divide(x, x, x, y=1), 1)
    assert "Invalid use of `divide`" in error(lambda x: calls.divide(x), 1)
    message = error(lambda x: calls.norm(x), np.arange(3))
    assert "Invalid use of `norm` with parameters (array(int64, 1d, C))" in message and "it is compiled for" in message


def test_arrays_and_texts(calls):
    @njit
    def view(a, n):
        return calls.rest(a, n)

    a = np.arange(6.0)
    part = view(a, 2)
    assert np.shares_memory(part, a) and part.tolist() == [2, 3, 4, 5]
    assert view(a[::-2], 1).tolist() == [3, 1] and view(a[:0], 0).shape == (0,)

    @njit
    def of_temporary(n):
        return calls.rest(calls.make(n) * 2, 1)

    assert of_temporary(4).tolist() == [2, 4, 6]
    made = njit(lambda n: calls.make(n))(5)
    assert made.flags.c_contiguous and made.flags.writeable and made.tolist() == [0, 1, 2, 3, 4]

    @njit
    def fill(a):
        b = a.copy()
        calls.fill(a, 7.0)
        return b[0] + a[0]

    assert fill(np.ones(3)) == 8

    @njit
    def texts(s, n):
        return calls.greet(s + "!", n), calls.constant(n > 1) + calls.constant(False)

    assert texts("ü", 2) == ((3, "hello ü!ü!"), "yesno")

    @njit
    def optional(a):
        b = calls.some(a)
        return -1.0 if b is None else b.sum()

    assert optional(np.ones(3)) == 3 and optional(np.ones(0)) == -1

    @njit
    def swap(a, b):
        return calls.swap((a, b))

    x, y = swap(np.arange(6.0).reshape(2, 3), np.arange(3.0))
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]] and y.tolist() == [2, 1, 0]


def test_exceptions_are_raised_anew(calls):
    @njit
    def refuse(x):
        return calls.refuse(x)

    with pytest.raises(ValueError) as e:
        refuse(9)
    assert e.value.args == ("too large", 9, 1.5, True, None, 2j) and e.traceback[-1].name == "refuse"

    @njit
    def handled(x, y):
        try:
            return calls.divide(x, y)
        except ZeroDivisionError as e:
            return len(str(e))

    assert handled(6, 3) == 2 and handled(1, 0) == len("integer division or modulo by zero")

    @njit
    def after(a, x):
        b = calls.rest(a, 1)
        calls.refuse(x)
        return b

    with pytest.raises(ValueError, match="too large"):
        after(np.ones(3), 5)


def test_in_loops_that_run_in_parallel(calls):
    @njit(parallel=True)
    def rows(a, out):
        for i in prange(a.shape[0]):
            out[i] = calls.norm(a[i])
            calls.fill(a[i], float(i))
        return out

    a = np.ones((50, 4))
    assert rows(a, np.zeros(50)).tolist() == [2.0] * 50 and a[:, 3].tolist() == list(range(50))

    @njit(parallel=True)
    def shared(a, out):
        for i in prange(out.size):
            out[i] = calls.norm(a)
        return out

    assert shared(np.ones(4), np.zeros(10)).tolist() == [2.0] * 10

    @njit(parallel=True)
    def race(a, n):
        for i in prange(n):
            calls.fill(a, float(i))

    with pytest.warns(errors.ParallelRaceWarning, match="may write"):
        race(np.ones(4), 10)

    @njit(parallel=True)
    def raising(n):
        s = 0
        for i in prange(n):
            s += calls.refuse(i)
        return s

    with pytest.raises(ValueError) as e:
        raising(1000)
    assert e.value.args[1] == 2


def test_in_ufuncs_and_as_arguments(calls):
    @vectorize
    def divide(x, y):
        return calls.divide(x, y)

    assert divide(np.arange(5), 2).tolist() == [0, 0, 1, 1, 2] and divide(np.arange(5.0), 2.0).dtype == np.float64
    assert njit(lambda f, x, y: f(x, y))(calls.divide, 9, 2) == 4
    from_module = calls.norm
    assert njit(lambda a: from_module(a))(np.ones(4)) == 2


def test_nothing_leaks(calls):
    @njit
    def work(a, s, x):
        b = calls.rest(a, 1)
        n, t = calls.greet(s, 3)
        c = calls.some(calls.make(100))
        try:
            calls.refuse(x)
        except ValueError:
            n += 1
        return b, t, c

    a, s = np.arange(1000.0), "x" * 1000
    before = sys.getrefcount(a), sys.getrefcount(s)
    for x in itertools.islice(itertools.cycle((0, 5)), 200):
        work(a, s, x)
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(s)) == before
    live = _core.live_allocations()
    work(a, s, 0)
    work(a, s, 5)
    assert _core.live_allocations() == live


USER = """
import sys, numpy as np, part_native
from lancehead import njit

@njit(cache=True)
def caller(x):
    return part_native.f(x)

print(caller(3), sum(caller.stats.cache_hits.values()))
"""
PART = (
    "from lancehead import njit\nimport numpy as np\nTABLE = np.array([1, {item}])\n@njit('int64(int64)')\ndef f(x):\n "
    "   return x + {n} + TABLE[1]\n"
)


def test_cached_callers_know_the_file_that_they_call(tmp_path, archive):  # noqa: F811
    (tmp_path / "user.py").write_text(USER)

    def run(n, item=0):
        built(tmp_path, "part", PART.format(n=n, item=item), library=False)
        out = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "user.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment
            )
            assert done.returncode == 0, done.stderr
            out.append(done.stdout.split())
        return out

    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "out"), os.environ.get("PYTHONPATH", "")]),
    }
    assert run(1) == [["4", "0"], ["4", "1"]]
    assert run(2) == [["5", "0"], ["5", "1"]]
    # Only the elements of a captured array differ, which are part of the file.
    assert run(2, item=10) == [["15", "0"], ["15", "1"]]
    # The former build is found again.
    assert run(1) == [["4", "1"], ["4", "1"]]


def test_what_is_built_calls_no_other_file(calls, tmp_path):
    exports = [ahead.Export("f", lambda x: calls.refuse(x), "int64(int64)")]
    with pytest.raises(errors.UnsupportedError, match="code is in another file"):
        ahead.build(exports, ahead.Product("other", tmp_path))


def test_kernels_do_not_call_host_code(calls):
    @cuda.jit
    def kernel(out):
        out[0] = calls.refuse(1)

    with pytest.raises(errors.TypingError, match="compiled code of the host"):
        kernel[1, 1](np.zeros(1, np.int64))
