"""`lancehead.experimental.structref`: mutable structs that Python and compiled code share."""

import gc
import operator
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lancehead
from lancehead import errors, njit, typeof, types
from lancehead._core import live_allocations
from lancehead.experimental import structref
from lancehead.extending import overload, overload_attribute, overload_method
from lancehead.typed import Dict, List


@structref.register
class PairType(types.StructRef):
    """Fields of any types."""


class Pair(structref.StructRefProxy):
    def __new__(cls, a, b=0):
        return structref.StructRefProxy.__new__(cls, a, b)

    @property
    def a(self):
        return get_a(self)

    @a.setter
    def a(self, value):
        set_a(self, value)

    @property
    def b(self):
        return get_b(self)

    def __hash__(self):
        return get_b(self)


structref.define_proxy(Pair, PairType, ["a", "b"])


@njit
def get_a(pair):
    return pair.a


@njit
def get_b(pair):
    return pair.b


@njit
def set_a(pair, value):
    pair.a = value


@structref.register
class NodeType(types.StructRef):
    def preprocess_fields(self, fields):
        return (("value", types.float64), ("next", types.Optional(self)))


class Node(structref.StructRefProxy):
    pass


structref.define_proxy(Node, NodeType, ["value", "next"])


@pytest.mark.parametrize("a, b", [
    (1, 2.5), (True, None), ("text", (1, "x")), (3.5j, np.arange(4.0)), (np.float32(0.5), [1, 2]), ({"k": 1}, {1.5}),
])  # fmt: skip
def test_fields_of_any_type(a, b):
    pair = Pair(a, b)
    assert isinstance(pair, Pair) and isinstance(typeof(pair), PairType)
    assert pair.a == a
    assert (pair.b == b) if not isinstance(b, np.ndarray) else (pair.b is b)


@njit
def bump(pair, by):
    pair.a += by
    pair.b = pair.a
    return pair


def test_changes_are_seen_on_both_sides():
    pair = Pair(1, 0)
    assert bump(pair, 4) is pair and (pair.a, pair.b) == (5, 5)
    pair.a = 7
    assert bump(pair, 1).b == 8
    pair.a = 2.9
    assert pair.a == 2, "a field converts what is stored, as Numba's do"


def test_a_field_holds_values_of_its_type_only():
    with pytest.raises(errors.TypingError, match="the field `a` holds `int`, not `str`"):
        Pair(1, 2).a = "text"
    with pytest.raises(errors.TypingError, match="no attribute `c`"):
        njit(lambda p: p.c)(Pair(1, 2))
    with pytest.raises(errors.TypingError, match="no attribute `field_dict`"):
        njit(lambda p: p.field_dict)(Pair(1, 2))


def test_calls_of_the_class_in_compiled_code():
    @njit
    def made(x):
        p = Pair(x, b=(x, 2))
        q = Pair(b=p, a="outer")
        q.b.a += 1
        return q, p, p is q.b, Pair(x, 1) is Pair(x, 1)

    q, p, same, other = made(3)
    assert q.b is p and same and not other and (p.a, p.b, q.a) == (4, (3, 2), "outer")
    for bad in (lambda: Pair(1), lambda: Pair(1, 2, 3), lambda: Pair(1, c=2), lambda: Pair(1, a=2)):
        with pytest.raises(errors.TypingError, match=r"Pair\(\) takes \(a, b\)"):
            njit(bad)()


def test_the_types():
    t = typeof(Pair(1, 2.0))
    assert t is PairType([("a", types.int64), ("b", types.float64)]) and t is Pair(1, 2.0)._numba_type_
    assert t.field_dict == {"a": types.int64, "b": types.float64}
    assert str(t) == "numba.PairType(('a', int64), ('b', float64))" and t.kind == "StructRef"
    assert t != typeof(Pair(1, 2)) and pickle.loads(pickle.dumps(t)) is t
    f = njit(types.int64(t))(lambda p: p.a)
    assert f(Pair(6, 0.5)) == 6
    with pytest.raises(TypeError):
        f(Pair(6, 5))
    assert isinstance(t, types.StructRef) and not isinstance(types.int64, PairType)


