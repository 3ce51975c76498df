"""The legacy distributions of several numbers at once."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.layout import as_shape, count, new_array, with_shape


def lines_of(size, n):
    """The shape of an array of lines of `n` numbers."""
    return (n,) if size is None else as_shape(size) + (n,)


def parts_of(x, n):
    """The lines of an array, one after the other."""
    return with_shape(x, (x.size // n if n > 0 else 0, n))


def shares_of(draw, alpha, size, refusal):
    """Lines of positive numbers whose sums are one, made of numbers of gamma distributions."""
    a = asarray(alpha, np.float64)
    if a.ndim != 1:
        prim.error("`alpha` has one dimension")
    for i in range(a.size):
        if not prim.item(a, i) > 0.0:
            raise ValueError(refusal)
    out = new_array(lines_of(size, a.size), np.float64)
    lines = parts_of(out, a.size)
    for i in range(lines.shape[0]):
        total = 0.0
        for j in range(a.size):
            x = draw(prim.item(a, j))
            prim.set_item(lines, i, j, x)
            total += x
        scale = 1.0 / total
        for j in range(a.size):
            prim.set_item(lines, i, j, prim.item(lines, i, j) * scale)
    return out


def _gamma(shape):
    return prim.lh_np_gamma(shape)


def dirichlet(alpha, size=None):
    """Lines of positive numbers whose sums are one."""
    return shares_of(_gamma, alpha, size, "alpha <= 0")


def _check_parts(p):
    # The sum, with what rounding loses, of all but the last.
    total, lost = 0.0, 0.0
    for i in range(p.size):
        x = prim.item(p, i)
        if not (x >= 0.0 and x <= 1.0):
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
        if i < p.size - 1:
            y = x - lost
            t = total + y
            lost = (t - total) - y
            total = t
    if total > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")


def multinomial(n, pvals, size=None):
    """How often each of several results occurs, in lines."""
    trials = index_of(n)
    p = asarray(pvals, np.float64)
    if p.ndim != 1:
        prim.error("`pvals` has one dimension")
    if trials < 0:
        raise ValueError("n < 0")
    _check_parts(p)
    out = new_array(lines_of(size, p.size), np.int64)
    lines = parts_of(out, p.size)
    for i in range(lines.shape[0]):
        left, rest = prim.cast(trials, np.int64), 1.0
        for j in range(p.size - 1):
            x = prim.lh_np_binomial(left, prim.item(p, j) / rest) if left > 0 else prim.cast(0, np.int64)
            prim.set_item(lines, i, j, x)
            left -= x
            rest -= prim.item(p, j)
        prim.set_item(lines, i, p.size - 1, left if left > 0 else prim.cast(0, np.int64))
    return out


def multivariate_normal(mean, cov, size=None, check_valid="warn", tol=1e-8):
    """Lines of normally distributed numbers with a covariance.

    The signs of the axes are those of this library's `svd`, so that numbers may differ from NumPy's by reflections.
    """
    m, c = asarray(mean, np.float64), asarray(cov, np.float64)
    if m.ndim != 1:
        prim.error("mean must be 1 dimensional")
    if c.ndim != 2:
        prim.error("cov must be 2 dimensional and square")
    if c.shape[0] != c.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if m.shape[0] != c.shape[0]:
        raise ValueError("mean and cov must have same length")
    if check_valid != "warn" and check_valid != "raise" and check_valid != "ignore":
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
    n = m.shape[0]
    shape = lines_of(size, n)
    x = with_shape(np.random.standard_normal((count(shape),)), (count(shape) // n if n > 0 else 0, n))
    _, s, v = np.linalg.svd(c)
    if check_valid == "raise":
        if not np.allclose(np.dot(v.T * s, v), c, rtol=tol, atol=tol):
            raise ValueError("covariance is not symmetric positive-semidefinite.")
    return with_shape(np.dot(x, np.sqrt(s)[:, None] * v) + m, shape)
