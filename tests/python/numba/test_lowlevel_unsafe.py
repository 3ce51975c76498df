"""Foundations of array packages: items of arrays by addresses, memory of known size, tuples of a length that a constant
gives, functions of C by addresses."""

import ctypes
import sys

import numpy as np
import pytest

from lancehead import carray, errors, njit, objmode, types
from lancehead.caching import FunctionCache, NullCache
from lancehead.extending import intrinsic
from lancehead.lowlevel import arrayobj, cgutils, lapack, unsafe
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel import registry as imputils
from lancehead.lowlevel.function_types import _get_wrapper_address
from lancehead.lowlevel.nrt import c_helpers

ARRAYS = [
    np.arange(24.0).reshape(4, 6),
    np.asfortranarray(np.arange(24).reshape(4, 6)),
    np.arange(48, dtype=np.int16).reshape(8, 6)[::-2],
    np.arange(24, dtype=np.complex64).reshape(4, 6)[:, ::-1],
]


@intrinsic
def item(typingctx, array, i, j):
    def generate(context, builder, sig, args):
        made = arrayobj.make_array(array)(context, builder, args[0])
        builder.function.args[0].add_attribute("nocapture")
        indices = [builder.sext(a, cgutils.intp_t) for a in args[1:]]
        at = cgutils.get_item_pointer(context, builder, array, made, indices, wraparound=True, boundscheck=True)
        return builder.load(at)

    return array.dtype(array, i, j), generate


@pytest.mark.parametrize("array", ARRAYS, ids=["C", "F", "negative step", "reversed"])
def test_items_by_address(array):
    f = njit(lambda a, i, j: item(a, i, j))
    for i, j in np.ndindex(array.shape):
        assert f(array, i, j) == array[i, j] == f(array, i - 4, j - 6)
    for i, j in ((4, 0), (0, 6), (-5, 0), (0, -7)):
        with pytest.raises(IndexError):
            f(array, i, j)


@intrinsic
def rows_doubled(typingctx, array):
    """Views of rows, made of parts, in a loop."""
    row = types.Array(array.dtype, 1, array.layout)

    def generate(context, builder, sig, args):
        made = context.make_array(array)(context, builder, args[0])
        shape, strides = (cgutils.unpack_tuple(builder, part) for part in (made.shape, made.strides))
        zero = ir.Constant(cgutils.intp_t, 0)
        with cgutils.for_range(builder, shape[0]) as loop:
            at = cgutils.get_item_pointer2(
                context, builder, made.data, shape, strides, array.layout, [loop.index, zero], False, False
            )
            view = context.make_array(row)(context, builder)
            context.populate_array(
                view, data=builder.bitcast(at, view.data.type), shape=shape[1:], strides=strides[1:],
                itemsize=context.get_constant(types.intp, 8), meminfo=None,
            )  # fmt: skip
            context.compile_internal(builder, _double, types.none(row), [view._getvalue()])
        return context.get_dummy_value()

    return types.none(array), generate


def _double(row):
    for i in range(row.size):
        row[i] *= 2


@pytest.mark.parametrize("array", ARRAYS[:1] + ARRAYS[2:] + [np.ones((0, 3)), np.ones((3, 0))])
def test_arrays_made_of_parts_of_others(array):
    array = array.copy(order="C")
    expected = array * 2
    njit(lambda a: rows_doubled(a))(array)
    np.testing.assert_array_equal(array, expected)


def stack(count):
    @intrinsic
    def on_stack(typingctx, size, dtype):
        def generate(context, builder, sig, args):
            return cgutils.alloca_once(builder, context.get_value_type(dtype.dtype), size=count(builder, args[0]))

        return types.CPointer(dtype.dtype)(types.int64, dtype), generate

    return on_stack


