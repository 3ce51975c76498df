"""Derivatives of orders by several keys: none."""

from lancehead.lib.numpy.numbering import lexsort


def lexsort_forward(keys, axis=-1):
    """The order, which has no derivative."""
    return lexsort(keys, axis), None


def lexsort_backward(saved, adjoint, wanted, shadows):
    """Nothing: indices are constant."""
    return ()


def lexsort_tangent(wanted, tangents, keys, axis=-1):
    """The order, which has no tangent."""
    found = lexsort(keys, axis)
    return found, found
