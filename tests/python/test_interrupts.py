"""Ctrl-C in loops that are vectorised, unrolled or replaced by calls: they are asked after LLVM has done that."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from lancehead import cuda, njit

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
