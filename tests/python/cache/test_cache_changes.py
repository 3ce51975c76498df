"""An entry of the cache is never wrong: whatever a function has read, a change of it is seen, and nothing else
matters."""

import os
import shutil
import time

import pytest

from cache_programs import Project


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def hit(result):
    return [result, 1, 0]


def miss(result):
    return [result, 0, 1]


CALL = "import m; tell(m.f, 10)"


def test_second_process_compiles_nothing(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x + 1\n")
    assert project.run(CALL) == miss(11)
    assert project.run(CALL) == hit(11)
    loaded = "import m; tell(m.f, 10); assert not [n for n in sys.modules if n.startswith('lancehead.lib')]"
    assert project.run(loaded) == hit(11)
    assert len(project.entries()) == 1


def test_each_signature_has_its_code(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x * 2\n")
    code = "import m; tell(m.f, 1); tell(m.f, 1.5); tell(m.f, np.arange(3)); tell(m.f, np.arange(3.0))"
    code = "import numpy as np\n" + code
    assert [t[0] for t in project.run(code)] == [2, 3.0, [0, 2, 4], [0.0, 2.0, 4.0]]
    assert project.run(code)[-1] == [[0.0, 2.0, 4.0], 4, 0]


def test_callee_in_another_file(project):
    project.write("helper.py", "def g(x): return x * 2\n")
    project.write("m.py", "import helper\n@njit(cache=True)\ndef f(x): return helper.g(x)\n")
    assert project.run(CALL) == miss(20)
    assert project.run(CALL) == hit(20)
    project.replace("helper.py", "x * 2", "x * 3")
    assert project.run(CALL) == miss(30)
    assert project.run(CALL) == hit(30)
    # The old code is there still.
    project.replace("helper.py", "x * 3", "x * 2")
    assert project.run(CALL) == hit(20)


def test_callee_of_a_callee_from_another_file(project):
    project.write("deep.py", "K = 5\ndef h(x): return x + K\n")
    project.write("helper.py", "from deep import h\n@njit\ndef g(x): return h(x)\n")
    project.write("m.py", "from helper import g\n@njit(cache=True)\ndef f(x): return g(x)\n")
    assert project.run(CALL) == miss(15)
    project.replace("deep.py", "K = 5", "K = 6")
    assert project.run(CALL) == miss(16)
    project.replace("deep.py", "x + K", "x - K")
    assert project.run(CALL) == miss(4)
    assert project.run(CALL) == hit(4)


@pytest.mark.parametrize(
    ("before", "after"),
    [("1", "2"), ("1", "1.0"), ("0.0", "-0.0"), ("True", "1"), ("'a'", "'b'"), ("(1, 2)", "(1, 3)"),
     ("(1, 2)", "(1, 2.0)"),
     ("np.float32(1)", "np.float64(1)"), ("[1, 2]", "[1, 2, 3]"), ("None", "0")],
)  # fmt: skip
def test_global_of_another_module(project, before, after):
    project.write("conf.py", f"K = {before}\n")
    project.write("m.py", "import conf\n@njit(cache=True)\ndef f(x): return str(conf.K) if False else (x, conf.K)\n")
    first = project.run(CALL)
    assert first[1:] == [0, 1] and project.run(CALL) == [first[0], 1, 0]
    project.replace("conf.py", f"K = {before}", f"K = {after}")
    assert project.run(CALL)[1:] == [0, 1]
    assert project.run(CALL)[1:] == [1, 0]


def test_unread_names_do_not_matter(project):
    project.write("conf.py", "K = 1\nOTHER = 2\n")
    project.write("m.py", "import conf\nUNREAD = 1\n@njit(cache=True)\ndef f(x): return x + conf.K\n")
    assert project.run(CALL) == miss(11)
    project.replace("conf.py", "OTHER = 2", "OTHER = 3\nMORE = 4")
    project.replace("m.py", "UNREAD = 1", "UNREAD = 2")
    assert project.run(CALL) == hit(11)
    # Names of the same module that only other functions read do not matter, either.
    project.write("n.py", "import conf\n@njit(cache=True)\ndef g(x): return x + conf.OTHER\n")
    code = "import m, n; tell(n.g, 10); tell(m.f, 10)"
    assert project.run(code) == [miss(13), hit(11)]
    project.replace("conf.py", "OTHER = 3", "OTHER = 5")
    assert project.run(code) == [miss(15), hit(11)]


def test_builtin_that_becomes_a_global(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return abs(-x)\n")
    assert project.run(CALL) == miss(10)
    assert project.run("import m; m.abs = m.njit(lambda x: x * 7); tell(m.f, 10)") == miss(-70)
    assert project.run(CALL) == hit(10)


def test_closure_values(project):
    project.write("m.py", """
        def make(k):
            @njit(cache=True)
            def f(x): return x + k
            return f
    """)  # fmt: skip
    code = "import m\nfor k in (1, 2, 3): tell(m.make(k), 10)"
    assert project.run(code) == [miss(11), miss(12), miss(13)]
    assert project.run(code) == [hit(11), hit(12), hit(13)]
    assert project.run("import m; tell(m.make(1.0), 10)") == miss(11.0)


def test_closure_over_functions(project):
    project.write("m.py", """
        def compose(g, h):
            @njit(cache=True)
            def f(x): return g(h(x))
            return f
        @njit
        def double(x): return x * 2
        @njit
        def inc(x): return x + 1
    """)  # fmt: skip
    code = "import m\ntell(m.compose(m.double, m.inc), 10); tell(m.compose(m.inc, m.double), 10)"
    assert project.run(code) == [miss(22), miss(21)]
    assert project.run(code) == [hit(22), hit(21)]
    project.replace("m.py", "x * 2", "x * 3")
    assert project.run(code) == [miss(33), miss(31)]


def test_functions_as_arguments(project):
    project.write("m.py", """
        K = 1
        @njit(cache=True)
        def f(g, x): return g(x)
        @njit
        def inc(x): return x + K
    """)  # fmt: skip
    code = "import m\ntell(m.f, m.inc, 10); tell(m.f, m.njit(lambda x: x * 2), 10)"
    assert project.run(code) == [[11, 0, 1], [20, 0, 2]]
    assert project.run(code) == [[11, 1, 0], [20, 2, 0]]
    project.replace("m.py", "K = 1", "K = 2")
    assert project.run(code) == [[12, 0, 1], [20, 1, 1]]


def test_global_array(project):
    project.write("m.py", "T = np.array([1.0, 2.0])\n@njit(cache=True)\ndef f(x): return T[0] + x\n")
    assert project.run(CALL) == miss(11.0)
    # The array's memory is read in place: the items may differ, the type may not.
    project.replace("m.py", "[1.0, 2.0]", "[5.0, 2.0]")
    assert project.run(CALL) == hit(15.0)
    assert project.run("import m; m.T[0] = 7; tell(m.f, 10)") == hit(17.0)
    project.replace("m.py", "[5.0, 2.0]", "[5, 2]")
    assert project.run(CALL) == miss(15)
    project.replace("m.py", "[5, 2]", "[5, 2, 3]")
    assert project.run("import m; tell(m.f, 10)")[1:] == [0, 1]


def test_arrays_inside_tuples(project):
    project.write("m.py", "T = (np.arange(3), np.arange(3.0))\n@njit(cache=True)\ndef f(x): return T[1][x] + T[0][x]\n")
    assert project.run("import m; tell(m.f, 2)") == miss(4.0)
    assert project.run("import m; tell(m.f, 2)") == hit(4.0)


def test_argument_dtype_and_layout(project):
    project.write("m.py", "@njit(cache=True)\ndef f(a): return a.sum()\n")
    arrays = [
        "np.ones(4, 'f4')",
        "np.ones(4)",
        "np.ones(8)[::2]",
        "np.ones((2, 2))",
        "np.ones((2, 2), order='F')",
        "np.ones(4, 'u1')",
    ]
    code = "import m, numpy as np\n" + "; ".join(f"tell(m.f, {a})" for a in arrays)
    assert project.run(code)[-1] == [4, 0, 6]
    assert project.run(code)[-1] == [4, 6, 0]


@pytest.mark.parametrize("option", ["fastmath=True", "boundscheck=False", "error_model='numpy'"])
def test_options(project, option):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x / 4\n")
    assert project.run(CALL) == miss(2.5)
    project.replace("m.py", "cache=True", f"cache=True, {option}")
    assert project.run(CALL) == miss(2.5)
    assert project.run(CALL) == hit(2.5)


def test_options_of_a_callee(project):
    project.write("helper.py", "@njit\ndef g(x): return 1 / x\n")
    project.write("m.py", "from helper import g\n@njit(cache=True)\ndef f(x): return g(x)\n")
    assert project.run("import m; tell(m.f, 0)") == miss("ZeroDivisionError: division by zero")
    project.replace("helper.py", "@njit", "@njit(error_model='numpy')")
    assert project.run("import m; tell(m.f, 0)") == miss(float("inf"))


def test_signatures_of_a_callee(project):
    project.write("helper.py", "@njit('float64(float64)')\ndef g(x): return x\n")
    project.write("m.py", "from helper import g\n@njit(cache=True)\ndef f(x): return g(x) / 4\n")
    assert project.run("import m; tell(m.f, 2.5)") == miss(0.625)
    assert project.run("import m; tell(m.f, 2.5)") == hit(0.625)
    project.replace("helper.py", "float64(float64)", "int64(int64)")
    assert project.run("import m; tell(m.f, 2.5)") == miss(0.5)


def test_monkeypatched_helper(project):
    project.write("helper.py", "def g(x): return x + 1\n")
    project.write("m.py", "import helper\n@njit(cache=True)\ndef f(x): return helper.g(x)\n")
    assert project.run(CALL) == miss(11)
    patched = "import m, helper\nhelper.g = lambda x: x - 1\ntell(m.f, 10)"
    assert project.run(patched) == miss(9)
    assert project.run(patched) == hit(9)
    assert project.run(CALL) == hit(11)
    # Patched after the first call, which came from the cache.
    late = "import m, helper\ntell(m.f, 10)\nhelper.g = lambda x: x * 5\ntell(m.f, 10)"
    assert project.run(late) == [hit(11), [50, 1, 1]]


def test_code_and_defaults_replaced(project):
    project.write("m.py", "def g(x, y=1): return x + y\n@njit(cache=True)\ndef f(x): return g(x)\n")
    assert project.run(CALL) == miss(11)
    assert project.run("import m; m.g.__defaults__ = (2,); tell(m.f, 10)") == miss(12)
    assert project.run(
        "import m; m.g.__code__ = (lambda x, y: x * y).__code__; m.g.__defaults__ = (2,); tell(m.f, 10)"
    ) == miss(20)
    assert project.run(CALL) == hit(11)


def test_keyword_defaults_replaced(project):
    project.write(
        "m.py",
        "def g(x, *, k=(1, 2.5), s='a'): return x * k[0] + k[1] + len(s)\n@njit(cache=True)\ndef f(x): return g(x)\n",
    )
    changes = (
        "import m; tell(m.f, 10); m.g.__kwdefaults__['s'] = ''; tell(m.f, 10); m.g.__kwdefaults__ = {'k': (2, 0), 's': "
        "''}; tell(m.f, 10)"
    )
    assert project.run(changes) == [miss(13.5), [12.5, 0, 2], [20, 0, 3]]
    assert project.run(changes) == [hit(13.5), [12.5, 2, 0], [20, 3, 0]]


#: A function that launches a kernel for a number and gives the number that it stores.
LAUNCHED = """
class launched:
    def __init__(self, kernel): self.kernel = kernel
    stats = property(lambda self: self.kernel.stats)
    def __call__(self, x):
        out = np.zeros(1)
        self.kernel[1, 1](x, out)
        return out[0]
"""
INSIDE = {
    "default": "def a(x): return x * mod.K\ndef g(x, h=a): return h(x)",
    "ufunc": "@vectorize(['float64(float64)'])\ndef g(x): return x * mod.K",
    "stencil": "@stencil\ndef s(a): return a[0] * mod.K\n@njit\ndef g(x): return s(np.full(3, x))[1]",
    "device function": (
        "@cuda.jit(device=True)\ndef d(x): return x * mod.K\n@cuda.jit(cache=True)\ndef k(x, out): out[0] = d(x)\nf = "
        "launched(k)"
    ),
}


@pytest.mark.parametrize("what", INSIDE)
def test_attributes_that_functions_inside_of_others_read(project, what):
    project.write("mod.py", "K = 7.0\n")
    project.write("lib.py", "from lancehead import cuda, stencil, vectorize\nimport mod\n" + LAUNCHED + INSIDE[what])
    main = "from lib import f" if "f =" in INSIDE[what] else "import lib\n@njit(cache=True)\ndef f(x): return lib.g(x)"
    project.write("m.py", main + "\n")
    assert project.run(CALL) == miss(70.0)
    assert project.run(CALL) == hit(70.0)
    project.replace("mod.py", "7.0", "8.0")
    assert project.run(CALL) == miss(80.0)
    assert project.run(CALL) == hit(80.0)


def test_modules_of_device_functions_in_other_files(project):
    project.write("deep.py", "from lancehead import cuda\nQ = 7\n@cuda.jit(device=True)\ndef h(x): return x + Q\n")
    project.write(
        "dev.py", "from lancehead import cuda\nimport deep\n@cuda.jit(device=True)\ndef g(x): return deep.h(x) * 2\n"
    )
    kernel = "@cuda.jit(cache=True)\ndef k(x, out): out[0] = dev.g(x)\nf = launched(k)\n"
    project.write("m.py", "from lancehead import cuda\nimport dev\n" + LAUNCHED + kernel)
    assert project.run(CALL) == miss(34.0)
    assert project.run(CALL) == hit(34.0)
    project.replace("deep.py", "Q = 7", "Q = 8")
    assert project.run(CALL) == miss(36.0)


def test_records_as_arguments_and_results(project):
    project.write("conf.py", "D = np.dtype([('a', 'i4'), ('b', 'f8', (2,)), ('c', [('d', 'f4')])], align=True)\n")
    project.write("m.py", """
        from conf import D
        @njit(cache=True)
        def f(r): return r[0].a + r[1].b[1] + r[0].c.d
        @njit(cache=True)
        def g(r): return r[::-1]
        def whole(r): return bool(g(r).dtype == D)
    """)  # fmt: skip
    code = (
        "import m, numpy as np; tell(m.f, np.ones(2, m.D)); m.whole(np.ones(2, m.D)); m.whole.stats = m.g.stats; "
        "tell(m.whole, np.ones(2, m.D))"
    )
    assert project.run(code) == [miss(3.0), miss(True)]
    assert project.run(code) == [hit(3.0), hit(True)]
    project.replace("conf.py", "('a', 'i4')", "('a', 'i8')")
    assert project.run(code) == [miss(3.0), miss(True)]
    project.replace("conf.py", "('d', 'f4')", "('d', 'f8')")
    assert project.run(code) == [miss(3.0), miss(True)]
    assert project.run(code) == [hit(3.0), hit(True)]


def test_class_attributes(project):
    project.write("m.py", "class C:\n    K = 1\n@njit(cache=True)\ndef f(x): return x + C.K\n")
    assert project.run(CALL) == miss(11)
    assert project.run("import m; m.C.K = 2; tell(m.f, 10)") == miss(12)
    assert project.run(CALL) == hit(11)


def test_enums_named_tuples_and_exceptions(project):
    project.write("m.py", """
        import enum
        from typing import NamedTuple
        class E(enum.IntEnum):
            A = 1
        class P(NamedTuple):
            a: int
            b: float
        class Bad(ValueError): pass
        @njit(cache=True)
        def f(x):
            if x > 100: raise Bad("too large", x)
            return P(x, E.A + 0)
        @njit(cache=True)
        def g(x):
            try:
                return f(x).a
            except Bad:
                return -1
    """)  # fmt: skip
    code = "import m\ntell(m.f, 10); tell(m.g, 1000); tell(m.f, 1000)\nassert type(m.f(1)) is m.P"
    expected = [[10, 1], -1, "Bad: ('too large', 1000)"]
    assert [t[0] for t in project.run(code)] == expected
    told = project.run(code)
    assert [t[0] for t in told] == expected and told[-1][1:] == [1, 0]
    project.replace("m.py", "A = 1", "A = 2")
    assert project.run(code)[0] == miss([10, 2])


def test_processor(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x * 0.5\n")
    assert project.run(CALL) == miss(5.0)
    project.env["LANCEHEAD_CPU_NAME"] = "x86-64"
    project.env["LANCEHEAD_CPU_FEATURES"] = ""
    assert project.run(CALL) == miss(5.0)
    project.env["LANCEHEAD_CPU_FEATURES"] = "+sse3"
    assert project.run(CALL) == miss(5.0)
    assert project.run(CALL) == hit(5.0)
    project.env.clear()
    assert project.run(CALL) == hit(5.0)


def test_time_stamps_do_not_matter(project):
    path = project.write("m.py", "@njit(cache=True)\ndef f(x): return x + 1\n")
    assert project.run(CALL) == miss(11)
    for stamp in (0, time.time() + 1e6):
        os.utime(path, (stamp, stamp))
        for entry in project.entries():
            os.utime(entry, (stamp, stamp))
        assert project.run(CALL) == hit(11)
    project.replace("m.py", "x + 1", "x + 2")
    assert project.run(CALL) == miss(12)


def test_moved_sources(project):
    project.write("a/m.py", "@njit(cache=True)\ndef f(x):\n    if x < 0: raise ValueError\n    return x + 1\n")
    call = "import a.m; tell(a.m.f, 10)"
    assert project.run(call) == miss(11)
    shutil.move(project.path / "a", project.path / "b")
    assert project.run("import b.m; tell(b.m.f, 10)") == hit(11)
    # A traceback shows where the source is now.
    project.run("import b.m, traceback\ntry: b.m.f(-1)\nexcept ValueError: traceback.print_exc()")
    assert str(project.path / "b/m.py") in project.errors and str(project.path / "a/m.py") not in project.errors


def test_lines_of_tracebacks(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x):\n    if x < 0: raise ValueError\n    return x + 1\n")
    assert project.run(CALL) == miss(11)
    project.replace("m.py", "@njit", "# A line more.\n@njit")
    project.run("import m, traceback\ntry: m.f(-1)\nexcept ValueError: traceback.print_exc()")
    assert "line 6, in f" in project.errors


def test_library_and_compiler(project, tmp_path):
    import lancehead

    copy = tmp_path / "site" / "lancehead"
    shutil.copytree(lancehead.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
    project.write("m.py", "@njit(cache=True)\ndef f(x): return np.cbrt(x)\n")
    project.env["PYTHONPATH"] = str(copy.parent)
    project.run(CALL)
    assert project.run(CALL)[1:] == [1, 0]
    # Another version of the library makes other code.
    path = copy / "lib" / "numpy" / "_ufuncs.py"
    path.write_text(path.read_text() + "\n# Changed.\n")
    assert project.run(CALL)[1:] == [0, 1]


def test_recursion(project):
    project.write("m.py", "@njit(cache=True)\ndef f(n): return 1 if n < 2 else n * f(n - 1)\n")
    assert project.run(CALL) == miss(3628800)
    assert project.run(CALL) == hit(3628800)


def test_recompile_takes_nothing_from_the_cache(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x + 1\n")
    assert project.run(CALL) == miss(11)
    assert project.run("import m; tell(m.f, 10); m.f.recompile(); tell(m.f, 10)") == [hit(11), [11, 1, 1]]


def test_texts_of_cached_code(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return x + 1\n")
    project.run(CALL)
    code = (
        "import m; tell(m.f, 10); assert 'ret' in m.f.inspect_asm(m.f.signatures[0]); str(m.f.explain()); "
        "m.f.inspect_types(sys.stderr)"
    )
    assert project.run(code) == hit(11)


def test_eager_signatures(project):
    project.write("m.py", "@njit(['float64(float64)', 'int64(int64)'], cache=True)\ndef f(x): return x + 1\n")
    assert project.run(CALL) == [11, 0, 2]
    assert project.run(CALL) == [11, 2, 0]


CALLS = """
import m
tell(m.g, 2); tell(m.g, 2.5); tell(m.h, (1, 2.0)); tell(m.deep, 3)
"""


def test_callees_have_entries_of_their_own(project):
    project.write(
        "m.py",
        """
        K = 1
        @njit(cache=True)
        def deep(x): return x + K
        @njit(cache=True)
        def g(x, y=1): return deep(x) * y
        @njit(cache=True)
        def h(t): return t[0] + t[1]
        @njit
        def f(a): return g(a[0]) + g(2.5) + h((1, 2.0))
        """,
    )
    # None of a caller that is not cached itself.
    assert project.run("import m, numpy; tell(m.f, numpy.arange(3))") == miss(7.5)
    assert len(project.entries()) == 5
    warm = [hit(3), hit(3.5), hit(3.0), hit(4)]
    warm[1] = [3.5, 2, 0]
    assert project.run(CALLS) == warm
    project.replace("m.py", "K = 1", "K = 2")
    assert project.run(CALLS) == [miss(4), [4.5, 0, 2], hit(3.0), [5, 0, 2]]
    # In this process the entries count as if the functions had been called.
    both = "import m, numpy; tell(m.f, numpy.arange(3)); tell(m.g, 0); tell(m.g, 0.5)"
    assert project.run(both) == [miss(9.5), [2, 2, 0], [2.5, 2, 0]]


@pytest.mark.parametrize("environment", [{}, {"LANCEHEAD_CACHE": "0"}, {"LANCEHEAD_CACHE": "1"}])
def test_callees_without_entries(project, environment):
    project.env.update(environment)
    project.write(
        "m.py",
        """
        @njit
        def plain(x): return x + 1
        @njit("int64(int64)", cache=True)
        def given(x): return x + 1
        @njit(cache=True)
        def makes(x): return lambda y: x + y
        @njit(cache=True)
        def gives(n):
            for i in range(n): yield i
        @njit(cache=True)
        def takes(f, x): return f(x)
        @njit
        def f(x):
            for i in gives(x): x += i
            return plain(x) + given(x) + makes(x)(1) + takes(plain, x)
        """,
    )
    cached = environment.get("LANCEHEAD_CACHE") != "0"
    project.run("import m; tell(m.given, 1)")
    before = project.entries()
    assert len(before) == cached
    assert project.run("import m; tell(m.f, 3)")[0] == 28
    assert len(project.entries()) == len(before) + (environment.get("LANCEHEAD_CACHE") == "1")
