"""Numbers drawn in place and by calls are one stream, the one of NumPy and of Python."""

import multiprocessing
import random

import numpy as np
import pytest

from lancehead import njit, prange


@njit
def numpy_mixed(seed, n):
    np.random.seed(seed)
    out = np.empty(n)
    for i in range(n):
        out[i] = np.random.random()
        # Draws one word of the stream, or two.
        if i % 7 == 3:
            out[i] += np.random.randint(0, 100)
    return out


@njit
def python_mixed(seed, n):
    random.seed(seed)
    out = np.empty(n)
    for i in range(n):
        out[i] = random.random()
        # Draws one word of the stream: a pair of words may lie in two blocks.
        if i % 5 == 2:
            out[i] += random.getrandbits(20)
    return out


@njit
def inside(n):
    hits = 0
    for _ in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y < 1.0:
            hits += 1
    return hits


@njit(parallel=True)
def spread(seed, n):
    np.random.seed(seed)
    out = np.empty(n)
    for i in prange(n):
        out[i] = np.random.random()
    return out


@pytest.mark.parametrize("seed", [0, 5, 12345])
def test_numpy(seed):
    assert np.array_equal(numpy_mixed(seed, 2000), numpy_mixed.py_func(seed, 2000))


def test_integers_one_by_one():
    """Words under a mask: none, one or two for each, of which some do not fit, across blocks of words."""

    @njit
    def f(seed, limits):
        np.random.seed(seed)
        out = np.zeros(20 * limits.size, np.int64)
        for i in range(out.size):
            out[i] = np.random.randint(-3, limits[i % limits.size])
            if i % 7 == 0:
                out[i] += np.random.randint(10)
        return out

    bounds = [1 << k for k in range(63)] + [(1 << k) - 1 for k in range(1, 63)] + [-2, -1, 0, 2**63 - 4]
    limits = np.array(bounds)
    for seed in range(3):
        assert np.array_equal(f(seed, limits), f.py_func(seed, limits))


@pytest.mark.parametrize("seed", [0, 5, 12345])
def test_python(seed):
    assert np.array_equal(python_mixed(seed, 2000), python_mixed.py_func(seed, 2000))


def test_loops_ask_once_where_the_stream_is():
    assert abs(4 * inside(100_000) / 100_000 - np.pi) < 0.1
    (code,) = inside.inspect_llvm().values()
    assert code.count("call ptr @lh_py_stream") == 1


def test_blocks_of_parallel_loops_have_streams_of_their_own():
    a = spread(3, 100_000)
    assert np.array_equal(a, spread(3, 100_000)) and len(np.unique(a)) > 99_990
    assert abs(a.mean() - 0.5) < 0.01


@njit
def both():
    return random.random(), np.random.random()


@njit
def seed_numpy(n):
    np.random.seed(n)


@njit
def unseed_numpy():
    np.random.seed()


def drawn_in_children():
    # Each child is forked from the same state.
    def child(end):
        end.send(both())

    context, found = multiprocessing.get_context("fork"), []
    for _ in range(2):
        here, there = context.Pipe()
        process = context.Process(target=child, args=(there,))
        process.start()
        assert here.poll(60), "the child has died"
        found.append(here.recv())
        process.join()
    return found


def test_forked_children_draw_other_numbers_unless_numpy_was_seeded():
    """As CPython's `random`, whatever the seed was; a seed of `np.random` is the program's."""
    unseed_numpy()
    random_state = both()
    (a, x), (b, y) = drawn_in_children()
    assert len({a, b, random_state[0]}) == 3 and len({x, y, random_state[1]}) == 3
    seed_numpy(3)
    (a, x), (b, y) = drawn_in_children()
    assert a != b and x == y == both()[1]
