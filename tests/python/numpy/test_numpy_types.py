"""Questions about types, values and memory, bits and texts of numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lancehead
from lib_cases import same
from numpy_agreement import agrees, agrees_over_kinds, outcome

EXPRESSIONS = """
np.isscalar(3),np.isscalar(A),np.isscalar("a"),np.isscalar(np.array(3)),np.isscalar(A[0,0]),np.isscalar(None)
np.isscalar([1])
np.issubdtype(A.dtype,np.integer),np.issubdtype(A.dtype,np.signedinteger),np.issubdtype(A.dtype,np.floating)
np.issubdtype(F.dtype,np.inexact)
np.issubdtype(A.dtype,np.number),np.issubdtype(A.dtype,int),np.issubdtype('f4',float),np.issubdtype(np.float64,float)
np.issubdtype('f8','f8')
np.issubdtype(Z.dtype,np.complexfloating), np.issubdtype(B.dtype,np.bool_), np.issubdtype(B.dtype,np.number)
np.issubdtype(A.dtype, np.generic)
np.zeros(2,np.promote_types(np.int32,np.float32))
np.zeros(2,np.common_type(A,F.astype(np.float32))),np.zeros(2,np.common_type(Z,F)),np.zeros(2,np.min_scalar_type(Z))
np.can_cast(np.int32,np.int64),np.can_cast('i8','i4'),np.can_cast('i8','i4','same_kind')
np.can_cast('f8','i4','same_kind'),np.can_cast('f8','i4','unsafe'),np.can_cast('i4','i4','no'),np.can_cast(A,'f8')
np.can_cast('i8','u4','same_kind'),np.can_cast('u8','i4','same_kind'),np.can_cast('?','i1')
np.can_cast('i1','?','same_kind'),np.can_cast('u8','f4'),np.can_cast('f2','c8'),np.can_cast('c16','f8','same_kind')
np.isdtype(A.dtype,'integral'),np.isdtype(A.dtype,('real floating','bool'))
np.isdtype(np.dtype(np.float32),np.float32),np.isdtype(B.dtype,'numeric'),np.isdtype(F.dtype,'numeric')
np.mintypecode('dF'),np.mintypecode('fi'),np.mintypecode('ii'),np.mintypecode(['d','f'])
np.typename('d'),np.typename('?'),np.typename('S1')
np.iscomplexobj(A),np.iscomplexobj(Z),np.isrealobj(Z),np.isrealobj(3),np.iscomplexobj([1j])
np.iterable(A),np.iterable(3),np.iterable([1]),np.iterable("a"),np.iterable((1,)),np.iterable(None)
np.iterable(np.array(3))
np.isfortran(A),np.isfortran(A.T),np.isfortran(L)
np.isposinf(F/0),np.isneginf(-F/0),np.isposinf(2.5),np.isneginf([-np.inf,1.0]),np.isposinf(A)
np.isposinf(F,out=B)
np.real_if_close(A)
np.asarray_chkfinite(L)
np.asarray_chkfinite(L/0)
np.asarray_chkfinite([1,2],np.float32)
np.array_equiv(A,A[:1]),np.array_equiv(A[0],np.stack((A[0],A[0]))),np.array_equiv(A,L[:3]),np.array_equiv(3,3.0)
np.may_share_memory(A,A[1]),np.may_share_memory(A,F),np.may_share_memory(A[:,::2],A[:,1::2])
np.may_share_memory(A[:0],A)
np.shares_memory(A,A[1]),np.shares_memory(A,F),np.shares_memory(A[:,::2],A[:,1::2]),np.shares_memory(A.T,A[1:,1])
np.shares_memory(A.view(np.int8)[:,1::8],A)
np.packbits(B)
np.packbits(A,axis=1)
np.packbits(A,axis=0,bitorder='little')
np.packbits(B,bitorder='x')
np.unpackbits(A.astype(np.uint8))
np.unpackbits(A.astype(np.uint8),axis=1)
np.unpackbits(A.astype(np.uint8),axis=0,count=5,bitorder='little')
np.unpackbits(A.astype(np.uint8),axis=0,count=-3)
np.unpackbits(A.astype(np.uint8),count=200)
np.unpackbits(A.astype(np.uint8),count=-200)
np.unpackbits(np.array(5,np.uint8))
np.packbits(np.array(True))
np.array_repr(A),np.array_repr(F[0]),np.array_str(A),np.array2string(Z),np.array2string(L),np.array_repr(L[:0])
np.base_repr(10),np.base_repr(-6,5),np.base_repr(255,16,3),np.base_repr(0),np.base_repr(0,2,3),np.base_repr(-255,36,1)
np.base_repr(1,37)
np.binary_repr(3),np.binary_repr(-3),np.binary_repr(3,width=4),np.binary_repr(-3,width=5),np.binary_repr(-4,width=3)
np.binary_repr(0),np.binary_repr(-8,width=9)
np.binary_repr(-9,width=4)
np.binary_repr(9,width=3)
np.imag(F).flags.writeable,F.imag.flags.writeable,Z.imag.flags.writeable,F.real.flags.writeable
np.nanargmax(L),np.nanargmin(F,axis=0)
np.nanargmax(L[:0])
np.nanargmin(F[:0],axis=0)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("(np.iscomplexobj(a), np.isrealobj(a), np.isfortran(a), np.isscalar(a), np.iterable(a))", lambda a: True),
    (
        "(np.issubdtype(a.dtype, np.integer), np.issubdtype(a.dtype, np.inexact), np.isdtype(a.dtype, 'numeric'))",
        lambda a: True,
    ),
    ("np.ones(2, np.result_type(a, np.float32))", lambda a: True),
    ("np.ones(2, np.common_type(a))", lambda a: a.dtype.kind != "b"),
    ("np.ones(2, np.promote_types(a.dtype, np.int16))", lambda a: True),
    (
        "(np.can_cast(a, np.int16), np.can_cast(a, np.float32, 'same_kind'), np.can_cast(a, np.complex64))",
        lambda a: True,
    ),
    ("np.asarray_chkfinite(a)", lambda a: True),
    ("(np.array_equiv(a, a), np.array_equiv(a, a[:1]))", lambda a: a.ndim),
    (
        "(np.shares_memory(a, a[1:]), np.may_share_memory(a[:1], a[1:]), np.shares_memory(a[::2], a[1::2]))",
        lambda a: a.ndim,
    ),
    ("np.packbits(a != 0, axis=0)", lambda a: a.ndim),
    ("np.packbits(a, bitorder='little')", lambda a: a.dtype.kind in "biu"),
    ("np.unpackbits(a, axis=-1, count=11)", lambda a: a.dtype == "u1" and a.ndim),
    ("(np.isposinf(a), np.isneginf(a))", lambda a: True),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)


