"""Implicit operations on values of types of programs: loops, conversions, printing, arrays inside."""

import concurrent.futures
import ctypes
import ctypes.util
import gc
import operator
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from lancehead import _core, errors, njit, prange, types
from lancehead.extending import (
    NativeValue,
    box,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_cast,
    make_attribute_wrapper,
    models,
    overload,
    overload_classmethod,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from lancehead.foreign_types import EphemeralPointer, SimpleIteratorType
from lancehead.lowlevel import cgutils, ctypes_utils
from lancehead.lowlevel.implicit import RefType, iternext_impl
from lancehead.lowlevel.registry import AbstractTemplate, AttributeTemplate, infer, lower_getattr_generic


def make_index(context, builder, typ, **parts):
    return cgutils.create_struct_proxy(typ)(context, builder, **parts)


# Squares of the first numbers: its iterator holds the address of a variable.


class Squares:
    def __init__(self, count):
        self.count = count


class SquaresType(types.Type):
    def __init__(self):
        super().__init__("Squares")

    def can_convert_to(self, context, other):
        return 3 if isinstance(other, types.Number) else None


class SquaresIterator(SimpleIteratorType):
    def __init__(self, of):
        super().__init__(f"iterator({of})", types.int64)
        self.of = of


squares = SquaresType()
typeof_impl.register(Squares)(lambda value, context: squares)


@register_model(SquaresType)
class SquaresModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [("count", types.int64)])


@register_model(SquaresIterator)
class SquaresIteratorModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [("of", fe_type.of), ("at", EphemeralPointer(types.intp))])


@unbox(SquaresType)
def unbox_squares(typ, obj, c):
    made = make_index(c.context, c.builder, typ)
    count = c.pyapi.object_getattr_string(obj, "count")
    made.count = c.pyapi.long_as_longlong(count)
    c.pyapi.decref(count)
    return NativeValue(made._getvalue(), is_error=c.pyapi.c_api_error())


@box(SquaresType)
def box_squares(typ, value, c):
    return c.pyapi.long_from_longlong(make_index(c.context, c.builder, typ, value=value).count)


@infer
class SquaresGetIter(AbstractTemplate):
    key = "getiter"

    def generic(self, args, kws):
        return SquaresIterator(args[0])(args[0]) if args[0] == squares else None


@lower_builtin("getiter", SquaresType)
def squares_getiter(context, builder, sig, args):
    made = context.make_helper(builder, sig.return_type)
    made.of = args[0]
    made.at = cgutils.alloca_once_value(builder, context.get_constant(types.intp, 0))
    return made._getvalue()


@lower_builtin("iternext", SquaresIterator)
@iternext_impl(RefType.BORROWED)
def squares_iternext(context, builder, sig, args, result):
    iterator = context.make_helper(builder, sig.args[0], args[0])
    count = context.make_helper(builder, sig.args[0].of, iterator.of).count
    at = builder.load(iterator.at)
    is_valid = builder.icmp_signed("<", at, count)
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        result.yield_(builder.mul(at, at))
        builder.store(builder.add(at, context.get_constant(types.intp, 1)), iterator.at)


@lower_cast(SquaresType, types.Number)
def squares_to_number(context, builder, fromty, toty, value):
    return context.cast(builder, context.make_helper(builder, fromty, value).count, types.int64, toty)


@lower_builtin("print_item", SquaresType)
def print_squares(context, builder, sig, args):
    pyapi = context.get_python_api(builder)
    text = pyapi.unserialize(pyapi.serialize_object("<squares>"))
    pyapi.print_object(text)
    pyapi.decref(text)
    return context.get_dummy_value()


@overload(operator.add)
def add_squares(a, b):
    # Numbers come first, as in Numba.
    if isinstance(a, SquaresType) and isinstance(b, SquaresType):
        return lambda a, b: -1


def nested(s):
    return [x - y for x in s for y in s]


def next_of(s):
    it = iter(s)
    return next(it), next(it), list(it)


def early(s):
    for x in s:
        if x > 3:
            return x
    return -1


LOOPS = {
    "sum": lambda s: sum([x for x in s]),
    "list": list,
    "enumerate": lambda s: [i * x for i, x in enumerate(s)],
    "zip": lambda s: list(zip(s, s)),
    "nested": nested,
    "next": next_of,
    "early": early,
}


