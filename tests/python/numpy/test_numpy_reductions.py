"""Keywords of reductions, against NumPy: masks, initial values, means that are known, several axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import njit
from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
np.sum(F,where=B),np.sum(A,axis=0,where=B),np.sum(Z,axis=1,where=B[0],keepdims=True),np.sum(A,where=False)
np.sum(A,initial=5),np.sum(A,axis=0,initial=2.5,dtype=np.float64)
np.sum(L,where=[True,False,True,True]),np.sum(B,where=B),np.sum(A,axis=(0,1),where=B,initial=7)
np.prod(A+1,where=B),np.prod(F,axis=0,where=~B),np.prod(L,initial=2.0)
np.min(F,where=B,initial=5.0),np.max(A,axis=0,where=B,initial=-1)
np.max(A,axis=1,where=B[:,:1],initial=3,keepdims=True)
np.min(F,where=B)
np.mean(F,where=B),np.mean(A,axis=0,where=B),np.mean(Z,axis=1,where=B,keepdims=True),np.mean(A,where=False)
F.mean(where=B)
np.mean(A,axis=(0,1),where=B),np.mean(A.reshape(2,2,3),axis=(0,2))
np.var(F,where=B),np.var(A,axis=0,where=B,ddof=1),np.var(Z,axis=1,where=B,keepdims=True),np.std(F,where=~B)
np.var(F,mean=np.mean(F,keepdims=True)),np.std(F,axis=0,mean=np.mean(F,axis=0,keepdims=True)),np.var(F,correction=1)
np.std(F,axis=1,correction=1.5)
np.var(F,ddof=1,correction=1)
np.var(F,axis=(0,1)),np.std(F.reshape(2,2,3),axis=(0,2),ddof=1,keepdims=True)
np.var(F,axis=0,mean=np.zeros((1,4)),where=B),F.std(axis=0,where=B),F.var(where=B,ddof=2)
np.all(A,where=B),np.all(A,axis=0,where=~B),np.any(A,where=B),np.any(A,axis=1,where=B,keepdims=True)
np.all(A,where=False),np.any(A,where=False)
A.sum(where=B),A.prod(axis=0,initial=3),A.max(where=B,initial=0),A.any(where=B),A.all(axis=1,where=B)
np.sum(A,0,np.float32,np.zeros(4,np.float32),False,1,B)
np.sum([1,2,3],initial=2)
np.sum(B,initial=True)
np.sum(L,where=L>1),np.mean(L,where=L>1)
np.nansum(np.where(B,np.nan,F),where=A>2),np.nansum(A,axis=0,where=B,initial=3),np.nanprod(F+1,axis=1,where=B)
np.nansum(Z,where=B)
np.nanmean(np.where(B,np.nan,F),axis=0,where=A>2),np.nanmean(A,where=B),np.nanmean(Z,where=B)
np.nanvar(np.where(B,np.nan,F),axis=0,where=A>2),np.nanstd(A,where=B,correction=1)
np.nanvar(np.where(B,np.nan,F),mean=3.0,ddof=1),np.nanvar(np.where(B,np.nan,F),axis=0,mean=np.ones((1,4)))
np.nanmin(np.where(B,np.nan,F),initial=1.0),np.nanmax(np.where(B,np.nan,F),axis=0,where=A>2,initial=-1.0)
np.nanmax(A,where=B,initial=0),np.nanmin(A[:0],initial=3)
np.nanmin(F,where=B)
np.nanargmin(np.where(B,np.nan,F),keepdims=True),np.nanargmax(np.where(B,np.nan,F),axis=1,keepdims=True)
np.nanargmax(np.where(B,np.nan,F),1,np.zeros(3,np.int64))
np.nanmin(np.where(B,np.nan,F),axis=(0,1)),np.nanmean(np.where(B,np.nan,F),axis=(0,1))
np.nanvar(np.where(B,np.nan,F),axis=(0,1))
np.nansum(A+2**60,where=B),np.nanprod(A.astype(np.int8),where=B)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.sum(a, where=a == a, initial=1)", lambda a: True),
    ("np.sum(a, axis=0, where=a != 0, keepdims=True)", lambda a: a.ndim),
    ("np.prod(a[:3], axis=-1, where=a[:3] != 0)", lambda a: a.ndim),
    ("np.min(a, where=a != 0, initial=1)", lambda a: True),
    ("a.max(axis=-1, where=a != 0, initial=1)", lambda a: a.ndim),
    ("np.mean(a, axis=0, where=a != 0)", lambda a: a.ndim),
    ("np.var(a, where=a != 0)", lambda a: True),
    ("np.std(a, axis=-1, where=a != 0, ddof=1, keepdims=True)", lambda a: a.ndim),
    ("np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True), correction=1)", lambda a: a.ndim and a.size),
    ("(np.all(a, where=a != 1), np.any(a, axis=0, where=a != 1))", lambda a: a.ndim),
    ("np.nansum(a, where=a != 0, initial=2)", lambda a: True),
    ("np.nanmean(a, axis=0, where=a != 0)", lambda a: a.ndim and a.size),
    ("np.nanvar(a, where=a != 0)", lambda a: True),
    ("np.nanmax(a, where=a != 0, initial=1)", lambda a: a.dtype.kind != "c"),
    ("np.nanmin(a, axis=0, initial=1)", lambda a: a.ndim and a.dtype.kind != "c"),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_signs_of_zeros_in_nansum(dtype, order):
    @njit
    def f(a, initial):
        return (
            np.nansum(a),
            np.nansum(a, initial=initial),
            np.nansum(a, 0, initial=initial),
            np.nansum(a, 1),
            np.nansum(a, initial=initial, where=a > 0),
            np.nansum(a[:0], 0, initial=initial),
            np.nansum(a[::-1, ::-1], 1, initial=initial),
            np.nanmean(a),
        )

    for values in ([0.0, 0.0], [-0.0, -0.0], [-0.0, np.nan], [-0.0, 1.0]):
        a = np.asarray([values, values[::-1]], dtype, order=order)
        for initial in (0.0, -0.0):
            for got, expected in zip(f(a, initial), f.py_func(a, initial)):
                np.testing.assert_array_equal(got, expected)
                np.testing.assert_array_equal(np.signbit(np.real(got)), np.signbit(np.real(expected)))
