"""mypy in a user's environment with the wheel: types of decorated functions, misspelt options, wrong arguments."""

from __future__ import annotations

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import lancehead
from lancehead import njit
from test_shipped import ROOT, wheel

RIGHT = '''
import numpy as np
import lancehead
from lancehead import carray, cfunc, cuda, float64, guvectorize, jit, literally, njit
from lancehead import pndindex, prange, stencil, types, vectorize
from lancehead.extending import overload, register_jitable
from lancehead.gradients import checkpoint, custom_vjp, grad, hessian, hvp, jvp, stop_gradient, value_and_grad, vjp


@njit
def add(x: float, y: float = 1.0) -> float:
    """Adds."""
    return x + y


@njit(parallel=True, fastmath={"nnan", "nsz"}, cache=True, error_model="numpy", boundscheck=None)
def total(a: np.ndarray, n: int) -> float:
    s = 0.0
    for i in prange(n):
        s += a[i]
    return s


@jit("float64(float64)", parallel={"fusion": False}, inline="always", nopython=True)
def half(x: float) -> float:
    return x / 2


@njit([float64(float64), (types.int64,)])
def untyped(x):
    return x


class Shape:
    @staticmethod
    @njit
    def area(w: float, h: float) -> float:
        return w * h


reveal_type(add)  # R: Dispatcher[[x: float, y: float =], float]
reveal_type(add(1.0))  # R: float
reveal_type(add(1, y=2))  # R: float
reveal_type(add.py_func(1.0))  # R: float
reveal_type(add.explain())  # R: lancehead.explain.Report
reveal_type(add.signatures)  # R: list[tuple[lancehead._core.Type, ...]]
reveal_type(add.inspect_types())  # R: None
reveal_type(add.compile("float64(float64, float64)"))  # R: Signature
reveal_type(total(np.zeros(3), 3))  # R: float
reveal_type(half)  # R: Dispatcher[[x: float], float]
reveal_type(untyped(1))  # R: Any
reveal_type(njit(lambda x, y: 1)(1, 2))  # R: int
reveal_type(Shape.area(1, 2))  # R: float
reveal_type(prange(3))  # R: range
reveal_type(literally(3))  # R: int
for index in pndindex(2, 3):
    reveal_type(index)  # R: tuple[int, ...]


@vectorize(["float64(float64)"], target="parallel", fastmath=True)
def eager(x):
    return x


@vectorize
def lazy(x):
    return x


@guvectorize(["(float64[:], float64[:])"], "(n)->()", writable_args=("out",))
def sums(x, out):
    out[0] = x.sum()


@guvectorize("(n)->()")
def sums_lazily(x, out):
    out[0] = x.sum()


@vectorize(["float64(float64)"], target="cuda")
def there(x):
    return x


@stencil
def smooth(a):
    return a[-1] + a[1]


@stencil(neighborhood=((-1, 1),), cval=0)
def wide(a):
    return a[-1] + a[1]


@cfunc("float64(float64)", cache=True)
def callback(x):
    return x


reveal_type(eager)  # R: numpy.ufunc
reveal_type(lazy)  # R: DUFunc
reveal_type(sums)  # R: numpy.ufunc
reveal_type(sums_lazily)  # R: DUFunc
reveal_type(there)  # R: DeviceUFunc
reveal_type(smooth)  # R: StencilFunc
reveal_type(wide)  # R: StencilFunc
reveal_type(callback)  # R: CFunc
reveal_type(callback.address)  # R: int


@cuda.jit(device=True)
def twice(x: float) -> float:
    return x * 2


@cuda.jit(fastmath=True, launch_bounds=256)
def kernel(a: np.ndarray, n: int):
    i = cuda.grid(1)
    reveal_type(i)  # R: int
    x, y = cuda.grid(2)
    reveal_type(x)  # R: int
    reveal_type(cuda.threadIdx.x)  # R: int
    reveal_type(cuda.blockDim.y)  # R: int
    lane: int = cuda.laneid
    some = cuda.shared.array(32, np.float64)
    reveal_type(some)  # R: ndarray
    cuda.syncthreads()
    reveal_type(cuda.atomic.add(a, 0, 1.0))  # R: Any
    reveal_type(cuda.shfl_sync(0xFFFFFFFF, 1.5, 0))  # R: float
    reveal_type(cuda.ballot_sync(0xFFFFFFFF, lane > 3))  # R: int
    if i < n:
        a[i] = twice(a[i]) + cuda.libdevice.sin(0.5) + cuda.random.xoroshiro128p_uniform_float64(a, i)


reveal_type(twice)  # R: CUDADispatcher[[x: float], float]
reveal_type(kernel)  # R: CUDADispatcher[[a: numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]], n: int], None]
reveal_type(kernel[1, 32])  # R: Launch[[a: numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]], n: int]]
kernel[(2, 2), (8, 8), cuda.stream(), 1024](np.zeros(3), 3)
kernel.forall(3)(np.zeros(3), 3)
kernel[1, 32](cuda.to_device(np.zeros(3)), 3)
kernel[1, 32](cuda.InOut(np.zeros(3)), 3)
kernel.forall(3)(cuda.to_device(np.zeros(3)), 3)


@cuda.jit
def product(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[0] = a[0] * b[0]


product[1, 1](np.ones(1), np.ones(1), cuda.to_device(np.ones(1)))
flags = {"nnan"}
listed = ["nnan", "nsz"]
named = {"nnan": True}
reveal_type(njit(fastmath=flags)(lambda x: 1)(1))  # R: int
njit(fastmath=listed), njit(fastmath=named), njit(fastmath=frozenset(flags)), njit(fastmath=tuple(flags))
njit(fastmath={"nsz", "nnan"})
reveal_type(lancehead.cuda.jit(kernel.py_func))  # R: CUDADispatcher


@register_jitable
def plain(x: int) -> int:
    return x


@overload(plain)
def chosen(x):
    return lambda x: x


reveal_type(plain(1))  # R: int


@njit
def loss(w: np.ndarray, rate: float = 1.0) -> float:
    return rate * w.sum()


def cube(x: float) -> float:
    return x * x * x


def with_count(x: float) -> tuple[float, int]:
    return x * x, 1


reveal_type(grad(cube)(2.0))  # R: float
reveal_type(grad(loss)(np.zeros(3), rate=2.0))  # R: ndarray
reveal_type(grad(loss)(w=np.zeros(3)))  # R: ndarray
reveal_type(grad(with_count, has_aux=True)(2.0))  # R: tuple[float, int]
reveal_type(value_and_grad(cube)(2.0))  # R: tuple[float, float]
reveal_type(value_and_grad(loss)(np.zeros(3)))  # R: tuple[float, numpy.ndarray
reveal_type(grad(loss, (0, 1)))  # R: def (w: numpy.ndarray
reveal_type(vjp(cube, 1.0)[0])  # R: float
reveal_type(jvp(cube, (1.0,), (1.0,)))  # R: tuple[float, float]
reveal_type(hessian(loss))  # R: def (w: numpy.ndarray
reveal_type(hvp(loss)(np.zeros(3), np.ones(3)))  # R: ndarray
reveal_type(checkpoint(cube))  # R: Dispatcher[[x: float], float]
reveal_type(custom_vjp(cube)(1.0))  # R: float
reveal_type(stop_gradient(2.0))  # R: float
reveal_type(lancehead.xp)  # R: Module
'''

