"""How Numba writes types: `python tests/python/numba/numba_type_texts.py` records it in `numba_type_texts.json`, by a
Python that has Numba 0.68.1 and not lancehead."""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).with_suffix(".json")
Point = namedtuple("Point", "x y")
RECORD = np.dtype([("x", "i4"), ("y", "f8")])
NESTED = np.dtype([("x", "i4", (2,)), ("s", "U3"), ("n", RECORD)])

#: Expressions of `types`, `typeof`, `np` and the names above.
EXPRESSIONS = """
types.int8 types.uint64 types.float16 types.complex64 types.boolean types.void types.unicode_type types.voidptr
types.slice2_type types.slice3_type types.ellipsis types.undefined types.pyobject types.range_state64_type
types.ListType(types.int64) types.List(types.int64) types.List(types.int64,reflected=True)
types.Set(types.int64) types.Set(types.int64,reflected=True) types.DictType(types.unicode_type,types.float64)
types.ListType(types.ListType(types.int64)) types.DictType(types.int64,types.ListType(types.float64[:]))
types.Array(types.float64,2,'F') types.Array(types.float64,1,'C',readonly=True) types.float64[:,::1]
types.Array(types.UnicodeCharSeq(3),1,'C') types.Array(types.NPDatetime('D'),1,'C')
types.Tuple((types.int64,types.float64)) types.UniTuple(types.int64,3) types.Tuple(()) types.Tuple((types.int64,))
types.NamedTuple((types.int64,types.float64),Point) types.NamedUniTuple(types.int64,2,Point)
types.Optional(types.float64) types.NPDatetime('D') types.NPDatetime('') types.NPTimedelta('ns')
types.CharSeq(5) types.UnicodeCharSeq(5) types.CPointer(types.float64) types.Omitted(1.5) types.Omitted(None)
types.literal(3) types.literal('a') types.literal(True) types.FunctionType(types.int64(types.float64))
types.int64(types.float64) types.void(types.float64[:]) types.NestedArray(types.float64,(2,3))
types.from_dtype(RECORD) types.from_dtype(NESTED) types.from_dtype(RECORD)[:]
typeof(1) typeof('a') typeof(b'a') typeof(bytearray(2)) typeof(memoryview(b'a')) typeof((1,2.5)) typeof((1,2))
typeof([1]) typeof({1}) typeof({1.5}) typeof(Point(1,2)) typeof([[1]]) typeof([(1,2)]) typeof(slice(1))
typeof(slice(1,2,3)) typeof(...) typeof(np.zeros(2)) typeof(np.zeros((2,2)).T) typeof(np.zeros(2,'M8[D]'))
typeof(np.zeros(2,'U3')) typeof(np.zeros(2,RECORD)) typeof(np.float32(1)) typeof(np.float32) typeof(ValueError)
types.NumberClass(types.int64) types.TypeRef(types.int64) types.VarArg(types.int64) types.ExceptionClass(ValueError)
types.EphemeralPointer(types.int64) types.MemInfoPointer(types.int64) types.Pair(types.int64,types.boolean)
types.LiteralStrKeyDict({types.literal('a'):types.int64}) types.Bytes(types.uint8,1,'C') types.Poison(types.int64)
types.ByteArray(types.uint8,1,'C') types.MemoryView(types.uint8,1,'C') types.PyArray(types.int32,1,'C')
types.NumpyFlatType(types.float64[:]) types.ListIter(types.List(types.int64)) types.DType(types.int64)[:]
types.Integer('int8') types.Float('float64') types.StarArgTuple((types.int64,types.float64))
""".split()


def written(types: Any, typeof: Any) -> dict[str, list[str]]:
    """The results of `str` and `repr`, by the expression."""
    names = {"types": types, "typeof": typeof, "np": np, "Point": Point, "RECORD": RECORD, "NESTED": NESTED}
    made = {e: eval(e, names) for e in EXPRESSIONS}
    return {e: [str(t), repr(t)] for e, t in made.items()}


if __name__ == "__main__":
    import numba
    from numba import types

    types.from_dtype = numba.from_dtype
    RECORDED.write_text(json.dumps(written(types, numba.typeof), indent=1) + "\n")
