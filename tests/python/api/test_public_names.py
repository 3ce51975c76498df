"""Public names: the help of each, and the errors for names of Numba that lancehead does not have."""

from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import lancehead
from lancehead import cuda, njit, types
from lancehead.cuda import declared, libdevice
from lancehead.cuda import names as kernel_names
from lancehead.cuda.names import Name
from lancehead.lib import cuda as code_of_kernels
from lancehead.lib.cuda import random as code_of_random

LIBRARY = {"": code_of_kernels, "random": code_of_random}
GDB = "`lancehead.gdb_init` is not supported; compile with `debug=True` and start the program in gdb"


def every_part(name):
    """A name of kernels and its parts."""
    yield name
    for part in dir(name):
        yield from every_part(getattr(name, part))


def of_module(module):
    """Names of kernels in a module, by what users call them."""
    own = [v for n in dir(module) if isinstance(v := getattr(module, n), Name)]
    return {f"{module.__name__}.{n.path}.{n.__name__}": n for top in own for n in every_part(top)}


IN_CUDA = {**of_module(kernel_names), **of_module(cuda.random)}
OF_NVIDIA = {**of_module(libdevice), **of_module(cuda.fp16), **of_module(cuda.bf16)}


def run_example(text, name, names=None):
    """Runs the examples of a help text; returns what went wrong."""
    test = doctest.DocTestParser().get_doctest(text, names or {"np": np, "cuda": cuda, "types": types}, name, None, 0)
    assert test.examples, f"{name} has no example"
    told = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    return "".join(told)


def has_sentence(text):
    """Whether a help text says something before its example."""
    return re.search(r"(?s)[A-Z`0-9e].*[.:](\s|$)", text.split(">>>")[0])


# Numba's names


@pytest.mark.parametrize("statement", ["from lancehead import gdb_init", "import lancehead; lancehead.gdb_init"])
def test_f12_names_that_are_missing_say_what_to_write(statement):
    with pytest.raises((ImportError, AttributeError), match=re.escape(GDB)):
        exec(statement, {})


@pytest.mark.parametrize(
    "statement, instead",
    [
        ("from lancehead import jitclass", "use `lancehead.experimental.jitclass`"),
        ("from lancehead import generated_jit", "overload"),
        ("from lancehead import gdb_init", "debug=True"),
        ("from lancehead.extending import utils", "`lancehead.extending.utils` is not supported"),
        ("from lancehead.types import LiteralStrKey", "`lancehead.types.LiteralStrKey` is not supported"),
    ],
)
def test_f12_modules_and_their_names_that_are_missing(statement, instead):
    with pytest.raises(ImportError, match="is not supported; ") as raised:
        exec(statement, {})
    assert instead in str(raised.value)