@pytest.mark.parametrize("fields, text", [
    ([(1, types.int64)], "expecting a str for field name"),
    ([("a", 12)], "expecting a Numba Type for field type"),
])  # fmt: skip
def test_fields_are_checked(fields, text):
    with pytest.raises(ValueError, match=text):
        types.StructRef(fields)


def test_what_cannot_be_registered():
    for call in (structref.register, structref.define_attributes, lambda t: structref.define_boxing(t, Pair)):
        with pytest.raises(ValueError, match="cannot register"):
            call(types.StructRef)
    with pytest.raises(ValueError, match="does not derive"):
        structref.register(int)
    with pytest.raises(TypeError, match="does not derive from StructRefProxy"):
        structref.define_boxing(PairType, dict)
    with pytest.raises(errors.NumbaNotImplementedError):
        structref.new(PairType([("a", types.int64)]))


class BareType(types.StructRef):
    """Has no proxy of its own."""


bare_type = structref.register(BareType)([("values", types.float64[:]), ("count", types.intp)])
structref.define_boxing(BareType, structref.StructRefProxy)


def test_new_without_a_constructor():
    @njit
    def made(values):
        s = structref.new(bare_type)
        s.count = 3
        s.values = values
        return s

    s = made(np.ones(2))
    assert type(s) is structref.StructRefProxy and not hasattr(s, "count")
    assert njit(lambda s: s.values.sum() + s.count)(s) == 5

    @njit
    def unset():
        s = structref.new(node_type)
        return s.count, s.node.value

    node_type = BareType([("node", typeof(Node(0.0, None))), ("count", types.intp)])
    with pytest.raises(AttributeError, match="node"):
        unset()
    with pytest.raises(errors.TypingError, match="`new` takes a type of structs"):
        njit(lambda: structref.new(types.int64))()


def test_a_struct_without_a_class_in_python():
    class HiddenType(types.StructRef):
        pass

    hidden = structref.register(HiddenType)([("n", types.int64)])

    @njit
    def f(returned):
        s = structref.new(hidden)
        s.n += 2
        return s

    with pytest.raises(TypeError, match="define_boxing"):
        f(True)
    assert njit(lambda: f(True).n)() == 2


@njit
def chain(n):
    first = Node(0.0, None)
    for i in range(1, n):
        first = Node(i, first)
    return first


@njit
def total(node):
    s = 0.0
    while node is not None:
        s += node.value
        node = node.next
    return s


def test_a_struct_of_its_own_type():
    node = chain(2000)
    assert total(node) == 1999 * 1000
    second = njit(lambda n: n.next)(node)
    assert isinstance(second, Node) and njit(lambda n, m: n.next is m)(node, second)
    assert typeof(node) is typeof(second) is NodeType([("value", types.float64), ("next", types.none)])
    assert pickle.loads(pickle.dumps(typeof(node))) is typeof(node)


def test_fields_are_processed():
    class PlainType(types.StructRef):
        def preprocess_fields(self, fields):
            self.name = "a name of its own"
            return tuple((name, types.float64 if isinstance(t, types.Integer) else t) for name, t in fields)

    class Plain(structref.StructRefProxy):
        pass

    structref.define_proxy(Plain, structref.register(PlainType), ["x"])
    assert njit(lambda p: p.x)(Plain(3)) == 3.0
    assert typeof(Plain(3)) is typeof(Plain(2.5))


@overload_method(PairType, "scaled")
def _scaled(self, by):
    return lambda self, by: self.a * by + self.b


@overload_attribute(PairType, "both")
def _both(self):
    return lambda self: (self.a, self.b)


@overload(len)
def _len(x):
    if isinstance(x, PairType):
        return lambda x: x.b


def test_overloads():
    f = njit(lambda p, by: (p.scaled(by), p.both, p.scaled(by=1)))
    assert f(Pair(2, 5), 3) == (11, (2, 5), 7)
    assert f(Pair(2.5, 0), 2)[0] == 5.0
    assert njit(lambda p: len(p))(Pair(2, 9)) == 9


@structref.register
class VectorType(types.StructRef):
    """Has operators."""


class Vector(structref.StructRefProxy):
    pass


structref.define_proxy(Vector, VectorType, ["x", "y"])


def is_vector(t):
    return isinstance(t, VectorType)


