"""Functions whose code objects are recorded by ../record.py and translated by the tests."""


def add(x, y):
    return x + y


def expressions(a, b):
    c = -a * b // 2 - (a ** b) % 3
    d = a < b <= c and not a == b or c is None
    e = a if d else b
    (x, y), z = (e, c), a[1:2, ..., ::b]
    x, y = y, x
    a[0], b = b, a[b]
    a[x] += 1
    a.real = e.imag
    del a[0]
    return (x @ y) << 1 | ~z & 3 ^ 1, 1.5, 2j, "text", b"bytes", 340282366920938463463374607431768211456000


def slices(a, i):
    a[i:] = a[:i]
    a[1:i:2] = a[::-1]
    return a[i:i + 1]


def loops(n):
    s = 0
    for i in range(n):
        if i % 2:
            continue
        for j in range(i):
            if j > 10:
                break
            s += j
        else:
            s -= 1
    while s > 0:
        s -= 1
        if s == 5:
            break
    else:
        s = 1
    return s


def while_true(n):
    while True:
        n = n * 2
        if n > 100:
            return n


def invariant(a, n):
    for x in a:
        for y in a:
            while y < n:
                y += x
    return n


def maybe_unbound(c, n):
    if c:
        x = 1
    for i in range(n):
        y = x + i
    del c
    return x, y


def walrus(a):
    while (n := len(a)) > 3:
        a.pop()
    return n


def calls(f, *args, key=1, **kwargs):
    f(1, 2, a=3, b=key)
    f.method(1, x=2)
    f(*args)
    f(1, *args, 2, **kwargs)
    f(**kwargs, z=1)
    return f()(f)


def positional(a, b=2, /, c=3, *, d, e=5):
    return a + b + c + d + e


def unpacking(t):
    a, b, c, d = t
    first, *rest = t
    *init, last = t
    a, (b, *c), d = t
    w, x, y, z = d, c, b, a
    return [*t, 1, *rest], (*init, last), {a: b, **c}, {1, 2, 3}, [1, 2, 3], {*t}, w + x + y + z


def strings(x, w):
    return f"{x} {x!r} {x:.3f} {x!s:>{w}}" + f"{x}"


def containers(x, y):
    d = {"a": x, "b": y, "c": 3}
    return d, {x: y}, x in (1, 2), y not in {3, 4}, [], (), {}


def comprehensions(a, n):
    b = [x * n for x in a if x]
    c = {x: [y + x for y in a] for x in b}
    d = {x for x in (a if n else b)}
    e = [[i * j for i in range(n)] for j in range(n)]
    f = sum(x * n for x in a)
    return b, c, d, e, f, [(last := x) for x in a], last


def comprehension_scope(x):
    y = [x for x in range(x)]
    return x, y, [f(x) for f in [lambda v: v + x]]


def closures(n, a):
    def inner(x, k=2, *, q=n):
        return x + n + k + q

    def fact(m):
        return 1 if m <= 1 else m * fact(m - 1)

    for i in range(n):
        a += sum(x * i for x in range(n))
    add = lambda x: x + a
    return inner(1), fact(n), add


def nested_capture(n):
    def f():
        def g():
            return n
        return g()
    return f()


def annotated(a: int, b: float = 1.0) -> float:
    c: int = a

    def inner(x: int, *, y: int = 3) -> int:
        return x + y

    return inner(c, y=2)


def try_except(a, i):
    try:
        x = a[i]
        y = x + 1
    except IndexError:
        x = 1
        y = 0
    except (ValueError, TypeError) as e:
        print(e)
        y = 3
        x = 2
    else:
        x += 1
    return x, y


def try_finally(a):
    n = 0
    try:
        n = 1
        if a:
            return a[0]
        n = 2
    finally:
        a.clear()
    return n


def try_loop(a):
    n = 0
    for x in a:
        try:
            n += 1 / x
        except ZeroDivisionError:
            continue
        except ValueError:
            break
        finally:
            n += 1
    return n


def nested_try(a):
    try:
        try:
            a.f()
        except ValueError as e:
            a.g(e)
            raise
        finally:
            a.h()
    except TypeError:
        raise RuntimeError("no") from None
    return a


def with_block(m, x):
    with m as y:
        x += y
    with m:
        if x:
            return x
    return 0


def asserts(x):
    assert x > 0, "positive"
    assert x
    if x > 5:
        raise ValueError(f"{x}")
    raise


def matches(p):
    match p:
        case 1 | 2:
            return "small"
        case "a":
            return "text"
        case (x, 0):
            return x
        case [x, *rest] if x:
            return rest
        case None:
            return 0
        case _:
            return p


def generator(n):
    for i in range(n):
        got = yield i
        if got:
            return
    yield n


def imports(x):
    import math
    import os.path
    import os.path as p
    from math import sin, cos as c
    try:
        from cmath import phase, polar
    except ImportError:
        return os
    return math.pi, os, p, sin(x), c(x), phase, polar


def chained(a, b, c):
    return a < b < c != 0


def is_none(x, y=None):
    if x is None:
        return 1
    if y is not None:
        return 2
    return x is y or (x and y)


def many(a):
    """More than 16 variables, so that loads and stores need EXTENDED_ARG and cannot be fused."""
    b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = s = a
    for t in range(a):
        q, r, s = r, s, t
    return b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s


def refused_nonlocal():
    n = 0

    def inc():
        nonlocal n
        n += 1

    inc()
    return n


def refused_capture(n):
    f = lambda x: x + n
    n = 3
    return f(1)


def refused_global(x):
    global G
    G = x


def refused_class():
    class C:
        pass
    return C


def refused_delegation(xs):
    yield from xs


async def refused_async(x):
    await x


def refused_mapping(x):
    match x:
        case {"a": 1}:
            return 1



def constant_slices(a):
    return a[1:2], a[::2, 1], a[-1]


def short_circuit(a, b):
    return (a or b) and not (a and b)


def deep_handlers(a):
    for i in range(3):
        with a:
            try:
                for x in a:
                    if x:
                        break
                    elif i:
                        continue
                    return [y for y in x]
            except KeyError as e:
                try:
                    a = e
                except TypeError as e:
                    return e
                finally:
                    del x
    return a


def unrolled(t):
    s = 0
    x = None
    for x in t:
        if x:
            continue
        s += x
    return s, x


def unrolled_break(t, n):
    for x in t:
        y = x * n
        if y > 3:
            break
    else:
        return n
    return x + y


def raise_again():
    try:
        try:
            raise IndexError()
        except IndexError as e:
            first = e
            raise
    except IndexError as second:
        return first is second


def break_through_finally():
    a, c, d, i = 1, 1, 1, 99
    try:
        for i in range(3):
            try:
                a = 5
                if i > 0:
                    break
                a = 8
            finally:
                c = 10
    except:
        d = 12
    return a, c, d, i


def caught_outside(files):
    for f in files:
        try:
            with f.open() as g:
                while g.read():
                    pass
        except ValueError:
            return f


def some_of_a_generator(xs):
    return any(x > 3 for x in xs), all(x < 5 for x in xs)


def super_without_arguments(__class__):
    def area(self):
        return super().area() + super().unit
    return area


def super_with_arguments(cls, self):
    return super(cls, self).area() + super(cls, self).unit


def comprehension_of_captured(x):
    def inner(n):
        y = x
        return [(lambda: x + y)() for x in range(n)]

    return inner
