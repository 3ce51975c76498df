"""Ctrl-C in loops that are vectorised, unrolled or replaced by calls: they are asked after LLVM has done that."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from lancehead import cuda, njit, prange, typeof, vectorize

ONES, BYTES = np.ones(3_000_000), np.ones(50_000_000, np.uint8)
FAR = 10**14


def fill(a, rounds):
    for _ in range(rounds):
        for i in range(a.shape[0]):
            a[i] = 0


def copy(a, b, rounds):
    for _ in range(rounds):
        for i in range(a.shape[0]):
            b[i] = a[i]


def scale(a, b, rounds):
    for _ in range(rounds):
        for i in range(a.shape[0]):
            b[i] = 2 * a[i]


def mix(n):
    s = 0
    for i in range(n):
        s += i ^ (i >> 3)
    return s


def sum_floats(n):
    s = 0.0
    for i in range(n):
        s += i * 0.5
    return s


def downwards(n):
    s = 0
    for i in range(n, 0, -3):
        s ^= i * i
    return s


def gather(a, index, rounds):
    s = 0.0
    for _ in range(rounds):
        for i in range(index.shape[0]):
            s += a[index[i]]
    return s


def count(n):
    c = 0
    for i in range(n):
        if (i * 2654435761) & 255 == 7:
            c += 1
    return c


def catches(a, n):
    c = 0
    for i in range(n):
        try:
            c += int(a[i & 7])
        except IndexError:
            c -= 1
    return c


def slide(n):
    # Inlining gives this loop's end another form.
    a = [1, 2, 3]
    for i in range(n):
        del a[0]
        a.append(i)
    return len(a)


def insert(a, rounds):
    # The loop inside goes along the array and does not ask.
    for _ in range(rounds):
        for i in range(1, a.shape[0]):
            x = a[i]
            j = i - 1
            while j >= 0 and a[j] > x:
                a[j + 1] = a[j]
                j -= 1
            a[j + 1] = x
    return a


def halve(n):
    # -1 // 2 stays -1.
    c = 0
    while n != 0:
        n >>= 1
        c += 1
    return c


CASES = [
    (fill, BYTES, 10**6),
    (copy, BYTES, BYTES.copy(), 10**6),
    (scale, ONES, ONES.copy(), 10**6),
    # The arrays overlap: elements are handled one at a time.
    (scale, ONES[:-1], ONES[1:], 10**6),
    (mix, FAR),
    (sum_floats, FAR),
    (downwards, FAR),
    (gather, ONES, np.arange(len(ONES)), 10**6),
    (count, FAR),
    (catches, ONES, FAR),
    (slide, FAR),
    (insert, np.arange(1000.0), FAR),
]


def interrupt_soon() -> list[float]:
    """When the signal was sent, once it has been."""
    sent = []

    def later():
        time.sleep(0.1)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=later).start()
    return sent


@pytest.fixture(autouse=True)
def handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("fastmath", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: CASES[i][0].__name__ + str(i))
def test_ctrl_c_stops_loops(case, fastmath):
    function, *arguments = CASES[case]
    # The thread that sends the signal needs the lock.
    compiled = njit(fastmath=fastmath, nogil=True)(function)
    compiled(*arguments[:-1], 3)
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        compiled(*arguments)
    assert time.monotonic() - sent[0] < 1.0


def test_ctrl_c_stops_a_number_that_keeps_its_bits():
    compiled = njit(nogil=True)(halve)
    assert compiled(1000) == 10
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        compiled(-5)


def deep(s):
    # Each of these loops is short; together they run for hours.
    for a in range(60):
        for b in range(60):
            for c in range(60):
                for d in range(60):
                    for e in range(60):
                        for f in range(60):
                            for g in range(60):
                                s = (s * 31) ^ (a + b * c + d * e + f * g)
    return s


def test_ctrl_c_stops_short_loops_around_one_another():
    compiled = njit(nogil=True)(deep)
    compiled.compile("(int64,)")
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        compiled(1)
    assert time.monotonic() - sent[0] < 1.0


@pytest.mark.parametrize("options", [{}, {"debug": True, "opt": False}])
def test_ctrl_c_stops_all_threads_of_a_kernel(options):
    @cuda.jit(**options)
    def kernel(a):
        while a[0] == 0:
            pass
        cuda.syncthreads()

    kernel[1, 1](np.ones(1))
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        kernel[3, 64](np.zeros(1))
    assert time.monotonic() - sent[0] < 1.0


def test_loops_go_on_after_a_ctrl_c_that_was_caught():
    @njit(nogil=True)
    def twice(a, rounds):
        caught = 0
        try:
            for _ in range(rounds):
                for i in range(a.shape[0]):
                    a[i] = 2 * a[i]
        except KeyboardInterrupt:
            caught = 1
        s = 0
        for i in range(a.shape[0]):
            a[i] = 1
            s += i
        return caught, s, a.sum()

    a = np.ones(1_000_000)
    expected = (a.size * (a.size - 1) // 2, float(a.size))
    assert twice(a, 1) == (0, *expected)
    interrupt_soon()
    assert twice(a, 10**6) == (1, *expected)


def mixed(n):
    """Numbers in no order."""
    return np.arange(n) * 2654435761 % 1000003


# Each of these calls takes seconds, and is one call of the run-time library, or of NumPy's machinery.
LIBRARY = {
    "sort": (lambda: lambda a: np.sort(a), lambda: (mixed(40_000_000) * 0.5,)),
    "argsort": (lambda: lambda a: np.argsort(a), lambda: (mixed(30_000_000),)),
    "argsort of complex numbers": (lambda: lambda a: np.argsort(a), lambda: (mixed(10_000_000) + 1j,)),
    "partition": (lambda: lambda a: np.partition(a, a.size // 3), lambda: (mixed(100_000_000),)),
    "median": (lambda: lambda a: np.median(a), lambda: (mixed(100_000_000),)),
    "matrix product": (lambda: lambda a: a @ a, lambda: (np.ones((6000, 6000)),)),
    "tall matrix product": (lambda: lambda a: a.T @ a, lambda: (np.ones((4_000_000, 50)),)),
    "matrix and vector": (lambda: lambda a: a @ a[0], lambda: (np.broadcast_to(1.5, (1000, 20_000_000)),)),
    "vectors": (lambda: lambda a: np.dot(a, a), lambda: (np.broadcast_to(1.5, (10**11,)),)),
    "random": (lambda: lambda n: np.random.rand(n), lambda: (400_000_000,)),
    "normal": (lambda: lambda n: np.random.standard_normal(n), lambda: (200_000_000,)),
    "integers": (lambda: lambda n: np.random.randint(0, 1000, n), lambda: (400_000_000,)),
    "sum": (lambda: lambda a: np.sum(a), lambda: (np.broadcast_to(1.5, (10**12,)),)),
    "variance": (lambda: lambda a: np.var(a), lambda: (np.broadcast_to(1.5, (10**12,)),)),
    "extreme": (lambda: lambda a: np.argmax(a), lambda: (np.broadcast_to(1.5, (10**12,)),)),
    "search": (
        lambda: lambda a, x: np.searchsorted(a, x)[0],
        lambda: (np.arange(100_000.0), np.broadcast_to(1.5, (60_000_000,))),
    ),
}


@pytest.mark.parametrize("options", [{}, {"parallel": True}], ids=["", "parallel"])
@pytest.mark.parametrize("name", LIBRARY)
def test_ctrl_c_stops_long_calls_of_the_library(name, options):
    make, arguments = LIBRARY[name]
    compiled, arguments = njit(nogil=True, **options)(make()), arguments()
    compiled.compile(tuple(map(typeof, arguments)))
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        compiled(*arguments)
    assert time.monotonic() - sent[0] < 1.0
    # Nothing of it is left for the next call.
    assert njit(nogil=True)(total)(np.arange(1000.0)) == 499500.0


def total(a):
    s = 0.0
    for x in np.sort(a):
        s += x
    return s


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.complex128])
def test_an_array_whose_sort_was_stopped_has_all_its_elements(dtype):
    @njit(nogil=True)
    def sort(a):
        a.sort()

    @njit(nogil=True)
    def select(a):
        a.partition(a.size // 2)

    for f in (sort, select):
        a = mixed(20_000_000 if dtype == np.complex128 else 100_000_000 if f is select else 50_000_000).astype(dtype)
        f(a[:10].copy())
        before = np.bincount(a.real.astype(np.int64))
        sent = interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            while True:
                f(a)
                a[:] = a[::-1].copy()
        assert time.monotonic() - sent[0] < 2.0
        np.testing.assert_array_equal(np.bincount(a.real.astype(np.int64)), before)


def test_memory_of_calls_that_were_stopped_is_freed():
    compiled = njit(nogil=True)(lambda a: np.argsort(a))
    a = mixed(20_000_000)
    compiled.compile((typeof(a),))

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    sizes = []
    for _ in range(4):
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            compiled(a)
        sizes.append(resident())
    assert sizes[-1] - sizes[0] < 100_000_000


def test_ctrl_c_stops_a_call_inside_of_a_parallel_loop():
    @njit(parallel=True, nogil=True)
    def rows(a):
        for i in prange(a.shape[0]):
            a[i].sort()

    a = np.stack([mixed(20_000_000)] * 4)
    rows(a[:, :10].copy())
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        rows(a)
    assert time.monotonic() - sent[0] < 1.0
    np.testing.assert_array_equal(np.bincount(a[3]), np.bincount(mixed(20_000_000)))


def test_a_long_call_in_another_thread_goes_on():
    # Python delivers signals to its main thread, which waits here.
    sort = njit(nogil=True)(lambda a: np.sort(a))
    a = mixed(5_000_000)
    sort(a[:10])
    results, done = [], threading.Event()

    def work():
        results.append(sort(a))
        done.set()

    threading.Thread(target=work).start()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        done.wait(60)
        time.sleep(1)
    done.wait()
    np.testing.assert_array_equal(results[0], np.sort(a))


def test_a_ufunc_of_users_stops():
    @vectorize(["float64(float64)"])
    def slow(x):
        for _ in range(20):
            x = x * 0.5 + 1.0 / (x + 1.0)
        return x

    slow(np.ones(10))
    sent = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(10**6):
            slow(np.broadcast_to(1.5, (50_000_000,)))
    assert time.monotonic() - sent[0] < 1.0


def test_results_of_loops_longer_than_a_strip():
    @njit
    def sums(a, step):
        s, n = 0, 0
        for i in range(0, a.shape[0], step):
            s += a[i]
            n += 1
        t = 0
        for i in range(a.shape[0] - 1, -1, -step):
            t ^= a[i] + i
        return s, n, t

    for size in (0, 1, 5, 131_071, 131_072, 131_073, 1_000_003):
        a = np.arange(size)
        for step in (1, 3, 100_000):
            t = np.bitwise_xor.reduce(2 * a[::-1][::step]) if size else 0
            assert sums(a, step) == (a[::step].sum(), len(a[::step]), t)
