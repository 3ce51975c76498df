"""Derivatives of Bessel functions: those of order zero by those of order one."""

from lancehead.lib import prim
from lancehead.lib.derivatives import times
from lancehead.lib.scipy.bessel import i0, i0e, i1, i1e, j0, j1, y0, y1


def j0_forward(x):
    """The function, and the argument."""
    return j0(x), x


def j0_backward(saved, adjoint, wanted, shadows):
    """`-j1`."""
    return (-adjoint * j1(saved),)


def j1_forward(x):
    """The function, twice, and the argument."""
    y = j1(x)
    return y, (x, y)


def j1_backward(saved, adjoint, wanted, shadows):
    """`j0 - j1 / x`, at zero one half."""
    x, y = saved
    return (adjoint * (j0(x) - y / x if x != 0.0 else 0.5),)


def y0_forward(x):
    """The function, and the argument."""
    return y0(x), x


def y0_backward(saved, adjoint, wanted, shadows):
    """`-y1`."""
    return (-adjoint * y1(saved),)


def y1_forward(x):
    """The function, twice, and the argument."""
    y = y1(x)
    return y, (x, y)


def y1_backward(saved, adjoint, wanted, shadows):
    """`y0 - y1 / x`."""
    x, y = saved
    return (adjoint * (y0(x) - prim.fdiv(y, x)),)


def i0_forward(x):
    """The function, and the argument."""
    return i0(x), x


def i0_backward(saved, adjoint, wanted, shadows):
    """`i1`."""
    return (adjoint * i1(saved),)


def i1_forward(x):
    """The function, twice, and the argument."""
    y = i1(x)
    return y, (x, y)


def i1_backward(saved, adjoint, wanted, shadows):
    """`i0 - i1 / x`, at zero one half."""
    x, y = saved
    return (adjoint * (i0(x) - y / x if x != 0.0 else 0.5),)


def i0e_forward(x):
    """The function, twice, and the argument."""
    y = i0e(x)
    return y, (x, y)


def i0e_backward(saved, adjoint, wanted, shadows):
    """`i1e - sign(x) i0e`, at zero zero."""
    x, y = saved
    return (adjoint * (i1e(x) - prim.copysign(y, x) if x != 0.0 else 0.0),)


def i1e_forward(x):
    """The function, twice, and the argument."""
    y = i1e(x)
    return y, (x, y)


def i1e_backward(saved, adjoint, wanted, shadows):
    """`i0e - i1e / x - abs(i1e)`, at zero one half."""
    x, y = saved
    return (adjoint * (i0e(x) - y / x - prim.fabs(y) if x != 0.0 else 0.5),)


def j0_tangent(wanted, tangents, x):
    """`-j1`."""
    return j0(x), times(-j1(x), tangents[0])


def j1_tangent(wanted, tangents, x):
    """`j0 - j1 / x`, at zero one half."""
    y = j1(x)
    return y, times(j1_backward((x, y), 1.0, wanted, None)[0], tangents[0])


def y0_tangent(wanted, tangents, x):
    """`-y1`."""
    return y0(x), times(-y1(x), tangents[0])


def y1_tangent(wanted, tangents, x):
    """`y0 - y1 / x`."""
    y = y1(x)
    return y, times(y1_backward((x, y), 1.0, wanted, None)[0], tangents[0])


def i0_tangent(wanted, tangents, x):
    """`i1`."""
    return i0(x), times(i1(x), tangents[0])


def i1_tangent(wanted, tangents, x):
    """`i0 - i1 / x`, at zero one half."""
    y = i1(x)
    return y, times(i1_backward((x, y), 1.0, wanted, None)[0], tangents[0])


def i0e_tangent(wanted, tangents, x):
    """`i1e - sign(x) i0e`, at zero zero."""
    y = i0e(x)
    return y, times(i0e_backward((x, y), 1.0, wanted, None)[0], tangents[0])


def i1e_tangent(wanted, tangents, x):
    """`i0e - i1e / x - abs(i1e)`, at zero one half."""
    y = i1e(x)
    return y, times(i1e_backward((x, y), 1.0, wanted, None)[0], tangents[0])
