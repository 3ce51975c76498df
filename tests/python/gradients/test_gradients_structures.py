"""Derivatives of programs with containers, objects, recursion and caught exceptions."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pytest

from differences import differences
from lancehead import njit
from lancehead.errors import TypingError
from lancehead.gradients import checkpoint, checkpoint_loop, grad, jvp, value_and_grad, vjp

X = np.linspace(0.2, 1.5, 6)


@dataclasses.dataclass
class Line:
    slope: float
    offset: float

    def loss(self, x):
        return np.sum((self.slope * x + self.offset) ** 2)


@dataclasses.dataclass(frozen=True)
class Layer:
    weights: np.ndarray
    bias: float
    size: int


class Pair(NamedTuple):
    a: float
    b: np.ndarray


def objects(x):
    s = 0.0
    for i in range(6):
        v = Line(x[i], x[0] * i)
        v.slope = v.slope * v.offset
        s += v.slope * v.slope + v.offset
    return s


def lists_of_lists(x):
    rows = []
    for i in range(6):
        row = []
        for j in range(i + 1):
            row.append(x[j] * x[i])
        rows.append(row)
    s = 0.0
    for row in rows:
        for v in row:
            s += v * v
    return s


def lists_of_arrays(x):
    s = 0.0
    for i in range(6):
        ys = [x * x[i], np.sin(x)]
        ys[0][1] = ys[1][2] * ys[0][0]
        s += np.sum(ys[0] * ys[1])
    return s


def swapped(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    for _ in range(5):
        a[0] = a[0] * b[1]
        a, b = b, a
    return sum(a) + sum(b) * 2


def stack(x):
    items = [x[0]]
    for i in range(1, 6):
        items.append(items[-1] * x[i])
        if i % 2 == 0:
            items.pop()
    return sum(items) * items[0]


def dictionaries(x):
    s = 0.0
    for i in range(6):
        d = {0: x[i], 1: x[i] * x[0]}
        d[2] = d[0] * d[1]
        d[0] = d[2] * d[2]
        s += d[0] + d[1] * d[2]
    return s


def grown_dictionary(x):
    d = {}
    for i in range(40):
        k = (i * 7) % 11
        d[k] = d.get(k, 1.0) * x[i % 6] + x[0]
    return d[3] * d[4] + sum(d.values())


def tree(a, b, n):
    if n < 2:
        return a * n + b
    return tree(a, b, n - 1) * 0.5 + tree(b, a, n - 2) * math.sin(a)


def even(x, n):
    return x if n == 0 else odd(x * 1.1, n - 1) * x


def odd(x, n):
    return x * x if n == 0 else math.sin(even(x, n - 1))


def halves(x, low, high):
    if high - low == 1:
        return x[low] * x[low], x[low]
    middle = (low + high) // 2
    a, b = halves(x, low, middle)
    c, d = halves(x, middle, high)
    return a * d + c, b + d * 0.5


def in_loop(x, n):
    if n == 0:
        return 0.0
    s = 0.0
    for i in range(n):
        s += x[i] * in_loop(x, i) + math.exp(x[i])
    return s


def recursive_tree(x):
    return tree(x[0], x[1], 7)


def mutual(x):
    return even(x[0], 6)


def recursive_pairs(x):
    a, b = halves(x, 0, 6)
    return a * b


def recursive_loop(x):
    return in_loop(x, 5)


def caught_in_loops(x):
    s = 0.0
    for i in range(6):
        try:
            s += x[i + 2] * x[i]
        except IndexError:
            s += math.log(x[i])
        for j in range(3):
            try:
                if j == i:
                    raise ValueError
                s += x[j] * s * 0.1
            except ValueError:
                break
    return s


def caught_around_a_loop(x):
    y = x.copy()
    try:
        for i in range(10):
            y[i] = y[i] * y[i]
    except IndexError:
        y[0] = y[1] * 3.0
    return np.sum(y * y)


def at_last(x):
    s = 1.0
    for i in range(6):
        try:
            if i % 2 == 1:
                raise ValueError("odd")
            s *= x[i]
        except ValueError:
            s += x[i] * i
            continue
        finally:
            s += 0.5 * x[0]
    return s


@njit
def halved(x, n):
    if n == 0:
        return x[0]
    x[n] = x[n] * x[n - 1]
    return halved(x, n - 1) * x[n]


def recursive_changes(x):
    y = x.copy()
    s = halved(y, 5) + y[2]
    for i in range(3):
        s += halved(y, 3) * y[i]
        y *= 0.5 + x[i]
    return s + halved(x, 4)


@njit
def fill(tree, k, x):
    if k < tree.shape[0]:
        tree[k] = np.sin(x[k % 6]) * (tree[(k - 1) // 2] if k > 0 else 1.0)
        fill(tree, 2 * k + 1, x)
        fill(tree, 2 * k + 2, x)


def filled_tree(x):
    tree = np.zeros(13)
    fill(tree, 0, x)
    return np.sum(tree * tree) + tree[5] * x[2]


@njit
def transform(a, b):
    n = a.shape[0]
    if n > 1:
        h = n // 2
        for part in (a, b):
            even, odd = part[::2].copy(), part[1::2].copy()
            part[:h] = even
            part[h:] = odd
        transform(a[:h], b[:h])
        transform(a[h:], b[h:])
        for k in range(h):
            c, s = np.cos(2 * np.pi * k / n), -np.sin(2 * np.pi * k / n)
            p, q = c * a[h + k] - s * b[h + k], c * b[h + k] + s * a[h + k]
            a[h + k], b[h + k] = a[k] - p, b[k] - q
            a[k], b[k] = a[k] + p, b[k] + q


def spectrum(x):
    a, b = np.zeros(8), np.zeros(8)
    a[:6] = x
    transform(a, b)
    s = 0.0
    for k in range(8):
        s += (a[k] ** 2 + b[k] ** 2) ** 2 * (k + 1) + a[k] * b[k]
    return s


@njit
def quicksort(a, order, lo, hi):
    if lo < hi:
        p, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                order[i], order[j] = order[j], order[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        order[i], order[hi] = order[hi], order[i]
        quicksort(a, order, lo, i - 1)
        quicksort(a, order, i + 1, hi)


def in_order(x):
    y, order = np.sin(x * 7), np.arange(6)
    quicksort(y, order, 0, 5)
    s = 0.0
    for i in range(6):
        s += y[i] * (i + 1) * x[order[i]]
    return s


@njit
def overlap(a, b, n):
    if n > 0:
        a[0] = a[1] * b[0]
        b[1] = b[1] + a[0] * a[0]
        overlap(a, b, n - 1)
        a[0] = a[0] * b[0]


def overlapping_views(x):
    y = x.copy()
    overlap(y[1:], y[:4], 3)
    return np.sum(y * y)


@njit
def descend(both, n):
    a, b = both
    if n > 0:
        a[n] = b[n] * a[n - 1]
        ascend(both, n - 1)
        b[n] = a[n] + b[n - 1] * a[0]


@njit
def ascend(both, n):
    a, b = both
    b[n] *= a[n]
    if n > 0:
        descend(both, n - 1)


def in_turn(x):
    a, b = x.copy(), x * 2
    descend((a, b), 5)
    return np.sum(a * b)


def closed_gaps(x):
    d = {}
    for i in range(6):
        d[i] = x[i]
    del d[2]
    for i in range(6, 30):
        d[i] = x[i % 6] * d[i - 3 if i > 8 else 0]
    return sum(d.values())


def closed_gaps_of_texts(x):
    d = {"a": x[0], "b": x[1] * x[0], "c": x[2]}
    del d["b"]
    for i in range(20):
        d[str(i)] = d["c"] * x[i % 6]
        d["c"] += d["a"] * d[str(i)] * 0.1
        if i % 3 == 0:
            d.pop(str(i))
    s = 0.0
    for v in d.values():
        s = s * 0.7 + v * v
    return s


def closed_gaps_of_arrays(x):
    d = {}
    for i in range(40):
        d[i] = x * x[i % 6]
        if i > 2:
            e = d.pop(i - 2)
            d[i] = d[i] + e * 0.5
    s = 0.0
    for v in d.values():
        s += np.sum(v * v)
    return s


PROGRAMS = [
    objects, lists_of_lists, lists_of_arrays, swapped, stack, dictionaries, grown_dictionary, recursive_tree, mutual,
    recursive_pairs, recursive_loop, caught_in_loops, caught_around_a_loop, at_last, recursive_changes, filled_tree,
    spectrum, in_order, overlapping_views, in_turn, closed_gaps, closed_gaps_of_texts, closed_gaps_of_arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    expected = differences(f, X)
    given, left = X.copy(), X.copy()
    value, found = value_and_grad(f)(given)
    assert value == pytest.approx(f(left), rel=1e-12)
    # Arrays that calls are run again for are left as the function itself leaves them.
    np.testing.assert_allclose(given, left, rtol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
    along = np.random.default_rng(0).normal(size=6)
    assert jvp(f, (X.copy(),), (along,))[1] == pytest.approx(np.sum(found * along), rel=1e-9)


def test_arguments_are_structures():
    line = grad(lambda m, x: m.loss(x))(Line(2.0, 1.0), X)
    both = 2 * (2.0 * X + 1.0)
    assert isinstance(line, Line)
    assert (line.slope, line.offset) == pytest.approx((np.sum(both * X), np.sum(both)))
    layer = grad(lambda p: np.sum(p.weights * p.weights) * p.bias * p.size)(Layer(X, 3.0, 2))
    assert isinstance(layer, Layer) and layer.size == 2
    np.testing.assert_allclose(layer.weights, 12 * X)
    assert layer.bias == pytest.approx(2 * np.sum(X * X))
    pair = grad(lambda t: t.a * np.sum(t.b))(Pair(2.0, X))
    assert pair.a == pytest.approx(np.sum(X)) and pair.b.tolist() == [2.0] * 6
    assert grad(lambda xs: xs[0] * xs[1] + xs[2])([2.0, 3.0, 5.0]) == [3.0, 2.0, 1.0]
    arrays = grad(lambda xs: np.sum(xs[0] * 2.0) + np.sum(xs[1] * xs[1]))([X, X[:2]])
    assert arrays[0].tolist() == [2.0] * 6 and arrays[1].tolist() == (2 * X[:2]).tolist()
    assert grad(lambda d: d["a"] * d["b"] + d["a"])({"a": 2.0, "b": 5.0}) == {"a": 6.0, "b": 2.0}
    nested = grad(lambda d: np.sum(d["w"][0] * d["w"][1]))({"w": [X, X * 2.0]})
    assert nested["w"][0].tolist() == (2 * X).tolist() and nested["w"][1].tolist() == X.tolist()
    assert grad(lambda x, y: x * x if y is None else x * y, (0,))(2.0, None) == (4.0,)


def test_results_are_structures():
    y, pull = vjp(lambda x: Line(x * x, 3.0 * x), 2.0)
    assert (y.slope, y.offset) == (4.0, 6.0) and pull(Line(1.0, 10.0)) == (34.0,)
    _, pull = vjp(lambda x: [x * x, x * x * x], 2.0)
    assert pull([1.0, 1.0]) == (16.0,)


def test_captured_values_have_derivatives():
    def once(x, w):
        return checkpoint(lambda y: y * y * w)(x)

    def often(x, w):
        def step(i, y):
            return y * w[i]

        return np.sum(checkpoint_loop(step, x, 3))

    assert grad(once, (0, 1))(2.0, 3.0) == (12.0, 4.0)
    x, w = grad(often, (0, 1))(np.arange(2.0), np.array([1.0, 2.0, 3.0]))
    assert x.tolist() == [6, 6] and w.tolist() == [6, 3, 2]


@pytest.mark.parametrize("slots", [0, 1, 2, 3, 7, 50])
@pytest.mark.parametrize("steps", [0, 1, 2, 37])
def test_long_loops(steps, slots):
    def run(u, k, steps, slots):
        def step(i, u, k):
            v = u.copy()
            for j in range(1, u.shape[0] - 1):
                v[j] += k * (u[j - 1] - 2 * u[j] + u[j + 1]) * u[j]
            return v

        u = checkpoint_loop(step, u, steps, slots, (k,))
        return np.sum(u * u)

    def plain(u, k, steps, slots):
        for _ in range(steps):
            v = u.copy()
            for j in range(1, u.shape[0] - 1):
                v[j] += k * (u[j - 1] - 2 * u[j] + u[j + 1]) * u[j]
            u = v
        return np.sum(u * u)

    u = np.sin(np.linspace(0, 3, 12))
    found, expected = LONG(run)(u, 0.1, steps, slots), LONG(plain)(u, 0.1, steps, slots)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == pytest.approx(expected[1], rel=1e-12)


_LONG = {}


def LONG(f):
    """The derivative of one of the functions above, which is compiled once."""
    return _LONG.setdefault(f.__name__, grad(f, (0, 1)))


def test_few_steps_are_repeated():
    counts = np.zeros(1, np.int64)

    def total(x, counts, steps, slots):
        def step(i, y, counts):
            counts[0] += 1
            return y * 1.01

        return checkpoint_loop(step, x, steps, slots, (counts,))

    f = grad(total)
    for steps, slots, repeats in [(10, 10, 1), (66, 10, 2), (286, 10, 3), (5, 1, 4)]:
        counts[:] = 0
        assert f(1.0, counts, steps, slots) == pytest.approx(1.01**steps)
        # The program's own run, the runs of steps that are taken back, and at most so many more of each.
        assert counts[0] <= steps * 2 + steps * repeats
    # The binomial number: C(10 + 2, 2) steps need at most two more runs.
    assert math.comb(12, 2) == 66


def test_numbers_in_exceptions_are_refused():
    def f(x):
        try:
            raise ValueError(x * x)
        except ValueError as e:
            return e.args[0] * 1.0

    with pytest.raises(TypingError, match="a number that an exception carries"):
        grad(f)(2.0)


def test_second_derivatives_of_recursion():
    def horner(c, x, k):
        return 0.0 if k == c.shape[0] else c[k] + x * horner(c, x, k + 1)

    c = np.array([1.0, 2.0, 3.0, 4.0])
    second = grad(grad(lambda x, c: horner(c, x, 0)))
    assert second(2.0, c) == pytest.approx(54.0)


def test_transformations_in_compiled_code():
    @njit
    def all_of_them(x, w):
        cubes = grad(lambda y: y**3 * w)(x)
        twice = grad(grad(lambda y: y**3))(x)
        value, other = value_and_grad(lambda a, b: a * b, 1)(x, 5.0)
        return cubes, twice, value, other

    assert all_of_them(2.0, 3.0) == (36.0, 12.0, 10.0, 2.0)
    assert grad(lambda x, w: all_of_them(x, w)[0], (0, 1))(2.0, 3.0) == (36.0, 12.0)


def test_captured_variables_by_name():
    w, k = np.array([1.0, 2.0, 3.0]), 2.0

    def f(x, n=3):
        s = 0.0
        for i in range(n):
            s += w[i] * x * k
        return s * s

    by_weights = grad(f, "w")
    assert by_weights(2.0).tolist() == [192.0] * 3 and grad(f, "k")(2.0) == 576.0
    weights, x = grad(f, ("w", "x"))(2.0)
    assert weights.tolist() == [192.0] * 3 and x == 576.0
    # The value is that at the call.
    w[0] = 5.0
    assert by_weights(2.0).tolist() == [320.0] * 3
    with pytest.raises(ValueError, match="comes first"):
        grad(f, ("x", "w"))


def test_methods():
    line = Line(2.0, 1.0)
    both = 2 * (2.0 * X + 1.0)
    np.testing.assert_allclose(grad(line.loss)(X), both * 2.0)
    np.testing.assert_allclose(grad(line.loss, "x")(X), both * 2.0)
    assert grad(line.loss, "self")(X).offset == pytest.approx(np.sum(both))


@dataclasses.dataclass
class Maybe:
    a: float | None
    b: float


def test_optionals():
    def field(x):
        m = Maybe(None, x[0])
        if x[1] > 0:
            m.a = x[1] * 3
        s = m.b
        if m.a is not None:
            s += m.a * m.a
        return s

    def items(x):
        s = 0.0
        for v in [x[0], None, x[2]]:
            if v is not None:
                s += v * v
        return s

    def variable(x):
        y = None
        for i in range(6):
            if i == 3:
                y = x[i] * x[0]
        return 1.0 if y is None else y * y

    for f in (field, items, variable):
        np.testing.assert_allclose(grad(f)(X.copy()), differences(f, X), atol=1e-7)

    def loss(m):
        return m.b * 2 if m.a is None else m.a * m.b

    assert grad(loss)(Maybe(3.0, 4.0)) == Maybe(4.0, 3.0)
    assert grad(loss)(Maybe(None, 4.0)) == Maybe(None, 2.0)
