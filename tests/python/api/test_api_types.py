"""Types and signatures as objects."""

import collections
import pickle

import numpy as np
import pytest

import lancehead
from lancehead import errors, float64, from_dtype, int64, njit, objmode, typeof, types
from lancehead._core import parse_signature

Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value, expected",
    [
        (1, types.int64), (True, types.boolean), (1.5, types.float64), (1j, types.complex128), (None, types.none),
        ("a", types.unicode_type),
        (2**63, types.uint64), (np.int8(1), types.int8), (np.float32(1), types.float32), (np.float64(1), types.float64),
        (np.int64(1), types.int64), (np.zeros((2, 3)), types.float64[:, ::1]),
        (np.zeros((2, 3), order="F"), types.float64[::1, :]),
        (np.zeros((4, 4))[::2], types.float64[:, :]), (np.zeros(3, np.uint8), types.uint8[::1]),
        (np.array(1), types.Array(types.int64, 0, "C")),
        ((1, 2.0), types.Tuple((types.int64, types.float64))), ((1, 2), types.UniTuple(types.int64, 2)),
        ([1.5], types.List(types.float64)),
        (Pair(1, 2), types.NamedTuple((types.int64, types.int64), Pair)), (range(3), types.range_state64_type),
    ],
    ids=lambda v: repr(v)[:30],
)  # fmt: skip
def test_typeof(value, expected):
    assert typeof(value) == expected and hash(typeof(value)) == hash(expected)


def test_read_only():
    a = np.zeros(3)
    a.flags.writeable = False
    assert typeof(a) == types.Array(types.float64, 1, "C", readonly=True) != types.float64[::1]
    assert not typeof(a).mutable


def test_texts():
    assert str(types.float64[:, ::1]) == "array(float64, 2d, C)"
    assert str(types.int64(types.float64, types.int32[:])) == "(float64, array(int32, 1d, A)) -> int64"
    assert str(types.UniTuple(types.int64, 3)) == "UniTuple(int64 x 3)"


def test_attributes():
    a = types.float32[:, :]
    assert (a.dtype, a.ndim, a.layout, a.mutable) == (types.float32, 2, "A", True)
    assert (types.int8.minval, types.int8.maxval, types.uint64.maxval) == (-128, 127, 2**64 - 1)
    assert types.int16.bitwidth == 16 and types.int16.signed and not types.uint8.signed
    assert types.Tuple((types.int64, types.float64)).types == (types.int64, types.float64)
    assert len(types.UniTuple(types.int8, 4)) == 4 and types.UniTuple(types.int8, 4).dtype == types.int8
    assert types.Optional(types.int64).type == types.int64
    with pytest.raises(AttributeError):
        types.int64.ndim


def test_kinds():
    assert isinstance(types.int8, types.Integer) and not isinstance(types.int8, types.Float)
    assert isinstance(types.float64[:], types.Array) and isinstance(types.UniTuple(types.int8, 2), types.BaseTuple)
    assert isinstance(types.none, types.NoneType) and isinstance(types.int8, types.Type)


KINDS = {
    "Buffer ArrayCompatible IterableType": np.zeros(2),
    "Buffer ArrayCompatible IterableType Bytes": b"a",
    "Sequence Container Sized ConstSized IterableType Hashable BaseTuple BaseAnonymousTuple": (1, 2),
    "Sized ConstSized Hashable BaseTuple BaseAnonymousTuple": (1, 2.0),
    "Sequence MutableSequence Container Sized IterableType InitialValue": [1],
    "Container Sized IterableType": {1},
    "IterableType InitialValue": {1: 2},
    "IterableType Hashable": "text",
    "Hashable Number": 1j,
    "Hashable": True,
    "Opaque Dummy": None,
    "Dummy Callable": np.float32,
}


@pytest.mark.parametrize(("kinds", "value"), KINDS.items())
def test_kinds_in_common(kinds, value):
    every = {kind for kinds in KINDS for kind in kinds.split()}
    assert {kind for kind in every if isinstance(typeof(value), getattr(types, kind))} == set(kinds.split())


def test_kinds_that_programs_derive_from():
    class Handle(types.Opaque):
        def __init__(self):
            super().__init__(name="Handle")

    handle = Handle()
    assert isinstance(handle, types.Opaque) and isinstance(handle, types.Type) and str(handle) == "Handle"
    assert not isinstance(types.none, Handle) and isinstance(types.none, types.Opaque)


def test_names_of_numba():
    assert lancehead.CompilerError is errors.CompilerError and lancehead.deferred_type is types.deferred_type
    assert lancehead.bool == types.bool == types.boolean
    with pytest.raises(AttributeError):
        lancehead.annotations_of_errors


@pytest.mark.parametrize("argument", [[1, "a"], (1, [1, 2j]), [(1,), (2, 3)], {1, 2.5}, {1: 2, "a": 3}, [object()]])
def test_arguments_that_are_refused_are_of_a_wrong_type(argument):
    @njit
    def ignore(x):
        return 1

    with pytest.raises(TypeError) as raised:
        ignore(argument)
    assert isinstance(raised.value, errors.TypingError)
    assert isinstance(raised.value, errors.ArgumentError)


