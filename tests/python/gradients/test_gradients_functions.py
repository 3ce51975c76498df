"""Derivatives of functions that programs make or bring along: ufuncs, gufuncs, stencils, and functions of C."""

from __future__ import annotations

import ctypes
import ctypes.util
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from differences import differences
from lancehead import TypingError, float64, guvectorize, njit, stencil, vectorize
from lancehead.gradients import custom_jvp, custom_vjp, grad, jvp

W = np.array([1.0, 2.0, 4.0, 3.0])
X, Y = np.array([0.3, 1.4, -0.6, 0.9]), np.array([0.5, 0.7, 1.1, -0.2])
M = np.arange(12.0).reshape(3, 4) / 7.0 + 0.1


@vectorize
def bump(x, y):
    if x > y:
        return math.sin(x) * y
    return x * x - y


@vectorize([float64(float64)])
def square(x):
    return x * x


@guvectorize("(n),(n)->(n)")
def scan(x, w, out):
    s = 0.0
    for i in range(x.shape[0]):
        s = s * w[i] + x[i] * x[i]
        out[i] = s


@guvectorize([(float64[:], float64, float64[:])], "(n),()->()")
def horner(x, t, out):
    s = 0.0
    for i in range(x.shape[0]):
        s = s * t + x[i]
    out[0] = s


@stencil
def smooth(a):
    return 0.25 * a[-1] * a[1] + a[0] * a[0]


@stencil
def weighted(a, w):
    return w[0, 0] * a[-1, 0] * a[0, 1] + a[0, 0]


def scanned(x, w):
    out = np.zeros(x.shape)
    scan(x, w, out)
    return np.sum(out * W)


PROGRAMS = [
    (lambda x, y: np.sum(bump(x, y) * W), (X, Y)),
    (lambda x, y: np.sum(bump(x, y[:, :1]) * W), (X, M)),
    (lambda x, y: np.sum(square(bump.outer(x, y)) * W), (X, Y)),
    (lambda x, y: bump.reduce(x) + np.sum(bump.accumulate(y) * W), (X, Y)),
    (scanned, (X, Y)),
    (scanned, (M, Y)),
    (lambda x, t: np.sum(horner(x, t)), (M, Y[:3])),
    (lambda x, y: np.sum(smooth(x) * y), (X, Y)),
    (lambda x, w: np.sum(weighted(x, w)), (M, M[::-1].copy())),
]


@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_functions_for_arrays(function, args):
    compiled = njit(function)
    found = grad(function, (0, 1))(*args)
    tangents = tuple(map(np.cos, args))
    expected = 0.0
    for i, slopes in enumerate(found):
        own = differences(lambda v, i=i: compiled(*args[:i], v, *args[i + 1 :]), args[i])
        assert_allclose(slopes, own, rtol=1e-6, atol=1e-8)
        expected += np.sum(own * tangents[i])
    assert jvp(function, args, tangents)[1] == pytest.approx(expected, rel=1e-6)


C = ctypes.CDLL(ctypes.util.find_library("m"))
c_sin, c_cos = C.sin, C.cos
for function in (c_sin, c_cos):
    function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
memcpy = ctypes.CDLL(None).memcpy
memcpy.argtypes, memcpy.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_void_p


def copied(x):
    y = np.zeros(x.size)
    memcpy(y.ctypes, x.ctypes, 8 * x.size)
    return y


def test_functions_of_c_are_refused():
    """By numbers and by memory: a copy that C makes has no derivative that is seen, and none is made up."""
    for function, x in ((lambda x: c_sin(x) * x, 0.3), (lambda x: np.sum(copied(x)), np.ones(3))):
        for derivative in (grad(function), lambda x: jvp(function, (x,), (x,))):
            with pytest.raises(TypingError, match=r"this call of a C function has no derivative(.|\n)*custom_vjp"):
                derivative(x)
    assert grad(lambda x: c_sin(2.0) * x)(0.3) == math.sin(2.0)


