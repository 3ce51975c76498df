"""A slow interpreter of kernels, to hold compiled ones against.

A thread is a generator: the kernel's own Python, in which everything that waits is a `yield`. Threads take turns in an
order that a seed decides; what a barrier or an operation of a warp answers is computed when all that it is for have
come.
"""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Callable, Generator, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

WARP = 32
BLOCK_WAITS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
WARP_WAITS = (
    "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync", "any_sync", "eq_sync",
    "ballot_sync", "match_any_sync", "match_all_sync",
)  # fmt: skip


class _Waits(ast.NodeTransformer):
    """Calls that wait become `yield`, calls of device functions `yield from`, arrays know where they are made."""

    def __init__(self, functions: set[str]) -> None:
        self.functions, self.sites = functions, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list = []
        node.args.args.insert(0, ast.arg("cuda"))
        node.body.append(ast.parse("if False: yield").body[0])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("cuda"), name) if name in BLOCK_WAITS + WARP_WAITS:
                return ast.Yield(ast.Tuple([ast.Constant(name), *node.args], ast.Load()))
            case ast.Attribute(ast.Name(), "sync"):
                return ast.Yield(ast.Tuple([ast.Constant("grid")], ast.Load()))
            case ast.Attribute(ast.Attribute(ast.Name("cuda"), "shared"), "array"):
                self.sites += 1
                node.keywords.append(ast.keyword("site", ast.Constant(f"{self.sites}")))
            case ast.Name(name) if name in self.functions:
                node.args.insert(0, ast.Name("cuda", ast.Load()))
                return ast.YieldFrom(node)
        return node


class _Atomic:
    """Atomic operations: nobody comes in between."""

    def __init__(self) -> None:
        update = lambda f: lambda array, i, v: _replace(array, i, lambda old: f(old, v))
        self.add, self.sub = update(lambda a, b: a + b), update(lambda a, b: a - b)
        self.max, self.min = update(max), update(min)
        self.and_, self.or_, self.xor = (
            update(lambda a, b: a & b),
            update(lambda a, b: a | b),
            update(lambda a, b: a ^ b),
        )
        self.exch = update(lambda _, b: b)
        self.inc = update(lambda a, b: 0 if a >= b else a + 1)
        self.dec = update(lambda a, b: b if a == 0 or a > b else a - 1)
        self.cas = lambda array, i, old, new: _replace(array, i, lambda now: new if now == old else now)


def _replace(array: np.ndarray, i: Any, f: Callable[[Any], Any]) -> Any:
    old = array[i].item()
    array[i] = (
        np.asarray(f(old)).astype(array.dtype) if array.dtype.kind == "f" else np.int64(f(old)).astype(array.dtype)
    )
    return old


