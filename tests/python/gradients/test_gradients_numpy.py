"""Derivatives of functions of NumPy and SciPy, against differences and, of linear functions, exactly."""

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from differences import copies, differences
from lancehead.errors import TypingError
from lancehead.gradients import grad, hessian, jvp, value_and_grad

RNG = np.random.default_rng(5)
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers():
    """Numbers do not depend on which tests run before."""
    RNG.bit_generator.state = START


def normal(*shape):
    return RNG.normal(size=shape)


def complex_normal(*shape):
    return normal(*shape) + 1j * normal(*shape)


def spaced(*shape):
    """Numbers in random order whose order no small step changes."""
    return (RNG.permutation(int(np.prod(shape))) - 2.3).reshape(shape) / 3.0


def symmetric(n, *lead):
    a = normal(*lead, n, n)
    return a + np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, n + 1.0)) * 4.0


def is_inexact(x):
    return np.asarray(x).dtype.kind in "fc"


def check(f, *args, step=1e-6, tolerance=2e-6):
    """Value and derivatives with respect to all arguments that are floats or complex numbers, or arrays of them."""
    numbers = tuple(i for i, a in enumerate(args) if is_inexact(a))
    value, adjoints = value_and_grad(f, numbers)(*copies(args))
    np.testing.assert_allclose(value, f(*copies(args)), rtol=1e-9, atol=1e-9)
    for i, g in zip(numbers, adjoints, strict=True):
        assert np.shape(g) == np.shape(args[i])
        assert np.asarray(g).dtype == np.asarray(args[i]).dtype
        expected = differences(f, *args, number=i, step=step)
        np.testing.assert_allclose(np.conj(g), expected, rtol=tolerance, atol=tolerance)


def check_linear(f, x, w):
    """Of `f(x, w) = sum(A(x) * w)`, by `adjoint(x) . v = f(v, w)`, also for `float32` and other strides."""
    for given in (x, np.asfortranarray(x), x.astype(np.float32), x[::-1]):
        value, (adjoint, _) = value_and_grad(f, (0, 1))(given, w)
        assert adjoint.dtype == given.dtype and adjoint.shape == given.shape
        single = given.dtype == np.float32
        close = {"rtol": 1e-4, "atol": 1e-4} if single else {"rtol": 1e-11, "atol": 1e-11}
        np.testing.assert_allclose(value, f(given, w), **close)
        v = RNG.normal(size=x.shape)
        np.testing.assert_allclose(np.sum(adjoint * v), f(v, w), **close)


def dots(x, y, m):
    return np.dot(x, y) ** 2 + np.vdot(m, m) * np.inner(x, y) + np.sum(np.outer(x, y) ** 3)


def products(a, b, x, y, w):
    by_vectors = np.sum(np.dot(a, x) ** 2) + np.sum((y @ a) ** 3)
    return by_vectors + np.sum((a @ b) ** 2 * w) + np.sum(np.inner(b.T, a) ** 2)


def stacks(s, b, t):
    return np.sum(np.matmul(s, b) ** 2) + np.sum((s @ t) ** 3)


def contractions(a, b, s):
    first = np.sum(np.tensordot(a, b, 1) ** 2) + np.sum(np.tensordot(s, a, ((1, 2), (0, 1))) ** 3)
    second = np.sum(np.einsum("ij,jk->ki", a, b) ** 2) + np.einsum("ij,ij->", a, a) ** 2
    third = np.sum(np.einsum("sij,kj->si", s, a) ** 2) + np.sum(np.einsum("sij,sik,kj->is", s, s, b[:, :3]) ** 2)
    return first + second + third


def chains(a, b, x):
    return np.sum(np.linalg.multi_dot((a, b, a)) ** 2) + np.linalg.multi_dot((x, b, a, x)) ** 2


def complex_products(a, x):
    return np.sum(np.dot(a, x).real ** 2) + np.vdot(x, x).real + np.dot(x, x).imag


