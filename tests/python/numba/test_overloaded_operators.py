"""Overloads of operators for operands that compiled code has itself: they are asked where it has nothing."""

import functools
import operator

import numpy as np
import pytest

from cache_programs import Project
from lancehead import errors, extending, njit, typed, types, vectorize
from lancehead.extending import overload


@pytest.fixture(autouse=True)
def forgotten():
    """Overloads of a test are those of that test."""
    before = {key: list(found) for key, found in extending.REGISTERED.items()}
    yield
    for key in [k for k in extending.REGISTERED if extending.REGISTERED[k] != before.get(k)]:
        extending.REGISTERED[key] = before.get(key, [])
        extending.forget(key)


def is_text(t):
    return isinstance(t, types.UnicodeType)


def is_int(t):
    return isinstance(t, types.Integer)


def add_texts():
    @overload(operator.add)
    def _(a, b):
        if is_text(a) and is_int(b):
            return lambda a, b: a + str(b)
        if is_int(a) and is_text(b):
            return lambda a, b: str(a) + b
        if is_int(a) and is_int(b):
            return lambda a, b: 0


def test_addition_where_there_was_none():
    add_texts()
    assert njit(lambda s, n: s + n)("x", 5) == "x5"
    assert njit(lambda s, n: n + s)("x", 5) == "5x"
    assert njit(lambda s, n: operator.add(s, n))("x", 5) == "x5"
    assert njit(lambda s: functools.reduce(operator.add, (s, 1, 2)))("x") == "x12"


def test_what_there_was_stays():
    add_texts()
    assert njit(lambda a, b: (a + b, operator.add(a, b)))(2, 3) == (5, 5)
    assert njit(lambda a, b: a + b)("a", "b") == "ab"
    np.testing.assert_array_equal(njit(lambda a: a + 1)(np.arange(3)), [1, 2, 3])
    with pytest.raises(errors.TypingError, match="not supported between `str` and `float`"):
        njit(lambda a, b: a + b)("a", 1.5)


def test_in_other_code():
    add_texts()

    @njit
    def numbered(words):
        for i, word in enumerate(words):
            yield word + i

    @njit
    def all_of(words):
        text = ""
        for n in range(3):
            text += n
        return [w for w in numbered(words)], text

    assert all_of(["a", "b"]) == (["a0", "b1"], "012")


def test_assignments_ask_for_their_own_function_first():
    @overload(operator.iadd)
    def _(a, b):
        if is_text(a) and is_int(b):
            return lambda a, b: a + "+=" + str(b)

    @njit
    def f(s, n):
        s += n
        return s

    assert f("x", 5) == "x+=5"
    add_texts()
    assert f("x", 5) == "x+=5" and njit(lambda s, n: s + n)("x", 5) == "x5"


BINARY = "sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor".split()
SIGNS = dict(zip(BINARY, "- * / // % ** @ << >> & | ^".split(), strict=True))


@pytest.mark.parametrize("name", [n for n in BINARY if n != "mod"])
def test_all_binary_operators(name):
    @overload(getattr(operator, name))
    def _(a, b):
        if is_text(a) and isinstance(b, types.Float):
            return lambda a, b: (a, b, name)

    f = njit(eval(f"lambda a, b: a {SIGNS[name]} b"))
    assert f("x", 1.5) == ("x", 1.5, name)
    assert njit(eval(f"lambda a, b: operator.{name}(a, b)"))("x", 2.5) == ("x", 2.5, name)


@pytest.mark.parametrize(("name", "sign"), [("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")])
def test_comparisons(name, sign):
    @overload(getattr(operator, name))
    def _(a, b):
        if is_text(a) and is_int(b):
            return lambda a, b: len(a) > b

    f = njit(eval(f"lambda a, b: a {sign} b"))
    assert [f("abc", n) for n in (2, 3)] == [True, False]
    assert njit(eval(f"lambda a, b: a {sign} b"))(1, 2) == eval(f"1 {sign} 2")