SIZE = 6
plain = stack(lambda builder, n: n)
computed = stack(lambda builder, n: builder.add(builder.mul(n, cgutils.intp_t(2)), cgutils.intp_t(2)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint16, np.complex128])
def test_memory_whose_size_a_constant_gives(dtype):
    @njit
    def f(x):
        a, b = carray(plain(SIZE, dtype), (2, 3)), carray(computed(2, dtype), 6)
        a[:] = x
        b[:] = a.sum()
        return a[1, 2] + b.sum()

    assert f(dtype(2)) == 2 + 6 * 12


@njit(inline="always")
def made_of_frame(x):
    a = carray(plain(SIZE, np.float64), (2, 3))
    a[:] = x
    return a


@njit
def parts_of_frame(x):
    a = carray(plain(SIZE, np.float64), (2, 3))
    a[:] = x
    return a[1], (a.T, np.arange(3.0)), a.sum()


def test_arrays_outlive_the_function_in_whose_frame_they_lie():
    @njit
    def f(n):
        total = 0.0
        kept = [made_of_frame(0.0)]
        for i in range(n):
            a, b = made_of_frame(float(i)), made_of_frame(2.0 * i)
            kept.append(b)
            total += a.sum() + b[1, 2]
        return total, kept

    total, kept = f(10)
    assert total == sum(8 * i for i in range(10))
    assert [a[0, 0] for a in kept] == [0.0, *(2.0 * i for i in range(10))]
    row, (turned, other), total = parts_of_frame(1.5)
    junk = [made_of_frame(float(i)) for i in range(20)]
    assert (row == 1.5).all() and (turned == 1.5).all() and turned.shape == (3, 2) and total == 9.0
    np.testing.assert_array_equal(other, [0, 1, 2])
    assert len(junk) == 20 and njit(lambda a: made_of_frame(1.0) if a else np.zeros((2, 3)))(False).sum() == 0


def test_memory_whose_size_is_not_known_is_refused():
    with pytest.raises(errors.TypingError, match="not known while compiling: pass a constant"):
        njit(lambda n: carray(plain(n, np.float64), 3).sum())(3)


def test_tuples():
    assert njit(lambda t, i, x: unsafe.tuple_setitem(t, i, x))((1, 2, 3), 2, 9.75) == (1, 2, 9)
    assert njit(lambda t: unsafe.tuple_setitem(t, 0, 5))((1.5, 2.5)) == (5.0, 2.5)
    with pytest.raises(errors.TypingError, match="items of one type"):
        njit(lambda t: unsafe.tuple_setitem(t, 0, 5))((1.5, 2))
    reshaped = njit(lambda a, s: a.reshape(unsafe.to_fixed_tuple(s, 2)))
    for shape in (np.array([2, 3]), np.array([3, 0, 2])[::2], np.array([1, 6], np.int32)):
        np.testing.assert_array_equal(reshaped(np.arange(6.0), shape), np.arange(6.0).reshape(tuple(shape)))
    with pytest.raises(errors.TypingError, match="must be a constant"):
        njit(lambda a, n: unsafe.to_fixed_tuple(a, n))(np.ones(3), 2)
    with pytest.raises(errors.TypingError, match="array.ndim=2"):
        njit(lambda a: unsafe.to_fixed_tuple(a, 1))(np.ones((3, 1)))
    array = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(njit(lambda a: a[unsafe.build_full_slice_tuple(2)])(array), array)


@pytest.mark.parametrize("x", [np.int64(40), np.int32(-2), np.uint8(1), np.uint64(1 << 63), np.int16(0)])
def test_bits(x):
    bits = np.iinfo(type(x)).bits
    text = f"{int(x) % (1 << bits):0{bits}b}"
    f = njit(lambda x: (unsafe.leading_zeros(x), unsafe.trailing_zeros(x)))
    assert f(x) == (bits - len(text.lstrip("0")), bits - len(text.rstrip("0")))
    assert njit(lambda x: unsafe.viewer(x, np.int64))(1.5) == np.float64(1.5).view(np.int64)