def test_products():
    check(dots, normal(3), normal(3), normal(2, 4))
    check(products, normal(2, 3), normal(3, 4), normal(3), normal(2), normal(2, 4))
    check(stacks, normal(2, 3, 4), normal(4, 2), normal(2, 4, 1))
    check(contractions, normal(2, 3), normal(3, 4), normal(4, 2, 3))
    check(chains, normal(3, 3), normal(3, 3), normal(3))
    check(complex_products, complex_normal(2, 3), complex_normal(3))
    check(complex_products, complex_normal(2, 3), normal(3))


def sums(x, m):
    return np.sum(x, axis=0)[1, 1] ** 2 + np.mean(x) ** 3 + np.sum(np.mean(x, axis=(0, 2), keepdims=True) ** 2 * m)


def spreads(x, m):
    lines = np.sum(np.var(x, axis=1) ** 2) + np.sum(np.std(x, axis=(0, 2), ddof=1, keepdims=True) * m)
    return lines + np.var(x) + np.std(x)


def factors(x):
    return np.prod(x) + np.sum(np.prod(x, axis=1) ** 2) + np.sum(np.prod(x, axis=(0, 2), keepdims=True))


def extremes(x):
    ends = np.max(x) ** 2 + np.min(x) ** 3 + np.ptp(x) ** 2
    lines = np.sum(np.max(x, axis=1) ** 2) + np.sum(np.min(x, axis=(0, 2), keepdims=True) ** 3)
    return ends + lines + np.max(x, initial=-100.0)


def test_reductions():
    for x in (normal(2, 3, 2), np.asfortranarray(normal(2, 3, 2)), normal(2, 6, 4)[:, ::-2, ::2]):
        check(sums, x, normal(1, 3, 1))
        check(spreads, x, normal(1, 3, 1))
        check(factors, x)
        check(extremes, spaced(*x.shape))


def product(x):
    return np.prod(x)


def test_products_with_zeros():
    adjoint = value_and_grad(product)(np.array([2.0, 0.0, 3.0]))[1]
    np.testing.assert_array_equal(adjoint, [0.0, 6.0, 0.0])
    adjoint = value_and_grad(product)(np.array([0.0, 0.0, 3.0]))[1]
    np.testing.assert_array_equal(adjoint, [0.0, 0.0, 0.0])


def largest(x):
    return np.max(x)


def test_equal_extremes_have_the_same_part():
    np.testing.assert_array_equal(value_and_grad(largest)(np.array([1.0, 3.0, 3.0]))[1], [0.0, 0.5, 0.5])
    single = value_and_grad(largest)(np.array([1.0, 3.0, 3.0], np.float32))[1]
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, np.array([0.0, 0.5, 0.5], np.float32))
    value, adjoint = value_and_grad(largest)(np.array([1.0, np.nan]))
    assert np.isnan(value)
    np.testing.assert_array_equal(adjoint, [0.0, 1.0])
    with pytest.raises(ValueError, match="zero-size array"):
        value_and_grad(largest)(np.array([]))


def without_nan(x):
    lines = np.sum(np.nansum(x, axis=0) ** 2) + np.sum(np.nanmean(x, axis=1) ** 2)
    return lines + np.nanvar(x) * np.nansum(x) + np.nanmean(x) ** 2


def test_reductions_without_nan():
    x = normal(3, 4)
    check(without_nan, x)
    x[1, 2] = np.nan
    adjoint = value_and_grad(without_nan)(x)[1]
    assert adjoint[1, 2] == 0.0
    np.testing.assert_allclose(adjoint[0, 1], differences(without_nan, x)[0, 1], rtol=1e-5)


def running(x, w):
    return np.sum(np.cumsum(x, axis=0) * w) + np.sum(np.cumsum(x)[::2]) + np.sum(np.cumsum(x, axis=1) * w)


def running_products(x, w):
    return np.sum(np.cumprod(x, axis=0) * w) + np.sum(np.cumprod(x))


def test_running_sums():
    check_linear(running, normal(3, 4), normal(3, 4))
    check(running_products, normal(3, 2), normal(3, 2))
    check(running_products, np.array([[0.0, 1.0], [2.0, 3.0]]), normal(2, 2))
    value, (adjoint, _) = value_and_grad(running, (0, 1))(np.zeros((0, 4)), np.zeros((0, 4)))
    assert value == 0.0 and adjoint.shape == (0, 4)


