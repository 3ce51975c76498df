"""The contexts that code generators and typing functions get."""

from __future__ import annotations

import contextlib
import ctypes
import traceback
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from lancehead import _core, errors, types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel import models, proxies
from lancehead.lowlevel.builder import IRBuilder
from lancehead.lowlevel.pyapi import PythonAPI
from lancehead.lowlevel.recorder import Recorder
from lancehead.lowlevel.results import result_of, result_or_error
from lancehead.lowlevel.values import INT1, INT8, INT64, VOIDPTR, Composed, Value, lowered, size_of

F = TypeVar("F", bound=Callable[..., Any])


class TypingContext:
    """The types of calls: `intrinsic` and `type_callable` pass this object to the functions that they decorate."""

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The signature with which compiled code calls a function for these types.

        Raises:
            NumbaError: the function does not compile for them.
        """
        return signature(result_or_error(_callee(func), tuple(args), dict(kws or {})), *args)

    def resolve_value_type(self, value: Any) -> Any:
        """The type of an object."""
        return types.typeof(value)

    resolve_argument_type = resolve_value_type

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """The type of an attribute of a value."""
        return result_of(_getter(attr), (typ,), {})

    def unify_types(self, *all_types: Any) -> Any:
        """The type that values of these types have in common; None if there is none."""
        found = all_types[0]
        for other in all_types[1:]:
            found = result_of(_either, (types.boolean, found, other), {}) if found != other else found
            if found is None:
                return None
        return found

    def can_convert(self, fromty: Any, toty: Any) -> int | None:
        """Zero if values of one type are values of the other, one if they can be converted; else None."""
        if fromty == toty:
            return 0
        if all(isinstance(t, (types.Number, types.Boolean)) for t in (fromty, toty)):
            return 1 if isinstance(toty, types.Complex) or not isinstance(fromty, types.Complex) else None
        return 1 if self.unify_types(fromty, toty) == toty else None

    def refresh(self) -> None:
        """Looks for what has been registered, which every call does."""


def _callee(function: Any) -> Any:
    """The function that generators name, by itself or by its type."""
    return function.dispatcher if isinstance(function, types.Dispatcher) else function  # type: ignore[attr-defined]


def _either(which: Any, a: Any, b: Any) -> Any:
    return a if which else b


def _getter(attr: str) -> Callable[..., Any]:
    return eval(f"lambda v: v.{attr}")  # type: ignore[no-any-return]


def signature(return_type: Any, *args: Any, recvr: Any = None, pysig: Any = None) -> Any:
    """A signature: the type of the result, then those of the arguments."""
    return types.Signature(return_type, *args)


#: Code generators of conversions: from, to, the generator.
CASTS: list[tuple[Any, Any, Any]] = []


def is_of(given: Any, pattern: Any) -> bool:
    """Whether a type is one, or one of a class, as registered code generators say what they are for."""
    if pattern is Any:
        return True
    if isinstance(pattern, type):
        return isinstance(given, pattern)
    if getattr(given, "kind", "") == getattr(pattern, "kind", "") == "SliceType":
        return bool(given.has_step == pattern.has_step)
    return bool(given == pattern or _core.unliteral(given) == pattern)


class _Constants:
    """Code generators of constants, by type or class of types."""

    def __init__(self) -> None:
        self._generators: list[tuple[Any, Any]] = []

    def __call__(self, ty: Any) -> Callable[[F], F]:
        def decorate(generator: F) -> F:
            self._generators.append((ty, generator))
            return generator

        return decorate

    def of(self, type_: Any) -> Any:
        """The generator for a type; None if there is none."""
        return next((g for t, g in reversed(self._generators) if is_of(type_, t)), None)


lower_constant = _Constants()


@contextlib.contextmanager
def blamed(generator: Any) -> Iterator[None]:
    """Says in which line of a code generator an error has happened."""
    try:
        yield
    except errors.NumbaError:
        raise
    except Exception as error:
        file = generator.__code__.co_filename
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        where = f"{file}:{frames[-1].lineno if frames else generator.__code__.co_firstlineno}"
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise errors.LoweringError(f"`{generator.__qualname__}` ({where}) failed: {text}") from error


class _CallConv:
    """How functions raise."""

    def return_user_exc(self, builder: Any, exc: type[BaseException], exc_args: Any = None, **more: Any) -> None:
        """Raises an exception of a class with constant arguments."""
        r = builder.recorder
        texts = ", ".join(r.constant(a) if not isinstance(a, (int, float, str)) else repr(a) for a in exc_args or ())
        r.do(f"raise {r.constant(exc)}({texts})")

    def return_dynamic_user_exc(self, builder: Any, exc: Any, exc_args: Any, nb_types: Any, **more: Any) -> None:
        """Raises an exception with arguments known at run time."""
        r = builder.recorder
        texts = [r.result(a, t) for a, t in zip(exc_args, nb_types, strict=True)]
        r.do(f"raise {r.constant(exc)}({', '.join(texts)})")

    def return_errcode_propagate(self, builder: Any, status: Any, **more: Any) -> None:
        """Passes an exception on, which calls do by themselves."""

    def return_native_none(self, builder: Any) -> None:
        """Returns None."""
        builder.ret_void()

    def return_optional_value(self, builder: Any, retty: Any, valty: Any, value: Any) -> None:
        """Returns a value, or None, as a value of an optional type."""
        r = builder.recorder
        r.do(f"return prim.as_type({r.result(value, valty)}, {r.constant(retty)})")

    def return_value(self, builder: Any, retval: Any) -> None:
        """Returns a value."""
        builder.ret(retval)


class _Runtime:
    """Reference counts. The function counts by itself what it is given, makes, stores and returns: what generators
    count beside that is counted, and what they count for these is not counted twice."""

    def __init__(self, context: TargetContext) -> None:
        self.context = context

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        """Takes a reference, which the result or memory may take over."""
        builder.recorder.count(value, +1)

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        """Drops a reference."""
        builder.recorder.count(value, -1)

    def meminfo_alloc(self, builder: Any, size: Any) -> Any:
        """New memory; `meminfo_data` is its address."""
        r = builder.recorder
        return r.let(f"prim.alloc({r.value(size).text})[0]", Composed(_core.owner_type()[0]))

    meminfo_alloc_unchecked = meminfo_alloc

    def meminfo_alloc_aligned(self, builder: Any, size: Any, align: Any) -> Any:
        """The same; memory is aligned to what any type asks for."""
        return self.meminfo_alloc(builder, size)

    meminfo_alloc_aligned_unchecked = meminfo_alloc_aligned

    def meminfo_data(self, builder: Any, meminfo: Any) -> Any:
        """The address of memory."""
        r = builder.recorder
        owner = r.value(meminfo)
        inside = f"prim.model_parts({owner.text})" if owner.of.kind == "Extension" else owner.text
        return r.let(f"prim.lh_mem_data({inside})", VOIDPTR)


class TargetContext:
    """The target's context."""

    enable_nrt = True
    address_size = 64
    strict_alignment = False

    def __init__(self) -> None:
        self.call_conv = _CallConv()
        self.nrt = _Runtime(self)
        self.typing_context = TypingContext()
        self.data_model_manager = models.manager

    # Types.

    def get_value_type(self, ty: Any) -> Any:
        """The type of LLVM of values in registers."""
        return lowered(ty)

    def get_data_type(self, ty: Any) -> Any:
        """The type of LLVM of values in memory."""
        found = lowered(ty)
        return INT8 if found == INT1 else found

    get_argument_type = get_return_type = get_value_type

    def get_function_pointer_type(self, ty: Any) -> Any:
        """The type of LLVM of the address of a function of C."""
        result = ir.VoidType() if ty.sig.return_type == types.none else lowered(ty.sig.return_type)
        return ir.FunctionType(result, [lowered(t) for t in ty.sig.args]).as_pointer()

    def call_function_pointer(self, builder: Any, funcptr: Any, args: Any, cconv: Any = None) -> Any:
        """A call of a function of C by its address."""
        return builder.call(funcptr, args)

    def get_abi_sizeof(self, ty: Any) -> int:
        """Bytes of a value of a type of LLVM."""
        return size_of(ty)[0]

    def get_abi_alignment(self, ty: Any) -> int:
        """Alignment of a value of a type of LLVM."""
        return size_of(ty)[1]

    def get_value_as_data(self, builder: Any, ty: Any, value: Any) -> Any:
        """A value as it is in memory."""
        return value

    get_value_as_argument = get_value_from_data = get_value_from_argument = get_value_as_data
    enable_boundscheck = False

    def pack_value(self, builder: Any, ty: Any, value: Any, ptr: Any, align: Any = None) -> None:
        """Puts a value into memory."""
        builder.store(value, ptr)

    def unpack_value(self, builder: Any, ty: Any, ptr: Any, align: Any = None) -> Any:
        """Takes a value out of memory."""
        return builder.load(ptr)

    # Constants.

    def get_constant(self, ty: Any, val: Any) -> Any:
        """A number as a constant."""
        return ir.Constant(lowered(ty), val)

    def get_constant_generic(self, builder: Any, ty: Any, val: Any) -> Any:
        """A constant of any type."""
        type_ = lowered(ty)
        r = builder.recorder
        if isinstance(type_, (ir.IntType, ir.DoubleType, ir.FloatType)):
            return r.number(val, type_)
        if ty.kind == "Array":
            return self.make_constant_array(builder, ty, val)
        return r.argument(r.let(r.constant(val), ty).text, ty)

    def get_constant_null(self, ty: Any) -> Any:
        """The constant whose bits are zero."""
        return ir.Constant(lowered(ty), None)

    def get_constant_undef(self, ty: Any) -> Any:
        """A constant that nobody reads."""
        return ir.Constant(lowered(ty), ir.Undefined)

    def get_dummy_value(self) -> Any:
        """The value of types that have one only, as `None`."""
        return ir.Constant(VOIDPTR, None)

    def get_dummy_type(self) -> Any:
        """The type of that."""
        return VOIDPTR

    def add_dynamic_addr(self, builder: Any, intaddr: int, info: str = "") -> Any:
        """An address of this process."""
        return builder.recorder.let(f"prim.lh_addr_ptr({int(intaddr)})", VOIDPTR)

    def insert_const_string(self, mod: Any, string: str) -> Any:
        """The address of a text of C."""
        return self.insert_const_bytes(mod, string.encode() + b"\0")

    def insert_const_bytes(self, mod: Any, content: bytes, name: str = "") -> Any:
        """The address of bytes."""
        held = ctypes.create_string_buffer(content, len(content))
        mod.keep(held)
        return mod.let(f"prim.lh_addr_ptr({ctypes.addressof(held)})", VOIDPTR)

    # Aggregates.

    def make_helper(self, builder: Any, typ: Any, value: Any = None, ref: Any = None) -> Any:
        """The members of a value as attributes."""
        return proxies.proxy(typ, self, builder, value, ref)

    make_data_helper = make_helper

    def make_array(self, typ: Any) -> Callable[..., Any]:
        """A class whose instances have the parts of an array as attributes."""
        return lambda context, builder, value=None, ref=None: proxies.proxy(typ, context, builder, value, ref)

    def make_complex(self, builder: Any, typ: Any, value: Any = None) -> Any:
        """The real and the imaginary part as attributes."""
        return proxies.proxy(typ, self, builder, value)

    def make_tuple(self, builder: Any, typ: Any, values: Any) -> Any:
        """A tuple of values."""
        return proxies.composed_of(builder, typ, [builder.recorder.value(v) for v in values])

    def make_optional_value(self, builder: Any, optty: Any, value: Any) -> Any:
        """An optional that has a value."""
        r = builder.recorder
        made = r.result(value, getattr(optty, "type", optty))
        return r.let(f"prim.as_type({made}, {r.constant(types.Optional(optty))})", Composed(types.Optional(optty)))

    def make_optional_none(self, builder: Any, valtype: Any) -> Any:
        """An optional without a value."""
        of = types.Optional(valtype)
        return builder.recorder.let(f"prim.zero({builder.recorder.constant(of)})", Composed(of))

    def make_constant_array(self, builder: Any, typ: Any, ary: Any) -> Any:
        """The memory of an array, which stays."""
        r = builder.recorder
        r.keep(ary)
        made = proxies.ArrayProxy(typ, builder)
        made.data = r.let(f"prim.lh_addr_ptr({ary.ctypes.data})", ir.PointerType(lowered(typ.dtype)))
        for name in ("shape", "strides"):
            numbers = [r.number(n, INT64) for n in getattr(ary, name)]
            text = "".join(n.text + ", " for n in numbers)
            setattr(made, name, r.let(f"({text})", ir.ArrayType(INT64, len(numbers))))
        return made._getvalue()

    # Calls.

    def compile_internal(self, builder: Any, impl: Any, sig: Any, args: Any, locals: Any = None) -> Any:
        """A call of a function of Python that compiled code calls."""
        return _called(builder, builder.recorder.constant(impl), sig, args)

    call_internal = compile_internal

    def compile_subroutine(self, builder: Any, impl: Any, sig: Any, **more: Any) -> Any:
        """The same function again, to be called."""
        return impl

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Callable[[Any, Any], Any]:
        """A code generator for calls of a function with these types."""

        def call(builder: Any, args: Any, *rest: Any) -> Any:
            return _called(builder, builder.recorder.constant(_callee(fn)), sig, args)

        return call

    def get_getattr(self, typ: Any, attr: str) -> Callable[..., Any]:
        """A code generator that reads an attribute."""

        def get(context: Any, builder: Any, typ: Any, value: Any, attr: str = attr) -> Any:
            r = builder.recorder
            of = result_of(_getter(attr), (typ,), {})
            return r.argument(r.let(f"{r.result(value, typ)}.{attr}", of).text, of)

        return get

    def get_struct_type(self, struct: Any) -> Any:
        """The type of LLVM of the values whose parts a struct proxy has."""
        return lowered(struct._of)

    def pair_first(self, builder: Any, val: Any, ty: Any) -> Any:
        """The first part of a pair."""
        return builder.extract_value(val, 0)

    def pair_second(self, builder: Any, val: Any, ty: Any) -> Any:
        """The second part of a pair."""
        return builder.extract_value(val, 1)

    def print_string(self, builder: Any, text: str) -> None:
        """Writes a line."""
        builder.recorder.do(f"print({text!r})")

    debug_print = print_string

    def generic_compare(self, builder: Any, key: Any, argtypes: Any, args: Any) -> Any:
        """A comparison of two values by a function of `operator`."""
        sig = signature(types.boolean, *argtypes)
        return _called(builder, builder.recorder.constant(key), sig, args)

    def declare_external_function(self, module: Any, fnty: Any, name: str) -> Any:
        """A function of C."""
        return ir.Function(module, fnty, name)

    def call_external_function(self, builder: Any, callee: Any, argtys: Any, args: Any) -> Any:
        """A call of a function of C."""
        return builder.call(callee, args)

    def calc_array_sizeof(self, ndim: int) -> int:
        """Bytes of the parts of an array."""
        return 8 * (5 + 2 * ndim)

    def get_preferred_array_alignment(self, ty: Any) -> int:
        """Alignment of the memory of new arrays."""
        return 32

    def populate_array(self, array: Any, **parts: Any) -> Any:
        """Sets the parts of an array; without `meminfo` it refers to memory that someone else keeps."""
        return proxies.populate_array(array, **parts)

    def get_python_api(self, builder: Any) -> Any:
        """Python's C API."""
        return PythonAPI(self, builder)

    def cast(self, builder: Any, val: Any, fromty: Any, toty: Any) -> Any:
        """A value as one of another type."""
        if fromty == toty:
            return val
        for source, target, generator in reversed(CASTS):
            if is_of(fromty, source) and is_of(toty, target):
                return generator(self, builder, fromty, toty, val)
        r = builder.recorder
        given = r.result(val, fromty)
        return r.argument(r.let(f"prim.as_type({given}, {r.constant(toty)})", toty).text, toty)

    def is_true(self, builder: Any, typ: Any, val: Any) -> Any:
        """The truth of a value."""
        r = builder.recorder
        return r.let(f"True if {r.result(val, typ)} else False", INT1)

    def get_nrt_api(self, builder: Any) -> Any:
        """The table of functions by which C code manages memory."""
        return self.add_dynamic_addr(builder, _core.owner_type()[1])

    def add_linking_libs(self, builder: Any, libs: Any) -> None:
        """Libraries are found by the names of their functions."""

    def sentry_record_alignment(self, rectyp: Any, attr: str) -> None:
        """Says nothing: records may lie anywhere."""

    def push_code_library(self, lib: Any) -> contextlib.AbstractContextManager[None]:
        """Says nothing: there are no libraries of code."""
        return contextlib.nullcontext()

    def get_generic_name(self) -> str:
        """The name of the target."""
        return "cpu"


def _called(builder: Any, function: str, sig: Any, args: Any) -> Any:
    r = builder.recorder
    texts = [r.result(value, of) for value, of in zip(args, sig.args, strict=False)]
    call = f"{function}({', '.join(texts)})"
    if sig.return_type == types.none:
        r.do(call)
        return Value(r, "None", VOIDPTR)
    held = r.let(f"prim.as_type({call}, {r.constant(sig.return_type)})", sig.return_type)
    made = r.argument(held.text, sig.return_type)
    made.is_owned = True
    return made


@contextlib.contextmanager
def recording(name: str, about: Any, parameters: list[Any]) -> Iterator[tuple[TargetContext, Any]]:
    """A context and a builder for a function of these types."""
    yield TargetContext(), IRBuilder(Recorder(name, about, parameters))


#: Numba's names.
Context = TypingContext
BaseContext = CPUContext = TargetContext

__all__ = ["INT64", "Context", "TargetContext", "TypingContext", "recording", "signature"]