def test_syntax_that_is_refused_is_told_as_numba_tells_it():
    def declares():
        global somewhere
        somewhere = 1

    def makes_a_class():
        class Local:
            pass

        return 1

    def leaves_the_block():
        with objmode():
            return 1

    for refused in (declares, makes_a_class):
        with pytest.raises(errors.UnsupportedBytecodeError) as raised:
            njit(refused)()
        assert isinstance(raised.value, errors.UnsupportedError)
    with pytest.raises(errors.CompilerError) as raised:
        njit(leaves_the_block)()
    assert isinstance(raised.value, errors.UnsupportedError)


def test_arrays_in_a_dtype_add_dimensions():
    nested = from_dtype(np.dtype((np.float64, (4, 2))))
    assert (nested.dtype, nested.shape) == (float64, (4, 2))
    assert types.Array(nested, 2, "C") == types.Array(float64, 4, "C")


def test_maybe_literal():
    assert types.maybe_literal(5) == types.literal(5) and types.maybe_literal(5.0) is None


def test_calls():
    sig = types.float64(types.int64, types.float64[:])
    assert sig.args == (types.int64, types.float64[:]) and sig.return_type == types.float64
    assert types.void() == types.void() and types.void().args == ()
    assert types.int8(300 - 256) == np.int8(44) and isinstance(types.float32(1), np.float32)


def test_bad_subscripts():
    for key in (0, slice(1, None), "x", (slice(None), 1)):
        with pytest.raises(KeyError):
            types.float64[key]
    with pytest.raises(TypeError):
        types.none[:]


@pytest.mark.parametrize(
    "text, args",
    [
        ("void()", ()), ("int64(int64, float64)", (types.int64, types.float64)),
        ("(f8[:], i4)", (types.float64[:], types.int32)), ("(int64,)", (types.int64,)),
        ("int64(int64)", (types.int64,)), ("f8(f8[:, ::1], f4[::1, :])", (types.float64[:, ::1],
            types.float32[::1, :])),
        ("types.float64(types.Tuple((int64, float64)))", (types.Tuple((types.int64, types.float64)),)),
        ("b1(UniTuple(i8, 3))", (types.UniTuple(types.int64, 3),)),
        ("none(Optional(i8))", (types.Optional(types.int64),)), ("void(List(f8))", (types.List(types.float64),)),
        ("void(Array(f8, 2, 'F', readonly=True))", (types.Array(types.float64, 2, "F", readonly=True),)),
        ("(int64)", (types.int64,)),
    ],
)  # fmt: skip
def test_signature_texts(text, args):
    assert parse_signature(text).args == args


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int64(",
        "int65(int64)",
        "float64[0]",
        "int64 int64",
        "__import__('os')",
        "int64(3)",
        "(" * 1000,
        "Tuple(int64)",
        "int64[:](",
        "ﬁ(é",
    ],
)
def test_bad_texts(text):
    with pytest.raises((SyntaxError, NameError, TypeError, ValueError)):
        njit(text)(lambda x: x)


def test_pickle():
    for t in (types.int64, types.float64[:, ::1], types.Tuple((types.int8,)), types.Optional(types.uint8),
              types.NamedTuple((types.int64,) * 2, Pair), types.unicode_type,
              types.List(types.Tuple((types.int64, types.float32[:]))), types.int64(types.int8),
              types.Array(types.int8, 3, "F", readonly=True)):  # fmt: skip
        assert pickle.loads(pickle.dumps(t)) == t
    assert pickle.loads(pickle.dumps(types.float64[:, ::1])) is types.float64[:, ::1] is typeof(np.zeros((2, 2)))


def test_types_are_usable_in_compiled_code():
    @njit
    def convert(x):
        return types.int32(x) + types.float32(0)

    assert convert(3.7) == 3.0


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float32", "complex128"])
def test_types_of_dtypes(name):
    assert from_dtype(np.dtype(name)) == typeof(np.zeros(1, name)).dtype


@pytest.mark.parametrize("dtype", [">f8", "V3", "O"])
def test_dtypes_without_a_native_form(dtype):
    with pytest.raises(errors.NumbaNotImplementedError):
        from_dtype(np.dtype(dtype))


def test_types_of_ones_own():
    class Interval(types.Type):
        def __init__(self):
            super().__init__(name="Interval")

    interval = Interval()
    assert isinstance(interval, types.Type) and interval.name == "Interval" and not isinstance(3, types.Type)
    assert not isinstance(types.int64, Interval) and isinstance(types.int64, types.Type)
    with pytest.raises(errors.TypingError, match="no data model is registered for Interval"):
        njit((interval,))(lambda x: x)


def test_function_types():
    kind = types.FunctionType(int64(int64, float64))
    assert kind is int64(int64, float64).as_type() is types.FunctionType("int64(int64, float64)")
    assert str(kind) == "FunctionType[int64(int64, float64)]" and isinstance(kind, types.FunctionType)
    assert kind.signature == int64(int64, float64)
    assert pickle.loads(pickle.dumps(types.UniTuple(kind, 2))) is types.UniTuple(kind, 2)
    with pytest.raises(TypeError, match="needs a result type"):
        types.FunctionType(types.Signature(None, int64))


def test_globals_that_contain_themselves():
    items: list = []
    items.append(items)
    pair = ([],)
    pair[0].append(pair)
    for value in (items, pair):
        with pytest.raises(errors.TypingError, match="contains itself"):
            njit(eval("lambda: len(value)", {"value": value}))()
