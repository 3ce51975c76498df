"""`vectorize` and `guvectorize` for arrays of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lancehead import pickling, types, ufuncs
from lancehead.cuda.devicearray import DeviceNDArray, as_cuda_array, host_of, is_cuda_array
from lancehead.cuda.gpu import current_gpu
from lancehead.cuda.gpu_ufuncs import GpuLoops
from lancehead.notices import tell
from lancehead.options import suggestion

# Of generalised ufuncs.
_OPTIONS = frozenset({"cache", "fastmath", "writable_args", "identity", "semantics"})


class DeviceUFunc:
    """A ufunc that takes arrays of the host or of a device; the result is where the arguments are."""

    # Threads of the blocks that the work is cut into, at most.
    max_blocksize = 1 << 30

    def __init__(self, function: Callable[..., Any], ufunc: Any, options: dict[str, Any]) -> None:
        # Options of the function itself.
        own: dict[str, Any] = {name: options[name] for name in ("fastmath", "semantics") if name in options}
        self.py_func, self._ufunc, self._loops = function, ufunc, GpuLoops(function, ufunc, own)
        self.__name__, self.__qualname__, self.__module__ = (
            function.__name__,
            function.__qualname__,
            function.__module__,
        )
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<CUDA ufunc {self.__name__}>"

    def __reduce__(self) -> Any:
        return pickling.reduce(self)

    def _by_value(self) -> Any:
        return DeviceUFunc, (self.py_func, self._ufunc, self._loops.options)

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        nin, nout = self._ufunc.nin, self._ufunc.nout
        if out is not None and len(args) > nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        outs = args[nin:] if out is None else (*args[nin:], *(out if isinstance(out, tuple) else (out,)))
        if len(args) < nin or len(outs) not in (0, nout):
            given = f"Got {len(args)} positional argument{'' if len(args) == 1 else 's'}."
            raise TypeError(
                f"gufunc accepts {nin} positional arguments (when providing input only) or {nin + nout} positional "
                f"arguments (when providing input and output). {given}"
            )
        if current_gpu() is not None:
            made = self._loops(args[:nin], outs, stream, self.max_blocksize)
            if not outs and not any(map(is_cuda_array, args)):
                made = tuple(m.copy_to_host(stream=stream)[()] for m in made)
            return made[0] if nout == 1 else made
        inputs = [host_of(a) for a in args[:nin]]
        if outs:
            self._ufunc(*inputs, out=tuple(host_of(o) for o in outs))
            outs = tuple(as_cuda_array(o) if is_cuda_array(o) else o for o in outs)
            return outs[0] if nout == 1 else outs
        try:
            result = self._ufunc(*inputs)
        except TypeError:
            if (fitted := self._fitted(inputs)) is None:
                if any(map(is_cuda_array, args)):
                    raise TypeError(
                        f"no loop of {self.__name__} takes these types, and an array of a device does not support "
                        ".astype(): convert it before"
                    ) from None
                raise
            result = self._ufunc(*fitted)
        if not any(map(is_cuda_array, args)):
            return result
        made = tuple(DeviceNDArray(np.asarray(r), stream) for r in (result if nout > 1 else (result,)))
        return made if nout > 1 else made[0]

    def _fitted(self, inputs: list[Any]) -> list[Any] | None:
        """Numbers as the first loop wants them that takes the arrays and numbers of their kind; `None` if there is
        none, or nothing to convert."""
        scalar = [isinstance(x, (int, float, complex, np.generic)) for x in inputs]
        for loop in self._ufunc.types if any(scalar) else ():
            wanted = [np.dtype(c) for c in loop.split("->")[0]]
            if all(
                np.can_cast(np.asarray(x).dtype, t, "same_kind" if s else "safe")
                for x, t, s in zip(inputs, wanted, scalar, strict=True)
            ):
                return [t.type(x) if s else x for x, t, s in zip(inputs, wanted, scalar, strict=True)]
        return None

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """The elements of an array of one dimension combined."""
        values = arg if current_gpu() is not None and is_cuda_array(arg) else host_of(arg)
        if np.ndim(values) != 1:
            raise AssertionError("must use 1-d array")
        if len(values) == 0:
            raise TypeError("Reduction on an empty array.")
        if current_gpu() is not None:
            return self._loops.reduce(values, stream)
        # Of ufuncs named `add` and `multiply` NumPy would take another loop.
        char = values.dtype.char
        return self._ufunc.reduce(values, dtype=values.dtype if f"{char}{char}->{char}" in self._ufunc.types else None)


def vectorize(ftylist_or_function: Any = (), target: str = "cuda", **options: Any) -> Any:
    """A ufunc of a device from a function of numbers.

    >>> from lancehead import vectorize
    >>> @vectorize(["float64(float64, float64)"], target="cuda")
    ... def plus(x, y):
    ...     return x + y
    >>> plus(np.arange(3.0), 1.0)
    array([1., 2., 3.])
    """
    if "nopython" in options:
        tell("nopython kwarg for cuda target is redundant", RuntimeWarning)
    options.pop("nopython", None)
    return _wrapped(lambda given, **o: ufuncs.vectorize(given, **o), ftylist_or_function, options)


def guvectorize(ftylist: Any, signature: str | None = None, target: str = "cuda", **options: Any) -> Any:
    """A generalised ufunc of a device from a function of arrays.

    >>> from lancehead import guvectorize
    >>> @guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="cuda")
    ... def total(x, out):
    ...     out[0] = x.sum()
    >>> total(np.ones((2, 3)))
    array([3., 3.])
    """
    if not options.pop("nopython", True):
        raise TypeError("nopython flag must be True")
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise TypeError(
            "The following target options are not supported: "
            f"{', '.join(sorted(unknown))}{suggestion(min(unknown), _OPTIONS)}"
        )
    for s in ftylist if isinstance(ftylist, list) else []:
        result = getattr(s, "return_type", None)
        if result not in (None, types.void):
            raise TypeError(
                f"guvectorized functions cannot return values: signature {s} specifies {result} return type"
            )
    given = (ftylist,) if signature is None else (ftylist, signature)
    return _wrapped(lambda g, **o: ufuncs.guvectorize(*g, **o), given, options)


def _wrapped(make: Callable[..., Any], given: Any, options: dict[str, Any]) -> Any:
    if callable(given):
        return DeviceUFunc(given, make(given, **options), options)

    def decorate(function: Any) -> DeviceUFunc:
        inner = getattr(function, "py_func", function)
        return DeviceUFunc(inner, make(given, **options)(inner), options)

    return decorate
