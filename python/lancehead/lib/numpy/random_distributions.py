"""The legacy distributions of one number: the same numbers as NumPy's, operation by operation."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.random_draws import (
    above_one,
    at_least_one,
    chance,
    check_finite,
    drawn,
    is_negative,
    is_zero,
    not_below_zero,
    not_negative,
    part,
    positive,
    proper_part,
    rate,
    real,
    whole,
)


def _uniform(low, high, _):
    return low + (high - low) * prim.lh_np_random_f64()


def _normal(loc, scale, _):
    return loc + scale * prim.lh_np_gauss()


def uniform(low=0.0, high=1.0, size=None):
    """Numbers between two bounds."""
    first, last = real(low), real(high)
    check_finite(last - first)
    return drawn(_uniform, np.float64, size, first, last, None)


def normal(loc=0.0, scale=1.0, size=None):
    """Normally distributed numbers."""
    scale = not_negative(scale, "scale")
    return drawn(_normal, np.float64, size, real(loc), scale, None)


def _exponential(a, b, c):
    return a * prim.lh_np_exponential()


def exponential(scale=1.0, size=None):
    """Exponentially distributed numbers."""
    scale = not_negative(scale, "scale")
    return drawn(_exponential, np.float64, size, scale, None, None)


def _standard_exponential(a, b, c):
    return prim.lh_np_exponential()


def standard_exponential(size=None):
    """Exponentially distributed numbers of scale one."""
    return drawn(_standard_exponential, np.float64, size, None, None, None)


def _gamma(a, b, c):
    return b * prim.lh_np_gamma(a)


def gamma(shape, scale=1.0, size=None):
    """Numbers of the gamma distribution."""
    shape = not_negative(shape, "shape")
    scale = not_negative(scale, "scale")
    return drawn(_gamma, np.float64, size, shape, scale, None)


def _standard_gamma(a, b, c):
    return prim.lh_np_gamma(a)


def standard_gamma(shape, size=None):
    """Numbers of the gamma distribution of scale one."""
    shape = not_negative(shape, "shape")
    return drawn(_standard_gamma, np.float64, size, shape, None, None)


def _chisquare(a, b, c):
    return 2.0 * prim.lh_np_gamma(a / 2.0)


def chisquare(df, size=None):
    """Numbers of the chi-square distribution."""
    df = positive(df, "df")
    return drawn(_chisquare, np.float64, size, df, None, None)


def _noncentral_chisquare(df, nonc, c):
    if nonc != nonc:
        return nonc
    if nonc == 0.0:
        return _chisquare(df, None, None)
    if df > 1.0:
        central = _chisquare(df - 1.0, None, None)
        n = prim.lh_np_gauss() + prim.sqrt(nonc)
        return central + n * n
    return _chisquare(df + 2.0 * float(prim.lh_np_poisson(nonc / 2.0)), None, None)


def noncentral_chisquare(df, nonc, size=None):
    """Numbers of the noncentral chi-square distribution."""
    df = positive(df, "df")
    nonc = not_negative(nonc, "nonc")
    return drawn(_noncentral_chisquare, np.float64, size, df, nonc, None)


def _standard_t(a, b, c):
    n = prim.lh_np_gauss()
    return prim.sqrt(a / 2.0) * n / prim.sqrt(prim.lh_np_gamma(a / 2.0))


def standard_t(df, size=None):
    """Numbers of Student's distribution."""
    df = positive(df, "df")
    return drawn(_standard_t, np.float64, size, df, None, None)


def _f(a, b, c):
    x = 2.0 * prim.lh_np_gamma(a / 2.0)
    return (x * b) / (2.0 * prim.lh_np_gamma(b / 2.0) * a)


def f(dfnum, dfden, size=None):
    """Numbers of Fisher's distribution."""
    dfnum = positive(dfnum, "dfnum")
    dfden = positive(dfden, "dfden")
    return drawn(_f, np.float64, size, dfnum, dfden, None)


def _lognormal(a, b, c):
    return prim.exp(a + b * prim.lh_np_gauss())


def lognormal(mean=0.0, sigma=1.0, size=None):
    """Numbers whose logarithms are normally distributed."""
    sigma = not_negative(sigma, "sigma")
    return drawn(_lognormal, np.float64, size, real(mean), sigma, None)


