"""Derivatives of functions, over `prim.adjoint` (reverse mode) and `prim.tangent` (forward mode)."""

import functools

import numpy as np

from lancehead.lib import prim
from lancehead.lib.derivatives import zeros


def differentiate(f, asked, args):
    """The result of `f(*args)`, and a tuple of the derivatives of its first number with respect to the arguments;
    `asked` has `None` for those that are not asked for, and may be shorter."""
    given = _own(asked, args)
    value, adjoints = prim.adjoint(f, given, _shadows(asked, given))
    return value, _outward(_without_of(given, adjoints))


def derivatives_of(f, asked, args):
    """As `differentiate`, for a function with a number as its result; without what is not asked for."""
    value, adjoints = differentiate(f, asked, args)
    _check_number(value)
    return value, chosen(adjoints)


def derivatives_with(f, asked, args):
    """As `derivatives_of`, for a function that gives a number and something else."""
    value, adjoints = differentiate(f, asked, args)
    if not prim.is_tuple(value) or len(value) != 2:
        prim.error(value, "with `has_aux=True` a function gives a number and something else")
    _check_number(value[0])
    return value, chosen(adjoints)


def _check_number(value):
    if prim.is_float(value):
        return
    if value is None:
        prim.error("the derivative is that of a function whose result is one float; this one has no `return`")
    if prim.is_array(value):
        prim.error(value, "the derivative is that of a function whose result is one float; use `jacobian` for arrays")
    if prim.is_tuple(value):
        prim.error(
            "the derivative is that of a function whose result is one float; this one gives ",
            value,
            ": return the float alone, or with `has_aux=True` a pair of it and something else",
        )
    prim.error("the derivative is that of a function whose result is one float; this one gives ", value)


def pulled(f, adjoint, asked, args):
    """The products of an adjoint of the result with the derivatives."""
    return _outward(chosen(taken_back(f, _outward(adjoint), asked, args)[1]))


def taken_back(f, adjoint, asked, args):
    """As `pulled`, with the adjoints of complex numbers as rules have them, `d/dx + i d/dy`; before them those of what
    `f` has captured, or `None`."""
    given = _own(asked, args)
    if not prim.is_closure(f):

        def weighted(*given):
            return _inner(f(*given), adjoint)

        return None, prim.adjoint(weighted, given, _shadows(asked, given))[1]

    def opened(own, *given):
        return _inner(own(*given), adjoint)

    found = prim.adjoint(opened, (f,) + given, (zeros(f),) + _shadows(asked, given))[1]
    return found[0], found[1:]


def by_tangent(tangent, args):
    """The result of a function by the one that states its tangent, and the arguments as they were."""
    own = copied(args)
    return tangent(own, zeros(own))[0], own


def against_tangent(tangent, args, adjoint):
    """The adjoints of the arguments by a function that states a tangent: it is linear in those of the arguments."""

    def weighted(tangents):
        return _inner(tangent(args, tangents)[1], adjoint)

    return prim.adjoint(weighted, (zeros(args),), (zeros(args),))[1][0]


def pushed(f, args, tangents):
    """The result of `f(*args)` and its tangent for tangents of the arguments; `None` is that of a constant."""
    return prim.tangent(f, args, _fitting(args, tangents))


def product_with_hessian(f, asked, args, tangent):
    """The derivative's tangent: forward mode over reverse mode."""

    def derivative(*given):
        return derivatives_of(f, asked, given)[1][0]

    return prim.tangent(derivative, args, _alone(asked, args, tangent))[1]


