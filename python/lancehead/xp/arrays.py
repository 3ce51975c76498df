"""The array: a view of storage whose contents are a node of the graph."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead import _core
from lancehead._core import data_address
from lancehead.caches import Cache
from lancehead.options import near_members
from lancehead.xp import devices, dtypes, records
from lancehead.xp.devices import CPU, IN_USE, Device, as_device
from lancehead.xp.graph import ARRAY, NUMBERS, TRANSFER, Node, leaf, number, op, transferred
from lancehead.xp.methods import Methods
from lancehead.xp.places import add_note
from lancehead.xp.regions import compute, computed_region, failed_region, settle
from lancehead.xp.rows import Element, How, Kind, Row
from lancehead.xp.scheduled import scheduled
from lancehead.xp.schedules import Schedule

if TYPE_CHECKING:
    from lancehead.xp.explaining import Explanation


def _shadow(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    # An array with the extents and strides of a new one, whose memory is not used.
    if math.prod(shape) < 4096:
        return np.empty(shape, dtype)
    strides, step = [], dtype.itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return as_strided(np.empty(1, dtype), shape, strides[::-1])


class View(_core.GraphView):
    """Where the elements of a view lie in the memory of another array: `shadow` is a view of `whole`, which has the
    extents and strides of the other array. In the version `now`, `whole` is the array's value, too."""

    __slots__ = ()
    if TYPE_CHECKING:
        owner: ndarray
        shadow: np.ndarray
        whole: np.ndarray
        now: Node | None

    def __init__(self, owner: ndarray, shadow: np.ndarray, whole: np.ndarray, now: Node | None) -> None:
        self.owner = owner
        self.shadow = shadow
        self.whole = whole
        self.now = now
        #: The node of the elements as they are in a version of the memory.
        self.read: Node | None = None
        self.version: Node | None = None
        #: Whether the value was asked for. Before, operations on it are compiled together with the view.
        self.asked = False

    def first(self) -> int:
        """Position of the first element."""
        if self.shadow.size:
            return (data_address(self.shadow) - data_address(self.whole)) // self.shadow.itemsize
        return 0

    def byte(self) -> int:
        """Position of the first byte."""
        return data_address(self.shadow) - data_address(self.whole) if self.shadow.size else 0

    def node(self) -> Node:
        """The node of the elements as they are now."""
        newest = self.owner._node
        if self.read is None or self.version is not newest:
            s = self.shadow
            if newest.dtype.fields is not None:
                self.read, self.version = records.part(newest, s, self.byte()), newest
                return self.read
            if self.asked and self.now is newest:
                self.read = Node(_STRIDED, (), s.shape, s.dtype, (), s, newest.device)
            else:
                self.read = Node(_STRIDED, (newest,), s.shape, s.dtype, (self.first(), s.shape, s.strides))
            self.version = newest
        return self.read

    def value(self) -> np.ndarray | None:
        """The value, where it is known as part of the other array's."""
        if self.now is not self.owner._node:
            return None
        if not self.asked:
            self.asked = True
            if self.read is not None and self.version is self.now:
                settle(self.read, self.shadow)
        return self.shadow


#: The array of a new operation, whose inputs are known to be on the device; and an array of a node's contents.
lazy: Callable[..., ndarray] = _core.lazy_array
wrap: Callable[[Node], ndarray] = _core.array_of_node
#: The shape to which two shapes broadcast.
broadcast = functools.lru_cache(1024)(np.broadcast_shapes)

#: By names of functions of elements: operations and types of results by the type of operands, or the types of each.
#: That of a Python number is its class; the type of its node comes third then.
_KNOWN: dict[str, Cache[Any, Any]] = {}


def known(name: str) -> Cache[Any, Any]:
    """The cached facts of an elementwise function, by the types of its operands."""
    return _KNOWN.setdefault(name, Cache(1024))


def unary(name: str, slow: Callable[[Any], ndarray]) -> Callable[[Any], ndarray]:
    """The function of elements of one array; `slow` is for types that are new."""
    return _core.elementwise(1, known(name), slow)