def ordered(x, w):
    lines = np.sum(np.sort(x, axis=0) ** 2 * w) + np.sum(np.sort(x) * w) + np.sum(np.partition(x, 1)[:, :2] ** 2)
    return lines + np.sort(x, axis=None)[2] ** 3 + np.sum(np.partition(x.T, 1, axis=0)[:2] ** 3)


def middles(x, q):
    middle = np.median(x) ** 2 + np.sum(np.median(x, axis=0) ** 2) + np.sum(np.percentile(x, 30.0, axis=1) ** 2)
    return middle + np.quantile(x, q) ** 2 + np.sum(np.quantile(x, np.array([0.2, 0.7]), axis=0) ** 2)


def by_places(x, w):
    order = np.argsort(x)
    return np.sum(x[order] * w) + x[np.argmax(x)] + np.sum(x * np.searchsorted(np.sort(w), x))


def test_order():
    for x in (spaced(3, 4), np.asfortranarray(spaced(3, 4)), spaced(3, 8)[:, ::-2]):
        check(ordered, x, normal(3, 4))
        check(middles, x, 0.4)
    check(middles, spaced(2, 5), 0.4)
    check(by_places, spaced(5), normal(5))


def median_of(x):
    return np.median(x)


def middle_of_numbers(x):
    return np.nanmedian(x)


