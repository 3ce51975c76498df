"""Lazy arrays as the chunks of Dask's arrays, for data beyond one memory, process or machine.

Dask has the arrays of chunks, the graphs and the schedulers; this module joins them with ours, and its import is all
that a program needs: chunks are lazy arrays, operations that Dask fuses into one task are one region, and a task ends
with values. Workers find the code of regions in the cache.

>>> import dask.array as da
>>> from lancehead import xp
>>> from lancehead.xp import chunked
>>> x = da.from_array(xp.asarray([1.0, 2.0, 3.0, 4.0]), chunks=2)
>>> float((da.exp(-x) * x).sum().compute().round())
1.0
"""

from __future__ import annotations

import functools
import mmap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import dask
import dask.array
import numpy as np
from dask._task_spec import Task, _execute_subgraph, convert_legacy_graph
from dask.array.dispatch import concatenate_lookup, percentile_lookup
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from lancehead.options import public
from lancehead.xp import regions
from lancehead.xp.arrays import from_numpy, ndarray
from lancehead.xp.creation import asarray, zeros
from lancehead.xp.devices import CPU, as_device, on_device
from lancehead.xp.manipulation import concat


class Mapped:
    """The array in a file that is mapped into memory, block by block.

    Dask would copy an array of NumPy, and send it to other processes by value. This one goes by the name of the file,
    and a block's pages leave the process with the block.
    """

    def __init__(self, name: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> None:
        self.name, self.dtype, self.offset, self.shape, self.ndim = name, dtype, offset, shape, len(shape)

    def __getitem__(self, key: Any) -> np.ndarray:
        return np.array(np.memmap(self.name, self.dtype, "r", self.offset, self.shape)[key])


def _source(x: Any) -> Any:
    # Maps of whole files; changes of others are not in the file.
    if isinstance(x, np.memmap) and isinstance(x.base, mmap.mmap) and x.filename is not None and x.mode != "c":
        if x.flags.c_contiguous:
            x.flush()
            return Mapped(str(x.filename), x.dtype, x.offset, x.shape)
    return x


def from_array(x: Any, chunks: Any = "auto", *, device: Any = None, **options: Any) -> dask.array.Array:
    """A Dask array whose chunks are lazy arrays, of anything that `dask.array.from_array` takes, or of a Dask array.

    Blocks of a `numpy.memmap` are read from its file when they are needed. `device` is where the chunks are, by default
    each worker's own default device. Of several devices a block has the one whose number is the sum of its indices, in
    turn: arrays of the same chunks have theirs on the same devices. Options are those of `dask.array.from_array`.
    Raises ValueError for a device that is not here.
    """
    whole = x if isinstance(x, dask.array.Array) else dask.array.from_array(_source(x), chunks, **options)
    devices = [device] if device is None or not isinstance(device, (list, tuple)) else list(device)
    meta = zeros((0,) * whole.ndim, dtype=whole.dtype, device=devices[0])
    if type(whole._meta) is ndarray and device is None:
        return whole
    return whole.map_blocks(_placed, devices, dtype=whole.dtype, meta=meta)


def _placed(block: Any, devices: Sequence[Any], block_id: tuple[int, ...] = ()) -> ndarray:
    device = as_device(devices[sum(block_id) % len(devices)])
    if isinstance(block, ndarray):
        return asarray(block, device=device)
    value = np.asarray(block)
    # Tasks do not change what they read, so that whole arrays need no copy.
    flags = value.flags
    is_shared = device is CPU and flags.owndata and flags.c_contiguous and flags.writeable and value.dtype.isnative
    return asarray(value, device=device, copy=False if is_shared else None)


def settled(x: Any) -> Any:
    """A result of a task with the values of its lazy arrays, which are computed together, each in memory of its own."""
    found: list[ndarray] = []
    _collect(x, found)
    regions.compute(*[a._node for a in found if a._view is None])
    return _exchanged(x) if found else x


def _collect(x: Any, found: list[ndarray]) -> None:
    if type(x) is ndarray:
        found.append(x)
    elif type(x) in (list, tuple, dict):
        for k in x.values() if type(x) is dict else x:
            _collect(k, found)


def _exchanged(x: Any) -> Any:
    if type(x) is ndarray:
        return x if x._view is None else _alone(x)
    if type(x) in (list, tuple):
        return type(x)(map(_exchanged, x))
    return {k: _exchanged(v) for k, v in x.items()} if type(x) is dict else x


def _alone(x: ndarray) -> ndarray:
    # Other tasks read a view on other threads, and do not need its array, of which it may be little.
    assert x._view is not None, "it is one"
    if on_device(x):
        return ndarray(x.node()).compute()
    value = x.numpy()
    if not value.flags.c_contiguous or 2 * value.nbytes < x._view.owner.nbytes:
        value = np.array(value, order="C")
    return from_numpy(value, x.device)


def optimize(graph: Any, keys: Any, **options: Any) -> Any:
    """Dask's own optimisation of arrays; then each task that is left ends with values."""
    found = dask.array.optimize(graph, keys, **options)
    if not isinstance(found, HighLevelGraph):
        return _ended(found, None)
    # Without its fusion Dask keeps layers, for what programs say of them.
    known = set(found)
    layers = {k: MaterializedLayer(_ended(v, known), annotations=v.annotations) for k, v in found.layers.items()}
    return HighLevelGraph(layers, found.dependencies)


def _ended(tasks: Any, known: set[Any] | None) -> dict[Any, Any]:
    nodes = convert_legacy_graph(dict(tasks), known)
    shared: dict[int, Operations] = {}
    return {
        key: Task(key, settled, _unordered(node, shared), _data_producer=node.data_producer)
        if type(node) is Task
        else node
        for key, node in nodes.items()
    }


class Operations:
    """The operations that Dask has fused into one task, which are the same objects for all blocks of an array.

    They are pickled once, not again with each task, and a worker keeps what it has read of late.
    """

    __slots__ = ("nodes", "pickled", "uses")

    def __init__(self, nodes: dict[Any, Any], pickled: bytes = b"") -> None:
        self.nodes, self.pickled = nodes, pickled
        self.uses = Counter([k for node in nodes.values() for k in node.dependencies])

    def _bytes(self) -> bytes:
        if not self.pickled:
            self.pickled = cloudpickle.dumps(self.nodes)
        return self.pickled

    def __reduce__(self) -> Any:
        return _operations, (self._bytes(),)

    def __dask_tokenize__(self) -> Any:
        return "lancehead.xp.chunked", self._bytes()


@functools.lru_cache(maxsize=256)
def _operations(pickled: bytes) -> Operations:
    return Operations(cloudpickle.loads(pickled), pickled)


def _unordered(node: Any, known: dict[int, Operations]) -> Any:
    if type(node) is not Task or node.func is not _execute_subgraph:
        return node
    nodes = node.args[0]
    if id(nodes) not in known:
        known[id(nodes)] = Operations({k: _unordered(n, known) for k, n in nodes.items()})
    return Task(node.key, _fused, known[id(nodes)], *node.args[1:])


def _fused(operations: Operations, wanted: Any, names: Sequence[Any], *given: Any) -> Any:
    # Returns the result of Dask's `_execute_subgraph`. That searches for the best order each time that a task runs,
    # which takes longer than our operations in a graph.
    nodes: Any = operations.nodes
    values, uses = dict(zip(names, given)), operations.uses.copy()
    stack = [wanted]
    while stack:
        key = stack[-1]
        node = nodes.get(key)
        missing = [k for k in node.dependencies if k not in values] if key not in values else []
        stack += missing
        if not missing:
            stack.pop()
            if key not in values:
                values[key] = node(values)
                uses.subtract(node.dependencies)
                for k in node.dependencies:
                    if not uses[k]:
                        del values[k]
    return values[wanted]


def _concatenated(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    # How many chunks there are is no part of a region, which would be another one for each number.
    chunks = [x if isinstance(x, ndarray) else asarray(x) for x in arrays]
    if on_device(*chunks):
        return concat([x.to_device(chunks[0].device) for x in chunks], axis=axis)
    # Dask asks for types by arrays without elements, which are not to be compiled.
    parts = [x.numpy() if x.size else np.empty(x.shape, x.dtype) for x in chunks]
    return from_numpy(np.concatenate(parts, axis), CPU)


def _percentiles(x: ndarray, q: Any, method: str = "linear") -> Any:
    return percentile_lookup.dispatch(np.ndarray)(x.numpy(), q, method)


dask.array.register_chunk_type(ndarray)
concatenate_lookup.register(ndarray, _concatenated)
percentile_lookup.register(ndarray, _percentiles)
if dask.config.get("array_optimize", None) is None:
    dask.config.set(array_optimize=optimize)
# Tasks run on several threads.
regions.release_gil()

__all__ = ["Mapped", "from_array", "optimize", "settled"]
public(globals())
