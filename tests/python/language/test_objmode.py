"""Blocks of `objmode`: they run in the interpreter, in the middle of compiled code."""

import dataclasses
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, objmode, types
from lancehead.extending import NativeValue, make_attribute_wrapper, models, register_model, typeof_impl, unbox
from lancehead.lowlevel import cgutils

ROW = types.int64[::1]


@njit
def text_of(x):
    with objmode(y="float64", s="unicode_type"):
        y = x * 2
        s = f"{x:>6.2f}"
    return y, s


@njit
def sorted_backwards(a):
    with objmode(b="float64[:]"):
        b = np.sort(a)[::-1]
    return b + 1


@njit
def rows(n, k):
    total = 0
    for i in range(n):
        with objmode(r=ROW):
            r = np.arange(i) + k
        total += r.sum()
    return total


@njit
def caught(x):
    try:
        with objmode(y="int64"):
            y = [1, 2][x]
    except IndexError:
        return -1
    return y


@njit
def changed(a):
    first = a[0]
    with objmode():
        a[0] = 7
    return first, a[0]


@njit
def containers(n):
    given = [1, 2]
    with objmode(m="ListType(int64)", d="DictType(int64, float64)", t="UniTuple(int64, 2)"):
        m = [x + n for x in given]
        d = {1: 2.5}
        t = (len(given), n)
    return m, d, t


@njit
def loops(n):
    found = 0
    with objmode(found="int64"):
        for i in range(n):
            if i == 3:
                break
            found += i
        values = [j for j in range(n)]
        found += len(values)
    return found


@pytest.mark.parametrize(
    "f, args",
    [
        (text_of, (1.5,)), (text_of, (3,)), (rows, (4, 3)), (caught, (1,)), (caught, (7,)), (containers, (3,)),
        (loops, (5,)), (loops, (0,)),
    ],
)  # fmt: skip
def test_as_python(f, args):
    # In Python the block does nothing but run.
    assert f(*args) == f.py_func(*args)


def test_arrays_are_shared():
    assert sorted_backwards(np.array([3.0, 1.0, 2.0])).tolist() == [4.0, 3.0, 2.0]
    a = np.zeros(2)
    assert changed(a) == (0.0, 7.0) and a[0] == 7


def test_captured_values_and_their_changes():
    offset = 1

    @njit
    def f(x):
        with objmode(y="int64"):
            y = x + offset
        return y + offset

    assert f(1) == 3
    offset = 10
    assert f(1) == 21


def test_what_the_block_raises():
    class Own(Exception):
        pass

    @njit
    def f(x):
        with objmode(y="int64"):
            if x > 1:
                raise Own("text", x)
            y = {}[x]
        return y

    with pytest.raises(KeyError, match="1"):
        f(1)
    with pytest.raises(Own) as raised:
        f(2)
    assert raised.value.args == ("text", 2)


def test_a_value_of_another_type():
    @njit
    def f(x):
        with objmode(y="int64"):
            y = "a" if x else None
        return y

    with pytest.raises(TypeError, match="promises int64, and gives str"):
        f(True)
    with pytest.raises(TypeError, match="promises int64"):
        f(False)


def test_nothing_leaks():
    @njit
    def f(x):
        for _ in range(3):
            with objmode(s="unicode_type", a=ROW):
                s = x + "é" * 100
                a = np.arange(3)
                if x == "raise":
                    raise ValueError(x)
        return s, a

    def run():
        f("a")
        with pytest.raises(ValueError, match="raise"):
            f("raise")

    run()
    before = lancehead._core.live_allocations()
    run()
    assert lancehead._core.live_allocations() == before


def two_with_one_name(x):
    with objmode(y="int64"):
        part = x + 1
        y = part
    with objmode(z="int64"):
        part = x + 2
        z = part
    return y + z


def comprehensions(x):
    with objmode(y="int64"):
        y = sum([j for j in range(x)]) + len(dict.fromkeys(range(x), 1))
    for j in range(3):
        y += j
    return y


def on_one_way(x):
    y = 5
    with objmode(y="int64"):
        if x > 1:
            y = x
    return y


def in_a_loop(x):
    n = 0
    for i in range(x):
        with objmode(n="int64"):
            n += i
    return n


def texts(x):
    with objmode(s="unicode_type"):
        s = """a
    b
c"""
    return s


