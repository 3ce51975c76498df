"""Arguments of functions that are differentiated: keywords, positions, kinds, and what the function does to them."""

import traceback
from dataclasses import dataclass

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import TypingError
from lancehead.gradients import (
    checkpoint,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)


@dataclass
class Line:
    slope: float

    def at(self, x, *, s=1.0):
        return self.slope * x * s


def scaled(a, b=2.0):
    return a * a * b


def test_arguments_by_name():
    assert grad(scaled)(3.0, b=4.0) == grad(scaled)(b=4.0, a=3.0) == 24.0
    assert grad(scaled)(3.0) == 12.0
    assert grad(scaled, "b")(3.0, b=4.0) == grad(scaled, 1)(3.0) == 9.0
    assert value_and_grad(scaled, (0, 1))(3.0, b=4.0) == (36.0, (24.0, 9.0))
    assert hvp(lambda x, s: np.sum(x**3 * s))(np.ones(2), s=2.0, tangent=np.ones(2)).tolist() == [12.0, 12.0]
    squares = njit(lambda x, factor=1.0, /, *, shift=0.0: x * x * factor + shift)
    assert grad(squares)(3.0, 2.0) == 12.0
    for jacobian in (jacfwd, jacrev):
        assert jacobian(lambda x, s=1.0: x * s)(np.ones(2), s=3.0).tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert hessian(lambda x, s=1.0: np.sum(x**2) * s)(np.ones(1), s=3.0).tolist() == [[6.0]]
    assert grad(lambda x, mode="square": x * x if mode == "square" else x)(3.0, mode="other") == 1.0
    total = grad(lambda x, axis=None: np.max(np.sum(x, axis=axis)))
    assert total(np.eye(2)).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert total(np.array([[1.0, 2.0]]), axis=0).tolist() == [[0.0, 1.0]]
    # The names of many parameters, and one that closures of lancehead have, too.
    assert grad(lambda f, f_, a, b, c, d, e: f * f_ * e)(1.0, 2.0, e=5.0, a=0, b=0, c=0, d=0) == 10.0
    with pytest.raises(TypeError, match=r"scaled\(\) got an unexpected keyword argument 'c'"):
        grad(scaled)(3.0, c=4.0)


def by_keyword(a, *rest, b, c=1.0):
    return a * a * b * c + sum(rest) * c


def test_keyword_only_arguments():
    assert grad(by_keyword)(3.0, b=4.0) == grad(njit(fastmath=True)(by_keyword))(3.0, b=4.0) == 24.0
    assert value_and_grad(by_keyword, ("b", "c"))(3.0, b=4.0, c=2.0) == (72.0, (18.0, 36.0))
    # Positions count those by position alone.
    assert grad(by_keyword, 2)(3.0, 1.0, 2.0, b=4.0, c=7.0) == 7.0
    assert grad(grad(by_keyword))(3.0, b=4.0, c=2.0) == 16.0
    assert njit(lambda x, slope: slope(x, b=4.0))(3.0, grad(by_keyword)) == 24.0

    def squares(x, *, s=1.0):
        return np.sum(x**2) * s

    x = np.ones(1)
    assert hessian(squares)(x, s=3.0).tolist() == [[6.0]]
    assert hvp(squares)(x, x, s=3.0).tolist() == hvp(squares)(x, s=3.0, tangent=x).tolist() == [6.0]
    assert hvp(lambda x, p=2, *, s=1.0: np.sum(x**p) * s)(x, x).tolist() == [2.0]
    assert jacfwd(lambda x, *, s=1.0: x * s)(x, s=3.0).tolist() == [[3.0]]
    assert grad(checkpoint(squares))(x, s=3.0).tolist() == [6.0]
    with pytest.raises(ValueError, match=r"argument 1 of `squares` is given by keyword only: ask .* argnums='s'"):
        grad(squares, 1)
    with pytest.raises(TypeError, match=r"missing 1 required keyword-only argument: 'b'"):
        grad(by_keyword)(3.0)


def test_keywords_of_captured_variables_methods_and_many_parameters():
    w = 3.0

    def weighted(x, s=1.0, *, t=1.0):
        return x * w * s * t

    assert grad(weighted, "w")(2.0, s=3.0, t=5.0) == 30.0
    assert grad(weighted, ("w", "t"))(2.0, s=3.0, t=5.0) == (30.0, 18.0)
    assert grad(Line(2.0).at)(1.0, s=3.0) == 6.0

    def many(a, b, c, d, e, f, g, h, i, j, k, z=2.0):
        return a * b * c * d * e * f * g * h * i * j * k * z

    assert grad(many)(*[1.0] * 10, k=3.0) == 6.0


