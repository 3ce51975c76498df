"""Functions of CUDA C and PTX in kernels on the CPU device."""

import subprocess

import numpy as np
import pytest

from lancehead import cuda, errors, types
from lancehead.cuda import nvrtc, toolkit

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
    toolkit.library("libnvrtc") is None and toolkit.program("nvcc") is None, reason="needs NVRTC or nvcc"
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


def test_registers_of_inner_scopes_hide_others_and_carries_are_added():
    # The upper 64 bits of a product of numbers of 64 bits, from products of 32 bits, as NVIDIA's sine of large numbers
    # has it.
    text = """
    .version 7.8
    .target sm_75
    .address_size 64
    .visible .func (.param .b64 upper) high(.param .b64 x, .param .b64 y)
    {
        .reg .b32 %r<9>;
        .reg .b64 %rd<4>;
        .reg .pred %p<1>, %q;
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        mov.u32 %r1, 7;
        {
            .reg .u32 %r0, %r1, %r2, %r3, %alo, %ahi, %blo, %bhi;
            mov.b64 {%alo,%ahi}, %rd1;
            mov.b64 {%blo,%bhi}, %rd2;
            mul.hi.u32 %r1, %alo, %blo;
            mad.lo.cc.u32 %r1, %alo, %bhi, %r1;
            madc.hi.u32 %r2, %alo, %bhi, 0;
            mad.lo.cc.u32 %r1, %ahi, %blo, %r1;
            madc.hi.cc.u32 %r2, %ahi, %blo, %r2;
            madc.hi.u32 %r3, %ahi, %bhi, 0;
            mad.lo.cc.u32 %r2, %ahi, %bhi, %r2;
            addc.u32 %r3, %r3, 0;
            mov.b64 %rd3, {%r2,%r3};
        }
        setp.ne.u32 %p0, %r1, 7;
        @%p0 mov.u64 %rd3, 0;
        st.param.b64 [upper], %rd3;
        ret;
    }
    """
    high = cuda.declare_device("high", "uint64(uint64, uint64)", link=cuda.PTXSource(text), abi="c")

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = high(x[i], y[i])

    x, y = np.random.default_rng(1).integers(0, 2**64 - 1, (2, 200), np.uint64, endpoint=True)
    out = np.zeros(200, np.uint64)
    kernel[1, 200](x, y, out)
    assert out.tolist() == [int(a) * int(b) >> 64 for a, b in zip(x, y)]


