"""`numpy.random`: the legacy streams, and the names of what is in `generators/`.

The legacy functions give the same numbers as NumPy's for the same seed, from a generator of their own.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.creation import arange, asarray
from lancehead.lib.numpy.generators.generator import Generator as Generator
from lancehead.lib.numpy.generators.generator import default_rng as default_rng
from lancehead.lib.numpy.generators.seeding import MT19937 as MT19937
from lancehead.lib.numpy.generators.seeding import PCG64 as PCG64
from lancehead.lib.numpy.generators.seeding import PCG64DXSM as PCG64DXSM
from lancehead.lib.numpy.generators.seeding import SFC64 as SFC64
from lancehead.lib.numpy.generators.seeding import BitGenerator as BitGenerator
from lancehead.lib.numpy.generators.seeding import Philox as Philox
from lancehead.lib.numpy.generators.seeding import SeedSequence as SeedSequence
from lancehead.lib.numpy.indexing import getitem_take
from lancehead.lib.numpy.layout import as_shape, copy_c, flat, new_array, with_shape
from lancehead.lib.numpy.reductions import cumsum
from lancehead.lib.numpy.sorting import searchsorted


def seed(seed=None):
    """Starts the stream."""
    if seed is None:
        prim.lh_np_seed_os()
    else:
        prim.lh_np_seed(index_of(seed))


def random_sample(size=None):
    """Numbers from 0 to before 1."""
    if size is None:
        return prim.lh_np_random_f64()
    return _drawn_at_once(_fill_uniform, new_array(as_shape(size), np.float64), 0, 0)


#: Numbers that are drawn between two looks at whether Ctrl-C was pressed.
PIECE = 1 << 20


def _drawn_at_once(fill, out, low, high):
    # The run-time library draws contiguous numbers of eight bytes, a piece at a time.
    done = 0
    while done < out.size:
        prim.lh_interrupted()
        n = PIECE if out.size - done > PIECE else out.size - done
        fill(prim.ptr_add(prim.data(out), done * 8), n, low, high)
        done += n
    return out


def _fill_uniform(data, n, low, high):
    prim.lh_np_random_fill(data, n)


def _fill_normal(data, n, low, high):
    prim.lh_np_gauss_fill(data, n)


def _fill_integers(data, n, low, high):
    prim.lh_np_randint_fill(data, n, low, high)


random = random_sample
ranf = random_sample
sample = random_sample


def rand(*shape):
    """Numbers from 0 to before 1, in a shape."""
    if len(shape) == 0:
        return prim.lh_np_random_f64()
    return random_sample(shape)


def standard_normal(size=None):
    """Normally distributed numbers."""
    if size is None:
        return prim.lh_np_gauss()
    return _drawn_at_once(_fill_normal, new_array(as_shape(size), np.float64), 0, 0)


def randn(*shape):
    """Normally distributed numbers, in a shape."""
    if len(shape) == 0:
        return prim.lh_np_gauss()
    return standard_normal(shape)


def _drawn(f, dtype, size, a, b, c):
    # Numbers of a distribution with up to three parameters.
    if size is None:
        return f(a, b, c)
    out = new_array(as_shape(size), dtype)
    v = flat(out)
    for i in range(v.size):
        prim.set_item(v, i, prim.cast(f(a, b, c), dtype))
    return out


def _uniform(low, high, _):
    return low + (high - low) * prim.lh_np_random_f64()


def _normal(loc, scale, _):
    return loc + scale * prim.lh_np_gauss()


def uniform(low=0.0, high=1.0, size=None):
    """Numbers between two bounds."""
    first, last = float(low), float(high)
    if not prim.isfinite(last - first):
        raise OverflowError("Range exceeds valid bounds")
    return _drawn(_uniform, np.float64, size, first, last, None)


def normal(loc=0.0, scale=1.0, size=None):
    """Normally distributed numbers."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_normal, np.float64, size, float(loc), float(scale), None)


def randint(low, high=None, size=None, dtype=None):
    """Integers from a bound to before another."""
    first = 0 if high is None else int(low)
    last = int(low) if high is None else int(high)
    if first >= last:
        raise ValueError("low >= high")
    if dtype is not None and prim.itemsize(prim.as_dtype(dtype)) != 8:
        prim.error("`randint` gives 64-bit integers only")
    if size is None:
        return prim.lh_np_randint(first, last)
    return _drawn_at_once(_fill_integers, new_array(as_shape(size), np.int64), first, last)


def random_integers(low, high=None, size=None):
    """Integers between two bounds, both included."""
    if high is None:
        return randint(1, low + 1, size)
    return randint(low, high + 1, size)


def _exponential(a, b, c):
    return a * prim.lh_np_exponential()


