"""Short vectors, `float4` and its kin: named tuples whose fields are `x`, `y`, `z` and `w`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from lancehead import types

_SIZES = {1: ("x",), 2: ("x", "y"), 3: ("x", "y", "z"), 4: ("x", "y", "z", "w")}
_BASES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64",
)  # fmt: skip
_ALIASES = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "uchar": "uint8",
    "ushort": "uint16",
    "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "half": "float16", "float": "float32",
    "double": "float64",
}  # fmt: skip


def _vector(base: str, size: int) -> Any:
    """A class of vectors: in kernels it is called with numbers and shorter vectors, which become its type."""
    name = f"{base}x{size}"
    made = namedtuple(name, _SIZES[size])  # type: ignore[misc]
    made.__doc__ = (
        f"A vector of {size} `{base}`, for kernels and for Python, with fields {', '.join(_SIZES[size])}.\n\n"
        f">>> cuda.{name}({', '.join('1234'[:size])}).x\n1"
    )
    made.base_type, made.num_elements, made.user_facing_object = getattr(types, base), size, made  # type: ignore[attr-defined]
    made.name, made.aliases = made.__name__, []  # type: ignore[attr-defined]
    made.dtype, made.length, made.shape = made.base_type, size, (size,)  # type: ignore[attr-defined]
    return made


vector_types: dict[str, Any] = {f"{base}x{n}": _vector(base, n) for base in _BASES for n in _SIZES}
_named: dict[str, Any] = {
    f"{alias}{n}": vector_types[f"{base}x{n}"] for alias, base in _ALIASES.items() for n in _SIZES
}
for _alias, _vector_type in _named.items():
    _vector_type.aliases.append(_alias)
#: The same, by the names that numba-cuda's successor has for them.
vector_types_by_name, vector_types_by_alias, _vector_types = vector_types, _named, [*vector_types.values()]
globals().update(vector_types, **_named)
__all__ = sorted([*vector_types, *_named])  # noqa: PLE0605
