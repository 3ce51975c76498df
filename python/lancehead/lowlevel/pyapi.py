"""Python's C API as code generators call it. Objects are addresses."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lancehead import types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.values import INT1, INT8, INT32, INT64, LAYOUTS, VOIDPTR, Composed, Value, lowered, plain

_DOUBLE = ir.DoubleType()
_O, _I, _L, _D, _V = VOIDPTR, INT32, INT64, _DOUBLE, ir.VoidType()

#: Functions of C by the names of the methods: the function, its result and its parameters.
_FUNCTIONS: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "incref": ("Py_IncRef", _V, (_O,)),
    "decref": ("Py_DecRef", _V, (_O,)),
    "err_occurred": ("PyErr_Occurred", _O, ()),
    "err_clear": ("PyErr_Clear", _V, ()),
    "err_set_object": ("PyErr_SetObject", _V, (_O, _O)),
    "err_write_unraisable": ("PyErr_WriteUnraisable", _V, (_O,)),
    "dict_getitem": ("PyDict_GetItem", _O, (_O, _O)),
    "dict_setitem": ("PyDict_SetItem", _I, (_O, _O, _O)),
    "float_from_double": ("PyFloat_FromDouble", _O, (_D,)),
    "float_as_double": ("PyFloat_AsDouble", _D, (_O,)),
    "number_as_ssize_t": ("PyLong_AsSsize_t", _L, (_O,)),
    "number_long": ("PyNumber_Long", _O, (_O,)),
    "number_float": ("PyNumber_Float", _O, (_O,)),
    "number_negative": ("PyNumber_Negative", _O, (_O,)),
    "long_as_ulonglong": ("PyLong_AsUnsignedLongLong", _L, (_O,)),
    "long_as_longlong": ("PyLong_AsLongLong", _L, (_O,)),
    "long_as_voidptr": ("PyLong_AsVoidPtr", _O, (_O,)),
    "long_from_long": ("PyLong_FromLong", _O, (_L,)),
    "long_from_ulong": ("PyLong_FromUnsignedLong", _O, (_L,)),
    "long_from_ssize_t": ("PyLong_FromSsize_t", _O, (_L,)),
    "long_from_longlong": ("PyLong_FromLongLong", _O, (_L,)),
    "long_from_ulonglong": ("PyLong_FromUnsignedLongLong", _O, (_L,)),
    "long_from_voidptr": ("PyLong_FromVoidPtr", _O, (_O,)),
    "bool_from_long": ("PyBool_FromLong", _O, (_L,)),
    "complex_from_doubles": ("PyComplex_FromDoubles", _O, (_D, _D)),
    "complex_real_as_double": ("PyComplex_RealAsDouble", _D, (_O,)),
    "complex_imag_as_double": ("PyComplex_ImagAsDouble", _D, (_O,)),
    "sequence_tuple": ("PySequence_Tuple", _O, (_O,)),
    "sequence_concat": ("PySequence_Concat", _O, (_O, _O)),
    "sequence_size": ("PySequence_Size", _L, (_O,)),
    "sequence_getitem": ("PySequence_GetItem", _O, (_O, _L)),
    "list_new": ("PyList_New", _O, (_L,)),
    "list_size": ("PyList_Size", _L, (_O,)),
    "list_append": ("PyList_Append", _I, (_O, _O)),
    "list_setitem": ("PyList_SetItem", _I, (_O, _L, _O)),
    "list_getitem": ("PyList_GetItem", _O, (_O, _L)),
    "tuple_getitem": ("PyTuple_GetItem", _O, (_O, _L)),
    "tuple_size": ("PyTuple_Size", _L, (_O,)),
    "set_add": ("PySet_Add", _I, (_O, _O)),
    "set_clear": ("PySet_Clear", _I, (_O,)),
    "set_size": ("PySet_Size", _L, (_O,)),
    "object_type": ("PyObject_Type", _O, (_O,)),
    "object_istrue": ("PyObject_IsTrue", _I, (_O,)),
    "object_not": ("PyObject_Not", _I, (_O,)),
    "iter_next": ("PyIter_Next", _O, (_O,)),
    "object_getiter": ("PyObject_GetIter", _O, (_O,)),
    "object_getattr": ("PyObject_GetAttr", _O, (_O, _O)),
    "object_setattr": ("PyObject_SetAttr", _I, (_O, _O, _O)),
    "object_getitem": ("PyObject_GetItem", _O, (_O, _O)),
    "object_setitem": ("PyObject_SetItem", _I, (_O, _O, _O)),
    "object_delitem": ("PyObject_DelItem", _I, (_O, _O)),
    "object_hash": ("PyObject_Hash", _L, (_O,)),
    "object_str": ("PyObject_Str", _O, (_O,)),
    "string_as_string": ("PyUnicode_AsUTF8", _O, (_O,)),
    "string_from_string": ("PyUnicode_FromString", _O, (_O,)),
    "string_from_string_and_size": ("PyUnicode_FromStringAndSize", _O, (_O, _L)),
    "bytes_as_string": ("PyBytes_AsString", _O, (_O,)),
    "bytes_from_string_and_size": ("PyBytes_FromStringAndSize", _O, (_O, _L)),
}
#: The same for those that take a text known while compiling, by its place.
_WITH_TEXT: dict[str, tuple[str, Any, tuple[Any, ...], int]] = {
    "object_getattr_string": ("PyObject_GetAttrString", _O, (_O, _O), 1),
    "object_setattr_string": ("PyObject_SetAttrString", _I, (_O, _O, _O), 1),
    "object_delattr_string": ("PyObject_SetAttrString", _I, (_O, _O), 1),
    "dict_getitem_string": ("PyDict_GetItemString", _O, (_O, _O), 1),
    "dict_setitem_string": ("PyDict_SetItemString", _I, (_O, _O, _O), 1),
    "import_module": ("PyImport_ImportModule", _O, (_O,), 0),
}
_BINARY = {
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "truedivide": "TrueDivide",
    "floordivide": "FloorDivide", "remainder": "Remainder", "and": "And", "or": "Or", "xor": "Xor",
    "lshift": "Lshift", "rshift": "Rshift", "matrix_multiply": "MatrixMultiply",
}  # fmt: skip
_FUNCTIONS.update({f"number_{n}": (f"PyNumber_{c}", _O, (_O, _O)) for n, c in _BINARY.items()})


#: Functions of C that take the address of no object.
_TAKE_NULL = {"Py_IncRef", "Py_DecRef", "PyLong_FromVoidPtr", "PyErr_SetObject"}


def _present(value: Value) -> Value:
    """The value as one that is known to be an address of something."""
    value.is_object = True
    return value


class NativeValue:
    """The result of unboxing: a value, whether unboxing failed, and the function that cleans up after the call."""

    def __init__(self, value: Any, is_error: Any = None, cleanup: Callable[[], None] | None = None) -> None:
        self.value, self.is_error, self.cleanup = value, is_error, cleanup


class PythonAPI:
    """Calls of Python's C API. Code that calls it holds the interpreter's lock while objects are brought in and out;
    elsewhere `gil_ensure` takes it."""

    pyobj = VOIDPTR
    voidptr = VOIDPTR
    py_ssize_t = INT64
    long = longlong = INT64
    ulong = ulonglong = INT64
    double = _DOUBLE

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder
        self.module = builder.recorder

    def call_c(self, name: str, result: Any, args: Any) -> Value:
        """A call of a function of C."""
        values = [self.builder.recorder.value(a) for a in args]
        type_ = ir.FunctionType(result, [v.type for v in values])
        return self.builder.call(ir.Function(self.module, type_, name), values)  # type: ignore[no-any-return]

    def _call_with_objects(self, name: str, result: Any, args: Any) -> Value:
        """The same, unless an object is none because a call before has failed: then it has the result zero."""
        values = [self.builder.recorder.value(a) for a in args]
        objects = [v for v in values if isinstance(v.type, ir.PointerType) and not v.is_object]
        if not objects or name in _TAKE_NULL:
            return self.call_c(name, result, values)
        builder = self.builder
        found = builder.alloca(result)
        null = ir.Constant(VOIDPTR, None)
        are_there = functools.reduce(builder.and_, [builder.icmp_unsigned("!=", v, null) for v in objects])
        with builder.if_else(are_there) as (then, otherwise):
            with then:
                made = self.call_c(name, result, values)
                if not isinstance(result, ir.VoidType):
                    builder.store(made, found)
            with otherwise, builder.if_then(builder.icmp_unsigned("==", self.err_occurred(), null)):
                self.call_c("PyErr_BadInternalCall", _V, ())
        return made if isinstance(result, ir.VoidType) else builder.load(found)

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name in _FUNCTIONS:
            function, result, parameters = _FUNCTIONS[name]
            return lambda *args: self._call_with_objects(function, result, map(self._converted, args, parameters))
        if name in _WITH_TEXT:
            function, result, parameters, at = _WITH_TEXT[name]

            def call(*args: Any) -> Value:
                given: list[Any] = [self._text(a) if i == at else a for i, a in enumerate(args)]
                if len(given) < len(parameters) or name == "object_delattr_string":
                    given.append(_present(self.module.value(ir.Constant(VOIDPTR, None))))
                return self._call_with_objects(function, result, given)

            return call
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"`pyapi.{name}`")

    def _converted(self, value: Any, type_: Any) -> Value:
        value = self.builder.recorder.value(value)
        if isinstance(type_, (ir.IntType, ir.DoubleType)) and value.type != type_:
            return self.builder._cast(value, type_)  # type: ignore[no-any-return]
        return value  # type: ignore[no-any-return]

    def _text(self, text: Any) -> Any:
        return _present(self.context.insert_const_string(self.module, text)) if isinstance(text, str) else text

    # Constants.

    def serialize_object(self, obj: Any) -> Any:
        """A handle of an object, for `unserialize`."""
        return _Handle(obj)

    def unserialize(self, handle: Any) -> Value:
        """A new reference to the object of a handle."""
        found = self._object(handle.object)
        self.incref(found)
        return found

    def _object(self, obj: Any) -> Value:
        self.module.keep(obj)
        return _present(self.builder.recorder.let(f"prim.lh_addr_ptr({id(obj)})", VOIDPTR))

    def get_c_object(self, name: str) -> Value:
        """The object that a global variable of C holds, such as `PyExc_TypeError`."""
        return self._object(ctypes.py_object.in_dll(ctypes.pythonapi, name).value)

    def get_null_object(self) -> Any:
        """The address of no object."""
        return ir.Constant(VOIDPTR, None)

    def borrow_none(self) -> Value:
        """`None`, borrowed."""
        return self._object(None)

    def make_none(self) -> Value:
        """A new reference to `None`."""
        return self.unserialize(_Handle(None))

    # Errors.

    def err_set_string(self, exctype: Any, msg: Any) -> None:
        """Sets an exception of a class (or its name in C) with a text."""
        self.call_c("PyErr_SetString", _V, [self._class(exctype), self._text(msg)])

    def err_format(self, exctype: Any, msg: str, *args: Any) -> None:
        """Sets an exception of a class with a text.

        Raises:
            NotImplementedError: there are arguments to put into the text.
        """
        if args:
            raise NotImplementedError("`err_format` with arguments: make the text in Python, or use `err_set_object`")
        self.err_set_string(exctype, msg)

    def err_set_none(self, exctype: Any) -> None:
        """Sets an exception of a class."""
        self.call_c("PyErr_SetNone", _V, [self._class(exctype)])

    def _class(self, exctype: Any) -> Any:
        if isinstance(exctype, str):
            return self.get_c_object(exctype)
        return self._object(exctype) if isinstance(exctype, type) else exctype

    def raise_object(self, exc: Any = None) -> Value:
        """Sets an exception object."""
        self.call_c("PyErr_SetObject", _V, [self.object_type(exc), exc])
        return self.builder.recorder.number(0, INT32)  # type: ignore[no-any-return]

    @contextmanager
    def if_object_ok(self, obj: Any) -> Iterator[None]:
        """Statements that run if an object is not null."""
        with self.builder.if_then(self.builder.icmp_unsigned("!=", obj, self.get_null_object())):
            yield

    def c_api_error(self) -> Value:
        """Whether an exception is set."""
        return self.builder.icmp_unsigned("!=", self.err_occurred(), self.get_null_object())  # type: ignore[no-any-return]

    # The interpreter's lock.

    def gil_ensure(self) -> Value:
        """Takes the lock."""
        return self.call_c("PyGILState_Ensure", INT32, [])

    def gil_release(self, gil: Any) -> None:
        """Gives it back."""
        self.call_c("PyGILState_Release", _V, [gil])

    # Objects.

    def bool_from_bool(self, bval: Any) -> Value:
        """`True` or `False`."""
        return self.bool_from_long(self.builder.zext(bval, INT64))

    def long_from_signed_int(self, ival: Any) -> Value:
        """An `int`."""
        return self.long_from_longlong(self.builder.sext(ival, INT64))

    def long_from_unsigned_int(self, ival: Any) -> Value:
        """An `int`, of a number without a sign."""
        return self.long_from_ulonglong(self.builder.zext(ival, INT64))

    def call_function_objargs(self, callee: Any, objargs: Any) -> Value:
        """The result of a call with objects, a new reference; they stay with the caller."""
        return self._with_tuple(list(objargs), lambda t: self.call_c("PyObject_Call", _O, [callee, t, self._null()]))

    def _null(self) -> Any:
        return ir.Constant(VOIDPTR, None)

    def _with_tuple(self, items: list[Any], use: Callable[[Any], Value]) -> Value:
        packed = self.tuple_pack(items)
        made = use(packed)
        self.decref(packed)
        return made

    def call(self, callee: Any, args: Any = None, kws: Any = None) -> Value:
        """The result of a call with a tuple and a dictionary."""
        if args is None:
            args = self.tuple_pack([])
        return self.call_c("PyObject_Call", _O, [callee, args, kws if kws is not None else self._null()])

    def call_method(self, callee: Any, method: str, objargs: Any = ()) -> Value:
        """The result of a call of a method."""
        bound = self.object_getattr_string(callee, method)
        made = self.call_function_objargs(bound, objargs)
        self.decref(bound)
        return made

    def tuple_pack(self, items: Any) -> Value:
        """A new tuple of objects, which stay with the caller."""
        made = self.call_c("PyTuple_New", _O, [ir.Constant(INT64, len(items))])
        for i, item in enumerate(items):
            self.incref(item)
            self.call_c("PyTuple_SetItem", INT32, [made, ir.Constant(INT64, i), item])
        return made

    def tuple_new(self, count: Any) -> Value:
        """A new tuple with empty places."""
        return self.call_c("PyTuple_New", _O, [ir.Constant(INT64, count) if isinstance(count, int) else count])

    def tuple_setitem(self, tuple_val: Any, index: Any, item: Any) -> Value:
        """Fills a place of a new tuple, and takes the reference over."""
        index = ir.Constant(INT64, index) if isinstance(index, int) else index
        return self.call_c("PyTuple_SetItem", INT32, [tuple_val, index, item])

    def list_pack(self, items: Any) -> Value:
        """A new list, which takes the references over."""
        made = self.call_c("PyList_New", _O, [ir.Constant(INT64, len(items))])
        for i, item in enumerate(items):
            self.call_c("PyList_SetItem", INT32, [made, ir.Constant(INT64, i), item])
        return made

    def dict_new(self, presize: int = 0) -> Value:
        """A new dictionary."""
        return self.call_c("PyDict_New", _O, [])

    def dict_pack(self, keyvalues: Any) -> Value:
        """A new dictionary of texts and objects, which stay with the caller."""
        made = self.dict_new()
        for key, value in keyvalues:
            self.dict_setitem_string(made, key, value)
        return made

    def set_new(self, iterable: Any = None) -> Value:
        """A new set."""
        return self.call_c("PySet_New", _O, [iterable if iterable is not None else self._null()])

    def object_richcompare(self, lhs: Any, rhs: Any, opstr: str) -> Value:
        """A comparison of objects: an object."""
        number = ["<", "<=", "==", "!=", ">", ">="].index(opstr)
        return self.call_c("PyObject_RichCompare", _O, [lhs, rhs, ir.Constant(INT32, number)])

    def string_as_string_and_size(self, strobj: Any) -> tuple[Value, Value, Value]:
        """Whether it worked, the address of the UTF-8 of a text, and its length."""
        size = self.builder.alloca(INT64)
        data = self.call_c("PyUnicode_AsUTF8AndSize", _O, [strobj, size])
        return self.builder.icmp_unsigned("!=", data, self._null()), data, self.builder.load(size)

    def alloca_obj(self) -> Any:
        """The address of a variable that holds an object."""
        return self.builder.alloca(VOIDPTR)

    def print_object(self, obj: Any) -> None:
        """Writes the text of an object."""
        self.call_c("PySys_WriteStdout", _V, [self.string_as_string(self.object_str(obj))])

    # Values.

    def to_native_value(self, typ: Any, obj: Any) -> NativeValue:
        """The value of an object, of a type."""
        r, of = self.builder.recorder, _plain(typ)
        kind = getattr(of, "kind", "")
        if isinstance(of, types.PyObject):
            return NativeValue(obj, ir.Constant(INT1, 0))
        if kind == "Extension":
            return self._program("unbox", of, obj)  # type: ignore[no-any-return]
        if kind == "Float":
            value = self.builder._cast(self.float_as_double(obj), lowered(of))
            return NativeValue(value, self.c_api_error())
        if kind == "Integer":
            number = self.number_long(obj)
            found = self.builder.alloca(INT64)
            with self.if_object_ok(number):
                self.builder.store((self.long_as_longlong if of.signed else self.long_as_ulonglong)(number), found)
                self.decref(number)
            return NativeValue(self.builder._cast(self.builder.load(found), lowered(of)), self.c_api_error())
        if kind == "Boolean":
            truth = self.object_istrue(obj)
            value = self.builder.icmp_signed("!=", truth, ir.Constant(INT32, 0))
            return NativeValue(value, self.c_api_error())
        if kind in ("Tuple", "UniTuple", "NamedTuple") and any(_is_of_program(t) for t in of.types):
            return self._native_tuple(of, obj)
        address = self.builder.ptrtoint(obj, INT64)
        at = _array_at if kind == "Array" and of.mutable else _object_at
        site = r.constant(_site(at, types.Tuple((of,))))
        made = r.let(f"{_CALL}({site}, ({address.text},))[0]", of)
        return NativeValue(r.argument(made.text, of), ir.Constant(INT1, 0))

    def _native_tuple(self, of: Any, obj: Any) -> NativeValue:
        """The value of a tuple with items of types of the program."""
        items = []
        is_error: Any = ir.Constant(INT1, 0)
        for at, item in enumerate(of.types):
            native = self.to_native_value(item, self.tuple_getitem(obj, ir.Constant(INT64, at)))
            items.append(self.builder.recorder.value(native.value))
            if native.is_error is not None:
                is_error = self.builder.or_(is_error, native.is_error)
        return NativeValue(self.context.make_tuple(self.builder, of, items), is_error)

    def _program(self, way: str, of: Any, given: Any) -> Any:
        """The result of the program's function that boxes or unboxes values of a type."""
        boxing = importlib.import_module("lancehead.lowlevel.boxing")
        return getattr(boxing, way).of(of)(of, given, boxing.Exchange(self.context, self.builder))

    def from_native_value(self, typ: Any, val: Any, env_manager: Any = None) -> Value:
        """A new reference to the object for a value."""
        r, of = self.builder.recorder, _plain(typ)
        kind = getattr(of, "kind", "")
        if isinstance(of, types.PyObject):
            return val  # type: ignore[no-any-return]
        if kind == "Extension":
            return self._program("box", of, val)  # type: ignore[no-any-return]
        if kind == "Float":
            return self.float_from_double(self.builder._cast(val, _DOUBLE))
        if kind == "Integer":
            return (self.long_from_signed_int if of.signed else self.long_from_unsigned_int)(val)
        if kind == "Boolean":
            return self.bool_from_bool(self.builder._cast(val, INT1))
        if kind in ("NoneType",):
            return self.make_none()
        site = r.constant(_site(_address_of, types.Tuple((types.int64,))))
        address = r.let(f"prim.cast({_CALL}({site}, ({r.result(val, of)},))[0], {self.builder._held(INT64)})", INT64)
        return self.builder.inttoptr(address, VOIDPTR)  # type: ignore[no-any-return]

    from_native_return = from_native_value

    def call_jit_code(self, func: Any, sig: Any, args: Any) -> tuple[Any, Any]:
        """Whether a call of a compiled function has raised, and its result. An exception also ends the caller."""
        return ir.Constant(INT1, 0), self.context.compile_internal(self.builder, func, sig, args)

    def reflect_native_value(self, typ: Any, val: Any, env_manager: Any = None) -> None:
        """Says nothing: what calls change in containers is written back anyway."""


