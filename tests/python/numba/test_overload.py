"""`lancehead.extending`: functions that choose what compiled code runs for a function, a method or an attribute."""

import numpy as np
import pytest

from cache_programs import Project
from lancehead import cuda, njit, types
from lancehead.errors import NonexistentTargetError, TypingError
from lancehead.extending import overload, overload_attribute, overload_method


def test_chosen_by_types_in_order():
    def kind(x): ...

    @overload(kind)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: "an integer"

    @overload(kind)
    def _(x):
        if isinstance(x, (types.Integer, types.Float)):
            return lambda x: "a number"
        if isinstance(x, types.Array) and x.dtype == types.float64:
            return lambda x: f"{x.ndim}-d"

    f = njit(lambda x: kind(x))
    assert (f(1), f(1.5), f(np.ones((2, 2)))) == ("an integer", "a number", "2-d")
    with pytest.raises(TypingError, match=r"no overload of `kind` is for \(unicode_type\)"):
        f("text")


def test_names_and_defaults():
    seen = []

    def g(x, y=5, *, z=6): ...

    @overload(g)
    def _(x, y=5, *, z=6):
        seen.append((y, z))
        return lambda x, y=5, *, z=6: (x, y, z)

    assert njit(lambda a: (g(a), g(a, 2.5), g(a, z=a), g(z=1, x=a, y=2)))(9) == (
        (9, 5, 6),
        (9, 2.5, 6),
        (9, 5, 9),
        (9, 2, 1),
    )
    # The overload's own defaults stand for what is not given, and it runs once for each combination of types.
    assert seen == [(5, 6), (types.float64, 6), (5, types.int64), (types.int64, types.int64)]


def test_functions_and_several_arguments_as_arguments():
    def apply(f, *args): ...

    @overload(apply)
    def _(f, *args):
        if len(args) == 1:
            return lambda f, *args: f(*args)
        return lambda f, *args: f(f(args[0])) + args[1]

    @njit
    def use(x, y):
        def inner(v):
            return v * 10 + y

        return apply(inner, x), apply(inner, x, y)

    assert use(1, 2) == (12, 124)


def test_literal_types_when_the_types_alone_are_not_enough():
    def power(x, n): ...

    @overload(power)
    def _(x, n):
        if isinstance(n, types.IntegerLiteral):
            exponent = n.literal_value
            return lambda x, n: f"the {exponent}th of {x}"

    def first(x): ...

    @overload(first, prefer_literal=True)
    def _(x):
        name = "literal" if isinstance(x, types.Literal) else "type"
        return lambda x: name

    def later(x): ...

    @overload(later)
    def _(x):
        name = "literal" if isinstance(x, types.Literal) else "type"
        return lambda x: name

    assert njit(lambda x: power(x, 3))(2) == "the 3th of 2"
    with pytest.raises(TypingError, match="no overload of `power`"):
        njit(lambda x, n: power(x, n))(2, 3)
    assert njit(lambda x: (first("a"), first(True), first(x), later(1)))(1) == ("literal", "literal", "type", "type")


def test_values_of_the_overload_are_constants():
    def flip(x): ...

    @overload(flip)
    def _(x):
        is_tuple = isinstance(x, types.BaseTuple)

        def chosen(x):
            return x[::-1] if is_tuple else -x

        return chosen

    assert njit(lambda: (flip((1, 2.5)), flip(3)))() == ((2.5, 1), -3)


def test_errors_of_overloads_are_said():
    def f(x): ...

    @overload(f)
    def _(x):
        raise TypingError("only on Sundays")

    with pytest.raises(
        TypingError, match=r"no overload of `f` is for \(int64\)(?s:.*)help: TypingError: only on Sundays"
    ):
        njit(lambda x: f(x))(1)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda x, b=1: x, "argument names"),
        (lambda a, b=2: a, "keyword argument default values"),
        (lambda a, c=1: a, "keyword argument names"),
        (lambda a, **more: a, "VAR_KEYWORD"),
    ],
)
def test_parameters_must_agree(made, message):
    def f(a, b=1): ...

    overload(f)(lambda a, b=1: made)
    with pytest.raises(TypingError, match=message):
        njit(lambda x: f(x))(1)

    def g(a, b=1): ...

    overload(g, strict=False)(lambda a, b=1: made)
    assert njit(lambda x: g(x))(1) == 1


