"""Derivatives of programs: loops, branches, memory, calls; the transformations and what they refuse."""

import math

import numpy as np
import pytest

from differences import copies, differences
from lancehead import njit, prange, vectorize
from lancehead.errors import TypingError
from lancehead.gradients import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)


def _floats(args):
    return tuple(i for i, a in enumerate(args) if isinstance(a, float) or getattr(a, "dtype", None) == np.float64)


def check(f, *args):
    """Value, reverse mode and forward mode of a function that CPython runs, too."""
    asked = _floats(args)
    value, found = value_and_grad(f, asked)(*copies(args))
    assert value == pytest.approx(f(*copies(args)), rel=1e-12)
    rng = np.random.default_rng(1)
    tangents = [None] * len(args)
    along = 0.0
    for i, g in zip(asked, found, strict=True):
        expected = differences(f, *args, number=i)
        np.testing.assert_allclose(np.atleast_1d(g), expected, rtol=2e-6, atol=2e-7)
        tangents[i] = rng.normal() if isinstance(args[i], float) else rng.normal(size=args[i].shape)
        along += np.sum(np.asarray(g) * tangents[i])
    # Both modes give the same number.
    tangent = jvp(f, tuple(copies(args)), tuple(tangents))[1]
    assert tangent == pytest.approx(along, rel=1e-9, abs=1e-12)


def rows(x, y):
    return np.sin(x) * y + x**3 / y - math.atan2(x, y) * math.hypot(x, y) + max(x, y) * abs(x - y) + math.exp(-x) % y


def ordered(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i] * np.sin(x[i])
    return s


def recurrence(x):
    y = np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        if x[i] > 0:
            y[i] = y[i - 1] * 0.5 + x[i] * x[i - 1]
        else:
            y[i] = np.exp(x[i])
    return y[-1] * y[-2]


def in_place(x):
    for _ in range(3):
        for i in range(1, x.shape[0] - 1):
            x[i] = x[i - 1] * x[i] + np.sin(x[i + 1])
    return x[2] * x[3]


def left_early(x, n):
    s, k = 1.0, 0
    while s < 50.0 and k < n:
        s = s * x + 1.0 / x
        k += 1
        if k == 7:
            break
    return s


def skipping(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            if a[i, j] < 0:
                continue
            t += a[i, j] * b[j]
        s += t * t * t
    return s


def triangle(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            s += np.sqrt(x[i] * x[i] + x[j] * x[j]) * max(x[i], x[j])
    return s


def made_in_loops(x, w):
    h = x
    for _ in range(3):
        g = h * w
        h = np.sin(g) + h
    return h[0] * h[1]


def views(x):
    y = x.copy()
    z = y[1:]
    z[:] = z * y[:-1]
    y[::2] *= 2.0
    return y[0] * y[1] + z[2]


def read_after_other_loops(x, a):
    w = np.zeros(7)
    w[:5] = a
    t = 0.1
    for _ in range(4):
        w[0] = 0.3 * t
        t = 0.5 * np.cos(t * x)
    s = 0.0
    for i in range(5):
        s += w[i] * w[i]
    return s * t


def helper(x, k):
    return x * k if k > 1 else x


def calls(x):
    s = 0.0
    for k in range(4):
        s += helper(x, k) * helper(s, 2)
        s += 0.1 * x
    return s


def appended(x):
    items = [x[0]]
    for i in range(1, x.shape[0]):
        items.append(items[-1] * x[i] + 1.0)
    s = 0.0
    for v in items:
        s += v * v
    return s


X = np.array([0.5, 1.2, -0.3, 0.8, 1.1])


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (rows, (1.3, 2.1)),
        (ordered, (X,)),
        (recurrence, (X,)),
        (in_place, (X,)),
        (left_early, (1.7, 20)),
        (skipping, (np.sin(np.arange(12.0) + 0.1).reshape(3, 4), np.cos(np.arange(4.0)))),
        (triangle, (X,)),
        (made_in_loops, (X, X[::-1].copy())),
        (views, (X,)),
        (read_after_other_loops, (0.3, X)),
        (calls, (1.3,)),
        (appended, (X,)),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_programs(f, args):
    check(f, *args)


def test_both_sides_of_branches():
    def f(x):
        if x > 1.0:
            if x > 2.0:
                return x * x * x
            return math.log(x)
        return abs(x)

    assert [grad(f)(x) for x in (0.5, 1.5, 2.5, -2.0)] == [1.0, 1 / 1.5, 3 * 2.5**2, -1.0]


def test_conventions():
    assert grad(lambda x: abs(x))(0.0) == 0.0
    assert grad(lambda x, y: np.maximum(x, y), (0, 1))(2.0, 2.0) == (0.5, 0.5)
    # An element that `where` does not choose has no part in the derivative, be it NaN.
    logs = grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))
    assert logs(np.array([-1.0, 0.0, 4.0])).tolist() == [0.0, 0.0, 0.25]
    assert grad(lambda x: float(int(x)) * x)(2.5) == 2.0
    assert grad(lambda x: np.sum(x * x * 1j).imag)(np.arange(3.0)).tolist() == [0, 2, 4]
    # As in JAX: the conjugate of what points uphill.
    assert grad(lambda z: (z * z).real)(1.0 + 2.0j) == 2 + 4j


