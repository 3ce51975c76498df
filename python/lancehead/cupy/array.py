"""The array of CuPy's interface: an array of `lancehead.xp` on a device, with CuPy's methods."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from lancehead.cupy import hosted, indexing, layout, ufuncs
from lancehead.cupy.hosted import wrap
from lancehead.options import NoMember
from lancehead.xp import arrays as lazy

_SCALARS = (bool, int, float, complex, np.generic)


def _binary(f: ufuncs.ufunc) -> tuple[Any, Any, Any]:
    def operate(self: Any, other: Any) -> Any:
        if _is_operand(self, other):
            return f(self, other)
        # Nothing else is equal to an object that compares as any.
        kind: Any = type(other)
        if f.name in ("equal", "not_equal") and kind.__eq__ is object.__eq__ and kind.__ne__ is object.__ne__:
            return layout.NAMESPACE[0].full(self.shape, f.name == "not_equal")
        return NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return f(other, self) if _is_operand(self, other) else NotImplemented

    def in_place(self: Any, other: Any) -> Any:
        return f(self, other, out=self) if _is_operand(self, other) else NotImplemented

    return operate, reflected, in_place


def _is_operand(self: Any, other: Any) -> bool:
    if isinstance(other, (lazy.ndarray, *_SCALARS)):
        return True
    if getattr(other, "__array_ufunc__", 0) is None:
        return False
    if isinstance(other, np.ndarray):
        raise TypeError(f"Unsupported type {type(other)}")
    return hasattr(other, "__cuda_array_interface__")


def _unary(f: ufuncs.ufunc) -> Any:
    return lambda self: f(self)


def _method(name: str) -> Any:
    # A function of the namespace with the array as its first argument.
    def call(self: Any, *given: Any, **named: Any) -> Any:
        return getattr(layout.NAMESPACE[0], name)(self, *given, **named)

    call.__name__ = name
    call.__doc__ = f"`{name}` of the module for this array."
    return call


class ndarray(lazy.ndarray):
    """An array on the current device, whose value is computed when it is needed.

    `ndarray(shape, dtype, memptr, strides, order)` makes one of unknown values; those of memory are copied.
    """

    __slots__ = ()
    __array_priority__ = 100

    def __new__(cls, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C") -> Any:
        self = object.__new__(cls)
        shape = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
        dtype = np.dtype(dtype)
        if strides is not None and memptr is None:
            raise ValueError("ndarray() with strides needs the memory that they are of")
        owner = None if memptr is None else memptr.mem.typed(dtype)
        if memptr is None:
            found = layout.NAMESPACE[0].empty(shape, dtype, order)
        elif owner is not None and owner.dtype == dtype and (memptr.ptr - memptr.mem.ptr) % dtype.itemsize == 0:
            letter: Any = order or "C"
            steps = np.empty(shape, dtype, letter).strides if strides is None else strides
            from lancehead.cupy import arguments

            found = arguments.shared(owner, (memptr.ptr - memptr.mem.ptr) // dtype.itemsize, shape, steps)
        else:
            found = layout.placed(memptr.array(shape, dtype, strides, order or "C"))
        lazy.ndarray.__init__(self, found._node, found._view)
        return self

    def __init__(self, *given: Any, **named: Any) -> None:
        # Memory and view are there already.
        pass

    # --- facts -------------------------------------------------------------------------------------------------------
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next one along each axis."""
        return layout.shadow(self).strides

    @property
    def flags(self) -> Any:
        """Order of the memory: `c_contiguous`, `f_contiguous`, `owndata`."""
        return Flags(layout.shadow(self).flags, self.base is None)

    @property
    def base(self) -> Any:
        """The array whose memory this one is a view of; None for its own."""
        if self._view is None:
            return None
        owner = self._view.owner
        owner.__class__ = ndarray
        return owner

    @property
    def device(self) -> Any:
        """Where it is."""
        return layout.NAMESPACE[0].cuda.Device(self._node.device.number if self._node.device else layout.CURRENT.number)

    @property
    def data(self) -> Any:
        """The memory: `data.ptr` is the address of the first element."""
        return layout.NAMESPACE[0].cuda.memory.of_array(self)

    @property
    def shape(self) -> Any:
        """Extents. They can be set, where the memory allows it."""
        return self._node.shape if self._view is None else self._view.shadow.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        if self.size == 0 or self._view is None:
            found = self.reshape(shape)
        else:
            found = self.view_as(lambda s: _reshaped(s, shape))
        self._node, self._view = found._node, found._view

    @property
    def T(self) -> Any:
        """The axes backward, as a view."""
        return self.view_as(np.transpose) if self.ndim > 1 else self

    @property
    def mT(self) -> Any:
        """The last two axes exchanged, as a view."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.view_as(lambda s: np.swapaxes(s, -1, -2))

    @property
    def flat(self) -> Any:
        """The elements one after the other, for reading and writing."""
        return indexing.flatiter(self)

    @property
    def cstruct(self) -> Any:
        """Refused: kernels take arrays themselves."""
        raise AttributeError("cstruct: kernels take arrays themselves")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        owner = self if self._view is None else self._view.owner
        found: dict[str, Any] = dict(owner._on_device().__cuda_array_interface__)
        strides = None if layout.shadow(self).flags.c_contiguous else self.strides
        address = self.data.ptr if self.size else 0
        return {**found, "shape": self.shape, "strides": strides, "data": (address, False), "typestr": self.dtype.str,
                "descr": self.dtype.descr, "version": 3, "stream": 1}  # fmt: skip

    # --- the host ----------------------------------------------------------------------------------------------------
    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
        """A copy as an array of NumPy, in `out` if that is given."""
        there = layout.host(self)
        if out is None:
            letter: Any = order
            return np.array(there, order=letter, copy=True)
        if not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        if out.dtype != self.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        if out.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
        if not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        out[...] = there
        return out

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copies an array of NumPy of the same shape and type."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        self.write(layout.placed(arr).node())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        own = getattr(layout.NAMESPACE[0], ufunc.__name__, None)
        if not isinstance(own, ufuncs.ufunc):
            return NotImplemented
        out = options.get("out")
        if out is not None:
            if any(not isinstance(x, lazy.ndarray) for x in out):
                return NotImplemented
            options["out"] = out[0] if len(out) == 1 else out
        if any(isinstance(x, np.ndarray) and x.ndim for x in given):
            return NotImplemented
        values = [x[()] if isinstance(x, np.ndarray) else x for x in given]
        return (own if method == "__call__" else getattr(own, method))(*values, **options)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        owner: Any = layout.NAMESPACE[0]
        for part in (function.__module__ or "").split(".")[1:]:
            owner = getattr(owner, part, owner) if not part.startswith("_") else owner
        own = getattr(owner, function.__name__, None)
        if own is None or own is function:
            return NotImplemented
        if not all(issubclass(t, (lazy.ndarray, *_SCALARS)) for t in types):
            return NotImplemented
        return own(*given, **options)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The functions for these arrays."""
        return layout.NAMESPACE[0]

    def toDlpack(self) -> Any:
        """A capsule of DLPack."""
        return self.__dlpack__()

    def __dlpack__(self, **options: Any) -> Any:
        return wrap(lazy.wrap(self.node()))._on_device().__dlpack__(**options)

    def __reduce__(self) -> Any:
        return _restored, (self.get(order="K"),)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def dump(self, file: Any) -> None:
        """Pickles the array to a file."""
        if hasattr(file, "write"):
            pickle.dump(self, file)
            return
        with open(file, "wb") as f:
            pickle.dump(self, f)

    def dumps(self) -> bytes:
        """The pickled array."""
        return pickle.dumps(self)

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements."""
        return layout.host(self).tobytes(order)  # type: ignore[arg-type]

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Writes the elements to a file."""
        layout.host(self).tofile(fid, sep, format)

    def tolist(self) -> Any:
        """The elements as nested lists of numbers of Python."""
        return layout.host(self).tolist()

    def item(self, *place: Any) -> Any:
        """The only element, or that of a place, as a number of Python."""
        return layout.host(self).item(*place)

    def __repr__(self) -> str:
        return repr(layout.host(self))

    def __str__(self) -> str:
        return str(layout.host(self))

    def __format__(self, spec: str) -> str:
        return format(layout.host(self)[()] if not self.ndim else layout.host(self), spec)

    def __bool__(self) -> bool:
        return bool(layout.host(self))

    def __int__(self) -> int:
        return int(layout.host(self))

    def __float__(self) -> float:
        return float(layout.host(self))

    def __complex__(self) -> complex:
        return complex(layout.host(self))

    def __index__(self) -> int:
        return layout.host(self).__index__()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, x: Any) -> bool:
        return bool(layout.NAMESPACE[0].any(self == x))

    # --- views -------------------------------------------------------------------------------------------------------
    def view_as(self, change: Any, *key: Any) -> Any:
        """Another view of the same memory."""
        return wrap(lazy.ndarray.view(self, change, *key))

    def view(self, dtype: Any = None, *key: Any, type: Any = None) -> Any:
        """The same memory; as elements of another type, a copy of it."""
        if callable(dtype) and not isinstance(dtype, (np.dtype, builtin_type)):
            return self.view_as(dtype, *key)
        if dtype is None or dtype is ndarray or np.dtype(dtype) == self.dtype:
            return self.view_as(lambda s: s[...])
        return wrap(layout.placed(layout.host(self).view(dtype)))

    def __getitem__(self, key: Any) -> Any:
        return indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.put(self, key, value)

    def scatter_add(self, slices: Any, value: Any) -> None:
        """Adds values to elements, which may be there several times."""
        indexing.scatter(self, slices, value, "add")

    def scatter_max(self, slices: Any, value: Any) -> None:
        """The greater one of elements and values, of elements that may be there several times."""
        indexing.scatter(self, slices, value, "maximum")

    def scatter_min(self, slices: Any, value: Any) -> None:
        """The lesser one of elements and values, of elements that may be there several times."""
        indexing.scatter(self, slices, value, "minimum")

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """The elements in another shape, as a view where that is possible."""
        return layout.NAMESPACE[0].reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def ravel(self, order: str = "C") -> Any:
        """The elements in one dimension, as a view where that is possible."""
        return layout.NAMESPACE[0].ravel(self, order)

    def flatten(self, order: str = "C") -> Any:
        """A copy of the elements in one dimension."""
        return layout.NAMESPACE[0].ravel(self, order).copy()

    def transpose(self, *axes: Any) -> Any:
        """A view with the axes in another order."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self.view_as(lambda s: s.transpose(given))

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """A view with two axes exchanged."""
        return self.view_as(lambda s: s.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> Any:
        """A view without axes of extent 1."""
        return self.view_as(lambda s: s.squeeze(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Diagonals, as a view."""
        return self.view_as(lambda s: s.diagonal(offset, axis1, axis2))

    def astype(
        self, dtype: Any, order: str | None = "K", casting: str = "unsafe", subok: Any = None, copy: bool = True
    ) -> Any:
        """The array as another type, itself with `copy=False` if it has that and the order."""
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule '{casting}'"
            )
        if self.dtype.kind == "c" and wanted.kind not in "cb":
            _warn_of_real_parts()
        axes = layout.dense_order(self, order or "K")
        if not copy and wanted == self.dtype and layout.shadow(layout.transposed(self, axes)).flags.c_contiguous:
            return self
        x = layout.transposed(self, axes)
        found = lazy.wrap(ufuncs.converted(x, wanted).node())
        return wrap(layout.transposed(found, layout.inverse(axes)))

    def _is_dense(self) -> bool:
        return bool(self._view is None or layout.shadow(self).flags.c_contiguous)

    def copy(self, order: str = "C") -> Any:
        """An array of its own with the values."""
        return self.astype(self.dtype, order=order)

    def byteswap(self, inplace: bool = False) -> Any:
        """The elements with their bytes backward."""
        found = wrap(layout.placed(layout.host(self).byteswap()))
        if not inplace:
            return found
        self[...] = found
        return self

    def fill(self, value: Any) -> None:
        """Stores one value in all elements."""
        if isinstance(value, (lazy.ndarray, np.ndarray)) and value.ndim:
            raise ValueError("Only a scalar or an array without axes fills an array")
        self[...] = value

    def sort(self, axis: int = -1, *, stable: Any = None) -> None:
        """Sorts the array itself along an axis."""
        if not self.ndim:
            raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
        self[...] = layout.NAMESPACE[0].sort(self, axis=axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Puts elements before and after those of some ranks."""
        self[...] = layout.NAMESPACE[0].partition(self, kth, axis=axis)

    def put(self, indices: Any, values: Any, mode: str = "wrap") -> None:
        """Stores values at places in row-major order."""
        layout.NAMESPACE[0].put(self, indices, values, mode)

    def dot(self, b: Any, out: Any = None) -> Any:
        """The product with another array."""
        return layout.NAMESPACE[0].dot(self, b, out)

    def reduced_view(self, dtype: Any = None) -> Any:
        """A view with as few axes as the memory allows."""
        return self.ravel() if self._is_dense() else self.view_as(lambda s: s[...])

    @property
    def real(self) -> Any:
        """Real parts. Of real numbers the array itself."""
        return layout.NAMESPACE[0].real(self)

    @real.setter
    def real(self, value: Any) -> None:
        if self.dtype.kind == "c":
            value = layout.NAMESPACE[0].asarray(value) + layout.NAMESPACE[0].imag(self) * 1j
        self[...] = value

    @property
    def imag(self) -> Any:
        """Imaginary parts, of real numbers zeros."""
        return layout.NAMESPACE[0].imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("cupy.ndarray does not have imaginary part to set")
        self[...] = layout.NAMESPACE[0].real(self) + layout.NAMESPACE[0].asarray(value) * 1j

    sum, prod, mean, var, std, max, min, all, any = map(
        _method, ("sum", "prod", "mean", "var", "std", "amax", "amin", "all", "any")
    )
    argmax, argmin, cumsum, cumprod, ptp = map(_method, ("argmax", "argmin", "cumsum", "cumprod", "ptp"))
    argsort, argpartition, searchsorted, take, repeat, choose, compress, trace, nonzero = map(
        _method,
        ("argsort", "argpartition", "searchsorted", "take", "repeat", "choose", "compress", "trace", "nonzero"),
    )
    clip, round = map(_method, ("clip", "around"))

    def conj(self) -> Any:
        """Conjugates; of real numbers the array itself."""
        return ufuncs.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def __bytes__(self) -> bytes:
        return bytes(layout.host(self))

    # --- operators ---------------------------------------------------------------------------------------------------
    __add__, __radd__, __iadd__ = _binary(ufuncs.add)
    __sub__, __rsub__, __isub__ = _binary(ufuncs.subtract)
    __mul__, __rmul__, __imul__ = _binary(ufuncs.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _binary(ufuncs.divide)
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary(ufuncs.floor_divide)
    __mod__, __rmod__, __imod__ = _binary(ufuncs.remainder)
    __pow__, __rpow__, __ipow__ = _binary(ufuncs.power)
    __and__, __rand__, __iand__ = _binary(ufuncs.bitwise_and)
    __or__, __ror__, __ior__ = _binary(ufuncs.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(ufuncs.bitwise_xor)
    __lshift__, __rlshift__, __ilshift__ = _binary(ufuncs.left_shift)
    __rshift__, __rrshift__, __irshift__ = _binary(ufuncs.right_shift)
    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = (
        _binary(f)[0]
        for f in (
            ufuncs.less, ufuncs.less_equal, ufuncs.greater, ufuncs.greater_equal, ufuncs.equal, ufuncs.not_equal,
        )
    )  # fmt: skip
    __neg__, __pos__ = _unary(ufuncs.negative), _unary(ufuncs.positive)
    __abs__, __invert__ = _unary(ufuncs.absolute), _unary(ufuncs.invert)
    __hash__ = None

    def __divmod__(self, other: Any) -> Any:
        return ufuncs.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return ufuncs.divmod(other, self)

    def __matmul__(self, other: Any) -> Any:
        return layout.NAMESPACE[0].matmul(self, other) if _is_operand(self, other) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return layout.NAMESPACE[0].matmul(other, self) if _is_operand(self, other) else NotImplemented

    def __imatmul__(self, other: Any) -> Any:
        return layout.NAMESPACE[0].matmul(self, other, out=self)


builtin_type = type


class Flags:
    """Order of the memory of an array: `c_contiguous f_contiguous fnc forc owndata`."""

    __slots__ = ("_facts",)

    def __init__(self, flags: Any, owns: bool) -> None:
        c, f = bool(flags.c_contiguous), bool(flags.f_contiguous)
        self._facts = {"c_contiguous": c, "f_contiguous": f, "owndata": owns, "fnc": f and not c, "forc": f or c}

    def __getattr__(self, name: str) -> bool:
        if name.startswith("_") or name not in self._facts:
            raise NoMember("'Flags' object", name, lambda: self._facts)
        return self._facts[name]

    def __getitem__(self, name: str) -> bool:
        known = {"C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous", "OWNDATA": "owndata"}
        if name not in known:
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags")
        return bool(getattr(self, known[name]))

    def __repr__(self) -> str:
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}\n  OWNDATA : {self.owndata}"


def _warn_of_real_parts() -> None:
    import warnings

    warnings.warn(
        "Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning, stacklevel=3
    )


def _reshaped(s: np.ndarray, shape: Any) -> np.ndarray:
    try:
        return s.reshape(shape, copy=False)
    except ValueError as e:
        raise AttributeError("incompatible shape: the memory does not allow it without a copy") from e


def _restored(value: np.ndarray) -> ndarray:
    found: ndarray = wrap(layout.placed(value))
    return found


hosted.ARRAY[0] = ndarray

__all__ = ["Flags", "ndarray"]
