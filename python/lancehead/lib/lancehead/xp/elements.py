"""Elements of the arrays that primitives take, and values of the types of their results.

A primitive's array is an array, a number, or several as one by `zip`: a tuple. Its elements are numbers, records or
tuples. A value of a type stands for the type: only its type is asked for.
"""

from lancehead.lib import prim
from lancehead.lib.numpy.layout import contiguous, converted, copy_c, flat, new_array, with_shape
from lancehead.lib.numpy.manip import broadcast_shapes, broadcast_to
from lancehead.lib.primitives.lines import put


def shape_of(x):
    """The shape of an array, a number, or several as one, to which these broadcast."""
    if prim.is_tuple(x):
        return _shape_of_all(x)
    if prim.is_array(x):
        return x.shape
    if not prim.is_number(x):
        prim.error(x, "primitives take arrays, numbers and what `xp.zip` makes of them")
    return ()


def _shape_of_all(arrays):
    if len(arrays) == 0:
        return ()
    if len(arrays) == 1:
        return shape_of(arrays[0])
    return broadcast_shapes(shape_of(arrays[0]), _shape_of_all(arrays[1:]))


def typed(x, arrays):
    """A Python number as the type that it has beside arrays; everything else as it is."""
    if prim.is_tuple(x):
        return _all_typed(x, arrays)
    if prim.is_number(x):
        if prim.is_weak(x):
            return _beside(x, arrays)
    return x


def _all_typed(given, arrays):
    if len(given) == 0:
        return ()
    return (typed(given[0], arrays),) + _all_typed(given[1:], arrays)


def _beside(x, arrays):
    # Arrays decide, in a chain of promotions.
    if len(arrays) == 0:
        return prim.cast(x, prim.strong(prim.dtype_of(x)))
    if prim.is_tuple(arrays[0]):
        return _beside(x, arrays[0] + arrays[1:])
    if prim.is_array(arrays[0]):
        return _beside(prim.cast(x, prim.result_type(prim.dtype_of(arrays[0]), x)), arrays[1:])
    return _beside(x, arrays[1:])


def prepared(arrays):
    """The shape of arrays, and their elements in it as lines that are contiguous; numbers stay numbers."""
    shape = _shape_of_all(arrays)
    return shape, _lines(_all_typed(arrays, arrays), shape)


def _lines(arrays, shape):
    if len(arrays) == 0:
        return ()
    return (_line(arrays[0], shape),) + _lines(arrays[1:], shape)


def _line(x, shape):
    if prim.is_tuple(x):
        return _lines(x, shape)
    if prim.is_array(x):
        if x.ndim == 0:
            return x[()]
        if x.ndim == len(shape):
            if x.shape == shape:
                return prim.readonly(flat(contiguous(x)))
        return prim.readonly(flat(copy_c(broadcast_to(x, shape), prim.dtype_of(x))))
    return x


def elements(lines, i):
    """The elements of lines at a place, as arguments of a function."""
    if len(lines) == 0:
        return ()
    return (_element(lines[0], i),) + elements(lines[1:], i)


def _element(line, i):
    if prim.is_tuple(line):
        return elements(line, i)
    return prim.item(line, i) if prim.is_array(line) else line


def examples(lines):
    """Values of the types of the elements of lines."""
    if len(lines) == 0:
        return ()
    return (_example(lines[0]),) + examples(lines[1:])


def _example(line):
    if prim.is_tuple(line):
        return examples(line)
    return prim.example(line) if prim.is_array(line) else line


def result_of(f, given):
    """A value of the type of a function's results for values of types; it is not called."""
    found = prim.result_of(f, *given)
    _check(found)
    return strong(found)


def _check(x):
    if prim.is_tuple(x):
        if len(x) > 0:
            _check(x[0])
            _check(x[1:])
    elif not prim.is_number(x):
        prim.error(x, "functions of primitives give numbers, truth values and tuples of these")


def strong(x):
    """A value of the type of an array's element; of a tuple its items."""
    if prim.is_tuple(x):
        if len(x) == 0:
            return ()
        return (strong(x[0]),) + strong(x[1:])
    return prim.cast(x, prim.strong(prim.dtype_of(x)))


def joined(a, b):
    """A value of the least type that holds those of two values."""
    if prim.is_tuple(a):
        if not prim.is_tuple(b):
            prim.error("a tuple and a number cannot be accumulated together")
        if len(a) != len(b):
            prim.error("tuples of different lengths cannot be accumulated together")
        if len(a) == 0:
            return ()
        return (joined(a[0], b[0]),) + joined(a[1:], b[1:])
    if prim.is_tuple(b):
        prim.error("a tuple and a number cannot be accumulated together")
    return prim.cast(0, prim.strong(prim.result_type(a, b)))


def other_type(a, b):
    """None if two values, or the items of two tuples, have one type: an answer that is a type is known while typing."""
    if prim.is_tuple(a):
        if len(a) == 0:
            return None
        if prim.is_none(other_type(a[0], b[0])):
            return other_type(a[1:], b[1:])
        return True
    if prim.dtype_of(a) == prim.dtype_of(b):
        return None
    return True


def accumulated(op, wanted):
    """A value of the least type that holds an operator's results for itself and a value's type."""
    found = joined(wanted, result_of(op, (wanted, wanted)))
    if prim.is_none(other_type(found, wanted)):
        return wanted
    return accumulated(op, found)


def as_type(x, like):
    """A value as the type of another one."""
    if prim.is_tuple(like):
        if len(like) == 0:
            return ()
        return (as_type(x[0], like[0]),) + as_type(x[1:], like[1:])
    return converted(x, prim.dtype_of(like))


def combining(op, like):
    """An operator whose results have a type."""

    def combine(a, b):
        return as_type(op(a, b), like)

    return combine


def lines_like(n, like):
    """A line of so many undefined elements of a type, or a tuple of them."""
    if prim.is_tuple(like):
        if len(like) == 0:
            return ()
        return (lines_like(n, like[0]),) + lines_like(n, like[1:])
    return new_array((n,), prim.dtype_of(like))


def shaped(line, shape):
    """A line in another shape; the number itself for no axes."""
    if prim.is_tuple(line):
        if len(line) == 0:
            return ()
        return (shaped(line[0], shape),) + shaped(line[1:], shape)
    return with_shape(contiguous(line), shape)[()]


def first_of(init, like):
    """A line of an initial value, or of none for None."""
    if prim.is_none(init):
        return lines_like(0, like)
    out = lines_like(1, like)
    put(out, 0, _initial(init, like))
    return out


def _initial(init, like):
    if prim.is_tuple(init):
        if len(init) == 0:
            return ()
        return (_initial(init[0], like[0]),) + _initial(init[1:], like[1:])
    if prim.is_array(init):
        return converted(init[()], prim.dtype_of(like))
    if prim.is_weak(init):
        if prim.is_int(init):
            if prim.is_int(like):
                if init < prim.min_of(prim.dtype_of(like)) or init > prim.max_of(prim.dtype_of(like)):
                    raise OverflowError("Python integer " + str(init) + " out of bounds for the type of the elements")
    return converted(init, prim.dtype_of(like))


def beginning(init, item):
    """A value of the type with which a reduction of elements begins."""
    if prim.is_none(init):
        return item
    if prim.is_tuple(init):
        if len(init) == 0:
            return ()
        return (beginning(init[0], item[0]),) + beginning(init[1:], item[1:])
    if prim.is_array(init):
        if init.ndim > 0:
            prim.error(init, "an initial value is one number, not an array")
    return joined(item, init)