@intrinsic
def zero_of(typingctx, of):
    wanted = of.instance_type
    return wanted(of), lambda context, builder, sig, args: context.get_constant_null(wanted)


def test_types_as_arguments():
    pair = types.UniTuple(types.int32, 2)
    assert njit(lambda: zero_of(pair))() == (0, 0)
    assert njit(lambda: zero_of(types.float64))() == 0.0


UNARY = types.FunctionType(types.float64(types.float64))
CALLS = []


def _sqrt_address():
    CALLS.append(1)
    return ctypes.cast(ctypes.CDLL(None).sqrt, ctypes.c_void_p).value


@njit
def sqrt_address():
    with objmode(found="intp"):
        found = _sqrt_address()
    return found


@intrinsic(prefer_literal=True)
def found_once(typingctx, get, name):
    """A function of C whose address is looked up when it is called first."""

    def generate(context, builder, sig, args):
        null = cgutils.voidptr_t(None)
        place = cgutils.add_global_variable(builder.module, cgutils.voidptr_t, f"address of {name.literal_value}")
        place.linkage, place.align, place.initializer = "private", 8, null
        known = builder.load_atomic(place, "acquire", 8)
        found = cgutils.alloca_once_value(builder, known)
        with builder.if_then(cgutils.is_null(builder, known), likely=False):
            of = typingctx.resolve_function_type(get, [], {})
            address = builder.inttoptr(context.get_function(get, of)(builder, []), cgutils.voidptr_t)
            builder.store_atomic(address, place, "release", 8)
            builder.store(address, found)
        made = cgutils.create_struct_proxy(UNARY)(context, builder)
        made.c_addr = builder.load(found)
        return made._getvalue()

    return UNARY(get, name), generate


def test_functions_by_addresses():
    @njit
    def f(x):
        sqrt = found_once(get=sqrt_address, name="sqrt")
        return sqrt(x) + sqrt(4)

    CALLS.clear()
    assert [f(float(n * n)) for n in range(4)] == [2.0, 3.0, 4.0, 5.0]
    assert CALLS == [1]


@pytest.mark.parametrize("count", [1, 2])
def test_references_to_arrays_made_of_parts(count):
    """A generator counts one array and returns another one that is made of the same parts."""

    @intrinsic
    def again(typingctx, array):
        def generate(context, builder, sig, args):
            made = arrayobj.make_array(array)(context, builder, args[0])
            for _ in range(count):
                context.nrt.incref(builder, array, made._getvalue())
            if count == 1:
                return made._getvalue()
            return context.make_tuple(builder, sig.return_type, [made._getvalue() for _ in range(count)])

        return (array if count == 1 else types.UniTuple(array, count))(array), generate

    @njit
    def f(x):
        return again(x)

    a = np.arange(4.0)
    before = sys.getrefcount(a)
    for _ in range(3):
        assert np.array_equal(f(a), a if count == 1 else (a, a))
    assert sys.getrefcount(a) == before
    del a

    @njit
    def outside(x):
        return again(x + 1)

    assert np.array_equal(outside(np.arange(4.0)), np.arange(1.0, 5.0) if count == 1 else 2 * (np.arange(1.0, 5.0),))


def test_functions_without_types_say_why():
    @intrinsic
    def typed(typingctx, f, x):
        return typingctx.resolve_function_type(f, [x], {}), lambda context, builder, sig, args: args[1]

    refused = njit(lambda x: x.nothing)
    with pytest.raises(errors.TypingError, match="nothing"):
        njit(lambda x: typed(refused, x))(1)


def test_addresses_of_functions():
    twice = njit(lambda x: 2 * x)
    address = _get_wrapper_address(twice, types.int64(types.int64))
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(21) == 42
    assert _get_wrapper_address(twice, types.int64(types.int64)) == address
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(c_helpers["get_api"])()


