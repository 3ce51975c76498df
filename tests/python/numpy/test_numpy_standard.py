"""Functions of the array API standard, blocks and lists of arrays of several types, against NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
np.astype(A,np.float32)
np.matrix_transpose(A.reshape(2,2,3)), np.matrix_transpose(A)
np.matrix_transpose(L)
np.unstack(A)[1],np.unstack(A,axis=1)[-1]
np.dsplit(A.reshape(2,2,3),3)
np.dsplit(A.reshape(2,2,3),[1,2])
np.block([A,A])
np.block([[A,A],[A,A*2]])
np.block([[L],[L]])
np.block([1,2,3])
np.block(A)
np.block([[F,A]])
np.block([L,2.0])
np.block([[A[:1],A[:1,:1]],[A[:1,:2],A[:1,:3]]])
np.unique_values(L)
np.unique_counts(L)
np.unique_inverse(A%3)
np.unique_all(A%3)
np.unique_counts(np.array([np.nan,1.0,np.nan]))
np.unique(np.array([np.nan,1.0,np.nan])),np.unique(np.array([np.nan,1.0,np.nan]),equal_nan=False)
np.unique(A%2,axis=0),np.unique(A%2,axis=1)
np.unique(A%2,axis=0,return_index=True,return_inverse=True,return_counts=True)
np.unique(A%2,True,axis=-1,return_counts=True)
np.unique(Z,axis=0)
np.unique((A%2).reshape(3,2,2),axis=1)
np.unique(A[:0],axis=0)
np.cumulative_sum(L),np.cumulative_sum(A,axis=0,include_initial=True),np.cumulative_sum(A,axis=-1,dtype=np.float32)
np.cumulative_sum(A)
np.cumulative_prod(L,include_initial=True),np.cumulative_prod(A,axis=1)
np.cumulative_sum(L,out=L)
np.vecdot(F,F),np.vecdot(Z,F),np.vecdot(L,L),np.vecdot(F,F,axis=0),np.vecdot(A,L)
np.vecdot(F,F,keepdims=True),np.vecdot(A,A,dtype=np.float32)
np.vecdot(A,A[:,:2])
np.vecdot(Z,Z,out=Z[0][:3])
np.matvec(F,L),np.matvec(A,A[0]),np.matvec(Z,L),np.matvec(F.reshape(3,2,2),F[:,:2])
np.vecmat(F[:,0],F),np.vecmat(Z[:,0],Z)
np.vecmat(F,F)
np.bitwise_count(A),np.bitwise_count(-A.astype(np.int8)),np.bitwise_count(5)
np.bitwise_count(np.array([-128,127],np.int8)),np.bitwise_count(B)
np.bitwise_count(A,out=A)
A@B
np.concatenate([F,A])
np.concatenate([L,[2.0]])
np.stack([F,A])
np.vstack([A,L])
np.choose(I%2,[F[0,:2],A[1,:2]])
np.lexsort([I,L[:2]])
np.concatenate([F,A],axis=None)
np.hstack([A,F])
np.column_stack([L,L.astype(np.float32)])
np.dstack([A,F])
np.block([[F,A],[A,F]])
np.block([[F,A],[F,F]])
np.block([[F,2*np.eye(3)],[np.zeros((1,5)),np.array([[1,2]])]])
np.block([[[F]],[[F]]])
np.block([L,[2.0]])
np.choose(I%2,[F[0,:2],1])
np.piecewise(L,[L<2,L>2],[lambda v:-v, lambda v:v*2, 7.0])
np.piecewise(L,[L<2,L>2],[lambda v:-v, 1.0])
np.select([A>3,B],[A,F],2.5)
np.select([A>3,[True,False,True,False]],[A,F],2.5)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.astype(a, np.complex64)", lambda a: True),
    ("np.matrix_transpose(a)", lambda a: a.ndim > 1),
    ("np.unique_counts(a)", lambda a: True),
    ("np.unique_inverse(a)", lambda a: True),
    ("np.sort(np.unique_values(a))", lambda a: True),
    ("np.unique(a, axis=0, return_index=True, return_inverse=True, return_counts=True)", lambda a: a.ndim),
    ("np.unique(a, axis=-1)", lambda a: a.ndim),
    ("np.unique(a, return_counts=True, equal_nan=False)", lambda a: True),
    ("np.cumulative_sum(a, axis=0, include_initial=True)", lambda a: a.ndim),
    ("np.cumulative_prod(a, axis=-1)", lambda a: a.ndim),
    ("np.vecdot(a, a)", lambda a: a.ndim),
    ("np.vecdot(a, a, axis=0)", lambda a: a.ndim),
    ("np.matvec(a, a[0])", lambda a: a.ndim == 2 and a.size),
    ("np.vecmat(a[:, 0], a)", lambda a: a.ndim == 2 and a.size),
    ("np.bitwise_count(a)", lambda a: a.dtype.kind in "biu"),
    ("np.block([[a, a], [a, a]])", lambda a: a.ndim > 1),
    ("np.block([a, 1])", lambda a: a.ndim == 1),
    ("np.unstack(a)[0]", lambda a: a.ndim and a.size),
    ("np.concatenate([a, a.astype(np.complex128)])", lambda a: a.ndim),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
