"""Objects whose classes have no type: `types.pyobject`, and arrays of them."""

import collections
import gc
import operator
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import lancehead
from lancehead import cuda, errors, njit, objmode, prange, typeof, types
from lancehead.extending import intrinsic, overload, overload_attribute, overload_method


class Plain:
    """A class without a type."""

    def __init__(self, part=None):
        self.part = part


def references(o):
    gc.collect()
    return sys.getrefcount(o)


@pytest.fixture
def kept():
    """An object whose part, and the part of that, have no new references at the end. Pytest refers to the object."""
    o = Plain(Plain(Plain()))
    before = references(o.part), references(o.part.part)
    yield o
    assert (references(o.part), references(o.part.part)) == before


@pytest.fixture(params=["python", "numba"])
def jit(request):
    return njit(semantics=request.param)


Pair = collections.namedtuple("Pair", "a b")
SENTINEL = object()


def test_types():
    assert typeof(Plain()) == types.pyobject and str(types.pyobject) == "pyobject"
    assert typeof((Plain(), 1)) == types.Tuple((types.pyobject, types.int64))
    assert str(typeof(np.array([[None]]))) == "array(pyobject, 2d, C)"
    assert isinstance(types.pyobject, types.PyObject) and not isinstance(types.int64, types.PyObject)
    assert types.pyobject[:, ::1] == types.Array(types.pyobject, 2, "C")
    with pytest.raises(errors.NumbaValueError):
        typeof([])


def test_objects_are_passed_on_and_returned(jit, kept):
    same = jit(lambda a: a)
    through = jit(lambda a, n: (same(a), (n, a), Pair(a, n)))
    for _ in range(3):
        assert same(kept.part) is kept.part
        first, second, third = through(kept.part, 2)
        assert first is kept.part and second[1] is kept.part and third.a is kept.part and type(third) is Pair
    assert jit(lambda p: p)(Pair(kept.part, (kept.part, 1.5))) == Pair(kept.part, (kept.part, 1.5))
    del first, second, third


def test_identity(jit, kept):
    def ways(a, b, c):
        maybe = None
        if c:
            maybe = a
        return a is b, a is not b, a is None, b is not None, maybe is b, b is maybe, maybe is None, maybe

    compiled = jit(ways)
    for args in ((kept.part, kept.part, True), (kept.part, kept.part.part, True), (kept.part, kept.part.part, False)):
        assert compiled(*args) == ways(*args)
    is_sentinel = jit(lambda a: a is SENTINEL)
    assert is_sentinel(SENTINEL) and not is_sentinel(kept.part)


def test_globals_are_not_stale(monkeypatch):
    is_sentinel = njit(lambda a: a is SENTINEL)
    before = SENTINEL
    assert is_sentinel(before)
    monkeypatch.setattr(sys.modules[__name__], "SENTINEL", object())
    assert is_sentinel(SENTINEL) and not is_sentinel(before)


def test_generators_containers_and_exceptions_count(jit, kept):
    @jit
    def repeated(o, n):
        for _ in range(n):
            yield o

    assert all(o is kept.part for o in repeated(kept.part, 3))
    unfinished = repeated(kept.part, 3)
    next(unfinished)
    del unfinished

    @jit
    def held(o, p, n):
        items = [o]
        for _ in range(n):
            items.append(p)
        named = {1: o, 2: p}
        if n > 5:
            raise ValueError(n)
        return items, named[2]

    items, last = held(kept.part, kept.part.part, 3)
    assert items[0] is kept.part and items[3] is last is kept.part.part
    del items, last
    with pytest.raises(ValueError, match="6"):
        held(kept.part, kept.part, 6)


