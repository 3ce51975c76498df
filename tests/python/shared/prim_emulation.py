"""The primitives of the library dialect in Python, so that the library's algorithms can be tried without the compiler.

`library()` returns a namespace in which `np`, `math`, `operator`, `cmath` and the builtins are the library's functions
where it has them. Memory is NumPy's; addresses are integers.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import pathlib
import sys
import types
from fractions import Fraction

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3] / "python"


def _is_int(x):
    return np.issubdtype(dtype_of(x), np.integer) if is_number(x) or is_dtype(x) else False


def _is_kind(x, kinds):
    return (is_number(x) or is_dtype(x)) and np.dtype(dtype_of(x)).kind in kinds


def is_number(x):
    return isinstance(x, (bool, int, float, complex, np.number, np.bool_))


def is_dtype(x):
    return isinstance(x, np.dtype) or (
        isinstance(x, type) and (issubclass(x, np.generic) or x in (int, float, bool, complex))
    )


def dtype_of(x):
    if is_dtype(x):
        return np.dtype(x)
    if isinstance(x, (list, range)):
        return dtype_of(x[0]) if len(x) else np.dtype(float)
    return x.dtype if isinstance(x, (np.ndarray, np.generic)) else np.dtype(type(x))


def result_type(*args):
    weak = (bool, int, float, complex)
    return np.result_type(*[a if type(a) in weak or isinstance(a, np.generic) else np.dtype(a) for a in args])


def cast(x, dtype):
    dt = np.dtype(dtype)
    if isinstance(x, (complex, np.complexfloating)) and dt.kind != "c":
        raise AssertionError("complex to real")
    if dt.kind in "iu" and isinstance(x, (float, np.floating)):
        x = int(x) if x - x == 0 else 0
    with np.errstate(all="ignore"):
        return np.array(x).astype(dt)[()]


def order(x, default, allowed="CFAK"):
    given = default if x is None else x.upper()
    if given not in allowed:
        raise AssertionError(f"order {given}")
    return given


class Owner:
    """Memory with an address."""

    def __init__(self, nbytes):
        self.bytes = np.zeros(nbytes + 1, np.uint8)


class Window:
    """An array descriptor that NumPy converts to an array."""

    def __init__(self, owner, address, shape, strides, dtype):
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "strides": strides,
            "typestr": np.dtype(dtype).str,
            "version": 3,
        }


def alloc(nbytes):
    owner = Owner(nbytes)
    owner.bytes[:] = 0xCD
    return owner, owner.bytes.ctypes.data


#: Memory on the stack, which is kept here.
LOCAL = []


def local(nbytes, align):
    LOCAL.append(Owner(nbytes))
    return LOCAL[-1].bytes.ctypes.data


def calloc(nbytes):
    owner = Owner(nbytes)
    return owner, owner.bytes.ctypes.data


def array(owner, ptr, shape, strides, dtype, layout):
    assert len(shape) == len(strides) and layout in "CFA"
    shape, strides = tuple(map(int, shape)), tuple(map(int, strides))
    if layout == "C" and 0 not in shape:
        want, expected = np.dtype(dtype).itemsize, []
        for n in reversed(shape):
            expected.insert(0, want)
            want *= n
        assert all(s == e or n == 1 for n, s, e in zip(shape, strides, expected)), (shape, strides, dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(Window(owner, int(ptr), shape, strides, dtype))


def readonly(a):
    view = a.view()
    view.flags.writeable = False
    return view


def load(ptr, dtype):
    return np.frombuffer(ctypes.string_at(int(ptr), np.dtype(dtype).itemsize), dtype)[0]


def store(ptr, x):
    text = np.asarray(x).tobytes()
    ctypes.memmove(int(ptr), text, len(text))


def item(a, *index):
    assert all(0 <= i < n for i, n in zip(index, a.shape, strict=True)), (index, a.shape)
    return a[index]


def set_item(a, *rest):
    index, x = rest[:-1], rest[-1]
    assert all(0 <= i < n for i, n in zip(index, a.shape, strict=True)), (index, a.shape)
    assert np.asarray(x).dtype == a.dtype or type(x) in (int, float, bool, complex), (type(x), a.dtype)
    a[index] = x


def layout(a):
    if a.flags.c_contiguous:
        return "C"
    return "F" if a.flags.f_contiguous else "A"


def map_(f, *args):
    arrays = np.broadcast_arrays(*args)
    scalar = [not isinstance(a, np.ndarray) for a in args]
    shape = arrays[0].shape
    rows = [f(*[a if s else b[i] for a, b, s in zip(args, arrays, scalar)]) for i in np.ndindex(shape)]
    if not rows:
        example = f(*[a if s else np.ones((), b.dtype)[()] for a, b, s in zip(args, arrays, scalar)])
        return np.empty(shape, dtype_of(example))
    return np.array(rows, dtype_of(rows[0])).reshape(shape)


def map_into(dst, f, *args):
    arrays = np.broadcast_arrays(dst, *args)[1:]
    for i in np.ndindex(dst.shape):
        dst[i] = cast(f(*[a if not isinstance(a, np.ndarray) else b[i] for a, b in zip(args, arrays)]), dst.dtype)


class Hole:
    """A place of a list that owns nothing."""


class Items(list):
    """A list whose places and number of items differ."""


def items_reserve(items, n):
    SPARE.setdefault(id(items), (items, {}))


SPARE: dict[int, tuple[list, dict]] = {}


def items_put(items, i, x):
    if i < len(items):
        items[i] = x
    else:
        SPARE.setdefault(id(items), (items, {}))[1][i] = x


def items_get(items, i):
    return items[i] if i < len(items) else SPARE[id(items)][1][i]


def items_move(items, dst, src, n):
    moved = [items_get(items, src + i) for i in range(n)]
    for i, x in enumerate(moved):
        items_put(items, dst + i, x)


def items_set_len(items, n):
    spare = SPARE.get(id(items), (items, {}))[1]
    if n > len(items):
        items.extend([spare[i] for i in range(len(items), n)])
    else:
        del items[n:]
    SPARE.pop(id(items), None)


def tuple_set(t, i, x):
    return t[:i] + (x,) + t[i + 1 :]


def _float_op(f):
    def op(x, *rest):
        with np.errstate(all="ignore"):
            try:
                r = f(x, *rest)
            except (ValueError, ZeroDivisionError):
                r = math.nan
            except OverflowError:
                r = math.inf
        return type(x)(r)

    return op


def fdiv(a, b):
    with np.errstate(all="ignore"):
        return (
            type(a)(np.float64(a) / np.float64(b))
            if np.asarray(a).dtype != np.float32
            else np.float32(a) / np.float32(b)
        )


def sdiv(a, b):
    q = abs(int(a)) // abs(int(b))
    return type(a)(q if (a < 0) == (b < 0) else -q)


def srem(a, b):
    r = abs(int(a)) % abs(int(b))
    return type(a)(-r if a < 0 else r)


def fma(x, y, z):
    return type(x)(float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))))


def example(c):
    if len(c) and all(map(is_number, c)):
        return result_type(*c).type(0)
    return c[0] if len(c) else 0.0


def error(*said):
    raise TypeError("".join(text if isinstance(text, str) else f"`{type(text).__name__}`" for text in said))


def _bits(x):
    return int(np.float64(x).view(np.int64))


def as_dtype(x):
    return np.dtype(x)


NUMPY_ERRORS = [False]
TABLE = {
    "is_int": _is_int,
    "is_float": lambda x: _is_kind(x, "f"),
    "is_complex": lambda x: _is_kind(x, "c"),
    "is_record": lambda x: False,
    "is_chars": lambda x: False,
    "is_scalar": is_number,
    "is_time": lambda x: False,
    "is_span": lambda x: False,
    "is_point": lambda x: False,
    "is_bytes": lambda x: False,
    "is_buffer": lambda x: False,
    "is_bool": lambda x: _is_kind(x, "b"),
    "is_number": is_number,
    "is_array": lambda x: isinstance(x, np.ndarray),
    "is_a": lambda x, *paths: isinstance(x, list) and "builtins.list" in paths,
    "has_method": lambda x, name: False,
    "is_tuple": lambda x: isinstance(x, tuple),
    "is_str": lambda x: isinstance(x, str),
    "is_exc": lambda x: isinstance(x, BaseException),
    "lh_exc_str": str,
    "lh_str_format_str": format,
    "lh_str_format_u64": lambda x, s: format(int(x), s),
    "is_optional": lambda x: False,
    "is_none": lambda x: x is None,
    "is_dtype": is_dtype,
    "is_signed": lambda x: _is_kind(x, "i"),
    "is_weak": lambda x: type(x) in (bool, int, float, complex),
    "is_slice": lambda x: isinstance(x, slice),
    "is_range": lambda x: isinstance(x, range),
    "is_func": callable,
    "is_const": lambda x: False,
    "abreast": lambda: None,
    "parallel_reductions": lambda: True,
    "in_kernel": lambda: False,
    "on_gpu": lambda: False,
    "blocks": range,
    "numpy_errors": lambda: NUMPY_ERRORS[0],
    "checks_overflow": lambda: False,
    "dtype_of": dtype_of,
    "result_type": result_type,
    "cast": cast,
    "real_dtype": lambda d: np.zeros(0, d).real.dtype,
    "itemsize": lambda d: np.dtype(d).itemsize,
    "error": error,
    "layout": layout,
    "alloc": alloc,
    "calloc": calloc,
    "array": array,
    "readonly": readonly,
    "owner": lambda a: a,
    "nobody": lambda: None,
    "sized": lambda x: tuple(x) if isinstance(x, list) else x,
    "data": lambda a: a.ctypes.data,
    "load": load,
    "store": store,
    "ptr_add": lambda p, n: p + int(n),
    "item": item,
    "set_item": set_item,
    "tuple_set": tuple_set,
    "tuple_drop": lambda t, i: t[:i] + t[i + 1 :],
    "tuple_fill": lambda n, x: (x,) * n,
    "tuple_insert": lambda t, i, x: t[:i] + (x,) + t[i:],
    "map": map_,
    "map_into": map_into,
    "as_dtype": as_dtype,
    "order": order,
    "complex": lambda a, b: (
        complex(a, b) if type(a) is float else (np.complex64 if a.dtype == np.float32 else np.complex128)(complex(a, b))
    ),
    "example": example,
    "min_of": lambda d: _limit(d).min,
    "max_of": lambda d: _limit(d).max,
    "items_nothing": lambda items: items[0] if items else None,
    "items_like": lambda items, n: [],
    "items_new": lambda path, d, n: [],
    "items_get": items_get,
    "items_put": items_put,
    "items_take": items_get,
    "items_reserve": items_reserve,
    "items_set_len": items_set_len,
    "items_move": items_move,
    "fdiv": fdiv,
    "add_any_order": lambda x, y: x + y,
    "sdiv": sdiv,
    "srem": srem,
    "frem": _float_op(math.fmod),
    "fma": fma,
    "bits_of_f64": _bits,
    "whole_of_f64": lambda x: int(x) if -(2.0**63) <= x < 2.0**63 else -(2**63),
    "f64_of_bits": lambda b: float(np.int64(b).view(np.float64)),
    # Arrays are read in parts now and then; a part is the same memory.
    "lh_is_produced": lambda data: int(data) % 128 < 64,
    "lh_part": lambda owner, data, start, n, size: (owner, int(data) + int(start) * int(size)),
    "lh_cuda_local": local,
    "lh_memmove": lambda d, s, n: ctypes.memmove(int(d), int(s), int(n)),
    "mul_ovf": lambda a, b: not -(2**63) <= int(a) * int(b) < 2**63,
    "shr": lambda a, b: type(a)(int(a) >> int(b)),
    "shl": lambda a, b: (
        cast(int(a) << int(b) & (2**64 - 1), np.uint64).astype(dtype_of(a)) if not isinstance(a, int) else a << b
    ),
    "ctlz": lambda x: np.int64(64 - int(x).bit_length()),
    "popcount": lambda x: int(x).bit_count(),
    "isnan": np.isnan,
    "isinf": lambda x: bool(np.isinf(x)),
    "isfinite": lambda x: bool(np.isfinite(x)),
    "signbit": np.signbit,
    "minimum": lambda a, b: type(a)(np.minimum(a, b)),
    "maximum": lambda a, b: type(a)(np.maximum(a, b)),
    "select": lambda c, a, b: a if c else b,
    "lh_str_from_i64": lambda x: str(int(x)),
    "lh_str_from_u64": lambda x: str(int(np.int64(x).view(np.uint64))),
    "lh_str_from_f64": lambda x: repr(float(x)),
    "lh_str_from_f32": lambda x: str(np.float32(x)),
    "lh_str_repr": repr,
    "lh_str_concat": lambda a, b: a + b,
    "lh_str_len": len,
    "lh_str_eq": lambda a, b: a == b,
    "lh_str_in": lambda a, b: a in b,
    "lh_str_cmp": lambda a, b: (a > b) - (a < b),
    "lh_str_getitem": lambda s, i: s[i],
    "lh_str_slice": lambda s, i, j: s[i:j],
    "lh_str_find": lambda s, p, i: s.find(p, i),
    "lh_str_upper": str.upper,
    "lh_str_lower": str.lower,
    "lh_str_swapcase": str.swapcase,
    "lh_str_title": str.title,
    "lh_str_capitalize": str.capitalize,
    "lh_str_isspace": str.isspace,
    "lh_str_ord": ord,
    "lh_str_rfind": str.rfind,
    "lh_str_isascii": str.isascii,
    "lh_str_isdecimal": str.isdecimal,
    "lh_str_isdigit": str.isdigit,
    "lh_str_isidentifier": str.isidentifier,
    "lh_str_isnumeric": str.isnumeric,
    "lh_str_isprintable": str.isprintable,
    "lh_str_istitle": str.istitle,
    "lh_str_casefold": str.casefold,
    "lh_str_isalpha": str.isalpha,
    "lh_str_isalnum": str.isalnum,
    "lh_str_isupper": str.isupper,
    "lh_str_islower": str.islower,
    "lh_str_replace": str.replace,
    "lh_str_split": lambda s, sep, n, out: out.extend(s.split(sep, n)),
    "lh_str_split_space": lambda s, n, out: out.extend(s.split(None, n)),
    "lh_str_split_lines": lambda s, keeps, out: out.extend(s.splitlines(bool(keeps))),
    "lh_str_characters": lambda s, out: out.extend(s),
    "lh_str_sort": lambda items, descending: items.sort(reverse=bool(descending)),
    "lh_str_count": str.count,
    "lh_str_expand_tabs": str.expandtabs,
    "lh_str_strip": lambda s, chars, sides: stripped(s, chars, sides),
    "lh_str_strip_space": lambda s, sides: stripped(s, None, sides),
    "lh_str_pad": lambda s, at, left, right, fill: s[:at] + fill * left + s[at:] + fill * right,
    "lh_str_mapped": lambda s, texts: s.translate(dict(enumerate(texts))),
    "lh_str_from_bits": lambda x, bits: {1: bin, 3: oct, 4: hex}[int(bits)](int(x)),
    "lh_str_repeat": lambda s, n: s * n,
    "lh_str_join": str.join,
    "lh_str_from_c64": str,
    "lh_str_from_c128": str,
    "lh_str_chr": chr,
    "lh_str_format_c128": lambda x, s: format(complex(x), s),
    "lh_str_format_f64": lambda x, s: format(float(x), s),
    "lh_str_format_i64": lambda x, s: format(int(x), s),
    "lh_str_to_f64": float,
    "lh_str_to_i64": int,
    "abs": lambda x: type(x)(abs(x)),
    "fabs": lambda x: type(x)(abs(x)),
    "ldexp": lambda x, n: _float_op(math.ldexp)(x, int(n)),
    "neg": lambda x: -x,
    "rint": _float_op(lambda x: np.rint(x)),
    "copysign": _float_op(math.copysign),
    "nextafter": _float_op(np.nextafter),
    "pow": _float_op(np.power),
    "sqrt": _float_op(np.sqrt),
    "hypot": _float_op(np.hypot),
    "atan2": _float_op(np.arctan2),
    "cbrt": _float_op(np.cbrt),
}
for name in "floor ceil trunc sin cos tan exp log log2 log10 log1p expm1 exp2 sinh cosh tanh".split():
    TABLE[name] = _float_op(getattr(np, name))
for name in "asin acos atan asinh acosh atanh".split():
    TABLE[name] = _float_op(getattr(np, "arc" + name[1:]))


def stripped(s, chars, sides):
    """Without characters at the left end (1), at the right end (2) or at both (3)."""
    return {1: s.lstrip, 2: s.rstrip, 3: s.strip}[int(sides)](chars)


def _limit(d):
    return np.iinfo(d) if np.dtype(d).kind in "iu" else np.finfo(d)


def _mapped(f):
    def ufunc(*args):
        if any(isinstance(a, np.ndarray) for a in args):
            return map_(f, *args)
        return f(*args)

    return ufunc


def _memory(ptr, n, dtype):
    return array(None, ptr, (n,), (np.dtype(dtype).itemsize,), dtype, "C")


def _strided(ptr, shape, strides, dtype):
    return array(None, ptr, shape, strides, dtype, "A")


def _sort(dtype, p, n):
    _memory(p, n, dtype).sort()


def _argsort(dtype, p, order, n):
    _memory(order, n, np.int64)[:] = _memory(p, n, dtype).argsort(kind="stable")


def _partition(dtype, p, n, k):
    _memory(p, n, dtype).partition(k)


def _gemm(dtype, m, n, k, p, s0, s1, q, t0, t1, r, u0, u1):
    product = _strided(p, (m, k), (s0, s1), dtype) @ _strided(q, (k, n), (t0, t1), dtype)
    _strided(r, (m, n), (u0, u1), dtype)[...] = product


TABLE.update(lh_sort=_sort, lh_argsort=_argsort, lh_partition=_partition, lh_gemm=_gemm)


class Module:
    """A module in which the library's names come first."""

    def __init__(self, lib, real):
        self._lib, self._real = lib, real

    def __getattr__(self, name):
        if name == "random" and isinstance(self._real, types.ModuleType):
            return getattr(self._real, name)
        if hasattr(self._lib, name):
            found = getattr(self._lib, name)
            if getattr(found, "__module__", "").endswith("._ufuncs"):
                return _mapped(found)
            return Module(found, getattr(self._real, name)) if isinstance(found, types.ModuleType) else found
        return getattr(self._real, name)


def library():
    """Namespace of the library over emulated primitives."""
    if "lancehead" not in sys.modules:
        package = types.ModuleType("lancehead")
        package.__path__ = [str(ROOT / "lancehead")]
        sys.modules["lancehead"] = package
    prim = importlib.import_module("lancehead.lib.prim")
    for name, f in TABLE.items():
        setattr(prim, name, f)
    names = {}
    for name in "operator math cmath random".split():
        try:
            names[name] = Module(importlib.import_module("lancehead.lib." + name), importlib.import_module(name))
        except ModuleNotFoundError:
            pass
    names["np"] = Module(importlib.import_module("lancehead.lib.numpy"), np)
    importlib.import_module("lancehead.lib.numpy.lib.stride_tricks")
    builtins = importlib.import_module("lancehead.lib.builtins")
    for name in builtins.__all__:
        if not isinstance(getattr(builtins, name), type):
            names[name] = getattr(builtins, name)
    return names