def _standard_cauchy(a, b, c):
    x = prim.lh_np_gauss()
    return x / prim.lh_np_gauss()


def standard_cauchy(size=None):
    """Numbers of Cauchy's distribution."""
    return drawn(_standard_cauchy, np.float64, size, None, None, None)


def _weibull(a, b, c):
    return 0.0 if a == 0.0 else prim.pow(prim.lh_np_exponential(), 1.0 / a)


def weibull(a, size=None):
    """Numbers of Weibull's distribution."""
    a = not_negative(a, "a")
    return drawn(_weibull, np.float64, size, a, None, None)


def _power(a, b, c):
    return prim.pow(1.0 - prim.exp(-prim.lh_np_exponential()), 1.0 / a)


def power(a, size=None):
    """Numbers of the power distribution."""
    a = positive(a, "a")
    return drawn(_power, np.float64, size, a, None, None)


def _pareto(a, b, c):
    return prim.exp(prim.lh_np_exponential() / a) - 1.0


def pareto(a, size=None):
    """Numbers of Pareto's distribution."""
    a = positive(a, "a")
    return drawn(_pareto, np.float64, size, a, None, None)


def _rayleigh(a, b, c):
    return a * prim.sqrt(-2.0 * prim.log1p(-prim.lh_np_random_f64()))


def rayleigh(scale=1.0, size=None):
    """Numbers of Rayleigh's distribution."""
    scale = not_negative(scale, "scale")
    return drawn(_rayleigh, np.float64, size, scale, None, None)


def _triangular(a, b, c):
    width = c - a
    u = prim.lh_np_random_f64()
    if u <= (b - a) / width:
        return a + prim.sqrt(u * (b - a) * width)
    return c - prim.sqrt((1.0 - u) * (c - b) * width)


def triangular(left, mode, right, size=None):
    """Numbers between two bounds, the mode likeliest."""
    first, top, last = real(left), real(mode), real(right)
    if is_negative(top - first):
        raise ValueError("left > mode")
    if is_negative(last - top):
        raise ValueError("mode > right")
    if is_zero(last - first):
        raise ValueError("left == right")
    return drawn(_triangular, np.float64, size, first, top, last)


def _laplace(a, b, c):
    while True:
        u = prim.lh_np_random_f64()
        if u >= 0.5:
            return a - b * prim.log(2.0 - u - u)
        if u > 0.0:
            return a + b * prim.log(u + u)


def laplace(loc=0.0, scale=1.0, size=None):
    """Numbers of Laplace's distribution."""
    scale = not_negative(scale, "scale")
    return drawn(_laplace, np.float64, size, real(loc), scale, None)


def _gumbel(a, b, c):
    while True:
        u = 1.0 - prim.lh_np_random_f64()
        if u < 1.0:
            return a - b * prim.log(-prim.log(u))


def gumbel(loc=0.0, scale=1.0, size=None):
    """Numbers of Gumbel's distribution."""
    scale = not_negative(scale, "scale")
    return drawn(_gumbel, np.float64, size, real(loc), scale, None)


def _logistic(a, b, c):
    while True:
        u = prim.lh_np_random_f64()
        if u > 0.0:
            return a + b * prim.log(u / (1.0 - u))


def logistic(loc=0.0, scale=1.0, size=None):
    """Numbers of the logistic distribution."""
    scale = not_negative(scale, "scale")
    return drawn(_logistic, np.float64, size, real(loc), scale, None)


def _beta_small(a, b):
    while True:
        x = prim.lh_np_random_f64()
        y = prim.lh_np_random_f64()
        p = prim.pow(x, 1.0 / a)
        q = prim.pow(y, 1.0 / b)
        if p + q <= 1.0 and p + q > 0.0:
            return p / (p + q)
        if p + q <= 1.0:
            log_p = prim.log(x) / a
            log_q = prim.log(y) / b
            top = log_p if log_p > log_q else log_q
            return prim.exp(log_p - top - prim.log(prim.exp(log_p - top) + prim.exp(log_q - top)))


def _beta(a, b, c):
    if a <= 1.0 and b <= 1.0:
        return _beta_small(a, b)
    x = prim.lh_np_gamma(a)
    return x / (x + prim.lh_np_gamma(b))


def beta(a, b, size=None):
    """Numbers of the beta distribution."""
    a = positive(a, "a")
    b = positive(b, "b")
    return drawn(_beta, np.float64, size, a, b, None)


