"""The continuous distributions of `numpy.random.Generator`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.numpy.creation import asarray
from lancehead.lib.numpy.generators.drawing import (
    GAMMA32,
    drawn,
    not_negative,
    output,
    positive,
    require,
    shape_for,
    spread,
)
from lancehead.lib.numpy.layout import flat_any, new_array, with_shape


def _uniform_fits(range):
    if not prim.isfinite(range):
        raise OverflowError("high - low range exceeds valid bounds")
    if prim.signbit(range):
        raise ValueError("high - low < 0")


class Continuous:
    """The methods of `Generator` that draw from continuous distributions."""

    def exponential(self, scale=1.0, size=None):
        """Exponentially distributed numbers.

        >>> float(np.random.default_rng(2).exponential(2.0))
        0.259722272007973
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 6, size, scale, 0.0, 0.0)

    def gamma(self, shape, scale=1.0, size=None):
        """Numbers of the gamma distribution.

        >>> float(np.random.default_rng(2).gamma(2.0, 3.0))
        5.768523329604076
        """
        require(shape, not_negative, "shape < 0")
        require(scale, not_negative, "scale < 0")
        return drawn(self, 8, size, shape, scale, 0.0)

    def beta(self, a, b, size=None):
        """Numbers of the beta distribution.

        >>> float(np.random.default_rng(2).beta(2.0, 3.0))
        0.48431195991695597
        """
        require(a, positive, "a <= 0")
        require(b, positive, "b <= 0")
        return drawn(self, 9, size, a, b, 0.0)

    def chisquare(self, df, size=None):
        """Numbers of the chi-square distribution.

        >>> float(np.random.default_rng(2).chisquare(2.0))
        0.259722272007973
        """
        require(df, positive, "df <= 0")
        return drawn(self, 10, size, df, 0.0, 0.0)

    def noncentral_chisquare(self, df, nonc, size=None):
        """Numbers of the noncentral chi-square distribution.

        >>> float(np.random.default_rng(2).noncentral_chisquare(2.0, 1.0))
        0.48137622166864447
        """
        require(df, positive, "df <= 0")
        require(nonc, not_negative, "nonc < 0")
        return drawn(self, 11, size, df, nonc, 0.0)

    def f(self, dfnum, dfden, size=None):
        """Numbers of Fisher's distribution.

        >>> float(np.random.default_rng(2).f(2.0, 3.0))
        0.28303523953521803
        """
        require(dfnum, positive, "dfnum <= 0")
        require(dfden, positive, "dfden <= 0")
        return drawn(self, 12, size, dfnum, dfden, 0.0)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        """Numbers of the noncentral form of Fisher's distribution.

        >>> float(np.random.default_rng(2).noncentral_f(2.0, 3.0, 1.0))
        0.12491427440304134
        """
        require(dfnum, positive, "dfnum <= 0")
        require(dfden, positive, "dfden <= 0")
        require(nonc, not_negative, "nonc < 0")
        return drawn(self, 13, size, dfnum, dfden, nonc)

    def standard_cauchy(self, size=None):
        """Numbers of Cauchy's distribution.

        >>> float(np.random.default_rng(2).standard_cauchy())
        -0.36165269332609923
        """
        return drawn(self, 14, size, 0.0, 0.0, 0.0)

    def standard_t(self, df, size=None):
        """Numbers of Student's distribution.

        >>> float(np.random.default_rng(2).standard_t(3.0))
        0.2791033872118418
        """
        require(df, positive, "df <= 0")
        return drawn(self, 15, size, df, 0.0, 0.0)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normally distributed numbers.

        >>> float(np.random.default_rng(2).normal(2.0, 3.0))
        2.5671601453805994
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 5, size, loc, scale, 0.0)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Numbers whose logarithms are normally distributed.

        >>> float(np.random.default_rng(2).lognormal())
        1.2081054415968637
        """
        require(sigma, not_negative, "sigma < 0")
        return drawn(self, 16, size, mean, sigma, 0.0)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Numbers of Laplace's distribution.

        >>> float(np.random.default_rng(2).laplace())
        -0.6477450951697938
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 17, size, loc, scale, 0.0)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Numbers of Gumbel's distribution.

        >>> float(np.random.default_rng(2).gumbel())
        1.193078928342598
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 18, size, loc, scale, 0.0)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the logistic distribution.

        >>> float(np.random.default_rng(2).logistic())
        -1.037606246635839
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 19, size, loc, scale, 0.0)

    def weibull(self, a, size=None):
        """Numbers of Weibull's distribution.

        >>> float(np.random.default_rng(2).weibull(2.0))
        0.36036250637932143
        """
        require(a, not_negative, "a < 0")
        return drawn(self, 20, size, a, 0.0, 0.0)

    def pareto(self, a, size=None):
        """Numbers of Pareto's distribution.

        >>> float(np.random.default_rng(2).pareto(2.0))
        0.06708493197316052
        """
        require(a, positive, "a <= 0")
        return drawn(self, 21, size, a, 0.0, 0.0)

    def power(self, a, size=None):
        """Numbers of the power distribution.

        >>> float(np.random.default_rng(2).power(2.0))
        0.34897367346603514
        """
        require(a, positive, "a <= 0")
        return drawn(self, 22, size, a, 0.0, 0.0)

    def rayleigh(self, scale=1.0, size=None):
        """Numbers of Rayleigh's distribution.

        >>> float(np.random.default_rng(2).rayleigh())
        0.5096295438923973
        """
        require(scale, not_negative, "scale < 0")
        return drawn(self, 23, size, scale, 0.0, 0.0)

    def vonmises(self, mu, kappa, size=None):
        """Angles of von Mises' distribution.

        >>> float(np.random.default_rng(2).vonmises(1.0, 2.0))
        1.303427381567694
        """
        require(kappa, not_negative, "kappa < 0")
        return drawn(self, 25, size, mu, kappa, 0.0)

    def wald(self, mean, scale, size=None):
        """Numbers of Wald's distribution.

        >>> float(np.random.default_rng(2).wald(1.0, 2.0))
        0.8749560801660421
        """
        require(mean, positive, "mean <= 0")
        require(scale, positive, "scale <= 0")
        return drawn(self, 26, size, mean, scale, 0.0)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers between two bounds.

        >>> float(np.random.default_rng(2).uniform(1.0, 3.0))
        1.5232242684986328
        """
        if prim.is_number(low) and prim.is_number(high):
            first = float(low)
            width = float(high) - first
            _uniform_fits(width)
            return drawn(self, 4, size, first, width, 0.0)
        a, b = asarray(low), asarray(high)
        shape = np.broadcast_shapes(a.shape, b.shape)
        ranges = spread(b, shape, np.float64) - spread(a, shape, np.float64)
        for i in range(ranges.size):
            _uniform_fits(ranges[i])
        return drawn(self, 4, size, a, with_shape(ranges, shape), 0.0)

    def triangular(self, left, mode, right, size=None):
        """Numbers between two bounds, the mode likeliest.

        >>> float(np.random.default_rng(2).triangular(1.0, 2.0, 4.0))
        1.8859099292523758
        """
        if prim.is_number(left) and prim.is_number(mode) and prim.is_number(right):
            first, middle, last = float(left), float(mode), float(right)
            if first > middle:
                raise ValueError("left > mode")
            if middle > last:
                raise ValueError("mode > right")
            if first == last:
                raise ValueError("left == right")
            return drawn(self, 24, size, first, middle, last)
        a, b, c = asarray(left), asarray(mode), asarray(right)
        # Each pair is compared by itself: the third array may be empty.
        if np.any(a > b):
            raise ValueError("left > mode")
        if np.any(b > c):
            raise ValueError("mode > right")
        if np.any(a == c):
            raise ValueError("left == right")
        return drawn(self, 24, size, a, b, c)

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None):
        """Numbers of the gamma distribution of scale 1, in either precision.

        >>> float(np.random.default_rng(2).standard_gamma(3.0))
        2.9874565250888687
        """
        t = prim.as_dtype(dtype)
        if t != np.float64 and t != np.float32:
            prim.error("random numbers of floating point are `float64` or `float32`")
        require(shape, not_negative, "shape < 0")
        if out is not None:
            full = output(out, size, t, True)
            shape_for(full.shape, asarray(shape).shape)
            _fill_gamma(self, full, shape)
            return full
        if prim.is_number(shape) and size is None:
            if t == np.float32:
                return prim.lh_rng_draw32(self._bits, self._kind, GAMMA32, np.float32(shape))
            return drawn(self, 7, size, shape, 0.0, 0.0)
        made = new_array(shape_for(size, asarray(shape).shape), t)
        _fill_gamma(self, made, shape)
        if size is None and made.ndim == 0:
            return made[()]
        return made


def _fill_gamma(rng, out, shape):
    t = prim.dtype_of(out)
    shapes = spread(shape, out.shape, np.float64)
    v = flat_any(out)
    for i in range(out.size):
        if t == np.float32:
            one = prim.lh_rng_draw32(rng._bits, rng._kind, GAMMA32, np.float32(prim.item(shapes, i)))
        else:
            one = prim.lh_rng_draw(rng._bits, rng._kind, 7, prim.item(shapes, i), 0.0, 0.0)
        prim.set_item(v, i, one)