def forward_jacobian(f, asked, args):
    """The matrix of derivatives by columns. Each run has copies of the arguments, which the function may change."""
    x = _asked_of(asked, args)
    _check_floats(x)
    if not prim.is_array(x):
        column = prim.tangent(f, copied(args), _alone(asked, args, prim.cast(1, prim.dtype_of(x))))[1]
        if prim.is_str(column) or column is None:
            prim.error("the Jacobian is that of a function whose result is an array or a number, not ", column)
        return column
    y = f(*copied(args))
    if prim.is_tuple(y):
        prim.error(y, "the Jacobian is that of a function whose result is an array or a number")
    out = np.zeros(_shape_of(y) + x.shape, prim.dtype_of(y))
    columns = out.reshape(-1, x.size)
    for j in range(x.size):
        unit = np.zeros(x.size, prim.dtype_of(x))
        unit[j] = 1
        given = copied(args)
        column = prim.tangent(f, given, _alone(asked, given, unit))[1]
        columns[:, j] = column.reshape(-1) if prim.is_array(column) else column
    return out


def reverse_jacobian(f, asked, args):
    """The matrix of derivatives by rows. Each run has copies of the arguments, which the function may change."""
    _check_floats(_asked_of(asked, args))
    y = f(*copied(args))
    if prim.is_float(y):
        return chosen(differentiate(f, asked, copied(args))[1])[0]
    if not prim.is_array(y):
        prim.error(y, "the Jacobian is that of a function whose result is an array or a number")
    x = _asked_of(asked, args)
    out = np.zeros(y.shape + _shape_of(x), prim.dtype_of(x))
    rows = out.reshape(y.size, -1)
    for i in range(y.size):
        unit = np.zeros(y.size, prim.dtype_of(y))
        unit[i] = 1
        row = pulled(f, unit.reshape(y.shape), asked, copied(args))[0]
        rows[i] = row.reshape(-1) if prim.is_array(row) else row
    return out


def stop_gradient(x):
    """The value, as a constant."""
    return x


def recomputed(f, args):
    """The result of `f(*args)`. Where it is differentiated, only the arguments are kept, and `f` runs again."""
    return f(*args)


def checkpoint_loop(step, state, steps, slots=0, args=()):
    """The state after `steps` calls of `step(i, state, *args)`. Where it is differentiated, `slots` states are kept."""
    for i in range(steps):
        state = step(i, state, *args)
    return state


def chosen(adjoints):
    """The adjoints that are not `None`."""
    if len(adjoints) == 0:
        return ()
    if adjoints[0] is None:
        return chosen(adjoints[1:])
    return (adjoints[0],) + chosen(adjoints[1:])


def copied(x):
    """A value with memory of its own."""
    if prim.is_optional(x):
        return _if_there(copied, x)
    if prim.is_array(x):
        return np.copy(x)
    if prim.is_tuple(x):
        return _copied_of(x) if prim.is_plain_tuple(x) else prim.of_fields(x, _copied_of(x))
    if prim.is_user(x) or prim.is_closure(x):
        return prim.of_fields(x, _copied_of(prim.fields_of(x)))
    if prim.is_a(x, "builtins.list"):
        return _each_item(copied, x.copy())
    if prim.is_dict(x):
        return _each_value(copied, x.copy())
    return x


def _copied_of(xs):
    if len(xs) == 0:
        return ()
    return (copied(xs[0]),) + _copied_of(xs[1:])


def _if_there(f, x):
    if x is None:
        return None
    return f(x)


def _without(x, adjoint):
    # `None` where the argument is `None`, in place of the zero that its adjoint has there.
    if adjoint is None or _optionals(x) is None:
        return adjoint
    if prim.is_optional(x):
        return _without_optional(x, adjoint)
    if prim.is_tuple(x):
        parts = _without_of(x, adjoint)
        return parts if prim.is_plain_tuple(x) else prim.of_fields(x, parts)
    if prim.is_user(x):
        prim.set_fields(adjoint, _without_of(prim.fields_of(x), prim.fields_of(adjoint)))
    elif prim.is_dict(x):
        _without_values(x, adjoint)
    else:
        _without_items(x, adjoint)
    return adjoint


def _without_optional(x, adjoint):
    if x is None:
        return None
    return adjoint


def _without_of(xs, adjoints):
    if len(xs) == 0:
        return ()
    return (_without(xs[0], adjoints[0]),) + _without_of(xs[1:], adjoints[1:])


def _without_items(xs, adjoints):
    for i in range(min(len(xs), len(adjoints))):
        adjoints[i] = _without(xs[i], adjoints[i])