@overload(operator.add)
def _add(a, b):
    if is_vector(a) and is_vector(b):
        return lambda a, b: Vector(a.x + b.x, a.y + b.y)
    if is_vector(a):
        return lambda a, b: Vector(a.x + b, a.y + b)


@overload(operator.isub)
def _isub(a, b):
    if is_vector(a):

        def impl(a, b):
            a.x -= b
            return a

        return impl


@overload(operator.neg)
def _neg(a):
    if is_vector(a):
        return lambda a: Vector(-a.x, -a.y)


@overload(operator.eq)
def _eq(a, b):
    if is_vector(a) and is_vector(b):
        return lambda a, b: a.x == b.x and a.y == b.y


@overload(operator.lt)
def _lt(a, b):
    if is_vector(a):
        return lambda a, b: a.x < b


@overload(operator.getitem)
def _getitem(a, i):
    if is_vector(a):
        return lambda a, i: a.x if i == 0 else a.y


@overload(operator.setitem)
def _setitem(a, i, v):
    if is_vector(a):

        def impl(a, i, v):
            if i == 0:
                a.x = v
            else:
                a.y = v

        return impl


@overload(operator.delitem)
def _delitem(a, i):
    if is_vector(a):

        def impl(a, i):
            a.x = 0

        return impl


@overload(operator.contains)
def _contains(a, x):
    if is_vector(a):
        return lambda a, x: a.x == x or a.y == x


@overload(bool)
def _bool(a):
    if is_vector(a):
        return lambda a: a.x != 0


@overload(float)
def _float(a):
    if is_vector(a):
        return lambda a: a.x + 0.5


@overload(operator.mul)
def _mul(a, b):
    if is_vector(a):
        return lambda a, b: a.no_such_field


def test_operators_are_overloads():
    @njit
    def all_of_them(v, w):
        r = v + w + 10
        r[1] = r[0] * 2
        n = -r
        s = n[0], n[1], v == w, v < 3, 28 in r, 27 in r, 1 if v else 0
        same = r
        r -= 4
        del w[0]
        return s, r is same, r.x, bool(w), not w, w.x, float(w)

    s, *rest = all_of_them(Vector(1, 2), Vector(3, 4))
    assert s == (-14, -28, False, True, True, False, 1) and rest == [True, 10, False, True, 0, 0.5]


def test_operators_that_have_no_overload():
    v = Vector(1, 2)
    for f in (lambda v: v - 1, lambda v: v > 1, lambda v: +v, lambda v: 1 + v, lambda v: v != v):
        with pytest.raises(errors.TypingError):
            njit(f)(v)
    with pytest.raises(errors.TypingError, match="no attribute `no_such_field`"):
        njit(lambda v: v * 1)(v)


def test_truth_of_what_may_be_none():
    class HolderType(types.StructRef):
        def preprocess_fields(self, fields):
            return (("node", types.Optional(typeof(Node(0.0, None)))), ("vector", types.Optional(typeof(Vector(1, 2)))))

    class Holder(structref.StructRefProxy):
        pass

    structref.define_proxy(Holder, HolderType, ["node", "vector"])
    f = njit(lambda h: (1 if h.node else 0, h.vector is None))
    assert f(Holder(None, None)) == (0, True) and f(Holder(Node(0.0, None), Vector(0, 1))) == (1, False)
    with pytest.raises(errors.TypingError, match="is overloaded, and there may be none"):
        njit(lambda h: 1 if h.vector else 0)(Holder(None, None))


def test_classes_of_structs():
    @njit
    def f(p):
        return isinstance(p, Pair), isinstance(p, Vector), isinstance(p, structref.StructRefProxy), isinstance(p, int)

    assert f(Pair(1, 2)) == (True, False, True, False) and f(Vector(1, 2)) == (False, True, True, False)
    assert njit(lambda p: isinstance(p, object))(Pair(1, 2))


def test_objects_are_one_as_long_as_they_live():
    pair = Pair(1, Pair(2, 3))
    pair.note = "kept"
    inner = pair.b
    assert pair.b is inner and hash(pair.b.b) == hash(3) and hash(Pair(1, 17)) == 17
    assert njit(lambda p: p)(pair).note == "kept"


