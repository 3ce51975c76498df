"""Numba's low-level extension API: code generators that are recorded, and types of programs."""

import ctypes
import gc
import operator
import pathlib
import re
import sys
import threading

import numpy as np
import pytest

from lancehead import _core, errors, njit, types, vectorize
from lancehead.extending import (
    NativeValue,
    box,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from lancehead.lowlevel import cgutils
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.arrayobj import _empty_nd_impl, make_array
from lancehead.lowlevel.registry import AttributeTemplate, impl_ret_borrowed, infer_global, lower_constant

DOCS = pathlib.Path(__file__).parents[3] / "docs"
I64, F64 = ir.IntType(64), ir.DoubleType()
A = np.array([1.5, 2.5, 3.5])


def made(signature, generate):
    """An intrinsic of one signature."""

    def typing(typingctx, *args):
        return signature, generate

    parameters = ", ".join(f"a{i}" for i in range(len(signature.args)))
    typed = eval(f"lambda typingctx, {parameters}: typing(typingctx, {parameters})", {"typing": typing})
    return intrinsic(typed)


# Generators of numbers: name, signature, generator, arguments, result.


def clamp(context, builder, sig, args):
    x, low, high = args
    out = cgutils.alloca_once_value(builder, x)
    with builder.if_else(builder.icmp_signed("<", x, low)) as (then, otherwise):
        with then:
            builder.store(low, out)
        with otherwise, builder.if_then(builder.icmp_signed(">", x, high)):
            builder.store(high, out)
    return builder.load(out)


def squares(context, builder, sig, args):
    total = cgutils.alloca_once_value(builder, context.get_constant(types.float64, 0.0))
    with cgutils.for_range(builder, args[0]) as loop:
        x = builder.sitofp(loop.index, F64)
        builder.store(builder.fadd(builder.load(total), builder.fmul(x, x)), total)
    return builder.load(total)


def steps(context, builder, sig, args):
    """The length of a Collatz sequence, by blocks."""
    number = cgutils.alloca_once_value(builder, args[0])
    count = cgutils.alloca_once_value(builder, context.get_constant(types.int64, 0))
    one = ir.Constant(I64, 1)
    head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    builder.cbranch(builder.icmp_signed(">", builder.load(number), one), body, end)
    builder.position_at_end(body)
    x = builder.load(number)
    is_odd = builder.icmp_signed("==", builder.and_(x, one), one)
    odd = builder.add(builder.mul(x, ir.Constant(I64, 3)), one)
    builder.store(builder.select(is_odd, odd, builder.ashr(x, one)), number)
    builder.store(builder.add(builder.load(count), one), count)
    builder.branch(head)
    builder.position_at_end(end)
    return builder.load(count)


def chosen(context, builder, sig, args):
    """A switch whose blocks meet in a phi."""
    end = builder.append_basic_block("end")
    default = builder.append_basic_block("default")
    cases = [builder.append_basic_block(f"case{i}") for i in range(3)]
    switch = builder.switch(args[0], default)
    for i, case in enumerate(cases):
        switch.add_case(ir.Constant(I64, i), case)
    incoming = []
    for i, block in enumerate([*cases, default]):
        builder.position_at_end(block)
        value = builder.mul(args[0], ir.Constant(I64, 10 + i))
        builder.branch(end)
        incoming.append((value, block))
    builder.position_at_end(end)
    phi = builder.phi(I64)
    for value, block in incoming:
        phi.add_incoming(value, block)
    return phi


def row(name, cast=None):
    def generate(context, builder, sig, args):
        return getattr(builder, name)(*args)

    return generate


def compared(method, op):
    return lambda context, builder, sig, args: getattr(builder, method)(op, *args)


i64, u64, f64, i8, u8, i32, f32, boolean = (
    types.int64, types.uint64, types.float64, types.int8, types.uint8, types.int32, types.float32, types.boolean,
)  # fmt: skip
TOP = 2**64 - 1
NUMBERS = [
    ("clamp", i64(i64, i64, i64), clamp, (50, 0, 10), 10),
    ("clamp", i64(i64, i64, i64), clamp, (-5, 0, 10), 0),
    ("clamp", i64(i64, i64, i64), clamp, (5, 0, 10), 5),
    ("squares", f64(i64), squares, (10,), 285.0),
    ("squares of none", f64(i64), squares, (0,), 0.0),
    ("blocks", i64(i64), steps, (27,), 111),
    ("switch", i64(i64), chosen, (2,), 24),
    ("switch", i64(i64), chosen, (7,), 91),
    ("add", i64(i64, i64), row("add"), (2**62, 2**62), -(2**63)),
    ("udiv", u64(u64, u64), row("udiv"), (np.uint64(TOP), np.uint64(2)), TOP // 2),
    ("sdiv", i64(i64, i64), row("sdiv"), (-7, 2), -3),
    ("srem", i64(i64, i64), row("srem"), (-7, 2), -1),
    ("lshr", i64(i64, i64), row("lshr"), (-1, 60), 15),
    ("ashr", i64(i64, i64), row("ashr"), (-16, 2), -4),
    ("shl", i64(i64, i64), row("shl"), (3, 4), 48),
    ("xor", i64(i64, i64), row("xor"), (12, 10), 6),
    ("not", i64(i64), row("not_"), (5,), -6),
    ("not", boolean(boolean), row("not_"), (True,), False),
    ("and", boolean(boolean, boolean), row("and_"), (True, False), False),
    ("fdiv", f64(f64, f64), row("fdiv"), (1.0, 4.0), 0.25),
    ("frem", f64(f64, f64), row("frem"), (-7.5, 2.0), -1.5),
    ("fneg", f64(f64), row("fneg"), (1.5,), -1.5),
    ("ctpop", u64(u64), row("ctpop"), (np.uint64(TOP),), 64),
    ("cttz", i64(i64), row("cttz"), (8,), 3),
    ("ult", boolean(u64, u64), compared("icmp_unsigned", "<"), (np.uint64(1), np.uint64(TOP)), True),
    ("slt", boolean(i64, i64), compared("icmp_signed", "<"), (1, -1), False),
    ("ordered", boolean(f64, f64), compared("fcmp_ordered", "!="), (1.0, float("nan")), False),
    ("unordered", boolean(f64, f64), compared("fcmp_unordered", "<"), (1.0, float("nan")), True),
    ("uno", boolean(f64, f64), compared("fcmp_unordered", "uno"), (1.0, float("nan")), True),
    ("zext", i64(u8), lambda c, b, s, a: b.zext(a[0], I64), (np.uint8(200),), 200),
    ("sext", i64(i8), lambda c, b, s, a: b.sext(a[0], I64), (np.int8(-3),), -3),
    ("trunc", i8(i64), lambda c, b, s, a: b.trunc(a[0], ir.IntType(8)), (300,), 44),
    ("uitofp", f64(u64), lambda c, b, s, a: b.uitofp(a[0], F64), (np.uint64(2**63),), 2.0**63),
    ("fptosi", i32(f64), lambda c, b, s, a: b.fptosi(a[0], ir.IntType(32)), (-2.75,), -2),
    ("fptrunc", f32(f64), lambda c, b, s, a: b.fptrunc(a[0], ir.FloatType()), (0.1,), float(np.float32(0.1))),
    ("bits", i64(f64), lambda c, b, s, a: b.bitcast(a[0], I64), (1.5,), 4609434218613702656),
    ("overflow", boolean(i64, i64), lambda c, b, s, a: b.extract_value(b.sadd_with_overflow(*a), 1), (2**62, 2**62), 1),
    ("internal", f64(f64, f64), lambda c, b, s, a: c.compile_internal(b, np.hypot, s, a), (3.0, 4.0), 5.0),
    ("constant", f64(), lambda c, b, s, a: c.get_constant_generic(b, types.float64, 2.5), (), 2.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "signature", "generate", "args", "want"), NUMBERS, ids=lambda x: str(x)[:12])
def test_numbers(name, signature, generate, args, want):
    function = made(signature, generate)
    scope = {"function": function}
    names = ", ".join(f"a{i}" for i in range(len(args)))
    assert njit(eval(f"lambda {names}: function({names})", scope))(*args) == want


def test_a_generator_is_inlined_into_ufuncs():
    function = made(i64(i64, i64, i64), clamp)
    clipped = vectorize(["int64(int64)"])(lambda x: function(x, 2, 5))
    assert clipped(np.arange(8)).tolist() == [2, 2, 2, 3, 4, 5, 5, 5]


# Memory and aggregates.


@intrinsic
def address_of(typingctx, array):
    def generate(context, builder, sig, args):
        parts = context.make_array(sig.args[0])(context, builder, args[0])
        return builder.ptrtoint(parts.data, I64)

    return types.uintp(array), generate


@intrinsic
def load_at(typingctx, address, dtype):
    def generate(context, builder, sig, args):
        pointer = builder.inttoptr(args[0], context.get_data_type(sig.return_type).as_pointer())
        return builder.load(pointer)

    return dtype.dtype(address, dtype), generate


@intrinsic
def set_item_of_tuple(typingctx, items, index, value):
    def generate(context, builder, sig, args):
        stack = cgutils.alloca_once_value(builder, args[0])
        at = cgutils.gep_inbounds(builder, stack, ir.Constant(I64, 0), args[1])
        builder.store(args[2], at)
        return builder.load(stack)

    return items(items, types.intp, items.dtype), generate


@intrinsic
def swapped(typingctx, pair):
    def generate(context, builder, sig, args):
        a, b = cgutils.unpack_tuple(builder, args[0], 2)
        result = context.make_tuple(builder, sig.return_type, (b, a))
        return impl_ret_borrowed(context, builder, sig.return_type, result)

    return types.Tuple((pair[1], pair[0]))(pair), generate


@intrinsic
def conjugate(typingctx, z):
    def generate(context, builder, sig, args):
        parts = context.make_complex(builder, sig.args[0], args[0])
        parts.imag = builder.fneg(parts.imag)
        return parts._getvalue()

    return z(z), generate


@intrinsic
def zeros_of(typingctx, n):
    def generate(context, builder, sig, args):
        made = _empty_nd_impl(context, builder, sig.return_type, [args[0]])
        with cgutils.for_range(builder, args[0]) as loop:
            builder.store(ir.Constant(F64, 0.5), builder.gep(made.data, [loop.index]))
        return made._getvalue()

    return types.float64[::1](types.intp), generate


@intrinsic
def without_first(typingctx, array):
    def generate(context, builder, sig, args):
        whole = make_array(sig.args[0])(context, builder, args[0])
        part = make_array(sig.return_type)(context, builder, args[0])
        n = builder.extract_value(whole.shape, 0)
        part.shape = cgutils.pack_array(builder, [builder.sub(n, ir.Constant(I64, 1))])
        part.data = builder.gep(whole.data, [ir.Constant(I64, 1)])
        return impl_ret_borrowed(context, builder, sig.return_type, part._getvalue())

    return array(array), generate


def test_memory_and_aggregates():
    assert njit(lambda a: address_of(a) == a.ctypes.data)(A)
    assert njit(lambda a: load_at(address_of(a) + 8, types.float64))(A) == 2.5
    assert njit(lambda t, i: set_item_of_tuple(t, i, 99))((1, 2, 3), 1) == (1, 99, 3)
    assert njit(lambda a, b: swapped((a, b)))(1, 2.5) == (2.5, 1)
    swap = njit(lambda a, b: swapped((a, b)))(1, A)
    assert swap[0].tolist() == A.tolist()
    assert njit(lambda z: conjugate(z))(1 + 2j) == 1 - 2j
    assert njit(lambda n: zeros_of(n))(3).tolist() == [0.5] * 3
    assert njit(lambda a: without_first(a))(A).tolist() == [2.5, 3.5]


def test_functions_of_c():
    length = ir.FunctionType(I64, [cgutils.voidptr_t])

    def generate(context, builder, sig, args):
        function = cgutils.get_or_insert_function(builder.module, length, "strlen")
        return builder.call(function, [builder.inttoptr(args[0], cgutils.voidptr_t)])

    strlen = made(i64(types.uintp), generate)
    text = ctypes.create_string_buffer(b"hello world")
    assert njit(lambda p: strlen(p))(ctypes.addressof(text)) == 11
    callback = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 1)
    address = ctypes.cast(callback, ctypes.c_void_p).value

    def through(context, builder, sig, args):
        pointer = ir.FunctionType(F64, [F64]).as_pointer()
        found = builder.bitcast(context.add_dynamic_addr(builder, address, "callback"), pointer)
        return builder.call(found, args)

    plus = made(f64(f64), through)
    assert njit(lambda x: plus(x))(1.5) == 2.5


def test_atomic_counts():
    @intrinsic
    def add(typingctx, array, value):
        def generate(context, builder, sig, args):
            parts = make_array(sig.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", parts.data, args[1], "monotonic")

        return array.dtype(array, array.dtype), generate

    @njit(nogil=True)
    def count(a, n):
        for _ in range(n):
            add(a, np.int64(1))

    total = np.zeros(1, np.int64)
    count(total, 0)
    threads = [threading.Thread(target=count, args=(total, 100_000)) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert total[0] == 400_000


# Types of a program.


class Holder:
    def __init__(self, a, n):
        self.a, self.n = a, n

    def __eq__(self, other):
        return self.n == other.n and np.array_equal(self.a, other.a)

    def __str__(self):
        return f"holder of {self.n}"


class HolderType(types.Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Holder[{dtype}]")


typeof_impl.register(Holder)(lambda value, context: HolderType(typeof_impl(value.a, context)))


@register_model(HolderType)
class HolderModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [("a", fe_type.dtype), ("n", types.int64)])


make_attribute_wrapper(HolderType, "a", "a")
make_attribute_wrapper(HolderType, "n", "n")


@unbox(HolderType)
def unbox_holder(typ, obj, c):
    made = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    failed = cgutils.false_bit
    for name, of in (("a", typ.dtype), ("n", types.int64)):
        part = c.pyapi.object_getattr_string(obj, name)
        native = c.unbox(of, part)
        setattr(made, name, native.value)
        c.pyapi.decref(part)
        failed = c.builder.or_(failed, native.is_error)
    return NativeValue(made._getvalue(), is_error=failed)


@box(HolderType)
def box_holder(typ, value, c):
    parts = cgutils.create_struct_proxy(typ)(c.context, c.builder, value=value)
    a, n = c.box(typ.dtype, parts.a), c.box(types.int64, parts.n)
    cls = c.pyapi.unserialize(c.pyapi.serialize_object(Holder))
    result = c.pyapi.call_function_objargs(cls, (a, n))
    for part in (a, n, cls):
        c.pyapi.decref(part)
    return result


type_callable(Holder)(lambda context: lambda a, n: HolderType(a))


@lower_builtin(Holder, types.Array, types.Integer)
def make_holder(context, builder, sig, args):
    made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    made.a = args[0]
    made.n = context.cast(builder, args[1], sig.args[1], types.int64)
    context.nrt.incref(builder, sig.args[0], args[0])
    return made._getvalue()


overload_method(HolderType, "total")(lambda self, k=1: lambda self, k=1: self.a.sum() * self.n * k)
overload_attribute(HolderType, "twice")(lambda self: lambda self: 2 * self.n)


@overload(operator.add)
def add_holders(a, b):
    if isinstance(a, HolderType) and isinstance(b, HolderType):
        return lambda a, b: Holder(a.a + b.a, a.n + b.n)


@overload(len)
def length_of_holder(h):
    if isinstance(h, HolderType):
        return lambda h: len(h.a)


@overload(operator.getitem)
def item_of_holder(h, i):
    if isinstance(h, HolderType):
        return lambda h, i: h.a[i]


@overload(operator.contains)
def holder_has(h, x):
    if isinstance(h, HolderType):
        return lambda h, x: x == h.n


@lower_constant(HolderType)
def constant_holder(context, builder, ty, value):
    made = cgutils.create_struct_proxy(ty)(context, builder)
    made.a = context.get_constant_generic(builder, ty.dtype, value.a)
    made.n = context.get_constant_generic(builder, types.int64, value.n)
    return made._getvalue()


H = Holder(np.arange(3.0), 2)
USES = [
    (lambda h: h.n, 2),
    (lambda h: h.twice, 4),
    (lambda h: (h.total(), h.total(k=3)), (6.0, 18.0)),
    (lambda h: h, H),
    (lambda h: (h, 1)[0], H),
    (lambda h: Holder(h.a * 2, 7), Holder(np.array([0.0, 2.0, 4.0]), 7)),
    (lambda h: h + h, Holder(np.array([0.0, 2.0, 4.0]), 4)),
    (len, 3),
    (lambda h: h[1], 1.0),
    (lambda h: 2 in h, True),
    (lambda h: [h, h][1].n, 2),
    (lambda h: {1: h}[1].a[2], 2.0),
    (lambda h: [h], [H]),
    (lambda h: h.n + H.n, 4),
    (lambda h: str(h), "holder of 2"),
]


@pytest.mark.parametrize("at", range(len(USES)))
def test_values_of_own_types(at):
    use, want = USES[at]
    compiled = njit((lambda h: len(h)) if use is len else use)
    assert compiled(H) == want
    gc.collect()
    before = _core.live_allocations()
    for _ in range(10):
        compiled(H)
    gc.collect()
    assert _core.live_allocations() == before


def test_own_types_inside_of_containers():
    assert njit(lambda t: t[0].n + t[1])((H, 3)) == 5
    assert njit(lambda xs: xs[1].n)([H, Holder(np.arange(2.0), 9)]) == 9
    assert njit(lambda x: x is None)(None) and not njit(lambda x: x is None)(H)


def test_printing(capfd):
    njit(lambda h: print(h, 1))(H)
    assert capfd.readouterr().out == "holder of 2 1\n"


def test_equal_types_are_one_object():
    first, second = HolderType(types.float64[::1]), HolderType(types.float64[::1])
    assert first is second and first != HolderType(types.float64[:])
    assert str(types.Tuple((first, types.int64))) == "Tuple(Holder[array(float64, 1d, C)], int64)"


def test_attributes_by_templates():
    class Attributes(AttributeTemplate):
        key = HolderType

        def resolve_thrice(self, of):
            return types.int64

    infer_getattr(Attributes)

    @lower_getattr(HolderType, "thrice")
    def thrice(context, builder, ty, value):
        parts = cgutils.create_struct_proxy(ty)(context, builder, value=value)
        return builder.mul(parts.n, ir.Constant(I64, 3))

    assert njit(lambda h: h.thrice)(H) == 6


def test_functions_by_templates():
    from lancehead.lowlevel.context import signature
    from lancehead.lowlevel.registry import AbstractTemplate, ConcreteTemplate

    def first(x): ...

    def second(x): ...

    @infer_global(first)
    class First(ConcreteTemplate):
        cases = [signature(types.float64, types.float64), signature(types.int64, types.int64)]

    @infer_global(second)
    class Second(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.intp, *args) if isinstance(args[0], types.Array) else None

    lower_builtin(first, types.int64)(lambda c, b, s, a: b.add(a[0], ir.Constant(I64, 1)))
    lower_builtin(first, types.float64)(lambda c, b, s, a: b.fadd(a[0], ir.Constant(F64, 0.5)))
    lower_builtin(second, types.Array)(lambda c, b, s, a: make_array(s.args[0])(c, b, a[0]).nitems)
    assert njit(lambda: (first(1), first(1.0)))() == (2, 1.5)
    assert njit(lambda a: second(a))(A) == 3
    with pytest.raises(errors.TypingError, match="no overload of `second` is for"):
        njit(lambda: second(1))()


def test_the_page_about_extensions():
    text = (DOCS / "extensions.md").read_text()
    block = re.search(r"```py\n(.*?)```", text, re.DOTALL).group(1)
    *lines, last = block.strip().splitlines()
    scope = {}
    exec("\n".join(lines), scope)
    assert eval(last.split("#")[0], scope) == 2.5
    back = eval("njit(lambda i: i)(Interval(1.0, 3.5))", scope)
    assert (back.low, back.high) == (1.0, 3.5)


# Bad input.


FAULTS = [
    (lambda c, b, s, a: b.no_such_method(a[0]), "AttributeError: 'IRBuilder' object has no attribute 'no_such_method'"),
    (lambda c, b, s, a: 1 / 0, "ZeroDivisionError"),
    (lambda c, b, s, a: None, "no value is returned for int64"),
    (lambda c, b, s, a: "text", "a value was expected, not 'text'"),
    (lambda c, b, s, a: cgutils.create_struct_proxy(types.unicode_type)(c, b), "NotImplementedError"),
    (lambda c, b, s, a: b.call(ir.Function(b.module, ir.FunctionType(I64, []), "no_such_c"), []), "no loaded library"),
]


@pytest.mark.parametrize("at", range(len(FAULTS)))
def test_faulty_generators_are_named(at):
    generate, text = FAULTS[at]
    faulty = made(i64(i64), generate)
    with pytest.raises(errors.LoweringError, match="extension-failed") as raised:
        njit(lambda x: faulty(x))(1)
    assert text in str(raised.value)
    if "no value" not in text:
        assert re.search(r"test_lowlevel\.py:\d+", str(raised.value))


def test_values_of_the_wrong_type_are_refused():
    faulty = made(i64(i64), lambda c, b, s, a: c.make_tuple(b, types.UniTuple(types.int64, 2), (a[0], a[0])))
    with pytest.raises(errors.TypingError, match="cannot become"):
        njit(lambda x: faulty(x))(1)


def test_what_cannot_be_unboxed_raises():
    use = njit(lambda h: h.n)
    with pytest.raises(ValueError, match="invalid literal"):
        use(Holder(np.arange(3.0), "x"))
    broken = Holder(np.arange(3.0), 1)
    del broken.n
    with pytest.raises((AttributeError, SystemError, TypeError)):
        use(broken)
    assert use(H) == 2


class Fixed(Holder):
    """One whose type says that its array is written."""


typeof_impl.register(Fixed)(lambda value, context: HolderType(types.float64[::1]))


def test_fields_of_writable_types_take_read_only_arrays():
    # As with Numba, the type decides, not the array.
    def first(h):
        h.a[0] += 5.0

    a = np.arange(3.0)
    a.flags.writeable = False
    assert njit(lambda h: h.a.sum())(Fixed(a, 1)) == 3.0
    before = sys.getrefcount(a)
    njit(first)(Fixed(a, 1))
    assert a[0] == 5.0 and sys.getrefcount(a) == before
    with pytest.raises(TypeError, match="can't unbox array"):
        njit(first)(Fixed(np.arange(3), 1))


def test_generators_raise():
    def generate(context, builder, sig, args):
        with builder.if_then(builder.icmp_signed("<", args[0], ir.Constant(I64, 0))):
            context.call_conv.return_user_exc(builder, ValueError, ("negative",))
        return args[0]

    checked = made(i64(i64), generate)
    use = njit(lambda x: checked(x))
    assert use(5) == 5
    with pytest.raises(ValueError, match="^negative$"):
        use(-5)


def test_types_without_a_model_or_a_box():
    class Bare:
        pass

    class BareType(types.Type):
        pass

    typeof_impl.register(Bare)(lambda value, context: BareType("Bare"))
    with pytest.raises(errors.TypingError, match="no data model is registered for Bare"):
        njit(lambda x: 1)(Bare())
    register_model(BareType)(models.OpaqueModel)
    with pytest.raises(errors.TypingError, match="cannot unbox Bare"):
        njit(lambda x: 1)(Bare())
    unbox(BareType)(lambda typ, obj, c: NativeValue(obj))
    assert njit(lambda x: 1)(Bare()) == 1
    with pytest.raises(errors.TypingError, match="cannot box Bare"):
        njit(lambda x: x)(Bare())


def test_registered_again_and_after_the_caller():
    def late(x): ...

    use = njit(lambda x: late(x))
    assert use(1) is None
    type_callable(late)(lambda context: lambda x: types.int64)
    lower_builtin(late, types.int64)(lambda c, b, s, a: b.add(a[0], ir.Constant(I64, 1)))
    assert njit(lambda x: late(x))(1) == 2
    assert use(1) in (None, 2)
    lower_builtin(late, types.int64)(lambda c, b, s, a: b.add(a[0], ir.Constant(I64, 2)))
    assert njit(lambda x: late(x) + 0)(1) == 3


def test_many_overloads_from_many_threads():
    functions = [eval("lambda x: None") for _ in range(200)]
    right = []

    def work(which):
        for at, function in enumerate(functions[which::8]):
            number = at * 8 + which
            overload(function)(eval(f"lambda x: lambda x: x + {number}"))
            call = njit(eval("lambda x: function(x)", {"function": function}))
            if call(1) == 1 + number:
                right.append(number)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(right) == list(range(200))


def test_an_intrinsic_is_not_called_from_python():
    with pytest.raises(NotImplementedError, match="cannot be called from pure Python"):
        address_of(A)


def test_intrinsics_in_kernels():
    from lancehead import cuda

    square = made(f64(f64), lambda c, b, s, a: b.fmul(a[0], a[0]))

    @cuda.jit
    def squared(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = square(a[i])

    a = np.arange(5.0)
    squared[1, 8](a)
    assert a.tolist() == [0.0, 1.0, 4.0, 9.0, 16.0]


def test_functions_of_c_that_own_memory():
    from lancehead.foreign_types import MemInfoPointer
    from lancehead.lowlevel import builder
    from lancehead.lowlevel.external import ExternalFunction, NRT_get_api

    freed = []
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: freed.append(data))
    block = ctypes.create_string_buffer(b"held")
    manage = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    def give(api):
        # The third function of the table makes an owner of memory.
        third = ctypes.cast(api, ctypes.POINTER(ctypes.c_void_p))[2]
        return manage(third)(ctypes.addressof(block), ctypes.cast(release, ctypes.c_void_p))

    callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(give)
    builder.SYMBOLS["lowlevel_give"] = ctypes.cast(callback, ctypes.c_void_p).value
    owner = MemInfoPointer(types.voidptr)
    function = ExternalFunction("lowlevel_give", owner(types.voidptr))

    @intrinsic
    def data_of(typingctx, held):
        return types.voidptr(held), lambda c, b, s, a: c.nrt.meminfo_data(b, a[0])

    assert njit(lambda: data_of(function(NRT_get_api())))() == ctypes.addressof(block)
    assert freed == [ctypes.addressof(block)]


def test_conversions_that_generators_ask_for():
    from lancehead.extending import lower_cast

    lower_cast(HolderType, types.Integer)(lambda c, b, of, to, v: cgutils.create_struct_proxy(of)(c, b, value=v).n)

    @intrinsic
    def number_of(typingctx, h):
        return types.int64(h), lambda c, b, s, a: c.cast(b, a[0], s.args[0], types.int64)

    assert njit(lambda h: number_of(h))(H) == 2


def test_atomic_loads_and_stores():
    @intrinsic
    def replace(typingctx, array, value):
        def generate(context, builder, sig, args):
            at = make_array(sig.args[0])(context, builder, args[0]).data
            old = builder.load_atomic(at, "acquire", 8)
            builder.store_atomic(args[1], at, "release", 8)
            return old

        return types.int64(array, types.int64), generate

    a = np.array([7, 8])
    assert njit(lambda a: replace(a, 5))(a) == 7 and a.tolist() == [5, 8]


@pytest.mark.parametrize("leave", [lambda b, block: b.branch(block), lambda b, block: b.fence("acquire")])
def test_what_the_builder_does_not_do_is_refused(leave):
    def generate(context, builder, sig, args):
        block = builder.append_basic_block("out")
        with cgutils.for_range(builder, args[0]):
            leave(builder, block)
        return args[0]

    refused = made(i64(i64), generate)
    with pytest.raises(errors.LoweringError, match="NotImplementedError"):
        njit(lambda n: refused(n))(3)


class PairType(types.Type):
    def __init__(self):
        super().__init__(name="PairOfConstants")


class Pair:
    first, second = 2, 3.5


def test_constants_by_a_signature_of_values():
    pair = PairType()
    typeof_impl.register(Pair)(lambda value, context: pair)

    @register_model(PairType)
    class PairModel(models.StructModel):
        def __init__(self, manager, of):
            super().__init__(manager, of, [("first", types.int64), ("second", types.float64)])

    @lower_constant(PairType)
    def constant(context, builder, of, value):
        parts = context.get_constant(types.int64, value.first), context.get_constant(types.float64, value.second)
        sig = of(*parts)
        made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        made.first, made.second = sig.args
        return made._getvalue()

    make_attribute_wrapper(PairType, "first", "first")
    make_attribute_wrapper(PairType, "second", "second")
    there = Pair()
    assert njit(lambda: there.first + there.second)() == 5.5
    assert pair(types.int64, types.int64).args == (types.int64, types.int64)
