"""Arrays of different shapes in one expression, reductions along axes, records and rows."""

import numpy as np

from collection import Collection

C = Collection("broadcasts")
R = np.random.default_rng(0)
A = R.random((300, 400))
c = R.random((300, 1))
r = R.random(400)
a = R.random(300)
A3 = R.random((20, 30, 40))
C.expression("add_row", "A, r", "A + r", A, r)
C.expression("add_col", "A, c", "A * c", A, c)
C.expression("sub_newaxis", "A, a", "A - a[:, None]", A, a)
C.expression("outer_na", "a, r", "a[:, None] * r[None, :]", a, r)
C.expression("dist", "a, r", "np.sqrt((a[:, None] - r[None, :]) ** 2 + 1)", a, r)
C.expression("row_exp", "A, r", "A * np.exp(r)", A, r)
C.expression("col_exp", "A, a", "A * np.exp(a)[:, None]", A, a)
C.expression("center", "A", "A - A.sum(axis=1).reshape(-1, 1) / A.shape[1]", A)
C.expression("center0", "A", "(A - A.sum(axis=0)) / A.shape[0]", A)
C.expression("three", "A, b", "A * b + 1", A3, R.random((30, 1)))


@C.function(A, r)
def inplace_row(A, r):
    A = A.copy()
    A += r
    A[:, 1:] *= 0.5
    return A


@C.function(A, r)
def assign_row(A, r):
    B = np.empty_like(A)
    B[:] = r
    B[10:20] = A[0]
    B[:, 3] = 7
    return B


C.expression("where_b", "A, c", "np.where(A > c, A, 0.0)", A, c)
C.expression("fortran", "A, r", "A * r + A", A.T, r.reshape(400, 1))
C.expression("transposed", "A, B", "A + B.T", A, A.T.copy())
C.expression("strided", "A, r", "A * r - 1", A[::2, ::2], r[::2])
C.expression("scalar", "A, s", "A * s + 1", A, np.float32(2))
C.expression(
    "f32row", "A, r", "np.maximum(A - r, 0)", R.random((300, 400)).astype(np.float32), R.random(400).astype(np.float32)
)
C.expression("minmax", "A, r", "(A - A.min()) / (A.max() - A.min())", A, r)


@C.function(A)
def softmax_rows(A):
    out = np.empty_like(A)
    for i in range(A.shape[0]):
        e = np.exp(A[i] - A[i].max())
        out[i] = e / e.sum()
    return out


C.expression("norm_rows", "A", "A / np.sqrt((A * A).sum(axis=1)).reshape(-1, 1)", A)
C.expression("allany", "A", "((A > 2).any(), (A < 2).all(), np.isnan(A).sum())", A)
C.expression("dots", "A, B", "A @ B", A, A.T.copy())
C.expression("cums", "A", "(np.cumsum(A), np.prod(A[0]))", A)
C.expression("vdot", "a, b", "(np.dot(a, b), np.linalg.norm(a), np.sum(a * b))", r, r)
C.expression("clip", "A", "np.clip(A, 0.2, 0.8)", A)
C.expression("percent", "A", "(np.sort(A.ravel())[:10], np.percentile(A[0], 50.0))", A)
C.expression("stack", "A", "(np.vstack((A, A)), np.concatenate((A, A), axis=1))", A)
C.expression("histo", "a", "np.histogram(a, 50, (0.0, 100.0))[0]", R.random(100000) * 100)
C.expression("bincount", "a", "np.bincount(a)", R.integers(0, 50, 100000))
C.expression("uniq", "a", "np.unique(np.floor(a * 100))", R.random(50000))
C.expression("searchs", "a, v", "np.searchsorted(np.sort(a), v)", R.random(2000), R.random(2000))


C.expression("fancy", "A, i", "A[i]", A, R.integers(0, 300, 500))
C.expression("rolls", "A", "np.roll(A, 1)", A)
C.expression("median", "A", "np.median(A)", A)
C.expression("var", "A", "(np.var(A), np.std(A))", A)
C.expression("trace", "A", "(np.trace(A[:300, :300]), np.diag(A[:300, :300]).sum())", A)
C.expression("cplx", "z", "np.abs(z) + np.real(z * np.conj(z))", r + 1j * r)
C.expression("u8sum", "A", "(A.sum(), A.mean(), (A > 100).sum())", (R.random((300, 400)) * 255).astype(np.uint8))
C.expression("u8inv", "A", "255 - A", (R.random((300, 400)) * 255).astype(np.uint8))
C.expression(
    "interp_broadcast", "x, y", "np.interp(np.linspace(0, 1, 1000), np.sort(x), y)", R.random(300), R.random(300)
)
C.expression("convolve_broadcast", "a, b", "np.convolve(a, b)", R.random(1000), R.random(30))
C.expression("argsort", "a", "np.argsort(a)", R.random(20000))
C.expression("nonzero", "a", "(np.nonzero(a > 0.5)[0], np.where(a > 0.5)[0])", R.random(20000))
C.expression("linspace", "n", "np.linspace(0, 1, n) ** 2 + np.arange(n)", 20000)
C.expression("inv", "A", "np.linalg.inv(A)", R.random((50, 50)))
C.expression("solve", "A, b", "np.linalg.solve(A, b)", R.random((50, 50)), R.random(50))
C.expression("nansum", "A", "(np.nansum(A), np.nanmean(A), np.nanmax(A))", A)


@C.function(20000)
def rand(n):
    np.random.seed(0)
    return np.random.rand(n).mean() + np.random.randn(n).mean()


C.expression("copy_flat", "A", "(A.flatten(), A.T.copy())", R.random((300, 400)))
C.expression("argm", "A", "(A.argmax(), A.argmin(), A.min(), A.max())", R.random((300, 400)))
