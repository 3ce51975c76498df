"""`numpy.random`: the legacy streams, and the names of what is in `generators/`.

The legacy functions give the same numbers as NumPy's for the same seed, from a generator of their own.
"""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.conversions import index_of
from lancehead.lib.numpy.generators.generator import Generator as Generator
from lancehead.lib.numpy.generators.generator import default_rng as default_rng
from lancehead.lib.numpy.generators.seeding import MT19937 as MT19937
from lancehead.lib.numpy.generators.seeding import PCG64 as PCG64
from lancehead.lib.numpy.generators.seeding import PCG64DXSM as PCG64DXSM
from lancehead.lib.numpy.generators.seeding import SFC64 as SFC64
from lancehead.lib.numpy.generators.seeding import BitGenerator as BitGenerator
from lancehead.lib.numpy.generators.seeding import Philox as Philox
from lancehead.lib.numpy.generators.seeding import SeedSequence as SeedSequence
from lancehead.lib.numpy.layout import as_shape, new_array
from lancehead.lib.numpy.random_choices import *  # noqa: F403
from lancehead.lib.numpy.random_distributions import *  # noqa: F403
from lancehead.lib.numpy.random_lines import *  # noqa: F403


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


def get_state(legacy=True):
    """Refused: the state of a stream is no value of compiled code."""
    prim.error("the state of a stream is no value of compiled code: start it anew with `np.random.seed(n)`")


def set_state(state):
    """Refused: the state of a stream is no value of compiled code."""
    prim.error("the state of a stream is no value of compiled code: start it anew with `np.random.seed(n)`")