def binary(name: str, slow: Callable[[Any, Any], ndarray]) -> Callable[[Any, Any], ndarray]:
    """The function of elements of two arrays or numbers; `slow` is for types that are new."""
    return _core.elementwise(2, known(name), slow)


def _operator(name: str, exchanged: bool = False) -> Callable[[Any, Any], ndarray]:
    def slow(a: Any, b: Any, /) -> ndarray:
        return _operate(name, a, b)

    return _core.elementwise(2, known(name), slow, exchanged)


def _alone(name: str) -> Callable[[Any], ndarray]:
    return unary(name, lambda x: cast("ndarray", _OPERATORS[name](x)))


def _operators(name: str) -> tuple[Callable[[Any, Any], ndarray], ...]:
    # An operator, the one with exchanged operands, and the one in place.
    def in_place(self: Any, other: Any) -> ndarray:
        return _change(name, self, other)

    return _operator(name), _operator(name, True), in_place


@near_members
class ndarray(_core.GraphArray, Methods):
    """An array that is computed when its value is needed.

    Operations, indexing and the functions of [`lancehead.xp`][] give arrays; conversion, printing, `bool`, `compute()`
    and NumPy's functions ask for the value. Slices and transposes are views: a change of one is seen by the others.
    """

    __slots__ = ("__weakref__",)
    if TYPE_CHECKING:
        _node: Node
        _view: View | None

        def node(self) -> Node: ...

    def __init__(self, node: Node, view: View | None = None) -> None:
        #: The newest version of the contents, in row-major order; of a view those of its owner count.
        self._node, self._view = node, view

    # --- facts -------------------------------------------------------------------------------------------------------
    @property
    def device(self) -> Device:
        """Where it is."""
        return self._node.device or CPU

    def to_device(self, device: Any, /, *, stream: Any = None) -> ndarray:
        """The array on a device, itself if it is there; ValueError if there is none of that name, and for streams."""
        wanted = as_device(device)
        if stream is not None:
            raise ValueError("copies are in the order of the program, without streams")
        return self if wanted is self.device else ndarray(transferred(self.node(), wanted))

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    # --- contents ----------------------------------------------------------------------------------------------------
    def write(self, value: Node) -> None:
        """Stores a value of the array's type, whose shape broadcasts to the array's."""
        view = self._view
        if view is None:
            if value.shape == self._node.shape:
                if value.device is not self._node.device:
                    value = _here(value, self._node.device)
                self._node = value
                return
            view = self.view(lambda s: s)._view
            assert view is not None, "it is one"
        newest, s = view.owner._node, view.shadow
        if newest.dtype.fields is not None:
            if not records.is_whole(newest.dtype, s.dtype):
                # Other fields lie between those that are chosen.
                for name in s.dtype.names or ():
                    self.view(lambda s, name=name: s[name]).write(ndarray(value)[name].node())
                return
            view.owner._node = records.store(newest, value, s, view.byte())
            return
        # Without axes it is a number while it is computed, which has no memory to change.
        store = _STORED if newest.shape else _STORED_NUMBER
        dynamic = (view.first(), s.shape, s.strides)
        view.owner._node = Node(store, (newest, value), newest.shape, newest.dtype, dynamic)

    def explain(self) -> Explanation:
        """Explains how the array is computed: its operations, the regions that are compiled together, memory. Printed,
        or shown by a notebook.
        """
        found: Explanation = _OPERATORS["explain"](self)
        return found

    def schedule(self, schedule: Schedule | None = None, /, **options: Any) -> ndarray:
        """Says how the array's present contents are computed, and answers with the array itself.

        Options are those of `xp.Schedule`; they replace what was said before. A schedule never changes a result.
        Raises ValueError for one that is impossible, TypeError for options that are none or of a wrong type.
        """
        scheduled(self.node(), schedule, options, as_device)
        return self

    def autotune(self, budget: float = 1.0) -> Schedule:
        """Finds the fastest schedule in so many seconds, gives it to the array, and answers with it."""
        found: Schedule = _OPERATORS["autotune"](self, budget=budget)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.numpy()
        if copy:
            return np.array(value, dtype=dtype)
        if dtype is not None and value.dtype != dtype:
            return np.array(value, dtype=dtype, copy=copy)
        # The memory, which other arrays may have, too.
        shown: np.ndarray = value.view()
        shown.flags.writeable = False
        return shown

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        # Calls that functions of this module implement stay lazy; every other call asks for the values.
        return _OPERATORS["ufunc"](ufunc, method, given, options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        return _OPERATORS["function"](function, types, given, options)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The functions for these arrays; ValueError for a version of the standard that is not served."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"version {api_version!r} of the array API standard is not served; 2024.12 is")
        return sys.modules["lancehead.xp"]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        value = self._on_device() if self.device.number is not None else np.array(self.numpy())
        return value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        found: tuple[int, int] = (
            self.numpy().__dlpack_device__() if self.device.number is None else self._on_device().__dlpack_device__()
        )
        return found

    def _on_device(self) -> Any:
        # The device array of the value.
        node = self.node()
        compute(node)
        return node.value

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory of an array on a device. AttributeError for an array on the host."""
        if self.device.number is None:
            raise AttributeError("an array on the device 'cpu' has no __cuda_array_interface__")
        found: dict[str, Any] = self._on_device().__cuda_array_interface__
        return found

    def __repr__(self) -> str:
        return "xp." + repr(self.numpy())

    def __str__(self) -> str:
        return str(self.numpy())

    def _number(self, to: str) -> Any:
        if self.size != 1 or self.ndim:
            raise TypeError(f"only an array without axes can be converted to {to}, not one of shape {self.shape}")
        return self.numpy()[()]

    def __format__(self, spec: str) -> str:
        return format(self.numpy()[()] if not self.ndim else self.numpy(), spec)

    def __dir__(self) -> list[str]:
        # Attributes that only the functions of this module use are not for programs.
        return sorted(set(super().__dir__()) - {"node", "view", "write"})

    def __bool__(self) -> bool:
        # As NumPy's: the truth of the only element, whatever the number of axes.
        n = self.size
        if n > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        if n == 0:
            raise ValueError(
                "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not "
                "empty."
            )
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        if self.dtype in dtypes.COMPLEX:
            raise TypeError("a complex array cannot be converted to float; write real(x)")
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __index__(self) -> int:
        if self.dtype not in dtypes.INTEGRAL:
            raise TypeError(f"only integers are an index, not {self.dtype}")
        return int(self._number("int"))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    __hash__ = None  # type: ignore[assignment]

    # --- views -------------------------------------------------------------------------------------------------------
    @property
    def mT(self) -> ndarray:
        """The transposed matrices; ValueError unless there are at least two axes."""
        if self.ndim < 2:
            raise ValueError(f"mT is of arrays with at least two axes, not {self.ndim}")
        return self.view(np.ndarray.swapaxes, -1, -2)

    def __setitem__(self, key: Any, value: Any) -> None:
        _OPERATORS["put"](self, key, value)

    # --- operators ---------------------------------------------------------------------------------------------------
    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("subtract")
    __mul__, __rmul__, __imul__ = _operators("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _operators("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floor_divide")
    __mod__, __rmod__, __imod__ = _operators("remainder")
    __pow__, __rpow__, __ipow__ = _operators("pow")
    __and__, __rand__, __iand__ = _operators("bitwise_and")
    __or__, __ror__, __ior__ = _operators("bitwise_or")
    __xor__, __rxor__, __ixor__ = _operators("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _operators("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = _operators("bitwise_right_shift")
    __matmul__, __rmatmul__, __imatmul__ = _operators("matmul")
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("less", "less_equal", "greater", "greater_equal"))
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")  # type: ignore[assignment]
    __neg__, __pos__, __abs__, __invert__ = map(_alone, ("negative", "positive", "abs", "bitwise_invert"))


#: Functions by the names of their operators, which the extension module reads, too.
_OPERATORS: dict[str, Callable[..., Any]] = {}


def set_operators(**functions: Callable[..., object]) -> None:
    """Sets the functions that operators and methods of arrays call; the modules that define them do."""
    _OPERATORS.update(functions)


def operator(name: str) -> Callable[..., ndarray]:
    """The function of an operator."""
    return _OPERATORS[name]


_OPERANDS = (ndarray, bool, int, float, complex, np.ndarray, np.generic, str, bytes)
_TYPES = frozenset(_OPERANDS)


def _operate(name: str, a: Any, b: Any) -> ndarray:
    if (type(a) in _TYPES and type(b) in _TYPES) or (isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS)):
        found: ndarray = _OPERATORS[name](a, b)
        return found
    return cast("ndarray", NotImplemented)


def _change(name: str, x: ndarray, other: Any) -> ndarray:
    if not isinstance(other, _OPERANDS):
        return cast("ndarray", NotImplemented)
    return cast("ndarray", _OPERATORS["change"](x, _OPERATORS[name], other))


def _strided(a: str, first: str, shape: str, strides: str) -> str:
    return f"strided({a}, {first}, {shape}, {strides})"


def _stored(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored({a}, {x}, {first}, {shape}, {strides})"


def _stored_number(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored_number({a}, {x}, {first}, {shape}, {strides})"


def _stored_here(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored_here({a}, {x}, {first}, {shape}, {strides})"


def _viewed(a: Any, first: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    # The view of a value, in its memory; what has no buffer goes the longer way.
    if type(a) is np.ndarray and a.size and a.dtype.kind in "biufc" and a.flags.c_contiguous and 0 not in shape:
        return np.ndarray(shape, a.dtype, a, first * a.itemsize, strides)
    return as_strided(np.ascontiguousarray(a).reshape(-1)[first:], shape, strides)


def _compute(x: ndarray) -> ndarray:
    # `compute()` of arrays whose value takes more than a call.
    _value(x)
    return x


def _value(x: ndarray) -> Any:
    # The value, on a device an array of that.
    node = x._node
    if x._view is not None:
        part = x._view.value()
        if part is not None:
            return part
        node = x._view.node()
    compute(node)
    return node.value


def _numpy(x: ndarray) -> np.ndarray:
    # `numpy()` of the same.
    found: np.ndarray = _value(x)
    return found if type(found) is np.ndarray else devices.fetched(found)


_STRIDED = op(Row("view", Kind.VIEW, element=Element.VIEW, is_portable=True), _strided)
_STRIDED.alone = _viewed
_STORE = Row("store", how=How.STORED)
_STORED = op(_STORE, _stored, is_costly=True, is_fresh=True, here=_stored_here)
_STORED_NUMBER = op(_STORE, _stored_number, is_costly=True)


_core.register_graph({
    "node": Node, "view": View, "array": ndarray, "in_use": IN_USE, "numbers": NUMBERS, "number": number,
    "broadcast": broadcast, "shadow": _shadow, "compute": _compute, "operators": _OPERATORS,
    "failed": lambda node, error: add_note(error, node), "region": computed_region, "failed_region": failed_region,
    "settle": settle, "numpy": _numpy, "strided": _STRIDED,
    "transfer": TRANSFER, "mixed": devices.mixed,
})  # fmt: skip


def _here(value: Node, device: Device | None) -> Node:
    # A value that is stored, where the array is.
    if value.device is not None and device is not None:
        raise devices.mixed(device, value.device)
    return value if device is None or device.number is None else transferred(value, device)


def from_numpy(value: np.ndarray, device: Device | None = None) -> ndarray:
    """An array of a row-major array of NumPy: on the host its memory, on another device a copy.

    Without a device it goes with arrays of any.
    """
    if device is None or device.number is None:
        return wrap(Node(ARRAY, (), value.shape, value.dtype, (), value, device))
    return wrap(leaf(devices.uploaded(value, device), device))
