"""Derivatives of `stop_gradient`, and of functions that run again where they are differentiated."""

import math

from lancehead.lib import prim
from lancehead.lib.derivatives import added, zeros
from lancehead.lib.lancehead.gradients import copied, floats_of, taken_back


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
    """The result; the arguments are kept as they were, since the function or the program may change them."""
    kept = copied(f), copied(args)
    return f(*args), kept


def recomputed_backward(saved, adjoint, wanted, shadows):
    """Runs the function again, and its adjoint."""
    f, args = saved
    return taken_back(f, adjoint, floats_of(args), args)


def checkpoint_loop_forward(step, state, steps, slots=0, args=()):
    """The state after all steps; the first one is kept."""
    first, given, own = copied(state), copied(args), copied(step)
    for i in range(steps):
        state = step(i, state, *args)
    return state, (own, first, steps, slots, given)


def checkpoint_loop_backward(saved, adjoint, wanted, shadows):
    """Takes the adjoint of the state back through the steps, the last one first. The states before some of them are
    kept in the binomial order of A. Griewank and A. Walther (Algorithm 799: revolve, 2000)."""
    step, first, steps, slots, args = saved
    total, captured = zeros(args), zeros(step)
    if slots <= 0:
        slots = max(2, math.isqrt(max(steps, 0)))
    at, states = [0], [first]
    last = steps
    while last > 0:
        i, state = at[-1], copied(states[-1])
        while i + 1 < last:
            stride = _stride(last - i, slots - len(at) + 1)
            for _ in range(stride):
                state = step(i, state, *args)
                i += 1
            if i + 1 < last:
                at.append(i)
                states.append(copied(state))
        last -= 1
        own, found = taken_back(step, adjoint, (None, 0) + floats_of(args), (last, state) + args)
        adjoint = found[1]
        total = added(total, found[2:])
        if prim.is_closure(step):
            captured = added(captured, own)
        if at[-1] == last:
            at.pop()
            states.pop()
    return captured if prim.is_closure(step) else None, adjoint, None, None, total


def _stride(n, slots):
    # Steps until the next state is kept, of `n` that are taken back with so many states, of which one is kept already.
    if slots <= 1:
        return n - 1
    # The least number of times that steps are repeated: C(slots + r, slots) steps can be taken back with r.
    repeats, all_steps, fewer, fewest = 1, slots + 1, 1, 0
    while all_steps < n:
        repeats += 1
        fewest, fewer, all_steps = fewer, all_steps, all_steps * (slots + repeats) // repeats
    after = all_steps - fewer
    return max(1, fewest, n - after)