def statements(x):
    values = [3, 4]
    out = 0
    k = 7
    with objmode(out="int64", k="int64"):
        try:
            v = values[x]
        except IndexError as error:
            v = -1
            del error
        else:
            v += 1
        finally:
            w = 1
        with open(os.devnull) as file:
            file.read()
            n = 2
        while n < 5:
            n += 1
            if n == 4:
                break
        else:
            k = 100
        match n:
            case 4 if v > 0:
                q = 1
            case other:
                q = other
        import math as m

        def helper(a, b=k):
            return a + b

        out = v + w + n + q + sum(z for z in range(3)) + (lambda z: z)(2) + int(m.sqrt(16)) + helper(1)
    return out, k


@pytest.mark.parametrize(
    "f", [two_with_one_name, comprehensions, on_one_way, in_a_loop, texts, statements], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("x", [0, 1, 4])
def test_variables_of_blocks(f, x):
    assert njit(f)(x) == f(x)


@dataclasses.dataclass
class Basket:
    owner: str
    items: list[int]


def change_a_list(x):
    n = len(x)
    with objmode:
        x[0] = 4
        x.append(n)
    return n, len(x), x


def change_nested(n):
    inner = [n]
    outer = [inner, [2]]
    table = {1: inner}
    with objmode():
        outer[0].append(5)
        outer.append(inner)
        table[2] = [7]
    inner.append(6)
    return inner, outer, table


def change_an_instance(n):
    basket = Basket("a", [n])
    with objmode():
        basket.owner += "b"
        basket.items.append(3)
    return basket.owner, basket.items


def change_and_raise(n):
    x = [n]
    try:
        with objmode():
            x.append(8)
            raise ValueError
    except ValueError:
        x.append(9)
    return x


def change_tables(n):
    items, words = {n, 20}, {"a": n}
    with objmode():
        items.add(50)
        items.discard(20)
        words.clear()
    words["b"] = 3
    return items, words


def give_what_is_read(n):
    x = [n]
    with objmode(y="List(int64)"):
        y = x
    y.append(4)
    return x


@pytest.mark.parametrize("n", [1, 30])
@pytest.mark.parametrize(
    "f",
    [change_nested, change_an_instance, change_and_raise, change_tables, give_what_is_read],
    ids=lambda f: f.__name__,
)
def test_changes_of_containers(f, n):
    before = lancehead._core.live_allocations()
    assert njit(f)(n) == f(n)
    assert lancehead._core.live_allocations() == before


def test_changes_of_an_argument():
    a, b = [1, 2, 3], [1, 2, 3]
    assert njit(change_a_list)(a) == change_a_list(b) and a == b
    made = njit(change_nested)(1)
    assert made[0] is made[1][0] is made[1][2] is made[2][1]


def test_a_change_of_type_is_refused():
    @njit
    def f(x):
        try:
            with objmode():
                x.append("s")
        except TypeError:
            return x
        return [0]

    x = [1]
    assert f(x) == [1]
    with pytest.raises(TypeError, match=r"leaves list in place of a .*int64"):
        njit(change_to_text)([1])


def change_to_text(x):
    with objmode():
        x[0] = "s"


class Holder:
    @staticmethod
    @njit
    def text(x):
        with objmode(s="unicode_type"):
            s = """a
        b"""
        return s


def test_a_text_of_several_lines_in_a_method():
    assert Holder.text(1) == Holder.text.py_func(1)


def test_a_kernel_has_no_interpreter():
    @lancehead.cuda.jit
    def kernel(a):
        with objmode(y="float64"):
            y = 2.0
        a[0] = y

    with pytest.raises(errors.TypingError, match="needs the interpreter, which kernels do not have"):
        kernel[1, 1](np.zeros(1))


def test_a_built_module_has_no_blocks(tmp_path):
    (tmp_path / "tools.py").write_text(
        "from lancehead import njit, objmode\n@njit('int64(int64)')\ndef f(x):\n    with objmode(y='int64'):\n"
        "        y = x\n    return y\n"
    )
    command = [sys.executable, "-m", "lancehead", "build", "tools.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "the block of `objmode` in line 4" in done.stderr, done.stderr


def test_where_no_block_can_be_found():
    with pytest.raises(errors.TypingError, match="begins a block of a function"):
        njit(lambda x: objmode(x))(1)
    assert njit(lambda x: objmode)(1) is objmode


def test_what_a_block_cannot_do():
    def returns(x):
        with objmode(y="int64"):
            return x

    def loses(x):
        with objmode(y="int64"):
            y = x
            z = 1
        return y + z

    def leaves(x):
        for _ in range(x):
            with objmode():
                break
        return x

    def lacks(x):
        with objmode(y="int64"):
            z = x  # noqa: F841
        return y  # noqa: F821

    texts = {
        returns: "cannot return",
        loses: "assigns to `z`",
        leaves: "cannot leave the loop",
        lacks: "not assign to `y`",
    }
    for function, text in texts.items():
        with pytest.raises((errors.UnsupportedError, errors.TypingError), match=text):
            njit(function)(1)


def test_a_caller_in_the_cache_sees_a_changed_block(tmp_path):
    (tmp_path / "program.py").write_text(
        "from helper import g\nfrom lancehead import njit\n@njit(cache=True)\ndef f(x): return g(x)\nprint(f(1))\n"
    )
    environment = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    for added in (1, 50):
        (tmp_path / "helper.py").write_text(
            "from lancehead import njit, objmode\n@njit\ndef g(x):\n    with objmode(y='int64'):\n"
            f"        y = x + {added}\n    return y\n"
        )
        command = [sys.executable, "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=60)
        assert done.stdout == f"{1 + added}\n", done.stderr


def test_a_cached_function_sees_its_block(tmp_path):
    script = tmp_path / "program.py"
    text = (
        "from lancehead import njit, objmode\n@njit(cache=True)\ndef f(x):\n    with objmode(y='int64'):\n"
        "        y = x + ADDED\n    return y\nADDED = {}\nprint(f(1))\n"
    )
    environment = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    for added in (1, 5):
        script.write_text(text.format(added))
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, timeout=60)
        assert done.stdout == f"{1 + added}\n", done.stderr


CACHED = """
from lancehead import njit, objmode, types
import collections, dataclasses, numpy as np
Pair = collections.namedtuple("Pair", "a b")
@dataclasses.dataclass
class Point:
    x: float
ROW = types.float64[::1]
if {extra}:
    # Numbers of types differ from process to process.
    njit(lambda t: t)((1, 2.5, "a", np.ones((2, 2))))
    njit(lambda t: [t])((1, 2, True))
@njit(cache=True)
def f(p, t, a):
    with objmode(r=ROW, s="unicode_type", d="DictType(unicode_type, int64)"):
        r = a * t.a
        s = type(p).__name__ + type(t).__name__
        d = {{"k": int(p.x)}}
        p.x += 1
    return r.sum(), s, d["k"], p.x
def outer(k):
    def g(x):
        with objmode(y="int64"):
            y = x + k
        return y
    return g
print(f(Point(2.5), Pair(3, 4.5), np.ones(3)), f.stats.cache_hits.total())
g = njit(cache=True)(outer(10))
print(g(1), g.stats.cache_hits.total())
"""


def test_blocks_are_found_in_the_cache(tmp_path):
    environment = {**os.environ, "LANCEHEAD_CACHE_DIR": str(tmp_path / "cache")}
    for run, extra in enumerate((False, True, False)):
        (tmp_path / "program.py").write_text(CACHED.format(extra=extra))
        command = [sys.executable, "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=60)
        hits = min(run, 1)
        assert done.stdout == f"(9.0, 'PointPair', 2, 3.5) {hits}\n11 {hits}\n", done.stdout + done.stderr


class Signal:
    def __init__(self, values):
        self.values = values


class SignalType(types.Type):
    def __init__(self, values):
        self.values = values
        super().__init__(name=f"Signal[{values}]")


register_model(SignalType)(lambda manager, of: models.StructModel(manager, of, [("values", of.values)]))
typeof_impl.register(Signal)(lambda signal, context: SignalType(typeof_impl(signal.values, context)))
make_attribute_wrapper(SignalType, "values", "values")


@unbox(SignalType)
def unbox_signal(typ, obj, c):
    made = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    values = c.pyapi.object_getattr_string(obj, "values")
    native = c.unbox(typ.values, values)
    made.values = native.value
    c.pyapi.decref(values)
    return NativeValue(made._getvalue(), is_error=native.is_error)


@pytest.mark.parametrize("layout", ["A", "C"])
def test_objects_are_taken_as_the_promised_type(layout):
    promised = SignalType(types.Array(types.float64, 1, layout))

    @njit
    def f(a):
        with objmode(x=promised, y="int64"):
            x, y = Signal(a), len(a)
        return x.values.sum() + y

    assert f(np.ones(4)) == 8.0
    with pytest.raises(TypeError, match="of another type"):
        f(np.ones(4, np.float32))
    if layout == "A":
        assert f(np.ones(8)[::2]) == 8.0

    @njit
    def g(a):
        with objmode(x=promised):
            x = a
        return x.values.sum()

    with pytest.raises(TypeError, match="of another type"):
        g(np.ones(4))


def test_a_block_costs_little():
    @njit
    def f(n):
        total = 0
        for i in range(n):
            with objmode(y="int64"):
                y = i
            total += y
        return total

    assert f(10) == 45
    start = time.perf_counter()
    f(10_000)
    assert time.perf_counter() - start < 0.2