class Thread:
    """The object that a thread knows as `cuda`."""

    def __init__(self, block: Block, linear: int) -> None:
        x, y, _ = block.dim
        self.threadIdx = SimpleNamespace(x=linear % x, y=linear // x % y, z=linear // (x * y))
        self.blockIdx, self.blockDim, self.gridDim = (
            SimpleNamespace(x=v[0], y=v[1], z=v[2]) for v in (block.index, block.dim, block.grid)
        )
        self.laneid, self.warpsize = linear % WARP, WARP
        self.shared = SimpleNamespace(array=lambda shape, dtype, site: block.array(site, shape, dtype))
        self.local = SimpleNamespace(array=np.empty)
        self.atomic, self.cg = _Atomic(), SimpleNamespace(this_grid=lambda: None)
        self.popc = lambda v: int(v).bit_count()
        self.selp = lambda c, a, b: a if c else b

    def grid(self, n: int) -> Any:
        """Place of the thread in the grid."""
        each = [getattr(self.blockIdx, a) * getattr(self.blockDim, a) + getattr(self.threadIdx, a) for a in "xyz"[:n]]
        return each[0] if n == 1 else tuple(each)

    def gridsize(self, n: int) -> Any:
        """Threads of the grid."""
        each = [getattr(self.gridDim, a) * getattr(self.blockDim, a) for a in "xyz"[:n]]
        return each[0] if n == 1 else tuple(each)


class Block:
    """A block with its shared memory."""

    def __init__(self, index: tuple[int, ...], dim: tuple[int, ...], grid: tuple[int, ...], dynamic: int) -> None:
        self.index, self.dim, self.grid = index, dim, grid
        self.dynamic = np.empty(dynamic, np.uint8)
        self.arrays: dict[str, np.ndarray] = {}

    def array(self, site: str, shape: Any, dtype: Any) -> np.ndarray:
        """The array of a place in the program; all dynamic ones are the same memory."""
        if shape == 0:
            return self.dynamic.view(dtype)
        return self.arrays.setdefault(site, np.empty(shape, dtype))


class _Turn:
    """A thread between its turns."""

    def __init__(self, generator: Generator[Any, Any, None], block: int, lane: int, warp: int) -> None:
        self.generator, self.block, self.lane, self.warp = generator, block, lane, warp
        self.request: tuple[Any, ...] | None = None
        self.answer: Any = None
        self.done = False

    def go(self) -> None:
        """Runs up to where it waits, or to its end."""
        try:
            self.request = self.generator.send(self.answer)
        except StopIteration:
            self.done = True


class Deadlock(Exception):
    """Threads wait for each other for ever."""


def interpreted(source: str, name: str, space: dict[str, Any]) -> Callable[..., Any]:
    """The function of a source, as a generator function whose first argument is the thread."""
    sources = {n: inspect.getsource(v.py_func) for n, v in space.items() if hasattr(v, "py_func") and n != name}
    inside = dict(space)
    for text in (*sources.values(), source):
        tree = _Waits(set(sources)).visit(ast.parse(textwrap.dedent(text)))
        exec(compile(ast.fix_missing_locations(tree), f"<{name}>", "exec"), inside)
    return inside[name]


def interpret(
    function: Callable[..., Any], grid: Any, block: Any, args: tuple[Any, ...], shared: int = 0, seed: int = 0
) -> None:
    """Runs a kernel, one of `interpreted` or a Python function."""
    if not inspect.isgeneratorfunction(function):
        free = inspect.getclosurevars(function)
        function = interpreted(
            inspect.getsource(function), function.__name__, {**function.__globals__, **free.nonlocals, **free.globals}
        )
    rng = random.Random(seed)
    grid, block = ([*(v if isinstance(v, tuple) else (v,)), 1, 1][:3] for v in (grid, block))
    threads = block[0] * block[1] * block[2]
    turns: list[_Turn] = []
    for z, y, x in np.ndindex(*grid[::-1]):
        here = Block((x, y, z), tuple(block), tuple(grid), shared)
        number = len(turns) // threads
        turns += [_Turn(function(Thread(here, i), *args), number, i % WARP, i // WARP) for i in range(threads)]
    with np.errstate(all="ignore"):
        _take_turns(turns, rng)


def _take_turns(turns: list[_Turn], rng: random.Random) -> None:
    while not all(t.done for t in turns):
        able = [t for t in turns if not t.done and t.request is None]
        if not able:
            raise Deadlock
        rng.shuffle(able)
        for t in able:
            t.go()
        for group in _groups(turns, lambda t: (t.block, t.warp)):
            _answer_warp(group)
        for group in _groups(turns, lambda t: t.block):
            _answer_all(group, BLOCK_WAITS)
        _answer_all(turns, ("grid",))


def _groups(turns: list[_Turn], key: Callable[[_Turn], Any]) -> Iterator[list[_Turn]]:
    found: dict[Any, list[_Turn]] = {}
    for t in turns:
        found.setdefault(key(t), []).append(t)
    return iter(found.values())


def _answer_all(group: list[_Turn], kinds: tuple[str, ...]) -> None:
    """A barrier, which all come to that have not ended."""
    alive = [t for t in group if not t.done]
    if not alive or not all(t.request is not None and t.request[0] in kinds for t in alive):
        return
    set_ = [bool(t.request[1]) for t in alive if len(t.request) > 1]
    answers = {"syncthreads_count": sum(set_), "syncthreads_and": int(all(set_)), "syncthreads_or": int(any(set_))}
    for t in alive:
        t.answer, t.request = answers.get(t.request[0]), None


def _answer_warp(group: list[_Turn]) -> None:
    """Operations of a warp: each for the lanes of its mask that have not ended."""
    lanes = {t.lane: t for t in group if not t.done}
    for mask in {
        t.request[1] if len(t.request) > 1 else 0xFFFFFFFF
        for t in lanes.values()
        if t.request and t.request[0] in WARP_WAITS
    }:
        named = {lane: t for lane, t in lanes.items() if mask >> lane & 1}
        asked = {
            t.request and (t.request[0], t.request[1] if len(t.request) > 1 else 0xFFFFFFFF) for t in named.values()
        }
        if len(asked) != 1 or None in asked or next(iter(asked))[1] != mask or next(iter(asked))[0] not in WARP_WAITS:
            continue
        values = {lane: t.request[2] if len(t.request) > 2 else 0 for lane, t in named.items()}
        for lane, t in named.items():
            t.answer = _warp_answer(t.request, lane, values)
        for t in named.values():
            t.request = None


def _warp_answer(request: tuple[Any, ...], lane: int, values: dict[int, Any]) -> Any:
    own = values[lane]
    bits = lambda f: sum(1 << i for i, v in values.items() if f(v))
    match request:
        case ("shfl_sync", _, _, source):
            return values.get(source & 31, own)
        case ("shfl_up_sync", _, _, delta):
            return values.get(lane - (delta & 31), own)
        case ("shfl_down_sync", _, _, delta):
            return values.get(lane + (delta & 31), own)
        case ("shfl_xor_sync", _, _, other):
            return values.get(lane ^ (other & 31), own)
        case ("all_sync", *_):
            return all(values.values())
        case ("any_sync", *_):
            return any(values.values())
        case ("eq_sync", *_):
            return len({bool(v) for v in values.values()}) == 1
        case ("ballot_sync", *_):
            return bits(bool)
        case ("match_any_sync", *_):
            return bits(lambda v: v == own)
        case ("match_all_sync", *_):
            same = len(set(values.values())) == 1
            return (bits(lambda _: True), True) if same else (0, False)
    return None
