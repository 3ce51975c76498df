"""`import numba` served by lancehead: in this process, in those that it starts, and in a whole environment."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lancehead
from lancehead._command import environment, serve

ROOT = Path(__file__).parents[3]
SITE = Path(lancehead.__file__).parents[1]


def run(*arguments: str, python: Any = sys.executable, **variables: str) -> str:
    kept = {k: v for k, v in os.environ.items() if k != "LANCEHEAD_SERVE_NUMBA"}
    done = subprocess.run(
        [python, *arguments], env={**kept, **variables}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_file_that_comes_with_lancehead() -> None:
    assert (ROOT / "python/lancehead_by_variable.pth").read_text() == environment.BY_VARIABLE
    assert (SITE / "lancehead_by_variable.pth").read_text() == environment.BY_VARIABLE


PROGRAM = """
import importlib.metadata, multiprocessing
import numba, numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

@numba.njit
def twice(a):
    return a[0] * 2

def inner(x):
    return int(twice(np.array([x], np.uint8))), numba.njit.__module__

if __name__ == "__main__":
    print(numba.__version__, numba.version_info.short, importlib.metadata.version("numba"))
    print(isinstance(twice, Dispatcher), isinstance(twice, CPUDispatcher), inner(200))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(inner, [100, 200]))
"""
SAID = """0.68.1 (0, 68) 0.68.1
True True (400, 'lancehead.decorators')
[(200, 'lancehead.decorators'), (400, 'lancehead.decorators')]
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def test_children_are_served(program: str) -> None:
    assert run("-m", "lancehead", "run", program) == SAID


def test_by_a_variable(program: str) -> None:
    assert run(program, LANCEHEAD_SERVE_NUMBA="1") == SAID


def test_by_a_call(program: str) -> None:
    Path(program).write_text("import lancehead; lancehead.serve_numba()\n" + PROGRAM)
    assert run(program) == SAID


def test_in_an_environment(tmp_path: Path, program: str) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env/bin/python"
    ours = {"PYTHONPATH": str(SITE)}
    assert run("-m", "lancehead", "numba", "status", python=python, **ours).startswith("off: ")
    assert run("-m", "lancehead", "numba", "on", python=python, **ours).startswith("on: ")
    assert run(program, python=python, **ours) == SAID
    assert run("-c", "import sys; print('lancehead' in sys.modules)", python=python, **ours) == "False\n"
    assert run("-m", "lancehead", "numba", "off", python=python, **ours).startswith("off: ")
    assert "serves it" in run("-m", "lancehead", "numba", "status", python=python, **ours)


