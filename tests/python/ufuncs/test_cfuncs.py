"""C functions: compiled ones that C code calls, and C's that compiled code calls."""

import array
import ctypes
import math
import os
import subprocess
import sys

import cffi
import numpy as np
import pytest

from lancehead import carray, cffi_support, cfunc, errors, extending, farray, njit, prange, types, vectorize
from lancehead.experimental import jitclass

libc, libm = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")
sin = libm.sin
sin.argtypes, sin.restype = [ctypes.c_double], ctypes.c_double
qsort = libc.qsort
qsort.argtypes, qsort.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p], None
DOUBLES = ctypes.POINTER(ctypes.c_double)


def test_a_function_that_c_calls():
    @cfunc("float64(float64, float64)")
    def add(x, y):
        return x + y

    assert add.ctypes(2.0, 3.5) == 5.5 and add.__name__ == "add" and add.__wrapped__(1, 2) == 3
    assert ctypes.cast(add.ctypes, ctypes.c_void_p).value == add.address
    assert "add" in add.native_name and add.native_name in add.inspect_llvm() and "add" in repr(add)

    @cfunc("int8(int8, boolean, uint16, float32)")
    def mixed(a, b, c, d):
        return np.int8(-a) if b and c > 65000 and d == np.float32(0.1) else a

    assert mixed.ctypes(5, True, 65535, 0.1) == -5 and mixed.ctypes(-128, False, 0, 0) == -128

    @cfunc("boolean(int64)")
    def is_odd(n):
        return n % 2 == 1

    assert is_odd.ctypes(3) is True and is_odd.ctypes(4) is False


def test_results_are_converted_to_the_signature():
    @cfunc("int32(float64)")
    def truncated(x):
        return x

    assert truncated.ctypes(-3.7) == -3

    @cfunc("float64(int64, int64)", locals={"c": types.int64})
    def local(a, b):
        c = a / b
        return c

    assert local.ctypes(8, 3) == 2.0 and local.ctypes.restype is ctypes.c_double


def test_exceptions_are_told_and_give_zero(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: told.append((str(u.object), u.exc_type, str(u.exc_value))))

    @cfunc("float64(int64, int64)")
    def divide(a, b):
        return a / b

    assert divide.ctypes(5, 2) == 2.5 and not told
    assert divide.ctypes(5, 0) == 0.0
    assert told[0][1:] == (ZeroDivisionError, "division by zero") and told[0][0].endswith("divide")

    @cfunc("void(int64)")
    def nothing(n):
        if n:
            raise ValueError("no", n)

    assert nothing.ctypes(0) is None and nothing.ctypes(1) is None and told[1][2] == "('no', 1)"


def test_memory_of_c():
    def usecase(source, target, m, n):
        a = carray(source, (m, n))
        b = carray(target, 4)
        b[0], b[1], b[2], b[3] = a.ndim, a[1, 0], a.sum(), a.strides[0]

    def usecase_f(source, target, m, n):
        a = farray(source, (m, n), np.float64)
        b = farray(target, 4, dtype=np.float64)
        b[0], b[1], b[2], b[3] = a.ndim, a[1, 0], a.sum(), a.strides[0]

    for function, of in [(usecase, "CPointer(float64)"), (usecase_f, "CPointer(float64)"), (usecase_f, "voidptr")]:
        for size in ("int64", "int32", "uint64"):
            compiled = cfunc(f"void({of}, {of}, {size}, {size})")(function)
            a = np.arange(6.0).reshape(2, 3)
            got, want = np.zeros(4), np.zeros(4)
            pointers = [x.ctypes.data_as(DOUBLES) for x in (a, got, want)]
            compiled.ctypes(*pointers[:2], 2, 3) if of != "voidptr" else compiled.ctypes(
                a.ctypes.data, got.ctypes.data, 2, 3
            )
            function(pointers[0], pointers[2], 2, 3)
            assert got.tolist() == want.tolist()
    with pytest.raises(errors.TypingError, match="mismatching dtype 'float64' for pointer type 'float32\\*'"):
        cfunc("void(CPointer(float32), CPointer(float32), int64, int64)")(usecase_f)
    with pytest.raises(errors.TypingError, match="needs a dtype"):
        cfunc("void(voidptr, voidptr, int64, int64)")(usecase)


