"""`ElementwiseKernel`: kernels of bodies in C for the elements of arrays that broadcast."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lancehead.cuda.devicearray import DeviceNDArray
from lancehead.cuda.gpu import here
from lancehead.cupy import arguments, layout
from lancehead.cupy.c.carrays import Indexed, Indexer
from lancehead.cupy.c.parsing import Node
from lancehead.cupy.c.programs import Program, failed, module, read
from lancehead.cupy.c.statements import Statements
from lancehead.cupy.c.tokens import Failure
from lancehead.cupy.c.values import LONG, Value, loaded
from lancehead.cupy.c.writing import Loop, addressed, indexing, leaves_loop
from lancehead.cupy.cuda.stream import _STACKS
from lancehead.cupy.hosted import ARRAY as _ARRAY
from lancehead.cupy.hosted import array_of, wrap
from lancehead.cupy.raw import _stream, macros_of
from lancehead.options import near_members
from lancehead.xp import arrays as lazy
from lancehead.xp.graph import leaf

_SCALARS = (bool, int, float, complex, np.generic)


class Parameter(NamedTuple):
    """A parameter: its type or the letter of one, its name, whether it is `raw`, and constant."""

    type: Any
    name: str
    is_raw: bool
    is_constant: bool


def parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a text such as `"T x, raw int32 y"`; ValueError for one that is none."""
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        words = part.split()
        is_raw, is_constant = "raw" in words[:-2], "_non_const" not in words[:-2]
        if len(words) < 2 or not words[-1].isidentifier() or set(words[:-2]) - {"raw", "_non_const"}:
            raise Exception(f"Invalid parameter declaration: {part!r}")
        name = words[-2]
        if len(name) == 1 and name.isupper():
            of: Any = name
        else:
            try:
                of = np.dtype(name)
            except TypeError:
                raise TypeError(f"unknown type {name!r} in {part!r}") from None
        if words[-1] in ("n", "i") or words[-1].startswith("_"):
            raise ValueError(f"Can not use parameter name '{words[-1]}': it has a meaning in kernels")
        found.append(Parameter(of, words[-1], is_raw, is_constant))
    return tuple(found)


def checked_name(name: str) -> str:
    """The name of a kernel; ValueError for one that is no identifier."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"Invalid kernel name: {name!r}")
    return name


def resolved(params: Sequence[Parameter], given: Sequence[Any], known: dict[str, np.dtype[Any]]) -> dict[str, Any]:
    """The types of letters by arguments; TypeError for those that do not agree."""
    scalars = []
    for p, x in zip(params, given, strict=False):
        if isinstance(x, lazy.ndarray):
            if isinstance(p.type, str):
                if known.setdefault(p.type, x.dtype) != x.dtype:
                    raise TypeError(f"Type is mismatched. {p.name} {x.dtype} {known[p.type]} {p.type}")
            elif p.type != x.dtype:
                raise TypeError(f"Type is mismatched. {p.name} {x.dtype} {p.type}")
        elif isinstance(p.type, str):
            scalars.append((p, x))
    for p, x in scalars:
        dtype = np.asarray(x).dtype
        if p.type in known and isinstance(x, np.generic) and known[p.type] != dtype:
            raise TypeError(f"Type is mismatched. {p.name} {dtype} {known[p.type]} {p.type}")
        known.setdefault(p.type, dtype)
    return known


def argument(x: Any) -> Any:
    """An argument of a kernel: an array of the device or a number; TypeError for anything else."""
    if isinstance(x, (lazy.ndarray, *_SCALARS)):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        from lancehead.cupy import ufuncs

        return ufuncs.operand(x)
    raise TypeError(f"Unsupported type {type(x)}")


class Body:
    """The tree of a kernel's texts, which is written for types."""

    def __init__(self, preamble: str, parts: dict[str, str], name: str, options: Sequence[str], types: Sequence[str]):
        self.name, self.options = name, tuple(options)
        self.parts: dict[str, Node] = {}
        self.macros = macros_of(options)
        for part, text in {"preamble": preamble, **parts}.items():
            # A part's lines are those of its own text; macros are those of the preamble.
            source = text
            try:
                if part == "preamble":
                    parser = read(source, self.macros, types)
                    self.unit = parser.parse()
                    self.defines = "\n".join(re.findall(r"^[ \t]*#[ \t]*(?:define|undef)(?:.*\\\n)*.*$", text, re.M))
                    self.known = [*types, *self.unit.aliases]
                    self.templates, self.spaces = parser.templates, parser.spaces
                    continue
                before = self.defines.count("\n") + 1 if self.defines else 0
                text = f"{self.defines}\n{source}" if before else source
                parser = read(text, self.macros, self.known, self.spaces)
                parser.templates |= self.templates
                parser.unit = self.unit
                if part in ("map_expr", "reduce_expr"):
                    self.parts[part] = parser.expression()
                    if parser.now.kind != "end":
                        parser.expect(";")
                else:
                    self.parts[part] = parser.statements("")
            except Failure as e:
                e.line = max(e.line - (0 if part == "preamble" else before), 1)
                raise failed(e, source, f"{name}", options) from None
        self.sources = {"preamble": preamble, **parts}

    def writing(self, part: str, write: Any) -> Any:
        """The result of a function that writes a part; errors are at the part's lines."""
        try:
            return write()
        except Failure as e:
            source = self.sources[part]
            before = self.defines.count("\n") + 1 if self.defines else 0
            e.line = min(max(e.line - before, 1), source.count("\n") + 1)
            raise failed(e, source, self.name, self.options) from None


