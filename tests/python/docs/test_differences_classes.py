"""Rows of `docs/differences.md` about classes and exceptions."""

import enum
import signal
import threading
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from difference_rows import row
from lancehead import errors, int8, int64, njit, objmode, types
from lancehead.experimental import jitclass, structref
from lancehead.typed import List


@jitclass([("n", int64), ("small", int8), ("items", types.List(int64))])
class Late:
    LIMIT = 5

    def __init__(self):
        pass

    def limit(self):
        return self.LIMIT


@jitclass([("late", Late.class_type.instance_type)])
class Holder:
    def __init__(self, late):
        self.late = late


@dataclass
class Point:
    x: float
    n: int = 0


@row("a field of a jitted class that is not assigned")
def test_fields_that_are_not_assigned():
    late = Late()
    assert late.n == 0
    with pytest.raises(AttributeError, match="items"):
        late.items


@row("a number assigned to a field of another type")
def test_numbers_for_fields_of_another_type():
    late = Late()
    late.n = 2.9
    assert late.n == 2
    with pytest.raises(OverflowError, match="300 is out of bounds for int8"):
        late.small = 300


@row("`x[i] = y` in compiled code, of a typed list that `_make_immutable` has frozen")
def test_items_of_frozen_lists():
    items = List([1, 2])
    items._make_immutable()

    @njit
    def store(items):
        items[0] = 9

    store(items)
    assert list(items) == [9, 2]
    for change in (lambda items: items.append(3), lambda items: items.pop(), lambda items: items.reverse()):
        with pytest.raises(ValueError, match="immutable"):
            njit(change)(items)
    with pytest.raises(ValueError, match="immutable"):
        items[0] = 5
    assert list(items) == [9, 2]


@row("an instance of a dataclass that is an item of a typed list, read from Python")
def test_instances_in_typed_lists_are_copies():
    items = List([Point(1.0)])
    assert items[0] == Point(1.0)
    assert items[0] is not items[0]


@row("a list assigned to a field of a jitted class")
def test_lists_in_fields_are_copies():
    late, items = Late(), [1, 2]
    late.items = items
    late.items.append(3)
    assert (items, list(late.items)) == ([1, 2], [1, 2, 3])
    assert type(late.items) is List


@row("an `int` in a field of a dataclass that is annotated `float`", "a value that does not fit the annotation")
def test_annotations_of_fields():
    first = njit(lambda p: p.x)
    assert type(Point(1).x) is int
    assert type(first(Point(1))) is float
    assert Point("a").x == "a"
    with pytest.raises(TypeError, match="'x' is annotated as `float` and holds str"):
        first(Point("a"))
    with pytest.raises(errors.TypingError, match="the field `x` holds `float`, not `str`"):
        njit(lambda: Point("a").x)()


@row("an instance of a dataclass as an argument")
def test_changes_of_instances_are_written_back():
    p = Point(1.0)

    def change(point):
        point.x = 5.0
        with objmode(seen="float64"):
            seen = p.x
        return seen

    assert njit(change)(p) == 1.0
    assert p.x == 5.0


@row("`__setattr__` and `__getattr__` of a dataclass")
def test_special_methods_of_attributes_are_ignored():
    @dataclass
    class Doubling:
        n: int

        def __setattr__(self, name, value):
            object.__setattr__(self, name, 2 * value)

        def __getattr__(self, name):
            return 42

    @dataclass(frozen=True)
    class Frozen:
        n: int

    def store(p):
        p.n = 5
        return p.n

    assert (store(Doubling(1)), njit(store)(Doubling(1))) == (10, 5)
    assert Doubling(1).other == 42
    with pytest.raises(errors.TypingError, match="no attribute `other`"):
        njit(lambda p: p.other)(Doubling(1))
    with pytest.raises(FrozenInstanceError):
        njit(store)(Frozen(1))


@row("a constant in the body of a jitted class")
def test_constants_in_the_bodies_of_classes():
    late = Late()
    try:
        assert late.limit() == 5
        Late.LIMIT = 7
        assert late.limit() == 7
    finally:
        Late.LIMIT = 5


@row("two reads of the same instance")
def test_instances_are_one_object():
    late = Late()
    holder = Holder(late)
    assert holder.late is late
    assert njit(lambda holder: holder.late)(holder) is late


