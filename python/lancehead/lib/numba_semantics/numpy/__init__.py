"""Functions of `numpy` as Numba has them: what they take, their texts of errors, and results of other types."""

from lancehead.lib.numba_semantics.numpy.construction import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.elements import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.methods import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.products import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.series import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.shapes import *  # noqa: F403
from lancehead.lib.numba_semantics.numpy.sorting import *  # noqa: F403
