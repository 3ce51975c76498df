"""Python's builtins: functions, and the types whose methods the library defines."""

from lancehead.lib.bytearrays import bytearray
from lancehead.lib.bytestrings import bytes
from lancehead.lib.calls import (
    abs,
    all,
    any,
    ascii,
    bin,
    chr,
    divmod,
    filter,
    format,
    hex,
    map,
    max,
    min,
    oct,
    ord,
    pow,
    repr,
    round,
    sorted,
    sum,
)
from lancehead.lib.dicts import dict
from lancehead.lib.hashing import hash
from lancehead.lib.lists import list
from lancehead.lib.memoryviews import memoryview
from lancehead.lib.scalars import complex, float, int, range, slice, tuple
from lancehead.lib.sets import frozenset, set
from lancehead.lib.strings import str

__all__ = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bytearray",
    "bytes",
    "chr",
    "complex",
    "dict",
    "divmod",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "int",
    "list",
    "map",
    "max",
    "memoryview",
    "min",
    "oct",
    "ord",
    "pow",
    "range",
    "repr",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
]
