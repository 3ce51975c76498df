"""The tape of derivatives: memory that does not suffice, memory that is freed, and calls that are stopped."""

import math
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import lancehead
from lancehead import _core, njit, prange
from lancehead.gradients import grad, jacfwd


def chain(x, n):
    for _ in range(n):
        x = math.sin(x) * x + 0.5
    return x


def between(x, a, b):
    for _ in range(a, b):
        x = math.sin(x) * x + 0.5
    return x


def slope(f, x, *rest):
    return (f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6


@pytest.mark.parametrize("derivative", [grad(chain), grad(grad(chain))], ids=["first", "second"])
@pytest.mark.parametrize(("n", "size"), [(10**14, r"\d+\.\d [TP]B"), (2**61, "more than"), (2**63 - 1, "more than")])
def test_loops_that_keep_more_than_there_is_memory(derivative, n, size):
    line = chain.__code__.co_firstlineno + 1
    expected = rf"loop at line {line} of test_gradients_tape.py keeps {size}.*`checkpoint_loop` or `checkpoint`"
    with pytest.raises(MemoryError, match=expected):
        derivative(0.5, n)


def test_limits_whose_distance_overflows():
    f = grad(between)
    with pytest.raises(MemoryError, match="more than"):
        f(0.5, -(2**63), 2**63 - 1)
    assert f(0.5, 2**63 - 1, -(2**63)) == 1.0
    assert f(0.5, 3, 6) == pytest.approx(slope(between, 0.5, 3, 6), rel=1e-6)


def test_derivatives_go_on_after_memory_errors():
    first, second = grad(chain), grad(grad(chain))
    before = _core.live_allocations()
    for f in (first, second):
        with pytest.raises(MemoryError):
            f(0.5, 10**15)
    assert _core.live_allocations() == before
    assert first(0.5, 3) == pytest.approx(slope(chain, 0.5, 3), rel=1e-6)
    assert second(0.5, 3) == pytest.approx(slope(first, 0.5, 3), rel=1e-6)


def test_limits_of_loops_that_end_early_say_nothing():
    def until_small(x, n):
        for _ in range(n):
            x = math.sin(x) * x
            if x < 1e-3:
                break
        return x

    assert grad(until_small)(0.5, 10**17) == pytest.approx(slope(until_small, 0.5, 10**17), rel=1e-6)


LIMITED = """
import math, resource, sys
from lancehead.gradients import grad, jacfwd

def loop(x, n):
    while n > 0:
        x = math.sin(x) * x + 0.5
        n -= 1
    return x

def nested(x, n):
    for i in range(n):
        for j in range(i):
            x = math.sin(x) * x + 0.5
    return x

derivatives = [grad(loop), grad(grad(loop)), grad(nested)]
first = [f(0.5, 5) for f in derivatives]
with open("/proc/self/statm") as f:
    used = int(f.read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
for f, n, line in zip(derivatives, (10**9, 10**9, 10**5), (6, 6, 13)):
    try:
        f(0.5, n)
    except MemoryError as error:
        assert f"the loop at line {line} of <string> keeps" in str(error), error
        assert "MB" in str(error) or "GB" in str(error), error
    else:
        sys.exit("no MemoryError")
assert [f(0.5, 5) for f in derivatives] == first
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
def test_loops_of_unknown_length_in_little_memory():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def rows(w, x):
    total = 0.0
    for i in range(x.shape[0]):
        h = w * x[i]
        for _ in range(i % 3):
            h = np.sin(h) + w
        total += np.sum(h * h)
    return total


def lists(w, n):
    parts = [w * 1.0]
    for i in range(n):
        parts.append(parts[i] * w + 1.0)
    return np.sum(parts[n])


def raising(w, i):
    total = 0.0
    for j in range(5):
        h = w * (j + 1.0)
        if j == 3:
            h[i] = 1.0
        total += np.sum(np.exp(h))
    return total


def caught(w, x):
    total = 0.0
    for i in range(x.shape[0]):
        try:
            h = w * x[i]
            if i % 2 == 1:
                raise ValueError
            total += np.sum(h * h)
        except ValueError:
            total += w[0]
    return total


W, X = np.linspace(0.1, 0.4, 4), np.linspace(0.0, 1.0, 28).reshape(7, 4)


@pytest.mark.parametrize(
    ("f", "given"), [(rows, (W, X)), (lists, (W, 6)), (caught, (W, X)), (raising, (W, 2)), (chain, (0.5, 40))]
)
def test_memory_is_freed(f, given):
    derivative = grad(f)
    derivative(*given)
    before = _core.live_allocations()
    for _ in range(5):
        derivative(*given)
    assert _core.live_allocations() == before


def test_memory_of_second_derivatives_is_freed():
    derivative = grad(grad(chain))
    derivative(0.5, 40)
    before = _core.live_allocations()
    derivative(0.5, 400)
    assert _core.live_allocations() == before


def test_memory_is_freed_where_exceptions_pass():
    derivative = grad(raising)
    derivative(W, 1)
    before = _core.live_allocations()
    for _ in range(5):
        with pytest.raises(IndexError):
            derivative(W, 9)
    assert _core.live_allocations() == before


def heated(u, steps):
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            v[i] += 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i]
        u = v
    return np.sum(u * u)


def spinning(x, n):
    # The derivative keeps nothing of this loop, and goes through it twice.
    total = 0.0
    for i in range(n):
        total += math.sin(x * i)
    return total


@pytest.fixture
def interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("f", "short", "long"),
    [(heated, (np.linspace(0, 1, 50), 3), (np.linspace(0, 1, 50), 10**8)), (spinning, (0.5, 3), (0.5, 10**13))],
    ids=["keeps arrays", "keeps nothing"],
)
def test_ctrl_c_stops_derivatives(interrupts, f, short, long):
    derivative = grad(f)
    expected = derivative(*short)
    before = _core.live_allocations()
    # A thread that sends the signal would need the lock, which the call holds.
    sender = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
    with pytest.raises(KeyboardInterrupt):
        derivative(*long)
    assert sender.wait() == 0
    assert _core.live_allocations() == before
    np.testing.assert_array_equal(derivative(*short), expected)


@njit(parallel=True)
def fixed(x, m):
    s = 0.0
    for i in prange(x.shape[0]):
        t = 1.0
        for j in range(m):
            for k in range(2):
                t = math.sin(x[i] * t) + 0.5 * j + k
        s += t * x[i]
    return s


@njit(parallel=True)
def triangle(x, m):
    s = 0.0
    for i in prange(x.shape[0]):
        t = 1.0
        for j in range(i + 1, x.shape[0]):
            t = math.sin(x[i] * t * x[j]) + 0.1 * m
        s += t * x[i]
    return s


@njit(parallel=True)
def in_time(x, m):
    y = x.copy()
    for _ in range(m):
        for i in prange(y.shape[0]):
            t = y[i]
            for j in range(3):
                t = math.sin(x[i] * t) + 0.5 * j
            y[i] = t
    return np.sum(y)


def _of_loops(f):
    return [line for line in str(f.explain()).splitlines() if "derivative: runs" in line]


@pytest.mark.optimised
@pytest.mark.parametrize("f", [fixed, triangle, in_time])
def test_parallel_loops_around_loops_that_keep_values(f):
    x = np.random.default_rng(3).uniform(0.2, 1.5, 500)
    derivative, before = grad(f), lancehead.get_num_threads()
    found = derivative(x, 3)
    told = _of_loops(derivative)
    assert told
    assert all("in parallel" in line for line in told)
    for i in (0, 7, 499):
        step = np.zeros(500)
        step[i] = 1e-6
        expected = (f.py_func(x + step, 3) - f.py_func(x - step, 3)) / 2e-6
        assert found[i] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    try:
        for threads in sorted({1, 2, min(4, before)} & set(range(1, before + 1))):
            lancehead.set_num_threads(threads)
            assert derivative(x, 3).tobytes() == found.tobytes()
    finally:
        lancehead.set_num_threads(before)
    assert derivative(x[:0], 3).shape == (0,)


@pytest.mark.optimised
def test_parallel_loops_around_loops_of_unknown_length_run_in_order():
    @njit(parallel=True)
    def halved(x):
        s = 0.0
        for i in prange(x.shape[0]):
            t = x[i]
            while t > 1.0:
                t = math.sin(t) * t * 0.5
            s += t
        return s

    x = np.linspace(0.5, 20.0, 40)
    derivative = grad(halved)
    found = derivative(x)
    assert any("one thread" in line for line in _of_loops(derivative))
    for i in (0, 39):
        step = np.zeros(40)
        step[i] = 1e-6
        assert found[i] == pytest.approx((halved.py_func(x + step) - halved.py_func(x - step)) / 2e-6, abs=1e-6)


@pytest.mark.optimised
def test_memory_of_parallel_loops():
    @njit(parallel=True)
    def wide(x, m):
        s = 0.0
        for i in prange(x.shape[0]):
            t = x[i]
            for _ in range(m):
                t = math.sin(t) * t
            s += t
        return s

    derivative = grad(wide)
    for m in (10**13, 2**62):
        with pytest.raises(MemoryError, match=r"the loop at line \d+ of test_gradients_tape.py keeps"):
            derivative(np.ones(100), m)
    before = _core.live_allocations()
    derivative(np.ones(100), 5)
    assert _core.live_allocations() == before


def in_steps(x, first, limit, step):
    s = x
    for i in range(first, limit, step):
        s = math.sin(s) * s + 0.1 * (i % 7)
    return s


def kinds(x, n):
    """Loops in a loop keep floats of two types and truth values."""
    s = x
    for i in range(1, n):
        small = np.float32(s)
        for j in range(i):
            if s > 1.0:
                s = math.sin(s) * 1.3
                small *= np.float32(0.5)
            else:
                s = math.exp(-s * s) + 0.1 * j
        s = 0.4 * s + 0.1 * float(small * small)
    return s


def with_arrays(x, n):
    """Loops in a loop keep arrays and where elements are."""
    s = x
    for i in range(1, n):
        a = np.full(3, s)
        for j in range(0, 3, 2):
            a[j] = math.sin(a[j]) * a[j - 1]
            s = s * a[j] + i
        s = np.sum(a * a) * 0.4 + 0.1 * math.sin(s)
    return s


def by_halves(x, n):
    """Loops of unknown length in each other, of which some are left early."""
    s = x
    for i in range(n):
        k, h = 0, s
        while h > 0.01:
            h = 0.5 * math.sin(h)
            for j in range(10):
                if j > k:
                    break
                h = math.sin(h)
                if h < 0.02:
                    break
            k += 1
        for j in range(k):
            s = math.sin(s) * s + h
        if s > 3.0:
            break
        s += 0.7 + 0.1 * i
    return s


def out_of_two(x, n):
    """Exceptions leave two loops at once."""
    s = x
    for i in range(n):
        try:
            for j in range(i):
                for k in range(3):
                    s = math.sin(s) * s + 0.3 * k
                    if j + k > 3:
                        raise ValueError
        except ValueError:
            s *= 1.5
    return s


STEPS = [(0, 10, 3), (0, 9, 3), (-4, 7, 2), (5, 5, 2), (6, 2, 3), (0, 3, 7), (0, 2**62, 2**61)]


@pytest.mark.parametrize(
    ("f", "given"),
    [(in_steps, STEPS)] + [(f, [(0,), (1,), (2,), (9,)]) for f in (kinds, with_arrays, by_halves, out_of_two)],
)
def test_places_of_values_that_loops_keep(f, given):
    first = grad(f)
    forward, second, of_first = jacfwd(f), None, None
    # Memory of addresses that grows has no second derivative, and that of many loops takes minutes to compile.
    if f in (in_steps, kinds):
        second, of_first = grad(first), jacfwd(first)
    before = _core.live_allocations()
    for x in (0.4, 0.9, 1.7):
        for rest in given:
            assert first(x, *rest) == pytest.approx(forward(x, *rest), rel=1e-5, abs=1e-7), (x, rest)
            if second is None or of_first is None:
                continue
            assert second(x, *rest) == pytest.approx(of_first(x, *rest), rel=1e-4, abs=1e-6), (x, rest)
    assert _core.live_allocations() == before


def table(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(2, m + i):
            s += x * x * j
    return s


def test_counts_of_loops_are_computed_again():
    derivative = grad(table)
    for n, m in ((4, 9), (5, 1), (3, 2), (0, 5)):
        assert derivative(0.5, n, m) == pytest.approx(slope(njit(table), 0.5, n, m), rel=1e-6)
    assert "lh_tape" not in next(iter(derivative.inspect_llvm().values()))


def two_numbers(x, n):
    y = x + 0.3
    for _ in range(n):
        x, y = x * y * 0.5, math.sin(x) + y
    return x + y


def linear(x, n):
    s = x
    for _ in range(n):
        s = s * 0.5 + x
    return s


def narrow(x, n):
    for _ in range(n):
        u = math.exp(-x)
        v = u * u
        w = math.sin(u) * v
        x = w + math.cos(v) * u
    return x


def wide(x, n):
    s = 0.0
    for _ in range(n):
        x = math.tanh(x)
        s += math.sin(x) * math.cos(x) + math.exp(x) * x
    return s


def straight(x, n):
    a = math.exp(x)
    b = math.sin(a * n)
    c = a * b
    return c * math.cos(b) + a


def branches(x, n):
    for _ in range(n):
        if x > 1.0:
            x = x * 0.3
        else:
            x = x * x + 0.7
    return x


def by_index(x, n):
    s = 0.0
    for i in range(n):
        r = math.sqrt(x * x + i)
        s += math.log(r) * r
    return s


def nested(x, n):
    s = x
    for _ in range(n):
        t = s
        for _ in range(n):
            t = math.sin(t) + s
        s = t * s
    return s


#: The bytes that a minimum cut keeps of each iteration: what the loop carries, where its steps need it.
LEAST = [
    (chain, 8), (two_numbers, 16), (linear, 0), (narrow, 8), (wide, 8), (straight, 0), (branches, 8), (by_index, 0),
    (nested, 24),
]  # fmt: skip


@pytest.mark.parametrize(("f", "least"), LEAST, ids=lambda x: getattr(x, "__name__", None))
def test_little_more_is_kept_than_has_to_be(f, least):
    derivative = grad(f)
    assert derivative(0.5, 3) == pytest.approx(slope(f, 0.5, 3), rel=1e-6)
    kept = re.findall(r"keeps (\d+) bytes", str(derivative.explain()).partition("Remedies")[0])
    assert least <= sum(map(int, kept)) <= 1.5 * least
