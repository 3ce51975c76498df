"""Calls of library functions, over arrays of many types, orders and strides: the same list is tried with the library's
algorithms in Python and compiled, and NumPy is the oracle."""

from __future__ import annotations

import numpy as np

DTYPES = ["?", "i1", "i8", "u1", "u4", "f4", "f8", "c8", "c16"]


def arrays(dtypes=DTYPES):
    """Named arrays: ranks 0 to 3, C, F, strided and reversed, empty, with NaN."""
    rng = np.random.default_rng(7)
    for t in dtypes:
        kind = np.dtype(t).kind
        base = rng.integers(0, 7, (4, 5)).astype(t) if kind in "biu" else (rng.integers(-9, 9, (4, 5)) / 2).astype(t)
        if kind == "c":
            base = base + base[::-1] * 1j
            base = base.astype(t)
        line = base.ravel()
        yield f"{t} line", line
        yield f"{t} strided", line[::3]
        yield f"{t} reversed", line[::-1]
        yield f"{t} one", line[:1]
        yield f"{t} long", np.resize(line, 300)
        yield f"{t} C", base
        yield f"{t} F", np.asfortranarray(base)
        yield f"{t} A", base[::2, 1:4]
        yield f"{t} cube", line[:12].reshape(2, 2, 3)
        yield f"{t} cube T", line[:12].reshape(2, 3, 2).transpose(1, 0, 2)
        yield f"{t} empty", line[:0]
        yield f"{t} empty rows", base[:0]
        yield f"{t} scalar", line[3:4].reshape(())
        if kind in "fc":
            nans = line.copy()
            nans[5] = np.nan
            yield f"{t} nan", nans


def outcome(f, *args):
    """Result of a call, or the class of what it raises."""
    with np.errstate(all="ignore"):
        try:
            return f(*args)
        except (ValueError, IndexError, TypeError, ZeroDivisionError) as e:
            return ValueError if isinstance(e, ValueError) else type(e)