def test_carray_in_python():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    assert np.shares_memory(carray(pointer, (2, 3)), a) and carray(pointer, (2, 3)).tolist() == a.tolist()
    assert farray(pointer, (2, 3)).tolist() == a.reshape(3, 2).T.tolist() and carray(pointer, 6).shape == (6,)
    raw = ctypes.c_void_p(a.ctypes.data)
    assert carray(raw, 6, np.int32).tolist() == a.view(np.int32).ravel().tolist()
    for wrong in [(raw, 6), (a.ctypes.data, 6), (pointer, 6, np.int32)]:
        with pytest.raises(TypeError):
            carray(*wrong)


def test_c_functions_in_compiled_code():
    @njit
    def sines(x):
        return sin(x) + sin(x + 1)

    assert sines(1.0) == math.sin(1) + math.sin(2) and sines(1) == sines(1.0)
    assert vectorize(lambda x: sin(x))(np.arange(3.0)).tolist() == [math.sin(i) for i in range(3)]

    @njit(parallel=True)
    def rows(n):
        out = np.empty(n)
        for i in prange(n):
            out[i] = sin(float(i))
        return out

    assert rows(100).tolist() == [math.sin(i) for i in range(100)]
    assert njit(lambda f, x: f(x))(sin, 0.5) == math.sin(0.5)

    labs = libc.labs
    labs.argtypes, labs.restype = [ctypes.c_long], ctypes.c_long
    getpid = libc.getpid
    getpid.argtypes = []
    assert njit(lambda n: (labs(n), getpid()))(-5) == (5, os.getpid())


def test_arrays_and_callbacks_for_c():
    @cfunc("intc(CPointer(float64), CPointer(float64))")
    def compare(a, b):
        x, y = carray(a, 1)[0], carray(b, 1)[0]
        return -1 if x < y else 1 if x > y else 0

    address = compare.address

    @njit
    def sort(a):
        qsort(a, a.size, 8, address)
        return a

    assert sort(np.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 3]

    seen = []

    @ctypes.CFUNCTYPE(ctypes.c_int, DOUBLES, ctypes.c_void_p)
    def look(a, b):
        seen.append((a[0], b))
        return 7

    @njit
    def call(a):
        return look(a.ctypes, None) + look((a * 2).ctypes, a.ctypes.data) + look(a + 3, a)

    a = np.ones(4)
    assert call(a) == 21 and seen == [(1, None), (2, a.ctypes.data), (4, a.ctypes.data)]

    @njit
    def kept(a):
        memory = (a + 1).ctypes
        other = a * 0
        return look(memory, other), other

    assert kept(a)[0] == 7 and seen[-1][0] == 2
    # Compiled code calls a function compiled for C as any other one.
    assert njit(lambda x: plus(x, 1))(2) == 3.0


@cfunc("float64(float64, float64)")
def plus(x, y):
    return x + y


def test_what_is_wrong_is_told():
    with pytest.raises(TypeError, match="needs a signature"):
        cfunc(lambda x: x)
    untyped, words = libc.abs, libc.strlen
    words.argtypes = [ctypes.c_char_p]

    def message(f, *args):
        with pytest.raises(errors.TypingError) as e:
            njit(f)(*args)
        return str(e.value)

    assert "doesn't define its argument types" in message(lambda x: untyped(x), 1)
    assert "Unsupported ctypes type" in message(lambda x: words(x), 1)
    assert "Invalid use of `sin` with parameters (float64, float64)" in message(lambda x: sin(x, x), 1.0)

    look = ctypes.CFUNCTYPE(ctypes.c_int, DOUBLES)(lambda a: 0)
    assert "takes `pointer to float`, not" in message(lambda a: look(a), np.zeros(2, np.float32))
    first = cfunc("float64(float64[:])")(lambda a: a[0])
    with pytest.raises(TypeError, match="no parameter or result of type"):
        first.ctypes
    assert njit(lambda f, a: f(a))(first, np.ones(2)) == 1.0
    with pytest.raises(TypeError, match="result type"):
        cfunc("(float64,)")(lambda a: a)
    with pytest.raises(NotImplementedError):
        cfunc("float64(float64)", forceobj=True)