NAMES = """
core.caching cpython.unsafe.tuple core.extending.intrinsic core.extending.box core.extending.typeof_impl
core.extending.register_model core.types.Function core.types.DType types.DType types.BoundFunction
types.StarArgUniTuple types.abstract types.misc types.common types.TypeRef types.RawPointer types.npy_rng
types.NumPyRandomGeneratorType types.DTypeSpec types.VarArg core.base core.pythonapi core.decorators._jit
core.dispatcher.Dispatcher config.USING_SVML np.arraymath extending.SentryLiteralArgs extending.utils cuda.target
cuda.cudaimpl cuda.cudadrv.driver core.typing.templates core.datamodel.models parfors.parfor np.ufunc.dufunc
experimental.function_type core.runtime.nrt core.types.abstract.Hashable np.numpy_support.as_dtype
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_names_that_programs_import(name: str) -> None:
    parent, _, last = f"numba.{name}".rpartition(".")
    program = f"import lancehead; lancehead.serve_numba()\nfrom {parent} import {last}\nimport numba\n"
    exec(compile(program, "<program>", "exec"), {})


def test_what_numba_does_not_have_either() -> None:
    module = serve.NumbaModule("numba")
    with pytest.raises(AttributeError, match="does not provide `numba.nothing_like_this`"):
        module.nothing_like_this
    with pytest.raises(ImportError):
        serve.NumbaFinder().find_spec("numba.nothing_like_this")


def test_an_unsupported_function_behind_a_signature_fails_when_it_is_called() -> None:
    from_numba = serve.NumbaModule("numba.extending")
    signature = lancehead.types.uint8(lancehead.types.uint8)
    pop = from_numba.intrinsic(lambda context, x: (signature, lambda c, builder, s, args: builder.no_such_thing()))
    f = serve.NumbaModule("numba").njit("uint8(uint8)")(lambda x: pop(x))
    with pytest.raises(lancehead.errors.LoweringError, match="no_such_thing"):
        f(np.uint8(1))


def test_signatures_of_a_function_that_is_inlined_limit_python_only() -> None:
    njit = serve.NumbaModule("numba").njit
    add = njit(["void(float32[:], int32[:])", "void(float64[:], int64[:])"], inline="always")(_add)
    total = njit(lambda a, b: (add(a, b), a.sum())[1])
    assert total(np.zeros(3, np.float32), np.arange(3)) == 3.0


def _add(a: Any, b: Any) -> None:
    for i in range(len(a)):
        a[i] += b[i]


def test_settings_that_a_program_changes_are_lanceheads() -> None:
    program = (
        "import lancehead; lancehead.serve_numba(); import numba\n"
        "from numba.core import config\n"
        "def f(x): return x\n"
        "numba.config.DISABLE_JIT = 1\n"
        "print(numba.njit(f) is f, config.DISABLE_JIT, lancehead.config.DISABLE_JIT)\n"
        "config.DISABLE_JIT = 0\n"
        "print(numba.njit(f) is f, numba.config.DISABLE_JIT, lancehead.config.DISABLE_JIT)\n"
    )
    assert run("-c", program) == "True 1 1\nFalse 0 0\n"


def test_functions_are_compiled_for_debugging_where_a_variable_says_it() -> None:
    program = (
        "import lancehead, numpy as np; lancehead.serve_numba(); import numba\n"
        "def f(a): return a * 2.0 + 1.0\n"
        "def is_fast(made): made(np.ones(3)); return 'fmuladd.v' in made.inspect_llvm(made.signatures[0]) or "
        "'x double>' in made.inspect_llvm(made.signatures[0])\n"
        "print(is_fast(numba.njit(f)), is_fast(numba.njit(debug=False)(f)), is_fast(numba.njit(debug=True)(f)))\n"
        "numba.config.DEBUGINFO_DEFAULT = 0\n"
        "print(is_fast(numba.njit(f)))\n"
    )
    assert run("-c", program) == "True True False\nTrue\n"
    assert run("-c", program, NUMBA_DEBUGINFO="1") == "False True False\nTrue\n"
    assert run("-c", program, LANCEHEAD_DEBUGINFO="1") == "False True False\nTrue\n"


def test_bounds_are_checked_unless_numbas_variable_says_not() -> None:
    program = (
        "import lancehead, numpy as np; lancehead.serve_numba(); import numba\n"
        "@numba.njit\ndef f(a, i): return a[i]\n"
        "@lancehead.njit\ndef g(a, i): return a[i]\n"
        "for h in f, g:\n"
        "    try: h(np.zeros(2), 2); print('read')\n"
        "    except IndexError: print('refused')\n"
    )
    assert run("-c", program) == "refused\nrefused\n"
    assert run("-c", program, NUMBA_BOUNDSCHECK="0") == "read\nrefused\n"
    assert run("-c", program, LANCEHEAD_BOUNDSCHECK="0") == "read\nread\n"
    assert run("-c", program, LANCEHEAD_UNCHECKED="other,__main__") == "read\nread\n"
    assert run("-c", program, LANCEHEAD_UNCHECKED="main") == "refused\nrefused\n"


def test_dictionaries_in_results_are_typed() -> None:
    made = serve.NumbaModule("numba").njit(lambda n: {i: float(i) for i in range(n)})(3)
    assert type(made) is lancehead.typed.Dict and dict(made) == {0: 0.0, 1: 1.0, 2: 2.0}
    nested = serve.NumbaModule("numba").njit(lambda n: ({1: n}, [n]))(3)
    assert type(nested[0]) is lancehead.typed.Dict and nested[1] == [3]
    assert lancehead.njit(lambda n: {1: n})(3) == {1: 3}


@pytest.mark.parametrize(
    "asked", ["", "NUMBA_ENABLE_CUDASIM=1", "LANCEHEAD_CUDA_DEVICE=cpu", "LANCEHEAD_CPU_DEVICES=2"]
)
def test_a_gpu_is_there_only_if_somebody_asked_for_the_cpu_device(asked: str) -> None:
    name, _, value = asked.partition("=")
    variables = {"LANCEHEAD_CUDA_DRIVER": "/nowhere", "LANCEHEAD_CUDA_DEVICE": ""} | ({name: value} if name else {})
    code = "from lancehead._command import serve; serve.install(); from numba import cuda; print(cuda.is_available())"
    assert run("-c", code, **variables) == f"{bool(asked)}\n"


def test_integers_to_negative_powers() -> None:
    njit = serve.NumbaModule("numba").njit
    power = njit(lambda a, b: a**b)
    for dtype in (np.int8, np.int32, np.int64):
        found = [power(dtype(a), dtype(b)) for a in (-2, -1, 1, 2) for b in (-3, -2, -1)]
        assert found == [0, 0, 0, -1, 1, -1, 1, 1, 1, 0, 0, 0]
    assert power(3, 4) == 81 and power(2.0, -1) == 0.5
    with pytest.raises(ZeroDivisionError):
        power(0, -1)
    assert njit(lambda a, b: a**b, error_model="numpy")(0, -1) == np.iinfo(np.int64).min
    with pytest.raises(OverflowError):
        power(2, np.iinfo(np.int64).min)
    with pytest.raises(ValueError, match="negative integer powers"):
        lancehead.njit(lambda a, b: a**b)(2, -1)


def test_parallel_loops_are_supported() -> None:
    serve.NumbaModule("numba.parfors.parfor").ensure_parallel_support()


@pytest.mark.parametrize(
    "line, meant", [("numba.njt", "njit"), ("from numba import vectorise", "vectorize"), ("cuda.gird", "grid")]
)
def test_misspelt_names_of_numba_are_told_with_the_nearest_one(line, meant):
    caught = "except (AttributeError, ImportError) as e:\n    print(e)\n"
    program = f"import numba\nfrom numba import cuda\ntry:\n    {line}\n{caught}"
    done = subprocess.run([sys.executable, "-m", "lancehead", "run", "-c", program], capture_output=True, text=True)
    assert f"did you mean `{meant}`?" in done.stdout, done.stderr
