"""Arguments of exceptions that have items: compiled code hands them over one by one."""

import numpy as np

from lancehead.lib import prim


def put(x):
    """Adds `x` to the exception that is being made."""
    if x is None:
        prim.lh_exc_put_none()
    elif prim.is_str(x):
        prim.lh_exc_put_str(x)
    elif prim.is_exc(x):
        prim.lh_exc_put_exception(x)
    elif prim.is_bool(x):
        prim.lh_exc_put_bool(int(x))
    elif prim.is_int(x):
        if prim.is_signed(x) or prim.itemsize(x) < 8:
            prim.lh_exc_put_int(int(x))
        else:
            prim.lh_exc_put_uint(np.int64(x))
    elif prim.is_float(x):
        prim.lh_exc_put_float(float(x))
    elif prim.is_complex(x):
        prim.lh_exc_put_complex(float(x.real), float(x.imag))
    elif prim.is_bytes(x):
        a = prim.bytes_array(x)
        prim.lh_exc_put_bytes(prim.data(a), len(a))
    elif prim.is_array(x):
        _put_array(x)
    elif prim.is_tuple(x):
        prim.lh_exc_open()
        for item in x:
            put(item)
        prim.lh_exc_close(0)
    elif prim.is_a(x, "builtins.dict"):
        prim.lh_exc_open()
        for key, value in x.items():
            put(key)
            put(value)
        prim.lh_exc_close(3)
    elif prim.is_a(x, "builtins.list"):
        _put_items(x, 1)
    elif prim.is_a(x, "builtins.set"):
        _put_items(x, 2)
    else:
        prim.error("no argument of an exception")


def _put_items(x, kind):
    prim.lh_exc_open()
    for item in x:
        put(item)
    prim.lh_exc_close(kind)


def _put_array(x):
    """An array is its dtype, its shape, its items in C order, and its texts."""
    c = np.ascontiguousarray(x)
    prim.lh_exc_open()
    prim.lh_exc_put_str(x.dtype.name)
    prim.lh_exc_open()
    for i in range(x.ndim):
        prim.lh_exc_put_int(x.shape[i])
    prim.lh_exc_close(0)
    prim.lh_exc_put_bytes(prim.data(c), c.size * prim.itemsize(prim.dtype_of(x)))
    prim.lh_exc_put_str(repr(x))
    prim.lh_exc_put_str(str(x))
    prim.lh_exc_close(4)