class Plan(NamedTuple):
    """A kernel for types, and which further arguments it takes."""

    kernel: Any
    shapes: tuple[str, ...]


@near_members
class ElementwiseKernel:
    """A kernel that computes elements of arrays by a body in C.

    >>> f = cupy.ElementwiseKernel("T x, T y", "T z", "z = x * x - y", "difference")
    >>> f(cupy.arange(3.0), 1.0)
    array([-1.,  0.,  3.])
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", reduce_dims: bool = True,
        preamble: str = "", no_return: bool = False, return_tuple: bool = False, doc: str = "", *,
        loop_prep: str = "", after_loop: str = "", options: Sequence[str] = (), i: Any = None, **others: Any,
    ) -> None:  # fmt: skip
        if others:
            raise TypeError(f"unexpected arguments: {', '.join(others)}")
        self.in_params, self.out_params = parameters(in_params), parameters(out_params)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.params = self.in_params + self.out_params
        self.name = self.__name__ = checked_name(name)
        names = [p.name for p in self.params]
        if len(set(names)) < len(names):
            raise ValueError("parameters have different names")
        self.operation, self.preamble, self.options = operation, preamble, tuple(options)
        self.no_return, self.return_tuple, self.reduce_dims = no_return, return_tuple, reduce_dims
        if doc:
            self.__doc__ = doc
        letters = sorted({p.type for p in self.params if isinstance(p.type, str)})
        parts = {"loop_prep": loop_prep, "operation": operation, "after_loop": after_loop}
        self._given = preamble, parts, letters
        #: Whether the text may ask for the indices of elements and the strides of arrays.
        self._asks_for_places = any(word in text for text in (preamble, *parts.values()) for word in ("_ind", "_raw_"))
        self._body: Body | None = None
        self._plans: dict[Any, Plan] = {}
        self._quick: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<ElementwiseKernel '{self.name}'>"

    @property
    def cached_codes(self) -> dict[Any, str]:
        """The texts of the kernels by the types of their arguments."""
        return {key: plan.kernel.__doc__ or "" for key, plan in self._plans.items()}

    @property
    def cached_code(self) -> str:
        """The text of the kernel, if there is one."""
        codes = self.cached_codes
        if len(codes) > 1:
            import warnings

            warnings.warn("The kernel has several texts; cached_codes has them all", stacklevel=2)
        return next(iter(codes.values()), "")

    def __call__(self, *args: Any, size: Any = None, stream: Any = None, block_size: int = 128, **others: Any) -> Any:
        """The outputs for arrays that broadcast.

        Raises TypeError for types that do not agree, ValueError for shapes.
        """
        if size is None and stream is None and block_size == 128 and not others and len(args) in (self.nin, self.nargs):
            found = self._at_once(args)
            if found is None and len(args) == self.nin and here.gpu is None and _STACKS.current is None:
                found = self._of_copies(args)
            if found is not None:
                return found
        if others:
            raise TypeError(f"Wrong arguments {others}")
        if block_size <= 0:
            raise ValueError(f"block_size must be positive, but given {block_size}")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with "
                f"outputs), but given {len(args)}."
            )
        given = [argument(x) for x in args]
        outs = given[self.nin :]
        if any(not isinstance(x, lazy.ndarray) for x in outs):
            raise TypeError("outputs are arrays of the device")
        known = resolved(self.params, [*given[: self.nin], *outs], {})
        shape = self._shape(given, size, outs)
        count = math.prod(shape)
        types = [known[p.type] if isinstance(p.type, str) else p.type for p in self.params if self._is_known(p, known)]
        if len(types) < len(self.params):
            raise TypeError(f"Output type of {self.name!r} is not known: give the outputs")
        made = outs or [self._new(p, shape, types[self.nin + k]) for k, p in enumerate(self.out_params)]
        self._launch([*given[: self.nin], *made], types, shape, count, bool(outs), stream, block_size)
        if self.no_return:
            return None
        return tuple(made) if self.nout != 1 or self.return_tuple else made[0]

    def _at_once(self, args: tuple[Any, ...]) -> Any:
        # The result for arrays of one shape that own their memory, and numbers of Python, of types that were there
        # before; None for others.
        key: list[Any] = [here.gpu]
        shape: tuple[int, ...] | None = None
        for x in args:
            if type(x) is _ARRAY[0] and x._view is None:
                node = x._node
                if shape is None:
                    shape = node.shape
                elif node.shape != shape:
                    return None
                key.append(node.dtype)
            elif type(x) in _PLAIN:
                key.append(type(x))
            else:
                return None
        if _STACKS.current is not None:
            return None
        node = None
        key.append(shape)
        quick = self._quick.get(tuple(key))
        if not shape or 0 in shape:
            return None
        if quick is None:
            if not self._can_be_quick:
                return None
            quick = self._first_of(args, tuple(key), shape)
            if quick is None:
                return None
        launch, count, convert, outs = quick
        values: list[Any] = []
        for x, c in zip(args, convert):
            if c is None:
                value = x._node.value
                # One axis of the CPU device is as the kernel takes it.
                if type(value) is not DeviceNDArray:
                    value = arguments.dense(x)
                elif len(shape) != 1:
                    value = arguments.on_cpu(value._data.reshape(-1))
                values.append(value)
            else:
                values.append(c(x))
        if len(args) > self.nin:
            made = list(args[self.nin :])
            values += [arguments.flat(arguments.memory(x, True)) for x in made]
        else:
            made = []
            for d in outs:
                value = arguments.new(shape, d)
                values.append(value if len(shape) == 1 else arguments.flat(value))
                made.append(array_of(leaf(value, layout.device())))
        launch(count, *values)
        return made[0] if len(made) == 1 else tuple(made)

    def _of_copies(self, args: tuple[Any, ...]) -> Any:
        # The same on the CPU device for arrays of several shapes and orders, of which the kernel gets dense copies.
        key: list[Any] = []
        for x in args:
            if type(x) is _ARRAY[0]:
                part = x._node if x._view is None else x._view.shadow
                key.append((part.dtype, part.shape))
            elif type(x) in _PLAIN:
                key.append(type(x))
            else:
                return None
        quick = self._quick.get(tuple(key))
        if quick is None:
            if not self._can_be_quick:
                return None
            arrays = [k[1] for k in key if type(k) is tuple]
            shape = np.broadcast_shapes(*arrays) if arrays else ()
            if not shape or 0 in shape:
                return None
            found = self._first_of(args, tuple(key), shape)
            if found is None:
                return None
            quick = self._quick[tuple(key)] = (*found, shape)
        launch, count, convert, outs, shape = quick
        values: list[Any] = []
        for x, c in zip(args, convert):
            value = c(x) if c is not None else _copied(x, shape, count)
            if value is None:
                return None
            values.append(value)
        made = []
        for d in outs:
            value = arguments.new(shape, d)
            values.append(arguments.flat(value))
            made.append(array_of(leaf(value, layout.device())))
        launch(count, *values)
        return made[0] if len(made) == 1 else tuple(made)

    @property
    def _can_be_quick(self) -> bool:
        if self.no_return or self.return_tuple or not self.nout or self._asks_for_places:
            return False
        return not any(p.is_raw or not p.is_constant for p in self.params)

    def _first_of(self, args: tuple[Any, ...], key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
        # The launch that `_at_once` reuses for these types and this shape; None if other arguments than arrays decide
        # the types.
        if not all(isinstance(x, lazy.ndarray) for x in args[self.nin :]):
            return None
        known = resolved(self.params, args, {})
        if not all(self._is_known(p, known) for p in self.params):
            return None
        types = [known[p.type] if isinstance(p.type, str) else p.type for p in self.params]
        given = args[: self.nin]
        count = math.prod(shape)
        kinds = [
            None if not isinstance(x, lazy.ndarray) else "one" if x.size == 1 and count != 1 else "array" for x in given
        ] + ["array"] * self.nout
        plan = self._plans.get((tuple(types), tuple(kinds), 0))
        if plan is None or plan.shapes:
            return None
        convert = [arguments.number(d) if k is None else None for k, d in zip(kinds, types)][: self.nin]
        if len(self._quick) == _MOST:
            self._quick.clear()
        found = self._quick[key] = plan.kernel[-(-count // 128), 128], count, convert, types[self.nin :]
        return found

    @staticmethod
    def _is_known(p: Parameter, known: dict[str, Any]) -> bool:
        return not isinstance(p.type, str) or p.type in known

    def _shape(self, given: list[Any], size: Any, outs: list[Any]) -> tuple[int, ...]:
        arrays = [x for p, x in zip(self.params, given, strict=False) if isinstance(x, lazy.ndarray) and not p.is_raw]
        if size is not None:
            if arrays:
                raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
            return tuple(size) if hasattr(size, "__iter__") else (int(size),)
        if not arrays:
            if not any(isinstance(x, lazy.ndarray) for x in given) and not any(p.is_raw for p in self.params):
                return ()
            raise ValueError("Loop size is undecided.")
        shape: tuple[int, ...] = np.broadcast_shapes(*[x.shape for x in arrays])
        for p, x in zip(self.out_params, outs, strict=False):
            if not p.is_raw and x.shape != shape:
                raise ValueError(f"Out shape is mismatched: {x.shape} is not {shape}")
        return shape

    def _new(self, p: Parameter, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        if p.is_raw and not shape:
            raise ValueError("Output array size is Undecided")
        return wrap(lazy.wrap(leaf(arguments.new(shape, dtype), layout.device())))

    def _launch(
        self, given: list[Any], types: list[Any], shape: tuple[int, ...], count: int, is_given: bool, stream: Any,
        block_size: int,
    ) -> None:  # fmt: skip
        kinds: list[Any] = []
        values: list[Any] = []
        back: list[tuple[Any, Any]] = []
        facts = _Layout(self.params, given, shape, self.reduce_dims)
        for k, (p, x, d) in enumerate(zip(self.params, given, types, strict=True)):
            is_out = k >= self.nin
            if not isinstance(x, lazy.ndarray):
                values.append(arguments.number(d)(x))
                kinds.append(None)
                continue
            if is_out:
                whole = x
                if x._view is not None:
                    # A dense copy, which goes back into the view.
                    whole = lazy.wrap(lazy.wrap(x.node()).node())
                    back.append((x, whole))
                values.append(arguments.flat(arguments.memory(whole, is_given)))
                kinds.append(raw_kind(x) if p.is_raw else "array")
                continue
            is_one = not p.is_raw and x.size == 1 and count != 1
            if not p.is_raw and not is_one and x.shape != shape:
                x = _broadcast(x, shape)
            values.append(arguments.dense(x, is_given))
            kinds.append(raw_kind(x) if p.is_raw else "one" if is_one else "array")
            if not p.is_constant:
                arguments.memory(x, True)
        rank = len(facts.shape) if self._asks_for_places else 0
        key = (tuple(types), tuple(kinds), rank)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._planned(types, kinds, rank)
        more = [facts.facts[name] for name in plan.shapes]
        if count:
            blocks = -(-count // block_size)
            if stream is None:
                plan.kernel[blocks, block_size](np.int64(count), *values, *more)
            else:
                plan.kernel[blocks, block_size, _stream(stream)](np.int64(count), *values, *more)
        for x, whole in back:
            x.write(lazy.wrap(whole.node()).node())

    def _planned(self, types: list[Any], kinds: list[Any], rank: int) -> Plan:
        preamble, parts, letters = self._given
        if self._body is None:
            self._body = Body(preamble, parts, self.name, self.options, letters)
        body = self._body
        env: dict[str, Any] = {p.type: d for p, d in zip(self.params, types, strict=True) if isinstance(p.type, str)}
        program = Program(body.unit, env)
        w = Statements(program, program.env)
        trees = list(body.parts.values())
        w.boxed, w.indices = addressed(trees), indexing(trees, set()) | {"i"}
        ind = Indexer("_ind", rank, "np.int64(n)", "i_1")
        w.scopes[0] |= {"_ind": ind, "n": Value("n", LONG)}
        for p, d, kind in zip(self.params, types, kinds, strict=True):
            w.scopes[0].update(outside(p, d, kind, rank))

        def write(part: str) -> list[str]:
            # Variables of `loop_prep` are those of the other parts, too.
            def statements() -> None:
                for s in body.parts[part].parts[0]:
                    w.statement(s)

            return w.apart(lambda: body.writing(part, statements))[1]

        prepared = write("loop_prep")
        w.count += 1
        w.scopes[0]["i"] = Value("i_1", LONG, is_variable=True, base="=i")
        _, lines = w.apart(lambda: self._write_element(body, w, types, kinds))
        after = write("after_loop")
        for line in ind.begin(w):
            w.add(line)
        w.lines += prepared
        w.add("i_1 = np.int64(cuda.blockIdx.x) * np.int64(cuda.blockDim.x) + np.int64(cuda.threadIdx.x)")
        w.add("if i_1 < n:")
        w.depth += 1
        for line in ind.enter(w):
            w.add(line)
        w.lines += lines
        w.add("pass")
        w.depth -= 1
        w.lines += after
        shapes = tuple(sorted(name for name in w.needs if not name.endswith("_at")))
        names = ", ".join(["n", *[p.name for p in self.params], *shapes])
        text = f"{program.text()}\n@cuda.jit(cache=True)\ndef {self.name}({names}):\n" + "\n".join(w.lines) + "\n"
        kernel = module(text)[self.name]
        kernel.__doc__ = text
        return Plan(kernel, shapes)

    def _write_element(self, body: Body, w: Statements, types: list[Any], kinds: list[Any]) -> None:
        # The statements of one element.
        w.depth += 1
        w.scopes.append({})
        for k, (p, d, kind) in enumerate(zip(self.params, types, kinds, strict=True)):
            self._declare(w, p, d, kind, k >= self.nin)
        operation = body.parts["operation"]
        leaves = leaves_loop(operation)
        if leaves:
            # `continue` leaves a loop of one round.
            w.add("while True:")
            w.depth += 1
            w.loops.append(Loop(["break"]))
        body.writing("operation", lambda: w.statement(operation))
        if leaves:
            w.add("break")
            w.loops.pop()
            w.depth -= 1
        w.scopes.pop()
        w.depth -= 1

    def _declare(self, w: Statements, p: Parameter, d: np.dtype[Any], kind: Any, is_out: bool) -> None:
        # Declares a parameter in the body.
        if p.is_raw or kind is None:
            return
        if is_out:
            w.add(f"{p.name}_at = i_1")
            w.scopes[-1][p.name] = Value(f"{p.name}_at", d, base=p.name, is_element=True)
            return
        own = w.fresh(p.name)
        place = "0" if kind == "one" else "i_1"
        w.add(f"{own} = {loaded(f'{p.name}[{place}]', d).text}")
        w.scopes[-1][p.name] = Value(own, d)


def _copied(x: Any, shape: tuple[int, ...], count: int) -> Any:
    # The elements of an array that is computed, in row-major order, as often as the shape has them.
    view = x._view
    value = (x if view is None else view.owner)._node.value
    if type(value) is not DeviceNDArray:
        return None
    part = value._data
    if view is not None:
        s = view.shadow
        part = np.ndarray(s.shape, s.dtype, part.reshape(-1), view.byte(), s.strides)
    if part.shape != shape and (part.size != 1 or count == 1):
        dense = np.empty(shape, part.dtype)
        dense[...] = part
        part = dense
    return arguments.on_cpu(part.reshape(-1))


def raw_kind(x: Any) -> Any:
    """The facts of a raw array that the text of a kernel depends on."""
    return "raw", x.ndim, is_dense(x.shape, x.strides, x.dtype.itemsize)


def _broadcast(x: lazy.ndarray, shape: tuple[int, ...]) -> lazy.ndarray:
    return lazy.ndarray.view(x, lambda a: np.broadcast_to(a, shape))


def outside(p: Parameter, d: np.dtype[Any], kind: Any, rank: int = 0) -> dict[str, Any]:
    """The names of a parameter outside of the loop over elements: numbers, and arrays as a whole."""
    if kind is None:
        return {p.name: Value(p.name, d)}
    if p.is_raw:
        ndim, is_dense = kind[1:]
        names = f"{p.name}_shape", f"{p.name}_strides", f"np.int64({p.name}.size)"
        return {p.name: Indexed(p.name, d, ndim, *names, is_contiguous=is_dense)}
    names = "_ind_shape", f"_raw_{p.name}_strides", "np.int64(n)"
    return {f"_raw_{p.name}": Indexed(p.name, d, rank, *names, is_one=kind == "one")}


class _Layout:
    """The extents and strides that kernels see, where CuPy joins axes that memory allows to be joined."""

    def __init__(self, params: Sequence[Parameter], given: Sequence[Any], shape: tuple[int, ...], joins: bool) -> None:
        self.facts: dict[str, tuple[int, ...]] = {}
        strides: dict[str, tuple[int, ...]] = {}
        apart = []
        for p, x in zip(params, given, strict=True):
            if not isinstance(x, lazy.ndarray):
                continue
            if p.is_raw:
                self.facts |= raw_facts(p.name, x)
                continue
            strides[p.name] = strides_of(x, shape)
            if not is_dense(shape, strides[p.name], x.dtype.itemsize):
                apart.append(strides[p.name])
        axes = joined_axes(shape, apart) if joins and strides else None
        self.shape = shape if axes is None else tuple(n for n, _ in axes)
        self.facts["_ind_shape"] = self.shape
        for name, s in strides.items():
            self.facts[f"_raw_{name}_strides"] = s if axes is None else tuple(s[k] for _, k in axes)


def raw_facts(name: str, x: Any) -> dict[str, tuple[int, ...]]:
    """The extents and strides of a raw array by the names that texts have for them."""
    return {f"{name}_shape": tuple(x.shape), f"{name}_strides": tuple(x.strides)}


def strides_of(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array that is broadcast."""
    before = len(shape) - x.ndim
    own = zip(x.shape, x.strides, shape[before:], strict=True)
    found = [0 if n == 1 != whole else int(s) for n, s, whole in own]
    return (*[0] * before, *found)