def test_functions_of_c_with_stated_derivatives():
    by_adjoint, by_tangent = custom_vjp(lambda x: c_sin(x)), custom_jvp(lambda x: c_sin(x))
    by_adjoint.defvjp(lambda x: (c_sin(x), x), lambda x, adjoint: (adjoint * c_cos(x),))
    by_tangent.defjvp(lambda args, tangents: (c_sin(args[0]), c_cos(args[0]) * tangents[0]))

    def loop(x):
        s = 0.0
        for i in range(4):
            s = s * 0.5 + by_tangent(x + i) * by_adjoint(s) + by_adjoint(x + i)
        return s

    assert grad(loop)(0.3) == pytest.approx((loop(0.3 + 1e-6) - loop(0.3 - 1e-6)) / 2e-6, rel=1e-8)
    assert jvp(lambda x: by_tangent(x) * x, (0.3,), (2.0,))[1] == 2.0 * (math.cos(0.3) * 0.3 + math.sin(0.3))
    array = custom_vjp(copied)
    array.defvjp(lambda x: (copied(x), None), lambda saved, adjoint: (adjoint,))
    assert grad(lambda x: np.sum(array(x) ** 2))(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_cffi_functions():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cbrt(double);")
    c_cbrt = ffi.dlopen(ctypes.util.find_library("m")).cbrt
    with pytest.raises(TypingError, match="this call of a C function has no derivative"):
        grad(lambda x: c_cbrt(x))(8.0)
    stated = custom_vjp(lambda x: c_cbrt(x))
    stated.defvjp(lambda x: (c_cbrt(x), c_cbrt(x)), lambda y, adjoint: (adjoint / (3.0 * y * y),))
    assert grad(lambda x: stated(x))(8.0) == pytest.approx(1.0 / 12.0, rel=1e-12)


def test_stated_tangents_in_reverse_mode():
    """The tangent that is stated counts, not the text of the function."""

    @custom_jvp
    def product(x, y):
        return x * y

    product.defjvp(lambda args, t: (args[0] * args[1], 10.0 * args[1] * t[0] + args[0] * t[1]))
    assert grad(lambda x, y: product(x, y) * x, (0, 1))(2.0, 3.0) == (66.0, 4.0)

    @custom_jvp
    def power(a, n):
        return a**n

    power.defjvp(lambda args, t: (args[0] ** args[1], 5.0 * t[0]))

    def overwritten(a):
        y = power(a, 2)
        a[0] = 7.0
        return np.sum(y * a)

    assert grad(overwritten)(np.array([1.0, 2.0, 3.0])).tolist() == [35.0, 14.0, 24.0]

    square = custom_jvp(lambda z: z * z)
    square.defjvp(lambda args, t: (args[0] * args[0], 2.0 * args[0] * t[0]))
    assert grad(lambda z: (square(z) * 1j).real)(1.0 + 2.0j) == -4.0 + 2.0j


seen: list[float] = []


def tells(x):
    print("x", x, x * 2, f"{x:.2f} {x!r}", str(x) + "!")
    seen.append(x)
    return x * x + len(str(x))


def test_functions_that_print_and_record_have_derivatives(capsys):
    seen.clear()
    assert grad(tells)(3.0) == 6.0
    assert jvp(tells, (3.0,), (1.0,)) == (12.0, 6.0)
    assert grad(grad(tells))(3.0) == 2.0
    assert seen == [3.0] * 3
    assert capsys.readouterr().out == "x 3.0 6.0 3.00 3.0 3.0!\n" * 3


@pytest.mark.parametrize("derive", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))], ids=["reverse", "forward"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(str(x)) * 2,
        lambda x: x * float(f"{x:.3f}"),
        lambda x: x + np.random.poisson(x),
        lambda x: float(max(str(x), "1.0")),
    ],
    ids=["str", "format", "random", "chosen"],
)
def test_what_loses_a_float_on_the_way_is_refused(derive, function):
    with pytest.raises(TypingError, match="no derivative"):
        derive(function)(3.0)