def test_branches_by_number():
    text = """
    .version 7.8
    .target sm_75
    .address_size 64
    .visible .func (.param .b32 status) pick(.param .b64 result, .param .b32 x)
    {
        .reg .b32 %r<4>;
        .reg .b64 %rd<2>;
        ld.param.u64 %rd1, [result];
        ld.param.u32 %r1, [x];
        rem.u32 %r1, %r1, 4;
        mov.u32 %r2, 7;
        $table: .branchtargets
            $zero,
            $one,
            $end,
            $one;
        brx.idx %r1, $table;
        $zero: mov.u32 %r2, 100;
        $one: add.u32 %r2, %r2, 1;
        $end: st.u32 [%rd1], %r2;
        st.param.b32 [status+0], 0;
        ret;
    }
    """
    pick = cuda.declare_device("pick", "int32(int32)", link=cuda.PTXSource(text))
    assert filled(pick, 9).tolist() == [101, 8, 7, 8, 101, 8, 7, 8, 101]
    lost = text.replace("%r1, $table", "%r1, $other")
    with pytest.raises(errors.UnsupportedError, match="a branch without its labels"):
        filled(cuda.declare_device("pick", "int32(int32)", link=cuda.PTXSource(lost)))


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
    for ptx in (*kernel.inspect_asm().values(), *kernel.inspect_lto_ptx().values()):
        assert ".visible .entry" in ptx and ".extern" not in ptx


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
    f = cuda.declare_device("f", "int32(int32)", link=cuda.Cubin(b"", name="f.cubin"))
    with pytest.raises(
        errors.UnsupportedError,
        match=r"cannot run on the CPU device: f.cubin is machine code(.|\n)*link CUDA C, PTX or LTO-IR",
    ):
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
        extern "C" __device__ void last(int *out, int x) {
            __syncthreads();
            if (threadIdx.x == blockDim.x - 1) *out = x;
        }""")
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
    monkeypatch.setattr(toolkit, "library", lambda name: None)
    monkeypatch.setattr(toolkit, "program", lambda name: None)
    f = cuda.declare_device("f", "int32(int32)", link=cuda.CUSource("// a comment that no other test has"))
    with pytest.raises(cuda.errors.LinkerError, match="pip install nvidia-cuda-nvrtc"):
        filled(f)


@pytest.mark.skipif(
    toolkit.library("libnvrtc") is None or toolkit.library("libnvJitLink") is None, reason="needs NVRTC and nvJitLink"
)
def test_nvidias_llvm_ir(tmp_path):
    source = """extern "C" __device__ int twice(int *result, int x) { *result = 2 * x; return 0; }
    extern "C" __device__ float half_of(float x) { return x / 2; }"""
    ir = nvrtc.lto_ir(source)
    (tmp_path / "twice.ltoir").write_bytes(ir)
    for link in (
        cuda.LTOIR(ir),
        str(tmp_path / "twice.ltoir"),
        [cuda.LTOIR(ir), cuda.PTXSource(TWICE.replace("twice", "other"))],
    ):
        assert (filled(cuda.declare_device("twice", "int32(int32)", link=link)) == 2 * np.arange(40)).all()
    half_of = cuda.declare_device("half_of", "float32(float32)", link=cuda.LTOIR(ir), abi="c")
    assert (filled(half_of) == np.arange(40) // 2).all()
    with pytest.raises(cuda.errors.LinkerError):
        filled(cuda.declare_device("twice", "int32(int32)", link=cuda.LTOIR(b"no IR")))
    with pytest.raises(errors.UnsupportedError, match="nothing that is linked defines it"):
        filled(cuda.declare_device("nothing", "int32(int32)", link=cuda.LTOIR(ir)))


@pytest.mark.skipif(
    toolkit.program("ptxas") is None or toolkit.program("nvdisasm") is None, reason="needs ptxas and nvdisasm"
)
def test_machine_code():
    @cuda.jit(lineinfo=True)
    def add(x, y):
        i = cuda.grid(1)
        if i < len(x):
            x[i] += y[i]

    add[1, 32](np.zeros(4), np.ones(4))
    (types, text), *_ = add.inspect_sass().items()
    assert "DADD" in text and "EXIT" in text and "test_cuda_linking.py" in text and add.inspect_sass(types) == text
    assert "digraph" in add.inspect_sass_cfg(types)
    assert 4 <= add.get_regs_per_thread(types) < 32 and add.get_regs_per_thread() == {
        types: add.get_regs_per_thread(types)
    }
    assert "sm_75" in add.inspect_sass(types, cc=(7, 5))

    @cuda.jit("void(float64[::1])", launch_bounds=128)
    def bounded(x):
        x[0] = 1

    assert bounded.get_max_threads_per_block() == 128
    with pytest.raises(RuntimeError, match="Cannot inspect SASS of a device function"):
        cuda.jit("int64(int64)", device=True)(lambda x: x).inspect_sass()


needs_linker = pytest.mark.skipif(
    any(toolkit.program(p) is None for p in ("ptxas", "nvdisasm", "fatbinary"))
    or toolkit.library("libnvJitLink") is None,
    reason="needs ptxas, nvdisasm, fatbinary and nvJitLink",
)


def cubin_of(ptx, folder, arch="sm_90"):
    (folder / "f.ptx").write_text(ptx)
    command = [
        toolkit.program("ptxas"),
        "-c",
        f"-arch={arch}",
        str(folder / "f.ptx"),
        "-o",
        str(folder / f"{arch}.cubin"),
    ]
    subprocess.run(command, check=True)
    return folder / f"{arch}.cubin"


def calling(function, link=None):
    @cuda.jit(link=link)
    def kernel(out):
        out[cuda.threadIdx.x] = function(out[cuda.threadIdx.x])

    return kernel


@needs_linker
def test_machine_code_is_linked_for_gpus(tmp_path):
    cubin = cubin_of(TWICE, tmp_path)
    fatbin = tmp_path / "f.fatbin"
    fatbinary = [toolkit.program("fatbinary"), "-64", f"--create={fatbin}", f"--image3=kind=elf,sm=90,file={cubin}"]
    subprocess.run(fatbinary, check=True)
    cubin.with_suffix(".o").write_bytes(cubin.read_bytes())
    for name in ("sm_90.cubin", "f.fatbin"):
        path = tmp_path / name
        twice = cuda.declare_device("twice", "int32(int32)", link=str(path))
        with pytest.raises(errors.UnsupportedError, match="cannot run on the CPU device"):
            filled(twice)
        # On the CPU device what stands beside it runs; a GPU takes it too, since it needs no call.
        both = cuda.declare_device("twice", "int32(int32)", link=[str(path), cuda.PTXSource(TWICE)])
        assert (filled(both) == 2 * np.arange(40)).all()
        assert "CALL." not in calling(both).inspect_sass(types.void(types.int32[::1]))
        for kernel in (calling(twice), calling(cuda.declare_device("twice", "int32(int32)"), [str(path)])):
            text = kernel.inspect_sass(types.void(types.int32[::1]))
            assert "CALL." in text and ".text.twice" in text and ".text.kernel" in text
            assert ".extern .func" in kernel.inspect_asm(types.void(types.int32[::1]))
            with pytest.raises(cuda.errors.LinkerError, match="bad input"):
                kernel.inspect_sass(types.void(types.int32[::1]), cc=(8, 0))


@needs_linker
def test_machine_code_ptx_and_variables_are_linked_for_gpus(tmp_path):
    # Machine code calls PTX, PTX calls machine code; PTX with a variable cannot become part of other PTX.
    calls = TWICE.replace("twice", "more").replace(
        ".visible", ".extern .func (.param .b32 s) twice(.param .b64 r, .param .b32 x);\n.visible"
    )
    calls = calls.replace(
        "mov.u32 %r3, 0;",
        """
        { .param .b32 s; .param .b64 r; .param .b32 y; st.param.b64 [r], %rd1; st.param.b32 [y], %r2;
          call.uni (s), twice, (r, y); ld.param.b32 %r3, [s]; }""",
    )
    variable = TWICE.replace(".visible", ".global .u32 factor = 2;\n.visible").replace(
        "shl.b32 %r2, %r1, 1", "ld.global.u32 %r3, [factor];\nmul.lo.u32 %r2, %r1, %r3"
    )
    more, calls_first = cubin_of(calls, tmp_path).read_bytes(), cubin_of(TWICE, tmp_path).read_bytes()
    cases = [
        ("more", [cuda.Cubin(more), cuda.PTXSource(TWICE)]),
        ("more", [cuda.PTXSource(calls), cuda.Cubin(calls_first)]),
        ("twice", cuda.PTXSource(variable)),
    ]
    for name, link in cases:
        kernel = calling(cuda.declare_device(name, "int32(int32)", link=link))
        text = kernel.inspect_sass(types.void(types.int32[::1]))
        assert f".text.{name}" in text and ".text.kernel" in text
    plain = cuda.declare_device("twice", "complex64(complex64)", link=cuda.Cubin(b"f"), abi="c")
    with pytest.raises(errors.TypingError, match="passes no `complex64`"):
        calling(plain).inspect_asm(types.void(types.complex64[::1]))


def test_missing_programs_are_named(monkeypatch):
    kernel = cuda.jit("void(float64[::1])")(lambda x: None)
    monkeypatch.setattr(toolkit, "homes", list)
    monkeypatch.setattr(toolkit.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="ptxas was not found"):
        kernel.inspect_sass()
    assert kernel.get_regs_per_thread() == 32
    with pytest.raises(cuda.errors.LinkerError, match="nvidia-nvjitlink"):
        toolkit.linked([])
