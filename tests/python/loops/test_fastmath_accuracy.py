"""Functions under `fastmath` are within 4 ulp, and keep their special values where the flags allow to ask for them."""

import math

import numpy as np
import pytest

from lancehead import njit

FUNCTIONS = {name: getattr(np, name) for name in ("sin", "cos", "tan", "tanh", "exp", "log", "log2", "log10")}


def apply(name, **options):
    f = getattr(math, name)

    @njit(**options)
    def run(x, out):
        for i in range(x.shape[0]):
            out[i] = f(x[i])

    return run


@pytest.mark.parametrize("flags", [True, {"afn"}])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_four_ulp(name, flags):
    x = np.random.default_rng(5).uniform(-20, 20, 5000)
    x = np.abs(x) + 1e-3 if name.startswith("log") else x
    for dtype in (np.float32, np.float64):
        arg = x.astype(dtype)
        want = FUNCTIONS[name](arg.astype(np.longdouble))
        out = np.empty_like(arg)
        apply(name, fastmath=flags)(arg, out)
        error = np.abs(out.astype(np.longdouble) - want) / np.spacing(np.abs(want.astype(dtype)))
        assert error.max() <= 4


def test_the_quicker_functions_are_chosen():
    x = np.random.default_rng(6).uniform(-2, 2, 2000)
    exact, quick = np.empty_like(x), np.empty_like(x)
    apply("tanh")(x, exact)
    apply("tanh", fastmath={"afn"})(x, quick)
    assert (exact != quick).any() and np.allclose(exact, quick, rtol=1e-15)
