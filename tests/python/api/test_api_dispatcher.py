"""The interface of a decorated function: binding, signatures, options, inspection, descriptors."""

import functools
import inspect
import io
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

import lancehead
from lancehead import _core, config, errors, jit, njit, types


@njit
def add(x, y):
    """Sum."""
    return x + y


def test_decorator_forms():
    def f(x):
        return x + 1

    for g in (
        jit(f),
        njit(f),
        jit()(f),
        njit(nopython=True)(f),
        njit(cache=True, parallel=True)(f),
        njit(boundscheck=None)(f),
    ):
        assert g(1) == 2 and g.py_func is f


def test_jitting_twice():
    assert njit(add) is add
    again = njit(nogil=True)(add)
    assert again is not add and again.py_func is add.py_func and again(1, 2) == 3


def test_only_functions_are_decorated():
    for other in (1, int, len, object()):
        with pytest.raises(TypeError):
            njit(other)


def test_unknown_options_are_refused_by_name():
    with pytest.raises(TypeError, match="'fastmth'"):
        njit(fastmth=True)
    with pytest.raises(ValueError, match="error_model"):
        njit(error_model="c")
    with pytest.raises(ValueError, match="nsw"):
        njit(fastmath={"nsw"})
    with pytest.raises(ValueError, match="nsw"):
        njit(fastmath={"nsw": False})


@pytest.mark.parametrize("fastmath", [True, False, {"nnan", "contract"}, {"reassoc": True}, ["afn"]], ids=repr)
def test_fastmath_forms(fastmath):
    assert njit(fastmath=fastmath)(lambda x: x * 2)(1.5) == 3.0


def test_error_model():
    f = lambda x, y: x / y
    with pytest.raises(ZeroDivisionError):
        njit(f)(1.0, 0.0)
    assert njit(error_model="numpy")(f)(1.0, 0.0) == float("inf")


def test_wrapper_attributes():
    assert (
        add.__name__ == "add"
        and add.__doc__ == "Sum."
        and add.__module__ == __name__
        and add.__wrapped__ is add.py_func
    )
    assert add.__qualname__ == "add" and str(inspect.signature(add)) == "(x, y)" == str(add.__signature__)
    assert "function add" in repr(add)
    add.note = 5
    assert add.note == 5 and weakref.ref(add)() is add


def binding_oracle():
    def plain(a, b):
        return (a, b)

    def defaults(a, b=2, c=3):
        return (a, b, c)

    def keyword(a, *, k, m=9):
        return (a, k, m)

    def star(a, *rest, k=1):
        return (a, rest, k)

    def only(a, b, /, c=0):
        return (a, b, c)

    def none():
        return ()

    return [plain, defaults, keyword, star, only, none]


CALLS = [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1, 2, 3, 4), {}), ((1,), {"b": 5}), ((1,), {"c": 5}),
    ((1,), {"a": 5}), ((), {"a": 1, "b": 2}),
    ((1,), {"k": 2}), ((1,), {"m": 2}), ((1, 2), {"k": 2}), ((1,), {"z": 1}), ((1, 2), {"c": 7, "b": 8}),
    ((), {"k": 1}), ((1, 2.5, 3), {"k": 4}),
    ((1, 2, 3, 4, 5), {"m": 1}),
]  # fmt: skip


@pytest.mark.parametrize("func", binding_oracle(), ids=lambda f: f.__name__)
def test_arguments_bind_as_in_python(func):
    jitted = njit(func)
    for args, kwargs in CALLS:
        try:
            expected = func(*args, **kwargs)
        except TypeError as e:
            with pytest.raises(TypeError) as caught:
                jitted(*args, **kwargs)
            assert str(caught.value) == str(e)
        else:
            assert jitted(*args, **kwargs) == expected


def test_gathered_keywords_of_a_call_from_python():
    def count(x, *args, k=2, **named):
        return x * k + len(args) + 10 * len(named)

    lazy = njit(count)
    assert (lazy(1), lazy(1, 5, 6), lazy(1.5, k=3)) == (count(1), count(1, 5, 6), count(1.5, k=3))
    eager = njit("int64(int64, float64)")(lambda x, y, **named: x + len(named))
    assert eager(1, 2.0) == 1 and len(eager.signatures) == 1
    with pytest.raises(errors.UnsupportedError, match=r"takes keyword arguments by `\*\*`"):
        lazy(1, z=2)


def test_methods():
    class Counter:
        step = 3

        @njit
        def method(self_step, x):
            return self_step + x

        @staticmethod
        @njit
        def static(x):
            return x * 2

    assert Counter.static(4) == 8 and Counter().static(4) == 8
    assert Counter.method(1, 2) == 3
    bound = Counter.__dict__["method"].__get__(10, int)
    assert bound(5) == 15


