"""`random` as Numba has it: streams that start as NumPy's do, and normal numbers by the polar method."""

import math

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.random import random


def seed(a):
    prim.lh_py_seed_word(index_of(a))


def getrandbits(k, /):
    n = index_of(k)
    if n < 0 or n > 64:
        raise OverflowError("getrandbits() limit is 0 to 64 bits")
    low = prim.cast(prim.lh_py_getrandbits(n if n < 32 else 32), np.uint64)
    if n <= 32:
        return low
    return low | prim.cast(prim.lh_py_getrandbits(n - 32), np.uint64) << np.uint64(32)


def gauss(mu=0.0, sigma=1.0):
    return mu + prim.lh_py_polar() * sigma


normalvariate = gauss


def lognormvariate(mu, sigma):
    return prim.exp(gauss(mu, sigma))


def vonmisesvariate(mu, kappa):
    return angle_of(random, float(mu), float(kappa))


def angle_of(draw, mu, kappa):
    """An angle of the distribution of von Mises, made of numbers from 0 to before 1.

    N. I. Fisher, "Statistical Analysis of Circular Data", 1993.
    """
    if kappa <= 1e-6:
        return 2.0 * np.pi * draw()
    s = 0.5 / kappa
    r = s + prim.sqrt(1.0 + s * s)
    while True:
        z = prim.cos(np.pi * draw())
        d = z / (r + z)
        u = draw()
        if u < 1.0 - d * d or u <= (1.0 - d) * prim.exp(d):
            break
    q = 1.0 / r
    angle = prim.acos((q + z) / (1.0 + q * z))
    return (mu + angle) % math.tau if draw() > 0.5 else (mu - angle) % math.tau
