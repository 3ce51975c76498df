"""`numba_cuda_mlir`, the successor of numba-cuda, served by lancehead on the CPU device."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lancehead
from lancehead import cuda, errors
from lancehead._command import serve, successor
from lancehead.cuda.args import wrap_arg
from lancehead.lowlevel import boxing

PROGRAM = """
import os, subprocess, sys
import numpy as np
from numba_cuda_mlir import cuda, types

@cuda.jit
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]

@cuda.jit
def scale(out: types.Array(types.float32, 1, "A"), x: types.float32):
    i = cuda.grid(1)
    if i < out.size:
        out[i] *= x

out = cuda.to_device(np.zeros(1000, np.float32))
vector_add[4, 256](np.ones(1000, np.float32), np.ones(1000, np.float32), out)
scale[4, 256](out, 3)
print(out.copy_to_host().sum(), vector_add.signatures == [], len(scale.signatures), cuda.HAS_NUMBA)
if len(sys.argv) == 1:
    again = [sys.executable, __file__, "again"]
    print(subprocess.run(again, capture_output=True, text=True, check=True).stdout, end="")
"""
SAID = "6000.0 False 1 False\n" * 2


@pytest.mark.parametrize("how", ["run", "variable", "call"])
def test_programs_and_their_children(tmp_path: Path, how: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(("import lancehead; lancehead.serve_numba()\n" if how == "call" else "") + PROGRAM)
    kept = {k: v for k, v in os.environ.items() if k != "LANCEHEAD_SERVE_NUMBA"}
    if how == "variable":
        kept["LANCEHEAD_SERVE_NUMBA"] = "1"
    begin = [sys.executable, "-m", "lancehead", "run"] if how == "run" else [sys.executable]
    done = subprocess.run([*begin, program], env=kept, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == (SAID, 0), done.stderr


# Names of the successor, and of numba-cuda where they are, too.
NAMES = """
numba_cuda_mlir.cuda numba_cuda_mlir.carray numba_cuda_mlir.farray numba_cuda_mlir.types.float32
numba_cuda_mlir.errors.TypingError numba_cuda_mlir.extending.overload numba_cuda_mlir.compiler.compile_ptx
numba_cuda_mlir.cuda.jit numba_cuda_mlir.cuda.local_array numba_cuda_mlir.cuda.shared_array
numba_cuda_mlir.cuda.compile_for numba_cuda_mlir.cuda.literal_unroll numba_cuda_mlir.cuda.float32x4
numba_cuda_mlir.cuda.random.create_xoroshiro128p_states numba_cuda_mlir.cuda.libdevice.fmaf_rn
numba_cuda_mlir.cuda.fp16.hadd numba_cuda_mlir.cuda.types.int32 numba_cuda_mlir.cuda.misc.special.literal_unroll
numba_cuda_mlir.cuda.cudadrv.devicearray.DeviceNDArray numba_cuda_mlir.cuda.experimental.consteval
numba_cuda_mlir.numba_cuda.types.float64 numba_cuda_mlir.numba_cuda.core.errors.TypingError
numba_cuda_mlir.numba_cuda.core.config.OPT numba_cuda_mlir.numba_cuda.np.numpy_support.from_dtype
numba_cuda_mlir.numba_cuda.np.numpy_support.carray numba_cuda_mlir.numba_cuda.typing.typeof.typeof
numba_cuda_mlir.numba_cuda.cudadrv.driver.CudaAPIError numba_cuda_mlir.numba_cuda.extending.overload
numba_cuda_mlir.numba_cuda.utils.PYVERSION numba.cuda.random.create_xoroshiro128p_states numba.cuda.libdevice.fmaf_rn
numba.cuda.cudadrv.driver.Context numba.cuda.cudadrv.devicearray.auto_device numba.cuda.core.errors.TypingError
numba_cuda_mlir.numba_cuda.cudadrv.linkable_code.PTXSource numba_cuda_mlir.numba_cuda.types.types
numba_cuda_mlir.cuda.vector_types.vector_types_by_alias numba_cuda_mlir.cuda.vector numba_cuda_mlir.cuda.half2
numba_cuda_mlir.numba_cuda.core.config.CUDA_MEMORY_MANAGER
numba_cuda_mlir.numba_cuda.np.npdatetime_helpers.get_best_unit
numba.cuda.types.int32 numba.cuda.typing.signature numba.core.utils.PYVERSION numba.np.numpy_support.numpy_version
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_names_that_programs_import(name: str) -> None:
    parent, _, last = name.rpartition(".")
    found: dict[str, Any] = {}
    exec(f"import lancehead; lancehead.serve_numba()\nfrom {parent} import {last}\nimport {parent} as module", found)
    assert getattr(found["module"], last) is not None