def test_loops_over_threads_count_without_the_lock(jit, kept):
    @njit(parallel=True)
    def counted(o, p, n):
        found = 0
        for i in prange(n):
            items = [o, p]
            items.append(o)
            if items[2] is o and (items[1], i)[0] is not o:
                found += 1
        return found, o

    assert counted(kept.part, kept.part.part, 50_000) == (50_000, kept.part)
    pairs = njit(nogil=True)(lambda a: (a, a))
    threads = [threading.Thread(target=lambda: [pairs(kept.part) for _ in range(5000)]) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    del threads


def test_blocks_of_objmode_take_and_give_objects(kept):
    @njit
    def part(o):
        with objmode(found="pyobject"):
            found = o.part
        return found, found is o

    assert part(kept.part) == (kept.part.part, False)
    assert part(Plain([1]))[0] == [1] and part(Plain(2.5))[0] == 2.5
    with pytest.raises(TypeError, match="None is no `pyobject`"):
        part(Plain(None))


def test_overloads_are_asked(kept):
    asked = []

    def described(o):
        raise NotImplementedError

    @overload(described)
    def described_in_compiled_code(o):
        asked.append(str(o))
        if isinstance(o, types.PyObject):
            return lambda o: 1
        if isinstance(o, types.Array) and o.dtype == types.pyobject:
            return lambda o: len(o) + 10 * o.ndim
        return None

    compiled = njit(lambda o: described(o))
    assert compiled(kept.part) == 1 and compiled(np.array([kept.part, None])) == 12
    assert asked == ["pyobject", "array(pyobject, 1d, C)"]
    with pytest.raises(TypeError, match="which compiled code cannot take"):
        njit(lambda o: described((o, o)))(kept.part)


def test_overloads_give_methods_attributes_and_operators(kept):
    overload_method(types.PyObject, "doubled")(lambda self, n: lambda self, n: 2 * n)
    overload_attribute(types.PyObject, "answer")(lambda self: lambda self: 42)

    @overload(operator.matmul)
    def same(a, b):
        if isinstance(a, types.PyObject) and isinstance(b, types.PyObject):
            return lambda a, b: a is b

    assert njit(lambda o, p: (o.doubled(4), o.answer, o @ o, o @ p))(kept.part, kept.part.part) == (8, 42, True, False)


def test_generators_of_code_get_the_address(kept):
    @intrinsic
    def number_of(typingctx, o):
        def generate(context, builder, sig, args):
            api = context.get_python_api(builder)
            part = api.object_getattr_string(args[0], "part")
            number = api.long_as_longlong(part)
            api.decref(part)
            return number

        return types.int64(types.pyobject), generate

    @intrinsic
    def part_of(typingctx, o):
        def generate(context, builder, sig, args):
            return context.get_python_api(builder).object_getattr_string(args[0], "part")

        return types.pyobject(types.pyobject), generate

    assert njit(lambda o: number_of(o) + 1)(Plain(41)) == 42
    assert njit(lambda o: part_of(o))(kept.part) is kept.part.part
    assert njit(lambda o: part_of(o) is part_of(o))(kept.part)


REFUSED = [
    lambda a: a + 1, lambda a: -a, lambda a: a.part, lambda a: a[0], lambda a: a(), lambda a: len(a), lambda a: a == a,
    lambda a: a == 3, lambda a: a != 2.5, lambda a: a < a, lambda a: hash(a), lambda a: f"{a}", lambda a: bool(a),
    lambda a: 1 if a else 2, lambda a: a in [1, 2], lambda a: a in (1, a),
    lambda a: (a, 1) == (a, 1), lambda a: np.array(a), lambda a: np.sin(a), lambda a: [i for i in a], lambda a: type(a),
    lambda a: isinstance(a, int), lambda a: print(a), lambda a: sorted([a]), lambda a: np.full(3, a), lambda a: a and 1,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_other_uses_name_the_argument_and_its_class(number, jit):
    with pytest.raises(TypeError) as failure:
        jit(REFUSED[number])(Plain())
    text = str(failure.value)
    assert "argument `a` of `<lambda>` is a `Plain`, which compiled code cannot take" in text
    assert Path(__file__).name in text
    assert "help: " in text


def test_none_may_be_equal_to_it_and_numbers_are_not_it():
    for asks in ("a == None", "a != None", "a is 3"):
        with pytest.raises(TypeError, match="argument `a` of `<lambda>` is a `Plain`"):
            njit(eval(compile(f"lambda a: {asks}", __file__, "eval", dont_inherit=True)))(Plain())


def test_errors_that_are_no_use_of_it_keep_their_words():
    for keys in (lambda a: {a: 1}, lambda a: [a].index(a)):
        with pytest.raises(errors.TypingError, match="`a` of `<lambda>` is a `Plain`"):
            njit(keys)(Plain())
    with pytest.raises(errors.TypingError, match=r"name `unknown` is not defined(?s:.)*`a` of `<lambda>` is a `Plain`"):
        njit(lambda a: unknown)(Plain())  # noqa: F821


def test_containers_and_kernels_take_none():
    for bad in ([Plain()], {1: Plain()}, [(Plain(), 1)], [np.array([None])]):
        with pytest.raises(TypeError, match="unsupported-type"):
            njit(lambda a: a)(bad)

    @cuda.jit
    def kernel(out, o):
        out[0] = 1

    with pytest.raises(TypeError, match="argument `o` of `kernel` is a `Plain`"):
        kernel[1, 1](np.zeros(1), Plain())


def test_explicit_signatures(kept):
    assert njit(types.pyobject(types.pyobject))(lambda a: a)(kept.part) is kept.part
    assert njit("pyobject(pyobject, int64)")(lambda a, b: a)(kept.part, 3) is kept.part
    with pytest.raises(TypeError, match="No matching definition for argument type.s. pyobject: (.*) is a `Plain`"):
        njit("int64(int64)")(lambda a: a)(kept.part)


ARRAYS = [np.array([None, 3, "a"], object), np.array([[1, 2], [3, 4]], object), np.array([1, 2], object)[:0]]


@pytest.mark.parametrize("a", ARRAYS, ids=["1d", "2d", "empty"])
def test_arrays_have_shapes_and_views(a, jit):
    assert jit(lambda a: a)(a) is a
    found = jit(lambda a, b: (len(a), a.shape, a.ndim, a.size, a.strides, a.nbytes, a is b, a is None))(a, a)
    assert found == (len(a), a.shape, a.ndim, a.size, a.strides, a.nbytes, True, False)
    part = jit(lambda a: a[::-1][1:])(a)
    assert part.dtype == object and part.tolist() == a[::-1][1:].tolist() and np.shares_memory(part, a) == (a.size > 0)


ELEMENTS = [
    lambda a: a[0, 0], lambda a: a[0][0], lambda a: a.copy(), lambda a: a.sum(), lambda a: np.sin(a), lambda a: a + a,
    lambda a: a == a, lambda a: -a, lambda a: [x for x in a], lambda a: 3 in a, lambda a: a.view(np.int64),
    lambda a: np.empty_like(a), lambda a: np.zeros(3, a.dtype), lambda a: a.flat[0], lambda a: a.reshape(-1),
    lambda a: bool(a), lambda a: np.concatenate((a, a)), lambda a: np.stack([a, a]), lambda a: a[[0, 1]],
    lambda a: list(a), lambda a: a.fill(1), lambda a: print(a), lambda a: a.sort(), lambda a: memoryview(a),
    lambda a: a.ctypes, lambda a: np.asarray(a), lambda a: a.item(0), lambda a: max(a), lambda a: tuple(a),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ELEMENTS)))
