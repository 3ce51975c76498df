"""Distributions of `numpy.random.Generator` whose draws are rows."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.generators.discrete import BINOMIAL, HYPERGEOMETRIC, INTERVAL
from lancehead.lib.numpy.generators.drawing import not_negative, probability, reals, require, shape_for
from lancehead.lib.numpy.layout import as_shape, copy_c, count, new_array, new_zeros, with_shape

BETA, GAMMA = 9, 7


def _shape(size):
    return () if size is None else as_shape(size)


def _count(rng, which, a, b, x, y, z):
    return prim.lh_rng_count(rng._bits, rng._kind, which, a, b, x, y, z)


def _sum_but_last(p):
    # Kahan's sum, as NumPy has it.
    if p.size < 2:
        return 0.0
    total, lost = float(p[0]), 0.0
    for i in range(1, p.size - 1):
        y = float(p[i]) - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def _check_sum(p, is_double):
    if _sum_but_last(p) > 1.0 + 1e-12:
        if is_double:
            raise ValueError("sum(pvals[:-1]) > 1.0")
        raise ValueError(
            "sum(pvals[:-1].astype(np.float64)) > 1.0. The pvals array is cast to 64-bit floating point prior to "
            "checking the sum. Precision changes when casting may cause problems even if the sum of the original "
            "pvals is valid."
        )


def _multinomial_row(rng, n, p, row):
    left, left_p, d = n, 1.0, p.size
    for j in range(d - 1):
        row[j] = _count(rng, BINOMIAL, 0.0, p[j] / left_p, left, 0, 0)
        left -= row[j]
        if left <= 0:
            return
        left_p -= p[j]
    row[d - 1] = left


def _check_colors(colors, nsample):
    total = 0
    for i in range(colors.size):
        if colors[i] < 0:
            raise ValueError(
                "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807."
            )
        total += int(colors[i])
    if nsample < 0:
        raise ValueError("nsample must be nonnegative.")
    if nsample > total:
        raise ValueError("nsample > sum(colors)")
    return total


def _marginals(rng, colors, total, nsample, rows):
    is_many = nsample > total // 2
    taken = total - nsample if is_many else nsample
    d = colors.size
    for i in range(rows.shape[0]):
        left, rest = taken, total
        for j in range(d - 1):
            if left <= 0:
                break
            rest -= int(colors[j])
            r = _count(rng, HYPERGEOMETRIC, 0.0, 0.0, int(colors[j]), rest, left)
            rows[i, j] = r
            left -= r
        if left > 0:
            rows[i, d - 1] = left
        if is_many:
            for j in range(d):
                rows[i, j] = int(colors[j]) - rows[i, j]


def _counts(rng, colors, total, nsample, rows):
    is_many = nsample > total // 2
    taken = total - nsample if is_many else nsample
    choices = np.repeat(np.arange(colors.size), colors)
    for i in range(rows.shape[0]):
        for j in range(taken):
            k = j + _count(rng, INTERVAL, 0.0, 0.0, total - j - 1, 0, 0)
            kept = choices[k]
            choices[k] = choices[j]
            choices[j] = kept
            rows[i, kept] += 1
        if is_many:
            for j in range(colors.size):
                rows[i, j] = int(colors[j]) - rows[i, j]


def _draw(rng, which, a, b):
    return prim.lh_rng_draw(rng._bits, rng._kind, which, a, b, 0.0)


def _dirichlet_by_beta(rng, alpha, rows):
    k = alpha.size
    sums = new_array((k,), np.float64)
    total = 0.0
    for j in range(k - 1, -1, -1):
        total += alpha[j]
        sums[j] = total
    if total == 0.0:
        return
    for i in range(rows.shape[0]):
        rest = 1.0
        for j in range(k - 1):
            v = _draw(rng, BETA, alpha[j], sums[j + 1])
            rows[i, j] = rest * v
            rest *= 1.0 - v
            if sums[j + 1] == 0.0:
                break
        rows[i, k - 1] = rest


def _dirichlet_by_gamma(rng, alpha, rows):
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(alpha.size):
            rows[i, j] = _draw(rng, GAMMA, alpha[j], 0.0)
            total = total + rows[i, j]
        inverse = 1.0 / total
        for j in range(alpha.size):
            rows[i, j] *= inverse


class Several:
    """The methods of `Generator` that draw rows of numbers."""

    def multinomial(self, n, pvals, size=None):
        """How often each of several outcomes comes.

        >>> np.random.default_rng(2).multinomial(10, [0.2, 0.3, 0.5])
        array([1, 3, 6])
        """
        given = reals(pvals)
        if given.ndim == 0 or given.shape[-1] == 0:
            raise ValueError(
                "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0."
            )
        require(given, probability, "pvals < 0, pvals > 1 or pvals contains NaNs")
        d = given.shape[-1]
        p = with_shape(copy_c(given, np.float64), (given.size // d, d))
        for i in range(p.shape[0]):
            _check_sum(p[i], prim.dtype_of(given) == np.float64)
        require(n, not_negative, "n < 0")
        counts = asarray(n)
        dims = np.broadcast_shapes(counts.shape, given.shape[:-1])
        shape = shape_for(size, dims)
        out = new_zeros(shape + (d,), np.int64)
        rows = with_shape(out, (count(shape), d))
        ns = copy_c(np.broadcast_to(counts, shape), np.int64).ravel()
        which = copy_c(np.broadcast_to(np.arange(p.shape[0]).reshape(given.shape[:-1]), shape), np.int64).ravel()
        for i in range(rows.shape[0]):
            _multinomial_row(self, ns[i], p[which[i]], rows[i])
        return out

    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
        """How many of each color are in a sample.

        >>> np.random.default_rng(2).multivariate_hypergeometric([3, 4, 5], 6)
        array([1, 3, 2])
        """
        of = asarray(colors)
        if of.ndim != 1 or not prim.is_int(prim.dtype_of(of)):
            prim.error("colors must be a one-dimensional sequence of nonnegative integers")
        if method != "marginals" and method != "count":
            raise ValueError('method must be "count" or "marginals".')
        n = index_of(nsample)
        total = _check_colors(of, n)
        if method == "marginals" and total >= 1000000000:
            raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
        shape = _shape(size)
        out = new_zeros(shape + (of.size,), np.int64)
        if total > 0 and n > 0:
            rows = with_shape(out, (count(shape), of.size))
            if method == "marginals":
                _marginals(self, of, total, n, rows)
            else:
                _counts(self, of, total, n, rows)
        return out

    def dirichlet(self, alpha, size=None):
        """Shares that sum to 1.

        >>> np.random.default_rng(2).dirichlet([1.0, 2.0]).shape
        (2,)
        """
        given = reals(alpha)
        if given.ndim != 1:
            prim.error("`alpha` has one dimension")
        a = copy_c(given, np.float64)
        if np.any(a < 0.0):
            raise ValueError("alpha < 0")
        shape = _shape(size)
        out = new_zeros(shape + (a.size,), np.float64)
        rows = with_shape(out, (count(shape), a.size))
        if a.size > 0 and np.max(a) < 0.1:
            _dirichlet_by_beta(self, a, rows)
        else:
            _dirichlet_by_gamma(self, a, rows)
        return out

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
        """Rows of normally distributed numbers with a covariance.

        >>> np.random.default_rng(2).multivariate_normal([0.0, 1.0], np.eye(2)).shape
        (2,)
        """
        if method != "svd" and method != "cholesky" and method != "eigh":
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        m, c = reals(mean), reals(cov)
        if m.ndim != 1:
            prim.error("mean must be 1 dimensional")
        if c.ndim != 2:
            prim.error("cov must be 2 dimensional and square")
        if c.shape[0] != c.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        d = m.shape[0]
        if d != c.shape[0]:
            raise ValueError("mean and cov must have same length")
        if check_valid != "ignore" and check_valid != "warn" and check_valid != "raise":
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        shape = _shape(size)
        x = self.standard_normal((count(shape), d))
        out = copy_c(m + x @ _factor(copy_c(c, np.float64), check_valid == "raise", float(tol), method).T, np.float64)
        return with_shape(out, shape + (d,))


def _factor(cov, raises, tol, method):
    # A matrix whose product with its own transpose is the covariance.
    if method == "cholesky":
        if raises and not np.allclose(cov, cov.T, tol, tol):
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        return np.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        if raises and (not np.allclose(cov, cov.T, tol, tol) or np.any(values < -tol)):
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        return vectors * np.sqrt(np.abs(values))
    u, s, vh = np.linalg.svd(cov)
    if raises and not np.allclose((vh.T * s) @ vh, cov, tol, tol):
        raise ValueError("covariance is not symmetric positive-semidefinite.")
    return u * np.sqrt(s)