NUMBERS = """1 2 3|1,2,3|1, 2 ,3|1,2,x|1,2,||1.5 2|1;;2|nan inf -inf 1e5|1,,2|300 2|1 0 2|1 -1|0x10 2|1\n2\t3|1abc|
1_0 2|99999999999999999999|+5|-99999999999999999999|1e400 2|.5 5. 1e|abc|1 2 |1,2 | 1,2|\u00e9|010 2|1.e3|-.5e-2 7|
1e+5 2e-3|Infinity +NaN|infx|18446744073709551616 1|. 1|-|+ 1|- 1|1e+|
\u0663 1|1.7976931348623157e308|9223372036854775808"""


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "u8", "u1", "?"])
def test_numbers_are_read_from_texts(dtype: str) -> None:
    @lancehead.njit
    def read(text, sep):
        return np.fromstring(text, dtype, sep=sep)

    @lancehead.njit
    def read_two(text, sep):
        return np.fromstring(text, dtype, 2, sep=sep)

    for text in NUMBERS.replace("|\n", "|").split("|"):
        for sep in (" ", ",", " ;;  "):
            want, got = (outcome(f, [text, sep]) for f in (read.py_func, read))
            assert same(want, got), (text, sep, want, got)
            if isinstance(want, np.ndarray) and len(want) > 1:
                assert same(outcome(read_two.py_func, [text, sep]), outcome(read_two, [text, sep])), (text, sep)
    with pytest.raises(ValueError, match="9 items requested but only 1 read"):
        lancehead.njit(lambda text: np.fromstring(text, dtype, 9, sep=" "))("1")
    with pytest.raises(ValueError, match="binary mode of fromstring is removed"):
        read("1 2", "")
    assert same(read("", ","), np.zeros(0, dtype))