def _without_values(xs, adjoints):
    for k in list(adjoints):
        if k in xs:
            adjoints[k] = _without(xs[k], adjoints[k])


def _optionals(x):
    # A question about types: `None` if there are no optionals in a structure.
    if prim.is_optional(x):
        return 0
    if prim.is_tuple(x):
        return None if len(x) == 0 else _either(_optionals(x[0]), _optionals(x[1:]))
    if prim.is_user(x):
        return _optionals(prim.fields_of(x))
    if prim.is_a(x, "builtins.list"):
        return _optionals(prim.example(x))
    return 0 if prim.is_dict(x) else None


def _each_item(f, xs):
    for i in range(len(xs)):
        xs[i] = f(xs[i])
    return xs


def _each_value(f, xs):
    for k in list(xs):
        xs[k] = f(xs[k])
    return xs


def _outward(x):
    # Outside, the derivative with respect to a complex number is the conjugate of its adjoint, as in JAX.
    if prim.is_optional(x):
        return _if_there(_outward, x)
    if prim.is_complex(x):
        return x.conjugate()
    if prim.is_array(x):
        return np.conjugate(x) if prim.is_complex(prim.dtype_of(x)) else x
    if prim.is_tuple(x):
        return _outward_of(x) if prim.is_plain_tuple(x) else prim.of_fields(x, _outward_of(x))
    if prim.is_user(x):
        return prim.of_fields(x, _outward_of(prim.fields_of(x)))
    if prim.is_a(x, "builtins.list"):
        return _each_item(_outward, x)
    if prim.is_dict(x):
        return _each_value(_outward, x)
    return x


def _outward_of(xs):
    if len(xs) == 0:
        return ()
    return (_outward(xs[0]),) + _outward_of(xs[1:])


def _inner(y, adjoint):
    # The real part of the product with the conjugate of the adjoint: its derivative is the adjoint.
    if prim.is_optional(y):
        return _inner_optional(y, adjoint)
    if prim.is_tuple(y):
        if not prim.is_tuple(adjoint) or len(adjoint) != len(y):
            prim.error("the adjoint of ", y, " is a tuple of as many parts, not ", adjoint)
        return _inner_of(y, adjoint)
    if prim.is_tuple(adjoint):
        prim.error("the adjoint of ", y, " is one value, not ", adjoint)
    if prim.is_array(y):
        return np.sum((y * np.conjugate(adjoint)).real if prim.is_complex(prim.dtype_of(y)) else y * adjoint)
    if prim.is_complex(y):
        return (y * adjoint.conjugate()).real
    if prim.is_float(y):
        return y * adjoint
    if prim.is_user(y):
        return _inner_of(prim.fields_of(y), prim.fields_of(adjoint))
    if prim.is_a(y, "builtins.list"):
        return _inner_items(y, adjoint)
    if prim.is_dict(y):
        return _inner_values(y, adjoint)
    return 0.0


def _inner_optional(y, adjoint):
    if y is None or adjoint is None:
        return 0.0
    return _inner(y, adjoint)


def _inner_of(ys, adjoints):
    if len(ys) == 0:
        return 0.0
    return _inner(ys[0], adjoints[0]) + _inner_of(ys[1:], adjoints[1:])


def _inner_items(ys, adjoints):
    total = 0.0
    for i in range(len(ys)):
        total += _inner(ys[i], adjoints[i])
    return total


def _inner_values(ys, adjoints):
    total = 0.0
    for k, y in ys.items():
        total += _inner(y, adjoints[k])
    return total


def _own(asked, args):
    # Arrays of any strides are copied: elements of a view may share memory, and shadows have the strides of arrays.
    if len(args) == 0 or len(asked) == 0:
        return args
    return (args[0] if asked[0] is None else _plain(args[0]),) + _own(asked[1:], args[1:])


def _plain(x):
    if prim.is_array(x):
        return x if prim.layout(x) != "A" else np.copy(x)
    if prim.is_tuple(x) and _copies(x) is not None:
        return _all_plain(x)
    # The shadow of a dictionary has its entries in the order of a copy.
    return x.copy() if prim.is_dict(x) else x