class PlainSquares(Squares):
    def __iter__(self):
        return (i * i for i in range(self.count))


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("name", LOOPS)
def test_loops(name, count):
    # Of the tests before, some objects are in cycles.
    gc.collect()
    before = _core.live_allocations()
    loop = njit(lambda s: list(s)) if name == "list" else njit(LOOPS[name])
    assert loop(Squares(count)) == LOOPS[name](PlainSquares(count))
    assert _core.live_allocations() == before


def test_an_empty_loop():
    assert njit(lambda s: list(s))(Squares(0)) == []
    with pytest.raises(StopIteration):
        njit(lambda s: next(iter(s)))(Squares(0))


def test_loops_in_threads_and_in_prange():
    loop = njit(nogil=True)(LOOPS["enumerate"])
    want = LOOPS["enumerate"](PlainSquares(50))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(got == want for got in pool.map(loop, [Squares(50)] * 40))

    @njit(parallel=True)
    def sums(s, out):
        for i in prange(out.size):
            total = 0
            for x in s:
                total += x * i
            out[i] = total

    out = np.zeros(20, np.int64)
    # The iterator stores through an address, of which nothing is known.
    with pytest.warns(errors.ParallelRaceWarning):
        sums(Squares(10), out)
    assert out.tolist() == [285 * i for i in range(20)]


def test_faulty_conversions_are_named():
    class Broken(types.Type):
        def __init__(self):
            super().__init__("BrokenCast")

        def can_convert_to(self, context, other):
            return 3

    class Thing:
        pass

    broken = Broken()
    typeof_impl.register(Thing)(lambda value, context: broken)
    register_model(Broken)(models.OpaqueModel)
    unbox(Broken)(lambda typ, obj, c: NativeValue(obj))

    @lower_cast(Broken, types.Number)
    def broken_cast(context, builder, fromty, toty, value):
        raise RuntimeError("no number today")

    for call in (lambda: njit(lambda t: t + 1)(Thing()), lambda: njit(types.float64(broken))(lambda t: t)):
        with pytest.raises(errors.LoweringError, match="no number today"):
            call()


def test_values_of_types_with_other_models_are_refused():
    @intrinsic
    def confused(context, of):
        return SquaresIterator(of)(of), lambda context, builder, signature, args: args[0]

    with pytest.raises(errors.LoweringError, match="their models differ"):
        njit(lambda s: confused(s))(Squares(1))


def test_conversions():
    s = Squares(5)

    @njit
    def numbers(s):
        return s + 1, 2.5 * s, s < 7, s == 5, s + s, 1j + s, operator.add(s, s)

    assert numbers(s) == (6, 12.5, True, True, 10, 5 + 1j, 10)

    @njit
    def meets(s, flag):
        x = 1.5
        if flag:
            x = float(x)
        return x + s

    assert meets(s, True) == 6.5
    assert njit(types.float64(squares))(lambda s: s)(s) == 5.0
    assert njit("complex128(int64)")(lambda n: n)(2) == 2


def test_printing(capfd):
    @njit
    def show(s):
        print("a", s, 3)
        print(s)

    show(Squares(1))
    assert capfd.readouterr().out == "a <squares> 3\n<squares>\n"


def test_a_box_is_replaced():
    give = njit(lambda s: s)
    assert give(Squares(4)) == 4

    @box(SquaresType)
    def box_negative(typ, value, c):
        made = make_index(c.context, c.builder, typ, value=value)
        return c.pyapi.long_from_longlong(c.builder.neg(made.count))

    try:
        assert give(Squares(4)) == -4
    finally:
        box(SquaresType)(box_squares)
    assert give(Squares(4)) == 4


def test_faulty_iterators_are_named():
    class Broken(types.Type):
        def __init__(self):
            super().__init__("Broken")
            self.iterator_type = SquaresIterator(squares)

    class Thing:
        pass

    broken = Broken()
    typeof_impl.register(Thing)(lambda value, context: broken)
    register_model(Broken)(models.OpaqueModel)
    unbox(Broken)(lambda typ, obj, c: NativeValue(obj))

    @lower_builtin("getiter", Broken)
    def broken_getiter(context, builder, sig, args):
        raise RuntimeError("no iterator today")

    with pytest.raises(errors.LoweringError, match="no iterator today"):
        njit(lambda t: list(t))(Thing())


def test_reasons_of_overloads_are_told():
    @overload(operator.getitem)
    def squares_item(of, index):
        if isinstance(of, SquaresType) and not isinstance(index, types.Integer):
            raise errors.TypingError("only numbers are indices of squares")

    with pytest.raises(errors.TypingError, match="only numbers are indices of squares"):
        njit(lambda s: s[1:])(Squares(3))