def test_wraps_both_ways():
    def timed(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(*args)

        return wrapper

    @timed
    @njit
    def above(x):
        return x + 1

    @njit
    @timed
    def under(x):
        return x + 1

    assert above(1) == 2 and under(1) == 2 and above.__name__ == "above" and under.__name__ == "under"


def test_eager_signatures():
    for sig in ("float64(float64)", "(float64,)", types.float64(types.float64), (types.float64,), ["float64(float64)"]):
        f = njit(sig)(lambda x: x * 2)
        assert f.signatures == [(types.float64,)]
        assert f(2.0) == 4.0 and type(f(2)) is float and type(f(np.float32(1.5))) is float and f(True) == 2.0
        with pytest.raises(TypeError, match="No matching definition for argument type"):
            f("x")
        with pytest.raises(TypeError, match="No matching definition for argument type"):
            f(1j)


def test_eager_chooses_the_nearest():
    f = njit(["int64(int64)", "float64(float64)", "complex128(complex128)"])(lambda x: x)
    assert (
        type(f(1)) is int
        and type(f(np.int8(1))) is int
        and type(f(np.float32(1))) is float
        and type(f(np.complex64(1))) is complex
    )
    assert len(f.signatures) == 3


def test_eager_arrays():
    f = njit("float64(float64[:])")(lambda a: a[0])
    assert f(np.arange(3.0)) == 0.0 and f(np.arange(6.0)[::2]) == 0.0
    contiguous = njit("float64(float64[::1])")(lambda a: a[0])
    assert contiguous(np.arange(3.0)) == 0.0
    with pytest.raises(TypeError):
        contiguous(np.arange(6.0)[::2])
    with pytest.raises(TypeError):
        f(np.arange(3))


def test_eager_optional():
    f = njit(["(Optional(int64),)"])(lambda x: 0 if x is None else x)
    assert f(None) == 0 and f(5) == 5


def test_results_are_converted_to_what_the_signature_says():
    f = njit("float64(int64)")(lambda x: x)
    assert type(f(2)) is float and f.nopython_signatures == [types.float64(types.int64)]
    assert njit("Tuple((float64, complex128))(int64, float64)")(lambda x, y: (x, y))(1, 2.0) == (1.0, 2 + 0j)


def test_eager_void_and_wrong_result():
    assert njit("void(int64)")(lambda x: None)(1) is None
    with pytest.raises(errors.NumbaError):
        njit("int64(unicode_type)")(lambda x: x)


def test_compile_and_disable():
    f = njit(lambda x: x + 1)
    sig = f.compile("(int64,)")
    assert sig.args == (types.int64,) and sig.return_type == types.int64
    assert f.signatures == [(types.int64,)]
    f.disable_compile()
    assert f(1) == 2 and f(1.5) == 2
    f.disable_compile(False)
    assert f(1.5) == 2.5


def test_inspection():
    f = njit(lambda x: x + 1)
    assert f.signatures == [] and f.overloads == {}
    f(1), f(2.0)
    assert f.nopython_signatures == [types.int64(types.int64), types.float64(types.float64)]
    assert set(f.overloads) == {(types.int64,), (types.float64,)}
    assert f.overloads[(types.int64,)].signature == types.int64(types.int64)
    assert "define" in f.inspect_llvm((types.int64,)) and set(f.inspect_llvm()) == set(f.signatures)
    assert "ret" in f.inspect_asm((types.float64,))
    assert set(f.get_metadata()) == set(f.signatures) and f.get_metadata((types.int64,))["object_size"] > 0
    out = io.StringIO()
    f.inspect_types(out)
    assert "int64" in out.getvalue() and "float64" in out.getvalue()
    f.recompile()
    assert f(1) == 2 and len(f.signatures) == 2
    assert set(f.stats.cache_misses) == set(f.signatures) and f.stats.cache_hits == {}
    with pytest.raises(KeyError):
        f.inspect_llvm((types.complex64,))


def test_options_that_are_changed_count_when_something_is_compiled_next():
    options = {"error_model": "python"}
    f, g = njit(**options)(lambda x: 1 / x), njit(**options)(lambda x: 1 / x)
    with pytest.raises(ZeroDivisionError):
        f(0)
    assert f.targetoptions is f.targetoptions and f.targetoptions == options
    f.targetoptions["error_model"] = "numpy"
    assert options == g.targetoptions == {"error_model": "python"}
    with pytest.raises(ZeroDivisionError):
        f(0)
    assert f(0.0) == np.inf
    f.recompile()
    assert f(0) == np.inf and len(f.signatures) == 2
    with pytest.raises(ZeroDivisionError):
        g(0)
    f.targetoptions["error_model"] = "C"
    with pytest.raises(ValueError, match="'python' or 'numpy', not 'C'"):
        f.recompile()


def test_exceptions_have_the_compiled_frames():
    @njit
    def inner(a, i):
        return a[i]

    @njit
    def outer(a):
        return inner(a, 7)

    with pytest.raises(IndexError) as caught:
        outer(np.zeros(3))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames[-2:]] == ["outer", "inner"]
    assert all(f.filename == __file__ for f in frames[-2:]) and frames[-1].line == "return a[i]"