def test_a_dying_object_does_not_return():
    alive = []

    class Keeper:
        def __del__(self):
            alive.append(get_b(outer))

    outer = Pair(1, Pair(2, 3))
    inner = outer.b
    inner.keeper = Keeper()
    del inner
    gc.collect()
    assert get_a(alive[0]) == 2 and alive.pop() is not None


def test_in_containers():
    table = Dict()
    table["a"] = Pair(1, 2.5)
    table["a"].a += 10
    assert table["a"].a == 11 and table["a"] is table["a"]
    with pytest.raises(errors.TypingError, match="cannot hold"):
        table["b"] = Pair(2.5, 1)
    items = List([Pair(i, i) for i in range(3)])
    assert njit(lambda xs: sum([x.a for x in xs]))(items) == 3
    assert njit(lambda xs: [x for x in xs][1])(items) is items[1]
    assert njit(lambda t: t[0].a + t[1][1].b)((items[1], (0, items[2]))) == 3


def test_arrays_in_fields_are_shared():
    values = np.zeros(3)
    pair = Pair(values, 0)

    @njit
    def fill(p):
        for i in range(3):
            p.a[i] = i
        p.a = p.a[1:]

    fill(pair)
    assert values.tolist() == [0, 1, 2] and pair.a.tolist() == [1, 2]
    references = sys.getrefcount(values)
    other = Pair(values, 1)
    assert sys.getrefcount(values) > references
    del other
    assert sys.getrefcount(values) == references


def test_nothing_leaks():
    def work():
        pair = Pair(np.arange(50.0), Pair("a long text " * 3, [1, 2]))
        pair.a = pair.a * 2
        for _ in range(3):
            assert pair.b.b == [1, 2]
        bump(Pair(1, 2), 3)
        assert total(chain(10)) == 45
        List([Pair(i, i) for i in range(3)]).append(Pair(1, 2))
        with pytest.raises(errors.TypingError):
            get_a(object())

    work()
    gc.collect()
    before = live_allocations()
    for _ in range(5):
        work()
    gc.collect()
    assert live_allocations() == before


def test_classes_that_derive():
    class Named(Pair):
        pass

    with pytest.raises(errors.TypingError):
        Named(1, 2)
    structref.define_constructor(Named, PairType, ["a", "b"])
    assert type(Named(1, 2)) is Pair, "the objects' class is that of `define_boxing`"


def test_disabled(monkeypatch):
    monkeypatch.setattr(lancehead.config, "DISABLE_JIT", True)
    with pytest.raises(errors.NumbaNotImplementedError):
        Pair(1, 2)


PROGRAM = textwrap.dedent("""
    import numpy as np
    from lancehead import njit, types
    from lancehead.experimental import structref

    @structref.register
    class BoxType(types.StructRef):
        def preprocess_fields(self, fields):
            return (("x", types.float64[:]), ("link", types.Optional(self)))

    @structref.register
    class PairType(types.StructRef):
        pass

    class Box(structref.StructRefProxy):
        pass

    class Pair(structref.StructRefProxy):
        pass

    structref.define_proxy(Box, BoxType, ["x", "link"])
    structref.define_proxy(Pair, PairType, ["a", "b"])

    @njit(cache=True)
    def make(x):
        return Pair(Box(x, Box(x * 2, None)), b=1)

    @njit(cache=True)
    def use(pair):
        pair.b += 1
        return pair.a.link.x.sum() + pair.b

    @njit(cache=True)
    def inner(pair):
        return pair.a.link

    pair = make(np.ones(2))
    print(use(pair), type(inner(pair)).__name__)
    print([sum(f.stats.cache_hits.values()) for f in (make, use, inner)])
""")


def test_cached_across_processes(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    env = {"LANCEHEAD_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""}
    said = [
        subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True).stdout.split("\n")
        for _ in range(2)
    ]
    assert [lines[0] for lines in said] == ["6.0 Box"] * 2
    assert [lines[1] for lines in said] == ["[0, 0, 0]", "[1, 1, 1]"]


@structref.register
class WithOwn(types.StructRef):
    def __init__(self, fields):
        super().__init__([("count", types.int64), *fields])


def test_an_init_of_a_type_adds_fields():
    t = WithOwn([("x", types.float64)])
    assert list(t.field_dict) == ["count", "x"] and WithOwn([("x", types.float64)]) is t