# Methods of classes of types.


class Tables(types.Type):
    pass


class BiggerTables(Tables):
    pass


@overload_classmethod(Tables, "made")
def tables_made(cls, count, by=2):
    assert isinstance(cls, types.TypeRef)
    if isinstance(count, types.Integer):
        return lambda cls, count, by=2: np.arange(count) * by


def test_methods_of_classes():
    made = njit(lambda n: (Tables.made(n), Tables.made(n, by=5), BiggerTables.made(n, 3)))
    for got, want in zip(made(3), ([0, 2, 4], [0, 5, 10], [0, 3, 6]), strict=True):
        assert got.tolist() == want
    with pytest.raises(errors.TypingError):
        njit(lambda: Tables.made("a"))()
    with pytest.raises(errors.TypingError):
        njit(lambda n: types.Type.made(n))(3)
    with pytest.raises(AttributeError):
        _ = Tables.made


CACHED = """
import sys
import numpy as np
from lancehead import njit, types
from lancehead.extending import overload_classmethod

BY = int(sys.argv[1])

class Tables(types.Type): pass
class Others(types.Type): pass

@overload_classmethod(Tables, "made")
def tables_made(cls, n):
    if BY == 2:
        return lambda cls, n: n * 2
    return lambda cls, n: n * 3

@overload_classmethod(Others, "made")
def others_made(cls, n):
    return lambda cls, n: n * 100

@njit(cache=True)
def f(n):
    return Tables.made(n) + Others.made(n)

print(f(4), sum(f.stats.cache_hits.values()))
"""


def test_cached_methods_of_classes_are_never_stale(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(CACHED)
    env = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run([sys.executable, script, by], env=env, capture_output=True, text=True, check=True).stdout
        for by in ("2", "2", "3", "3", "2")
    ]
    assert said == ["408 0\n", "408 1\n", "412 0\n", "412 1\n", "408 1\n"]


# Attributes of any name.


class Row:
    def __init__(self, number):
        self.number = number


class RowType(types.Type):
    def __init__(self):
        super().__init__("Row")


row = RowType()
typeof_impl.register(Row)(lambda value, context: row)
register_model(RowType)(models.OpaqueModel)
unbox(RowType)(lambda typ, obj, c: NativeValue(obj))


@infer_getattr
class RowAttributes(AttributeTemplate):
    key = RowType

    def generic_resolve(self, of, name):
        return types.int64 if name.startswith("column_") else None


@lower_getattr_generic(RowType)
def row_attribute(context, builder, typ, value, name):
    return context.get_constant(types.int64, int(name.removeprefix("column_")))


def test_attributes_of_any_name():
    assert njit(lambda r: r.column_3 + r.column_40)(Row(1)) == 43
    with pytest.raises(errors.TypingError, match="other"):
        njit(lambda r: r.other)(Row(1))


# A class that holds an array.


class Index:
    def __init__(self, data):
        self.data = data


class IndexType(types.Buffer):
    array_priority = 1000

    def __init__(self, dtype, layout):
        super().__init__(dtype, 1, layout)

    @property
    def key(self):
        return self.dtype, self.layout

    @property
    def as_array(self):
        return types.Array(self.dtype, 1, self.layout)

    def copy(self, dtype=None, ndim=1, layout=None):
        assert ndim == 1
        return type(self)(self.dtype if dtype is None else dtype, layout or self.layout)


@typeof_impl.register(Index)
def typeof_index(value, context):
    array = typeof_impl(value.data, context)
    return IndexType(array.dtype, array.layout)


@register_model(IndexType)
class IndexModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [("data", fe_type.as_array)])


make_attribute_wrapper(IndexType, "data", "data")


@lower_builtin("__array__", IndexType)
def index_array(context, builder, sig, args):
    return make_index(context, builder, sig.args[0], ref=args[0])._get_ptr_by_name("data")


@type_callable("__array_wrap__")
def type_array_wrap(context):
    def typer(given, result):
        if isinstance(given, IndexType):
            return given.copy(dtype=result.dtype, ndim=result.ndim, layout=result.layout)

    return typer


@lower_builtin("__array_wrap__", IndexType, types.Array)
def index_wrap(context, builder, sig, args):
    made = make_index(context, builder, sig.return_type)
    made.data = args[1]
    return made._getvalue()


