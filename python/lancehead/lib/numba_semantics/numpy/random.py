"""Distributions of `numpy.random` that Numba draws by other methods than NumPy."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numba_semantics.random import angle_of
from lancehead.lib.numpy.random_distributions import hypergeometric_few
from lancehead.lib.numpy.random_draws import drawn, is_negative, real, whole
from lancehead.lib.numpy.random_lines import shares_of
from lancehead.lib.random import gamma_of


def _draw():
    return prim.lh_np_random_f64()


def _gamma(shape, scale):
    if not (shape > 0.0 and scale > 0.0):
        raise ValueError("gamma: shape and scale must be > 0.0")
    return gamma_of(_draw, shape) * scale


def _of_gamma(shape, scale, c):
    return _gamma(shape, scale)


def gamma(shape, scale=1.0, size=None):
    return drawn(_of_gamma, np.float64, size, real(shape), real(scale), None)


def standard_gamma(shape, size=None):
    return drawn(_of_gamma, np.float64, size, real(shape), 1.0, None)


def _beta(a, b, c):
    y = _gamma(a, 1.0)
    if y == 0.0:
        return 0.0
    return y / (y + _gamma(b, 1.0))


def beta(a, b, size=None):
    return drawn(_beta, np.float64, size, real(a), real(b), None)


def _chisquare(df):
    return 2.0 * _gamma(df / 2.0, 1.0)


def _of_chisquare(df, b, c):
    return _chisquare(df)


def chisquare(df, size=None):
    return drawn(_of_chisquare, np.float64, size, real(df), None, None)


def _noncentral(df, nonc, c):
    if df <= 0.0:
        raise ValueError("df <= 0")
    if nonc < 0.0:
        raise ValueError("nonc < 0")
    if nonc != nonc:
        return nonc
    if nonc == 0.0:
        return _chisquare(df)
    if df > 1.0:
        central = _chisquare(df - 1.0)
        n = prim.lh_np_gauss() + prim.sqrt(nonc)
        return central + n * n
    return _chisquare(df + 2.0 * float(prim.lh_np_poisson(nonc / 2.0)))


def noncentral_chisquare(df, nonc, size=None):
    return drawn(_noncentral, np.float64, size, real(df), real(nonc), None)


def _f(dfnum, dfden, c):
    x = _chisquare(dfnum)
    return (x * dfden) / (_chisquare(dfden) * dfnum)


def f(dfnum, dfden, size=None):
    return drawn(_f, np.float64, size, real(dfnum), real(dfden), None)


def _standard_t(df, b, c):
    n = prim.lh_np_gauss()
    return prim.sqrt(df / 2.0) * n / prim.sqrt(_gamma(df / 2.0, 1.0))


def standard_t(df, size=None):
    return drawn(_standard_t, np.float64, size, real(df), None, None)


def _negative_binomial(n, p, c):
    if not n > 0.0:
        raise ValueError("negative_binomial(): n must be > 0")
    if p < 0.0 or p > 1.0:
        raise ValueError("negative_binomial(): p must be in the interval [0, 1]")
    return prim.lh_np_poisson(_gamma(n, (1.0 - p) / p))


def negative_binomial(n, p, size=None):
    return drawn(_negative_binomial, np.int64, size, real(n), real(p), None)


def _vonmises(mu, kappa, c):
    return angle_of(_draw, mu, kappa)


def vonmises(mu, kappa, size=None):
    return drawn(_vonmises, np.float64, size, real(mu), real(kappa), None)


def hypergeometric(ngood, nbad, nsample, size=None):
    good, bad, sample = whole(ngood), whole(nbad), whole(nsample)
    if is_negative(good + bad - sample):
        raise ValueError("ngood + nbad < nsample")
    return drawn(hypergeometric_few, np.int64, size, good, bad, sample)


def _of_shape(shape):
    return _gamma(shape, 1.0)


def dirichlet(alpha, size=None):
    return shares_of(_of_shape, alpha, size, "dirichlet: alpha must be > 0.0")
