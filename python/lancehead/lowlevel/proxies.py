"""Values of types of Numba by their parts: `cgutils.create_struct_proxy` and what is built on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lancehead import _core, types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel import models
from lancehead.lowlevel.values import INT1, INT64, LAYOUTS, VOIDPTR, Composed, Slot, Value, lowered, size_of

if TYPE_CHECKING:
    from lancehead.lowlevel.recorder import Recorder


class Part(NamedTuple):
    """A part of a value: its name, its type of Numba, and its expression by that of the value."""

    name: str
    of: Any
    text: str


#: Numba's value for the missing end of a slice.
_LAST = 2**63 - 1


def parts_of(of: Any, value: str) -> list[Part]:
    """The parts of a value of a type of Numba.

    Raises:
        NotImplementedError: the layout of such values is not Numba's.
    """
    kind = of.kind
    if kind == "Extension":
        members = models.lookup(of).members
        return [Part(n, t, f"prim.model_parts({value})[{i}]") for i, (n, t) in enumerate(members)]
    if kind in ("Tuple", "UniTuple", "NamedTuple"):
        names = getattr(of, "fields", None) if kind == "NamedTuple" else None
        names = names or [f"f{i}" for i in range(of.count)]
        return [Part(n, t, f"{value}[{i}]") for i, (n, t) in enumerate(zip(names, of.types, strict=True))]
    if kind == "Complex":
        part = of.underlying_float
        return [Part("real", part, f"{value}.real"), Part("imag", part, f"{value}.imag")]
    if kind == "Optional":
        return [Part("data", of.type, f"prim.unwrapped({value})"), Part("valid", types.boolean, f"{value} is not None")]
    if kind == "SliceType":
        step = f"(1 if {value}.step is None else {value}.step)"
        start = f"(({_LAST} if {step} < 0 else 0) if {value}.start is None else {value}.start)"
        stop = f"((-{_LAST} - 1 if {step} < 0 else {_LAST}) if {value}.stop is None else {value}.stop)"
        texts = {"start": start, "stop": stop, "step": step}
        return [Part(n, types.int64, text) for n, text in texts.items()]
    if kind == "FunctionType":
        return [Part(n, types.voidptr, f"{value}.{n}") for n in ("c_addr", "py_addr", "jit_addr")]
    if kind == "RangeType":
        return [Part(n, of.dtype, f"{value}.{n}") for n in ("start", "stop", "step")]
    raise NotImplementedError(f"the layout of {of} is not Numba's: call a function by `context.compile_internal`")


LAYOUTS["parts"] = parts_of


def composed_of(builder: Any, of: Any, parts: list[Value]) -> Value:
    """A value of a type of Numba of its parts, as the generator holds them."""
    r: Recorder = builder.recorder
    kind = of.kind
    if kind == "Optional":
        held = r.constant(of)
        made = r.let(f"prim.zero({held})", Composed(of))
        with builder.if_then(parts[1]):
            r.do(f"{made.text} = prim.as_type({r.result(parts[0], of.type)}, {held})")
        return made
    if kind == "FunctionType":
        # It compiles functions, which few programs have a proxy for.
        from lancehead.lowlevel.function_types import function_at

        maker = r.constant(function_at(of))
        return r.let(f"{maker}({r.escape(parts[0]).text})", Composed(of))
    wanted = [p.of for p in parts_of(of, "")]
    texts = [r.result(value, t) for value, t in zip(parts, wanted, strict=True)]
    inside = "".join(text + ", " for text in texts)
    if kind == "Extension":
        return r.let(f"prim.model_value({r.constant(of)}, ({inside}))", Composed(of))
    if kind == "NamedTuple":
        return r.let(f"{r.constant(of.instance_class)}({inside})", Composed(of))
    if kind == "Complex":
        return r.let(f"prim.as_type(prim.complex({texts[0]}, {texts[1]}), {r.constant(of)})", Composed(of))
    if kind in ("SliceType", "RangeType"):
        return r.let(f"{'slice' if kind == 'SliceType' else 'range'}({inside})", Composed(of))
    return r.let(f"({inside})", Composed(of))


def part(builder: Any, value: Value, at: int) -> Value:
    """A part of an aggregate, by its position."""
    r: Recorder = builder.recorder
    if value.of is None:
        return r.let(f"{value.text}[{at}]", value.type.elements[at])
    if value.of.kind == "Array":
        return getattr(ArrayProxy(value.of, builder, value), ARRAY_PARTS[at])  # type: ignore[no-any-return]
    if value.of.kind == "UniTuple":
        return r.argument(f"{value.text}[{at}]", value.of.dtype)
    found = parts_of(value.of, value.text)[at]
    return r.argument(r.let(found.text, found.of).text, found.of)


def with_part(builder: Any, value: Value, at: int, new: Value) -> Value:
    """The same aggregate with another part."""
    r: Recorder = builder.recorder
    if value.of is None:
        n = len(value.type.elements)
        texts = [new.text if i == at else f"{value.text}[{i}]" for i in range(n)]
        return r.let(f"({''.join(t + ', ' for t in texts)})", value.type)
    n = len(parts_of(value.of, ""))
    return composed_of(builder, value.of, [new if i == at else part(builder, value, i) for i in range(n)])


class Proxy:
    """The parts of a value as attributes that are read and assigned."""

    def __init__(self, of: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        self.__dict__.update(_of=of, _context=context, _builder=builder, _ref=ref)
        if ref is not None:
            value = builder.load(ref)
        fields: dict[str, tuple[Any, Slot]] = {}
        for i, p in enumerate(parts_of(of, "")):
            if p.of.kind in ("NoneType", "Opaque"):
                continue
            slot = builder.recorder.slot(lowered(p.of))
            fields[p.name] = (p.of, slot)
            if value is not None:
                builder.store(part(builder, builder.recorder.value(value), i), slot)
        self.__dict__["_fields"] = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        of, slot = self._field(name)
        return self._builder.load(slot)

    def _field(self, name: str) -> tuple[Any, Slot]:
        try:
            found: tuple[Any, Slot] = self._fields[name]
        except KeyError:
            raise AttributeError(f"{self._of} has no member {name!r}; it has {', '.join(self._fields)}") from None
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        of, slot = self._field(name)
        value = self._builder.recorder.value(value)
        wanted = lowered(of)
        if value.type != wanted and isinstance(value.type, ir.PointerType) and isinstance(wanted, ir.PointerType):
            value = self._builder.bitcast(value, wanted)
        if value.type == INT1 or wanted == INT1:
            value = value if value.type == wanted else self._builder._cast(value, wanted)
        if value.type == wanted and value.of is not None and value.of != of:
            value = self._builder.recorder.argument(self._builder.recorder.result(value, of), of)
        if value.type != wanted:
            raise TypeError(
                f"Invalid store of {value.type} to {wanted} in {self._of} (trying to write member {name!r})"
            )
        self._builder.store(value, slot)
        if self._ref is not None:
            self._builder.store(self._getvalue(), self._ref)

    def _get_ptr_by_name(self, name: str) -> Any:
        """The address of the variable that holds a member."""
        slot = self._field(name)[1]
        slot.proxy = self
        return slot

    def _get_ptr_by_index(self, at: int) -> Any:
        """The address of the variable that holds the member of a position."""
        return self._get_ptr_by_name(list(self._fields)[at])

    def __getitem__(self, at: int) -> Any:
        return getattr(self, list(self._fields)[at])

    def __setitem__(self, at: int, value: Any) -> None:
        setattr(self, list(self._fields)[at], value)

    def __len__(self) -> int:
        return len(self._fields)

    @property
    def _datamodel(self) -> Any:
        return models.lookup(self._of)

    def _getvalue(self) -> Value:
        """The value of the parts as they are now."""
        r = self._builder.recorder
        none = Value(r, "None", VOIDPTR)
        loaded = [
            self._builder.load(self._fields[p.name][1]) if p.name in self._fields else none
            for p in parts_of(self._of, "")
        ]
        return composed_of(self._builder, self._of, loaded)

    def _setvalue(self, value: Any) -> None:
        """Sets all parts."""
        for i, name in enumerate(self._fields):
            self._builder.store(part(self._builder, self._builder.recorder.value(value), i), self._fields[name][1])

    def _getpointer(self) -> Any:
        """The address of a variable that holds the value."""
        if self._ref is not None:
            return self._ref
        slot = self._builder.recorder.slot(Composed(self._of))
        self._builder.store(self._getvalue(), slot)
        return slot


#: Parts of an array in Numba's order.
ARRAY_PARTS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")


class ArrayProxy:
    """The parts of an array. One that is made of parts refers to memory that someone else keeps, unless it has the
    `meminfo` of an array or of new memory."""

    def __init__(self, of: Any, builder: Any, value: Any = None) -> None:
        self._of, self._builder = of, builder
        r: Recorder = builder.recorder
        ints = ir.ArrayType(INT64, of.ndim)
        if value is None:
            self.meminfo: Any = Value(r, "prim.nobody()", Composed(_core.owner_type()[0]))
            self.parent: Any = ir.Constant(VOIDPTR, None)
            self.data: Any = ir.Constant(ir.PointerType(lowered(of.dtype)), None)
            self.shape: Any = ir.Constant(ints, None)
            self.strides: Any = ir.Constant(ints, None)
            return
        given = r.value(value)
        a = given.text
        self.meminfo = r.let(f"prim.owner({a})", Composed(_core.owner_type()[0])).sharing(given)
        self.parent = r.zero(VOIDPTR)
        self.nitems = r.let(f"prim.cast({a}.size, {builder._held(INT64)})", INT64)
        self.itemsize = r.number(size_of(lowered(of.dtype))[0], INT64)
        self.data = r.let(f"prim.data({a})", ir.PointerType(lowered(of.dtype)))
        casted = [
            "".join(f"prim.cast({a}.{n}[{i}], {builder._held(INT64)}), " for i in range(of.ndim))
            for n in ("shape", "strides")
        ]
        self.shape, self.strides = r.let(f"({casted[0]})", ints), r.let(f"({casted[1]})", ints)

    def __getitem__(self, at: int) -> Any:
        return getattr(self, ARRAY_PARTS[at])

    def __setitem__(self, at: int, value: Any) -> None:
        setattr(self, ARRAY_PARTS[at], value)

    def __len__(self) -> int:
        return len(ARRAY_PARTS)

    def _getpointer(self) -> Any:
        """The address of a variable that holds the array."""
        slot = self._builder.recorder.slot(Composed(self._of))
        self._builder.store(self._getvalue(), slot)
        return slot

    def _getvalue(self) -> Value:
        r: Recorder = self._builder.recorder
        of = self._of
        owner = r.value(self.meminfo)
        data, shape, strides = (r.value(getattr(self, n)) for n in ("data", "shape", "strides"))
        text = f"prim.array({owner.text}, {r.escape(data).text}, {shape.text}, {strides.text}, {r.constant(of.dtype)}, "
        return r.let(f"{text}{of.layout!r})", Composed(of)).sharing(owner)


def populate_array(
    array: Any, data: Any, shape: Any, strides: Any, itemsize: Any, meminfo: Any = None, parent: Any = None
) -> Any:
    """Sets the parts of an array; without `meminfo` it refers to memory that someone else keeps."""
    array.data = data
    if meminfo is not None:
        array.meminfo = meminfo
    builder = array._builder
    for name, given in (("shape", shape), ("strides", strides)):
        if isinstance(given, (list, tuple)):
            values = [builder.recorder.value(v) for v in given]
            text = "".join(v.text + ", " for v in values)
            given = builder.recorder.let(f"({text})", ir.ArrayType(INT64, len(values)))
        setattr(array, name, given)
    return array


class BytesProxy(ArrayProxy):
    """The parts of `bytes`, which are those of an array of bytes. A value that is made of parts is a copy."""

    def __init__(self, of: Any, builder: Any, value: Any = None) -> None:
        r: Recorder = builder.recorder
        self._bytes = of
        array = types.Array(types.uint8, 1, "C")
        if value is not None:
            viewed = f"{r.constant(np.frombuffer)}({r.value(value).text}, {r.constant(np.uint8)})"
            value = r.let(viewed, Composed(types.Array(types.uint8, 1, "C", readonly=True)))
        super().__init__(array, builder, value)

    def _getvalue(self) -> Value:
        r: Recorder = self._builder.recorder
        count = r.value(self.nitems).text
        self.shape = r.let(f"({count},)", ir.ArrayType(INT64, 1))
        self.strides = r.let("(1,)", ir.ArrayType(INT64, 1))
        return r.let(f"{r.constant(bytes)}({super()._getvalue().text})", Composed(self._bytes))


def proxy(of: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
    """The parts of a value of a type."""
    if of.kind == "Array":
        return ArrayProxy(of, builder, builder.load(ref) if ref is not None else value)
    if of.kind == "Bytes":
        return BytesProxy(of, builder, builder.load(ref) if ref is not None else value)
    return Proxy(of, context, builder, value, ref)
