"""Code for GPUs that a card would not forgive, by the findings of a reading: threads that raise, barriers, caches,
parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import assemble
from lancehead import _core, cuda
from lancehead.cuda import launching
from stand_in import StandIn

TYPES = "void(float64[::1], int64)"


def ptx_of(function: Any, types: str = TYPES, **options: Any) -> str:
    return cuda.compile_ptx(function, types, cc=(9, 0), **options)[0]


def lifted(ptx: str, block: int, *words: int, converged: bool = True, grid: int = 1) -> None:
    _core.PtxKernel(ptx, converged=converged).launch([grid, 1, 1], [block, 1, 1], 0, list(words))


def raises_before_a_barrier(a, lane):
    i = cuda.threadIdx.x
    if i == lane:
        raise ValueError("this one")
    cuda.syncthreads()
    a[i] += a[(i + 1) % a.size]


def raises_deep_in_calls(a, lane):
    i = cuda.threadIdx.x
    deep(a, i, lane)
    cuda.syncthreads()
    a[i] = 1


@cuda.jit(device=True)
def deep(a, i, lane):
    if i == lane:
        deeper(i)
    a[i] = 7


@cuda.jit(device=True)
def deeper(i):
    if i >= 0:
        raise IndexError("deep")


@pytest.mark.parametrize("kernel", [raises_before_a_barrier, raises_deep_in_calls])
@pytest.mark.parametrize("debug", [False, True])
def test_a1_threads_that_raise_end_themselves(kernel: Any, debug: bool) -> None:
    ptx = ptx_of(kernel, debug=debug, opt=False)
    # No function returns what a raise would have it return: it ends by `exit`, wherever it is.
    assert ptx.count("exit;") and not re.search(r"st\.param\.b32 \[func_retval0(\+0)?\], 1;", ptx)
    a = np.zeros(64)
    lifted(ptx, 64, a.ctypes.data, 64, 8, 5)
    assert np.count_nonzero(a == (7 if kernel is raises_deep_in_calls else 0)) == (
        0 if kernel is raises_deep_in_calls else 64
    )
    assemble.assemble(ptx, "sm_90", counted=False)


@pytest.mark.parametrize("kernel", [raises_before_a_barrier, raises_deep_in_calls])
def test_a1_a_debug_kernel_raises_before_a_barrier(gpu: StandIn, kernel: Any) -> None:
    checked, a = cuda.jit(kernel, debug=True, opt=False), np.zeros(64)
    with pytest.raises((ValueError, IndexError), match=r"tid=\[33, 0, 0\] ctaid=\[0, 0, 0\]: (this one|deep)"):
        checked[1, 64](a, 33)
    checked[1, 64](a, 64)
    with pytest.raises((ValueError, IndexError), match=r"tid=\[0, 0, 0\]"):
        checked[1, 64](a, 0)


# The former form of code for debugging: lanes that have raised meet the others again, which wait for them at a barrier.
RETURNS = """.version 7.8
.target sm_90
.address_size 64
.func (.param .b32 out) body(.param .b32 x)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [x];
    setp.eq.s32 %p1, %r1, 3;
    @%p1 bra RAISE;
    bar.sync 0;
    mov.b32 %r2, 0;
    bra.uni DONE;
RAISE:
    mov.b32 %r2, 1;