def same(a, b, rtol=1e-12):
    """Equality of results: type of elements, shape, values; NaN equals NaN."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same(x, y, rtol) for x, y in zip(a, b))
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind in "fc":
        if x.dtype.itemsize // (1 + (x.dtype.kind == "c")) == 4:
            rtol = max(rtol, 2e-6)
        return bool(np.allclose(x, y, rtol=rtol, atol=rtol / 10, equal_nan=True))
    return bool((x == y).all())


def real(a):
    return a.dtype.kind != "c"


def numeric(a):
    return a.dtype.kind != "b"


def anything(a):
    return True


# Name, function of (np, array), which arrays it is for.
CASES = [
    ("sum", lambda np, a: np.sum(a), anything),
    ("sum 0", lambda np, a: np.sum(a, axis=0), lambda a: a.ndim),
    ("sum -1", lambda np, a: np.sum(a, axis=-1), lambda a: a.ndim),
    ("sum 1", lambda np, a: np.sum(a, axis=1), anything),
    ("sum keep", lambda np, a: np.sum(a, axis=0, keepdims=True), lambda a: a.ndim),
    ("sum all keep", lambda np, a: np.sum(a, keepdims=True), anything),
    ("sum axes", lambda np, a: np.sum(a, axis=(0, 1)), lambda a: a.ndim >= 2),
    ("sum axes 2", lambda np, a: np.sum(a, axis=(0, 2)), lambda a: a.ndim == 3),
    ("prod", lambda np, a: np.prod(a[:5] if a.ndim else a), lambda a: a.ndim == 1),
    ("prod 0", lambda np, a: np.prod(a, axis=0), lambda a: a.ndim > 1),
    ("min", lambda np, a: np.min(a), anything),
    ("max", lambda np, a: np.max(a), anything),
    ("min 1", lambda np, a: np.min(a, axis=1), lambda a: a.size),
    ("max 0", lambda np, a: np.max(a, axis=0), lambda a: a.size and a.ndim),
    ("ptp", lambda np, a: np.ptp(a), lambda a: real(a) and numeric(a)),
    ("mean", lambda np, a: np.mean(a), anything),
    ("mean 0", lambda np, a: np.mean(a, axis=0), lambda a: a.ndim),
    ("var", lambda np, a: np.var(a), anything),
    ("var 0", lambda np, a: np.var(a, axis=0, ddof=1), lambda a: a.size),
    ("std", lambda np, a: np.std(a), anything),
    ("std 1", lambda np, a: np.std(a, axis=1), lambda a: a.size),
    ("all", lambda np, a: np.all(a), anything),
    ("any 0", lambda np, a: np.any(a, axis=0), lambda a: a.ndim),
    ("argmin", lambda np, a: np.argmin(a), anything),
    ("argmax", lambda np, a: np.argmax(a), anything),
    ("argmax 0", lambda np, a: np.argmax(a, axis=0), lambda a: a.size and a.ndim),
    ("argmin 1", lambda np, a: np.argmin(a, axis=1), lambda a: a.size),
    ("cumsum", lambda np, a: np.cumsum(a), anything),
    ("cumsum 0", lambda np, a: np.cumsum(a, axis=0), lambda a: a.ndim),
    ("cumprod 1", lambda np, a: np.cumprod(a, axis=1), anything),
    ("count_nonzero", lambda np, a: np.count_nonzero(a), anything),
    ("count_nonzero 0", lambda np, a: np.count_nonzero(a, axis=0), lambda a: a.ndim),
    ("sort", lambda np, a: np.sort(a), lambda a: a.ndim),
    ("sort 0", lambda np, a: np.sort(a, axis=0), lambda a: a.ndim),
    ("sort all", lambda np, a: np.sort(a, axis=None), anything),
    ("argsort", lambda np, a: np.argsort(a, kind="stable"), lambda a: a.ndim),
    ("argsort 0", lambda np, a: np.argsort(a, axis=0, kind="stable"), lambda a: a.ndim),
    ("median", lambda np, a: np.median(a), lambda a: real(a) and a.size and numeric(a)),
    ("median 0", lambda np, a: np.median(a, axis=0), lambda a: real(a) and a.size and numeric(a)),
    ("percentile", lambda np, a: np.percentile(a, 30), lambda a: real(a) and a.size and numeric(a)),
    ("quantile", lambda np, a: np.quantile(a, 0.7), lambda a: real(a) and a.size and numeric(a) and a.ndim),
    ("partition", lambda np, a: np.partition(a, 3)[3], lambda a: a.ndim == 1 and a.size > 3),
    ("nonzero", lambda np, a: np.nonzero(a), lambda a: a.ndim),
    ("argwhere", lambda np, a: np.argwhere(a), lambda a: a.ndim),
    ("flatnonzero", lambda np, a: np.flatnonzero(a), anything),
    ("reshape", lambda np, a: np.reshape(a, (2, -1)), anything),
    ("reshape F", lambda np, a: np.reshape(a, (2, -1), order="F"), anything),
    ("reshape bad", lambda np, a: np.reshape(a, (7, 2)), anything),
    ("ravel", lambda np, a: np.ravel(a), anything),
    ("ravel F", lambda np, a: np.ravel(a, order="F"), anything),
    ("transpose", lambda np, a: np.transpose(a), anything),
    ("transpose axes", lambda np, a: np.transpose(a, (2, 0, 1)), lambda a: a.ndim == 3),
    ("swapaxes", lambda np, a: np.swapaxes(a, 0, -1), lambda a: a.ndim),
    ("moveaxis", lambda np, a: np.moveaxis(a, 0, -1), lambda a: a.ndim),
    ("expand_dims", lambda np, a: np.expand_dims(a, 1), lambda a: a.ndim),
    ("flip", lambda np, a: np.flip(a), lambda a: a.ndim),
    ("flip 0", lambda np, a: np.flip(a, 0), lambda a: a.ndim),
    ("roll", lambda np, a: np.roll(a, 3), anything),
    ("roll 0", lambda np, a: np.roll(a, -1, axis=0), lambda a: a.ndim),
    ("repeat", lambda np, a: np.repeat(a, 2), anything),
    ("repeat 0", lambda np, a: np.repeat(a, 3, axis=0), lambda a: a.ndim),
    ("tile", lambda np, a: np.tile(a, 2), lambda a: a.ndim),
    ("tile 2", lambda np, a: np.tile(a, (2, 1)), lambda a: a.ndim),
    ("concatenate", lambda np, a: np.concatenate((a, a)), lambda a: a.ndim),
    ("concatenate 1", lambda np, a: np.concatenate((a, a), axis=1), lambda a: a.ndim),
    ("concatenate none", lambda np, a: np.concatenate((a, a), axis=None), lambda a: a.ndim),
    ("stack", lambda np, a: np.stack((a, a), axis=1), lambda a: a.ndim),
    ("vstack", lambda np, a: np.vstack((a, a)), anything),
    ("hstack", lambda np, a: np.hstack((a, a)), anything),
    ("column_stack", lambda np, a: np.column_stack((a, a)), lambda a: a.ndim),
    ("append", lambda np, a: np.append(a, a), anything),
    ("where", lambda np, a: np.where(a == a[::-1], a, 0), lambda a: a.ndim),
    ("clip", lambda np, a: np.clip(a, 1, 3), lambda a: real(a) and numeric(a)),
    ("round", lambda np, a: np.round(a), numeric),
    ("take", lambda np, a: np.take(a, np.array([0, 2, -1])), lambda a: a.size > 3),
    ("take 0", lambda np, a: np.take(a, np.array([0, 1, -1]), axis=0), lambda a: a.ndim),
    ("copy", lambda np, a: np.copy(a), anything),
    ("zeros_like", lambda np, a: np.zeros_like(a), anything),
    ("ones_like", lambda np, a: np.ones_like(a), anything),
    ("full_like", lambda np, a: np.full_like(a, 2), anything),
    ("ascontiguousarray", lambda np, a: np.ascontiguousarray(a), anything),
    ("asfortranarray", lambda np, a: np.asfortranarray(a), anything),
    ("array", lambda np, a: np.array(a), anything),
    ("array f4", lambda np, a: np.array(a, dtype=np.float32), real),
    ("dot", lambda np, a: np.dot(a, a), lambda a: a.ndim == 1 and numeric(a)),
    ("matmul", lambda np, a: np.dot(a, a.T), lambda a: a.ndim == 2 and numeric(a)),
    ("matmul T", lambda np, a: np.dot(a.T, a), lambda a: a.ndim == 2 and numeric(a)),
    ("outer", lambda np, a: np.outer(a, a), lambda a: numeric(a)),
    ("norm", lambda np, a: np.linalg.norm(a), numeric),
    ("norm 0", lambda np, a: np.linalg.norm(a, axis=0), lambda a: numeric(a) and a.ndim),
    ("norm 1", lambda np, a: np.linalg.norm(a, 1), lambda a: numeric(a) and a.ndim in (1, 2) and a.size),
    ("norm inf", lambda np, a: np.linalg.norm(a, np.inf), lambda a: numeric(a) and a.ndim in (1, 2) and a.size),
    ("trace", lambda np, a: np.trace(a), lambda a: a.ndim == 2),
    ("diag", lambda np, a: np.diag(a, 1), lambda a: a.ndim in (1, 2)),
    ("triu", lambda np, a: np.triu(a), lambda a: a.ndim == 2),
    ("tril", lambda np, a: np.tril(a, -1), lambda a: a.ndim == 2),
    ("searchsorted", lambda np, a: np.searchsorted(a, a), lambda a: a.ndim == 1 and a.size == 1),
    ("broadcast_to", lambda np, a: np.broadcast_to(a, (3, 4, 5)), anything),
]