def exponential(scale=1.0, size=None):
    """Exponentially distributed numbers."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_exponential, np.float64, size, float(scale), None, None)


def _standard_exponential(a, b, c):
    return prim.lh_np_exponential()


def standard_exponential(size=None):
    """Exponentially distributed numbers of scale one."""
    return _drawn(_standard_exponential, np.float64, size, None, None, None)


def _gamma(a, b, c):
    return b * prim.lh_np_gamma(a)


def gamma(shape, scale=1.0, size=None):
    """Numbers of the gamma distribution."""
    if not shape >= 0:
        raise ValueError("shape < 0")
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_gamma, np.float64, size, float(shape), float(scale), None)


def _standard_gamma(a, b, c):
    return prim.lh_np_gamma(a)


def standard_gamma(shape, size=None):
    """Numbers of the gamma distribution of scale one."""
    if not shape >= 0:
        raise ValueError("shape < 0")
    return _drawn(_standard_gamma, np.float64, size, float(shape), None, None)


def _chisquare(a, b, c):
    return 2.0 * prim.lh_np_gamma(a / 2.0)


def chisquare(df, size=None):
    """Numbers of the chi-square distribution."""
    if not df > 0:
        raise ValueError("df <= 0")
    return _drawn(_chisquare, np.float64, size, float(df), None, None)


def _noncentral_chisquare(df, nonc, c):
    if nonc == 0.0:
        return _chisquare(df, None, None)
    if df > 1.0:
        central = _chisquare(df - 1.0, None, None)
        n = prim.lh_np_gauss() + prim.sqrt(nonc)
        return central + n * n
    return _chisquare(df + 2.0 * float(prim.lh_np_poisson(nonc / 2.0)), None, None)


def noncentral_chisquare(df, nonc, size=None):
    """Numbers of the noncentral chi-square distribution."""
    if not df > 0:
        raise ValueError("df <= 0")
    if not nonc >= 0:
        raise ValueError("nonc < 0")
    return _drawn(_noncentral_chisquare, np.float64, size, float(df), float(nonc), None)


def _standard_t(a, b, c):
    n = prim.lh_np_gauss()
    return prim.sqrt(a / 2.0) * n / prim.sqrt(prim.lh_np_gamma(a / 2.0))


def standard_t(df, size=None):
    """Numbers of Student's distribution."""
    if not df > 0:
        raise ValueError("df <= 0")
    return _drawn(_standard_t, np.float64, size, float(df), None, None)


def _f(a, b, c):
    x = 2.0 * prim.lh_np_gamma(a / 2.0)
    return (x * b) / (2.0 * prim.lh_np_gamma(b / 2.0) * a)


def f(dfnum, dfden, size=None):
    """Numbers of Fisher's distribution."""
    if not dfnum > 0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0:
        raise ValueError("dfden <= 0")
    return _drawn(_f, np.float64, size, float(dfnum), float(dfden), None)


def _lognormal(a, b, c):
    return prim.exp(a + b * prim.lh_np_gauss())


def lognormal(mean=0.0, sigma=1.0, size=None):
    """Numbers whose logarithms are normally distributed."""
    if not sigma >= 0:
        raise ValueError("sigma < 0")
    return _drawn(_lognormal, np.float64, size, float(mean), float(sigma), None)


def _standard_cauchy(a, b, c):
    x = prim.lh_np_gauss()
    return x / prim.lh_np_gauss()


def standard_cauchy(size=None):
    """Numbers of Cauchy's distribution."""
    return _drawn(_standard_cauchy, np.float64, size, None, None, None)


def _weibull(a, b, c):
    return 0.0 if a == 0.0 else prim.pow(prim.lh_np_exponential(), 1.0 / a)


def weibull(a, size=None):
    """Numbers of Weibull's distribution."""
    if not a >= 0:
        raise ValueError("a < 0")
    return _drawn(_weibull, np.float64, size, float(a), None, None)


def _power(a, b, c):
    return prim.pow(1.0 - prim.exp(-prim.lh_np_exponential()), 1.0 / a)


def power(a, size=None):
    """Numbers of the power distribution."""
    if not a > 0:
        raise ValueError("a <= 0")
    return _drawn(_power, np.float64, size, float(a), None, None)


def _pareto(a, b, c):
    return prim.exp(prim.lh_np_exponential() / a) - 1.0


def pareto(a, size=None):
    """Numbers of Pareto's distribution."""
    if not a > 0:
        raise ValueError("a <= 0")
    return _drawn(_pareto, np.float64, size, float(a), None, None)


def _rayleigh(a, b, c):
    return a * prim.sqrt(-2.0 * prim.log1p(-prim.lh_np_random_f64()))


