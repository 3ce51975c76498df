"""Derivatives of `stop_gradient`, and of functions that run again where they are differentiated."""

from lancehead.lib.derivatives import zeros
from lancehead.lib.lancehead.gradients import copied, pulled


def stop_gradient_forward(x):
    """A value with memory of its own: the argument's has a shadow."""
    return copied(x), None


def stop_gradient_backward(saved, adjoint, wanted, shadows):
    """None."""
    return ()


def stop_gradient_tangent(wanted, tangents, x):
    """The tangent of a constant."""
    return copied(x), zeros(x)


def recomputed_forward(f, args):
    """The result; the arguments are kept, since the program may change them."""
    return f(*args), (f, copied(args))


def recomputed_backward(saved, adjoint, wanted, shadows):
    """Runs the function again, and its adjoint."""
    f, args = saved
    return None, pulled(f, adjoint, _all_of(args), args)


def _all_of(args):
    if len(args) == 0:
        return ()
    return (0,) + _all_of(args[1:])