def _copies(x):
    # A question about types: `None` if there is nothing to copy, so that named tuples stay what they are.
    if prim.is_tuple(x):
        return None if len(x) == 0 else _either(_copies(x[0]), _copies(x[1:]))
    return 0 if prim.is_array(x) and prim.layout(x) == "A" or prim.is_dict(x) else None


def _either(a, b):
    return b if a is None else a


def _all_plain(xs):
    if len(xs) == 0:
        return ()
    return (_plain(xs[0]),) + _all_plain(xs[1:])


def _shadows(asked, args):
    if len(args) == 0:
        _check_given(asked)
        return ()
    if len(asked) == 0:
        return (None,) + _shadows((), args[1:])
    return (None if asked[0] is None else _shadow(args[0]),) + _shadows(asked[1:], args[1:])


def _check_given(asked):
    if len(chosen(asked)) > 0:
        prim.error("`argnums` asks for an argument that the call does not give")


def _shadow(x):
    _check_floats(x)
    return zeros(x)


def _check_floats(x):
    if prim.is_int(x) or prim.is_bool(x):
        prim.error(x, "derivatives are with respect to floats; pass a float in place of an integer")
    if prim.is_array(x) and (prim.is_int(prim.dtype_of(x)) or prim.is_bool(prim.dtype_of(x))):
        prim.error(x, "derivatives are with respect to floats; pass an array of floats")
    if not prim.is_differentiable(x):
        prim.error("derivatives are with respect to floats, and there is none in ", x, "; write `2.0` for `2`")


def _fitting(args, tangents):
    if len(args) == 0:
        return ()
    return (_fits(args[0], tangents[0]),) + _fitting(args[1:], tangents[1:])


def _fits(x, t):
    if t is None:
        return t
    _check_floats(x)
    if not prim.is_array(x):
        return t
    return _like(x, np.asarray(t))


def _like(x, t):
    # A tangent in the strides of its argument.
    out = zeros(x)
    if t.size != x.size:
        raise ValueError("a tangent has the shape of its argument")
    out[...] = t.reshape(x.shape)
    return out


def _alone(asked, args, tangent):
    if len(args) == 0:
        _check_given(asked)
        return ()
    if len(asked) == 0:
        return (None,) + _alone((), args[1:], tangent)
    own = None if asked[0] is None else _fits(args[0], tangent)
    return (own,) + _alone(asked[1:], args[1:], tangent)


def _asked_of(asked, args):
    if len(args) == 0:
        _check_given(asked)
    if asked[0] is None:
        return _asked_of(asked[1:], args[1:])
    return args[0]


def _shape_of(y):
    return y.shape if prim.is_array(y) else ()


def with_captured(f, name, value):
    """The function with another value of a variable that it has captured."""
    return prim.with_captured(f, name, value)


def checkpoint(fun):
    """A function that runs again where it is differentiated."""

    def again(*args):
        return recomputed(fun, args)

    return again


def value_and_grad(fun, argnums=0, has_aux=False):
    """The function that gives the result of `fun` and its derivative with respect to one argument."""
    if not prim.is_int(argnums):
        prim.error(argnums, "in compiled code `argnums` is one position; make the derivative outside of the function")
    asked = _asked(argnums)
    if has_aux:

        def derivative(*args, **named):
            value, found = derivatives_with(_bound(fun, named), asked, args)
            return value, found[0]

    else:

        def derivative(*args, **named):
            value, found = derivatives_of(_bound(fun, named), asked, args)
            return value, found[0]

    return derivative


def grad(fun, argnums=0, has_aux=False):
    """The function that gives the derivative of `fun`."""
    both = value_and_grad(fun, argnums, has_aux)
    if has_aux:

        def derivative(*args, **named):
            value, found = both(*args, **named)
            return found, value[1]

    else:

        def derivative(*args, **named):
            return both(*args, **named)[1]

    return derivative