def is_dense(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether elements follow each other in row-major order."""
    step = itemsize
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and s != step:
            return False
        step *= n
    return True


def joined_axes(shape: tuple[int, ...], strides: Sequence[tuple[int, ...]]) -> list[tuple[int, int]] | None:
    """Extents and last axes of groups of axes that become one, for the strides of the arrays that are not dense.

    None if axes stay as they are.
    """
    ndim = len(shape)
    if ndim < 2 or ndim == 2 and strides:
        return None
    if not strides:
        return [(math.prod(shape), ndim - 1)]
    extents, groups, last = list(shape), [], -1
    for axis in range(ndim):
        if extents[axis] == 1:
            continue
        if last >= 0:
            if all(s[axis] * extents[axis] == s[last] for s in strides):
                extents[axis] *= extents[last]
            else:
                groups.append((extents[last], last))
        last = axis
    return [*groups, *([(extents[last], last)] if last >= 0 else [])]


_PLAIN = frozenset((bool, int, float, complex))
#: The most shapes and types of a kernel's arguments whose launches are kept.
_MOST = 256


__all__ = [
    "Body", "ElementwiseKernel", "argument", "checked_name", "is_dense", "joined_axes", "outside", "parameters",
    "raw_facts", "raw_kind", "resolved", "strides_of",
]  # fmt: skip