def test_types_and_forms():
    square = grad(lambda x: np.sum(x * x))
    assert square(np.ones(3, np.float32)).dtype == np.float32
    f_order = square(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert f_order.flags.f_contiguous and f_order.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert square(np.arange(6.0)[::-2]).tolist() == [10, 6, 2]
    assert square(np.zeros(0)).shape == (0,)
    p = (2.0, np.arange(3.0))
    first, second = grad(lambda p: p[0] * p[1][2] + np.sum(p[1]))(p)
    assert (first, second.tolist()) == (2.0, [1, 1, 3])


def test_transformations():
    x = np.arange(1.0, 4.0)

    def cube(x):
        return x * x * x

    def bent(x):
        return np.sin(x) * x[0]

    assert (grad(cube)(2.0), grad(grad(cube))(2.0), grad(grad(grad(cube)))(2.0)) == (12.0, 12.0, 6.0)
    assert jvp(cube, (2.0,), (1.0,)) == (8.0, 12.0)
    assert vjp(lambda x, y: x * y, 2.0, 3.0)[1](1.0) == (3.0, 2.0)
    exact = np.diag(np.cos(x) * x[0])
    exact[:, 0] += np.sin(x)
    np.testing.assert_allclose(jacfwd(bent)(x), exact)
    np.testing.assert_allclose(jacrev(bent)(x), exact)
    np.testing.assert_allclose(vjp(bent, x)[1](np.ones(3))[0], exact.sum(0))
    np.testing.assert_allclose(linearize(bent, x)[1](np.ones(3)), exact.sum(1))
    second = hessian(lambda x: np.sum(np.sin(x) * x) * x[1])(x)
    np.testing.assert_allclose(second, second.T)
    np.testing.assert_allclose(hvp(lambda x: np.sum(np.sin(x) * x) * x[1])(x, np.ones(3)), second.sum(1))
    value, found = value_and_grad(lambda x: (np.sum(x * x), x + 1), has_aux=True)(x)
    assert (value[0], value[1].tolist(), found.tolist()) == (14.0, [2, 3, 4], [2, 4, 6])
    assert grad(lambda x, y: x * y * y, "y")(2.0, 3.0) == 12.0
    assert grad(lambda x, y: x * y * y, (0, 1))(2.0, 3.0) == (9.0, 12.0)
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    again = checkpoint(bent)
    expected = grad(lambda x: np.sum(bent(x) ** 2))(x)
    np.testing.assert_allclose(grad(lambda x: np.sum(again(x) ** 2))(x), expected)


def test_pullbacks_and_tangents_of_arguments_that_change():
    def squared(x):
        x *= 2.0
        x *= x
        return np.sum(x)

    x = np.array([1.0, 2.0])
    value, pull = vjp(squared, x)
    assert value == 20.0 and x.tolist() == [4.0, 16.0]
    for _ in range(2):
        assert pull(1.0)[0].tolist() == [8.0, 16.0]
    x = np.array([1.0, 2.0])
    value, push = linearize(squared, x)
    along = np.ones(2)
    assert value == 20.0
    for _ in range(2):
        assert push(along) == 24.0 and along.tolist() == [1.0, 1.0]
    pull = vjp(lambda x: np.sum(x * x), x)[1]
    before = x.copy()
    x[:] = 7.0
    assert pull(1.0)[0].tolist() == (2.0 * before).tolist()


def test_derivatives_in_compiled_code():
    slope = grad(lambda x: x * x * x)

    @njit
    def newton(x):
        for _ in range(20):
            x -= (x * x * x - 2.0) / slope(x)
        return x

    assert newton(1.0) == pytest.approx(2 ** (1 / 3))
    assert grad(newton)(1.0) == pytest.approx(0.0, abs=1e-9)


def test_derivatives_as_ufuncs():
    slopes = vectorize(grad(lambda x: x * x * x))
    assert slopes(np.arange(3.0)).tolist() == [0, 3, 12]


def test_stated_derivatives():
    @custom_vjp
    def product(x, y):
        return x * y

    product.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, d: (d * saved[1] * 100.0, d * saved[0]))
    assert grad(lambda x: product(x, 3.0) * 2.0)(2.0) == 600.0

    @custom_jvp
    def clipped(x):
        return min(x, 1.0)

    clipped.defjvp(lambda args, tangents: (min(args[0], 1.0), tangents[0] * 7.0))
    assert jvp(lambda x: clipped(x) * 2.0, (5.0,), (1.0,)) == (2.0, 14.0)