WRONG = """
import numpy as np
from lancehead import cfunc, cuda, guvectorize, jit, njit, prange, stencil, vectorize
from lancehead.gradients import grad


@njit
def add(x: float, y: float) -> float:
    return x + y


@njit
def untyped(x, y):
    return x


@cuda.jit
def kernel(a: np.ndarray, n: int) -> None:
    i: str = cuda.grid(1)  # E: assignment
    cuda.grid(4)  # E: call-overload
    cuda.atomic.ad(a, 0, 1)  # E: attr-defined
    cuda.threadIdx.w  # E: attr-defined
    cuda.syncthreads(1)  # E: call-arg


add("a", 1.0)  # E: arg-type
add(1.0)  # E: call-arg
add(1.0, z=2.0)  # E: call-arg
untyped(1)  # E: call-arg
s: str = add(1.0, 2.0)  # E: assignment
add.explian()  # E: attr-defined
njit(nopyhton=True)  # E: call-overload
njit(cache="yes")  # E: call-overload
njit(parallel={"fushion": True})  # E: call-overload
njit(fastmath="nnan")  # E: call-overload
jit(error_model="C")  # E: call-overload
vectorize(["float64(float64)"], chache=True)  # E: call-overload
vectorize(target="tpu")  # E: call-overload
guvectorize(["(float64[:])"])  # E: call-overload
stencil(neighbourhood=((-1, 1),))  # E: call-overload
cfunc()  # E: call-arg
kernel[1](np.zeros(3), 3)  # E: index
kernel[1, 32](np.zeros(3))  # E: call-overload
kernel[1, 32](np.zeros(3), "3")  # E: call-overload
kernel.forall(3)(np.zeros(3), "3")  # E: call-overload
cuda.jit(devise=True)  # E: call-overload
prange("a")  # E: arg-type
grad(add)("a", 1.0)  # E: call-overload
grad(add)(1.0, 2.0, 3.0)  # E: call-overload
grad(add, argnum=1)  # E: call-overload
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[tuple[str, int], str]:
    """Texts of mypy by the line of the two programs. Its environment has NumPy and the shipped files, nothing else."""
    directory = tmp_path_factory.mktemp("typing")
    venv.create(directory / "venv", with_pip=False)
    (site,) = (directory / "venv" / "lib").glob("python*/site-packages")
    (site / "numpy").symlink_to(Path(np.__file__).parent)
    install(site)
    for name, text in (("right", RIGHT), ("wrong", WRONG)):
        (directory / f"{name}.py").write_text(text)
    command = [
        sys.executable, "-m", "mypy", "--python-executable", directory / "venv" / "bin" / "python",
        "--check-untyped-defs",
        "--no-error-summary", "--no-color-output", "--config-file=", "right.py", "wrong.py",
    ]  # fmt: skip
    # Neither the checkout nor the environment of the tests counts.
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600, env={"PATH": ""})
    assert not done.stderr, done.stderr
    lines: dict[tuple[str, int], str] = {}
    for line in done.stdout.splitlines():
        file, number, text = re.match(r"(.*?):(\d+): (.*)", line).groups()  # type: ignore[union-attr]
        assert file in ("right.py", "wrong.py"), line
        lines[file, int(number)] = lines.get((file, int(number)), "") + text + "\n"
    return lines


def install(site: Path) -> None:
    """Puts what type checkers read of the wheel, or of the installed distribution, into an environment."""
    if (path := wheel()) is not None:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(
                site, [n for n in archive.namelist() if n.endswith((".py", ".pyi", "py.typed", "METADATA"))]
            )
    else:
        (site / "lancehead").symlink_to(Path(lancehead.__file__).parent)


def expected(text: str, mark: str) -> list[tuple[int, str]]:
    """Lines with a comment that says what mypy says of them."""
    found = [(n, re.search(rf"# {mark}: (.*)", line)) for n, line in enumerate(text.splitlines(), 1)]
    return [(n, m[1]) for n, m in found if m]


@pytest.mark.parametrize("line, revealed", expected(RIGHT, "R"))
def test_f4_mypy_knows_what_decorators_make(told, line, revealed):
    said = told.get(("right.py", line), "nothing").replace("builtins.", "").replace("typing.", "")
    short = re.sub(r"lancehead\.(_core|cuda\.dispatcher|cuda\.ufuncs|stencils|cfuncs)\.", "", said)
    assert revealed in said or revealed in short, said
    assert "error" not in said


def test_f4_mypy_has_no_complaint_about_a_program_that_is_right(told):
    assert {place: text for place, text in told.items() if place[0] == "right.py" and "error:" in text} == {}


@pytest.mark.parametrize("line, code", expected(WRONG, "E"))
def test_f4_mypy_finds_wrong_arguments_and_misspelt_options(told, line, code):
    assert f"[{code}]" in told.get(("wrong.py", line), "nothing")


def test_f2_mypy_takes_the_package_as_typed(told):
    # Without `py.typed` the import itself is an error, and all is `Any`.
    assert not [text for text in told.values() if "py.typed" in text or "import-untyped" in text]
    assert "float" in told["right.py", expected(RIGHT, "R")[1][0]]


SAMPLES = {
    "parallel": False, "cache": False, "fastmath": {"nnan"}, "boundscheck": None, "nogil": True, "error_model": "numpy",
    "overflow": "check",
    "semantics": "numba",
    "inline": "never", "locals": {}, "target": "cpu", "pipeline_class": None,
    "identity": None, "target_backend": None, "writable_args": (),
}  # fmt: skip


def options(name: str) -> list[str]:
    """Names of options in a class of `lancehead/typing_.py`."""
    text = (Path(lancehead.__file__).parent / "typing_.py").read_text()
    own = text.split(f"class {name}(")[1].split("\n\n\n")[0]
    return re.findall(r"^    (\w+): ", own, re.MULTILINE)


@pytest.mark.parametrize("option", [*options("CompilerOptions"), *options("VectorizeOptions"), *options("JitOptions")])
def test_options_that_are_typed_are_options_of_the_decorator(option):
    assert njit(**{option: SAMPLES.get(option, False)})(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize("key", options("Parallel"))
def test_keys_of_parallel_that_are_typed_are_keys_of_the_option(key):
    assert njit(parallel={key: False})(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize("option", options("CudaOptions"))
def test_options_of_kernels_that_are_typed_are_options_of_the_decorator(option):
    samples = {
        "launch_bounds": 128,
        "max_registers": 64,
        "shared_memory_carveout": 10,
        "extensions": [],
        "link": None,
        "inline": "never",
        "semantics": "numba",
        "overflow": "check",
    }
    assert lancehead.cuda.jit(**{option: samples.get(option, False)})(lambda x: None).py_func(1) is None


def test_no_program_imports_the_types():
    program = (
        "import sys, lancehead, lancehead.cuda, lancehead.extending; assert 'lancehead.typing_' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_stub_of_the_extension_module_is_right():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lancehead._core"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
