"""Derivatives of sums of products: sums of products of the adjoint and the other operand."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives.numpy.axes import conj, summed_to
from lancehead.lib.numpy.einsum import _numbered, contracted
from lancehead.lib.numpy.layout import copy_c


def contracted_forward(x, y, step):
    """The product, and copies of both operands."""
    return contracted(x, y, step), (copy_c(x, prim.dtype_of(x)), copy_c(y, prim.dtype_of(y)))


def contracted_backward(saved, adjoint, wanted, shadows):
    """The axes of the result that one operand has alone are summed in the product with the other one."""
    x, y = saved
    both_x, own_x, sum_x, both_y, sum_y, own_y = shadows[2]
    both = _numbered(both_x, 0)
    own = _numbered(own_x, len(both_x))
    other = _numbered(own_y, len(both_x) + len(own_x))
    of_x = contracted(adjoint, conj(y), (both, own, other, both_y, own_y, sum_y))
    of_y = contracted(conj(x), adjoint, (both_x, sum_x, own_x, both, own, other))
    left = summed_to(_placed(of_x, both_x + own_x + sum_x), x.shape)
    return left, summed_to(_placed(of_y, both_y + sum_y + own_y), y.shape)


def _placed(a, axes):
    # Axes where the operand has them.
    if len(axes) < 2:
        return a
    return np.moveaxis(a, _numbered(axes, 0), axes)