def test_derivatives_are_stated_once():
    @custom_vjp
    def product(x):
        return x * x

    slope = grad(lambda x: product(x))
    with pytest.raises(TypingError, match="the derivative of this function is not stated yet"):
        slope(3.0)
    product.defvjp(lambda x: (x * x, x), lambda saved, d: (d * saved,))
    assert slope(3.0) == 3.0
    with pytest.raises(TypeError, match="stated already"):
        product.defvjp(lambda x: (x * x, x), lambda saved, d: (d * saved * 10.0,))


def test_stated_derivatives_of_a_wrong_form():
    @custom_vjp
    def product(x, y):
        return x * y

    product.defvjp(lambda x, y: x * y, lambda saved, d: (d, d))
    with pytest.raises(TypingError, match="it has to give a pair"):
        grad(lambda x: product(x, 3.0))(2.0)


def test_arguments_are_overwritten_as_the_function_does():
    x = np.arange(3.0)
    found = grad(lambda x: _doubled(x) * x[1])(x)
    # The derivative is that for the values that were passed.
    assert found.tolist() == [0.0, 8.0, 0.0] and x.tolist() == [0, 2, 2]


@njit
def _doubled(x):
    x[1] = 2.0 * x[1]
    return x[1]


def test_refusals():
    def text(f, *args):
        with pytest.raises(TypingError) as e:
            grad(f)(*args)
        return str(e.value)

    assert "with respect to floats" in text(lambda x: x * 2.0, 3)
    assert "with respect to floats" in text(lambda x: np.sum(x) * 2.0, np.arange(3))
    assert "one float" in text(lambda x: x * 2.0, np.ones(3))
    assert "one float" in text(lambda x: int(x), 2.0)

    with pytest.raises(ValueError, match="argnums"):
        grad(lambda x: x, ())
    with pytest.raises(ValueError, match="no argument `z`"):
        grad(lambda x: x, "z")


def test_arguments_that_share_memory():
    def changed(a, b):
        a[0] = b[1] * 2
        return np.sum(a * b)

    x = np.arange(3.0)
    with pytest.raises(ValueError, match="share memory"):
        grad(changed, (0, 1))(x, x)
    with pytest.raises(ValueError, match="share memory"):
        grad(changed)(x, x[1:])
    assert grad(changed)(x, x.copy()).tolist() == [0, 1, 2]
    # Nothing is changed: each argument has its own derivative.
    a, b = grad(lambda a, b: np.sum(a * a * b), (0, 1))(x, x)
    assert a.tolist() == (2 * x * x).tolist() and b.tolist() == (x * x).tolist()