@pytest.mark.parametrize("transform", [jacfwd, jacrev, hessian, hvp])
def test_a_matrix_is_with_respect_to_one_argument(transform):
    with pytest.raises(TypeError, match=r"argnums is one position or name here, not \(0, 1\)"):
        transform(lambda x, y: x * y, (0, 1))


def test_arguments_by_name_in_compiled_code():
    @njit
    def slopes(x, v):
        cubes = hvp(cube)(x, v, s=3.0)
        return grad(scaled)(x[0], b=5.0), value_and_grad(scaled)(x[0], b=5.0)[1], jacrev(times)(x, s=4.0), cubes

    def cube(x, s=1.0):
        return np.sum(x**3) * s

    def times(x, s=1.0):
        return x * s

    first, second, matrix, product = slopes(np.array([2.0]), np.array([1.0]))
    assert (first, second, matrix.tolist(), product.tolist()) == (20.0, 20.0, [[4.0]], [36.0])


def square(n):
    return n * n


@pytest.mark.parametrize("asked", [1, (0, 2), 7])
@pytest.mark.parametrize("transform", [grad, value_and_grad, jacfwd, jacrev, hessian, hvp])
def test_positions_that_a_function_does_not_have(transform, asked):
    if isinstance(asked, tuple) and transform not in (grad, value_and_grad):
        return
    with pytest.raises(ValueError, match="argnums asks for argument . *, counted from 0, but `square` has one, `n`"):
        transform(square, asked)


def test_positions_of_other_kinds():
    assert grad(scaled, np.int64(1))(3.0, 2.0) == 9.0
    assert grad(scaled, [0, 1])(3.0, 2.0) == (12.0, 9.0)
    with pytest.raises(TypeError, match="argnums are positions or names of arguments, not 1.0"):
        grad(scaled, 1.0)
    assert grad(scaled, -1)(3.0, 2.0) == 9.0 and grad(scaled, (0, -1))(3.0, 2.0) == (12.0, 9.0)
    with pytest.raises(
        ValueError, match="argnums asks for argument -3, counted from 0, but `scaled` has the arguments"
    ):
        grad(scaled, -3)
    product = grad(lambda *factors: factors[0] * factors[1], 2)
    with pytest.raises(TypingError, match="`argnums` asks for an argument that the call does not give"):
        product(1.0, 2.0)

    @njit
    def third(x):
        return grad(square, 2)(x)

    with pytest.raises(TypingError, match="`argnums` asks for an argument") as caught:
        third(1.0)
    assert_here(caught)


def assert_here(caught):
    """Messages name this file, and none of lancehead's."""
    text = "".join(traceback.format_exception_only(caught.value))
    assert "test_gradients_arguments.py" in text
    assert "gradients.py:" not in text.replace("test_gradients_arguments.py:", "")


@pytest.mark.parametrize("transform", [grad, value_and_grad, jacfwd, jacrev, hessian])
@pytest.mark.parametrize("given", [3, True, np.int32(3), np.arange(3), np.ones(2, bool)])
def test_integers_are_refused_at_the_function(transform, given):
    with pytest.raises(TypingError, match="derivatives are with respect to floats") as caught:
        transform(square)(given)
    assert_here(caught)


def test_integers_are_refused_in_compiled_code_and_by_tangents():
    @njit
    def slope(n):
        return grad(square)(n)

    for refused in (lambda: slope(3), lambda: jvp(square, (3,), (1,)), lambda: hvp(square)(3, 1)):
        with pytest.raises(TypingError, match="derivatives are with respect to floats") as caught:
            refused()
        assert_here(caught)


def doubled(u):
    u *= 2.0
    return np.sum(u * u)


def shifted(u):
    for i in range(1, u.shape[0]):
        u[i] += u[i - 1] * u[i]
    return u[-1] * u[0]


def reversed_in_place(u):
    u[:] = u[::-1] * u
    return np.sum(u * u * u)


def sorted_in_place(u):
    u.sort()
    return np.sum(u * u * np.arange(1.0, 4.0))


OVERWRITING = [doubled, shifted, reversed_in_place, sorted_in_place]


def matrices(f, x):
    """First and second derivatives by differences of the function itself."""
    n, h = x.size, 1e-3
    unit = np.eye(n) * h

    def at(step):
        return f(x + step)

    first = np.array([(at(e / 100) - at(-e / 100)) / (h / 50) for e in unit])
    second = [[(at(a + b) - at(a - b) - at(b - a) + at(-a - b)) / (4 * h * h) for a in unit] for b in unit]
    return first, np.array(second)


