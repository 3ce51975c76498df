"""`functools.reduce` and `functools.partial` in compiled code; `test_functools_cache.py` has `cache`."""

from __future__ import annotations

import functools
import operator
from functools import partial, reduce

import numpy as np
import pytest

from lancehead import njit
from lancehead.errors import NumbaError

ITEMS = [np.arange(1, 9), np.linspace(0.5, 3, 7), [3, 1, 2], (4, 5), (2.5, 1.5, 0.5)]


@pytest.mark.parametrize("items", ITEMS, ids=lambda x: type(x).__name__)
def test_as_in_python(items):
    def total(x):
        return reduce(operator.add, x), reduce(lambda a, b: a * 2 - b, x, 10), reduce(min, x, 2.0)

    np.testing.assert_allclose(njit(total)(items), total(items))


def test_nothing_to_reduce():
    def with_start(x):
        return reduce(operator.mul, x, 7)

    def without(x):
        return reduce(operator.mul, x)

    assert njit(with_start)(np.zeros(0)) == 7.0
    with pytest.raises(TypeError, match="empty iterable with no initial value"):
        njit(without)(np.zeros(0))


def weighted(a, b=2, c=3):
    return a + 10 * b + 100 * c


def same(f, *args):
    got, wanted = njit(f)(*args), f(*args)
    assert got == wanted and type(got) is type(wanted)


def test_partial_in_compiled_code():
    def positions(x):
        return partial(weighted, x)(4), partial(weighted)(x), partial(weighted, x, 1, 2)()

    def names(x):
        by_name = partial(weighted, c=x)
        return by_name(1), by_name(1, c=7), by_name(b=3, a=x), partial(weighted, x, c=2)(b=5)

    def nested(x):
        inner = partial(partial(weighted, x, c=1), 5)
        return inner(), inner(c=x)

    def builtins(x):
        return partial(pow, 2)(x), partial(int)(x * 1.5), list(map(partial(operator.mul, 3), [1, 2, x]))

    def texts(x):
        join = partial("-".join)
        return join(["a", "b"] * x)

    for f in (positions, names, nested, builtins):
        same(f, 3)
    with pytest.raises(NumbaError):
        njit(texts)("x")


def test_partial_is_passed_stored_and_returned():
    @njit
    def apply(f, x):
        return f(x)

    def make(k):
        return partial(weighted, k, c=k)

    def passed(x):
        return apply(partial(weighted, x), 4) + apply(lambda y: partial(weighted, y)(x), 2)

    def stored(x):
        both = (partial(weighted, x), partial(weighted, b=x))
        chosen = both[0] if x > 2 else both[1]
        return both[0](1), both[1](1), chosen(5)

    def returned(x):
        return make(x)(2)

    for f in (passed, stored, returned):
        for x in (1, 3):
            same(f, x)


def test_partial_from_python():
    plain, jitted = partial(weighted, 1, c=5), partial(njit(weighted), b=3)
    over = partial(plain, c=1)
    data = partial(lambda w, t, x: (w * x).sum() + t[0], np.arange(3.0), (1, 2))

    def captured(x):
        return plain(x), plain(x, c=x), jitted(x), over(x), data(x)

    same(captured, 4)

    @njit
    def apply(f, x):
        return f(x)

    for f in (plain, jitted, over, data, partial(weighted, 2.5), partial(max, 3)):
        assert apply(f, 4) == f(4)


def test_partial_is_never_stale():
    p = partial(weighted, c=5)

    @njit
    def f(x):
        return p(x)

    assert f(1) == 521
    p.keywords["c"] = 6
    assert f(1) == 621
    old = weighted.__defaults__
    weighted.__defaults__ = (4, 3)
    try:
        assert f(1) == 641
    finally:
        weighted.__defaults__ = old


def test_partial_as_an_argument_is_guarded():
    def old(k, x):
        return k + x

    @njit
    def apply(f, x):
        return f(x)

    p = partial(old, 1)
    assert apply(p, 2) == 3
    old.__code__ = (lambda k, x: k * 100 + x).__code__
    assert apply(p, 2) == 102


def test_wrong_calls_of_partial():
    def too_many(x):
        return partial(weighted, 1, 2, 3)(x)

    def unknown(x):
        return partial(weighted, d=1)(x)

    def no_function(x):
        return partial(x, 1)(2)

    for f in (too_many, unknown, no_function):
        with pytest.raises(TypeError):
            f(1)
        with pytest.raises((TypeError, NumbaError)):
            njit(f)(1)


def test_keys_by_a_function_of_two():
    def backwards(x):
        return sorted(x, key=functools.cmp_to_key(lambda a, b: (b > a) - (b < a)))

    def pairs(n):
        def by_second(a, b):
            return a[1] - b[1] if a[1] != b[1] else -1 if a[0] < b[0] else 1

        xs = [("b", 2), ("a", 2), ("z", n)]
        xs.sort(key=functools.cmp_to_key(by_second))
        return xs, max(xs, key=functools.cmp_to_key(by_second)), min(xs, key=functools.cmp_to_key(by_second))

    def joined(xs):
        return "".join(sorted(xs, key=functools.cmp_to_key(lambda a, b: -1 if a + b > b + a else 1)))

    def compared(n):
        key = functools.cmp_to_key(lambda a, b: a - b)
        return key(n) < key(4), key(n) >= key(4), key(n) == key(n), key(n) != key(n + 1), key(n).obj

    same(backwards, [3, 1, 2])
    same(backwards, ["b", "abc", ""])
    for n in (0, 3):
        same(pairs, n)
        same(compared, n)
    same(joined, ["3", "30", "34", "5", "9"])
