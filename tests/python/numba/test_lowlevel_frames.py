"""Addresses of variables that code generators give away: they are in the frame of the function that calls."""

import numpy as np
import pytest

from lancehead import _core, cuda, errors, njit, prange, types
from lancehead.extending import intrinsic
from lancehead.lowlevel import cgutils


@intrinsic
def pointer_to(typingctx, value):
    def generate(context, builder, sig, args):
        return cgutils.alloca_once_value(builder, args[0])

    return types.CPointer(value)(value), generate


@intrinsic
def value_at(typingctx, pointer):
    return pointer.dtype(pointer), lambda context, builder, sig, args: builder.load(args[0])


@intrinsic
def put(typingctx, pointer, value):
    def generate(context, builder, sig, args):
        builder.store(args[1], args[0])
        return context.get_dummy_value()

    return types.none(pointer, value), generate


@intrinsic
def number_of(typingctx, value, scale=2):
    def generate(context, builder, sig, args):
        return builder.ptrtoint(cgutils.alloca_once_value(builder, args[0]), cgutils.intp_t)

    return types.intp(value, types.int64), generate


@pytest.fixture(autouse=True)
def _nothing_is_left():
    before = _core.live_allocations()
    yield
    assert _core.live_allocations() == before


@pytest.fixture(params=["python", "numba"])
def jit(request):
    return njit(semantics=request.param)


@pytest.mark.parametrize("x", [3, 4.5, np.float32(1.5), np.uint8(7), True, 1 + 2j])
def test_each_call_has_a_variable(x, jit):
    @jit
    def two(x, y):
        p, q = pointer_to(x), pointer_to(y)
        before = value_at(p)
        put(p, y)
        return before, value_at(p), value_at(q)

    assert two(x, x) == (x, x, x)


def test_it_is_valid_to_the_end_of_the_function(jit):
    @jit
    def changed(p):
        put(p, value_at(p) + 1)

    @jit
    def outer(x, n):
        p = pointer_to(x)
        total = np.zeros(3)
        for _ in range(n):
            total += np.ones(3)
            changed(p)
        if n > 5:
            raise ValueError(n)
        return value_at(p), total[0]

    assert outer(10, 3) == (13, 3.0)
    for _ in range(3):
        with pytest.raises(ValueError, match="6"):
            outer(1, 6)


def test_a_loop_uses_one_variable(jit):
    @jit
    def same(n):
        first = pointer_to(0)
        last = first
        different = 0
        for i in range(n):
            p = pointer_to(i)
            if i == 0:
                last = p
            different += value_at(last) != i
        return different, value_at(first)

    assert same(10) == (0, 0)


def test_where_exceptions_are_handled(jit):
    @jit
    def handled(x):
        p = pointer_to(x)
        try:
            if x > 5:
                raise ValueError
            put(p, 1)
        except ValueError:
            put(p, value_at(p) + 100)
        return value_at(p)

    assert handled(3) == 1 and handled(8) == 108


def test_recursion_has_frames_of_its_own(jit):
    @jit
    def depth(n, outer):
        p = pointer_to(n)
        if n == 0:
            return value_at(outer)
        deeper = depth(n - 1, p)
        return deeper * 10 + value_at(p)

    @jit
    def begin(n):
        return depth(n, pointer_to(7))

    assert begin(3) == 1123


def test_numbers_of_addresses_and_defaults():
    assert njit(lambda x: number_of(x))(3) % 8 == 0 and njit(lambda x: number_of(x, scale=3))(3) != 0


def test_parallel_loops_stay_right():
    @njit(parallel=True)
    def filled(out):
        for i in prange(len(out)):
            p = pointer_to(i)
            out[i] = value_at(p)
        return out

    try:
        found = filled(np.zeros(5000, np.int64))
    except errors.ParallelRaceError:
        return
    np.testing.assert_array_equal(found, np.arange(5000))


def test_generators_and_kernels_have_none():
    @njit
    def items(n):
        for i in range(n):
            yield value_at(pointer_to(i))

    with pytest.raises(errors.TypingError, match="cannot be used in a generator"):
        items(3)

    @cuda.jit
    def kernel(out):
        out[0] = value_at(pointer_to(3))

    with pytest.raises(errors.TypingError, match="cannot be used in a kernel"):
        kernel[1, 1](np.zeros(1, np.int64))
