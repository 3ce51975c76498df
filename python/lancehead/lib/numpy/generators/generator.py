"""`numpy.random.Generator`: its methods are in the classes that it derives from."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.generators.continuous import Continuous
from lancehead.lib.numpy.generators.discrete import Discrete
from lancehead.lib.numpy.generators.drawing import EXPONENTIAL, EXPONENTIAL_INVERTED, NORMAL, UNIFORM, standard
from lancehead.lib.numpy.generators.integers import integers
from lancehead.lib.numpy.generators.orders import Orders
from lancehead.lib.numpy.generators.seeding import PCG64, spawned
from lancehead.lib.numpy.generators.several import Several
from lancehead.lib.numpy.random_draws import words_for


class Generator(Continuous, Discrete, Orders, Several):
    """Random numbers of many distributions, from a bit generator."""

    __parameters__ = ()
    __by_value__ = True
    __fields__ = {"_owner": "mem", "_bits": "ptr", "_kind": "int"}

    def __new__(bit_generator):
        """A generator of the numbers that a bit generator makes.

        >>> float(np.random.Generator(np.random.PCG64(1)).random())
        0.5118216247002567
        """
        if not prim.is_a(bit_generator, "numpy.random.BitGenerator"):
            prim.error("`Generator` takes a bit generator, such as `PCG64(seed)`")
        g = bit_generator
        return prim.value("numpy.random.Generator", (g._owner, g._bits, g._kind))

    @property
    def bit_generator(self):
        """The source of the random bits."""
        return prim.value("numpy.random.BitGenerator", (self._owner, self._bits, self._kind))

    def spawn(self, n_children):
        """So many generators that are independent of this one and of each other."""
        return [Generator(g) for g in spawned(self, index_of(n_children))]

    def random(self, size=None, dtype=np.float64, out=None):
        """Numbers from 0 to before 1.

        >>> float(np.random.default_rng(2).random())
        0.2616121342493164
        """
        return standard(self, UNIFORM, size, dtype, out)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        """Normally distributed numbers of mean 0 and deviation 1.

        >>> float(np.random.default_rng(2).standard_normal())
        0.18905338179353307
        """
        return standard(self, NORMAL, size, dtype, out)

    def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
        """Exponentially distributed numbers of scale 1, by a ziggurat or by inversion.

        >>> float(np.random.default_rng(2).standard_exponential())
        0.1298611360039865
        """
        if not prim.is_str(method):
            prim.error("`method` is `zig` or `inv`")
        if method == "zig":
            return standard(self, EXPONENTIAL, size, dtype, out)
        return standard(self, EXPONENTIAL_INVERTED, size, dtype, out)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Integers from a bound to before another, or to it.

        >>> int(np.random.default_rng(2).integers(10))
        8
        """
        return integers(self, low, high, size, dtype, endpoint)

    def bytes(self, length):
        """So many random bytes.

        >>> len(np.random.default_rng(2).bytes(5))
        5
        """
        n = index_of(length)
        words = integers(self, 0, 4294967295, (words_for(n),), np.uint32, True)
        return prim.bytes_of(words.view(np.uint8)[:n].copy())


def default_rng(seed=None):
    """A generator over PCG64 with a seed; a generator itself, or one over a bit generator.

    >>> np.random.default_rng(7).integers(10, size=3)
    array([9, 6, 6])
    """
    if prim.is_a(seed, "numpy.random.Generator"):
        return seed
    if prim.is_a(seed, "numpy.random.BitGenerator"):
        return Generator(seed)
    return Generator(PCG64(seed))
