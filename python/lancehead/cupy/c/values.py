"""Types and values of C: promotions, conversions, and the texts of both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from lancehead.cupy.c.parsing import TypeName
from lancehead.cupy.c.tokens import Failure, undefined

BOOL, INT, UINT = np.dtype(np.bool_), np.dtype(np.int32), np.dtype(np.uint32)
LONG, ULONG = np.dtype(np.int64), np.dtype(np.uint64)
FLOAT, DOUBLE, HALF = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16)
COMPLEX, DOUBLE_COMPLEX = np.dtype(np.complex64), np.dtype(np.complex128)

SCALARS: dict[str, np.dtype[Any]] = {
    "bool": BOOL, "char": np.dtype(np.int8), "signed char": np.dtype(np.int8), "unsigned char": np.dtype(np.uint8),
    "short": np.dtype(np.int16), "unsigned short": np.dtype(np.uint16), "int": INT, "unsigned int": UINT, "long": LONG,
    "unsigned long": ULONG, "long long": LONG, "unsigned long long": ULONG, "float": FLOAT, "double": DOUBLE,
    "size_t": ULONG, "ssize_t": LONG, "ptrdiff_t": LONG, "intptr_t": LONG, "uintptr_t": ULONG, "float16": HALF,
    "half": HALF, "__half": HALF, "uchar": np.dtype(np.uint8), "ushort": np.dtype(np.uint16), "uint": UINT,
    "ulong": ULONG, "longlong": LONG, "ulonglong": ULONG, "cuComplex": COMPLEX, "cuFloatComplex": COMPLEX,
    "cuDoubleComplex": DOUBLE_COMPLEX, "signed": INT, "unsigned": UINT,
    **{f"{s}int{n}_t": np.dtype(f"{s}int{n}") for s in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip


@dataclass(frozen=True)
class Pointer:
    """A pointer to elements of a type, or to void."""

    of: np.dtype[Any] | None


@dataclass(frozen=True)
class Group:
    """A group of threads, of a block or of the grid."""

    name: str


GROUPS = {"grid_group": Group("grid"), "thread_block": Group("block")}


@dataclass(frozen=True)
class Value:
    """A value: its text and type. Of a pointer `base` is the array and `text` the place in it, empty for the first.

    An element has a base and a place, too, and the extents of the arrays that it still is.
    """

    text: str
    type: Any
    base: str = ""
    extents: tuple[int, ...] = ()
    number: Any = None
    is_element: bool = False
    #: Variables that can be assigned to.
    is_variable: bool = False
    #: Of `int` and `unsigned`, whether the 64 bits of the text may be others than those of the value.
    is_loose: bool = False
    #: Whether it is made of places of threads only, so neither negative nor large.
    is_small: bool = False

    @property
    def is_pointer(self) -> bool:
        """Whether it is an address."""
        return isinstance(self.type, Pointer) or bool(self.extents)


def scalar(of: TypeName, env: dict[str, Any], line: int) -> Any:
    """The type that a name means: a type of NumPy's, or a pointer; None for void."""
    found: Any
    if of.name in env:
        found = env[of.name]
    elif of.name == "complex":
        inner = scalar(TypeName(of.argument or "double"), env, line)
        found = COMPLEX if inner == FLOAT else DOUBLE_COMPLEX
    elif of.name == "void":
        return Pointer(None) if of.pointers else None
    elif of.name in SCALARS:
        found = SCALARS[of.name]
    elif of.name in GROUPS and not of.pointers:
        return GROUPS[of.name]
    else:
        raise undefined(of.name, line, (*env, *SCALARS, *GROUPS))
    if isinstance(found, TypeName):
        found = scalar(found, env, line)
    for _ in range(of.pointers):
        if isinstance(found, Pointer):
            raise Failure("pointers to pointers are not served in kernels of C text", line)
        found = Pointer(found)
    return found