def rayleigh(scale=1.0, size=None):
    """Numbers of Rayleigh's distribution."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_rayleigh, np.float64, size, float(scale), None, None)


def _triangular(a, b, c):
    width = c - a
    u = prim.lh_np_random_f64()
    if u <= (b - a) / width:
        return a + prim.sqrt(u * (b - a) * width)
    return c - prim.sqrt((1.0 - u) * (c - b) * width)


def triangular(left, mode, right, size=None):
    """Numbers between two bounds, the mode likeliest."""
    if not left <= mode:
        raise ValueError("left > mode")
    if not mode <= right:
        raise ValueError("mode > right")
    if left == right:
        raise ValueError("left == right")
    return _drawn(_triangular, np.float64, size, float(left), float(mode), float(right))


def _laplace(a, b, c):
    while True:
        u = prim.lh_np_random_f64()
        if u >= 0.5:
            return a - b * prim.log(2.0 - u - u)
        if u > 0.0:
            return a + b * prim.log(u + u)


def laplace(loc=0.0, scale=1.0, size=None):
    """Numbers of Laplace's distribution."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_laplace, np.float64, size, float(loc), float(scale), None)


def _gumbel(a, b, c):
    while True:
        u = 1.0 - prim.lh_np_random_f64()
        if u < 1.0:
            return a - b * prim.log(-prim.log(u))


def gumbel(loc=0.0, scale=1.0, size=None):
    """Numbers of Gumbel's distribution."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_gumbel, np.float64, size, float(loc), float(scale), None)


def _logistic(a, b, c):
    while True:
        u = prim.lh_np_random_f64()
        if u > 0.0:
            return a + b * prim.log(u / (1.0 - u))


def logistic(loc=0.0, scale=1.0, size=None):
    """Numbers of the logistic distribution."""
    if not scale >= 0:
        raise ValueError("scale < 0")
    return _drawn(_logistic, np.float64, size, float(loc), float(scale), None)


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
    if not a > 0:
        raise ValueError("a <= 0")
    if not b > 0:
        raise ValueError("b <= 0")
    return _drawn(_beta, np.float64, size, float(a), float(b), None)


def _poisson(a, b, c):
    return prim.lh_np_poisson(a)


def poisson(lam=1.0, size=None):
    """Numbers of Poisson's distribution."""
    return _drawn(_poisson, np.int64, size, float(lam), None, None)


def _binomial(a, b, c):
    return prim.lh_np_binomial(int(a), b)


def binomial(n, p, size=None):
    """Numbers of the binomial distribution."""
    return _drawn(_binomial, np.int64, size, float(n), float(p), None)


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
    if not (p > 0 and p <= 1):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _drawn(_geometric, np.int64, size, float(p), None, None)


def _negative_binomial(a, b, c):
    return prim.lh_np_poisson(((1.0 - b) / b) * prim.lh_np_gamma(a))


def negative_binomial(n, p, size=None):
    """Numbers of the negative binomial distribution."""
    if not n > 0:
        raise ValueError("n <= 0")
    if not (p > 0 and p <= 1):
        raise ValueError("p < 0, p > 1 or p contains NaNs")
    return _drawn(_negative_binomial, np.int64, size, float(n), float(p), None)


def shuffle(x):
    """Puts the items (or rows) in random order."""
    n = len(x)
    for i in range(n - 1, 0, -1):
        j = prim.lh_np_interval(i)
        if prim.is_array(x) and x.ndim > 1:
            if i != j:
                kept = x[i].copy()
                x[i] = x[j]
                x[j] = kept
        else:
            item = x[i]
            x[i] = x[j]
            x[j] = item


def permutation(x):
    """The items (or the integers below a number) in random order."""
    if prim.is_number(x):
        order = arange(index_of(x))
        shuffle(order)
        return order
    a = asarray(x)
    if a.ndim == 1:
        out = copy_c(a, prim.dtype_of(a))
        shuffle(out)
        return out
    order = arange(a.shape[0])
    shuffle(order)
    return getitem_take(a, order)


def choice(a, size=None, replace=True, p=None):
    """Items of an array, or integers below a number."""
    if not prim.is_number(a):
        items = asarray(a)
        if items.ndim != 1:
            prim.error("`choice` takes a number or one dimension")
        index = choice(items.size, size, replace, p)
        if size is None:
            return prim.item(items, index)
        return getitem_take(items, index)
    n = index_of(a)
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if p is not None:
        return _choice_weighted(n, size, replace, asarray(p))
    if replace or size is None:
        return randint(0, n, size)
    shape = as_shape(size)
    out = new_array(shape, np.int64)
    if out.size > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    return with_shape(copy_c(permutation(n)[: out.size], np.int64), shape)


def _choice_weighted(n, size, replace, p):
    if p.size != n:
        raise ValueError("'a' and 'p' must have same size")
    if size is not None and not replace:
        prim.error("`choice` with weights and without replacement is not supported")
    sums = cumsum(p)
    if prim.fabs(sums[n - 1] - 1.0) > 1.5e-8:
        raise ValueError("probabilities do not sum to 1")
    scaled = sums / sums[n - 1]
    return searchsorted(scaled, random_sample(size), "right")