def test_order_of_equal_numbers_and_nan():
    _, adjoint = value_and_grad(middle_of_numbers)(np.array([1.0, np.nan, 5.0, 2.0, 4.0]))
    np.testing.assert_array_equal(adjoint, [0.0, 0.0, 0.0, 0.5, 0.5])
    value, adjoint = value_and_grad(middle_of_numbers)(np.array([np.nan]))
    assert np.isnan(value) and adjoint[0] == 0.0
    np.testing.assert_array_equal(value_and_grad(median_of)(np.array([1.0, 2.0, 5.0, 4.0]))[1], [0.0, 0.5, 0.0, 0.5])
    np.testing.assert_array_equal(value_and_grad(median_of)(np.array([2.0, 2.0, 1.0, 2.0]))[1], [0.5, 0.5, 0.0, 0.0])
    value, adjoint = value_and_grad(median_of)(np.array([1.0, np.nan, 2.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(adjoint, [0.0, 1.0, 0.0])


def chosen(x, y):
    both = np.where(x > y, x * y, y) + np.maximum(x, y) * np.minimum(x, 2.0 * y)
    return np.sum(np.clip(x, -0.5, 0.6) ** 2) + np.sum(both**2)


def interpolated(x, xp, fp):
    return np.sum(np.interp(x, xp, fp) ** 2) + np.interp(x[0], xp, fp) ** 3


def test_choices():
    check(chosen, normal(3, 4), normal(4))
    check(interpolated, normal(7), np.array([-2.0, 0.1, 1.0]), normal(3))


def moved(x, w):
    turned = np.sum(np.reshape(x, (4, 3)) * w) + np.sum(x.T * w) + np.sum(np.transpose(x, (1, 0))[::-1] * w)
    rolled = np.sum(np.roll(x, 2, axis=1).T * w) + np.sum(np.flip(x, 0) * w.T) + np.sum(np.ravel(x)[3:8] * w[0, 0])
    taken = np.sum(np.take(x, np.array([0, 2, 2]), axis=1) * w[:3]) + np.sum(x[np.array([1, 1])] * w[1, 2])
    return turned + rolled + taken + np.sum(np.repeat(x, 2, axis=0)[1::2] * w.T) + np.sum(x[:, 1] * w[:3, 0])


def shaped(x, w):
    spread = np.sum(np.broadcast_to(x[0], (4, 4)) ** 2) + np.sum(np.diff(x, axis=1) * w[:3].T)
    return spread + np.sum(np.tril(x) * w.T) + np.trace(x) + np.sum(np.diagonal(x) * w[:3, 0])


def test_shapes():
    check_linear(moved, normal(3, 4), normal(4, 3))
    check(shaped, normal(3, 4), normal(4, 3))


def joined(x, y):
    both = np.sum(np.concatenate((x, y)) ** 2) + np.sum(np.stack((x, y), axis=1)[1:] ** 3)
    padded = np.sum(np.pad(x, 2, mode="reflect") ** 2) + np.sum(np.tile(y, 2)[1:] ** 3) + np.sum(np.cross(x, y) ** 2)
    return both + padded + np.sum(np.hstack((x, y * y))[2:5]) + np.sum(np.append(x, y[0]) ** 2)


def stored(x, y):
    out = np.zeros((3, 4))
    out[1] = x
    out[:, 2] = y**2
    out[np.array([2, 0])] = out[np.array([0, 1])] * y[0]
    out[np.array([0, 2]), 1] += y[:2]
    np.multiply(out[1], out[2], out=out[0])
    return np.sum(out**3)


def related(x):
    return np.sum(np.cov(x) ** 2) + np.sum(np.corrcoef(x) ** 2)


def test_copies():
    check(joined, normal(3), normal(3))
    check(stored, normal(4), normal(3))
    check(related, normal(3, 5))


def systems(a, b, x):
    solved = np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.solve(a, x) ** 3)
    return solved + np.sum(np.linalg.inv(a) ** 2)


def determinants(a):
    sign, logarithm = np.linalg.slogdet(a)
    return np.sum(np.linalg.det(a) ** 2) + np.sum(sign * logarithm**2)


def triangles(a):
    both = (a + np.swapaxes(a, -1, -2)) / 2.0
    return np.sum(np.linalg.cholesky(both) ** 3) + np.sum(np.linalg.cholesky(both, upper=True)[..., 0, :] ** 2)


def orthogonal(a):
    q, r = np.linalg.qr(a)
    return np.sum(q**4) + np.sum(r**4) + np.sum(q[..., 0] ** 2 * q[..., 1] ** 4)


def test_copies_of_constants_that_change():
    """The result of a rule for constant arguments takes derivatives when it is written to."""

    def scaled(make, z, n):
        y = make(z)
        y *= n
        y[1] += n[0] * n[0]
        return np.sum(y * y)

    def rounds(z, n):
        s = 0.0
        for k in range(4):
            y = np.sort(z * k)
            y += n * k
            s += np.sum(y * y * z)
            y[0] = s
            s += y[0] * 0.5
        return s

    z, n, along = np.array([2.0, 1.0, 3.0]), np.array([0.5, 2.0, -1.0]), np.array([1.0, -2.0, 3.0])
    makes = (lambda z: z.copy(), lambda z: np.sort(z), lambda z: np.cumsum(z), lambda z: np.asarray(z * 2.0))
    for f in [*(lambda z, n, make=make: scaled(make, z, n) for make in makes), rounds]:
        expected = differences(lambda v, f=f: f(z, v), n)
        np.testing.assert_allclose(grad(lambda z, n: f(z, n), 1)(z, n), expected, rtol=1e-6)
        np.testing.assert_allclose(grad(lambda n: f(z, n))(n), expected, rtol=1e-6)
        tangent = jvp(lambda z, n: f(z, n), (z, n), (np.zeros(3), along))[1]
        np.testing.assert_allclose(tangent, expected @ along, rtol=1e-6)


def test_linear_systems():
    check(systems, symmetric(3), normal(3, 2), normal(3))
    check(systems, symmetric(3, 2) + normal(3, 3), normal(2, 3, 2), normal(3))
    check(systems, symmetric(20), normal(20, 1), normal(20))
    check(determinants, normal(3, 3))
    check(determinants, normal(2, 3, 3))
    check(triangles, symmetric(3) + 6.0 * np.eye(3))
    check(triangles, symmetric(3, 2) + 6.0 * np.eye(3))
    check(orthogonal, normal(4, 3))
    check(orthogonal, normal(2, 3, 3))
    check(orthogonal, normal(3, 5))


def determinant(a):
    return np.linalg.det(a)


def test_determinants_of_singular_matrices():
    check(determinant, np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]]))
    assert value_and_grad(determinant)(np.zeros((0, 0)))[0] == 1.0
    single = value_and_grad(determinant)(np.array([[2.0, 1.0], [1.0, 3.0]], np.float32))[1]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, np.array([[3.0, -1.0], [-1.0, 2.0]]), rtol=1e-5)