def test_they_are_lanceheads() -> None:
    lancehead.serve_numba()
    import numba_cuda_mlir
    from numba_cuda_mlir.numba_cuda.core import config
    from numba_cuda_mlir.numba_cuda.core.errors import TypingError
    from numba_cuda_mlir.numba_cuda.cudadrv.driver import CudaAPIError

    assert numba_cuda_mlir.__version__ == importlib.metadata.version("numba-cuda-mlir") == serve.SUCCESSOR_VERSION
    assert TypingError is errors.TypingError
    assert CudaAPIError is cuda.errors.CudaAPIError
    old = lancehead.config.CUDA_LOW_OCCUPANCY_WARNINGS
    try:
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 7
        assert lancehead.config.CUDA_LOW_OCCUPANCY_WARNINGS == 7
    finally:
        lancehead.config.CUDA_LOW_OCCUPANCY_WARNINGS = old
    with pytest.raises(ImportError):
        exec("from numba_cuda_mlir import njit")
    with pytest.raises(ImportError):
        exec("import numba_cuda_mlir.nothing_like_this")


def test_what_needs_mlir_is_refused_by_its_name() -> None:
    lancehead.serve_numba()
    from numba_cuda_mlir import cuda as module

    with pytest.raises(errors.UnsupportedError, match=r"numba_cuda_mlir\.cuda\.compile_mlir"):
        module.compile_mlir(lambda x: x, "void(int32)")
    with pytest.raises(errors.UnsupportedError, match=r"numba_cuda_mlir\.cuda\.experimental\.consteval"):
        module.experimental.consteval(1)


def doubled(result, x):
    result[0] = x * 2


def test_annotations_of_all_parameters_are_the_signature() -> None:
    annotated = {"result": lancehead.types.int32[::1], "x": lancehead.types.int32}
    doubled.__annotations__ = annotated
    result = np.zeros(1, np.int32)
    kernel = successor.jit(doubled)
    assert len(kernel.signatures) == 1
    kernel[1, 1](result, 21.7)
    assert result[0] == 42
    assert successor.jit(annotations_as_signatures=False)(doubled).signatures == []
    with pytest.raises(TypeError, match="Conflicting signature sources for 'doubled'"):
        successor.jit("void(int32[::1], int32)")(doubled)
    # An annotation that is no type of compiled code leaves the types to the call.
    for some in ({"x": lancehead.types.int32}, dict(annotated, x=int), {}):
        doubled.__annotations__ = some
        assert successor.jit(doubled).signatures == []
        assert len(successor.jit("void(int32[::1], int32)")(doubled).signatures) == 1


