"""Ufuncs on a GPU: arguments are brought there, broadcast and flattened, and a kernel calls the function for each
element."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lancehead.cuda.devicearray import DeviceNDArray, as_cuda_array, device_array, is_cuda_array, to_device
from lancehead.cuda.dispatcher import CUDADispatcher, jit
from lancehead.cuda.gpu import address_of
from lancehead.cuda.names import grid, gridsize
from lancehead.cuda.reduction import Reduce

_THREADS = 256


@jit(device=True)
def _whole(x: Any, i: int) -> Any:
    return x


@jit(device=True)
def _element(x: Any, i: int) -> Any:
    # `flat` checks the index.
    return x[i] if x.ndim == 1 else x.flat[i]


@jit(device=True)
def _row(x: Any, i: int) -> Any:
    return x[i]


@jit(device=True)
def _cell(x: Any, i: int) -> Any:
    return x[i : i + 1]


@jit(device=True)
def _taken(arrays: Any, ways: Any, i: int) -> Any:
    if len(arrays) == 0:
        return ()
    return (ways[0](arrays[0], i), *_taken(arrays[1:], ways[1:], i))


@jit(device=True)
def _store(arrays: Any, values: Any, i: int) -> None:
    if len(arrays) > 0:
        if arrays[0].ndim == 1:
            arrays[0][i] = values[0]
        else:
            arrays[0].flat[i] = values[0]
        _store(arrays[1:], values[1:], i)


@jit
def _copy(to: Any, source: Any) -> None:
    for i in range(grid(1), to.size, gridsize(1)):
        _store((to,), (_element(source, i),), i)


def _converted(kind: type) -> CUDADispatcher[..., Any]:
    return jit(lambda x, i: kind(_element(x, i)), device=True)


class GpuLoops:
    """The kernels of a ufunc."""

    def __init__(self, function: Any, ufunc: Any, options: dict[str, Any]) -> None:
        self._ufunc = ufunc
        self._function, self.options = jit(function, device=True, **options), options
        # A `numpy.ufunc` takes these as numbers without a type of their own (weak promotion).
        self._weak: tuple[type, ...] = (int, float, complex) if isinstance(ufunc, np.ufunc) else ()
        self._reduce = Reduce(self._function)
        self._loops: dict[tuple[Any, ...], tuple[np.dtype, ...]] = {}
        self._kernels: dict[tuple[Any, ...], CUDADispatcher[..., Any]] = {}

    @property
    def _numpy(self) -> np.ufunc:
        # One without signatures has another when it has learned types.
        found: np.ufunc = getattr(self._ufunc, "ufunc", self._ufunc)
        return found

    def __call__(self, inputs: Sequence[Any], outs: Sequence[Any], stream: Any, threads: int) -> tuple[Any, ...]:
        """Applies the ufunc; without outputs, arrays of the GPU are made."""
        given = [
            a if type(a) in self._weak else as_cuda_array(a) if is_cuda_array(a) else np.asarray(a) for a in inputs
        ]
        targets = [as_cuda_array(o) if is_cuda_array(o) else o for o in outs]
        loop, cores = _extents(self._numpy, given, targets)
        dtypes = self._dtypes([*given, *targets], cores)
        kinds = list(zip(targets or [None] * self._numpy.nout, dtypes[len(given) :], cores[len(given) :]))
        # A target on the host, or of another type than a loop over rows has, gets a temporary result.
        results = [o if isinstance(o, DeviceNDArray) and (o.dtype == d or not any(cores)) else device_array(loop + core,
                                                                                                            d,
                                                                                                            stream=stream)
                   for o, d, core in kinds]  # fmt: skip
        if any(r.size for r in results):
            there = [_there(a, d, core, results, loop + core, stream) for a, d, core in zip(given, dtypes, cores)]
            run = self._rows if any(cores) else self._elements
            run(there, results, dtypes, loop, cores, stream, min(threads, _THREADS))
        for o, r in zip(targets, results):
            if isinstance(o, DeviceNDArray) and r is not o:
                _launch(_copy, o.size, stream, _THREADS, o, r)
            elif o is not r:
                o[...] = r.copy_to_host(stream=stream)
        return tuple(targets or results)

    def reduce(self, values: Any, stream: Any) -> Any:
        """The elements of an array of one dimension combined."""
        return self._reduce.combined(values, len(values), stream).copy_to_host(stream=stream)[0]

    def _dtypes(self, arrays: list[Any], cores: list[tuple[int, ...]]) -> tuple[np.dtype, ...]:
        """The types of the loop that the arguments get, which the CPU has too."""
        key = tuple(getattr(a, "dtype", type(a)) for a in arrays)
        if key not in self._loops:
            # A ufunc without signatures learns its types from its arguments, and all check them; without elements
            # nothing is computed.
            self._ufunc(*(np.empty((0, *core), k) if isinstance(k, np.dtype) else k() for k, core in zip(key, cores)))
            self._loops[key] = self._numpy.resolve_dtypes((*key, *(None,) * (self._numpy.nargs - len(key))))
        return self._loops[key]

    def _elements(
        self, ins: list[Any], outs: list[Any], dtypes: Any, loop: Any, cores: Any, stream: Any, threads: int
    ) -> None:
        arrays = [a for a in ins if isinstance(a, DeviceNDArray)]
        shaped = _flattened([np.broadcast_to(a._data, loop) for a in arrays] + [o._data for o in outs])
        views = iter(a._over(v) for a, v in zip((*arrays, *outs), shaped))
        taken = tuple(next(views) if isinstance(a, DeviceNDArray) else a for a in ins)
        ways = tuple(
            None if not isinstance(a, DeviceNDArray) else "" if a.dtype == d else d.type for a, d in zip(taken, dtypes)
        )
        made = self._kernels.get(ways)
        if made is None:
            made = self._kernels[ways] = _elementwise(self._function, ways, len(outs))
        _launch(made, outs[0].size, stream, threads, tuple(views), taken)

    def _rows(
        self, ins: list[Any], outs: list[Any], dtypes: Any, loop: Any, cores: Any, stream: Any, threads: int
    ) -> None:
        rows = [
            _rows_of(a, loop, core, stream) if isinstance(a, DeviceNDArray) else a
            for a, core in zip((*ins, *outs), cores)
        ]
        ways = tuple(_whole if not isinstance(a,
                                              DeviceNDArray) else _row if core else _element if k < len(ins) else _cell
                     for k, (a, core) in enumerate(zip(rows, cores)))  # fmt: skip
        made = self._kernels.get(ways)
        if made is None:
            made = self._kernels[ways] = _rowwise(self._function, ways)
        tasks = int(np.prod(loop, dtype=object))
        _launch(made, tasks, stream, threads, tuple(rows), tasks)
        for o, r in zip(outs, rows[len(ins) :]):
            if not np.may_share_memory(o._data, r._data):
                _launch(_copy, o.size, stream, _THREADS, o, r)


def _elementwise(function: Any, kinds: tuple[Any, ...], nout: int) -> CUDADispatcher[..., Any]:
    ways = tuple(_whole if k is None else _element if k == "" else _converted(k) for k in kinds)

    def kernel(outs: Any, ins: Any) -> None:
        for i in range(grid(1), outs[0].size, gridsize(1)):
            values = function(*_taken(ins, ways, i))
            _store(outs, values if nout > 1 else (values,), i)

    return jit(kernel)


def _rowwise(function: Any, ways: tuple[Any, ...]) -> CUDADispatcher[..., Any]:
    def kernel(arrays: Any, rows: int) -> None:
        for i in range(grid(1), rows, gridsize(1)):
            function(*_taken(arrays, ways, i))

    return jit(kernel)


def _launch(kernel: CUDADispatcher[..., Any], tasks: int, stream: Any, threads: int, *args: Any) -> None:
    if tasks:
        kernel[min(-(-tasks // threads), 1 << 20), threads, stream](*args)


def _extents(ufunc: Any, inputs: list[Any], outs: list[Any]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Of the loop, and of what the function gets or writes of each argument.

    Raises:
        ValueError: they do not fit.
    """
    if ufunc.signature is None:
        names: list[list[str]] = [[]] * ufunc.nargs
    else:
        names = [re.findall(r"\w+", core) for core in re.findall(r"\(([^()]*)\)", ufunc.signature)]
    known: dict[str, int] = {}
    loops: list[tuple[int, ...]] = []
    for k, (a, core) in enumerate(zip((*inputs, *outs), names)):
        shape = getattr(a, "shape", ())
        cut = len(shape) - len(core)
        if cut < 0:
            raise ValueError(
                f"{ufunc.__name__}: argument {k} has {len(shape)} dimensions, the signature {ufunc.signature} asks for "
                f"{len(core)}"
            )
        for name, n in zip(core, shape[cut:]):
            if known.setdefault(name, int(name) if name.isdigit() else n) != n:
                raise ValueError(
                    f"{ufunc.__name__}: argument {k} has a mismatch in its core dimension {name}: {n} is different "
                    f"from {known[name]}"
                )
        loops.append(shape[:cut])
    loop = np.broadcast_shapes(*loops)
    for given in loops[len(inputs) :]:
        if given != loop:
            raise ValueError(f"{ufunc.__name__}: an output of shape {given} does not fit the broadcast shape {loop}")
    try:
        return loop, [tuple(int(n) if n.isdigit() else known[n] for n in core) for core in names]
    except KeyError as error:
        raise ValueError(
            f"{ufunc.__name__}: no input has the dimension {error} of an output: pass the output"
        ) from None