PROGRAM = """
from lancehead import cfunc
Z = {z}
@cfunc("float64(float64, float64)", cache=True)
def add(x, y):
    return x + y + Z
@cfunc("int64(float64)", cache=True)
def converted(x):
    return x + Z
print(add.ctypes(1.0, 2.0), converted.ctypes(2.5), add.cache_hits, converted.cache_hits)
"""


def test_cache(tmp_path):
    def run(z):
        (tmp_path / "program.py").write_text(PROGRAM.format(z=z))
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run(1) == ["4.0", "3", "0", "0"]
    assert run(1) == ["4.0", "3", "1", "1"]
    assert run(5) == ["8.0", "7", "0", "0"]


def test_cffi():
    ffi = cffi.FFI()
    ffi.cdef("double cos(double); void *memset(void *s, int c, size_t n); unsigned char tolower(unsigned char);")
    cos, memset = ffi.dlopen("libm.so.6").cos, ffi.dlopen(None).memset

    @njit
    def both(a, x):
        memset(a, 0, a.nbytes)
        memset(ffi.from_buffer(a), 1, 1)
        return cos(x)

    a = np.ones(2, np.int64)
    assert both(a, 1.0) == math.cos(1) and a.tolist() == [1, 0]
    assert njit(lambda f, x: f(x))(cos, 0.5) == math.cos(0.5)
    for wrong in (np.zeros(4)[::2], np.zeros((2, 2), order="F")):
        with pytest.raises(errors.TypingError, match="from_buffer"):
            njit(lambda a: memset(ffi.from_buffer(a), 0, 1))(wrong)
    # Objects with the buffer protocol are memory, too.
    items = array.array("q", [1, 2])
    njit(lambda a: memset(ffi.from_buffer(a), 0, 8))(items)
    assert items.tolist() == [0, 2]
    assert ffi.cast("double(*)(double, double)", plus.cffi)(1.0, 2.0) == 3.0


def test_modules_that_cffi_compiles(tmp_path):
    ffi = cffi.FFI()
    types_of_c = "typedef struct _pair { double re; double im; } pair;"
    ffi.set_source(
        "made_by_cffi",
        types_of_c
        + "static double re(pair *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i].re; return s; }",
    )
    ffi.cdef(types_of_c + "double re(pair *p, int n);")
    ffi.compile(tmpdir=str(tmp_path))
    sys.path.insert(0, str(tmp_path))
    try:
        import made_by_cffi
    finally:
        sys.path.remove(str(tmp_path))
    cffi_support.register_module(made_by_cffi)
    cffi_support.register_type(made_by_cffi.ffi.typeof("struct _pair"), types.complex128)
    re, own = made_by_cffi.lib.re, made_by_cffi.ffi

    @njit
    def total(a):
        return re(a, len(a)) + re(own.from_buffer(a), len(a))

    assert total(np.arange(4) * (1 + 1j)) == 12.0
    with pytest.raises(errors.TypingError, match="pointer to complex"):
        njit(lambda a: re(a, 1))(np.zeros(2))


