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
np.zeros(3,device='cpu'),np.ones((2,2),device=None),np.full(2,7,device='cpu'),np.eye(2,device='cpu')
np.zeros_like(A,device='cpu'),np.ones_like(F,device='cpu'),np.full_like(A,2,device='cpu'),np.empty(0,device='cpu')
np.arange(3,device='cpu'),np.linspace(0,1,3,device='cpu'),np.asarray([1],device='cpu'),np.asanyarray(A,device='cpu')
np.astype(A,np.int8,device='cpu')
np.zeros(3,device='gpu')
np.zeros(3,device=3)
np.empty_like(A,device='x')
A.device,A.to_device('cpu'),A.data.shape,A.T.data.tolist(),F.data[1,2],F[::2].data.nbytes
A.to_device('gpu')
A.to_device('cpu',stream=1)
A.getfield(np.int32),A.getfield(np.int16,offset=6),A.T.getfield('u1',3),F[::-1,::2].getfield(np.float32,4),Z.getfield('f8',8)
A.getfield(np.int32,5)
A.getfield(np.int32,-4)
F.getfield(np.complex128)
(A.setfield(-1,np.int32),A)[1],(F.setfield(1.5,np.float32,4),F)[1],(A.setfield(A[0],dtype=np.int16,offset=2),A)[1]
(A.setfield([1,2],np.int16,2),A)[1]
np.from_dlpack(A),np.from_dlpack(A.T,copy=True)
A.reshape(4,3,copy=True),A.reshape((2,6),copy=False),np.reshape(A,(2,6),order='F',copy=True)
np.reshape(A.T,(2,6),copy=True)
np.logspace(L,L+1,3,axis=1),np.logspace(0,L,3,base=2.0,axis=-1),np.logspace(0,2,3,base=L),np.logspace(0,2,3,axis=0)
np.logspace(0,1,3,base=L,axis=1),np.logspace(0,2,4,False,[2,3],np.int64),np.logspace(0,L,3,base=L.reshape(4,1),axis=-1)
np.geomspace(L,L*8,4),np.geomspace(-L,-8*L,4,axis=1),np.geomspace(1,L,4,False),np.geomspace([1,2],[3,4],3)
np.geomspace(1j,1000j,4),np.geomspace(Z[1],Z[1]*8,5),np.geomspace(L,L,1),np.geomspace(L,L,0),np.geomspace(-1+0j,1+0j,5)
np.geomspace(A,F,3)
np.einsum('ij,kj',A,A,out=np.zeros((3,3))),np.einsum('ij->ji',A,out=np.zeros((4,3),np.int64)),np.einsum('i,i->',L,L,dtype='c16')
np.einsum('ij->',F,out=np.zeros(())),np.einsum('i,i->',L,L,dtype=np.float32,casting='same_kind')
np.einsum('ij,kj',F,F,out=np.zeros((3,3),np.float32))
np.einsum('ij,kj',F,F,out=np.zeros((2,3)))
np.einsum('i,i->',L,L,dtype=np.float32)
np.matmul(A,A.T,dtype=np.float32),np.matmul(F,F.T,dtype=np.int32,casting='unsafe'),np.matmul(F,F.T,casting='no')
np.matmul(A,F.T,out=np.zeros((3,3),np.float32)),np.matvec(A,A[0],dtype=np.complex64),np.vecmat(F[0],F.T,casting='no')
np.vecdot(A,F,casting='safe'),np.vecdot(F,F,dtype=np.float32,axis=0)
np.matmul(F,F.T,dtype=np.int32)
np.matmul(A,F.T,casting='no')
np.matmul(A,F.T,out=np.zeros((3,3),np.int64))
np.matvec(F,A[0],casting='no')
np.matmul(A,A,axes=[(0,1),(1,0),(1,0)]),np.matmul(A,F,axes=[(1,0),(0,1),(-2,-1)]),np.matmul(Z,L,axes=[(0,1),0,0])
np.matmul(L,L,axes=[0,0,()]),np.matmul(A.reshape(2,2,3),A.reshape(2,2,3),axes=[(0,2),(2,0),(2,0)])
np.matmul(A.reshape(2,2,3),A[:2,:3],axes=[(2,1),(-1,-2),(0,1)]),np.matmul(A[:0],A[:0],axes=[(1,0),(0,1),(0,1)])
np.matmul(A,A,axes=[(0,1),(1,0),(1,0)],out=np.zeros((3,3)),dtype=np.float32,casting='unsafe')
np.matmul(A,A.T,order='F').strides,np.matmul(F.T,A.T.T,order='C').strides,np.matmul(A,A.T,order='A').strides
np.matmul(A,A,axes=[(0,1),(1,0),(1,1)])
np.matmul(A,A,axes=[(0,1),(1,0)])
np.matmul(A,A,axes=[(0,1),(1,2),(0,1)])
np.matmul(A,A,axes=[(0,1),(1,),(0,1)])
np.matmul(A,A,axes=[[0,1],[1,0],[0,1]])
np.vecdot(A,Z,axes=[0,0]),np.vecdot(Z,A,axes=[0,(0,),()]),np.vecdot(A,L,axes=[1,0]),np.vecdot(A,F,axes=[0,-2,1],keepdims=True)
np.vecdot(F,A,axes=[(0,),(0,)],keepdims=True),np.vecdot(A.reshape(2,2,3),A[:2,:3],axis=-1,keepdims=True,order='F')
np.vecdot(A,A,axes=[0,0,1])
np.vecdot(A,A,axes=[0])
np.vecdot(A,A,axes=[0,0],axis=0)
np.matvec(A.reshape(2,2,3),A[:,:2],axes=[(0,2),0,0]),np.matvec(Z,F,axes=[(1,0),0,(1,)]),np.matvec(A,L,order='F')
np.vecmat(Z,A,axes=[(0,),(0,1),(1,)]),np.vecmat(A,A.reshape(2,2,3),axes=[0,(2,0),-1])
np.lib.stride_tricks.sliding_window_view(A,(2,3)),np.lib.stride_tricks.sliding_window_view(A.T,2,axis=-1)
np.lib.stride_tricks.sliding_window_view(A,(2,3),axis=(1,0)),np.lib.stride_tricks.sliding_window_view(A,(2,2),axis=(1,1))
np.lib.stride_tricks.sliding_window_view(L,(2,),writeable=True),np.lib.stride_tricks.sliding_window_view(L[::-1],4)
np.lib.stride_tricks.sliding_window_view(L,2).flags.writeable,np.lib.stride_tricks.sliding_window_view(L,0)
np.lib.stride_tricks.sliding_window_view(A,(4,1))
np.lib.stride_tricks.sliding_window_view(L,-1)
np.lib.stride_tricks.sliding_window_view(A,2)
np.lib.stride_tricks.sliding_window_view(A,2,axis=2)
np.lib.stride_tricks.as_strided(A,(2,2)),np.lib.stride_tricks.as_strided(A.T,(3,2)),np.lib.stride_tricks.as_strided(A,(2,2,3))
np.lib.stride_tricks.as_strided(L,(2,2),(8,16),writeable=False).flags.writeable,np.lib.stride_tricks.as_strided(A.T)
np.lib.stride_tricks.as_strided(A.T,(3,))
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
L[0].squeeze(),L[0].squeeze(0),L[0].device,L[0].strides,L[0].flat[0],L[0].argsort(),L[0].argsort(0),L[0].compress([True])
L[0].compress([False]),F[1,2].as_integer_ratio(),(L[0]/8-0.1).as_integer_ratio()
[x for x in U[1,1].flat],Z[0,0].squeeze()
L[0].squeeze(1)
(L[0]*np.inf).as_integer_ratio()
(L[0]*np.nan).as_integer_ratio()
L[0].sum(axis=0),A[0,1].prod(-1),F[1,1].max(0),U[0,3].min(axis=-1),B[0,0].any(0),B[0,1].all(axis=0),L[0].argmax(0)
L[0].cumsum(0),np.sum(np.array(3),axis=0),np.max(np.array(2.5),axis=-1),np.argmin(np.array(2),0),np.cumprod(np.array(2),0)
np.sum(np.array(3),axis=1)
np.max(np.array(3),axis=1)
L[0].sum(axis=-2)
A[0,1].byteswap(),L[0].ndim,L[0].shape,L[0].size,L[0].itemsize,L[0].nbytes,L[0].real,L[0].imag
L[0].std(ddof=1),L[0].round(1),L[0].astype(np.int64),A[0,0].sum(dtype=np.float64)
np.average(A.reshape(2,2,3),axis=(0,1),weights=F[:2,:2]),np.average(A.reshape(2,2,3),axis=(1,0),weights=F[:2,1:3])
np.average(A.reshape(2,2,3),axis=(0,2),weights=[[1,2,3],[4,5,6]]),np.average(F,axis=(0,1),weights=A,returned=True)
np.average(A.reshape(2,2,3),axis=(0,2),weights=F[:2,:2])
np.size(A,(0,1)),np.size(A.reshape(2,2,3),(0,-1)),np.size(A,-1),np.size(A,()),np.asarray(range(2,9,3),float),np.sum(range(4))
np.size(A,(0,0))
np.size(A,2)
np.nan_to_num(L/(L-1),nan=L,posinf=np.arange(4.0)),np.minimum.reduce([[1.0,2.0],[3.0,4.0]],initial=10.0,where=[True,False])
np.issubdtype('S1',np.bytes_),np.issubdtype('U3',np.bytes_),np.issubdtype('U3',np.character),np.isrealobj('a'),np.isrealobj(None)
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
np.cov(F),np.cov(F,rowvar=False),np.cov(L,F[0]),np.cov(F,fweights=[1,2,3,1]),np.cov(F,aweights=[1.0,2.0,3.0,1.0])
np.cov(F,fweights=[1,2,3,1],aweights=[1.0,2.0,3.0,1.0],ddof=0),np.cov(F,fweights=[1,2,3,1],aweights=[1.0,2.0,3.0,1.0])
np.cov(F,dtype=np.float32),np.corrcoef(F+L,dtype=np.float32),np.cov(Z)
np.cov(F,fweights=[1,2])
np.cov(F,aweights=[1,-2,1,1])
np.unwrap(L*5),np.unwrap(F*3,axis=0),np.unwrap((L*5).astype(np.float32)),np.unwrap(A*5,period=7)
np.unwrap(A*5,period=8),np.unwrap(L*5,discont=7.0),np.unwrap(F*3,period=4.0)
np.average(F,axis=0,weights=[1,2,3]),np.average(A,weights=A,returned=True),np.average(F,axis=1,returned=True)
np.average(F,axis=1,weights=L,keepdims=True),np.average(L,returned=True)
np.average(F.astype(np.float32),axis=0,weights=F.astype(np.float32))
np.average(F,axis=0,weights=L)
np.average(A,keepdims=True),np.average(A,axis=(0,1))
np.intersect1d(A,[3,5,99]),np.intersect1d(L,[1,2,3],return_indices=True),np.intersect1d(I,J,assume_unique=True)
np.setdiff1d(A[0][::-1],[1],assume_unique=True),np.setxor1d(I,J,assume_unique=True),np.isin(A,I,kind='sort')
np.isin(A,I,kind='table',invert=True)
np.asarray(L,copy=True),np.asarray([1,2],copy=None),np.asanyarray(L,dtype=np.float32,copy=True)
np.geomspace(1,1000,4,dtype=np.int64),np.eye(3,4,1,order='F'),np.eye(2,dtype=np.float32,order='F').strides
np.linspace(L,L+1,3),np.linspace(0,L,4,axis=-1),np.linspace([0,1],[2,5],5,dtype=np.int64)
np.linspace(0,[1,2],3,endpoint=False),np.linspace(L,2,3,retstep=True),np.linspace(0,1,1),np.linspace(L,L,1)
np.trim_zeros(A),np.trim_zeros(np.pad(A,2)),np.trim_zeros(np.pad(A,2),'f',axis=1),np.trim_zeros(L-1)
np.trim_zeros(L*0),np.trim_zeros(np.pad(A,2),axis=(0,1))
np.insert(A,[1,2],5,axis=1),np.insert(A,1,[7,8,9],axis=1),np.insert(L,[1,1,3],[7.0,8.0,9.0])
np.insert(L,slice(0,2),5),np.insert(A,1,9),np.insert(A,[0],[[1],[2],[3]],axis=1),np.insert(A,-1,0,axis=0)
np.insert(L,1,[5,6]),np.insert(A,[1,2],[[7],[8],[9]],axis=1)
np.insert(L,9,5.0)
np.insert(L,[1,9],5.0)
np.expand_dims(A,(0,2)),np.expand_dims(A.T,(-1,0)),np.expand_dims(L,(0,1,3))
np.expand_dims(A,(0,0))
np.squeeze(A.reshape(1,3,1,4),(0,2)),np.squeeze(A.reshape(1,3,1,4),(2,0)),A.reshape(1,3,4,1).squeeze((-1,0))
np.squeeze(A.reshape(1,3,1,4),(0,1))
np.isclose(L,[3,1,2,1.1],rtol=1e-3),np.allclose([1,2],[1.0,2.0])
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.insert(a, [0, 2], 1, axis=0)", lambda a: a.ndim and len(a) > 1),
    ("np.trim_zeros(a)", lambda a: a.ndim == 1),
    ("np.expand_dims(a, (0, -1))", lambda a: True),
    ("np.squeeze(a[None, ..., None], (0, -1))", lambda a: True),
    ("np.linspace(a, 3, 4)", lambda a: True),
    ("np.cov(a, aweights=np.ones(a.shape[-1]))", lambda a: a.ndim and a.ndim < 3 and a.dtype.kind != "b"),
    ("np.average(a, axis=0, weights=np.arange(1.0, len(a) + 1), returned=True)", lambda a: a.ndim and a.size),
    ("np.unwrap(a, axis=0)", lambda a: a.ndim and a.dtype.kind in "fiu"),
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
    ("np.lib.stride_tricks.sliding_window_view(a, 2, axis=0)", lambda a: a.ndim and len(a) > 1),
    ("np.lib.stride_tricks.sliding_window_view(a, a.shape)", lambda a: True),
    ("np.reshape(a, (a.size,), copy=True)", lambda a: True),
    ("np.roll(a, (1, 2), (0, -1))", lambda a: a.ndim > 1),
    ("(a.flat[0].std(), a.flat[0].sum(), a.flat[0].cumsum())", lambda a: a.size),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
