"""Ufuncs whose function runs in the interpreter, because the decorator says so (`forceobj=True`) and it does not
compile."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from lancehead import _core, types


class InterpretedUFunc:
    """A function of numbers, or of the core dimensions of arrays, applied to each element of the others."""

    __name__: str

    def __init__(self, function: Any, layout: str | None, signatures: list[Any], identity: Any) -> None:
        functools.update_wrapper(cast(Callable[..., Any], self), function)
        self._function, self.identity = function, None if identity == "reorderable" else identity
        self._parsed = [_core.parse_signature(s) if isinstance(s, str) else s for s in signatures]
        self.signature = layout
        ins, outs = (layout or _flat(function)).replace(" ", "").split("->")
        self._cores = [[name for name in part.strip("()").split(",") if name] for part in _parts(ins) + _parts(outs)]
        self.nin, self.nout = len(_parts(ins)), len(_parts(outs))
        self.nargs = self.nin + self.nout

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}', interpreted>"

    @property
    def types(self) -> list[str]:
        """The types of the loops, as NumPy's ufuncs have them."""
        return [
            "".join(np.dtype(d).char for d in loop[: self.nin])
            + "->"
            + "".join(np.dtype(d).char for d in loop[self.nin :])
            for loop in map(self._dtypes, self._parsed)
        ]

    def _dtypes(self, signature: Any) -> list[Any]:
        of: list[Any] = [*signature.args] if self.signature else [*signature.args, signature.return_type]
        return [types.as_dtype(t.dtype if t.kind == "Array" else t) for t in of]

    def __call__(self, *args: Any, out: Any = None) -> Any:
        inputs = [np.asarray(a) for a in args[: self.nin]]
        is_weak = [isinstance(a, (int, float, complex)) for a in args]
        given = [*args[self.nin :], *(out if isinstance(out, tuple) else () if out is None else (out,))]
        signature, dtypes = self._chosen([*inputs, *given], is_weak)
        inputs = [a.astype(d, copy=False) for a, d in zip(inputs, dtypes, strict=False)]
        ranks = [len(core) for core in self._cores]
        loop = np.broadcast_shapes(*(a.shape[: a.ndim - r] for a, r in zip(inputs, ranks, strict=False)))
        sizes: dict[str, int] = {}
        for a, core in zip(inputs, self._cores, strict=False):
            for name, n in zip(core, a.shape[a.ndim - len(core) :], strict=True):
                if sizes.setdefault(name, n) != n:
                    raise ValueError(f"{self.__name__}: the core dimension {name} has {sizes[name]} and {n} elements")
        shapes = [loop + tuple(sizes[n] for n in core) for core in self._cores[self.nin :]]
        outs = given or [np.empty(s, d) for s, d in zip(shapes, dtypes[self.nin :], strict=True)]
        whole = [np.broadcast_to(a, loop + a.shape[a.ndim - r :]) for a, r in zip(inputs, ranks, strict=False)]
        for index in np.ndindex(loop):
            self._apply(signature, whole, outs, index)
        results = outs if given else [o[()] for o in outs]
        return results[0] if self.nout == 1 else tuple(results)

    def _chosen(self, given: list[Any], is_weak: list[bool]) -> tuple[Any, list[Any]]:
        if not self._parsed:
            # One loop for any types: results are stored in arrays of the program.
            if len(given) < self.nargs:
                raise TypeError(f"ufunc {self.__name__!r} without a signature takes arrays for its results")
            return None, [a.dtype for a in given]
        inputs = given[: self.nin]
        for signature in self._parsed:
            dtypes = self._dtypes(signature)
            rules: list[Any] = ["same_kind" if w else "safe" for w in is_weak]
            if all(np.can_cast(a.dtype, d, rule) for a, d, rule in zip(inputs, dtypes, rules, strict=False)):
                return signature, dtypes
        names = ", ".join(str(a.dtype) for a in inputs)
        raise TypeError(f"ufunc {self.__name__!r} has no loop for ({names})")

    def _apply(self, signature: Any, inputs: list[Any], outs: list[Any], index: tuple[int, ...]) -> None:
        if self.signature is None:
            made = self._function(*(a[index] for a in inputs))
            for o, value in zip(outs, made if self.nout > 1 else (made,), strict=True):
                o[index] = value
            return
        given = []
        for k, a in enumerate([*inputs, *outs]):
            # A view of one element where the signature has an array for a number.
            is_number = not self._cores[k]
            is_array = k >= self.nin if signature is None else isinstance(signature.args[k], types.Array)
            part = a[(*index, ...)]
            given.append(part.reshape(1) if is_number and is_array else part[()] if is_number else part)
        self._function(*given)


def _parts(text: str) -> list[str]:
    return [part.strip(",") + ")" for part in text.split(")") if part.strip(",")]


def _flat(function: Any) -> str:
    return ",".join(["()"] * function.__code__.co_argcount) + "->()"


__all__ = ["InterpretedUFunc"]
