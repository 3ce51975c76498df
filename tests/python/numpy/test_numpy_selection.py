"""Selecting and storing by masks, choices and indices along an axis, against NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
A[np.ix_(I,J)]
A[np.ix_([0,2],[True,False,True,False])]
A[np.ix_(B[:,0],J)]
np.ix_(I,J,I)
np.choose(I%2,(A[0,:2],A[1,:2]))
np.choose(I%2,[A[0,:2],A[1,:2]])
np.choose(A%3,A)
np.choose(A%3,(1,2.5,F))
np.choose(A,(1,2,3),mode='clip')
np.choose(A,(1,2,3),mode='wrap')
np.choose(A,(1,2,3))
np.choose(1,(1,2,3))
np.choose(I%2,np.array([5,6]))
(np.copyto(A,5),A)
(np.copyto(A,F,casting='unsafe'),A)
(np.copyto(A,F),A)
(np.copyto(A,[1,2,3,4],where=[True,False,True,True]),A)
(np.copyto(A,I),A)
(np.place(A,B,[1,2]),A)
(np.place(A,B,L),A)
(np.place(A.T,B.T,[1,2]),A)
(np.place(A,B,np.zeros(0)),A)
(np.place(A,B[0],I),A)
(np.putmask(A,B,[1,2]),A)
(np.putmask(F,B,[1,2]),F)
(np.putmask(F,B,F*3),F)
(np.putmask(A,B,F),A)
(np.putmask(A.T,B.T,[1,2,3]),A)
(np.put_along_axis(A,I.reshape(1,2)[:,:1],99,axis=0),A)
(np.put_along_axis(A,J.reshape(1,2),np.array([[5],[6],[7]]),axis=1),A)
(np.put_along_axis(A,I,99,axis=None),A)
(np.put_along_axis(A,I+9,99,axis=0),A)
(np.fill_diagonal(A,5),A)
(np.fill_diagonal(A.T,[5,6],wrap=True),A)
(np.fill_diagonal(A,F),A)
np.diag_indices(3)
np.diag_indices(3,3)
np.diag_indices_from(A[:3,:3])
np.diag_indices_from(A)
np.mask_indices(3,np.triu,1)
np.diagonal(A)
np.diagonal(A,1)
np.diagonal(A,-1)
np.diagonal(A,7)
np.diagonal(A.reshape(3,2,2),0,1,2)
np.diagonal(A.reshape(3,2,2),-1,2,0)
np.diagonal(A,0,1,1)
np.indices((2,3))
np.indices((2,),np.float32)
np.indices((2,3),sparse=True)
np.indices((2,0,3))
np.where([True,False,True,False],F,2.5)
np.where([True,False,True,False],[1,2,3,4],L)
np.where((True,False,True,False),2.5,L)
np.where(B,[1,2,3,4],L)
np.where(B,(1,2,3,4),2)
np.where(True,[1,2,3,4],2)
np.where(L>1,[1,2,3,4],[1.5,2,3,4])
np.where([[True],[False]],[1,2,3,4],L)
np.clip(L,[1,2,1,2],2)
np.clip([1,5,9],2,6)
np.select([A>3,B],[A,F],2.5)
np.select([A>3,B],[A,A+1],2)
np.select((A>3,B),[A,F],2.5)
np.select([A>3,[True,False,True,False]],[A,F],2.5)
np.select([A>3,[True,False,True,False]],[A,A],2)
np.flip(np.array(3.0)),np.flip(2.5),np.flip(A),np.argpartition(np.array(1),0)
np.partition(np.array(1),0)
np.partition(F,[0,1],axis=-3)
np.triu_indices_from(L)
np.tril_indices_from(np.ones((2,2,2)))
np.tril(np.ones((2,1,3,3))),np.triu(np.ones((2,1,3,2)),1),np.tril_indices_from(A)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("a[np.ix_([0, 2], [1, 3])]", lambda a: a.ndim == 2 and a.size),
    ("a[np.ix_(a[:, 0] == a[0, 0], [1, 0])]", lambda a: a.ndim == 2 and a.size),
    ("np.choose([0, 1, 1, 0], (a[:4], a[3:7]))", lambda a: a.ndim == 1 and a.size > 6),
    ("(np.copyto(a, a[::-1], where=a == a), a)", lambda a: True),
    ("(np.copyto(a, 1), a)", lambda a: True),
    ("(np.place(a, a == a, a[:2]), a)", lambda a: a.ndim and a.size),
    ("(np.putmask(a, a != 0, a.copy()), a)", lambda a: True),
    ("(np.put_along_axis(a, np.argmax(a, axis=0, keepdims=True), 1, axis=0), a)", lambda a: a.ndim and a.size),
    ("(np.fill_diagonal(a, 1), a)", lambda a: a.ndim == 2),
    ("np.diagonal(a, 1)", lambda a: a.ndim > 1),
    ("a.diagonal(-1, 1, 0)", lambda a: a.ndim > 1),
    ("a.diagonal(0, -1, 0)", lambda a: a.ndim == 3),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