def test_reports():
    def loop(x, n):
        y = x
        for _ in range(n):
            y = np.sin(y) * np.floor(x * 3) + y * y * 0.1
        return y

    f = grad(loop)
    f(0.7, 10)
    text = str(f.explain())
    assert "keeps 8 bytes of each iteration" in text and "ends at `floor`" in text and "values again" in text
    # The code in between is not shown.
    assert "derivatives_of" not in text


@pytest.mark.optimised
def test_parallel_loops():
    @njit(parallel=True)
    def loss(w, x, y):
        total = 0.0
        for i in prange(x.shape[0]):
            total += np.log1p(np.exp(-y[i] * (w[0] * x[i] + w[1])))
        return total

    def serial(w, x, y):
        total = 0.0
        for i in range(x.shape[0]):
            total += np.log1p(np.exp(-y[i] * (w[0] * x[i] + w[1])))
        return total

    @njit(parallel=True)
    def nested(x):
        y = np.empty(x.shape[0])
        for i in prange(x.shape[0]):
            t = 1.0
            for j in range(5):
                t *= math.sin(x[j] * t)
            y[i] = t * x[i]
        return np.sum(y * y)

    x = np.random.default_rng(0).normal(size=2000)
    y = np.sign(x + 0.1)
    f = value_and_grad(loss)
    found, expected = f(np.ones(2), x, y), value_and_grad(serial)(np.ones(2), x, y)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    # The order of sums is fixed.
    assert f(np.ones(2), x, y)[1].tobytes() == found[1].tobytes()
    assert str(f.explain()).count("derivative: runs in parallel") == 2
    check(nested.py_func, x[:20])
    np.testing.assert_allclose(grad(nested)(x[:20]), grad(nested.py_func)(x[:20]), rtol=1e-12)


def test_exceptions_pass_through():
    f = grad(lambda x: x[7] * 1.0)
    with pytest.raises(IndexError):
        f(np.ones(3))
    assert f(np.ones(8)).tolist() == [0, 0, 0, 0, 0, 0, 0, 1]


@njit
def sum_of_cubes(x):
    return np.sum(x * x * x)


OPTIONS = [
    {"fastmath": True}, {"fastmath": {"reassoc", "nsz"}}, {"boundscheck": False}, {"debug": True},
    {"error_model": "numpy"}, {"overflow": "check"}, {"semantics": "numba"}, {"parallel": True}, {"nogil": True},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: next(iter(o)))
def test_functions_of_other_options(options):
    x = np.array([1.0, -2.0, 3.0])
    inner = njit(**options)(sum_of_cubes.py_func)
    np.testing.assert_allclose(grad(lambda x: 2.0 * inner(x))(x), 6.0 * x * x)
    np.testing.assert_allclose(jvp(lambda x: 2.0 * inner(x), (x,), (x,))[1], 6.0 * np.sum(x**3))
    for outer in (lambda x: np.sum(grad(sum_of_cubes)(x)), lambda x: jvp(sum_of_cubes, (x,), (np.ones(3),))[1]):
        np.testing.assert_allclose(grad(njit(**options)(outer))(x), 6.0 * x)


def test_exact_parts_of_fast_functions_stay_exact():
    def product(x):
        return x * 0.0

    # With `nnan` the product would be 0, as would be its derivative.
    fast = njit(fastmath=True)(lambda x: np.isnan(x) * 3.0 + x)
    assert np.isnan(grad(lambda x: product(x) * x + fast(x))(np.inf))
    assert value_and_grad(lambda x: fast(x) * x)(np.float64(2.0)) == (4.0, 4.0)


@pytest.mark.parametrize("given", [{"a": 1, "b": 2}, (1, 2), [1, 2], "text", None, ()])
def test_arguments_without_floats_are_refused(given):
    with pytest.raises(TypingError, match="derivatives are with respect to floats, and there is none in"):
        grad(lambda p: 1.0)(given)
