"""Blocks of `objmode`: they run in the interpreter, in the middle of compiled code."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, objmode, types

ROW = types.int64[::1]


@njit
def text_of(x):
    with objmode(y="float64", s="unicode_type"):
        y = x * 2
        s = f"{x:>6.2f}"
    return y, s


@njit
def sorted_backwards(a):
    with objmode(b="float64[:]"):
        b = np.sort(a)[::-1]
    return b + 1


@njit
def rows(n, k):
    total = 0
    for i in range(n):
        with objmode(r=ROW):
            r = np.arange(i) + k
        total += r.sum()
    return total


@njit
def caught(x):
    try:
        with objmode(y="int64"):
            y = [1, 2][x]
    except IndexError:
        return -1
    return y


@njit
def changed(a):
    first = a[0]
    with objmode():
        a[0] = 7
    return first, a[0]


@njit
def containers(n):
    given = [1, 2]
    with objmode(m="ListType(int64)", d="DictType(int64, float64)", t="UniTuple(int64, 2)"):
        m = [x + n for x in given]
        d = {1: 2.5}
        t = (len(given), n)
    return m, d, t


@njit
def loops(n):
    found = 0
    with objmode(found="int64"):
        for i in range(n):
            if i == 3:
                break
            found += i
        values = [j for j in range(n)]
        found += len(values)
    return found


@pytest.mark.parametrize(
    "f, args",
    [
        (text_of, (1.5,)), (text_of, (3,)), (rows, (4, 3)), (caught, (1,)), (caught, (7,)), (containers, (3,)),
        (loops, (5,)), (loops, (0,)),
    ],
)  # fmt: skip
def test_as_python(f, args):
    # In Python the block does nothing but run.
    assert f(*args) == f.py_func(*args)


def test_arrays_are_shared():
    assert sorted_backwards(np.array([3.0, 1.0, 2.0])).tolist() == [4.0, 3.0, 2.0]
    a = np.zeros(2)
    assert changed(a) == (0.0, 7.0) and a[0] == 7


def test_captured_values_and_their_changes():
    offset = 1

    @njit
    def f(x):
        with objmode(y="int64"):
            y = x + offset
        return y + offset

    assert f(1) == 3
    offset = 10
    assert f(1) == 21


def test_what_the_block_raises():
    class Own(Exception):
        pass

    @njit
    def f(x):
        with objmode(y="int64"):
            if x > 1:
                raise Own("text", x)
            y = {}[x]
        return y

    with pytest.raises(KeyError, match="1"):
        f(1)
    with pytest.raises(Own) as raised:
        f(2)
    assert raised.value.args == ("text", 2)


def test_a_value_of_another_type():
    @njit
    def f(x):
        with objmode(y="int64"):
            y = "a" if x else None
        return y

    with pytest.raises(TypeError, match="promises int64, and gives str"):
        f(True)
    with pytest.raises(TypeError, match="promises int64"):
        f(False)


def test_nothing_leaks():
    @njit
    def f(x):
        for _ in range(3):
            with objmode(s="unicode_type", a=ROW):
                s = x + "é" * 100
                a = np.arange(3)
                if x == "raise":
                    raise ValueError(x)
        return s, a

    def run():
        f("a")
        with pytest.raises(ValueError, match="raise"):
            f("raise")

    run()
    before = lancehead._core.live_allocations()
    run()
    assert lancehead._core.live_allocations() == before


def test_what_a_block_cannot_do():
    def returns(x):
        with objmode(y="int64"):
            return x

    def loses(x):
        with objmode(y="int64"):
            y = x
            z = 1
        return y + z

    def leaves(x):
        for _ in range(x):
            with objmode():
                break
        return x

    def lacks(x):
        with objmode(y="int64"):
            z = x  # noqa: F841
        return y  # noqa: F821

    texts = {
        returns: "cannot return",
        loses: "assigns to `z`",
        leaves: "cannot leave the loop",
        lacks: "not assign to `y`",
    }
    for function, text in texts.items():
        with pytest.raises(errors.UnsupportedError, match=text):
            njit(function)(1)


def test_a_cached_function_sees_its_block(tmp_path):
    script = tmp_path / "program.py"
    text = (
        "from lancehead import njit, objmode\n@njit(cache=True)\ndef f(x):\n    with objmode(y='int64'):\n"
        "        y = x + ADDED\n    return y\nADDED = {}\nprint(f(1))\n"
    )
    environment = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    for added in (1, 5):
        script.write_text(text.format(added) if "{}" in text else text)
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, timeout=60)
        assert done.stdout == f"{1 + added}\n", done.stderr


def test_a_block_costs_little():
    @njit
    def f(n):
        total = 0
        for i in range(n):
            with objmode(y="int64"):
                y = i
            total += y
        return total

    assert f(10) == 45
    start = time.perf_counter()
    f(10_000)
    assert time.perf_counter() - start < 0.2