def _poisson(a, b, c):
    return prim.lh_np_poisson(a)


def poisson(lam=1.0, size=None):
    """Numbers of Poisson's distribution."""
    return drawn(_poisson, np.int64, size, rate(lam), None, None)


def _binomial(a, b, c):
    return prim.lh_np_binomial(a, b)


def binomial(n, p, size=None):
    """Numbers of the binomial distribution."""
    return drawn(_binomial, np.int64, size, not_below_zero(n, "n"), part(p), None)


def _geometric(a, b, c):
    u = prim.lh_np_random_f64()
    if a < 0.3333333333333333:
        return prim.cast(prim.ceil(prim.log1p(-u) / prim.log(1.0 - a)), np.int64)
    x = 1
    total = a
    part = a
    while u > total:
        part *= 1.0 - a
        total += part
        x += 1
    return prim.cast(x, np.int64)


def geometric(p, size=None):
    """Numbers of the geometric distribution."""
    return drawn(_geometric, np.int64, size, chance(p), None, None)


def _negative_binomial(a, b, c):
    return prim.lh_np_poisson(((1.0 - b) / b) * prim.lh_np_gamma(a))


def negative_binomial(n, p, size=None):
    """Numbers of the negative binomial distribution."""
    n = positive(n, "n")
    return drawn(_negative_binomial, np.int64, size, n, part(p), None)


def _noncentral_f(dfnum, dfden, nonc):
    t = _noncentral_chisquare(dfnum, nonc, None) * dfden
    return t / (_chisquare(dfden, None, None) * dfnum)


def noncentral_f(dfnum, dfden, nonc, size=None):
    """Numbers of the noncentral distribution of Fisher."""
    dfnum, dfden = positive(dfnum, "dfnum"), positive(dfden, "dfden")
    return drawn(_noncentral_f, np.float64, size, dfnum, dfden, not_negative(nonc, "nonc"))


def _vonmises(mu, kappa, _):
    if kappa != kappa:
        return kappa
    if kappa < 1e-8:
        return np.pi * (2.0 * prim.lh_np_random_f64() - 1.0)
    if kappa < 1e-5:
        s = 1.0 / kappa + kappa
    else:
        r = 1.0 + prim.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - prim.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    while True:
        z = prim.cos(np.pi * prim.lh_np_random_f64())
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = prim.lh_np_random_f64()
        if y * (2.0 - y) - v >= 0.0 or prim.log(y / v) + 1.0 - y >= 0.0:
            break
    angle = prim.acos(w)
    if prim.lh_np_random_f64() < 0.5:
        angle = -angle
    angle += mu
    turned = np.fmod(prim.fabs(angle) + np.pi, 2.0 * np.pi) - np.pi
    return -turned if angle < 0.0 else turned


def vonmises(mu, kappa, size=None):
    """Angles of the distribution of von Mises."""
    return drawn(_vonmises, np.float64, size, real(mu), not_negative(kappa, "kappa"), None)


def _wald(mean, scale, _):
    half = mean / (2.0 * scale)
    y = prim.lh_np_gauss()
    y = mean * y * y
    x = mean + half * (y - prim.sqrt(4.0 * scale * y + y * y))
    if prim.lh_np_random_f64() <= mean / (mean + x):
        return x
    return mean * mean / x


def wald(mean, scale, size=None):
    """Numbers of the distribution of Wald, the inverse Gaussian one."""
    return drawn(_wald, np.float64, size, positive(mean, "mean"), positive(scale, "scale"), None)


def _zipf(a, b, c):
    less = a - 1.0
    base = prim.pow(2.0, less)
    while True:
        u = 1.0 - prim.lh_np_random_f64()
        v = prim.lh_np_random_f64()
        x = prim.floor(prim.pow(u, -1.0 / less))
        if x > 9223372036854775807.0 or x < 1.0:
            continue
        t = prim.pow(1.0 + 1.0 / x, less)
        if v * x * (t - 1.0) / (base - 1.0) <= t / base:
            return prim.cast(x, np.int64)


def zipf(a, size=None):
    """Integers of the distribution of Zipf."""
    return drawn(_zipf, np.int64, size, above_one(a), None, None)