@row("a type of structs made twice, whose `preprocess_fields` mentions the type itself")
def test_types_of_structs_made_twice():
    class NodeType(types.StructRef):
        made = 0

        def preprocess_fields(self, fields):
            NodeType.made += 1
            self.name = f"node {NodeType.made}"
            return (("value", types.float64), ("next", types.Optional(self)))

    structref.register(NodeType)
    fields = [("value", types.float64), ("next", types.none)]
    assert NodeType(fields) is NodeType(fields)
    assert NodeType.made == 2


@row("a field of a struct that holds a struct, list or array of none yet")
def test_fields_of_structs_that_hold_nothing_yet():
    class BareType(types.StructRef):
        pass

    structref.register(BareType)
    for field in (types.ListType(int64), types.List(int64), Late.class_type.instance_type):
        bare = BareType([("n", int64), ("field", field)])
        assert njit(lambda: structref.new(bare).n)() == 0
        with pytest.raises(AttributeError, match="field"):
            njit(lambda: structref.new(bare).field)()


@row("an operation raises")
def test_messages_say_index_axis_and_size():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 2"):
        njit(lambda a: a[:, 5])(np.zeros((3, 2)))
    # CPython 3.11 says "float divmod()" of the second one.
    for function in (lambda x: 1.0 // x, lambda x: divmod(1.0, x)):
        with pytest.raises(ZeroDivisionError, match="float floor division by zero"):
            njit(function)(0.0)


@row("a chain of `__cause__` and `__context__` of more than 500 exceptions")
def test_long_chains_end():
    def grow(n):
        last = ValueError(0)
        for i in range(1, n):
            try:
                raise ValueError(i) from last
            except ValueError as e:
                last = e
        raise last

    def length(function, n):
        with pytest.raises(ValueError) as caught:
            function(n)
        e, count = caught.value, 0
        while e is not None:
            e, count = e.__cause__, count + 1
        return count

    compiled = njit(grow)
    assert length(grow, 700) == 700
    assert length(compiled, 400) == 400
    assert 1 <= length(compiled, 700) <= 500


@row('`OSError(2, "text")`')
def test_errors_of_the_system():
    def fail():
        raise OSError(2, "text")

    def handled():
        try:
            raise OSError(2, "text")
        except FileNotFoundError:
            return "FileNotFoundError"
        except OSError:
            return "OSError"

    with pytest.raises(FileNotFoundError, match="text"):
        njit(fail)()
    assert (handled(), njit(handled)()) == ("FileNotFoundError", "OSError")


@row("KeyError of a key that is a member, an instance, a frozen set or a tuple whose length is known only at run time")
def test_keys_that_are_objects():
    class Level(enum.Enum):
        LOW = 1
        HIGH = 2

    def get(d, key):
        return d[key]

    for known, key in ((Level.LOW, Level.HIGH), (frozenset([1]), frozenset([2])), ((1, Level.LOW), (2, Level.LOW))):
        for function, carried in ((get, key), (njit(get), repr(key))):
            with pytest.raises(KeyError) as caught:
                function({known: 1}, key)
            assert caught.value.args == (carried,)


@row("arguments of an exception that are lists, arrays or exceptions")
def test_arguments_of_exceptions_are_copies():
    def fail(items, a):
        raise ValueError(items, a)

    items, a = [1, 2], np.arange(3)
    for function, is_same in ((fail, True), (njit(fail), False)):
        with pytest.raises(ValueError) as caught:
            function(items, a)
        carried, array = caught.value.args
        assert (carried, array.tolist()) == ([1, 2], [0, 1, 2])
        assert (carried is items, np.shares_memory(array, a)) == (is_same, is_same)


@row("a traceback")
def test_tracebacks_have_compiled_frames_without_variables():
    @njit
    def quotient(x):
        return 1 // x

    @njit
    def outer(x):
        y = x
        return quotient(y)

    with pytest.raises(ZeroDivisionError) as caught:
        outer(0)
    frames = [(f.frame.code.name, f.lineno + 1, dict(f.frame.f_locals)) for f in caught.traceback[1:]]
    first = quotient.py_func.__code__.co_firstlineno
    assert frames == [("outer", first + 7, {}), ("quotient", first + 2, {})]
    assert str(caught.traceback[-1].path) == __file__


@row("the program's own handler of SIGINT returns without raising")
def test_a_handler_that_returns_does_not_keep_a_loop_going():
    @njit(nogil=True)
    def spin(n):
        s = 0
        for i in range(n):
            s = (s * 31) ^ i
        return s

    calls = []
    spin(10)
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            spin(5_000_000_000)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert calls == [1]