DONE:
    st.param.b32 [out], %r2;
    ret;
}
.visible .entry kernel()
{
    .reg .b32 %r<3>;
    .param .b32 there;
    .param .b32 back;
    mov.u32 %r1, %tid.x;
    st.param.b32 [there], %r1;
    call.uni (back), body, (there);
    ret;
}
"""


def test_a_warp_that_parts_before_a_barrier_is_found() -> None:
    with pytest.raises(RuntimeError, match=r"line 10 of the PTX: threads of a warp part here"):
        lifted(RETURNS, 32)
    lifted(RETURNS, 32, converged=False)
    lifted(RETURNS.replace("mov.b32 %r2, 1;", "exit;"), 32)
    # A branch that all lanes of each warp take alike, the lanes of a part of a warp, and one that ends lanes by `ret`
    # of the kernel.
    lifted(RETURNS.replace("%r1, 3;", "%r1, 99;"), 40)
    by_warp = RETURNS.replace("setp.eq.s32 %p1, %r1, 3", "shr.u32 %r1, %r1, 5;\n setp.eq.s32 %p1, %r1, 1")
    lifted(by_warp, 64)
    early = RETURNS.replace(
        "call.uni (back), body, (there);", "setp.gt.u32 %p1, %r1, 7;\n @%p1 bra END;\n bar.sync 0;\nEND:"
    )
    lifted(early.replace(".reg .b32 %r<3>;", ".reg .b32 %r<3>;\n.reg .pred %p<2>;"), 32)


def test_a_loop_with_a_barrier_that_lanes_leave_apart_is_found() -> None:
    def rounds(a, lane):
        n = cuda.threadIdx.x if lane < 0 else 3
        for _ in range(n):
            cuda.syncthreads()
        a[cuda.threadIdx.x] = n

    ptx, a = ptx_of(rounds), np.zeros(32)
    lifted(ptx, 32, a.ctypes.data, 32, 8, 5)
    assert a.tolist() == [3] * 32
    with pytest.raises(RuntimeError, match="threads of a warp part"):
        lifted(ptx, 32, a.ctypes.data, 32, 8, 2**64 - 1)


def steps(a, bad):
    i = cuda.grid(1)
    for _ in range(3):
        if i == bad:
            raise ValueError("stops")
        x = a[(i + 1) % a.size]
        cuda.cg.this_grid().sync()
        a[i] = x + 1
        cuda.cg.this_grid().sync()


@pytest.mark.parametrize("options", [{}, {"debug": True, "opt": False}, {"boundscheck": True}])
def test_a2_a_grid_does_not_wait_for_a_block_that_has_raised(gpu: StandIn, options: Any) -> None:
    """Without any option, too: a grid that waits has to know of exceptions, so they are told."""
    kernel = cuda.jit(**options)(steps)
    for bad in (0, 16, 17, 47):
        a = np.zeros(48)
        with pytest.raises(ValueError, match=rf"tid=\[{bad % 16}, 0, 0\] ctaid=\[{bad // 16}, 0, 0\]: stops"):
            kernel[3, 16](a, bad)
        a = np.zeros(48)
        kernel[3, 16](a, -1)
        assert a.tolist() == [3] * 48


def test_a2_the_counter_of_the_grid_is_right_for_the_next_launch(gpu: StandIn) -> None:
    """A block that never came leaves it anywhere."""
    note, counter = (
        cuda.to_device(np.array([1, 0, 2, 0, 0, 5, 0, 0], np.int32)),
        cuda.to_device(np.array([7], np.int32)),
    )
    at, barrier = (int(a.device_ctypes_pointer.value or 0) for a in (note, counter))
    with pytest.raises(ValueError, match=r"tid=\[5, 0, 0\] ctaid=\[2, 0, 0\]: text"):
        launching.check_raised(note.gpu, None, at, barrier, [("ValueError", "text", "f", "file", 3)])
    assert not note.copy_to_host().any() and counter.copy_to_host()[0] == 0
    launching.check_raised(note.gpu, None, at, barrier, [])


@pytest.mark.parametrize("debug", [False, True])
def test_a2_the_wait_for_the_grid_ends_when_an_exception_is_noted(debug: bool) -> None:
    body = re.search(r"\.func lh_grid_sync\(\)(.*?)\n\}", ptx_of(steps, debug=debug, opt=False), re.S)
    assert body is not None
    text = body[1]
    waiting = text[text.index("atom.") : text.rindex("bar.sync")]
    assert re.search(
        r"ld\.volatile\.global\.b32\s+%r\d+, \[lh_error\]" if not debug else r"lh_error;\s+cvta.*\s+ld\.volatile",
        waiting,
    ), text
    # After the barrier, all threads of a launch that has failed end.
    assert "lh_error" in text[text.rindex("bar.sync") :] and text.count("exit;") >= 2

    def never_raises(a, n):
        a[cuda.grid(1)] = n
        cuda.cg.this_grid().sync()

    assert "lh_error" not in ptx_of(never_raises)


POLLS = {"ldca": "ca", "ldcg": "cg", "ldcs": "cs", "ldlu": "lu", "ldcv": "cv"}
STORES = {"stwb": "wb", "stcg": "cg", "stcs": "cs", "stwt": "wt"}


@pytest.mark.parametrize("name", POLLS)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "int32", "float32", "uint64", "float64"])
def test_a5_cached_loads_are_done_in_each_round_of_a_loop(name: str, dtype: str) -> None:
    load, bits = getattr(cuda, name), 8 * np.dtype(dtype).itemsize

    def polls(flag, out):
        n = 0
        while load(flag, 0) == 0:
            n += 1
        out[0] = n

    ptx = ptx_of(polls, f"void({dtype}[::1], int64[::1])")
    loads = list(re.finditer(rf"ld\.global\.{POLLS[name]}\.b{bits}\s", ptx))
    assert loads and not re.search(r"(\$L__BB0_\d+):\s+bra(\.uni)?\s+\1;", ptx)
    # A jump goes back to a block with a load.
    labels = {m[1]: m.start() for m in re.finditer(r"(\$L__BB0_\d+):", ptx)}
    back = [
        (labels[m[1]], m.start())
        for m in re.finditer(r"bra(?:\.uni)?\s+(\$L__BB0_\d+);", ptx)
        if labels[m[1]] < m.start()
    ]
    assert back and all(any(start < at.start() < end for at in loads) for start, end in back)
    assemble.assemble(ptx, "sm_90", counted=False)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16", "uint32", "float32", "int64", "float64"])
def test_a5_cached_stores_and_loads_keep_values(gpu: StandIn, dtype: str) -> None:
    names = [*POLLS, *STORES]

    @cuda.jit
    def copies(a, out):
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        if i == 0:
            x = cuda.ldca(a, (i, j))
        elif i == 1:
            x = cuda.ldcg(a, (i, j))
        elif i == 2:
            x = cuda.ldcs(a, (i, j))
        elif i == 3:
            x = cuda.ldlu(a, (i, j))
        else:
            x = cuda.ldcv(a, (i, j))
        if j == 0:
            cuda.stwb(out, (i, j), x)
        elif j == 1:
            cuda.stcg(out, (i, j), x)
        elif j == 2:
            cuda.stcs(out, (i, j), x)
        else:
            cuda.stwt(out, (i, j), x)

    a = (np.arange(20).reshape(5, 4) - 9).astype(dtype)
    out = np.zeros_like(a)
    copies[1, (5, 4)](a, out)
    assert np.array_equal(out, a)
    ptx = ptx_of(copies.py_func, f"void({np.dtype(dtype)}[:,::1], {np.dtype(dtype)}[:,::1])")
    for name, how in {**POLLS, **STORES}.items():
        assert f"{name[:2]}.global.{how}.b{8 * a.itemsize}" in ptx, name
    assert len(names) == 9


def test_a5_what_may_lie_elsewhere_is_addressed_so() -> None:
    @cuda.jit(device=True)
    def second(a):
        return cuda.ldcg(a, 1)

    def of_both(a, n):
        s = cuda.shared.array(4, np.float64)
        s[cuda.threadIdx.x] = a[cuda.threadIdx.x]
        cuda.syncthreads()
        a[0] = second(s if n > 3 else a) + second(s)

    ptx, a = ptx_of(of_both), np.arange(4.0)
    assert "ld.cg.b64" in ptx
    lifted(ptx, 4, a.ctypes.data, 4, 8, 1)
    assert a[0] == 2
    assemble.assemble(ptx, "sm_90", counted=False)


def test_a5_threads_wait_for_each_other_by_cached_loads() -> None:
    """On the CPU device and as PTX that is lifted: those that are waited for go on."""

    def handed_on(a, n):
        i = cuda.blockIdx.x
        while i > 0 and cuda.ldcg(a, i - 1) == 0:
            pass
        cuda.stcg(a, i, n)

    for run in (
        lambda a: cuda.jit(handed_on)[8, 1](a, 3),
        lambda a: lifted(ptx_of(handed_on), 1, a.ctypes.data, 8, 8, 3, grid=8),
    ):
        a = np.zeros(8)
        run(a)
        assert a.tolist() == [3] * 8


def many(count: int) -> Any:
    names: dict[str, Any] = {}
    arguments = ", ".join(f"a{i}" for i in range(count))
    exec(f"def many(out, {arguments}):\n    out[0] = {' + '.join(f'a{i}' for i in range(0, count, 7))}", names)
    return names["many"]


@pytest.mark.parametrize("count, version", [(500, "7.8"), (541, "7.8"), (542, "8.1"), (4000, "8.1")])
def test_a7_many_parameters_have_a_version_of_ptx_that_takes_them(count: int, version: str) -> None:
    ptx = ptx_of(many(count), f"void(float64[::1], {', '.join(['float64'] * count)})")
    assert f".version {version}" in ptx
    if count < 1000:
        assemble.assemble(ptx, "sm_90", counted=False)


def test_a7_what_no_launch_can_pass_is_refused_before(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1)
    # The driver of the stand-in is of CUDA 12.4.
    cuda.jit(many(600))[1, 1](out, *range(600))
    assert out[0] == sum(range(0, 600, 7))
    with pytest.raises(cuda.errors.TypingError, match="take 32824 bytes, of which a launch can pass 32764"):
        ptx_of(many(4100), f"void(float64[::1], {', '.join(['float64'] * 4100)})")
    with pytest.raises(ValueError, match=r"does not have|not supported"):
        _core.compile_ptx(many(3), "void(float64[::1], float64, float64, float64)", "", (9, 0), isa=60)
    with pytest.raises(cuda.errors.TypingError, match="of which a launch can pass 4352"):
        _core.compile_ptx(many(600), f"void(float64[::1], {', '.join(['float64'] * 600)})", "", (9, 0), isa=80)


def test_a_launch_whose_thread_has_raised_is_the_one_that_tells(gpu: StandIn) -> None:
    """There is one note for a kernel: launches of two threads of the host do not read each other's."""
    import threading

    kernel, told = cuda.jit(raises_before_a_barrier, debug=True, opt=False), []

    def launch(lane: int) -> None:
        a = np.zeros(32)
        for _ in range(40):
            try:
                kernel[1, 32](a, lane)
                told.append((lane, None))
            except ValueError as error:
                told.append((lane, error.thread[0]))

    threads = [threading.Thread(target=launch, args=(lane,)) for lane in (3, 99, 7, 99)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(told) == 160 and all(thread == (None if lane == 99 else lane) for lane, thread in told)
