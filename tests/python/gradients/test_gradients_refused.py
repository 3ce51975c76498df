"""Mistakes in calls of transformations are told in the program's words, near the program's line."""

from __future__ import annotations

import dataclasses
import inspect
import traceback

import numpy as np
import pytest

from lancehead import TypingError, gradients
from lancehead.gradients import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

MAKING = (grad, value_and_grad, jacfwd, jacrev, hessian, hvp)


def square(x):
    return x * x


def scaled(x, factor):
    return x * factor


def pair(x):
    return x, x * 2.0


def nothing(x):
    x * x


@dataclasses.dataclass
class Line:
    slope: float

    def at(self, x):
        return self.slope * x * x


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: jvp(square, 2.0, 1.0), r"write `jvp\(f, \(x,\), \(v,\)\)`"),
        (lambda: jvp(square, (2.0,), 1.0), r"write `jvp\(f, \(x,\), \(v,\)\)`"),
        (lambda: jvp(square, np.ones(1), np.ones(1)), r"write `jvp\(f, \(x,\), \(v,\)\)`"),
        (lambda: jvp(square, (2.0, 3.0), (1.0,)), "arguments: 2, but tangents: 1"),
        (lambda: jvp(3, (2.0,), (1.0,)), "^`jvp` takes a function, not `int`$"),
        (lambda: vjp(3, 2.0), "^`vjp` takes a function, not `int`$"),
        (lambda: linearize(3, 2.0), "^`linearize` takes a function, not `int`$"),
        (lambda: checkpoint(3), "^`checkpoint` takes a function, not `int`$"),
        (lambda: custom_vjp(3), "^`custom_vjp` takes a function, not `int`$"),
        (lambda: custom_jvp(square).defjvp(3), "^`defjvp` takes a function, not `int`$"),
        (lambda: custom_jvp(square).defjvp(), "^`defjvp` takes 1 function$"),
        (lambda: grad(Line), "^`grad` takes a function, not the class `Line`$"),
        (lambda: grad(lambda: 1.0), "`<lambda>` has no arguments, and so no derivative with respect to one"),
        (lambda: grad(scaled, (1, 0)), r"write argnums=\(0, 1\)"),
        (lambda: grad(scaled, (1, 1)), r"each once, not \(1, 1\)"),
        (lambda: grad(scaled, 2), "argument 2, counted from 0, but `scaled` has the arguments `x`, `factor`"),
        (lambda: grad(square)(2), "pass a float in place of an integer"),
        (lambda: grad(nothing)(2.0), "whose result is one float; this one has no `return`"),
        (lambda: hvp(nothing)(2.0, 1.0), "whose result is one float; this one has no `return`"),
        (lambda: jacfwd(nothing)(2.0), "whose result is an array or a number, not `None`"),
        (lambda: grad(pair)(2.0), "`tuple\\[float, float\\]`: return the float alone, or with `has_aux=True`"),
        (lambda: hvp(pair)(2.0, 1.0), "`tuple\\[float, float\\]`: return the float alone"),
        (lambda: grad(lambda x: "text")(2.0), "whose result is one float; this one gives `str`"),
        (lambda: vjp(pair, 2.0)[1](1.0), "is a tuple of as many parts, not `float`"),
        (lambda: vjp(square, 2.0)[1]((1.0,)), "the adjoint of `float` is one value"),
        (lambda: hvp(lambda x: (x * x).sum())(np.ones(3), 1.0), "a tangent has the shape of its argument"),
        (lambda: grad(custom_vjp(scaled))(2.0, 3.0), "the derivative of this function is not stated yet"),
    ],
)  # fmt: skip
def test_mistakes_say_what_to_write(call, text):
    with pytest.raises((TypeError, ValueError, TypingError), match=text) as caught:
        call()
    # The program's line is near the end, and no line of the package is there twice.
    own = [f for f in traceback.extract_tb(caught.tb) if f.filename.startswith(inspect.getfile(gradients)[:-12])]
    assert len(own) <= 4 and len({(f.filename, f.lineno) for f in own}) == len(own)


@pytest.mark.parametrize("make", MAKING)
def test_the_package_is_near_the_end_of_tracebacks_only(make):
    with pytest.raises(ValueError) as caught:
        make(square, "y")
    assert sum("gradients" in f.filename for f in traceback.extract_tb(caught.tb)[1:]) <= 1


def test_methods_are_functions_of_their_arguments():
    at = Line(3.0).at
    assert (grad(at)(2.0), grad(at, -1)(2.0)) == (12.0, 12.0)
    assert jvp(at, (2.0,), (1.0,)) == (12.0, 12.0)
    y, pull = vjp(at, 2.0)
    assert (y, pull(1.0)[-1]) == (12.0, 12.0)
    y, push = linearize(at, 2.0)
    assert (y, push(2.0)) == (12.0, 24.0)


@pytest.mark.parametrize("make", MAKING)
def test_help_explains_the_arguments(make):
    text = inspect.getdoc(make)
    for part in ("fun: ", "argnums: ", "by its name", "by keyword", ">>>"):
        assert part in text, part
    assert ("has_aux: " in text) == ("has_aux" in inspect.signature(make).parameters)
