"""PTX: every kernel of the corpus computes the same as on the CPU device, and assembles, with no more code than before
or than numba-cuda's.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from assemble import assemble, tool
from both_ways import both
from corpus import Kernel, f32, make
from lancehead import cuda, errors

KERNELS = make(cuda)
SIZES = Path(__file__).with_name("sizes.json")
ARCHITECTURES = {f"sm_{cc}": divmod(cc, 10) for cc in (75, 80, 86, 89, 90, 100, 120)}


@pytest.mark.parametrize("name", KERNELS)
def test_lifted_ptx_computes_the_same_bits(name: str) -> None:
    for direct, lifted in both(KERNELS[name]):
        assert np.array_equal(np.ascontiguousarray(direct).view(np.uint8), np.ascontiguousarray(lifted).view(np.uint8))


@pytest.fixture(scope="module")
def sizes() -> dict[str, list[int]]:
    """Instructions, registers and spills of each kernel, as they were, and instructions of numba-cuda's:
    `benches/gpu/sizes.py` writes them."""
    assert tool("ptxas"), "ptxas is missing: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm"
    return json.loads(SIZES.read_text())


@pytest.mark.parametrize("name", KERNELS)
def test_assembles_and_is_no_larger(name: str, sizes: dict[str, list[int]]) -> None:
    k = KERNELS[name]
    now = {
        a: assemble(cuda.compile_ptx(k.function, k.signature, cc=cc)[0], a, a == "sm_90")
        for a, cc in ARCHITECTURES.items()
    }
    instructions, registers, spills, theirs = sizes[name]
    assert now["sm_90"].instructions <= instructions * 1.1
    assert theirs is None or now["sm_90"].instructions <= theirs
    assert now["sm_90"].registers <= registers * 1.1
    assert now["sm_90"].spills <= spills * 1.1


def test_device_functions_have_either_convention() -> None:
    def add(x, y):
        return x + y

    ptx, result = cuda.compile(add, "float32(float32, float32)", cc=(7, 5))
    assert str(result) == "float32"
    assert ".visible .func  (.param .b32 func_retval0) add(" in ptx and ".target sm_75" in ptx
    ptx, result = cuda.compile_ptx(add, "int16(int16, int16)", device=True, abi_info={"abi_name": "sum_of"})
    assert str(result) == "int16"
    assert ".param .b64 sum_of_param_0" in ptx


def test_debugging_code_knows_where_it_raises() -> None:
    from lancehead import _core

    def k(a, i):
        if i > 3:
            raise ValueError("too far")
        a[i] = 1

    made = _core.compile_ptx(k, "void(float32[::1], int64)", "k", (9, 0), debug=True)
    assert [(c, text, line) for c, text, _, _, line in made.raise_sites] == [
        ("ValueError", "too far", k.__code__.co_firstlineno + 2),
        ("IndexError", "index is out of bounds", k.__code__.co_firstlineno + 3),
    ]
    assert "lh_error" in made.ptx and ".loc" in made.ptx


def test_lines_without_debugging() -> None:
    ptx, _ = cuda.compile_ptx(KERNELS["vector_add"].function, KERNELS["vector_add"].signature, lineinfo=True)
    assert ".loc" in ptx and "corpus.py" in ptx


def test_fast_mathematics_uses_the_gpu_s_own() -> None:

    def k(a):
        a[0] = math.sin(a[1]) / math.sqrt(a[2])

    ptx, _ = cuda.compile_ptx(k, "void(float32[::1])", fastmath=True)
    assert "sin.approx.ftz.f32" in ptx and "div.approx.ftz.f32" in ptx
    ptx, _ = cuda.compile_ptx(k, "void(float32[::1])")
    assert ".approx" not in ptx and "div.rn.f32" in ptx


def test_hyperbolic_tangent_of_gpus() -> None:
    def k(a):
        a[0] = math.tanh(a[1])

    assert "tanh.approx.f32 " in cuda.compile_ptx(k, "void(float32[::1])", fastmath=True)[0]
    assert "tanh.approx" not in cuda.compile_ptx(k, "void(float32[::1])")[0]


@pytest.mark.parametrize("f, instruction", [
    (math.exp, "ex2"), (np.exp2, "ex2"), (math.log, "lg2"), (np.log2, "lg2"), (math.log10, "lg2"), (math.cos, "cos"),
    (math.tan, "sin"),
    (lambda x: x**x, "ex2"),
])  # fmt: skip
def test_every_function_that_a_gpu_approximates(f, instruction) -> None:
    def k(a):
        a[0] = f(a[1])

    assert f"{instruction}.approx.ftz.f32" in cuda.compile_ptx(k, "void(float32[::1])", fastmath=True)[0]


def test_launch_bounds_are_written() -> None:
    k = KERNELS["vector_add"]
    ptx, _ = cuda.compile_ptx(k.function, k.signature, launch_bounds=(128, 2))
    assert ".maxntid 128, 1, 1" in ptx and ".minnctapersm 2" in ptx and ".maxclusterrank" not in ptx
    assert ".maxclusterrank 4" in cuda.compile_ptx(k.function, k.signature, launch_bounds=(128, 2, 4), cc=(9, 0))[0]
    with pytest.raises(ValueError, match="Got 4 launch bounds"):
        cuda.compile_ptx(k.function, k.signature, launch_bounds=(1, 2, 3, 4))


def test_printing_is_one_call() -> None:
    def k(n):
        print("n =", n, 1.5)

    ptx, _ = cuda.compile_ptx(k, "void(int64)")
    assert ptx.count("vprintf,") == 1


def test_what_a_gpu_cannot_do_is_said() -> None:
    def returns(a):
        return a[0]

    def allocates(a):
        a[0] = np.zeros(a.size)[0]

    def lists(a):
        a[0] = len([a[0], a[1]])

    with pytest.raises(errors.TypingError, match="void return type"):
        cuda.compile_ptx(returns, "void(float32[:])")
    with pytest.raises(errors.TypingError, match="cannot make new arrays"):
        cuda.compile_ptx(allocates, "void(float32[:])")
    with pytest.raises(errors.TypingError, match="no lists"):
        cuda.compile_ptx(lists, "void(float32[:])")
    with pytest.raises(ValueError, match="not supported"):
        cuda.compile_ptx(allocates, "void(float32[:])", cc=(5, 0))
    with pytest.raises(NotImplementedError, match="The C ABI is not supported for kernels"):
        cuda.compile_ptx(allocates, "void(float32[:])", abi="c")


@pytest.mark.parametrize(
    "text", ["", "nonsense", ".visible .entry k( {", ".visible .entry k() { frob.u32 %r1; }", '.visible .entry k() { "']
)
def test_bad_ptx_is_a_diagnostic(text: str) -> None:
    from lancehead import _core

    with pytest.raises(errors.UnsupportedError):
        _core.PtxKernel(text)


def test_float16_in_ptx() -> None:
    def blend(a, b, out, whole):
        i = cuda.grid(1)
        if i < out.size:
            x = a[i] * b[i] + a[i] / (b[i] * b[i] + np.float16(1))
            out[i] = math.sqrt(abs(x)) if x > b[i] else -cuda.fp16.hfma(a[i], b[i], x)
            whole[i] = int(x) + i

    def arguments(rng):
        return (
            *((rng.random(100) * 8 - 4).astype(np.float16) for _ in range(2)),
            np.zeros(100, np.float16),
            np.zeros(100, np.int32),
        )

    k = Kernel(blend, "void(float16[::1], float16[::1], float16[::1], int32[::1])", 4, 32, arguments)
    for direct, lifted in both(k):
        assert (direct.view(np.uint8) == lifted.view(np.uint8)).all()


def test_bfloat16_in_ptx() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def blend(a, b, out, whole, exact):
        i = cuda.grid(1)
        if i < out.size:
            x = a[i] * b[i] + a[i] / (b[i] * b[i] + cuda.bfloat16(1))
            out[i] = math.sqrt(abs(x)) if x > b[i] else -cuda.bf16.hfma(a[i], b[i], x)
            whole[i] = int(x) + cuda.bf16.bfloat16_to_int32_rd(b[i])
            exact[i] = cuda.bfloat16(exact[i])

    def arguments(rng):
        a, b = ((rng.random(100) * 8 - 4).astype(ml_dtypes.bfloat16) for _ in range(2))
        return a, b, np.zeros(100, a.dtype), np.zeros(100, np.int32), rng.random(100)

    k = Kernel(blend, "void(bfloat16[::1], bfloat16[::1], bfloat16[::1], int32[::1], float64[::1])", 4, 32, arguments)
    for direct, lifted in both(k):
        assert (direct.view(np.uint8) == lifted.view(np.uint8)).all()


def test_short_vectors_are_read_and_written_at_once() -> None:
    def turn(a, out):
        s = cuda.shared.array(32, cuda.float4)
        t = cuda.threadIdx.x
        s[t] = cuda.float4(a[t], t, 2, 3)
        cuda.syncthreads()
        v = s[31 - t]
        out[t] = v.x + v.y * v.z - v.w

    k = Kernel(turn, "void(float32[::1], float32[::1])", 1, 32, lambda rng: (f32(rng, 32), np.zeros(32, np.float32)))
    for direct, lifted in both(k):
        assert np.array_equal(direct, lifted)
    ptx, _ = cuda.compile_ptx(turn, k.signature)
    assert "st.shared.v4.b32" in ptx and "ld.shared.v4.b32" in ptx


def test_16_bits_are_shuffled_and_floats_exchanged() -> None:
    def turn(a, b, out, old):
        t = cuda.threadIdx.x
        out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, a[t], 3) + cuda.shfl_down_sync(0xFFFFFFFF, a[t], 1)
        old[t] = cuda.atomic.exch(b, 31 - t, np.float64(a[t]))

    def arguments(rng):
        return rng.random(32).astype(np.float16), rng.random(32), np.zeros(32, np.float16), np.zeros(32)

    k = Kernel(turn, "void(float16[::1], float64[::1], float16[::1], float64[::1])", 1, 32, arguments)
    for direct, lifted in both(k):
        assert np.array_equal(direct, lifted)


def test_no_function_of_others_is_needed() -> None:
    def functions(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0], out[i, 1] = math.gamma(x[i]), math.lgamma(x[i])
            out[i, 2], out[i, 3] = math.nextafter(x[i], 0.0), math.ldexp(x[i], i - 1100)

    k = Kernel(
        functions,
        "void(float64[::1], float64[:, ::1])",
        1,
        64,
        lambda rng: (rng.random(64) * 80 - 20, np.zeros((64, 4))),
    )
    direct, lifted = both(k)[-1]
    assert np.array_equal(direct[:, 2:], lifted[:, 2:])
    np.testing.assert_allclose(direct[:, :2], lifted[:, :2], rtol=4e-15, atol=4e-15)
    assert ".extern" not in cuda.compile_ptx(functions, k.signature)[0]


def test_small_new_arrays_are_the_threads_own() -> None:
    def fold(x, out):
        a, b = cuda.local.array(4, np.float64), cuda.local.array(4, np.float64)
        i = cuda.threadIdx.x
        for j in range(4):
            a[j], b[j] = x[i] + j, j - x[i]
        for r in range(3):
            a[:] = np.cos(a) + b * r
            c = a * b
            a += b
            b[:] = b - a
            out[i, r] = c.sum() + np.sum(np.sin(a + b))
        out[i, 3] = a.max()

    k = Kernel(fold, "void(float64[::1], float64[:, ::1])", 1, 32, lambda rng: (rng.random(32), np.zeros((32, 4))))
    direct, lifted = both(k)[-1]
    assert np.array_equal(direct, lifted)

    def handed_on(out):
        a = cuda.local.array(4, np.float64)
        a[:] = 1
        b = a + 1
        for _ in range(out.size):
            b = b + a
        out[0] = b[0]

    def of_any_size(out):
        c = out * 2
        out[0] = c[1]

    for function in (handed_on, of_any_size):
        with pytest.raises(errors.TypingError, match="a GPU cannot make new arrays"):
            cuda.compile_ptx(function, "void(float64[::1])")


def test_fences_name_whom_they_are_for_and_waiting_loops_read_anew() -> None:
    def kernel(a, out, ns):
        out[0] = 1
        cuda.threadfence_block()
        out[0] = 2
        cuda.threadfence()
        out[0] = 3
        cuda.threadfence_system()
        cuda.nanosleep(ns)
        while cuda.ldcv(a, 0) == 0:
            pass
        out[0] = 4

    ptx, _ = cuda.compile_ptx(kernel, "void(int32[::1], int32[::1], uint32)")
    found = [
        line.split()[0].rstrip(";")
        for line in ptx.splitlines()
        if any(w in line for w in ("membar", "nanosleep", "ld.global"))
    ]
    assert found[:4] == ["membar.cta", "membar.gl", "membar.sys", "nanosleep.u32"]
    # A load that no cache answers, each time round.
    assert set(found[4:]) == {"ld.global.cv.b32"}
    assert "nanosleep.u32 \t%" in ptx


@pytest.mark.parametrize("signature", ["float32(float32)", "float32(float32, float32, float32)"])
def test_a_signature_has_a_type_for_each_parameter(signature: str) -> None:
    with pytest.raises(errors.TypingError, match="argument types? for 2 parameters"):
        cuda.compile(lambda a, b: a * b, signature)