def test_elements_are_refused(number, jit):
    with pytest.raises(TypeError, match=r"argument `a` of `<lambda>` is an array of dtype `object`"):
        jit(ELEMENTS[number])(np.array([[1, None], [2, 3]], object))


def test_elements_are_not_written():
    def item(a):
        a[0] = 1

    def all_items(a):
        a[:] = a

    def added(a):
        a += 1

    def unpacked(a):
        x, y = a
        return x

    for function in (item, all_items, added, unpacked):
        with pytest.raises(TypeError, match="neither read nor written"):
            njit(function)(np.array([1, 2], object))


def test_cached_code(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            from lancehead import njit
            MARK = object()
            @njit(cache=True)
            def pair(o, n):
                return o, n, o is MARK
            other = [].append
            o = type("Plain", (), {})()
            assert pair(o, 1) == (o, 1, False) and pair(MARK, 1) == (MARK, 1, True)
            print(sum(pair.stats.cache_hits.values()))
        """)
    )
    runs = [subprocess.run([sys.executable, program], capture_output=True, text=True, check=True) for _ in range(2)]
    assert [r.stdout.strip() for r in runs] == ["0", "1"]


def test_fields_of_jitclasses(kept):
    @lancehead.experimental.jitclass([("o", types.pyobject)])
    class Holder:
        def __init__(self, o):
            self.o = o

        def same(self, o):
            return self.o is o

    holder = Holder(kept.part)
    assert holder.o is kept.part and holder.same(kept.part)
    holder.o = kept.part.part
    assert not holder.same(kept.part) and holder.o is kept.part.part