@pytest.mark.parametrize(("name", "sign"), [("neg", "-"), ("pos", "+"), ("invert", "~")])
def test_one_operand(name, sign):
    @overload(getattr(operator, name))
    def _(a):
        if is_text(a):
            return lambda a: a[::-1]

    assert njit(eval(f"lambda a: {sign}a"))("abc") == "cba"
    assert njit(eval(f"lambda a: {sign}a"))(3) == eval(f"{sign}3")


def test_items():
    @overload(operator.getitem)
    def _(a, b):
        if is_int(a) and is_int(b):
            return lambda a, b: (a >> b) & 1
        if is_int(a) and isinstance(b, types.UnicodeType):
            return lambda a, b: b + str(a)

    assert [njit(lambda a, i: a[i])(6, i) for i in range(3)] == [0, 1, 1]
    assert njit(lambda a: a["n"])(6) == "n6"
    assert njit(lambda a: a[1])((4, 5)) == 5

    @overload(operator.setitem)
    def _(a, k, x):
        if isinstance(a, types.UniTuple) and isinstance(x, types.Array):

            def store(a, k, x):
                x[k] = a[0]

            return store

    @njit
    def f(t, x):
        t[1] = x
        return x

    np.testing.assert_array_equal(f((7, 8), np.zeros(3)), [0, 7, 0])

    @overload(operator.delitem)
    def _(a, k):
        if isinstance(a, types.Array):

            def delete(a, k):
                a[k] = -1

            return delete

    @njit
    def g(a):
        del a[1]
        return a

    np.testing.assert_array_equal(g(np.arange(3)), [0, -1, 2])


def test_membership():
    @overload(operator.contains)
    def _(a, x):
        if is_int(a) and is_int(x):
            return lambda a, x: (a >> x) & 1

    f = njit(lambda x, a: (x in a, x not in a))
    assert [f(x, 5) for x in range(3)] == [(True, False), (False, True), (True, False)]
    assert njit(lambda x, a: x in a)(5, (4, 5)) is True


def test_overloads_are_asked_in_order():
    for text in ("first", "second"):

        @overload(operator.mul)
        def _(a, b, text=text):
            if is_text(a) and is_text(b):
                return lambda a, b, text=text: text

    assert njit(lambda a, b: a * b)("a", "b") == "first"


def test_in_ufuncs_and_in_parallel_loops():
    @overload(operator.getitem)
    def _(a, b):
        if is_int(a) and is_int(b):
            return lambda a, b: (a >> b) & 1

    np.testing.assert_array_equal(vectorize(lambda a: a[1])(np.arange(4)), [0, 0, 1, 1])

    @njit(parallel=True)
    def bits(a, i):
        out = np.empty_like(a)
        for k in range(a.size):
            out[k] = a[k][i]
        return out

    np.testing.assert_array_equal(bits(np.arange(4), 0), [0, 1, 0, 1])


def test_reasons_are_told():
    @overload(operator.sub)
    def _(a, b):
        if is_text(a):
            raise errors.TypingError("texts are not subtracted here")

    with pytest.raises(errors.TypingError, match="texts are not subtracted here"):
        njit(lambda a, b: a - b)("a", "b")


def test_from_the_cache(tmp_path):
    project = Project(tmp_path)
    project.write(
        "m.py",
        """
        import operator
        from lancehead import types
        from lancehead.extending import overload

        @overload(operator.neg)
        def back(a):
            if isinstance(a, types.UnicodeType):
                return lambda a: a[::-1]

        @njit(cache=True)
        def f(a):
            return -a
        """,
    )
    for hits in range(2):
        assert project.run("import m; tell(m.f, 'ab')")[:2] == ["ba", hits]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (typed.List([1]), (True, False, False)),
        (typed.Dict.empty(types.int64, types.int64), (False, True, False)),
        (typed.Set([1]), (False, False, True)),
        (5, (False, False, False)),
        ((1, 2), (False, False, False)),
        (np.ones(2), (False, False, False)),
        ("text", (False, False, False)),
        (None, (False, False, False)),
    ],
)
def test_classes_of_typed_containers(value, expected):
    def f(x):
        return isinstance(x, typed.List), isinstance(x, typed.Dict), isinstance(x, typed.Set)

    assert njit(f)(value) == expected
    assert njit(lambda x: isinstance(x, (int, typed.List)))(value) == (expected[0] or isinstance(value, int))