def promoted(d: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which C computes with values of a type."""
    if d.kind in "biu" and d.itemsize < 4:
        return INT
    return FLOAT if d == HALF else d


def common(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which C computes with values of two types."""
    a, b = promoted(a), promoted(b)
    if a == b:
        return a
    if "c" in (a.kind, b.kind):
        wide = DOUBLE_COMPLEX in (a, b) or DOUBLE in (a, b)
        return DOUBLE_COMPLEX if wide else COMPLEX
    if "f" in (a.kind, b.kind):
        return DOUBLE if DOUBLE in (a, b) else FLOAT
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return a if a.kind == "u" else b


def name_of(d: np.dtype[Any]) -> str:
    """The text of a type."""
    return "np.bool_" if d == BOOL else f"np.{d.name}"


#: Types whose values have 64 bits in the text: the passes for kernels know indices of 64 bits. C leaves the overflow of
#: `int` open; the bits beyond 32 are cut off where an operation other than sums and products would see them.
WIDE = (INT, UINT)


def exact(v: Value) -> Value:
    """A value whose text has its value; of others than `int` and `unsigned` the value itself."""
    if not v.is_loose:
        return v
    text = f"np.int64(np.int32({v.text}))" if v.type == INT else f"({v.text} & 4294967295)"
    return Value(text, v.type)


def loaded(text: str, d: Any) -> Value:
    """The value of an element or of a function whose text has the type itself."""
    return Value(f"np.int64({text})", d) if d in WIDE else Value(text, d)


def stored(v: Value) -> str:
    """The text of a value as an element of its type."""
    return f"{name_of(v.type)}({v.text})" if v.type in WIDE else v.text


def constant(number: Any, d: np.dtype[Any]) -> Value:
    """A value that is known."""
    if d == BOOL:
        return Value(str(bool(number)), d, number=bool(number))
    if d.kind in "iu":
        bits = 8 * d.itemsize
        n = int(number) & ((1 << bits) - 1)
        n -= (1 << bits) if d.kind == "i" and n >> (bits - 1) else 0
        if d in WIDE:
            return Value(str(n) if n >= 0 else f"({n})", d, number=n, is_small=0 <= n < 1 << 16)
        text = f"{name_of(d)}({n})"
        # Texts of integers are of 64 bits with a sign.
        if n >= 1 << 63:
            text = f"(~np.uint64({(1 << 64) - 1 - n}))"
        return Value(text, d, number=n)
    if d.kind == "c":
        return Value(f"{name_of(d)}({complex(number)!r})", d)
    with np.errstate(all="ignore"):
        f = float(d.type(number))
    text = "np.inf" if f == np.inf else "-np.inf" if f == -np.inf else "np.nan" if f != f else repr(f)
    return Value(f"{name_of(d)}({text})", d, number=f)


def converted(v: Value, d: np.dtype[Any], line: int, is_explicit: bool = False) -> Value:
    """A value as another type, by C's rules."""
    if v.is_pointer:
        if d == BOOL:
            return Value("True", BOOL)
        raise Failure(f"a value of type pointer cannot be used as a value of type {d.name}", line)
    if v.type is None:
        raise Failure("an expression of type void has no value", line)
    if v.type == d:
        return v
    if v.number is not None and d.kind in "biuf" and not (d.kind in "iu" and _is_beyond(v.number)):
        return constant(bool(v.number) if d == BOOL else v.number, d)
    if v.type in WIDE and d in WIDE:
        return Value(v.text, d, is_loose=v.is_loose or not v.is_small, is_small=v.is_small)
    if v.type in WIDE and d.itemsize > 4 or d.kind not in "iu":
        v = exact(v)
    if d == BOOL:
        return Value(f"({v.text} != {constant(0, v.type).text})", BOOL)
    if v.type.kind == "c" and d.kind != "c":
        if not is_explicit:
            raise Failure(f'no suitable conversion function from "complex" to "{d.name}" exists', line)
        v = Value(f"{v.text}.real", np.dtype(f"f{v.type.itemsize // 2}"))
        return converted(v, d, line)
    if d in WIDE:
        is_narrow = v.type.itemsize < 4 and (d == INT or v.type.kind in "bu")
        return Value(f"np.int64({v.text})", d, is_loose=not is_narrow and (v.type.kind in "iu" or d == UINT))
    if v.type.kind == "f" and d.kind in "iu" and d.itemsize < 4:
        # By way of int, so that values beyond the type wrap.
        v = Value(f"np.int32({v.text})", LONG)
    return Value(f"{name_of(d)}({v.text})", d)


def _is_beyond(number: Any) -> bool:
    return isinstance(number, float) and (number != number or abs(number) == np.inf)


_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$")


def number(text: str, line: int) -> Value:
    """The value of a number in the text."""
    text = text.replace("'", "")
    is_hexadecimal = text[:2].lower() == "0x"
    m = _NUMBER.match(text)
    if m is None:
        raise Failure(f"invalid number {text}", line)
    digits, suffix = m[1], m[2].lower()
    if not is_hexadecimal and ("." in digits or "e" in digits or "E" in digits or suffix == "f" and "." in digits):
        if suffix not in ("", "f", "l"):
            raise Failure(f"invalid suffix {suffix} of a number", line)
        return constant(np.float32(digits) if suffix == "f" else float(digits), FLOAT if suffix == "f" else DOUBLE)
    if suffix not in ("", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz"):
        raise Failure(f"invalid suffix {suffix} of a number", line)
    is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    n = int(digits, 8) if is_octal else int(digits, 0)
    is_long = "l" in suffix or "z" in suffix
    for d in (INT, UINT, LONG, ULONG):
        if (d.kind == "i" and "u" in suffix) or (is_long and d.itemsize < 8):
            continue
        if d == UINT and "u" not in suffix and not is_hexadecimal and not is_octal:
            continue
        if n <= np.iinfo(d).max:
            return constant(n, d)
    raise Failure(f"integer constant {text} is too large", line)
