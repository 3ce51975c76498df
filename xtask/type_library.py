"""Types the library for the arguments that programs use most, and writes that to a file, which goes into the wheel.

Usage: `python xtask/type_library.py python/lancehead/library.typed`, with lancehead installed.
"""

import sys

import numpy as np

import lancehead
from lancehead import _core

#: Of an array.
ANY = """
a.sum() np.sum(a) np.mean(a) np.max(a) np.min(a) a.max() a.min() a.mean() np.argmax(a) np.argmin(a) a.argmax()
a.argmin() np.any(a) np.all(a) a.any() a.all() np.prod(a) np.cumsum(a) np.sort(a) np.argsort(a) np.unique(a) a.copy()
a.flatten() a.ravel() a.reshape(-1) a.T np.zeros_like(a) np.ones_like(a) np.empty_like(a) np.nonzero(a) np.where(a)
np.std(a) np.var(a) np.median(a) np.abs(a) np.concatenate((a,a)) np.where(a>a,a,a) np.dot(a,a) a@a np.zeros(a.shape)
np.ones(a.shape) np.empty(a.shape) np.full(a.shape,1.0) np.zeros(len(a)) np.ones(len(a)) np.empty(len(a))
np.arange(len(a)) np.linspace(0.0,1.0,len(a)) np.clip(a,a,a) np.diff(a) a[a>a] a[1:] a[::-1] a[0] a[np.arange(3)]
a[1:]+a[:-1] np.maximum(a,a) np.minimum(a,a) a.astype(np.float64) a.astype(np.int64) a.fill(0) np.sqrt(a) np.exp(a)
np.log(a) np.sin(a) np.cos(a) a+a a*a a**2 a/a np.asarray(a) np.flip(a) np.roll(a,1)
np.searchsorted(a.ravel(),a.ravel()) np.bincount(a.ravel()) np.isnan(a) np.append(a,a) np.percentile(a,50)
np.array_equal(a,a) """
#: Of a matrix.
MATRIX = """
a.sum(axis=0) a.sum(axis=1) np.sum(a,axis=0) np.sum(a,axis=1) np.mean(a,axis=0) np.mean(a,axis=1) a.mean(axis=0)
a.mean(axis=1) np.std(a,axis=0) np.max(a,axis=0) np.max(a,axis=1) np.min(a,axis=0) np.min(a,axis=1) a.max(axis=0)
a.max(axis=1) a.min(axis=0) a.min(axis=1) np.argmax(a,axis=1) np.argmin(a,axis=1) np.linalg.solve(a,a[0])
np.linalg.inv(a) np.linalg.det(a) np.linalg.norm(a) np.dot(a,a[0]) a@a[0] a.T@a np.eye(3) np.identity(3) np.diag(a)
np.trace(a) a[0,:] a[:,0] a[1:,1:] np.vstack((a,a)) np.hstack((a,a)) np.outer(a[0],a[0]) np.transpose(a)
np.cumsum(a,axis=0) np.cumsum(a,axis=1) a.reshape(a.shape[0],1,a.shape[1]) np.linalg.cholesky(a) np.expand_dims(a,0)
a[:,None]
"""
DTYPES = ("float64", "float32", "int64", "int32", "bool")


def programs():
    """Functions of one array with its type."""
    for dtype in DTYPES:
        for shape, texts in (((4,), ANY), ((4, 4), ANY + MATRIX)):
            array = lancehead.typeof(np.zeros(shape, dtype))
            yield from ((eval("lambda a: " + text, {"np": np}), [array]) for text in texts.split())


_core.keep_typed(sys.argv[1], list(programs()))