def number(name):
    @intrinsic
    def asked(typingctx, x):
        def generate(context, builder, sig, args):
            return getattr(cgutils, name)(builder, args[0])

        return types.boolean(x), generate

    return njit(lambda x: asked(x))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("is_scalar_zero", [False, True, False, False]),
        ("is_not_scalar_zero", [True, False, True, True]),
        ("is_scalar_zero_or_nan", [False, True, False, True]),
        ("is_scalar_neg", [False, False, True, True]),
    ],
)
def test_questions_about_numbers(name, expected):
    f = number(name)
    assert [f(x) for x in (2.5, -0.0, -1.0, np.nan)] == expected
    assert [f(x) for x in (3, 0, -2)] == expected[:3]


@intrinsic
def parts(typingctx, x, y, z):
    def generate(context, builder, sig, args):
        total, overflows = cgutils.muladd_with_overflow(builder, *args)
        quotient, rest = cgutils.divmod_by_constant(builder, args[0], 7)
        table = cgutils.create_constant_array(cgutils.intp_t, [cgutils.intp_t(n) for n in (3, 5, 9)])
        held = cgutils.global_constant(builder, "table", table)
        third = builder.load(builder.gep(builder.bitcast(held, cgutils.intp_t.as_pointer()), [cgutils.intp_t(2)]))
        return context.make_tuple(builder, sig.return_type, [total, overflows, quotient, rest, third])

    of = types.int64
    return types.Tuple((of, types.boolean, of, of, of))(x, y, z), generate


def test_integers():
    f = njit(lambda x, y, z: parts(x, y, z))
    for x in (-15, -14, -1, 0, 6, 7, 40):
        assert f(x, 3, 5) == (3 * x + 5, False, *divmod(x, 7), 9)
    assert f(1 << 62, 2, 0)[1] and f((1 << 63) - 1, 1, 1)[1]


def test_copies_with_contiguous_columns():
    copied = njit(lambda a: lapack._copy_to_fortran_order(a))
    for a in (*ARRAYS, np.arange(3.0), np.ones((1, 4)), np.ones((0, 2))):
        made = copied(a)
        assert made.flags.f_contiguous and not np.shares_memory(made, a)
        np.testing.assert_array_equal(made, a)
    assert [lapack.get_blas_kind(t) for t in (types.float32, types.complex128)] == ["s", "z"]
    with pytest.raises(errors.NumbaTypeError, match=r"unsupported dtype for inv\(\)"):
        lapack.get_blas_kind(types.int64, "inv")


def test_caches_of_dispatchers():
    def f(x):
        return x

    assert isinstance(njit(f)._cache, NullCache)
    kept = njit(cache=True)(f)
    assert isinstance(kept._cache, FunctionCache) and kept._cache is kept._cache
    assert kept._cache.cache_path.endswith("__pycache__")


@intrinsic
def summed(typingctx, items):
    def generate(context, builder, sig, args):
        total = cgutils.alloca_once_value(builder, context.get_constant(types.int64, 0))
        count = imputils.call_len(context, builder, items, args[0])
        with imputils.for_iter(context, builder, items, args[0]) as loop:
            builder.store(builder.add(builder.load(total), loop.value), total)
            with builder.if_then(builder.icmp_signed(">", builder.load(total), cgutils.intp_t(100))):
                loop.do_break()
        return context.make_tuple(builder, sig.return_type, [builder.load(total), count])

    return types.UniTuple(types.int64, 2)(items), generate


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([1, 2, 3], (6, 3)),
        ((4, 5), (9, 2)),
        (np.arange(10)[::-3], (18, 4)),
        (np.arange(0), (0, 0)),
        (range(3), (3, 3)),
        ({1, 2}, (3, 2)),
        ({1: 2}, (1, 1)),
        ([60, 50, 7], (110, 3)),
    ],
)
def test_loops_over_items(items, expected):
    assert njit(lambda items: summed(items))(items) == expected
