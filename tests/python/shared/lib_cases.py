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


# Name, expression of `np` and the array `a`, which arrays it is for.
CASES = [
    ("sum", "np.sum(a)", anything),
    ("sum 0", "np.sum(a, axis=0)", lambda a: a.ndim),
    ("sum -1", "np.sum(a, axis=-1)", lambda a: a.ndim),
    ("sum 1", "np.sum(a, axis=1)", anything),
    ("sum keep", "np.sum(a, axis=0, keepdims=True)", lambda a: a.ndim),
    ("sum all keep", "np.sum(a, keepdims=True)", anything),
    ("sum axes", "np.sum(a, axis=(0, 1))", lambda a: a.ndim >= 2),
    ("sum axes 2", "np.sum(a, axis=(0, 2))", lambda a: a.ndim == 3),
    ("prod", "np.prod(a[:5] if a.ndim else a)", lambda a: a.ndim == 1),
    ("prod 0", "np.prod(a, axis=0)", lambda a: a.ndim > 1),
    ("min", "np.min(a)", anything),
    ("max", "np.max(a)", anything),
    ("min 1", "np.min(a, axis=1)", lambda a: a.size),
    ("max 0", "np.max(a, axis=0)", lambda a: a.size and a.ndim),
    ("ptp", "np.ptp(a)", lambda a: real(a) and numeric(a)),
    ("mean", "np.mean(a)", anything),
    ("mean 0", "np.mean(a, axis=0)", lambda a: a.ndim),
    ("var", "np.var(a)", anything),
    ("var 0", "np.var(a, axis=0, ddof=1)", lambda a: a.size),
    ("std", "np.std(a)", anything),
    ("std 1", "np.std(a, axis=1)", lambda a: a.size),
    ("all", "np.all(a)", anything),
    ("any 0", "np.any(a, axis=0)", lambda a: a.ndim),
    ("argmin", "np.argmin(a)", anything),
    ("argmax", "np.argmax(a)", anything),
    ("argmax 0", "np.argmax(a, axis=0)", lambda a: a.size and a.ndim),
    ("argmin 1", "np.argmin(a, axis=1)", lambda a: a.size),
    ("cumsum", "np.cumsum(a)", anything),
    ("cumsum 0", "np.cumsum(a, axis=0)", lambda a: a.ndim),
    ("cumprod 1", "np.cumprod(a, axis=1)", anything),
    ("count_nonzero", "np.count_nonzero(a)", anything),
    ("count_nonzero 0", "np.count_nonzero(a, axis=0)", lambda a: a.ndim),
    ("sort", "np.sort(a)", lambda a: a.ndim),
    ("sort 0", "np.sort(a, axis=0)", lambda a: a.ndim),
    ("sort all", "np.sort(a, axis=None)", anything),
    ("argsort", 'np.argsort(a, kind="stable")', lambda a: a.ndim),
    ("argsort 0", 'np.argsort(a, axis=0, kind="stable")', lambda a: a.ndim),
    ("median", "np.median(a)", lambda a: real(a) and a.size and numeric(a)),
    ("median 0", "np.median(a, axis=0)", lambda a: real(a) and a.size and numeric(a)),
    ("percentile", "np.percentile(a, 30)", lambda a: real(a) and a.size and numeric(a)),
    ("quantile", "np.quantile(a, 0.7)", lambda a: real(a) and a.size and numeric(a) and a.ndim),
    ("partition", "np.partition(a, 3)[3]", lambda a: a.ndim == 1 and a.size > 3),
    ("nonzero", "np.nonzero(a)", lambda a: a.ndim),
    ("argwhere", "np.argwhere(a)", lambda a: a.ndim),
    ("flatnonzero", "np.flatnonzero(a)", anything),
    ("reshape", "np.reshape(a, (2, -1))", anything),
    ("reshape F", 'np.reshape(a, (2, -1), order="F")', anything),
    ("reshape bad", "np.reshape(a, (7, 2))", anything),
    ("ravel", "np.ravel(a)", anything),
    ("ravel F", 'np.ravel(a, order="F")', anything),
    ("transpose", "np.transpose(a)", anything),
    ("transpose axes", "np.transpose(a, (2, 0, 1))", lambda a: a.ndim == 3),
    ("swapaxes", "np.swapaxes(a, 0, -1)", lambda a: a.ndim),
    ("moveaxis", "np.moveaxis(a, 0, -1)", lambda a: a.ndim),
    ("expand_dims", "np.expand_dims(a, 1)", lambda a: a.ndim),
    ("flip", "np.flip(a)", lambda a: a.ndim),
    ("flip 0", "np.flip(a, 0)", lambda a: a.ndim),
    ("roll", "np.roll(a, 3)", anything),
    ("roll 0", "np.roll(a, -1, axis=0)", lambda a: a.ndim),
    ("repeat", "np.repeat(a, 2)", anything),
    ("repeat 0", "np.repeat(a, 3, axis=0)", lambda a: a.ndim),
    ("tile", "np.tile(a, 2)", lambda a: a.ndim),
    ("tile 2", "np.tile(a, (2, 1))", lambda a: a.ndim),
    ("concatenate", "np.concatenate((a, a))", lambda a: a.ndim),
    ("concatenate 1", "np.concatenate((a, a), axis=1)", lambda a: a.ndim),
    ("concatenate none", "np.concatenate((a, a), axis=None)", lambda a: a.ndim),
    ("stack", "np.stack((a, a), axis=1)", lambda a: a.ndim),
    ("vstack", "np.vstack((a, a))", anything),
    ("hstack", "np.hstack((a, a))", anything),
    ("column_stack", "np.column_stack((a, a))", lambda a: a.ndim),
    ("append", "np.append(a, a)", anything),
    ("where", "np.where(a == a[::-1], a, 0)", lambda a: a.ndim),
    ("clip", "np.clip(a, 1, 3)", lambda a: real(a) and numeric(a)),
    ("round", "np.round(a)", numeric),
    ("take", "np.take(a, np.array([0, 2, -1]))", lambda a: a.size > 3),
    ("take 0", "np.take(a, np.array([0, 1, -1]), axis=0)", lambda a: a.ndim),
    ("copy", "np.copy(a)", anything),
    ("zeros_like", "np.zeros_like(a)", anything),
    ("ones_like", "np.ones_like(a)", anything),
    ("full_like", "np.full_like(a, 2)", anything),
    ("ascontiguousarray", "np.ascontiguousarray(a)", anything),
    ("asfortranarray", "np.asfortranarray(a)", anything),
    ("array", "np.array(a)", anything),
    ("array f4", "np.array(a, dtype=np.float32)", real),
    ("dot", "np.dot(a, a)", lambda a: a.ndim == 1 and numeric(a)),
    ("matmul", "np.dot(a, a.T)", lambda a: a.ndim == 2 and numeric(a)),
    ("matmul T", "np.dot(a.T, a)", lambda a: a.ndim == 2 and numeric(a)),
    ("outer", "np.outer(a, a)", lambda a: numeric(a)),
    ("norm", "np.linalg.norm(a)", numeric),
    ("norm 0", "np.linalg.norm(a, axis=0)", lambda a: numeric(a) and a.ndim),
    ("norm 1", "np.linalg.norm(a, 1)", lambda a: numeric(a) and a.ndim in (1, 2) and a.size),
    ("norm inf", "np.linalg.norm(a, np.inf)", lambda a: numeric(a) and a.ndim in (1, 2) and a.size),
    ("trace", "np.trace(a)", lambda a: a.ndim == 2),
    ("diag", "np.diag(a, 1)", lambda a: a.ndim in (1, 2)),
    ("triu", "np.triu(a)", lambda a: a.ndim == 2),
    ("tril", "np.tril(a, -1)", lambda a: a.ndim == 2),
    ("searchsorted", "np.searchsorted(a, a)", lambda a: a.ndim == 1 and a.size == 1),
    ("broadcast_to", "np.broadcast_to(a, (3, 4, 5))", anything),
]