@unbox(IndexType)
def unbox_index(typ, obj, c):
    data = c.pyapi.object_getattr_string(obj, "data")
    made = make_index(c.context, c.builder, typ)
    made.data = c.unbox(typ.as_array, data).value
    c.pyapi.decref(data)
    return NativeValue(made._getvalue())


@box(IndexType)
def box_index(typ, value, c):
    made = make_index(c.context, c.builder, typ, value=value)
    cls = c.pyapi.unserialize(c.pyapi.serialize_object(Index))
    data = c.box(typ.as_array, made.data)
    out = c.pyapi.call_function_objargs(cls, (data,))
    c.pyapi.decref(data)
    c.pyapi.decref(cls)
    return out


ARRAY_OPERATIONS = {
    "len": len,
    "item": lambda a: a[1] + a[-1],
    "slice": lambda a: a[1:],
    "strided": lambda a: a[::-2],
    "loop": lambda a: sum([x for x in a]),
    "ufunc": lambda a: np.sin(a),
    "binary ufunc": lambda a: np.add(a, 2.5),
    "operators": lambda a: (a * 2 - a, -a, 1 / a, a > 1),
    "two": lambda a: a + a,
}


def plain(value):
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return value.data.tolist() if isinstance(value, Index) else value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize("place", ["strided", "backward", "whole", "empty"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "c16"])
@pytest.mark.parametrize("name", ARRAY_OPERATIONS)
def test_arrays_inside(name, dtype, place):
    if place == "empty" and name == "item" or dtype == "c16" and name == "operators":
        return
    data = np.arange(1, 7).astype(dtype)
    data = {"strided": data[::2], "backward": data[::-1], "whole": data, "empty": data[:0]}[place]
    operation = njit(lambda a: len(a)) if name == "len" else njit(ARRAY_OPERATIONS[name])
    before = _core.live_allocations()
    got, want = operation(Index(data)), ARRAY_OPERATIONS[name](data)
    np.testing.assert_allclose(np.concatenate([np.ravel(p) for p in np.atleast_1d(plain(got)).tolist()], axis=None)
                               if isinstance(want, tuple) else plain(got), plain(want)
                               if not isinstance(want, tuple) else np.ravel(plain(want)), rtol=1e-6)  # fmt: skip
    assert isinstance(got, Index) == isinstance(want, np.ndarray)
    del got
    assert _core.live_allocations() == before


def test_read_only_arrays_inside_are_what_the_type_says():
    data = np.arange(3.0)
    data.flags.writeable = False
    assert njit(lambda a: a[1])(Index(data)) == 1.0


def test_assignments_to_arrays_inside():
    @njit
    def assign(a):
        a[1] = 9
        a[2:] = 4

    index = Index(np.arange(4.0))
    assign(index)
    assert index.data.tolist() == [0, 9, 4, 4]
    with pytest.raises(IndexError):
        njit(lambda a: a[4])(index)


# Types of several kinds in one value, functions of `ctypes` by their addresses, parts of slices.


class Pair:
    def __init__(self, parts):
        self.parts = parts


class PairType(types.Type):
    def __init__(self, parts):
        super().__init__(f"Pair({parts})")
        self.parts = parts


typeof_impl.register(Pair)(
    lambda value, context: PairType(types.Tuple(tuple(typeof_impl(v, context) for v in value.parts)))
)


@register_model(PairType)
class PairModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [("parts", fe_type.parts)])


make_attribute_wrapper(PairType, "parts", "parts")
# An attribute that was registered before a method of the same name stays an attribute.
overload_method(PairType, "parts")(lambda self: lambda self: 0)
overload_method(PairType, "first")(lambda self: lambda self: self.parts[0])


@unbox(PairType)
def unbox_pair(typ, obj, c):
    made = make_index(c.context, c.builder, typ)
    parts = c.pyapi.object_getattr_string(obj, "parts")
    native = c.pyapi.to_native_value(typ.parts, parts)
    made.parts = native.value
    c.pyapi.decref(parts)
    return NativeValue(made._getvalue(), is_error=native.is_error)


@box(PairType)
def box_pair(typ, value, c):
    made = make_index(c.context, c.builder, typ, value=value)
    return c.pyapi.from_native_value(typ.parts, made.parts)


