"""Transformations of the same function compile once, and see each change of what the function reads."""

import gc
import time
import types
import weakref

import numpy as np
import pytest

from lancehead import config, gradients, njit
from lancehead.gradients import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp

scale = 2.0
weights = np.ones(2)
module = types.ModuleType("module")


def inner(x):
    return x * scale


def outer(x):
    return inner(x) * x


def weighted(x):
    return x * weights[0]


def by_module(x):
    return x * module.scale


@pytest.mark.parametrize("transform", [grad, value_and_grad, hessian, jacfwd, jacrev, checkpoint])
def test_the_same_function_is_compiled_once(transform):
    compiled = njit(outer)
    assert transform(compiled) is transform(compiled)
    assert transform(outer) is transform(outer)
    assert transform(outer) is not transform(inner)


def test_functions_of_the_same_code_are_not_mixed():
    def times(k):
        return grad(lambda x: x * k)

    assert [times(k)(3.0) for k in (1, 2.5, True, 0.0, -4)] == [1.0, 2.5, 1.0, 0.0, -4.0]
    assert np.signbit(times(-0.0)(1.0)) and not np.signbit(times(0.0)(1.0))


def test_requests_are_not_mixed():
    def f(x, y):
        return x * x * y

    assert grad(f)(3.0, 5.0) == 30.0 and grad(f, 1)(3.0, 5.0) == 9.0 and grad(f, (0,))(3.0, 5.0) == (30.0,)
    assert grad(f, "y")(3.0, 5.0) == 9.0 and value_and_grad(f, (0, 1))(3.0, 5.0) == (45.0, (30.0, 9.0))


def test_few_functions_are_kept():
    def times(k):
        def f(x):
            return x * k

        grad(f)
        return weakref.ref(f)

    first = times(0)
    for k in range(200):
        times(k)
    gc.collect()
    assert first() is None


def test_defaults_belong_to_the_function():
    def times(k):
        def f(x, y=k):
            return x * y

        def g(x, *, y=k):
            return x * y

        return grad(f)(1.0), grad(g)(1.0)

    assert times(2.0) == (2.0, 2.0)
    assert times(5.0) == (5.0, 5.0)


def test_changed_globals_are_seen(monkeypatch):
    assert grad(outer)(3.0) == 12.0
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert grad(outer)(3.0) == 30.0
    monkeypatch.setitem(globals(), "inner", lambda x: x)
    assert grad(outer)(3.0) == 6.0


def test_changed_captured_variables_are_seen():
    k = 2.0

    def f(x):
        return x * k

    assert grad(f)(1.0) == 2.0
    assert jvp(f, (1.0,), (1.0,)) == (2.0, 2.0)
    k = 3.0
    assert grad(f)(1.0) == 3.0
    assert jvp(f, (1.0,), (1.0,)) == (3.0, 3.0)
    assert vjp(f, 1.0)[1](1.0) == (3.0,)


def test_changed_contents_are_seen(monkeypatch):
    monkeypatch.setitem(globals(), "weights", np.array([4.0, 0.0]))
    assert grad(weighted)(1.0) == 4.0
    weights[0] = 6.0
    assert grad(weighted)(1.0) == 6.0


def test_changed_attributes_of_modules_are_seen():
    module.scale = 4.0
    assert grad(by_module)(1.0) == 4.0
    module.scale = 6.0
    assert grad(by_module)(1.0) == 6.0


def test_settings_belong_to_the_function(monkeypatch):
    def divided(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError):
        grad(divided)(0.0)
    before = grad(divided)
    monkeypatch.setattr(config, "SEMANTICS", "numba")
    assert grad(divided) is not before


def test_functions_that_call_themselves():
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert grad(power)(2.0, 3) == 12.0
    assert grad(power) is grad(power)


def test_a_linearised_function_is_compiled_once():
    runs = []

    def f(x):
        return x * x * x

    _, push = linearize(f, 2.0)
    assert push(1.0) == 12.0
    start = time.process_time()
    for _ in range(100):
        assert push(2.0) == 24.0
        runs.append(linearize(f, 1.0)[1](2.0))
    # A compilation takes some 10 ms.
    assert runs == [6.0] * 100 and time.process_time() - start < 0.3


def shifted_sum(a, s):
    for i in range(1, a.shape[0]):
        a[i] += s * a[i - 1]
    return np.sum(a * a)


def scaled_sum(a, s):
    a *= s
    return np.sum(a * a)


@pytest.mark.parametrize("kept", [1, 4, 12])
def test_parts_of_derivatives_that_are_kept_no_longer(kept, monkeypatch):
    """A derivative is made of others, which were made for functions that are gone."""
    monkeypatch.setattr(gradients, "_KEPT", kept)
    a, s = np.array([1.0, 2.0, -0.5]), 0.8
    for _ in range(3):
        for function, second in ((scaled_sum, 2 * np.sum(a * a)), (shifted_sum, 34.88)):
            f = njit(function)
            jvp(f, (a.copy(), s), (None, 1.0))
            grad(f, (0, 1))(a.copy(), s)
            for found in (jacfwd(grad(f, 1), 1), jacrev(jacfwd(f, 1), 1), hessian(f, 1), grad(grad(f, 1), 1)):
                np.testing.assert_allclose(found(a.copy(), s), second, rtol=1e-9)