def test_exceptions_of_user_classes():
    class Failure(ValueError):
        def __init__(self, code, text):
            super().__init__(code, text)
            self.code = code

    @njit
    def fail(x):
        raise Failure(x, "text")

    with pytest.raises(Failure) as caught:
        fail(42)
    assert caught.value.code == 42 and caught.value.args == (42, "text")


def test_functions_as_arguments():
    @njit
    def apply(f, x):
        return f(x)

    double = njit(lambda x: x * 2)
    assert apply(double, 4) == 8 and apply(lambda x: x + 1, 4) == 5 and apply(double, 2.5) == 5.0


def test_nogil_runs_beside_other_threads():
    @njit(nogil=True)
    def spin(n):
        s = 0
        for i in range(n):
            s ^= i * i
        return s

    spin(1)
    results = []
    threads = [threading.Thread(target=lambda: results.append(spin(10**6))) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(set(results)) == 1 and len(results) == 4


def test_print_goes_to_sys_stdout(capsys):
    njit(lambda x: print("x =", x))(3)
    assert capsys.readouterr().out == "x = 3\n"


def test_disabled_jit(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)

    def f():
        return 1

    assert njit(f) is f and njit("int64()")(f) is f


def test_recursion():
    @njit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert fib(15) == 610


def test_recursion_from_any_place_on_the_stack():
    @njit
    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    def deeper(levels):
        if levels % 10 == 0:
            assert count(100) == 100
        if levels % 100 == 0:
            with pytest.raises(RecursionError):
                count(-1)
        # A call of a function in C has a frame on the stack.
        if levels < 300:
            max((levels, 0), key=lambda n: n and deeper(n + 1) or 0)

    deeper(1)


def test_dispatchers_are_not_made_by_hand():
    with pytest.raises(TypeError):
        _core.Dispatcher()


def test_import_is_quick_and_idle():
    import subprocess

    code = "import numpy, time; t = time.process_time(); import lancehead; print(time.process_time() - t)"
    took = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    assert took < 0.025, took


def test_version():
    assert lancehead.__version__.count(".") == 2


def test_integers_that_do_not_fit_a_signature_are_refused():
    for signature, fits, beyond in (
        ("uint64(uint64)", (0, 2**64 - 1, np.int8(3)), (-1, np.int8(-5))),
        ("uint8(uint8)", (255, np.int64(7)), (-1, 256, 2**63)),
        ("int8(int8)", (-128, 127), (128, -129)),
        ("int64(int64)", (2**63 - 1,), (2**63,)),
        ("Optional(int16)(Optional(int16))", (5,), (2**15,)),
    ):
        f = njit(signature)(lambda x: x)
        assert [f(x) for x in fits] == [int(x) for x in fits]
        for x in beyond:
            with pytest.raises(OverflowError, match="argument 1 is out of bounds"):
                f(x)
    pair = njit("int8(Tuple((float64, int8)))")(lambda t: t[1])
    assert pair((2.5, 7)) == 7
    with pytest.raises(OverflowError):
        pair((2.5, 300))
    assert njit("int8(int8)")(lambda x: x)(3.7) == 3


def test_signatures_have_a_type_for_each_parameter():
    def one(x):
        return x

    def two(x, y=2):
        return x + y

    def many(x, *rest, k=1):
        return x + len(rest) * k

    for function, signature in (
        (one, "int64(int64, int64)"),
        (one, "int64()"),
        (two, "int64(int64)"),
        (many, "(int64,)"),
    ):
        with pytest.raises(errors.TypingError, match="argument types? for"):
            njit(signature)(function)
    f = njit("int64(int64, int64, float64, int64)")(many)
    assert f(5, 1, 2.5) == 7 and f(5, 1, 2.5, k=3) == 11
    assert f.signatures == [(types.int64, types.Tuple((types.int64, types.float64)), types.int64)]
    assert njit([f.signatures[0]])(many)(5, 1, 2.5) == 7
    assert njit("(int64, int64, int64)")(lambda *a: a[0] - a[2])(9, 0, 4) == 5


def test_integers_for_signatures_of_floats():
    """Of types that cannot hold all integers, the one that holds more."""
    both = njit(["float32(float32, float32)", "float64(float64, float64)"])(lambda a, b: a + b)
    assert both(2**30 + 1, 1) == 2**30 + 2 and both(np.float32(1), np.float32(2)) == 3