def singular(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(u**4) + np.sum(s**3) + np.sum(vh**4) + np.sum(np.linalg.svdvals(a) ** 2)


def self_adjoint(a):
    both = (a + np.swapaxes(a, -1, -2)) / 2.0
    w, v = np.linalg.eigh(both)
    return np.sum(w**3) + np.sum(v[..., 0] ** 4) + np.sum(np.linalg.eigvalsh(both) ** 2)


def general(a):
    w, v = np.linalg.eig(a)
    return np.sum(w**3) + np.sum(v**4) + np.sum(np.linalg.eigvals(a) ** 2)


def singular_values_only(a):
    return np.sum(np.linalg.svd(a)[1] ** 3)


def full_factors(a):
    return np.sum(np.linalg.svd(a)[0] ** 4)


def test_spectra():
    check(singular, normal(4, 3))
    check(singular, normal(2, 3, 4))
    check(self_adjoint, symmetric(3))
    check(self_adjoint, symmetric(3, 2))
    check(general, np.diag([1.0, 2.0, 4.0]) + 0.1 * normal(3, 3))
    check(singular_values_only, normal(4, 3))
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        value_and_grad(full_factors)(normal(4, 3))
    # Equal values: nothing is divided by their difference.
    _, adjoint = value_and_grad(self_adjoint)(np.eye(3))
    assert np.all(np.isfinite(adjoint))


def least_squares(a, b):
    x, residuals, _, s = np.linalg.lstsq(a, b)
    return np.sum(x**3) + np.sum(residuals**2) + np.sum(s**3)


def inverses(a):
    return np.sum(np.linalg.pinv(a) ** 3)


def powers(a, n):
    return np.sum(np.linalg.matrix_power(a, n) ** 2)


def test_pseudoinverses_and_powers():
    check(least_squares, normal(5, 3), normal(5, 2))
    check(least_squares, normal(3, 5), normal(3, 1))
    check(inverses, normal(4, 3))
    check(inverses, normal(3, 4))
    check(inverses, normal(2, 4, 3))
    for n in (0, 1, 3, 6, -2):
        check(powers, symmetric(3) / 5.0, n)


def norms(x, p):
    lines = np.sum(np.linalg.norm(x, axis=1) ** 3) + np.sum(np.linalg.norm(x, p, axis=0) ** 2)
    return lines + np.linalg.norm(x) + np.linalg.norm(x, "fro") ** 2


def matrix_norms(x):
    by_sums = np.linalg.norm(x, 1) ** 2 + np.linalg.norm(x, -np.inf) ** 2
    return by_sums + np.linalg.norm(x, "nuc") + np.linalg.norm(x, 2) ** 2 + np.linalg.cond(x)


def length(x):
    return np.linalg.norm(x)


def test_norms():
    for p in (1.0, 2.0, 3.0, np.inf, -np.inf, 0.5):
        check(norms, normal(3, 4), p)
    check(matrix_norms, normal(3, 3))
    np.testing.assert_array_equal(value_and_grad(length)(np.zeros(3))[1], np.zeros(3))
    check(length, complex_normal(3))


def complex_algebra(a, b):
    solved = np.linalg.solve(a, b)
    inverse = np.linalg.pinv(a)
    return np.sum(solved.real**2) + np.sum(solved.imag) + np.sum(inverse.real**3)


def complex_spectra(a):
    values = np.sum(np.linalg.svd(a)[1] ** 3) + np.sum(np.linalg.eig(a)[0].real ** 3)
    sign, logarithm = np.linalg.slogdet(a)
    return values + np.linalg.det(a).imag ** 2 + logarithm**2 + sign.imag


def test_complex_algebra():
    check(complex_algebra, complex_normal(3, 3), complex_normal(3))
    check(complex_spectra, complex_normal(3, 3))


def systems_of_scipy(a, b, x):
    both = (a + a.T) / 2.0
    solved = np.sum(scipy.linalg.solve(a, b) ** 2) + np.sum(scipy.linalg.inv(a) ** 2)
    by_factor = scipy.linalg.cho_solve(scipy.linalg.cho_factor(both, check_finite=False), x)
    factor = scipy.linalg.cholesky(both, lower=True, check_finite=False)
    return solved + np.sum(by_factor**2) + np.sum(factor**3)


def triangular_systems(a, b, x):
    plain = np.sum(scipy.linalg.solve_triangular(a, b) ** 2) + np.sum(scipy.linalg.solve_triangular(a, x, lower=True))
    turned = np.sum(scipy.linalg.solve_triangular(a, b, trans=1, lower=True, unit_diagonal=True) ** 2)
    return plain + turned


def functions_of_scipy(a):
    return np.sum(scipy.linalg.expm(a) ** 2) + np.sum(scipy.linalg.pinv(a) ** 2)


def eigenvalues_of_scipy(a):
    return np.sum(scipy.linalg.eigvals(a).real ** 3)


def test_scipy_linalg():
    check(systems_of_scipy, symmetric(3) + 6.0 * np.eye(3), normal(3, 2), normal(3))
    check(triangular_systems, normal(3, 3) + 4.0 * np.eye(3), normal(3, 2), normal(3))
    check(functions_of_scipy, normal(3, 3) / 2.0)
    check(eigenvalues_of_scipy, normal(3, 3))


def transforms(x, n, norm):
    whole = np.fft.fft(x, n, axis=0, norm=norm)
    back = np.fft.ifft(x, n, norm=norm)
    return np.sum(whole.real**2) + np.sum(whole.imag**3) + np.sum(back.real**2) + np.sum(back.imag)


def real_transforms(x, n, norm):
    half = np.fft.rfft(x, n, axis=0, norm=norm)
    return np.sum(half.real**2) + np.sum(half.imag**3) + np.sum(np.fft.irfft(x, n, norm=norm) ** 3)


def transforms_of_axes(x):
    return np.sum(np.fft.fft2(x).real ** 3) + np.sum(np.fft.rfftn(x).imag ** 2) + np.sum(np.fft.irfftn(x) ** 3)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_fourier_transforms(norm):
    for n in (3, 4, 6):
        check(transforms, normal(4, 4), n, norm)
        check(transforms, complex_normal(4, 4), n, norm)
        check(real_transforms, normal(4, 4), n, norm)


def test_fourier_transforms_along_axes():
    check(transforms_of_axes, normal(2, 3, 4))


def convolved(x, y):
    both = np.sum(np.convolve(x, y) ** 3) + np.sum(np.convolve(x, y, "same") ** 2)
    return both + np.sum(np.convolve(x, y, "valid") ** 2) + np.sum(np.correlate(x, y, "full") ** 3)


def test_convolutions():
    check(convolved, normal(7), normal(3))
    check(convolved, normal(3), normal(6))


def special(x):
    errors = np.sum(scipy.special.erf(x) ** 2 + scipy.special.erfc(x) + scipy.special.ndtr(x) + scipy.special.expit(x))
    bessel = np.sum(scipy.special.j0(x) ** 2 + scipy.special.j1(x) ** 2 + scipy.special.i0(x) + scipy.special.i1(x))
    scaled = np.sum(scipy.special.i0e(x) ** 2 + scipy.special.i1e(x) ** 2 + scipy.special.log_expit(x))
    return errors + bessel + scaled + np.sum(scipy.special.log_ndtr(x) ** 2)


def positive(x, y):
    gammas = np.sum(scipy.special.gammaln(x) ** 2 + scipy.special.gamma(y) ** 2 + scipy.special.digamma(x) ** 2)
    betas = np.sum(scipy.special.beta(x, y) + scipy.special.betaln(x, y) ** 2 + scipy.special.xlogy(x, y))
    return gammas + betas + np.sum(scipy.special.y0(x) ** 2 + scipy.special.y1(y) ** 2 + scipy.special.xlog1py(x, y))


def inverses_of_errors(p):
    first = np.sum(scipy.special.erfinv(p) ** 2 + scipy.special.erfcinv(p) ** 2)
    return first + np.sum(scipy.special.ndtri(p) ** 2 + scipy.special.logit(p) ** 2)


def below_zero(x):
    return scipy.special.gammaln(x) * scipy.special.digamma(x) + scipy.special.gamma(x)


def test_special_functions():
    check(special, np.array([-9.5, -1.3, 0.4, 3.0, 11.0]) / 2.0)
    check(positive, np.array([0.3, 1.4, 2.5, 13.0]), np.array([2.2, 0.6, 5.0, 1.5]))
    check(inverses_of_errors, np.array([0.05, 0.2, 0.45, 0.9]))
    for x in (-2.5, -0.3, 1.5):
        check(below_zero, x)


SINGLE = [
    (spreads, (normal(2, 3, 2), normal(1, 3, 1))),
    (ordered, (spaced(3, 4), normal(3, 4))),
    (middles, (spaced(3, 4), 0.4)),
    (singular, (normal(4, 3),)),
    (self_adjoint, (symmetric(3),)),
    (least_squares, (normal(5, 3), normal(5, 2))),
    (norms, (normal(3, 4), 3.0)),
    (real_transforms, (normal(4, 4), 6, "ortho")),
    (convolved, (normal(7), normal(3))),
    (positive, (np.array([0.3, 1.4]), np.array([2.2, 0.6]))),
]


@pytest.mark.parametrize(("f", "args"), SINGLE, ids=[f.__name__ for f, _ in SINGLE])
def test_single_precision(f, args):
    derivative = value_and_grad(f, tuple(i for i, a in enumerate(args) if is_inexact(a)))
    singles = [a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args]
    for adjoint, expected in zip(derivative(*singles)[1], derivative(*args)[1], strict=True):
        assert not isinstance(expected, np.ndarray) or adjoint.dtype == np.float32
        np.testing.assert_allclose(adjoint, expected, rtol=1e-3, atol=1e-3)


def of_nothing(x, m):
    vectors = np.sum(x) + np.sum(np.sort(x)) + np.sum(np.cumsum(x)) + np.prod(x) + np.linalg.norm(x)
    spectra = np.sum(np.linalg.eigh(m)[0]) + np.sum(np.linalg.svd(m)[1]) + np.sum(np.linalg.qr(m)[1])
    return vectors + np.sum(m @ m) + np.sum(np.linalg.inv(m)) + np.sum(np.linalg.cholesky(m)) + spectra


def test_arrays_without_elements():
    value, (adjoint, of_m) = value_and_grad(of_nothing, (0, 1))(np.zeros(0), np.zeros((0, 0)))
    assert value == 1.0 and adjoint.shape == (0,) and of_m.shape == (0, 0)


def noisy(x, seed):
    np.random.seed(seed)
    return np.sum(x * np.random.normal(0.0, 1.0, 3))


def test_random_numbers_are_constant():
    np.random.seed(3)
    expected = np.random.normal(0.0, 1.0, 3)
    np.testing.assert_array_equal(value_and_grad(noisy)(normal(3), 3)[1], expected)


def into_out(x, y):
    np.sum(x, axis=0, out=y)
    return np.sum(y)


def test_results_in_given_arrays_are_refused():
    with pytest.raises(TypingError, match="out="):
        value_and_grad(into_out)(normal(2, 3), np.zeros(3))


def algebra(a, b):
    m = a @ a.T + 4.0 * np.eye(3)
    solved = np.sum(np.linalg.solve(m, b) ** 2) + np.sum(np.linalg.inv(m) * m.T) + np.linalg.det(m)
    return solved + np.sum(np.linalg.cholesky(m) ** 3) + np.sum(np.abs(np.fft.fft(b)) ** 2) * np.linalg.norm(b)


def test_forward_mode_by_rules():
    a, b = normal(3, 3), normal(3)
    _, adjoints = value_and_grad(algebra, (0, 1))(a, b)
    along = normal(3, 3), normal(3)
    expected = sum(np.sum(g * t) for g, t in zip(adjoints, along))
    np.testing.assert_allclose(jvp(algebra, (a, b), along)[1], expected, rtol=1e-10)
    # The tangent of an argument that is constant is zero, not its value.
    np.testing.assert_allclose(jvp(algebra, (a, b), (None, along[1]))[1], np.sum(adjoints[1] * along[1]), rtol=1e-10)


def test_second_derivatives_of_products():
    m = normal(3, 3)
    found = hessian(lambda x: np.sum((m @ x) ** 2))(normal(3))
    np.testing.assert_allclose(found, 2.0 * m.T @ m, rtol=1e-10)