def test_defaults_that_are_equal_agree():
    def f(a, lower=False): ...

    @overload(f)
    def _(a, lower=0):
        return lambda a, lower=False: (a, lower)

    assert njit(lambda x: f(x))(1) == (1, 0)


def test_methods_and_attributes():
    @overload_method(types.Array, "plus_first")
    def _(array, more=10):
        return lambda array, more=10: array[0] + more

    @overload_attribute(types.Array, "first_and_last")
    def _(array):
        if array.ndim == 1:
            return lambda array: (array[0], array[-1])

    @overload_attribute(types.unicode_type, "shout")
    def _(text):
        return lambda text: text + "!"

    @njit
    def f(a, text):
        method = a.plus_first
        return a.plus_first(), a.plus_first(20), a.plus_first(more=30), method(1), a.first_and_last, text.shout

    assert f(np.arange(3, 6), "hey") == (13, 23, 33, 4, (3, 5), "hey!")
    with pytest.raises(TypingError, match="has no attribute `first_and_last`"):
        f(np.ones((2, 2)), "")
    with pytest.raises(TypingError, match="has no attribute `plus_first`"):
        njit(lambda x: x.plus_first())(1)


def test_targets():
    def where(x): ...

    def only_there(x): ...

    overload(where, target="cpu")(lambda x: lambda x: x + 1)
    overload(where)(lambda x: lambda x: x + 2)
    overload(where, target="cuda")(lambda x: lambda x: x + 3)
    overload(only_there, target="cuda")(lambda x: lambda x: x * 7)

    @cuda.jit
    def kernel(out):
        out[0], out[1] = where(10), only_there(3)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [13, 21]
    assert njit(lambda: where(10))() == 11
    with pytest.raises(TypingError, match="no overload of `only_there`"):
        njit(lambda: only_there(1))()
    with pytest.raises(NonexistentTargetError):
        overload(where, target="abacus")


def test_functions_of_numpy_keep_their_meaning():
    overload(np.linalg.norm)(lambda x: (lambda x: len(x)) if isinstance(x, types.UnicodeType) else None)
    # An overload that does not compile leaves NumPy's own meaning.
    overload(np.hypot)(lambda x, y: lambda x, y: no_such_name)  # noqa: F821
    assert njit(lambda text, a: (np.linalg.norm(text), np.linalg.norm(a), np.hypot(a[0], a[0])))("abc", np.ones(4)) == (
        3,
        2.0,
        2**0.5,
    )


def test_recursion_through_the_overload():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    overload(factorial)(lambda n: factorial)
    assert njit(lambda n: factorial(n))(10) == 3628800


HELPER = """from lancehead import types
from lancehead.extending import overload, overload_method
K = 2
def g(x): ...
@overload(g)
def of_g(x):
    L = 10
    if isinstance(x, types.Integer): return lambda x: x * K + L
@overload_method(types.Tuple, "m")
def m(t): return lambda t: t[0] + 1
"""


def test_entries_of_the_cache_know_what_was_chosen(tmp_path):
    project = Project(tmp_path)
    project.write("helper.py", HELPER)
    project.write("m.py", "import helper\n@njit(cache=True)\ndef f(x): return helper.g(x) + (x, 1.5).m()\n")
    call = "import m; tell(m.f, 10)"
    for old, new, result in [
        ("", "", 41),
        ("K = 2", "K = 3", 51),
        ("L = 10", "L = 20", 61),
        ("x * K", "x - K", 38),
        ("t[0] + 1", "t[0] + 2", 39),
    ]:
        project.replace("helper.py", old, new)
        assert project.run(call) == [result, 0, 1]
        assert project.run(call) == [result, 1, 0]
