"""Calls whose operands do not vary in a loop leave it: each is made once, and loops compile as fast as without them."""

import cmath
import os
import subprocess
import sys

import numpy as np
import pytest

from lancehead import njit

NAMES = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()


@pytest.mark.optimised
@pytest.mark.parametrize("home", [cmath, np], ids=["cmath", "np"])
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_complex_numbers(name, home):
    function = getattr(home, name if home is cmath else name.replace("a", "arc", 1) if name[0] == "a" else name)

    @njit
    def filled(a, out):
        for i in range(out.size):
            out[i] = function(a) + i
        return out

    @njit
    def nested(a, out):
        for _ in range(2):
            for i in range(out.size):
                out[i] += function(2 * a + 0.5) * i
        return out

    for a in (0.5 + 0.25j, -1.5 + 2j, 3.0 - 0.125j):
        want = function(a) + np.arange(9)
        np.testing.assert_allclose(filled(a, np.zeros(9, complex)), want, 1e-13)
        want = 2 * function(2 * a + 0.5) * np.arange(9)
        np.testing.assert_allclose(nested(a, np.zeros(9, complex)), want, 1e-13)


@pytest.mark.optimised
def test_functions_of_a_program():
    @njit
    def chosen(x, n):
        if x < 0:
            y = x * x
        elif n > 3:
            y = x**0.5
        else:
            y = -x
        for _ in range(3):
            y += 1 if y > 2 else x
        return y

    @njit
    def total(values, x, n):
        s = 0.0
        for v in values:
            s += v * chosen(x + 1, n)
        return s

    @njit
    def strict(values, n):
        s = 0
        for v in values:
            s += v // n
            if v > 5:
                s += chosen(-1.0 * n, n)
        return s

    values = np.arange(8.0)
    for x, n in ((1.5, 4), (-3.0, 1), (0.25, 2)):
        assert total(values, x, n) == pytest.approx(total.py_func(values, x, n))
        assert strict(values, n) == pytest.approx(strict.py_func(values, n))
    assert strict(np.zeros(0), 0) == 0
    with pytest.raises(ZeroDivisionError):
        strict(values, 0)


@pytest.mark.optimised
def test_calls_that_raise_or_print_stay(capfd):
    @njit
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return x * 2

    @njit
    def told(x):
        print("told", x)
        return x

    def sum_of(callee):
        @njit
        def total(n, x):
            s = 0
            for i in range(n):
                s += callee(x) + i
            return s

        return total

    f, g = sum_of(checked), sum_of(told)
    assert f(0, -1) == 0
    assert f(3, 2) == 15
    with pytest.raises(ValueError, match="negative"):
        f(1, -1)
    assert g(3, 2) == 9
    assert capfd.readouterr().out.count("told 2") == 3


STAYS = """
import cmath, numpy as np
from lancehead import njit
@njit
def filled(a, out):
    for i in range(out.size):
        out[i] = cmath.acos(a) if i & 1 else cmath.asin(cmath.acos(a))
    return out
print(filled(0.5 + 0.25j, np.zeros(3, complex))[1] == cmath.acos(0.5 + 0.25j))
"""


@pytest.mark.parametrize("passes", ["", "-hoist_calls"])
def test_chains_that_stay_in_a_loop_do_not_stop_the_vectoriser(passes):
    # The number of paths through such a chain is exponential in its length.
    environment = {**os.environ, "LANCEHEAD_PASSES": passes, "LANCEHEAD_STORE": "0"}
    command = [sys.executable, "-c", STAYS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"