def _plain(of: Any) -> Any:
    return of if isinstance(of, types.PyObject) else plain(of)


def _is_of_program(of: Any) -> bool:
    items = getattr(of, "types", ()) if getattr(of, "kind", "") in ("Tuple", "UniTuple", "NamedTuple") else ()
    return getattr(of, "kind", "") == "Extension" or any(map(_is_of_program, items))


class _Handle:
    """An object that is known while compiling."""

    def __init__(self, obj: Any) -> None:
        self.object = obj


#: Calls a function of the interpreter.
_CALL = "prim.call_python"
_SITES: dict[Any, Any] = {}


def _site(body: Any, result: Any) -> Any:
    from lancehead.objectmode import Site

    key = body, result
    if key not in _SITES:
        _SITES[key] = Site(body, result)
    return _SITES[key]


def _object_at(address: int) -> tuple[Any]:
    return (ctypes.cast(address, ctypes.py_object).value,)


class _Memory:
    """The memory of a read-only array, which NumPy may write to."""

    def __init__(self, array: Any) -> None:
        self.array = array
        described = array.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}


def _array_at(address: int) -> tuple[Any]:
    (found,) = _object_at(address)
    # As with Numba, the type of the field decides whether compiled code may write, not the array.
    if isinstance(found, np.ndarray) and not found.flags.writeable:
        found = np.asarray(_Memory(found))
    return (found,)


def _taken(address: int) -> tuple[Any]:
    value = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(value))
    return (value,)


#: The function that makes a value of the address of an object, and takes a reference to it.
LAYOUTS["object"] = lambda: _site(_taken, types.Tuple((types.pyobject,)))


def _address_of(value: Any) -> tuple[int]:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return (id(value),)


__all__ = ["INT8", "Composed", "NativeValue", "PythonAPI"]
