"""`ReductionKernel`: kernels of expressions in C that reduce arrays along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lancehead.cupy import arguments, layout
from lancehead.cupy.c.carrays import Indexer
from lancehead.cupy.c.parsing import TypeName
from lancehead.cupy.c.programs import Program, module, read
from lancehead.cupy.c.statements import Statements
from lancehead.cupy.c.values import INT, LONG, SCALARS, WIDE, Value, converted, loaded, scalar, stored
from lancehead.cupy.hosted import wrap
from lancehead.cupy.kernels import (
    Body,
    argument,
    checked_name,
    is_dense,
    joined_axes,
    outside,
    parameters,
    raw_facts,
    raw_kind,
    resolved,
    strides_of,
)
from lancehead.xp import arrays as lazy
from lancehead.xp.graph import leaf
from lancehead.xp.manipulation import axes_of


class ReductionKernel:
    """A kernel that reduces arrays along axes by expressions in C.

    >>> norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> float(norm(cupy.asarray([3.0, 4.0])))
    5.0
    """

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any,
        name: str = "reduce_kernel", reduce_type: Any = None, reduce_dims: bool = True, preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.in_params, self.out_params = parameters(in_params), parameters(out_params)
        if not self.in_params or not self.out_params:
            raise ValueError("a reduction has arrays to reduce and outputs")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.params = self.in_params + self.out_params
        self.name = self.__name__ = checked_name(name)
        self.identity = None if identity is None or identity == "" else str(identity)
        self.reduce_type, self.preamble, self.options = reduce_type, preamble, tuple(options)
        self.reduce_dims = reduce_dims
        parts = {"map_expr": map_expr, "reduce_expr": reduce_expr, "post_map_expr": post_map_expr}
        if self.identity is not None:
            parts["identity"] = self.identity
        letters = sorted({p.type for p in self.params if isinstance(p.type, str)})
        self._given = preamble, parts, letters
        self._body: Body | None = None
        self._plans: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<ReductionKernel '{self.name}'>"

    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None
    ) -> Any:
        """The reduction along axes, all for None.

        Raises TypeError for types that do not agree, ValueError for shapes and for no elements without identity.
        """
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"Wrong number of arguments for {self.name!r}: {len(args)}")
        given = [argument(x) for x in args[: self.nin]]
        outs = list(args[self.nin :]) or ([] if out is None else list(out) if isinstance(out, tuple) else [out])
        known = resolved(self.params, [*given, *outs], {})
        arrays = [x for p, x in zip(self.in_params, given, strict=True) if isinstance(x, lazy.ndarray) and not p.is_raw]
        if not arrays:
            raise ValueError("Loop size is undecided.")
        whole = np.broadcast_shapes(*[x.shape for x in arrays])
        axes = _axes(axis, len(whole))
        kept = tuple(k for k in range(len(whole)) if k not in axes)
        shape = tuple(whole[k] for k in kept)
        if 0 in (whole[k] for k in axes) and self.identity is None:
            raise ValueError(f"zero-size array to reduction operation {self.name} which has no identity")
        types = [known[p.type] if isinstance(p.type, str) else p.type for p in self.params]
        final = tuple(1 if k in axes else n for k, n in enumerate(whole)) if keepdims else shape
        values, kinds, facts = self._arguments(given, types, whole, kept, axes)
        results = self._run(values, types, kinds, facts, final)
        if outs:
            for o, r in zip(outs, results, strict=True):
                if o.shape != r.shape:
                    raise ValueError(f"Out shape is mismatched: {o.shape} is not {r.shape}")
                o[...] = r
            results = outs
        return results[0] if self.nout == 1 else tuple(results)

    def _arguments(
        self, given: list[Any], types: list[Any], whole: tuple[int, ...], kept: tuple[int, ...], axes: tuple[int, ...]
    ) -> tuple[list[Any], tuple[Any, ...], _Facts]:
        values: list[Any] = []
        kinds: list[Any] = []
        extents: dict[str, tuple[int, ...]] = {}
        apart = []
        order, there = axes + kept, kept + axes
        for p, x, d in zip(self.in_params, given, types, strict=False):
            if not isinstance(x, lazy.ndarray):
                values.append(arguments.number(d)(x))
                kinds.append(None)
                continue
            if p.is_raw:
                extents |= raw_facts(p.name, x)
                values.append(arguments.dense(x))
                kinds.append(raw_kind(x))
                continue
            strides = strides_of(x, whole)
            turned = tuple(strides[k] for k in order)
            if not is_dense([whole[k] for k in order], turned, x.dtype.itemsize):
                apart.append(turned)
            # Elements that are combined follow each other in memory here; CuPy counts those of the results first.
            if x.shape != whole or there != tuple(range(len(whole))):
                view = lazy.ndarray.view(x, lambda s: np.broadcast_to(s, whole).transpose(there))
                x = lazy.wrap(view.node())
            values.append(arguments.dense(x))
            kinds.append("array")
        shape = tuple(whole[k] for k in order)
        joined = joined_axes(shape, apart) if self.reduce_dims else None
        extents["_in_ind_shape"] = shape if joined is None else tuple(n for n, _ in joined)
        out = tuple(whole[k] for k in kept)
        joined = joined_axes(out, []) if self.reduce_dims else None
        extents["_out_ind_shape"] = out if joined is None else tuple(n for n, _ in joined)
        return values, tuple(kinds), _Facts(extents, math.prod(out), math.prod(whole[k] for k in axes))

    def _run(
        self, values: list[Any], types: list[Any], kinds: tuple[Any, ...], facts: _Facts, shape: tuple[int, ...]
    ) -> list[Any]:
        from lancehead import cuda

        outer, inner = facts.outer, facts.inner
        ranks = tuple(len(facts.extents[f"_{which}_ind_shape"]) for which in ("in", "out"))
        key = (tuple(types), kinds, ranks)
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = self._planned(types, kinds, ranks)
        first, last, reduced, needs = found
        parts = max(1, min(1024, inner // 64))
        partial = cuda.device_array(max(outer * parts, 1), reduced)
        made = [cuda.device_array(max(outer, 1), d) for d in types[self.nin :]]
        if outer:
            n, m, width = np.int64(outer), np.int64(inner), np.int64(parts)
            more = [[facts.extents[name] for name in names] for names in needs]
            first[-(-outer * parts // 128), 128](n, m, width, partial, *values, *more[0])
            used = np.int64(min(parts, max(inner, 1)))
            last[-(-outer // 128), 128](n, m, used, width, partial, *made, *values, *more[1])
        return [
            wrap(lazy.wrap(leaf(v.reshape(shape) if outer else cuda.device_array(shape, v.dtype), layout.device())))
            for v in made
        ]

    def _planned(
        self, types: list[Any], kinds: tuple[Any, ...], ranks: tuple[int, ...]
    ) -> tuple[Any, Any, np.dtype[Any], list[tuple[str, ...]]]:
        preamble, parts, letters = self._given
        if self._body is None:
            self._body = Body(preamble, parts, self.name, self.options, [*letters, "_type_reduce", "IndexT"])
        body = self._body
        env: dict[str, Any] = {p.type: d for p, d in zip(self.params, types, strict=True) if isinstance(p.type, str)}
        program = Program(body.unit, env)
        reduced = types[self.nin]
        if self.reduce_type is not None:
            name = self.reduce_type
            reduced = (
                scalar(TypeName(name), program.env, 1) if name in SCALARS or name in program.env else np.dtype(name)
            )
        program.env |= {"_type_reduce": reduced, "IndexT": INT}
        text = _Text(self, body, program, types, kinds, ranks, reduced)
        first, of_first = text.first()
        last, of_last = text.last()
        found = module(f"{program.text()}\n{first}\n{last}")
        return found[f"{self.name}_parts"], found[f"{self.name}_whole"], reduced, [of_first, of_last]


class _Facts(NamedTuple):
    """The extents and strides that kernels see, and how many results and elements of each there are."""

    extents: dict[str, tuple[int, ...]]
    outer: int
    inner: int


_THREAD = "t = np.int64(cuda.blockIdx.x) * np.int64(cuda.blockDim.x) + np.int64(cuda.threadIdx.x)"


class _Text:
    """The texts of the two kernels of a reduction: the first combines parts of the elements, the other one these."""

    def __init__(
        self, kernel: ReductionKernel, body: Body, program: Program, types: list[Any], kinds: tuple[Any, ...],
        ranks: tuple[int, ...], reduced: np.dtype[Any],
    ) -> None:  # fmt: skip
        self.name, self.identity = kernel.name, kernel.identity
        self.ins, self.outs, self.body, self.program = kernel.in_params, kernel.out_params, body, program
        self.types, self.kinds, self.ranks, self.reduced = types, kinds, ranks, reduced

    def _begun(self, result: str, place: str) -> tuple[Statements, list[Indexer]]:
        # A writer that knows what all of the texts may name.
        w = Statements(self.program, self.program.env)
        indexers = [
            Indexer("_in_ind", self.ranks[0], "np.int64(n * m)", place),
            Indexer("_out_ind", self.ranks[1], "np.int64(n)", result),
        ]
        scope: dict[str, Any] = {i.name: i for i in indexers}
        for p, d, kind in zip(self.ins, self.types, self.kinds, strict=False):
            scope.update(outside(p, d, kind) if kind is None or p.is_raw else {})
        w.scopes[0] |= scope | {"_i": Value(result, LONG)}
        w.depth += 1
        return w, indexers

    def _whole(
        self, name: str, more: str, w: Statements, indexers: list[Indexer], lines: list[str]
    ) -> tuple[str, tuple[str, ...]]:
        # The text of a kernel around the lines for one thread, and the further arguments that it takes.
        needs = tuple(sorted(n for n in w.needs if not n.endswith("_at")))
        names = ", ".join([*more.split(", "), *[p.name for p in self.ins], *needs])
        begin = ["    " + text for i in indexers for text in i.begin(w)]
        return f"@cuda.jit(cache=True)\ndef {self.name}_{name}({names}):\n" + "\n".join([*begin, *lines]) + "\n", needs

    def _combine(self, w: Statements, a: str, b: str) -> None:
        # `a = a combined with b`.
        body, d = self.body, self.reduced
        w.scopes.append({"a": Value(a, d), "b": Value(b, d)})
        v = body.writing("reduce_expr", lambda: converted(w.value(body.parts["reduce_expr"]), d, 1, True))
        w.scopes.pop()
        w.add(f"{a} = {w.kept('', v).text}")

    def _begin(self, w: Statements, otherwise: Any) -> None:
        body, d = self.body, self.reduced
        if "identity" in body.parts:
            node = read(self.identity or "0", body.macros, body.known).expression()
            v = body.writing("identity", lambda: converted(w.value(node), d, 1, True))
            w.add(f"a = {w.kept('', v).text if v.number is None or d in WIDE else stored(v)}")
        else:
            otherwise()

    def _mapped(self, w: Statements, indexer: Indexer) -> str:
        # The value of the element `k` of a result, whose elements follow each other from `start` on.
        w.add("place = k * n + result")
        scope: dict[str, Any] = {"i": Value("(start + k)", LONG), "_j": Value("place", LONG), "_J": Value("k", INT)}
        w.scopes.append(scope)
        for p, d, kind in zip(self.ins, self.types, self.kinds, strict=False):
            if kind == "array":
                own = w.fresh(p.name)
                w.add(f"{own} = {loaded(f'{p.name}[start + k]', d).text}")
                scope[p.name] = Value(own, d)
        body, d = self.body, self.reduced
        v, lines = w.apart(
            lambda: body.writing("map_expr", lambda: converted(w.value(body.parts["map_expr"]), d, 1, True))
        )
        for text in indexer.enter(w):
            w.add(text)
        w.lines += lines
        w.scopes.pop()
        return w.kept("", v).text

    def first(self) -> tuple[str, tuple[str, ...]]:
        """The kernel that combines parts of the elements of each result, and what it takes beside the arguments."""
        w, indexers = self._begun("result", "place")
        w.depth -= 1
        w.add(_THREAD)
        w.add("if t < n * width:")
        w.depth += 1
        w.add("result = t // width")
        w.add("start = result * m")
        w.add("k = t % width")
        w.add(f"a = {loaded('partial[t]', self.reduced).text}")

        def of_first() -> None:
            w.add("if k < m:")
            w.depth += 1
            w.add(f"a = {self._mapped(w, indexers[0])}")
            w.depth -= 1
            w.add("k += width")

        self._begin(w, of_first)
        w.add("while k < m:")
        w.depth += 1
        w.add(f"b = {self._mapped(w, indexers[0])}")
        self._combine(w, "a", "b")
        w.add("k += width")
        w.depth -= 1
        w.add(f"partial[t] = {stored(Value('a', self.reduced))}")
        return self._whole("parts", "n, m, width, partial", w, indexers, w.lines)

    def last(self) -> tuple[str, tuple[str, ...]]:
        """The kernel that combines the parts of each result, and what it takes beside the arguments."""
        w, indexers = self._begun("t", "t")
        w.depth -= 1
        w.add(_THREAD)
        w.add("if t < n:")
        w.depth += 1
        w.add(f"a = {loaded('partial[t * width]', self.reduced).text}")
        w.add("k = 1")
        w.add("while k < parts:")
        w.depth += 1
        w.add(f"b = {loaded('partial[t * width + k]', self.reduced).text}")
        self._combine(w, "a", "b")
        w.add("k += 1")
        w.depth -= 1
        scope: dict[str, Any] = {"a": Value("a", self.reduced, is_variable=True, base="=a"), "i": Value("t", LONG)}
        for p, d in zip(self.outs, self.types[len(self.ins) :], strict=True):
            scope[p.name] = Value("t", d, base=p.name, is_element=True)
        w.scopes.append(scope)
        body = self.body
        _, lines = w.apart(lambda: body.writing("post_map_expr", lambda: w.statement(body.parts["post_map_expr"])))
        for text in indexers[1].enter(w):
            w.add(text)
        w.lines += lines
        names = ", ".join(["n, m, parts, width, partial", *[p.name for p in self.outs]])
        return self._whole("whole", names, w, indexers, w.lines)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    return tuple(sorted(axes_of(tuple(axis) if isinstance(axis, list) else axis, ndim)))


__all__ = ["ReductionKernel"]
