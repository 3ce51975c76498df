"""Implicit operations of compiled code on values of a program's types: loops over them, conversions, printing.

Where a value of such a type stands, the compiler asks for overloads of the functions of this module and of `iter`. The
overloads that are registered for them choose among the code generators of the program.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any

from lancehead import _core, errors, extending, types
from lancehead.lowlevel import irtypes as ir
from lancehead.lowlevel.context import CASTS, TypingContext, blamed, is_of, recording, signature
from lancehead.lowlevel.recorder import Loop
from lancehead.lowlevel.registry import generator_for, recorded, typed_by_name
from lancehead.lowlevel.results import result_of
from lancehead.lowlevel.values import INT1, INT64, lowered


class RefType(enum.Enum):
    """Who owns the items of an iterator. The compiler counts references by itself."""

    NEW = 1
    BORROWED = 2
    UNTRACKED = 3


# Loops.


class _Step:
    """The result of a code generator of `iternext`: whether there is a next item, and the item."""

    def __init__(self, context: Any, builder: Any, of: Any) -> None:
        self._context, self._builder, self._of = context, builder, of
        self._recorder = builder.recorder
        self._valid = self._recorder.slot(INT1)
        self._item = self._recorder.slot(lowered(of))

    def set_valid(self, is_valid: Any = True) -> None:
        """Says whether there is an item."""
        value = ir.Constant(INT1, int(is_valid)) if isinstance(is_valid, (bool, int)) else is_valid
        self._builder.store(value, self._valid)

    def set_exhausted(self) -> None:
        """Says that there is no item."""
        self.set_valid(False)

    def is_valid(self) -> Any:
        """Whether there is an item, as said before."""
        return self._builder.load(self._valid)

    def yield_(self, value: Any) -> None:
        """Sets the item."""
        self._builder.store(self._builder.recorder.value(value), self._item)

    def yielded_value(self) -> Any:
        """The item that was set."""
        return self._builder.load(self._item)


def iternext_impl(ref_type: Any = None) -> Callable[[Any], Any]:
    """Decorates a code generator of `iternext`, which gets a result to fill as its last argument."""

    def decorate(generator: Any) -> Any:
        def filling(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            of = sig.return_type
            step = _Step(context, builder, of)
            generator(context, builder, sig, args, step)
            valid, item = step.is_valid(), step.yielded_value()
            return valid, builder.recorder.result(item, of)

        filling.__name__, filling.__qualname__ = generator.__name__, generator.__qualname__
        # Errors and lines are those of the program's function.
        filling.generator = generator  # type: ignore[attr-defined]
        return filling

    return decorate


def _first(iterator: Any, iterable: Any) -> Any:
    """The function that makes an iterator, and keeps the variables that it has the addresses of."""
    generator = generator_for("getiter", (iterable,))
    with recording("getiter", generator.__code__, [iterable]) as (context, builder), blamed(generator):
        r = builder.recorder
        made = generator(context, builder, signature(iterator, iterable), (r.args[0],))
        text = r.result(made, iterator)
        kept = "".join(f"{slot.text}_m, " for slot in r.slots if slot.is_memory)
        return r.finish(f"({text}, ({kept}))")


def _next(iterator: Any, item: Any) -> Any:
    """The function that gives whether there is an item, and the item."""
    filling = generator_for("iternext", (iterator,))
    if filling is None:
        raise errors.TypingError(f'no `lower_builtin("iternext", ...)` is for {iterator}')
    generator = getattr(filling, "generator", filling)
    with recording("iternext", generator.__code__, [iterator]) as (context, builder), blamed(generator):
        r = builder.recorder
        valid, text = filling(context, builder, signature(item, iterator), (r.args[0],))
        return r.finish(f"({valid.text}, {text})")


def _loop(of: Any) -> Any:
    """The generator over values of a type; None if the program says nothing of them."""
    has_first = generator_for("getiter", (of,)) is not None
    if has_first:
        typed = typed_by_name("getiter", of)
        iterator = of.iterator_type if typed is None else typed.return_type
    elif generator_for("iternext", (of,)) is not None:
        iterator = of
    else:
        return None
    step = _next(iterator, iterator.yield_type)
    if not has_first:

        def go_on(iterator: Any) -> Any:
            while True:
                found = step(iterator)
                if not found[0]:
                    return
                yield found[1]

        return go_on
    first = _first(iterator, of)

    def iterate(iterable: Any) -> Any:
        held = first(iterable)
        while True:
            found = step(held[0])
            if not found[0]:
                return
            yield found[1]

    return iterate


def call_len(context: Any, builder: Any, ty: Any, val: Any) -> Any:
    """The number of items of a value; None of one that has no length."""
    if result_of(len, (ty,), {}) is None:
        return None
    r = builder.recorder
    return r.let(f"prim.cast(len({r.result(val, ty)}), {builder._held(INT64)})", INT64)


class _ForIter:
    """A loop over the items of a value: the item, and a way out."""

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder, self.value = builder, value

    def do_break(self) -> None:
        """Leaves the loop."""
        self._builder.recorder.do("break")


def _first_item(items: Any) -> Any:
    return next(iter(items))


@contextlib.contextmanager
def for_iter(context: Any, builder: Any, iterable_type: Any, val: Any) -> Iterator[_ForIter]:
    """A loop over the items of a value."""
    of = result_of(_first_item, (iterable_type,), {})
    if of is None:
        raise TypeError(f"{iterable_type} has no items")
    r = builder.recorder
    name = r.fresh("x")
    made = Loop(f"for {name} in {r.result(val, iterable_type)}", r.line())
    r.items.append(made)
    r.loops += 1
    with r.inside(made.body):
        yield _ForIter(builder, r.argument(name, of))
    r.loops -= 1


# Conversions.


def converted(value: Any, to: Any) -> Any:
    """The value as one of the type of `to`."""


def as_number(value: Any, other: Any) -> Any:
    """The value as a number, beside another operand."""


def _cast(of: Any, to: Any) -> Any:
    """The function that converts a value of a type; None if no code generator does."""
    for source, target, generator in reversed(CASTS):
        if is_of(of, source) and is_of(to, target):
            with recording("cast", generator.__code__, [of]) as (context, builder), blamed(generator):
                r = builder.recorder
                return r.finish(r.result(generator(context, builder, of, to, r.args[0]), to))
    return None


def _converter(of: Any, to: Any) -> Any:
    cast = _cast(of, to)
    return None if cast is None else lambda value, to: cast(value)


def _number(of: Any, other: Any) -> Any:
    if of.kind != "Extension":
        return None
    beside = [_core.unliteral(other)] if isinstance(other, types.Number) else []
    for to in (*beside, types.int64, types.float64, types.complex128):
        if of.can_convert_to(TypingContext(), to) is not None:
            return _converter(of, to)
    return None


def returning(function: Any, of: Any, to: Any) -> Any:
    """The function around another one that converts its result; None if no code generator does."""
    cast = _cast(of, to)
    if cast is None:
        return None
    plain = getattr(function, "py_func", function)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    shown = ", ".join(names)
    made = eval(f"lambda {shown}: _cast(_function({shown}))", {"_cast": cast, "_function": function})
    made.__defaults__ = plain.__defaults__
    return made


# Printing.


def print_item(value: Any) -> None:
    """Prints a value, without what follows it."""


def _printer(of: Any) -> Any:
    generator = generator_for("print_item", (of,))
    return None if generator is None else recorded(generator, signature(types.none, of), (of,))


for _function, _choose in ((iter, _loop), (converted, _converter), (as_number, _number), (print_item, _printer)):
    extending.registering(_function, False, False, {})(_choose)


def changed() -> None:
    """Lets compiled code ask again, for what is compiled from now on."""
    for function in (iter, converted, as_number, print_item):
        extending.forget(function)