def _there(
    a: Any, dtype: np.dtype, core: tuple[int, ...], results: list[Any], shape: tuple[int, ...], stream: Any
) -> Any:
    """An input on the GPU, or a number. An input that shares memory with a result is copied, unless each of its
    elements is overwritten by its own result only.
    """
    if not isinstance(a, DeviceNDArray):
        return dtype.type(a) if np.ndim(a) == 0 else to_device(np.ascontiguousarray(a), stream)
    own = (a.shape, a.strides, address_of(a._data))
    shared = [r for r in results if np.may_share_memory(a._data, r._data)]
    if core and (shared or a.dtype != dtype) or any((shape, r.strides, address_of(r._data)) != own for r in shared):
        return _copied(a._data, a, dtype, stream)
    return a


def _copied(data: np.ndarray, a: DeviceNDArray, dtype: np.dtype, stream: Any) -> DeviceNDArray:
    made = device_array(data.shape, dtype, stream=stream)
    _launch(_copy, made.size, stream, _THREADS, made, a._over(data))
    return made


def _flattened(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays of one shape in as few dimensions as all allow, those with the largest steps first."""
    if all(a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    axes = [k for k, n in enumerate(arrays[0].shape) if n != 1]
    runs: list[tuple[int, list[int]]] = []
    for k in sorted(axes, key=lambda k: -abs(arrays[-1].strides[k])):
        n, steps = arrays[0].shape[k], [a.strides[k] for a in arrays]
        if runs and runs[-1][1] == [s * n for s in steps]:
            n *= runs.pop()[0]
        runs.append((n, steps))
    return [
        as_strided(a, [n for n, _ in runs] or (1,), [s[j] for _, s in runs] or (a.itemsize,))
        for j, a in enumerate(arrays)
    ]


def _rows_of(a: DeviceNDArray, loop: tuple[int, ...], core: tuple[int, ...], stream: Any) -> DeviceNDArray:
    """An array with one dimension for the loop; a copy where there is none."""
    data = a._data if a.shape == loop + core else np.broadcast_to(a._data, loop + core)
    tasks, step = 1, 0
    for n, stride in reversed([*zip(loop, data.strides)]):
        if n != 1 and tasks != 1 and stride != step * tasks:
            return _rows_of(_copied(data, a, data.dtype, stream), loop, core, stream)
        step = stride if tasks == 1 and n != 1 else step
        tasks *= n
    return a._over(as_strided(data, (tasks, *core), (step, *data.strides[len(loop) :])))