def _logseries(p, b, c):
    r = prim.log1p(-p)
    while True:
        v = prim.lh_np_random_f64()
        if v >= p:
            return prim.cast(1, np.int64)
        q = -prim.expm1(r * prim.lh_np_random_f64())
        if v <= q * q:
            x = prim.floor(1.0 + prim.log(v) / prim.log(q))
            if x < 1.0 or v == 0.0:
                continue
            return prim.cast(x, np.int64)
        return prim.cast(1 if v >= q else 2, np.int64)


def logseries(p, size=None):
    """Integers of the logarithmic series distribution."""
    return drawn(_logseries, np.int64, size, proper_part(p), None, None)


def _log_gamma(x):
    # NumPy's own, for `x >= 1`.
    if x == 1.0 or x == 2.0:
        return 0.0
    n = int(7.0 - x) if x < 7.0 else 0
    x0 = x + float(n)
    x2 = (1.0 / x0) * (1.0 / x0)
    g = -1.39243221690590e00
    for a in LOG_GAMMA:
        g = g * x2 + a
    g = g / x0 + 0.5 * 1.8378770664093453e00 + (x0 - 0.5) * prim.log(x0) - x0
    for _ in range(n):
        g -= prim.log(x0 - 1.0)
        x0 -= 1.0
    return g


#: Coefficients of the series, without the first.
LOG_GAMMA = (
    1.796443723688307e-01,
    -2.955065359477124e-02,
    6.41025641025641e-03,
    -1.917526917526918e-03,
    8.417508417508418e-04,
    -5.952380952380952e-04,
    7.936507936507937e-04,
    -2.777777777777778e-03,
    8.333333333333333e-02,
)


def hypergeometric_few(good, bad, sample):
    """Good items among a few that are taken, one after the other."""
    rest = float(bad + good - sample)
    least = float(good if good < bad else bad)
    y, k = least, sample
    while y > 0.0:
        y -= prim.floor(prim.lh_np_random_f64() + y / (rest + float(k)))
        k -= 1
        if k == 0:
            break
    z = prim.cast(least - y, np.int64)
    return sample - z if good > bad else z


def _hypergeometric_many(good, bad, sample):
    population = good + bad
    low, high = (good, bad) if good < bad else (bad, good)
    m = sample if sample < population - sample else population - sample
    part = float(low) / float(population)
    middle = float(m) * part + 0.5
    spread = float(population - m) * float(sample) * part * (1.0 - part) / float(population - 1) + 0.5
    d7 = prim.sqrt(spread)
    d8 = 1.7155277699214135 * d7 + 0.8989161620588988
    d9 = prim.floor(float(m + 1) * float(low + 1) / float(population + 2))
    d10 = _log_products(d9, float(low), float(high), float(m))
    d11 = prim.minimum(float(m if m < low else low) + 1.0, prim.floor(middle + 16.0 * d7))
    while True:
        x = prim.lh_np_random_f64()
        y = prim.lh_np_random_f64()
        w = middle + d8 * (y - 0.5) / x
        if w < 0.0 or w >= d11:
            continue
        z = prim.floor(w)
        t = d10 - _log_products(z, float(low), float(high), float(m))
        if x * (4.0 - x) - 3.0 <= t:
            break
        if x * (x - t) >= 1.0:
            continue
        if 2.0 * prim.log(x) <= t:
            break
    found = prim.cast(z, np.int64)
    if good > bad:
        found = m - found
    return good - found if m < sample else found


def _log_products(z, low, high, m):
    return _log_gamma(z + 1.0) + _log_gamma(low - z + 1.0) + _log_gamma(m - z + 1.0) + _log_gamma(high - m + z + 1.0)


def _hypergeometric(good, bad, sample):
    if sample > 10:
        return _hypergeometric_many(good, bad, sample)
    return hypergeometric_few(good, bad, sample) if sample > 0 else prim.cast(0, np.int64)


def hypergeometric(ngood, nbad, nsample, size=None):
    """Numbers of good items among those that are taken from good and bad ones."""
    good, bad, sample = whole(ngood), whole(nbad), whole(nsample)
    if is_negative(good + bad - sample):
        raise ValueError("ngood + nbad < nsample")
    at_least_one(sample, "nsample")
    not_below_zero(good, "ngood")
    not_below_zero(bad, "nbad")
    return drawn(_hypergeometric, np.int64, size, good, bad, sample)