@pytest.mark.parametrize("f", OVERWRITING, ids=lambda f: f.__name__)
def test_functions_that_overwrite_their_arguments(f):
    x, v = np.array([0.7, 1.1, 0.4]), np.array([0.3, -0.5, 0.8])
    first, second = matrices(f, x)
    f = njit(f)
    slope, product = grad(f), jvp(f, (x.copy(),), (v,))[1]
    for found in (slope, value_and_grad(f), jacfwd(f), jacrev(f), grad(checkpoint(f))):
        got = found(x.copy())
        np.testing.assert_allclose(got[1] if isinstance(got, tuple) else got, first, rtol=1e-6)
    pull, push = vjp(f, x.copy())[1], linearize(f, x.copy())[1]
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], first, rtol=1e-6)
        np.testing.assert_allclose([push(v), product], first @ v, rtol=1e-6)
    for found in (hessian(f), jacrev(slope), jacfwd(jacrev(f)), jacrev(jacfwd(f))):
        np.testing.assert_allclose(found(x.copy()), second, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(hvp(f)(x.copy(), v), second @ v, rtol=1e-4)

    @njit
    def inside(x, v):
        y, pull = vjp(f, x.copy())
        z, push = linearize(f, x.copy())
        return pull(y)[0], pull(z)[0], push(v), push(v), jacfwd(f)(x), jacrev(f)(x)

    one, two, *tangents, forward, reverse = inside(x, v)
    np.testing.assert_allclose([one, two], np.array([first, first]) * f(x.copy()), rtol=1e-6)
    np.testing.assert_allclose(tangents, [first @ v] * 2, rtol=1e-6)
    np.testing.assert_allclose([forward, reverse], [first, first], rtol=1e-6)


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("transform", [jacfwd, jacrev])
def test_jacobians_of_functions_that_overwrite_arrays_of_any_strides(transform, order):
    x = np.arange(1.0, 13.0).reshape(3, 4)
    x = {"C": x, "F": np.asfortranarray(x), "A": x[::-1, ::2]}[order]

    def f(u):
        u *= u
        return u[0] * u[1]

    found, size = transform(f)(x), x.shape[1]
    expected = np.zeros((size, 3, size))
    for j in range(size):
        expected[j, 0, j], expected[j, 1, j] = 2 * x[0, j] * x[1, j] ** 2, 2 * x[0, j] ** 2 * x[1, j]
    np.testing.assert_allclose(found, expected)


def by_a_number(a, s):
    a *= s
    return np.sum(a * a)


def element_by_element(a, s):
    for i in range(1, a.shape[0]):
        a[i] += s * a[i - 1]
    return np.sum(a * a)


def assigned(a, s):
    a[:] = s * a
    a[1:] -= a[:-1] * s
    return np.sum(a**3)


def buffered(a, s):
    a[0] = s * s
    a[a > 1.5] *= s
    return np.sum(a) * s


@pytest.mark.parametrize("f", [by_a_number, element_by_element, assigned, buffered], ids=lambda f: f.__name__)
def test_arrays_that_get_numbers_of_other_arguments(f):
    """Only the number is asked for; the array holds what depends on it afterwards."""
    a, s, h = np.array([1.0, 2.0, -0.5]), 0.8, 1e-3

    def at(s):
        return f(a.copy(), s)

    first, second = (at(s + h / 100) - at(s - h / 100)) / (h / 50), (at(s + h) - 2 * at(s) + at(s - h)) / h**2
    f = njit(f)
    np.testing.assert_allclose(grad(f, 1)(a.copy(), s), first, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (a.copy(), s), (None, 1.0)), (at(s), first), rtol=1e-6)
    np.testing.assert_allclose(grad(f, (0, 1))(a.copy(), s)[1], first, rtol=1e-6)
    for found in (jacfwd(grad(f, 1), 1), jacrev(jacfwd(f, 1), 1), hessian(f, 1), grad(grad(f, 1), 1)):
        np.testing.assert_allclose(found(a.copy(), s), second, rtol=1e-4)
    with pytest.raises(ValueError, match="arguments that share memory"):
        grad(lambda a, b, s: by_a_number(a, s) + b[0], 2)(a, a, s)
    # Nothing depends on what is changed here.
    assert grad(lambda a, b, s: by_a_number(a, 2.0) * 0.0 + s, 2)(a, a, s) == 1.0
