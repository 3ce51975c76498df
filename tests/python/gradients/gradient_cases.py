"""Expressions of NumPy and SciPy with derivatives, by their arguments: what `test_gradients_library.py` checks.

`kinds` has the types for which a group is checked: `d`, `f` and `z` for `float64`, `float32` and `complex128`. Results
of rows that begin with `~` are known but for signs or phases, which NumPy chooses otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RNG = np.random.default_rng(11)


@dataclass(frozen=True)
class Group:
    """Expressions of the same arguments."""

    names: str
    args: tuple
    kinds: str
    rows: str


def normal(*shape):
    return RNG.normal(size=shape)


def spaced(*shape):
    """Numbers in random order, none of them near another one or an integer."""
    return (RNG.permutation(int(np.prod(shape))) - 2.3).reshape(shape) / 3.0 + 0.01


def positive(*shape):
    return 0.2 + RNG.random(shape)


def definite(*shape):
    a = normal(*shape)
    return a @ np.swapaxes(a, -1, -2) + 2.0 * np.eye(shape[-1])


GROUPS = [
    Group("x, w", (normal(3, 4), positive(3)), "d", """
        np.sum(x, axis=0), np.sum(x, axis=(0, 1), keepdims=True), np.mean(x, axis=1), np.trace(x)
        np.cumsum(x, axis=0), np.cumsum(x)
        np.cumulative_sum(x, axis=1, include_initial=True)
        np.average(x, 0, w)
        np.sum(x, initial=w[0]), np.sum(x, where=np.array([True, False, True, True]))
        np.nansum(x, axis=0), np.nanmean(x, axis=1), np.nancumsum(x)
    """),
    Group("x", (normal(3, 4),), "z", """
        np.prod(x), np.prod(x, axis=1), np.cumprod(x, axis=0)
        np.cumsum(x, axis=1), np.sum(x, axis=1), np.mean(x)
    """),
    Group("x", (normal(3, 4),), "d", """
        np.var(x), np.std(x, axis=0), np.var(x, axis=1, ddof=1)
        np.nanvar(x), np.nanprod(x), np.nancumprod(x)
        np.cov(x), np.corrcoef(x)
        np.var(x, mean=np.array([[0.3]]))
    """),
    Group("x", (spaced(3, 4),), "d", """
        np.max(x), np.min(x, axis=0), np.max(x, axis=1, keepdims=True), np.max(x, initial=0.4), np.ptp(x)
        np.nanmax(x), np.nanmin(x, axis=1)
        np.maximum.reduce(x), np.minimum.accumulate(x)
    """),
    Group("x", (spaced(3, 4),), "d", """
        np.sort(x), np.sort(x, axis=0)
        np.sort(x, axis=None), np.sort(x.T, axis=0)
        np.partition(x, 1)[:, 1], np.partition(x, 2, axis=0)[2]
        np.take_along_axis(x, np.argpartition(x, 1)[:, 1:2], 1)
        x[np.argsort(x[:, 0])], x[np.lexsort((x[:, 1], x[:, 0]))]
        np.median(x), np.median(x, axis=0)
        np.nanmedian(x, axis=1, keepdims=True)
        np.percentile(x, 30.0, axis=1)
        np.nanpercentile(x, 60.0)
        np.quantile(x, np.array([0.2, 0.7]), axis=1)
    """),
    Group("x, q", (spaced(3, 4), 0.37), "d", """
        np.quantile(x, q)
    """),
    Group("x, y", (spaced(5), spaced(4) + 0.1), "d", """
        x * np.searchsorted(np.sort(x), y)[0], x[np.argmax(x)] * y[np.argmin(y)], x[np.nonzero(x > 0.0)]
        y[np.digitize(y, np.sort(x)) > 1]
    """),
    Group("x, y", (spaced(3, 4), spaced(3, 4) / 2.0), "d", """
        np.diff(x), np.diff(x, 2, axis=0)
        np.diff(x, prepend=0.0, append=y)
        np.trapezoid(x, axis=0), np.trapezoid(x, dx=0.3)
        np.trapezoid(x, np.cumsum(x * x, 1))
        np.gradient(y[:, 0], 0.5)
        np.gradient(x, axis=1), np.gradient(x, axis=0, edge_order=2)
        np.unwrap(3.0 * y[:, 0])
    """),
    Group("x, xp, fp", (np.array([-2.3, -0.7, 0.2, 0.9, 3.0]), np.array([-2.0, 0.1, 1.0]), normal(3)), "d", """
        np.interp(x, xp, fp), np.interp(x[0], xp, fp), np.interp(x, xp, fp, left=1.0, right=2.0)
        np.interp(x, xp, fp, period=3.1)
    """),
    Group("x, y", (spaced(3, 4), normal(3, 4)), "d", """
        np.where(x > y, x * y, y), np.maximum(x, y), np.minimum(x, 2 * y), np.clip(x, -0.5, 0.6), np.fmax(x, y)
        np.clip(x, y - 1, y), np.fmin(x, y), np.copysign(x, y), np.nan_to_num(x), np.heaviside(x, 1) * y
        np.select((x > 0.5, y > 0.0), (x * x, y), 0.0)
        np.choose(np.array([[0], [1], [1]]), (x, y * y))
        np.extract(x > 0.0, x), np.compress([True, False], x)
    """),
    Group("x", (normal(3, 4),), "d", """
        np.take_along_axis(x, np.array([[1, 0, 2, 1]]), 0)
        np.take(x, [2, 0, 0], axis=1), x[::-1, ::2], x[np.array([0, 2])], x[x[:, 0].real > -9.0]
        np.delete(x, 1, 1)
        np.insert(x, 1, 7.0, axis=0)
        np.diagonal(x), np.diag(x[0], 1), np.tril(x), np.triu(x, 1)
        np.rot90(x), np.roll(x, 2, axis=1), np.flip(x), np.fliplr(x), np.flipud(x)
        np.repeat(x, 2, 0), np.tile(x, (1, 2)), np.resize(x, (2, 5))
    """),
    Group("x", (normal(3, 4),), "d", """
        np.reshape(x, (4, 3)), np.transpose(x), np.swapaxes(x, 0, 1), np.moveaxis(x, 0, 1), np.rollaxis(x, 1)
        np.ravel(x), x.flatten(), np.expand_dims(x, 1), np.squeeze(x[:1], 0), np.broadcast_to(x[0], (2, 4))
        np.atleast_3d(x), np.copy(x), np.ascontiguousarray(x.T), np.asfortranarray(x), x.astype(x.dtype)
    """),
    Group("x, y", (normal(3, 4), normal(3, 4)), "d", """
        np.concatenate((x, y)), np.stack((x, y), axis=1), np.hstack((x, y)), np.vstack((x, y))
        np.dstack((x, y)), np.column_stack((x, y)), np.append(x, y)
        np.pad(x, 1, mode="reflect")
        np.pad(x, ((1, 0), (0, 2)), mode="edge")
        np.meshgrid(x[0], y[0]), np.full((2,), x[0, 0]), np.full_like(x, y[1, 1])
    """),
    Group("x, y, m", (normal(3), normal(3), normal(5, 3)), "z", """
        np.dot(x, y), np.inner(x, y), np.vdot(x, y), np.outer(x, y), np.linalg.vecdot(x, y)
        np.kron(x, y), np.cross(x, y), np.vander(x, 3), np.polyval(x, y)
        np.convolve(x, y), np.correlate(x, y, "full")
        np.convolve(x, m[0], "same"), np.correlate(m[0], y, "valid")
        m @ x, y @ m.T
    """),
    Group("a, b, s", (normal(3, 2), normal(2, 4), normal(2, 4, 3)), "z", """
        a @ b, np.inner(a, b.T)
        np.matmul(s, a)
        np.tensordot(s, a, ((2,), (0,)))
        np.einsum("sij,jk->si", s, a)
        np.einsum("ij,ij->", a, a), np.einsum("ii->i", a[:2, :2])
        np.linalg.multi_dot((s[0], a, b))
    """),
    Group("x", (normal(3, 4) + 1j * normal(3, 4),), "z", """
        np.fft.fft(x), np.fft.ifft(x, 6, 0, "ortho")
        np.fft.fft2(x)
        np.fft.hfft(x), np.fft.irfft(x, 5, 0)
        np.fft.fftshift(x), np.fft.ifftshift(x, 0)
    """),
    Group("x", (normal(3, 4),), "d", """
        np.fft.rfft(x, 5, 0), np.fft.rfft(x, 3, norm="ortho")
        np.fft.irfftn(np.fft.rfftn(x) ** 2)
    """),
    Group("a, b, x", (definite(3, 3), normal(3, 2), normal(3)), "z", """
        np.linalg.solve(a, b), np.linalg.solve(a, x)
        np.linalg.inv(a), np.linalg.det(a), np.linalg.slogdet(a)
        np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -2), np.linalg.matrix_power(a, 0)
        np.linalg.cholesky((a + np.conj(a.T)) / 2), np.linalg.cholesky((a + np.conj(a.T)) / 2, upper=True)
        np.linalg.tensorinv(a, 1), np.linalg.tensorsolve(a, x)
    """),
    Group("a, b", (definite(2, 3, 3), normal(2, 3, 2)), "d", """
        np.linalg.solve(a, b), np.linalg.det(a), np.linalg.slogdet(a)
        np.linalg.svdvals(a), np.linalg.pinv(b), np.linalg.matrix_power(a, 2)
        ~ np.linalg.qr(a)
        ~ np.linalg.eigh((a + np.swapaxes(a, 1, 2)) / 2.0)
        ~ np.linalg.eig(a)
    """),
    Group("t, w", (normal(4, 3), normal(2, 3)), "dz", """
        ~ np.linalg.svd(t, full_matrices=False)
        ~ np.linalg.svd(w, full_matrices=False)
        np.linalg.svdvals(t), np.linalg.svd(w, compute_uv=False), np.linalg.svd(t)[1]
        np.abs(np.linalg.svd(t)[0][:, :3]), np.abs(np.linalg.svd(w)[2][:2])
    """),
    Group("t, w", (normal(4, 3), normal(2, 3)), "z", """
        ~ np.linalg.qr(t), np.linalg.qr(w), np.linalg.qr(w, "complete")
        ~ np.linalg.qr(t, "r"), scipy.linalg.qr(t, mode="economic")
        np.linalg.pinv(t), np.linalg.pinv(w), scipy.linalg.pinv(t)
        np.abs(np.linalg.qr(t)[0]), np.abs(np.linalg.qr(w)[1])
    """),
    Group("a", (definite(3, 3),), "dz", """
        ~ np.linalg.eigh((a + np.conj(a.T)) / 2)
        np.abs(np.linalg.eigh((a + np.conj(a.T)) / 2)[1]), np.linalg.eigvalsh((a + np.conj(a.T)) / 2)
    """),
    Group("a", (np.diag([1.0, 2.0, 4.0]) + 0.1 * normal(3, 3),), "dz", """
        ~ np.linalg.eig(a)
        np.abs(np.linalg.eig(a)[1]), np.linalg.eigvals(a)
        ~ scipy.linalg.eig(a)
        scipy.linalg.eigvals(a)
    """),
    Group("t, w, b", (normal(5, 3), normal(3, 5), normal(5, 2)), "z", """
        np.linalg.lstsq(t, b)[0], np.linalg.lstsq(t, b)[1], np.linalg.lstsq(t, b)[3]
        np.linalg.lstsq(w, b[:3])[0], np.linalg.lstsq(t, b[:, 0])[0]
    """),
    Group("x, m, p", (normal(3, 4), normal(3, 3), 2.6), "d", """
        np.linalg.norm(x), np.linalg.norm(x, axis=0), np.linalg.norm(x, 3.0, axis=1), np.linalg.norm(x + 1j, 1, axis=0)
        np.linalg.norm(x, np.inf, axis=1), np.linalg.norm(x, -np.inf, axis=0), np.linalg.norm(x, 0.5, axis=0)
        np.linalg.norm(m, "nuc"), np.linalg.norm(m, 2), np.linalg.cond(m)
        np.linalg.norm(m, "fro"), np.linalg.norm(m, 1), np.linalg.norm(m, np.inf), np.linalg.norm(m, -1)
        np.linalg.vector_norm(x, axis=1, keepdims=True), np.linalg.norm(x, axis=(0, 1))
        np.linalg.norm(x[0], p), np.linalg.norm(x, p, axis=1)
    """),
    Group("a, b, x", (definite(3, 3), normal(3, 2), normal(3)), "z", """
        scipy.linalg.solve(a, b), scipy.linalg.inv(a)
        scipy.linalg.expm(a / 5)
        scipy.linalg.cho_factor((a + np.conj(a.T)) / 2)[0]
        scipy.linalg.cho_solve((scipy.linalg.cholesky((a + np.conj(a.T)) / 2), False), x)
        scipy.linalg.cho_solve((scipy.linalg.cholesky((a + np.conj(a.T)) / 2, lower=True), True), b)
        scipy.linalg.solve_triangular(a, b), scipy.linalg.solve_triangular(a, x, lower=True)
        scipy.linalg.solve_triangular(a, b, trans=1, lower=True, unit_diagonal=True)
        scipy.linalg.solve_triangular(a, b, trans=2)
    """),
    Group("x, y", (spaced(5) / 4.0, positive(5)), "dz", """
        np.sin(x), np.cos(x), np.tan(x), np.exp(x), np.sinh(x), np.cosh(x), np.tanh(x), np.square(x), np.expm1(x)
        x ** 3, x * y, x / y, x - y, y ** x, np.power(y, x), np.reciprocal(y), np.negative(x), np.positive(x)
        np.log(y), np.sqrt(y), np.arctan(x), np.arcsinh(x), np.conj(x), np.real(x), np.imag(x), np.abs(x)
    """),
    Group("x, y", (spaced(5) / 4.0, positive(5)), "d", """
        np.arcsin(x), np.arccos(x), np.arctanh(x), np.arccosh(1 + y), np.log2(y), np.log10(y), np.log1p(y), np.cbrt(y)
        np.exp2(x), np.hypot(x, y), np.arctan2(x, y), np.logaddexp(x, y), np.logaddexp2(x, y), np.sinc(x), np.i0(x)
        np.deg2rad(x), np.degrees(x), np.fabs(x), np.absolute(x), np.angle(x + 1j * y), np.float_power(y, x)
        np.mod(x, y), np.fmod(x, y), np.divmod(x, y)[1], np.modf(x)[0], np.ldexp(x, 3), np.floor_divide(x, y) * x
        np.floor(x) * y, np.sign(x) * y, np.rint(x) * x, np.trunc(x) * y, np.round(x) * x, np.ceil(x) * y
    """),
    Group("x, y", (0.37, 1.83), "d", """
        math.sin(x), math.exp(x), math.log(y), math.sqrt(y), math.expm1(x), math.log1p(y), math.log2(y), math.log10(y)
        math.erf(x), math.erfc(x), math.gamma(x), math.gamma(-x), math.lgamma(y), math.lgamma(-y)
        math.hypot(x, y), math.atan2(x, y), math.pow(y, x), math.fmod(x, y), math.copysign(y, x), math.log(y, 3.0)
        math.acos(x), math.asin(x), math.tanh(x), math.asinh(x), math.acosh(1.0 + y), math.atanh(x), math.fabs(x)
        math.degrees(x), math.radians(x), math.remainder(x, y), math.ldexp(x, 2), math.modf(x)[0], math.frexp(x)[0]
        math.dist((x, y), (y, y * y)), math.prod((x, y, x))
    """),
    Group("x", (np.array([-4.7, -0.6, 0.4, 3.0]),), "d", """
        scipy.special.erf(x), scipy.special.erfc(x), scipy.special.ndtr(x), scipy.special.expit(x)
        scipy.special.j0(x), scipy.special.j1(x)
        scipy.special.i0(x), scipy.special.i1(x)
        scipy.special.i0e(x), scipy.special.i1e(x)
        scipy.special.log_expit(x)
        scipy.special.log_ndtr(x)
    """),
    Group("x, y", (np.array([0.3, 1.4, 2.5, 13.0]), np.array([2.2, 0.6, 5.0, 1.5])), "d", """
        scipy.special.gammaln(x), scipy.special.gamma(y), scipy.special.digamma(x)
        scipy.special.beta(x, y), scipy.special.betaln(x, y)
        scipy.special.xlogy(x, y), scipy.special.xlog1py(x, y)
        scipy.special.y0(x), scipy.special.y1(x)
        scipy.special.erfinv(x / 20.0), scipy.special.erfcinv(x / 20.0)
        scipy.special.ndtri(x / 20.0), scipy.special.logit(x / 20.0)
    """),
    Group("x, a", (spaced(3, 4), definite(3, 3)), "f", """
        np.sum(x, axis=0), np.cumsum(x, axis=1), np.max(x, axis=1), np.mean(x, axis=0)
        x**2 * np.sin(x), np.where(x > 0, x, 1)
        np.sort(x, axis=0), np.median(x, axis=0), np.quantile(x, 0.4, axis=1)
        np.var(x, axis=1), np.linalg.norm(x, axis=0), np.linalg.norm(x, 3, axis=1)
        np.linalg.solve(a, x), np.linalg.inv(a), np.linalg.cholesky((a + a.T) / 2), np.linalg.matrix_power(a, 3)
        np.linalg.svdvals(x), np.linalg.pinv(x), np.abs(np.linalg.qr(x)[1]), np.linalg.eigvalsh((a + a.T) / 2)
        np.abs(np.linalg.eigh((a + a.T) / 2)[1]), np.abs(np.linalg.svd(x, full_matrices=False)[2]), np.linalg.eigvals(a)
        np.linalg.lstsq(a, x)[0], np.fft.rfft(x), np.convolve(x[0], x[1])
    """),
    Group("x, y", (spaced(3, 4), spaced(3, 4) / 2.0 + 0.1), "d", """
        programs.put(x, y)
        programs.masked(x, y), programs.filled(x, y)
        programs.updated_at(x, y), programs.stored(x, y)
        programs.sorted_in_place(x, y)
        programs.with_out(x, y)
        programs.iterated(x, y), programs.made_by_functions(x, y)
        programs.piecewise(x, y)
        programs.along_axes(x, y)
        programs.sorted_along_axis(x, y)
        programs.split(x, y)
        programs.containers(x, y), programs.zipped(x, y)
        programs.between(x, y)
    """),
    Group("x", (spaced(3, 4),), "d", """
        np.multiply.reduce(x, axis=0), np.divide.reduce(x), np.hypot.reduce(x, axis=1), np.subtract.accumulate(x)
        np.logaddexp.reduce(x), np.logaddexp.accumulate(x, axis=1), np.fmax.reduce(x), np.fmin.accumulate(x)
        np.multiply.outer(x[0], x[1]), np.maximum.outer(x[0], x[1])
        np.multiply.reduceat(x, [0, 2], axis=1), np.maximum.reduceat(x[0], [0, 2])
        np.asarray(x), np.array([x[0], x[1]]), np.array([x[0, 0], 1.0]), np.atleast_1d(x[0, 0]), np.atleast_2d(x[0])
        np.block([[x, x], [x, x]])
        np.cumulative_prod(x[0]), np.diagflat(x[0, :2]), np.ediff1d(x), np.ediff1d(x, x[0, :1], x[1, :2])
        x[np.ix_([0, 2], [1, 3])], x[np.tril_indices(3)], x[np.unravel_index(5, (3, 4))]
        np.nanquantile(x, 0.3, axis=0), np.nanstd(x), np.nanargmax(x) * x[0, 0]
        np.poly(x[0])
        np.roots(np.array([1.0, x[0, 0], -20.0 + x[0, 1]]))
        np.unique(x), np.union1d(x[0], x[1]), np.setdiff1d(x[0], x[1]), np.unique_values(x[0])
        np.quantile(x, 0.3, axis=0, weights=np.array([1.0, 2.0, 3.0]), method="inverted_cdf")
        x.cumsum(1), x.cumprod(0), x.dot(x.T), x.trace(), x.repeat(2), x.take([0, 3]), x.clip(0, 1)
        x.flatten("F"), x.reshape((2, 6), order="F"), x.compress([True, False], axis=0), x.item(3), x.tolist()[1]
        x[..., 1], x[None, :, 1], x[:, ::-2], x[1, ...], x[:, [1, 1]], x[[0, 1], 1:], x[np.array([[0, 1], [2, 0]])]
        np.lib.stride_tricks.sliding_window_view(x, 2, axis=1), x.view(np.complex128)
        np.fft.fftn(x), np.fft.ihfft(x)
        np.linalg.matrix_norm(x), np.linalg.vector_norm(x, ord=1), np.linalg.vector_norm(x, ord=np.inf, axis=0)
        np.matvec(x, x[0]), np.vecmat(x[:, 0], x), np.vecdot(x, x)
        np.prod(x, 1, where=np.array([True, False, True, True]), initial=x[0, 0]), np.prod(x, initial=2.0)
        np.average(x, 0, np.array([1, 2, 3])), np.sort_complex(x), np.nanmax(x, axis=0, keepdims=True)
        np.cov(x, fweights=np.array([1, 2, 1, 3]))
        np.quantile(x, 0.3, axis=0, weights=np.array([1, 2, 3]), method="inverted_cdf")
        np.average(x, axis=1, weights=x * x), np.average(x, weights=x * x + 1, returned=True)
    """),
    Group("x, y", (spaced(5), normal(5)), "d", """
        np.bincount([0, 1, 1, 2, 0], y), np.add.reduceat(x, [0, 2]), np.add.outer(x, y), np.multiply.accumulate(y)
        np.polyadd(x, y), np.polyder(x), np.polyint(y), np.polymul(x, y)
        np.polyfit(x, y, 2)
    """),
]  # fmt: skip
