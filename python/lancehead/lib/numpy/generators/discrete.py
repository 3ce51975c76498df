"""The discrete distributions of `numpy.random.Generator`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.generators.drawing import (
    counted,
    not_negative,
    positive,
    positive_probability,
    probability,
    require,
    whole,
)

POISSON, BINOMIAL, NEGATIVE_BINOMIAL, GEOMETRIC, LOGSERIES, ZIPF, HYPERGEOMETRIC, INTERVAL = 0, 1, 2, 3, 4, 5, 6, 7


def _not_below_zero(x):
    # NaN is not fine here.
    return x >= 0.0


def _fits_poisson(x):
    return x <= 9.223372006484771e18


def _fits_zipf(x):
    return x > 1.0


def _proper_probability(x):
    return x >= 0.0 and x < 1.0


def _below_billion(x):
    return x < 1e9


class Discrete:
    """The methods of `Generator` that draw from discrete distributions."""

    def poisson(self, lam=1.0, size=None):
        """Numbers of Poisson's distribution.

        >>> int(np.random.default_rng(2).poisson(3.0))
        3
        """
        require(lam, _not_below_zero, "lam < 0 or lam is NaN")
        require(lam, _fits_poisson, "lam value too large")
        return counted(self, POISSON, size, lam, 0.0, (0, 0, 0))

    def binomial(self, n, p, size=None):
        """Numbers of the binomial distribution.

        >>> int(np.random.default_rng(2).binomial(10, 0.5))
        4
        """
        require(p, probability, "p < 0, p > 1 or p is NaN")
        require(n, not_negative, "n < 0")
        return counted(self, BINOMIAL, size, 0.0, p, (whole(n), 0, 0))

    def negative_binomial(self, n, p, size=None):
        """Numbers of the negative binomial distribution.

        >>> int(np.random.default_rng(2).negative_binomial(3, 0.5))
        2
        """
        require(n, positive, "n <= 0")
        require(p, positive_probability, "p <= 0, p > 1 or p contains NaNs")
        return counted(self, NEGATIVE_BINOMIAL, size, n, p, (0, 0, 0))

    def geometric(self, p, size=None):
        """Numbers of the geometric distribution.

        >>> int(np.random.default_rng(2).geometric(0.5))
        1
        """
        require(p, positive_probability, "p <= 0, p > 1 or p contains NaNs")
        return counted(self, GEOMETRIC, size, p, 0.0, (0, 0, 0))

    def logseries(self, p, size=None):
        """Numbers of the logarithmic series distribution.

        >>> int(np.random.default_rng(2).logseries(0.5))
        1
        """
        require(p, _proper_probability, "p < 0, p >= 1 or p is NaN")
        return counted(self, LOGSERIES, size, p, 0.0, (0, 0, 0))

    def zipf(self, a, size=None):
        """Numbers of Zipf's distribution.

        >>> int(np.random.default_rng(2).zipf(2.0))
        1
        """
        require(a, _fits_zipf, "a <= 1 or a is NaN")
        return counted(self, ZIPF, size, a, 0.0, (0, 0, 0))

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """How many of a sample are good.

        >>> int(np.random.default_rng(2).hypergeometric(10, 5, 6))
        5
        """
        ngood, nbad, nsample = whole(ngood), whole(nbad), whole(nsample)
        require(ngood, _below_billion, "both ngood and nbad must be less than 1000000000")
        require(nbad, _below_billion, "both ngood and nbad must be less than 1000000000")
        require(ngood, not_negative, "ngood < 0")
        require(nbad, not_negative, "nbad < 0")
        require(nsample, not_negative, "nsample < 0")
        _check_sample(ngood, nbad, nsample)
        return counted(self, HYPERGEOMETRIC, size, 0.0, 0.0, (ngood, nbad, nsample))


def _check_sample(ngood, nbad, nsample):
    if prim.is_number(ngood) and prim.is_number(nbad) and prim.is_number(nsample):
        if int(ngood) + int(nbad) < int(nsample):
            raise ValueError("ngood + nbad < nsample")
    else:
        fits = (np.asarray(ngood) + np.asarray(nbad)) >= np.asarray(nsample)
        if not np.all(fits):
            raise ValueError("ngood + nbad < nsample")