def test_a_function_for_kernels_has_the_type_that_it_says() -> None:
    def half(x):
        return x / 2

    half.__annotations__ = {"x": lancehead.types.float64, "return": lancehead.types.float32}
    half = successor.jit(device=True)(half)

    @successor.jit
    def kernel(out):
        out[0] = half(3.0)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 1.5


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"foo": 1}, ValueError, "Printing the options because: Got invalid options: foo."),
        ({"fastmth": 1}, ValueError, "did you mean `fastmath`"),
        ({"opt_level": "foo"}, TypeError, "Expected opt_level to be of type <class 'int'>, got foo"),
        ({"opt_level": 4}, ValueError, "between 0 and 3"),
        ({"opt": True, "opt_level": 3}, ValueError, "Cannot specify both opt and opt_level"),
        ({"debug": True}, ValueError, "debug=True requires opt_level=0"),
        ({"help": True}, SystemExit, "help was specified"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], error: type[BaseException], said: str) -> None:
    with pytest.raises(error) as caught:
        successor.jit(**options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"debug": True, "opt": False}, {"debug": True, "opt_level": 0}, {"chip": "sm_90", "fast_math": True},
        {"inline": lambda *given: True}, {"launch_bounds": (64, 2)}, {"opt": 1}, {"lto": True}, {"_dbg_optnone": True},
        {"ptxas_options": "-v", "capi": "name", "features": "+ptx80"},
    ],
)  # fmt: skip
def test_options_that_are_taken(options: dict[str, Any]) -> None:
    @successor.jit(**options)
    def kernel(out):
        out[0] = 7

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 7
    assert ".visible .entry" in next(iter(kernel.inspect_ptx().values()))


def test_dumps_are_not_written() -> None:
    with pytest.warns(errors.NumbaInvalidConfigWarning, match="dump_mlir: nothing is written"):
        successor.jit(dump_mlir=True)(doubled)


def test_kernels_for_the_types_of_arguments() -> None:
    def kernel(out, x):
        out[0] = x

    assert len(successor.compile_for(kernel, np.zeros(1), 2).signatures) == 1


def test_extensions_that_are_added_later() -> None:
    class DefaultIn:
        def prepare_args(self, ty: Any, value: Any, **more: Any) -> tuple[Any, Any]:
            return ty, wrap_arg(value, default=cuda.In)

    def kernel(a):
        a[0] = 3

    kernel, a = successor.jit(kernel), np.zeros(1)
    kernel[1, 1](a)
    assert a[0] == 3
    kernel.extensions.append(DefaultIn())
    a[0] = 0
    kernel[1, 1](a)
    assert a[0] == 0
    kernel.specialize(a)[1, 1](cuda.InOut(a))
    assert a[0] == 3


def test_clusters_of_blocks() -> None:
    def kernel(out):
        out[cuda.grid(1)] = cuda.blockIdx.x

    kernel, out = successor.jit(kernel), np.zeros(8)
    for cluster in ((2, 1, 1), (4,), 1, None):
        out[:] = 0
        kernel[4, 2, None, None, cluster](out)
        assert out.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    kernel.configure(4, 2, cluster=(2,))(out)
    with pytest.raises(cuda.errors.CudaAPIError, match="CUDA_ERROR_INVALID_CLUSTER_SIZE"):
        kernel[4, 2, 0, 0, (3, 1, 1)](out)
    with pytest.raises(ValueError, match="must specify at least the griddim"):
        kernel[4, 2, 0, 0, 1, 1](out)


def test_kernels_name_what_is_not_served() -> None:
    lancehead.serve_numba()
    from numba_cuda_mlir.cuda import experimental

    def kernel(out):
        out[0] = experimental.consteval(3)

    with pytest.raises(errors.TypingError, match=r"`numba_cuda_mlir.cuda.experimental.consteval` is not supported"):
        successor.jit(kernel)[1, 1](np.zeros(1))


def test_arrays_that_are_on_the_device_already() -> None:
    there = cuda.to_device(np.arange(3))
    assert cuda.devicearray.auto_device(there) == (there, False)
    made, is_new = cuda.devicearray.auto_device(2.5)
    assert is_new
    assert made.copy_to_host() == 2.5


def test_types_that_programs_make_by_hand() -> None:
    assert lancehead.types.NoneType("none") is lancehead.types.none
    assert boxing.typeof(3.5, boxing.Purpose.constant) == lancehead.types.float64
