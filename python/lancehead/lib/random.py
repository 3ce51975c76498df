"""Functions of `random`: the same numbers as CPython's for the same seed, from a generator of their own."""

import math

from lancehead.lib import prim
from lancehead.lib.conversions import index_of


def seed(a=None):
    """Starts the stream."""
    if a is None:
        prim.lh_py_seed_os()
    elif prim.is_float(a):
        # CPython hashes other seeds; a negative hash would need a 65th bit.
        h = hash(a)
        if h < 0:
            raise ValueError("a seed that is no integer is not negative in compiled code")
        prim.lh_py_seed(h)
    else:
        prim.lh_py_seed(index_of(a))


def random():
    """A number from 0 to before 1."""
    return prim.lh_py_random()


def uniform(a, b):
    """A number between two bounds."""
    return a + (b - a) * prim.lh_py_random()


def triangular(low=0.0, high=1.0, mode=None):
    """A number between two bounds, the mode likeliest."""
    u = prim.lh_py_random()
    a, b = float(low), float(high)
    c = 0.5
    if mode is not None:
        if a == b:
            return a
        c = (mode - a) / (b - a)
    if u > c:
        return b + (a - b) * prim.sqrt((1.0 - u) * (1.0 - c))
    return a + (b - a) * prim.sqrt(u * c)


def getrandbits(k, /):
    """An integer of so many random bits."""
    return prim.lh_py_getrandbits(index_of(k))


def randrange(start, stop=None, step=1):
    """An integer of a range."""
    if stop is None and step != 1:
        raise TypeError("Missing a non-None stop argument")
    first = 0 if stop is None else index_of(start)
    width = index_of(start) if stop is None else index_of(stop) - first
    by = index_of(step)
    if by == 0:
        raise ValueError("zero step for randrange()")
    n = (width + by - 1) // by if by > 0 else (width + by + 1) // by
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return first + by * prim.lh_py_randbelow(n)


def randint(a, b):
    """An integer between two bounds, both included."""
    return randrange(a, b + 1)


def choice(seq):
    """An item of a sequence."""
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[prim.lh_py_randbelow(len(seq))]


def choices(population, *, k=1):
    """Several items, each of all."""
    n = len(population)
    return [population[int(prim.lh_py_random() * float(n))] for _ in range(index_of(k))]


def shuffle(x):
    """Puts the items of a sequence in random order."""
    for i in range(len(x) - 1, 0, -1):
        j = prim.lh_py_randbelow(i + 1)
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


def gauss(mu=0.0, sigma=1.0):
    """A normally distributed number."""
    return mu + prim.lh_py_gauss() * sigma


def normalvariate(mu=0.0, sigma=1.0):
    """A normally distributed number, by ratio of uniforms."""
    while True:
        u1 = prim.lh_py_random()
        u2 = 1.0 - prim.lh_py_random()
        z = 1.7155277699214135 * (u1 - 0.5) / u2
        if z * z / 4.0 <= -prim.log(u2):
            return mu + z * sigma


def lognormvariate(mu, sigma):
    """A number whose logarithm is normally distributed."""
    return prim.exp(normalvariate(mu, sigma))


def expovariate(lambd=1.0):
    """An exponentially distributed number."""
    return -prim.log(1.0 - prim.lh_py_random()) / lambd


def paretovariate(alpha):
    """A number of Pareto's distribution."""
    u = 1.0 - prim.lh_py_random()
    return u ** (-1.0 / alpha)


def weibullvariate(alpha, beta):
    """A number of Weibull's distribution."""
    u = 1.0 - prim.lh_py_random()
    return alpha * (-prim.log(u)) ** (1.0 / beta)


def gammavariate(alpha, beta):
    """A number of the gamma distribution."""
    if not (alpha > 0.0 and beta > 0.0):
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    return gamma_of(random, float(alpha)) * beta


def gamma_of(draw, alpha):
    """A number of the gamma distribution of scale one, made of numbers from 0 to before 1.

    Of a shape above one by R. C. H. Cheng, "The generation of Gamma variables with non-integral shape parameters",
    1977; of one below by J. H. Ahrens and U. Dieter, "Computer methods for sampling from gamma, beta, Poisson and
    binomial distributions", 1974.
    """
    if alpha > 1.0:
        return _gamma_large(draw, alpha)
    if alpha == 1.0:
        return -prim.log(1.0 - draw())
    return _gamma_small(draw, alpha)


def _gamma_large(draw, alpha):
    ainv = prim.sqrt(2.0 * alpha - 1.0)
    bbb = alpha - 1.3862943611198906
    ccc = alpha + ainv
    while True:
        u1 = draw()
        if u1 <= 1e-7 or u1 >= 0.9999999:
            continue
        u2 = 1.0 - draw()
        v = prim.log(u1 / (1.0 - u1)) / ainv
        x = alpha * prim.exp(v)
        z = u1 * u1 * u2
        r = bbb + ccc * v - x
        if r + 2.504077396776274 - 4.5 * z >= 0.0 or r >= prim.log(z):
            return x


def _gamma_small(draw, alpha):
    while True:
        u = draw()
        b = (math.e + alpha) / math.e
        p = b * u
        x = p ** (1.0 / alpha) if p <= 1.0 else -prim.log((b - p) / alpha)
        u1 = draw()
        if p > 1.0:
            if u1 <= x ** (alpha - 1.0):
                return x
        elif u1 <= prim.exp(-x):
            return x


def betavariate(alpha, beta):
    """A number of the beta distribution."""
    y = gammavariate(alpha, 1.0)
    if y == 0.0:
        return 0.0
    return y / (y + gammavariate(beta, 1.0))
