"""Functions of CUDA C and PTX in kernels on the CPU device."""

import numpy as np
import pytest

from lancehead import cuda, errors, types
from lancehead.cuda import nvrtc

TWICE = """
.version 7.8
.target sm_75
.address_size 64
.visible .func (.param .b32 status) twice(.param .b64 result, .param .b32 x)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [result];
    ld.param.u32 %r1, [x];
    shl.b32 %r2, %r1, 1;
    st.u32 [%rd1], %r2;
    mov.u32 %r3, 0;
    st.param.b32 [status+0], %r3;
    ret;
}
"""

needs_compiler = pytest.mark.skipif(
    nvrtc._library() is None and nvrtc._program() is None, reason="needs NVRTC or nvcc"
)


def filled(function, n=40):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(out[i])

    out = np.arange(n, dtype=np.int32)
    kernel[2, 32](out)
    return out


def test_ptx_in_memory_and_in_a_file(tmp_path):
    (tmp_path / "twice.ptx").write_text(TWICE)
    for link in (cuda.PTXSource(TWICE), str(tmp_path / "twice.ptx"), [cuda.PTXSource(TWICE.encode())]):
        twice = cuda.declare_device("twice", types.int32(types.int32), link=link)
        assert (filled(twice) == 2 * np.arange(40)).all()


def test_kernels_bring_the_code():
    twice = cuda.declare_device("twice", "int32(int32)")

    @cuda.jit(device=True)
    def inner(x):
        return twice(x) + 1

    @cuda.jit("void(int32[::1])", link=[cuda.PTXSource(TWICE)])
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = inner(out[i])

    out = np.arange(8, dtype=np.int32)
    kernel[1, 8](out)
    assert (out == 2 * np.arange(8) + 1).all()
    with pytest.raises(errors.UnsupportedError, match="nothing that is linked defines it"):
        filled(twice)


def test_declarations_are_checked():
    with pytest.raises(TypeError, match="Return type"):
        cuda.declare_device("f", "(float32[:],)")
    with pytest.raises(TypeError, match="Return type"):
        cuda.declare_device("f", (types.int32,))
    with pytest.raises(ValueError, match="abi"):
        cuda.declare_device("f", "int32()", abi="pascal")
    for item, text in (("data", "with no extension"), ("header.cuh", "extension .cuh")):
        with pytest.raises(RuntimeError, match=text):
            cuda.jit(link=[item])(lambda: None)
    with pytest.raises(cuda.errors.LinkerError, match="nowhere.ptx not found"):
        cuda.jit(link=["nowhere.ptx"])(lambda: None)
    f = cuda.declare_device("f", "int32(int32)", link=cuda.Cubin(b""))
    with pytest.raises(cuda.errors.LinkerError, match="for GPUs only"):
        filled(f)
    many = cuda.declare_device("twice", "int32(int32, int32)", link=cuda.PTXSource(TWICE))

    @cuda.jit
    def kernel(out):
        out[0] = many(1, 2)

    with pytest.raises(errors.UnsupportedError, match="parameters and results in PTX"):
        kernel[1, 1](np.zeros(1, np.int32))


@needs_compiler
def test_cuda_c():
    twice = cuda.CUSource("""
        extern "C" __device__ int twice(int *out, int a) { *out = 2 * a; return 0; }""")
    more = cuda.CUSource("""
        extern "C" __device__ int twice(int *out, int a);
        extern "C" __device__ int more(int *out, int a) { int t; twice(&t, a); *out = t + threadIdx.x; return 0; }""")
    function = cuda.declare_device("more", "int32(int32)", link=[more, twice])
    n = np.arange(40)
    assert (filled(function) == 2 * n + n % 32).all()


@needs_compiler
def test_c_convention_pointers_and_the_block():
    source = cuda.CUSource("""
        extern "C" __device__ float mix(float a, const float *table, int n)
        {
            float s = 0;
            for (int i = 0; i < n; i++) s += table[i];
            return a * s;
        }
        extern "C" __device__ void last(int *out, int x) { __syncthreads(); if (threadIdx.x == blockDim.x - 1) *out = x; }""")
    mix = cuda.declare_device("mix", "float32(float32, CPointer(float32), int32)", link=source, abi="c")
    last = cuda.declare_device("last", "void(CPointer(int32), int32)", link=source, abi="c")

    @cuda.jit
    def kernel(out, table, found):
        i = cuda.grid(1)
        out[i] = mix(i, table, table.size)
        last(found, i)

    out, found = np.zeros(16, np.float32), np.zeros(1, np.int32)
    kernel[1, 16](out, np.float32([1, 2, 3]), found)
    assert (out == 6 * np.arange(16)).all() and found[0] == 15


@needs_compiler
def test_wrong_cuda_c_is_said():
    f = cuda.declare_device("f", "int32(int32)", link=cuda.CUSource("SYNTAX", name="error.cu"))
    with pytest.raises(cuda.errors.NvrtcError, match=r'in the compilation of "error.cu"'):
        filled(f)


def test_without_a_compiler_the_way_out_is_said(monkeypatch):
    monkeypatch.setattr(nvrtc, "_library", lambda: None)
    monkeypatch.setattr(nvrtc, "_program", lambda: None)
    f = cuda.declare_device("f", "int32(int32)", link=cuda.CUSource("// a comment that no other test has"))
    with pytest.raises(cuda.errors.LinkerError, match="pip install nvidia-cuda-nvrtc"):
        filled(f)
