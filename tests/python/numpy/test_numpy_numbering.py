"""Places as numbers, orders by several keys, functions applied to lines and pieces, against NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
np.ravel_multi_index((I,J),(3,4))
np.ravel_multi_index((I,J),(3,4),order='F')
np.ravel_multi_index((1,2),(3,4))
np.ravel_multi_index((I,J),(3,3))
np.ravel_multi_index((I,J),(3,3),mode='wrap')
np.ravel_multi_index((I,J),(3,3),mode=('raise','clip'))
np.ravel_multi_index(A[:2],(30,40))
np.ravel_multi_index([[1,2],[0,1]],(30,40))
np.ravel_multi_index((I,),(3,4))
np.ravel_multi_index(I,5)
np.ravel_multi_index((I.reshape(2,1),J),(3,4))
np.ravel_multi_index((I,-J),(3,4),mode='wrap')
np.unravel_index(7,(3,4))
np.unravel_index(A,(3,4))
np.unravel_index(A,(3,4),order='F')
np.unravel_index(A,(3,3))
np.unravel_index(-A,(3,4))
np.unravel_index(I,5)
np.unravel_index([3,4],(2,3,4))
np.lexsort((L,L))
np.lexsort((I,J))
np.lexsort([L,-L])
np.lexsort(A)
np.lexsort(-A,axis=0)
np.lexsort((A%2,A%3))
np.lexsort((A%2,A%3),axis=0)
np.lexsort((A%2,A%3),axis=2)
np.lexsort((I,L))
np.sort_complex(A)
np.sort_complex(Z)
np.sort_complex(L.astype(np.int8))
np.resize(A,(5,4))
np.resize(A,7)
np.resize(A,(2,-1))
np.resize(A[:0],3)
np.require(A.T,np.float32,'C')
np.apply_along_axis(np.sort,0,-A)
np.apply_along_axis(np.sum,0,A)
np.apply_along_axis(np.sum,1,A)
np.apply_along_axis(lambda v: np.outer(v,v),0,A)
np.apply_along_axis(lambda v: np.outer(v,v),1,A)
np.apply_along_axis(lambda v,k: v[:k]*1.5,1,A,2)
np.apply_along_axis(lambda v,k=1: v[:k]*1.5,1,A,k=2)
np.apply_along_axis(np.sum,0,L)
np.apply_along_axis(np.sum,1,A.reshape(2,3,2)).strides
np.apply_along_axis(np.sum,1,A[:0])
np.apply_along_axis(np.diff,2,A.reshape(2,2,3))
np.apply_over_axes(np.sum,A,0)
np.apply_over_axes(np.sum,A,(0,1))
np.apply_over_axes(np.mean,A.reshape(2,2,3),(0,-1))
np.piecewise(L,[L<2,L>2],(lambda v:-v, lambda v:v*2, 7.0))
np.piecewise(L,[L<2,L>2],[lambda v:-v, lambda v:v*2])
np.piecewise(L,[L<2,L>2],[-1,1])
np.piecewise(L,[L<2],[-1,1])
np.piecewise(A,[A<2],(-1,lambda v,k: v*k), 3)
np.piecewise(L,L<2,(-1,1))
np.piecewise(2.5,[2.5<2,2.5>2],(lambda v:-v, lambda v:v*2))
np.fromfunction(lambda i,j: i+j,(2,3))
np.fromfunction(lambda i,j: i+j,(2,3),dtype=int)
np.fromfunction(lambda i: i+1,(3,))
np.fromiter((x*x for x in range(40)),np.float32)
np.fromiter([1,2,3],int,count=2)
np.fromiter([1,2,3],int,count=5)
np.fromiter(L,int)
np.apply_over_axes(np.cumsum,A,1)
np.require(A,None,'F')
np.require(A.T,None,'C')
np.require(A.T,np.float32,'C').strides
np.require(A.T,np.float32,'W').strides
np.require(A.T,np.float32,'A').strides
np.require(L,None,'O')
np.require(L)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.lexsort((a, a[::-1]))", lambda a: a.ndim),
    ("np.lexsort((a != 0, a), axis=0)", lambda a: a.ndim),
    ("np.lexsort(a)", lambda a: a.ndim > 1),
    ("np.sort_complex(a)", lambda a: a.ndim),
    ("np.resize(a, (3, 7))", lambda a: True),
    ("np.resize(a, 3)", lambda a: True),
    ("np.apply_along_axis(np.sum, 0, a)", lambda a: a.ndim),
    ("np.apply_along_axis(lambda v: v[::-1] + v, -1, a)", lambda a: a.ndim),
    ("np.apply_over_axes(np.sum, a, 0)", lambda a: a.ndim),
    ("np.piecewise(a, [a == 1, a == 0], (lambda v: v + v, 1, lambda v: v))", lambda a: True),
    ("np.fromiter(a, np.float64)", lambda a: a.ndim == 1 and a.dtype.kind != "c"),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