def jvp(fun, primals, tangents):
    """The result of `fun(*primals)` and its tangent."""
    return pushed(fun, primals, tangents)


def vjp(fun, *primals):
    """The result of `fun(*primals)`, and the function from adjoints of it to those of the arguments as they were."""
    kept = copied(primals)

    def pull(adjoint):
        return pulled(fun, adjoint, all_of(kept), copied(kept))

    return fun(*primals), pull


def linearize(fun, *primals):
    """The result of `fun(*primals)`, and the function from tangents of the arguments as they were to its tangent."""
    kept = copied(primals)

    def push(*tangents):
        return pushed(fun, copied(kept), tangents)[1]

    return fun(*primals), push


def jacfwd(fun, argnums=0):
    """The function that gives the matrix of derivatives, by columns."""
    asked = _asked(argnums)

    def derivative(*args, **named):
        return forward_jacobian(_bound(fun, named), asked, args)

    return derivative


def jacrev(fun, argnums=0):
    """The function that gives the matrix of derivatives, by rows."""
    asked = _asked(argnums)

    def derivative(*args, **named):
        return reverse_jacobian(_bound(fun, named), asked, args)

    return derivative


def jacobian(fun, argnums=0):
    """The function that gives the matrix of derivatives, by rows."""
    return jacrev(fun, argnums)


def hessian(fun, argnums=0):
    """The function that gives the matrix of second derivatives."""
    return jacfwd(grad(fun, argnums), argnums)


def hvp(fun, argnums=0):
    """The function that gives the product of the matrix of second derivatives with its last argument."""
    asked = _asked(argnums)

    def derivative(*args, **named):
        return product_with_hessian(_bound(fun, named), asked, args[:-1], args[-1])

    return derivative


def _bound(f, named):
    # The function with arguments that are given by name, which count as constants.
    return f if len(named) == 0 else functools.partial(f, **named)


def all_of(args):
    """A tuple that asks for the derivatives with respect to all arguments."""
    if len(args) == 0:
        return ()
    return (0,) + all_of(args[1:])


def floats_of(args):
    """A tuple that asks for the derivatives with respect to all arguments but integers, truth values and texts."""
    if len(args) == 0:
        return ()
    return (_has_floats(args[0]),) + floats_of(args[1:])


def _has_floats(x):
    if prim.is_array(x):
        return 0 if prim.is_float(prim.dtype_of(x)) or prim.is_complex(prim.dtype_of(x)) else None
    return None if x is None or prim.is_int(x) or prim.is_bool(x) or prim.is_str(x) or prim.is_func(x) else 0


def _asked(number):
    if prim.literally(number) == 0:
        return (0,)
    return (None,) + _asked(number - 1)


def kernel_adjoint(kernel, given):
    """Runs a kernel and its adjoint: `given` are the kernel's arguments, then what holds the adjoint of each."""
    args, adjoints = given[: len(given) // 2], given[len(given) // 2 :]
    found = prim.adjoint(kernel, args, _kernel_shadows(args, adjoints))[1]
    _add_numbers(args, adjoints, found)


def _kernel_shadows(args, adjoints):
    if len(args) == 0:
        return ()
    return (_kernel_shadow(args[0], adjoints[0]),) + _kernel_shadows(args[1:], adjoints[1:])


def _kernel_shadow(x, adjoint):
    if adjoint is None or prim.is_array(x):
        return adjoint
    return zeros(x)


def _add_numbers(args, adjoints, found):
    if len(args) == 0:
        return
    _add_number(args[0], adjoints[0], found[0])
    _add_numbers(args[1:], adjoints[1:], found[1:])


def _add_number(x, adjoint, found):
    # Each thread has its own adjoint of a number.
    if adjoint is not None and prim.is_float(x):
        own = prim.cast(found, prim.dtype_of(adjoint))
        if prim.itemsize(prim.dtype_of(adjoint)) == 4:
            prim.lh_cuda_add_f32(prim.data(adjoint), own)
        else:
            prim.lh_cuda_add_f64(prim.data(adjoint), own)
