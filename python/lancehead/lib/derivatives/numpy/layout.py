"""Derivatives of copies."""

from lancehead.lib.numpy.layout import copy_c


def copy_c_forward(a, dtype):
    """The copy; nothing else is needed."""
    return copy_c(a, dtype), None


def copy_c_backward(saved, adjoint, wanted, shadows):
    """Each element has the adjoint of its copy."""
    return (adjoint,)
