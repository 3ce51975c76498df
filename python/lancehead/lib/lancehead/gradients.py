"""Derivatives of functions, over `prim.adjoint`."""

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import zeros


def differentiate(f, asked, args):
    """The result of `f(*args)`, and a tuple of the adjoints of its arguments; `asked` has `None` for those that are not
    asked for, and may be shorter."""
    given = _own(asked, args)
    return prim.adjoint(f, given, _shadows(asked, given))


def _own(asked, args):
    # Arrays of any strides are copied: elements of a view may share memory, and shadows have the strides of arrays.
    if len(args) == 0 or len(asked) == 0:
        return args
    return (args[0] if asked[0] is None else _plain(args[0]),) + _own(asked[1:], args[1:])


def _plain(x):
    if prim.is_array(x):
        return x if prim.layout(x) != "A" else np.copy(x)
    if prim.is_tuple(x):
        return _all_plain(x)
    return x


def _all_plain(xs):
    if len(xs) == 0:
        return ()
    return (_plain(xs[0]),) + _all_plain(xs[1:])


def _shadows(asked, args):
    if len(args) == 0:
        return ()
    if len(asked) == 0:
        return (None,) + _shadows((), args[1:])
    return (None if asked[0] is None else _shadow(args[0]),) + _shadows(asked[1:], args[1:])


def _shadow(x):
    if prim.is_int(x) or prim.is_bool(x):
        prim.error(x, "derivatives are with respect to floats; pass a float in place of an integer")
    return zeros(x)


def chosen(adjoints):
    """The adjoints that are not `None`."""
    if len(adjoints) == 0:
        return ()
    if adjoints[0] is None:
        return chosen(adjoints[1:])
    return (adjoints[0],) + chosen(adjoints[1:])