def test_functions_by_their_address():
    """Of an object that says where its C function is, and of a function that a module made by Cython exports."""
    cython_special = pytest.importorskip("scipy.special.cython_special")
    names = [name for name in cython_special.__pyx_capi__ if name.endswith("1gamma") or name == "gamma"]

    class Gamma(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return extending.get_cython_function_address("scipy.special.cython_special", names[0])

        def signature(self):
            return types.float64(types.float64)

    gamma = Gamma()
    found = njit(lambda x: gamma(x) + 1)(5.0)
    assert found == 25.0
    with pytest.raises(ValueError, match="No function '.*' found in __pyx_capi__"):
        extending.get_cython_function_address("scipy.special.cython_special", "no_such_function")
    unsaid = types.WrapperAddressProtocol()
    with pytest.raises(errors.TypingError, match="has no `signature`"):
        njit(lambda x: unsaid(x))(5.0)


def test_nothing_is_called_at_address_0():
    class Nowhere(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return 0

        def signature(self):
            return types.int64()

    nowhere = Nowhere()
    for compiler in (njit, njit(types.int64(types.int64().as_type()))):
        with pytest.raises(ValueError, match="wrapper address of .* must be a positive integer"):
            compiler(lambda f: f())(nowhere)
    with pytest.raises(RuntimeError, match="`Nowhere` function address is null"):
        njit(lambda: nowhere())()


def test_a_cfunc_is_an_argument():
    @cfunc("float64(float64)")
    def thrice(x):
        return x * 3

    @njit
    def twice(f, x):
        return f(f(x))

    assert twice(thrice, 2.0) == 18.0 and twice(njit(lambda x: x + 1), 2.0) == 4.0

    @njit
    def both(functions, x):
        return functions[0](x) + functions[1](x)

    assert both((thrice, njit(lambda x: -x)), 2.0) == 4.0


def test_a_cfunc_comes_back_as_itself():
    half, double = (cfunc("float64(float64)")(f) for f in (lambda x: x / 2, lambda x: x * 2))
    assert njit(lambda f: f)(half) is half and njit(lambda: double)() is double
    choose = njit(lambda c, f, g: f if c else g)
    assert choose(True, half, double) is half and choose(False, half, double) is double
    # In Python, as in Numba, it is the Python function.
    assert half(3) == 1.5


def test_integers_are_addresses_where_one_is_declared():
    calloc, free = libc.calloc, libc.free
    calloc.argtypes, calloc.restype = [ctypes.c_size_t, ctypes.c_size_t], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None

    @jitclass
    class Memory:
        address: types.voidptr
        size: types.int64

        def __init__(self, address, size):
            self.address = address
            self.size = size

        def items(self):
            return carray(self.address, self.size, np.float64)

        def free(self):
            free(self.address)
            self.address = 0

    @njit
    def filled(n):
        memory = Memory(calloc(n, 8), n)
        memory.items()[:] = 1.5
        total = memory.items().sum()
        memory.free()
        return total

    assert filled(5) == 7.5
    values = np.arange(4.0)
    assert Memory(values.ctypes.data, 4).items().tolist() == [0, 1, 2, 3]
    assert Memory(np.uint64(values.ctypes.data), 2).items().tolist() == [0, 1]

    @njit("float64(voidptr, int64)")
    def last(address, n):
        return carray(address, n, np.float64)[n - 1]

    @njit
    def last_of(address, n):
        return last(address, n)

    assert last(values.ctypes.data, 3) == last_of(values.ctypes.data, 3) == 2.0
    with pytest.raises(errors.TypingError, match="the field `address` holds `address`, not `float`"):
        Memory(0.5, 1)


def test_the_address_of_records():
    records = np.zeros(3, [("a", np.int64), ("b", np.float64)])
    records["b"] = [0.5, 1.5, 2.5]
    second = njit(lambda r, n: r.ctypes.data + r.itemsize * n)(records, 1)
    assert second == records.ctypes.data + 16
    memcpy = libc.memcpy
    memcpy.argtypes, memcpy.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_void_p
    to = np.zeros_like(records)
    njit(lambda a, b: memcpy(a.ctypes, b.ctypes, 48))(to, records)
    assert to.tolist() == records.tolist()