def test_values_with_values_of_other_types():
    before = _core.live_allocations()
    pair = Pair((Squares(3), Index(np.arange(3.0)), "text"))
    got = njit(lambda p: (p.parts[0] + 1, p.parts[1], p.parts[2]))(pair)
    assert (got[0], got[1].data.tolist(), got[2]) == (4, [0, 1, 2], "text")
    assert njit(lambda p: p.first())(pair) == 3
    count, index, text = njit(lambda p: p)(pair)
    assert (count, index.data.tolist(), text) == (3, [0, 1, 2], "text")
    del got, index
    assert _core.live_allocations() == before


def test_objects_without_the_attribute_do_not_crash():
    class Half(Pair):
        @property
        def parts(self):
            if self.asked:
                raise AttributeError("gone")
            self.asked = True
            return (Squares(1), Squares(2))

        def __init__(self):
            self.asked = False

    with pytest.raises(AttributeError, match="gone"):
        njit(lambda p: p)(Half())


def test_calls_by_address():
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    libm.ldexp.argtypes, libm.ldexp.restype = [ctypes.c_double, ctypes.c_int], ctypes.c_double
    of = ctypes_utils.make_function_type(libm.ldexp)
    assert of.sig == types.float64(types.float64, types.int32)
    with pytest.raises(TypeError, match="argtypes"):
        ctypes_utils.make_function_type(libm.cos)

    @intrinsic
    def scaled(context, x, n):
        def generate(context, builder, sig, args):
            address = context.add_dynamic_addr(builder, of.get_pointer(libm.ldexp), info="ldexp")
            pointer = builder.bitcast(address, context.get_function_pointer_type(of))
            exponent = context.cast(builder, args[1], types.int64, types.int32)
            return context.call_function_pointer(builder, pointer, [args[0], exponent])

        return types.float64(types.float64, types.int64), generate

    assert njit(lambda x, n: scaled(x, n))(1.5, 3) == 12.0


def test_parts_of_slices():
    @intrinsic
    def parts(context, of):
        def generate(context, builder, sig, args):
            made = context.make_helper(builder, of, args[0])
            return context.make_tuple(builder, sig.return_type, [made.start, made.stop, made.step])

        return types.UniTuple(types.int64, 3)(of), generate

    last = 2**63 - 1

    @njit
    def all_parts(n):
        return parts(slice(1, n)), parts(slice(None, None)), parts(slice(None, None, n - 10)), parts(slice(n, None, 2))

    assert all_parts(5) == ((1, 5, 1), (0, last, 1), (last, -last - 1, -5), (5, last, 2))
    assert types.slice2_type.has_step is False and types.slice3_type.has_step is True


def test_bytes_of_parts():
    @intrinsic
    def repeated(context, byte, count):
        def generate(context, builder, sig, args):
            made = context.make_helper(builder, sig.return_type)
            made.meminfo = context.nrt.meminfo_alloc(builder, args[1])
            made.nitems = args[1]
            made.itemsize = context.get_constant(types.intp, 1)
            made.data = context.nrt.meminfo_data(builder, made.meminfo)
            cgutils.memset(builder, made.data, args[1], args[0])
            return made._getvalue()

        return types.Bytes(types.uint8, 1, "C", readonly=True)(types.uint8, types.int64), generate

    before = _core.live_allocations()
    assert njit(lambda n: repeated(np.uint8(97), n))(4) == b"aaaa"
    assert njit(lambda n: repeated(np.uint8(97), n))(0) == b""
    assert _core.live_allocations() == before


def test_literals_of_other_objects():
    assert types.StringLiteral("a") == types.Literal("a")
    assert types.StringLiteral(None).literal_value is None
    assert types.StringLiteral({"a": 1}) == types.StringLiteral({"a": 1}) != types.StringLiteral({"a": 2})


def test_values_of_programs_as_star_arguments():
    @njit
    def counted(first, *rest):
        return first + len(rest)

    before = _core.live_allocations()
    for _ in range(3):
        assert counted(1, Index(np.arange(2.0)), Index(np.arange(3.0))) == 3
        assert counted(Squares(2), Squares(3)) == 3
    assert _core.live_allocations() == before


# Intrinsics in other processes.


def test_intrinsics_are_pickled():
    @intrinsic
    def same(context, x):
        return x(x), lambda context, builder, signature, args: args[0]

    call = njit(lambda x: same(x))
    assert call(3) == 3
    assert pickle.loads(pickle.dumps(call))(4) == 4
    assert pickle.loads(pickle.dumps(same)) is same
