"""Quantiles and medians by all methods and along any axes, against NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from numpy_agreement import agrees, agrees_over_kinds

EXPRESSIONS = """
np.quantile(F,0.3),np.quantile(A,0.3,axis=0),np.quantile(F,[0.1,0.9],axis=1),np.quantile(F,[0.1,0.9],axis=(0,1))
np.quantile(A.reshape(2,2,3),0.4,axis=(0,2),keepdims=True),np.quantile(F,[[0.1,0.9]],axis=1,keepdims=True)
np.percentile(L,30),np.percentile(L,[30,60]),np.percentile(F,30,axis=1,method='lower')
np.percentile(A,[10,20],axis=0,method='hazen'),np.percentile(F,np.array(30.0))
np.quantile(L,0.3,method='inverted_cdf'),np.quantile(L,0.5,method='averaged_inverted_cdf')
np.quantile(L,0.625,method='closest_observation'),np.quantile(L,0.3,method='interpolated_inverted_cdf')
np.quantile(L,0.3,method='hazen'),np.quantile(L,0.3,method='weibull'),np.quantile(L,0.3,method='median_unbiased')
np.quantile(L,0.3,method='normal_unbiased')
np.quantile(L,0.3,method='lower'),np.quantile(L,0.3,method='higher'),np.quantile(L,0.3,method='midpoint')
np.quantile(L,0.5,method='nearest'),np.quantile(A,0.37,method='nearest')
np.quantile(A,np.linspace(0,1,25),method='closest_observation')
np.quantile(A,np.linspace(0,1,25),method='averaged_inverted_cdf')
np.quantile(A,np.linspace(0,1,25),method='inverted_cdf')
np.quantile(A,np.linspace(0,1,25),method='midpoint'),np.quantile(A,np.linspace(0,1,25),method='median_unbiased')
np.quantile(A,np.linspace(0,1,25),method='weibull')
np.quantile(A,np.linspace(0,1,25),method='interpolated_inverted_cdf')
np.quantile(L,0.5,method='nothing')
np.quantile(L,1),np.quantile(A,[0,1]),np.quantile(L,1.5)
np.quantile(L,1),np.quantile(A,[0,1]),np.quantile(L,True)
np.quantile(F,0.3,axis=0,out=np.zeros(4)),np.quantile(F.astype(np.float32),[0.3],axis=0)
np.quantile(F.astype(np.float32),0.3,axis=0)
np.quantile(L,0.4,weights=[1,2,3,4],method='inverted_cdf')
np.quantile(F,[0.2,0.7],axis=1,weights=L,method='inverted_cdf'),np.quantile(F,0.2,weights=F+1,method='inverted_cdf')
np.quantile(L,0.4,weights=[1,2,3,4])
np.quantile(L,0.4,weights=[1,-2,3,4],method='inverted_cdf')
np.nanquantile(np.where(B,np.nan,F),[0.3,0.6],axis=1),np.nanpercentile(np.where(B,np.nan,F),30,axis=(0,1))
np.nanquantile(np.where(B,np.nan,F),0.3,method='higher'),np.quantile(np.where(B,np.nan,F),0.5,axis=0)
np.quantile(np.where(A<2,np.nan,F),[0.5,0.2],axis=1)
np.nanquantile(np.where(B,np.nan,F),0.4,weights=F+1,method='inverted_cdf')
np.quantile(L[:0],0.5)
np.median(F,axis=(0,1)),np.median(A.reshape(2,2,3),axis=(2,0),keepdims=True)
np.nanmedian(np.where(B,np.nan,F),axis=(1,0)),np.median(F,axis=-1)
np.median(F,axis=(0,0))
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_agrees(text: str) -> None:
    agrees(text)


KINDS: list[tuple[str, Any]] = [
    ("np.quantile(a, 0.3, method='linear')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='lower')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='higher')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='midpoint')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='nearest')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='inverted_cdf')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='averaged_inverted_cdf')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='closest_observation')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='hazen')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.quantile(a, 0.3, method='median_unbiased')", lambda a: a.dtype.kind in "iuf" and a.size),
    ("np.percentile(a, [10, 55], axis=-1)", lambda a: a.dtype.kind in "iuf" and a.ndim and a.size),
    ("np.nanquantile(a, [0.2, 0.6], axis=0)", lambda a: a.dtype.kind in "iuf" and a.ndim and a.size),
    ("np.median(a, axis=(0, 1))", lambda a: a.dtype.kind in "iuf" and a.ndim > 1),
    (
        "np.quantile(a, 0.4, axis=0, weights=np.arange(1, len(a) + 1), method='inverted_cdf')",
        lambda a: a.dtype.kind in "iuf" and a.ndim and a.size,
    ),
]


@pytest.mark.parametrize("text, applies", KINDS, ids=[text for text, _ in KINDS])
def test_agrees_over_kinds(text: str, applies: Any) -> None:
    agrees_over_kinds(text, applies)
