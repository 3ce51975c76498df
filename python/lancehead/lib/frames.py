"""Memory of a function's frame, where code generators have variables whose addresses they give away."""

from lancehead.lib import prim


def owning(x, owner, data, size):
    """A result of the function; arrays in it that lie in the memory own it from now on."""
    if prim.is_array(x):
        if prim.is_readonly(x):
            return x
        first, at = prim.lh_ptr_addr(data), prim.lh_ptr_addr(prim.data(x))
        if at < first or at >= first + size:
            return x
        return prim.array(owner, prim.data(x), x.shape, x.strides, prim.dtype_of(x), prim.layout(x))
    if prim.is_tuple(x):
        for k, part in enumerate(x):
            x = prim.tuple_set(x, k, owning(part, owner, data, size))
    return x
