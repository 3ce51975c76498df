"""Keywords of functions and methods that NumPy has beside the usual ones."""

from __future__ import annotations

from typing import Any

import pytest

from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
np.take(A,[[0,1],[2,3]]),np.take(A,[[0,2],[1,1]],axis=0),np.take(A,A%3,axis=1),np.take(A,5,axis=1,mode='wrap')
np.take(A,[5,-9],mode='wrap'),np.take(A,[-5,99],axis=0,mode='clip')
np.take(A,[99])
np.take(F,[1,2],None,np.zeros(2))
A.take(I,1),A.take(I,axis=0,out=np.zeros((2,4),np.int64)),A.take([7],mode='clip')
(np.put(A,[0,5,-1],[9,8]),A)
(np.put(A,[0,25,-1],7,mode='wrap'),A)
(np.put(A,[0,25,-1],[7,6,5],mode='clip'),A)
(A.put([1,2],[5,6,7]),A)
(np.put(A,[25],7),A)
np.compress([True,False,True],A,axis=0),np.compress([False,True],A,axis=1),np.compress([True,True],A)
A.compress([True,False,True],axis=0),A.compress([False,True],1)
np.take_along_axis(F,np.array([[0],[1],[2]]),1),np.take_along_axis(F,np.array([[0,1,1,2]]),0)
np.take_along_axis(F,np.array([0,5]),None),np.take_along_axis(F,np.array([[1]]),0)
A.mT,A.reshape(2,2,3).mT,A.diagonal(1),A.reshape(2,2,3).diagonal(0,1,2)
A.choose((1,2,3),mode='wrap'),(A%2).choose([F,A])
F.tobytes(),F.tobytes('F'),A.T.tobytes('A'),F[::2].tobytes(),L[0].tobytes()
A.byteswap(),F.byteswap(),Z.byteswap(),A.byteswap(True),U.byteswap()
np.sort(L,stable=True),np.argsort(L,stable=True),np.sort(L,kind='stable'),L.argsort(stable=True)
np.sort(L,kind='stable',stable=True)
np.partition(A,2,axis=None)[2],np.argpartition(L,1,None)[:1],np.partition(L,2,kind='introselect')[2]
np.searchsorted(L,[1.5,2.5],sorter=np.argsort(L)),L.searchsorted(2.0,'right',np.argsort(L))
np.searchsorted(L,[1.5,2.5],sorter=np.array([1,2]))
L[0].std(),L[0].var(),L[0].sum(),L[0].prod(),L[0].cumsum(),L[0].argmax(),L[0].clip(0,1),L[0].repeat(3),L[0].ravel()
L[0].flatten(),L[0].transpose(),L[0].tolist(),L[0].take([0,0])
A[0,0].mean(),A[0,1].std(),A[0,1].sum(),B[0,0].sum(),B[0,0].any(),B[0,0].mean(),Z[0,0].std(),Z[0,0].mean()
A[0,2].max(),A[0,1].min()
A[0,1].byteswap(),L[0].ndim,L[0].shape,L[0].size,L[0].itemsize,L[0].nbytes,L[0].real,L[0].imag
L[0].std(ddof=1),L[0].round(1),L[0].astype(np.int64),A[0,0].sum(dtype=np.float64)
np.meshgrid(L,2.5),np.meshgrid([1,2],[3,4],[5,6],indexing='ij')[2]
np.gradient(L),np.gradient(L,2.0),np.gradient(F),np.gradient(F*F,axis=0),np.gradient(F*F,2.0,3.0)
np.gradient(F*F,axis=(1,0)),np.gradient(Z,axis=-1),np.gradient(A*A,2)
np.gradient(L*L,[0.0,1.0,3.0,4.0]),np.gradient(F*F,[0.0,1.0,3.0],2.0),np.gradient(F*F,[0.0,1.0,3.0],axis=0)
np.gradient(L,[0,2,4,6]),np.gradient(F*F,edge_order=2),np.gradient(L*L,[0.0,1.0,3.0,4.0],edge_order=2)
np.gradient(F[:1],axis=0)
np.gradient(F,1.0,2.0,3.0)
np.gradient(L.astype(np.float32),0.5)
np.diff(L,prepend=0),np.diff(A,axis=0,append=A[:1]),np.diff(A,prepend=5,append=7),np.diff(L,n=2,prepend=[1.0,2.0])
np.ediff1d(A,to_end=[-1,-2],to_begin=5),np.ediff1d(L,to_begin=2)
np.interp([0.5,370.0,-190.0],[10,200,350.0],[5,10,3],period=360),np.interp(725.0,[10,200,350.0],[5,10,3],period=360)
np.concatenate((A,A),dtype=np.float32),np.concatenate((A,F),out=np.zeros((6,4)))
np.concatenate((A,F),dtype=np.int64,casting='unsafe'),np.concatenate((A,A),None,dtype=np.float64)
np.concatenate((A,F),dtype=np.int64)
np.stack((A,A),out=np.zeros((2,3,4))),np.stack((L,L),1,dtype=np.float32),np.vstack((L,L),dtype=np.complex128)
np.hstack((A,A),dtype=np.float64)
np.stack((A,A),out=np.zeros((2,3,3)))
np.rot90(A,axes=(1,0)),np.rot90(A.reshape(2,2,3),1,(1,2)),np.rot90(A,-1),np.rot90(A.reshape(2,2,3),3,(0,-1))
np.rot90(A,axes=(1,1))
np.rot90(A,axes=(1,5))
np.roll(A,(1,2),(0,1)),np.roll(A,1,(0,1)),np.roll(A,(1,1),1)
np.flip(A,(0,1)),np.flip(A.reshape(2,2,3),(0,2))
np.clip(L,min=1.5),np.clip(L,max=2),np.clip(A,min=2,max=7),np.clip(L,1.5),L.clip(max=2)
np.meshgrid(L,I)
np.meshgrid(L,I,J)
np.meshgrid(L,I,J,indexing='ij',sparse=True)
np.meshgrid(L)
np.meshgrid(L,I,sparse=True)
np.clip(L,min=1.5),np.clip(L,max=2),np.clip(A,min=2,max=7),L.clip(max=2),np.clip(L,None,2.0),np.clip(L,1.0,None)
np.clip(L,1.0,2.0,min=3)
np.clip(L)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.take(a, [[0, -1], [1, 0]], axis=0, mode='wrap')", lambda a: a.ndim and a.size),
    ("(a.put([0, 2], [1, 0, 1], mode='clip'), a)", lambda a: a.size),
    ("np.compress([False, True], a, axis=0)", lambda a: a.ndim and len(a) > 1),
    ("np.take_along_axis(a, np.zeros(a.shape[:-1] + (1,), np.int64), -1)", lambda a: a.ndim and a.size),
    ("(a.tobytes(), a.tobytes('F'), a.byteswap().tobytes())", lambda a: True),
    ("np.meshgrid(a, [1, 2])", lambda a: True),
    ("np.gradient(a)", lambda a: a.ndim and min(a.shape) > 1 and a.dtype.kind in "fc"),
    ("np.gradient(a, axis=0, edge_order=2)", lambda a: a.ndim and len(a) > 2 and a.dtype.kind in "fc"),
    ("np.diff(a, prepend=0, append=1)", lambda a: a.ndim and a.dtype.kind != "b"),
    ("np.concatenate((a, a), dtype=np.complex128)", lambda a: a.ndim),
    ("np.rot90(a, 1, axes=(-1, 0))", lambda a: a.ndim > 1),
    ("np.roll(a, (1, 2), (0, -1))", lambda a: a.ndim > 1),
    ("(a.flat[0].std(), a.flat[0].sum(), a.flat[0].cumsum())", lambda a: a.size),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
