"""Rows of `docs/differences.md` about what is different beside Numba."""

import heapq
import math
import subprocess
import sys

import numpy as np
import pytest

from difference_rows import row
from lancehead import cfunc, errors, jit, njit, objmode, typeof, types
from lancehead.extending import overload, overload_attribute, overload_method

MEMORY = """
import numpy as np
from lancehead import njit

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

ones = njit(lambda n: np.ones(n))
ones(1)
for size in (16, 64):
    a = ones(size << 17)
    before = resident()
    del a
    print((before - resident()) >> 20)
"""


@row("memory of freed arrays of 128 KiB to 32 MiB")
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory a process has")
def test_memory_of_arrays_is_kept():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=60)
    kept, given_back = map(int, done.stdout.split())
    assert kept < 4
    assert given_back > 60


@row("arguments whose classes have no type, and arrays of dtype `object`")
def test_objects_are_passed_on():
    class Unknown:
        pass

    thing = Unknown()
    objects = np.array([thing, 1], object)
    assert typeof(thing) is types.pyobject
    for value in (thing, objects):
        assert njit(lambda x: x)(value) is value
        assert njit(lambda x: (x, 1))(value)[0] is value
        assert njit(lambda x, y: x is y)(value, value)
    for use in (lambda x: x + 1, lambda x: x.name):
        with pytest.raises(errors.ArgumentError, match="argument `x` of .* is a `Unknown`"):
            njit(use)(thing)


@row("`forceobj`", "`nopython=False`, `looplift`", "a function with `forceobj=True`, called by compiled code")
def test_options_of_object_mode():
    def mixed(x):
        return {1: "a", 2: x}

    with pytest.warns(errors.NumbaInvalidConfigWarning, match="no object mode to fall back to"):
        compiled = jit(nopython=False, looplift=True)(mixed)
    with pytest.raises(errors.TypingError, match="cannot hold"):
        compiled(1)
    interpreted = jit(forceobj=True)(mixed)
    assert interpreted(1) == {1: "a", 2: 1}
    with pytest.warns(RuntimeWarning, match="forceobj is set for njit"):
        compiled = njit(forceobj=True)(lambda x: x + 1)
    assert (compiled(1), compiled.signatures) == (2, [(types.int64,)])
    with pytest.raises(errors.TypingError, match="call it in a block of `objmode`"):
        njit(lambda x: interpreted(x))(1)

    @njit
    def in_a_block(x):
        with objmode(n="int64"):
            n = len(interpreted(x))
        return n

    assert in_a_block(1) == 2


@row("`objmode`: lists, functions, `raise`, blocks inside of blocks")
def test_blocks_of_objmode():
    def change(items, d):
        with objmode():
            items.append(7)
            d[3] = 4
        return len(items) + len(d)

    def call(x):
        with objmode(y="int64"):

            def twice(z):
                return 2 * z

            with objmode(z="int64"):
                z = x + 1
            y = twice(z)
        return y

    def fail(x):
        with objmode():
            raise ValueError(str(x))

    items, d = [1], {1: 2}
    assert njit(change)(items, d) == 4
    assert (items, d) == ([1, 7], {1: 2, 3: 4})
    assert njit(call)(1) == 4
    with pytest.raises(ValueError, match="^5$"):
        njit(fail)(5)


@row("exceptions in a `cfunc` that compiled code calls")
def test_exceptions_of_c_functions_are_raised():
    @cfunc("float64(float64)")
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return x

    assert njit(lambda x: checked(x))(2.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        njit(lambda x: checked(x))(-1.0)
    with pytest.raises(ValueError, match="negative"):
        njit(lambda f, x: f(x))(checked, -1.0)


@row("`range` with floats")
def test_ranges_of_floats_drop_fractions():
    def count(x):
        return list(range(x))

    assert njit(count)(2.9) == [0, 1]
    with pytest.raises(TypeError):
        count(2.9)


@row("arrays that a function captures or reads as globals")
def test_captured_arrays_are_read_in_place():
    a = np.zeros(2)
    first = njit(lambda: a[0])
    assert first() == 0
    a[0] = 3
    assert first() == 3


@row("`@overload` of a function that lancehead has itself (NumPy's, `math`'s)")
def test_overloads_of_known_functions_go_first():
    # Other tests use these functions, too, but not of these types.
    @overload(math.cbrt)
    def cbrt_of_text(x):
        if isinstance(x, types.UnicodeType):
            return lambda x: len(x)

    @overload(math.erfc)
    def erfc_that_does_not_compile(x):
        if x == types.float16:
            return lambda x: no_such_name  # noqa: F821

    @overload(np.kaiser)
    def kaiser_of_short_floats(n, beta):
        if beta == types.float16:
            return lambda n, beta: -5.0

    assert njit(lambda x: math.cbrt(x))("abc") == 3
    assert njit(lambda x: math.cbrt(x))(8.0) == 2.0
    assert njit(lambda x: math.erfc(x))(np.float16(0.5)) == pytest.approx(math.erfc(0.5), rel=1e-3)
    kaiser = njit(lambda x: np.kaiser(5, x))
    assert kaiser(np.float16(1)) == -5.0
    assert kaiser(1.0).tolist() == pytest.approx(np.kaiser(5, 1.0).tolist())


@row("`@overload_method`, `@overload_attribute` of a name that exists")
def test_overloads_of_members_that_exist():
    asked = []

    @overload_method(types.Array, "sum")
    def other_sum(a):
        asked.append(a)
        return (lambda a: -1.0) if a.ndim == 7 else None

    @overload_attribute(types.Array, "size")
    def other_size(a):
        asked.append(a)
        return (lambda a: -1) if a.ndim == 7 else None

    assert njit(lambda a: (a.sum(), a.size))(np.ones((1,) * 7)) == (1.0, 1)
    assert not asked


@row("`inline=` and `jit_options=` of overloads", "a function has no fitting overload")
def test_options_of_overloads_and_overloads_that_do_not_fit():
    def f(x):
        return 2 * x

    def add_one(x):
        if isinstance(x, types.Integer):
            return lambda x: x + 1

    overload(f, inline="always", jit_options={"fastmath": True})(add_one)
    compiled = njit(lambda x: f(x))
    assert compiled(1) == 2
    with pytest.raises(errors.TypingError, match="no overload of `f` is for"):
        compiled(1.5)


@row("`heapq.heappushpop` of a bool and a heap of integers")
def test_a_bool_and_a_heap_of_integers():
    def push(heap, item):
        return heapq.heappushpop(heap, item)

    assert push([1, 2], False) is False
    with pytest.raises(errors.TypingError, match="the types must be the same"):
        njit(push)([1, 2], False)