def test_f12_the_text_is_that_of_lancehead_run(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "from numba import gdb_init\ntry:\n    gdb_init()\nexcept Exception as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "lancehead", "run", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == GDB.replace("lancehead.", "numba.")


def test_f12_what_nobody_knows_is_an_ordinary_error():
    assert not hasattr(lancehead, "gdb_init") and not hasattr(types, "LiteralStrKey")
    with pytest.raises(AttributeError, match=r"^module 'lancehead' has no attribute 'gibberish'$"):
        lancehead.gibberish
    with pytest.raises(ImportError, match="cannot import name 'nothing' from 'lancehead'"):
        exec("from lancehead import nothing", {})


def test_f12_cuda_is_loaded_when_it_is_asked_for():
    program = (
        "import sys, lancehead; loaded = set(sys.modules); assert 'cuda' in dir(lancehead); late = {m for m in loaded "
        "if m.startswith(('lancehead.cuda', 'lancehead.extending', 'lancehead._command', 'lancehead.lib'))}; assert "
        "not late, late; print(lancehead.cuda.grid, lancehead.extending.overload.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("<cuda.grid> overload\n", "")


def test_import_takes_no_time():
    """Time of the processor for the import without NumPy and the standard library."""
    program = (
        "import numpy, inspect, ctypes, contextlib, time; start = time.process_time(); import lancehead; "
        "print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", program]
    runs = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    assert min(runs) < 0.15


class Model:
    def method(self):
        return 1

    @property
    def size(self):
        return 1


DECORATED = [
    (Model, "classes are not compiled", "@staticmethod"),
    (staticmethod(Model.method), "put `@staticmethod` above `@njit`", "@staticmethod\n    @njit\n    def method"),
    (classmethod(Model.method), "Pass its fields to a function", "def method(x, y)"),
    (Model().method, "Pass its fields to a function", "def method(x, y)"),
    (Model.size, "Pass its fields to a function", "def size(x, y)"),
    (functools.partial(Model.method, 1), "write a function that calls `method`", "decorate that"),
    (len, "`len` is native already", "call it"),
]


@pytest.mark.parametrize("given, why, way_out", DECORATED, ids=lambda v: getattr(v, "__name__", "") or None)
def test_f12_what_is_no_function_is_refused_with_a_way_out(given, why, way_out):
    with pytest.raises(TypeError, match=r"^The decorated object is not a function \(got type <class") as raised:
        njit(given)
    assert why in str(raised.value) and way_out in str(raised.value)


def test_f12_a_function_with_a_cache_is_no_ufunc():
    with pytest.raises(TypeError, match="put the cache above `@vectorize`"):
        lancehead.vectorize(["float64(float64)"])(functools.lru_cache(Model.method))


@pytest.mark.parametrize("decorate, name", [
    (lancehead.vectorize(["float64(float64)"]), "vectorize"),
    (lancehead.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)"), "guvectorize"),
    (lancehead.stencil, "stencil"), (lancehead.cfunc("float64(float64)"), "cfunc"), (cuda.jit(device=True), "cuda.jit"),
])  # fmt: skip
def test_f12_the_way_out_names_the_decorator(decorate, name):
    with pytest.raises(TypeError, match=f"@{name}\n"):
        decorate(Model)


def test_f12_the_ways_out_work():
    class Shape:
        @staticmethod
        @njit
        def area(width, height):
            return width * height

    @functools.lru_cache
    @njit
    def square(x):
        return x * x

    assert Shape.area(2, 3) == 6
    assert (square(3), square(3), square.cache_info().hits) == (9, 9, 1)


# Names of kernels


def test_f15_all_names_are_looked_at():
    assert len(IN_CUDA) > 80 and len(OF_NVIDIA) > 500
    assert {*declared.__all__, "random"} == {n.path.split(".")[1] for n in IN_CUDA.values()}


@pytest.mark.parametrize("name", [*IN_CUDA.values(), *OF_NVIDIA.values()], ids=[*IN_CUDA, *OF_NVIDIA])
def test_f15_help_has_parameters_a_sentence_and_an_example_that_runs(name):
    text = inspect.getdoc(name)
    assert has_sentence(text) and "a meaning in kernels" not in text
    if text.startswith(name.__name__ + "("):
        kinds = {p.kind for p in inspect.signature(name).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    else:
        # Values and groups of names: a function could not be without parameters here.
        assert name.__name__ in "xyz" or name in (cuda.laneid, cuda.warpsize, kernel_names.grid_group) or dir(name)
    assert run_example(text, name.path) == ""


def in_library():
    """Names of kernels with their functions in the library."""
    for name in IN_CUDA.values():
        group, _, last = name.path.removeprefix("cuda.").rpartition(".")
        code = vars(LIBRARY[group]).get(last) if group in LIBRARY else None
        if inspect.isfunction(code) and last not in ("laneid", "warpsize"):
            yield pytest.param(name, code, id=name.path)


@pytest.mark.parametrize("name, code", list(in_library()))
def test_f15_declared_parameters_are_those_of_the_library(name, code):
    """Others would be typed and documented wrongly. The examples test names whose code is in Rust."""
    declared_, taken = ([(p.name, p.default) for p in inspect.signature(f).parameters.values()] for f in (name, code))
    assert declared_ == taken


def test_f15_help_is_what_pydoc_and_ipython_show(capsys):
    help(cuda.grid)
    shown = capsys.readouterr().out
    assert (
        "grid(ndim: int, /)" in shown and "Place of the thread in the whole grid" in shown and ">>> @cuda.jit" in shown
    )
    assert str(inspect.signature(cuda.shared.array)).startswith(
        "(shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None)"
    )


def test_f15_ipython_shows_parameters_once():
    from IPython.core.oinspect import Inspector

    shown = Inspector(theme_name="nocolor").info(cuda.grid, "cuda.grid")
    assert shown["definition"] == "cuda.grid(ndim: int, /) -> Any" and shown["call_def"] is None
    assert "Place of the thread" in shown["docstring"]


def test_names_of_kernels_are_refused_elsewhere():
    for name, call in (
        (cuda.grid, lambda: cuda.grid(1)),
        (cuda.atomic.add, cuda.atomic.add),
        (cuda.threadIdx, cuda.threadIdx),
    ):
        with pytest.raises(RuntimeError, match=f"^{name.path} has a meaning in kernels only$"):
            call()


def test_f15_completion_shows_operations_only():
    assert dir(cuda.atomic) == sorted(n for n in vars(declared.atomic) if not n.startswith("_"))
    assert dir(cuda.threadIdx) == ["x", "y", "z"]
    assert dir(cuda.grid) == []


def test_f15_help_costs_nothing_until_it_is_asked_for():
    program = (
        "import sys; from lancehead import cuda; late = [m for m in ('declared', 'described') if 'lancehead.cuda.' + m "
        "in sys.modules]; "
        "assert not late and 'lancehead.lib.cuda' not in sys.modules, late; print(cuda.popc.__doc__.splitlines()[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("popc(x: int) -> int\n", "")


# All public names

MODULES = (
    "lancehead", "lancehead.types", "lancehead.extending", "lancehead.errors", "lancehead.threads",
    "lancehead.decorators", "lancehead.stencils", "lancehead.cffi_support", "lancehead.pycc", "lancehead.cuda",
    "lancehead.cuda.random", "lancehead.cuda.errors", "lancehead.experimental.structref",
)  # fmt: skip
#: Written in Rust, where docstrings are a sentence.
IN_RUST = ("typeof", "literal", "unliteral", "Signature")


def public():
    """Public objects of modules, each once, but for types and names of kernels."""
    seen = []
    for module in map(importlib.import_module, MODULES):
        own = [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", None) == module.__name__]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if isinstance(value, (types.Type, Name, str)) or any(value is s for s in seen):
                continue
            seen.append(value)
            yield pytest.param(module, name, value, id=f"{module.__name__}.{name}")


PUBLIC = list(public())


def test_all_public_modules_are_looked_at():
    assert len(PUBLIC) > 150
    assert {m for m in MODULES if not importlib.import_module(m).__doc__} == set()


def modules_by_dir():
    """All modules that completion leads to from the package itself, by name."""
    found, waiting = {}, [lancehead]
    while waiting:
        module = waiting.pop()
        if module.__name__ not in found:
            found[module.__name__] = module
            values = (getattr(module, name) for name in dir(module))
            waiting += (v for v in values if inspect.ismodule(v) and v.__name__.startswith("lancehead."))
    return found


def test_f39_completion_shows_public_names_and_nothing_else():
    modules = modules_by_dir()
    packages = {"cuda", "cudalib", "cupy", "cupyx", "experimental", "extending", "gradients", "sparse", "typed", "xp"}
    assert {f"lancehead.{name}" for name in packages} <= modules.keys()
    assert {"lancehead.sparse.csgraph", "lancehead.xp.linalg", "lancehead.cupy.cuda.runtime"} <= modules.keys()
    for path, module in modules.items():
        shown = [name for name in dir(module) if name[:2] != "__"]
        assert len(shown) == len(set(shown)) and set(getattr(module, "__all__", ())) <= {*dir(module)}, path
        for name in shown:
            value = getattr(module, name)
            home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
            # NumPy's own classes are public names of `lancehead.cupy`, as they are of CuPy.
            assert home in (None, "builtins") or home.partition(".")[0] in ("lancehead", "numpy", "scipy"), (path, name)
            assert name not in ("annotations", "np", "numpy", "typing"), (path, name)
    assert len(modules) > 50


def test_all_public_modules_tell_the_nearest_name():
    for path, module in modules_by_dir().items():
        for name in [name for name in dir(module) if len(name) > 5 and name.isidentifier()][:3]:
            with pytest.raises(AttributeError) as caught:
                getattr(module, f"{name[:-1]}qq")
            assert "did you mean `" in str(caught.value), path


def test_f39_completion_loads_nothing():
    program = "import sys, lancehead; dir(lancehead); print('lancehead.cuda' in sys.modules, lancehead.xp.__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("False lancehead.xp\n", "")


def test_f39_help_of_decorators_reads_by_itself():
    for decorator in (lancehead.jit, njit, lancehead.vectorize, lancehead.guvectorize, lancehead.stencil, cuda.jit):
        text = inspect.getdoc(decorator)
        assert ".md)" not in text and not text.startswith("As "), decorator
        assert max(map(len, text.splitlines())) <= 116, decorator


@pytest.mark.parametrize("module, name, value", PUBLIC)
def test_every_public_name_has_a_sentence(module, name, value):
    text = inspect.getdoc(value)
    assert text and has_sentence(text)
    assert value.__doc__ or not isinstance(value, type), "the sentence is that of a base class"


@pytest.mark.parametrize(
    "module, name, value", [p for p in PUBLIC if callable(p.values[2]) and p.values[1] not in IN_RUST]
)
def test_every_public_function_has_parameters_and_an_example_that_runs(module, name, value):
    if isinstance(value, type) and issubclass(value, BaseException):
        assert issubclass(value, (Exception, Warning))
        return
    kinds = [p.kind for p in inspect.signature(value).parameters.values()]
    assert kinds != [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]
    names = {
        **vars(module),
        **vars(sys.modules[value.__module__]),
        "np": np,
        "cuda": cuda,
        "types": types,
        "njit": njit,
    }
    assert run_example(inspect.getdoc(value), name, names) == ""


@pytest.mark.parametrize(
    "value", [p.values[2] for p in PUBLIC if isinstance(p.values[2], type)], ids=lambda v: v.__name__
)
def test_every_public_method_has_a_sentence(value):
    members = {
        n: m for c in value.__mro__ if c.__module__.startswith("lancehead") for n, m in vars(c).items() if n[0] != "_"
    }
    bare = [
        n
        for n, m in members.items()
        if (callable(m) or isinstance(m, property)) and not has_sentence(inspect.getdoc(m) or "")
    ]
    assert bare == []
