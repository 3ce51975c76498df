"""The array: a view of storage whose contents are a node of the graph."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.xp import devices, dtypes, records
from lancehead.xp.devices import CPU, Device, as_device
from lancehead.xp.graph import Kind, Node, leaf, op, transferred
from lancehead.xp.methods import Methods
from lancehead.xp.regions import compute, compute_alone
from lancehead.xp.schedules import Schedule, scheduled

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


def _address(shadow: np.ndarray) -> int:
    return int(shadow.__array_interface__["data"][0])


class View:
    """Where the elements of a view lie in the memory of another array."""

    __slots__ = ("base", "owner", "read", "shadow", "version")

    def __init__(self, owner: ndarray, shadow: np.ndarray, base: int) -> None:
        self.owner, self.shadow, self.base = owner, shadow, base
        #: The node of the elements as they are in a version of the memory.
        self.read: Node | None = None
        self.version: Node | None = None

    def first(self) -> int:
        """Position of the first element."""
        return (_address(self.shadow) - self.base) // self.shadow.itemsize if self.shadow.size else 0

    def byte(self) -> int:
        """Position of the first byte."""
        return _address(self.shadow) - self.base if self.shadow.size else 0

    def node(self) -> Node:
        """The node of the elements as they are now."""
        newest = self.owner._node
        if self.read is None or self.version is not newest:
            s = self.shadow
            if newest.dtype.fields is not None:
                self.read, self.version = records.part(newest, s, self.byte()), newest
                return self.read
            self.read = Node(_STRIDED, (newest,), s.shape, s.dtype, (self.first(), s.shape, s.strides))
            self.version = newest
        return self.read


class ndarray(Methods):
    """An array that is computed when its value is needed.

    Operations, indexing and the functions of [`lancehead.xp`][] give arrays; conversion, printing, `bool`, `compute()`
    and NumPy's functions ask for the value. Slices and transposes are views: a change of one is seen by the others.
    """

    __slots__ = ("__weakref__", "_node", "_view")

    def __init__(self, node: Node, view: View | None = None) -> None:
        #: The newest version of the contents, in row-major order; of a view those of its owner count.
        self._node, self._view = node, view

    # --- facts -------------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self._node.shape if self._view is None else self._view.shadow.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type."""
        return self._node.dtype if self._view is None else self._view.shadow.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

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
    def node(self) -> Node:
        """The node of the array's contents as they are now."""
        return self._node if self._view is None else self._view.node()

    def view(self, change: Callable[[np.ndarray], np.ndarray]) -> ndarray:
        """Another view of the same memory: `change` is applied to an array of the same extents and strides."""
        view = self._view
        if view is None:
            shadow = _shadow(self.shape, self.dtype)
            return ndarray(self._node, View(self, change(shadow), _address(shadow)))
        return ndarray(self._node, View(view.owner, change(view.shadow), view.base))

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
                    self.view(lambda s, name=name: s[name]).write(ndarray(value)[name].node())  # type: ignore[misc]
                return
            view.owner._node = records.store(newest, value, s, view.byte())
            return
        # Without axes it is a number while it is computed, which has no memory to change.
        store = _STORED if newest.shape else _STORED_NUMBER
        dynamic = (view.first(), s.shape, s.strides)
        view.owner._node = Node(store, (newest, value), newest.shape, newest.dtype, dynamic)

    def explain(self) -> Explanation:
        """What computes the array: operations, which are compiled together, memory. Printed, or shown by a notebook."""
        found: Explanation = OPERATORS["explain"](self)
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
        found: Schedule = OPERATORS["autotune"](self, budget=budget)
        return found

    def compute(self) -> ndarray:
        """Computes the value now, and answers with the array itself. Raises what the operations raise."""
        compute(self.node())
        return self

    def numpy(self) -> np.ndarray:
        """The value as an array of NumPy, which is a copy unless nothing else can change it."""
        node = self._node if self._view is None else self._view.node()
        if node.value is None and (devices.IN_USE or not compute_alone(node)):
            compute(node)
        found: np.ndarray = node.value
        return found if type(found) is np.ndarray else devices.fetched(found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.numpy()
        return np.array(value, dtype=dtype, copy=True) if copy is not False else np.asarray(value, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        # Operators between arrays of NumPy and these are ours; every other call asks for the values.
        if method == "__call__" and not options:
            found = OPERATORS["of_numpy"](ufunc.__name__, *given)
            if found is not None:
                return found
        return getattr(ufunc, method)(*_values(given), **options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        return function(*_values(given), **_values(options))

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
        # What the functions of this module use is not for programs.
        return sorted(set(super().__dir__()) - {"node", "view", "write"})

    def __bool__(self) -> bool:
        return bool(self._number("bool"))

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
    def T(self) -> ndarray:
        """The transposed matrix; ValueError unless there are two axes."""
        if self.ndim != 2:
            raise ValueError(f"T is of arrays with two axes, not {self.ndim}; write permute_dims or mT")
        return self.view(np.transpose)

    @property
    def mT(self) -> ndarray:
        """The transposed matrices; ValueError unless there are at least two axes."""
        if self.ndim < 2:
            raise ValueError(f"mT is of arrays with at least two axes, not {self.ndim}")
        return self.view(lambda s: np.swapaxes(s, -1, -2))

    def __getitem__(self, key: Any) -> ndarray:
        found: ndarray = OPERATORS["get"](self, key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        OPERATORS["put"](self, key, value)

    # --- operators ---------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> ndarray:
        return _operate("add", self, other)

    def __radd__(self, other: Any) -> ndarray:
        return _operate("add", other, self)

    def __iadd__(self, other: Any) -> ndarray:
        return _change("add", self, other)

    def __sub__(self, other: Any) -> ndarray:
        return _operate("subtract", self, other)

    def __rsub__(self, other: Any) -> ndarray:
        return _operate("subtract", other, self)

    def __isub__(self, other: Any) -> ndarray:
        return _change("subtract", self, other)

    def __mul__(self, other: Any) -> ndarray:
        return _operate("multiply", self, other)

    def __rmul__(self, other: Any) -> ndarray:
        return _operate("multiply", other, self)

    def __imul__(self, other: Any) -> ndarray:
        return _change("multiply", self, other)

    def __truediv__(self, other: Any) -> ndarray:
        return _operate("divide", self, other)

    def __rtruediv__(self, other: Any) -> ndarray:
        return _operate("divide", other, self)

    def __itruediv__(self, other: Any) -> ndarray:
        return _change("divide", self, other)

    def __floordiv__(self, other: Any) -> ndarray:
        return _operate("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> ndarray:
        return _operate("floor_divide", other, self)

    def __ifloordiv__(self, other: Any) -> ndarray:
        return _change("floor_divide", self, other)

    def __mod__(self, other: Any) -> ndarray:
        return _operate("remainder", self, other)

    def __rmod__(self, other: Any) -> ndarray:
        return _operate("remainder", other, self)

    def __imod__(self, other: Any) -> ndarray:
        return _change("remainder", self, other)

    def __pow__(self, other: Any) -> ndarray:
        return _operate("pow", self, other)

    def __rpow__(self, other: Any) -> ndarray:
        return _operate("pow", other, self)

    def __ipow__(self, other: Any) -> ndarray:
        return _change("pow", self, other)

    def __and__(self, other: Any) -> ndarray:
        return _operate("bitwise_and", self, other)

    def __rand__(self, other: Any) -> ndarray:
        return _operate("bitwise_and", other, self)

    def __iand__(self, other: Any) -> ndarray:
        return _change("bitwise_and", self, other)

    def __or__(self, other: Any) -> ndarray:
        return _operate("bitwise_or", self, other)

    def __ror__(self, other: Any) -> ndarray:
        return _operate("bitwise_or", other, self)

    def __ior__(self, other: Any) -> ndarray:
        return _change("bitwise_or", self, other)

    def __xor__(self, other: Any) -> ndarray:
        return _operate("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> ndarray:
        return _operate("bitwise_xor", other, self)

    def __ixor__(self, other: Any) -> ndarray:
        return _change("bitwise_xor", self, other)

    def __lshift__(self, other: Any) -> ndarray:
        return _operate("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Any) -> ndarray:
        return _operate("bitwise_left_shift", other, self)

    def __ilshift__(self, other: Any) -> ndarray:
        return _change("bitwise_left_shift", self, other)

    def __rshift__(self, other: Any) -> ndarray:
        return _operate("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Any) -> ndarray:
        return _operate("bitwise_right_shift", other, self)

    def __irshift__(self, other: Any) -> ndarray:
        return _change("bitwise_right_shift", self, other)

    def __matmul__(self, other: Any) -> ndarray:
        return _operate("matmul", self, other)

    def __rmatmul__(self, other: Any) -> ndarray:
        return _operate("matmul", other, self)

    def __imatmul__(self, other: Any) -> ndarray:
        return _change("matmul", self, other)

    def __lt__(self, other: Any) -> ndarray:
        return _operate("less", self, other)

    def __le__(self, other: Any) -> ndarray:
        return _operate("less_equal", self, other)

    def __gt__(self, other: Any) -> ndarray:
        return _operate("greater", self, other)

    def __ge__(self, other: Any) -> ndarray:
        return _operate("greater_equal", self, other)

    def __eq__(self, other: Any) -> ndarray:  # type: ignore[override]
        return _operate("equal", self, other)

    def __ne__(self, other: Any) -> ndarray:  # type: ignore[override]
        return _operate("not_equal", self, other)

    def __neg__(self) -> ndarray:
        return _alone("negative", self)

    def __pos__(self) -> ndarray:
        return _alone("positive", self)

    def __abs__(self) -> ndarray:
        return _alone("abs", self)

    def __invert__(self) -> ndarray:
        return _alone("bitwise_invert", self)


def _values(x: Any) -> Any:
    # The values of the arrays in the arguments of a function of NumPy.
    if isinstance(x, ndarray):
        return x.numpy()
    if isinstance(x, dict):
        return {k: _values(v) for k, v in x.items()}
    return type(x)(map(_values, x)) if type(x) in (list, tuple) else x


#: Functions by the names of their operators; the modules that define them add them.
OPERATORS: dict[str, Callable[..., Any]] = {}
_OPERANDS = (ndarray, bool, int, float, complex, np.ndarray, np.generic, str, bytes)
_TYPES = frozenset(_OPERANDS)


def _alone(name: str, x: ndarray) -> ndarray:
    found: ndarray = OPERATORS[name](x)
    return found


def _operate(name: str, a: Any, b: Any) -> ndarray:
    if (type(a) in _TYPES and type(b) in _TYPES) or (isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS)):
        found: ndarray = OPERATORS[name](a, b)
        return found
    return cast("ndarray", NotImplemented)


def _change(name: str, x: ndarray, other: Any) -> ndarray:
    if not isinstance(other, _OPERANDS):
        return cast("ndarray", NotImplemented)
    return cast("ndarray", OPERATORS["change"](x, OPERATORS[name], other))


def _strided(a: str, first: str, shape: str, strides: str) -> str:
    return f"strided({a}, {first}, {shape}, {strides})"


def _stored(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored({a}, {x}, {first}, {shape}, {strides})"


def _stored_number(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored_number({a}, {x}, {first}, {shape}, {strides})"


def _stored_here(a: str, x: str, first: str, shape: str, strides: str) -> str:
    return f"stored_here({a}, {x}, {first}, {shape}, {strides})"


_STRIDED = op("view", _strided, kind=Kind.VIEW)
_STORED = op("store", _stored, is_costly=True, is_fresh=True, here=_stored_here)
_STORED_NUMBER = op("store", _stored_number, is_costly=True)

#: An array of a node's contents.
wrap = ndarray


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
        return wrap(leaf(value, device))
    return wrap(leaf(devices.uploaded(value, device), device))
