"""Findings of a review of the path to GPUs, on the library that stands in for a driver: each test has one's name."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import programs
import test_gpu_cache
from lancehead import _core, cuda
from lancehead.cuda import devices
from lancehead.cuda.cudadrv.driver import CudaAPIError
from lancehead.cuda.gpu import current_gpu
from stand_in import StandIn, forget
from test_gpu_streams import foreign_stream

program = test_gpu_cache.program


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


def with_dynamic_shared_memory() -> Any:
    @cuda.jit
    def kernel(a):
        s = cuda.shared.array(0, np.float32)
        i = cuda.threadIdx.x
        s[i] = a[i]
        cuda.syncthreads()
        a[i] = s[i] + 1

    return kernel


def at_once(*functions: Callable[[], object]) -> list[BaseException]:
    """Calls functions from threads at the same time and returns their exceptions."""
    start, raised = threading.Barrier(len(functions)), []

    def call(f: Callable[[], object]) -> None:
        start.wait()
        try:
            f()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=call, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return raised


@pytest.fixture
def short_turns() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a3_threads_that_begin_at_once_share_one_gpu(
    gpu: StandIn, short_turns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slow in ["0"] * 20 + ["0.02"] * 10:
        monkeypatch.setenv("FAKE_CUDA_SLOW", slow)
        forget()
        found: list[_core.Gpu | None] = []
        begun = gpu.calls("cuInit")
        assert at_once(*[lambda: found.append(current_gpu())] * 8) == []
        assert len(found) == 8 and len(set(found)) == 1 and None not in found
        assert gpu.calls("cuInit") == begun + 1


def test_d4_a_driver_that_fails_is_tried_once(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_INIT", "999")
    forget()
    before, texts = gpu.calls("cuInit"), set()
    for use in (lambda: cuda.device_array(1), lambda: scale[1, 1](np.ones(1), 2), cuda.stream, cuda.is_available):
        with pytest.raises(cuda.errors.CudaSupportError, match="cuInit") as caught:
            use()
        texts.add(str(caught.value))
    assert gpu.calls("cuInit") == before + 1 and len(texts) == 1


def test_a6_the_array_interface_names_a_stream_to_wait_for(gpu: StandIn) -> None:
    own, d = cuda.stream(), cuda.to_device(np.ones(4))
    streams = [
        (0, 1),
        (cuda.default_stream(), 1),
        (cuda.legacy_default_stream(), 1),
        (cuda.per_thread_default_stream(), 2),
        (own, int(own)),
    ]
    for stream, wanted in streams:
        assert cuda.to_device(np.ones(4), stream=stream).__cuda_array_interface__["stream"] == wanted
        assert d.bind(stream).__cuda_array_interface__["stream"] == wanted
        assert cuda.device_array(0, stream=stream).__cuda_array_interface__["stream"] == wanted


def test_c0_cooperative_grids_with_much_shared_memory(gpu: StandIn) -> None:
    kernel = with_dynamic_shared_memory()
    kernel[1, 4](np.ones(4, np.float32))
    (facts,) = kernel.overloads.values()
    # Blocks of a multiprocessor have 228 KiB together, and one KiB of each is reserved.
    found = [facts.max_cooperative_grid_blocks(256, kib << 10) for kib in (0, 20, 100, 113, 227)]
    assert found == [n * 132 for n in (8, 8, 2, 2, 1)]
    assert facts.max_cooperative_grid_blocks(256, 228 << 10) == 0
    assert facts.max_cooperative_grid_blocks(1024) == 2 * 132 and facts.max_cooperative_grid_blocks(1) == 32 * 132
    # The limit of dynamic shared memory stays raised.
    for kib in (226, 10, 100):
        kernel[1, 4, 0, kib << 10](np.ones(4, np.float32))
    with pytest.raises(CudaAPIError, match="INVALID_VALUE"):
        kernel[1, 4, 0, 228 << 10](np.ones(4, np.float32))


def test_c0_as_many_blocks_as_that_run_and_one_more_is_refused(gpu: StandIn) -> None:
    @cuda.jit
    def meet(a):
        cuda.cg.this_grid().sync()
        if cuda.grid(1) == 0:
            a[0] += 1

    d = cuda.to_device(np.zeros(1))
    meet[1, 1](d)
    (facts,) = meet.overloads.values()
    most = facts.max_cooperative_grid_blocks(32, 120 << 10)
    assert most == 132
    meet[most, 32, 0, 120 << 10](d)
    with pytest.raises(CudaAPIError, match=r"\[720\].*COOPERATIVE_LAUNCH_TOO_LARGE"):
        meet[most + 1, 32, 0, 120 << 10](d)
    assert d.copy_to_host().tolist() == [2]


@pytest.mark.parametrize("environment", [{}, {"FAKE_CUDA_INIT": "100"}, {"FAKE_CUDA_INIT": "999"}])
def test_c1_the_driver_is_never_unloaded(gpu: StandIn, tmp_path: Path, environment: dict[str, str]) -> None:
    text = """
import gc
from lancehead import cuda
from lancehead.cuda import gpu
try:
    print(cuda.get_current_device().name)
except cuda.errors.CudaSupportError:
    print("none")
    gpu.forget() if hasattr(gpu, "forget") else gpu.opened.cache_clear()
gc.collect()
"""
    code, out, _ = programs.run(gpu.path, text, FAKE_CUDA_UNLOADED=str(tmp_path / "unloaded"), **environment)
    wanted = {"": "b'a fake'", "100": "b'CPU'", "999": "none"}[environment.get("FAKE_CUDA_INIT", "")]
    assert (code, out.strip()) == (0, wanted)
    assert not (tmp_path / "unloaded").exists()


@pytest.mark.parametrize("are_foreign", [True, False])
def test_c2_grids_of_one_kernel_do_not_meet_in_two_streams(gpu: StandIn, are_foreign: bool) -> None:
    @cuda.jit
    def meet(a):
        cuda.cg.this_grid().sync()
        a[cuda.grid(1)] += 1

    streams = [cuda.external_stream(foreign_stream(gpu, 1)) if are_foreign else cuda.stream() for _ in range(3)]
    arrays = [cuda.to_device(np.zeros(4)) for _ in streams]
    meet[2, 2](arrays[0])
    scale[1, 4](arrays[0], 1)
    # Earlier waits of streams order none of the following operations.
    cuda.synchronize()
    cuda.default_stream().synchronize()
    before = len(gpu.launched)
    for stream, array in zip(streams, arrays, strict=True):
        meet[2, 2, stream](array)
    # Without an order between them, only the last would run.
    streams[2].synchronize()
    assert [name for name, *_ in gpu.launched[before:]] == ["meet"] * 3
    # Kernels that do not wait for other blocks stay free.
    for stream, array in zip(streams[:2], arrays, strict=False):
        scale[1, 4, stream](array, 2)
    if not are_foreign:
        streams[1].synchronize()
        assert [name for name, *_ in gpu.launched[before + 3 :]] == ["scale"]
    assert [a.copy_to_host().tolist() for a in arrays] == [[4] * 4, [2] * 4, [1] * 4]


BLOCKED = """
from lancehead.cuda.gpu import current_gpu

def other(a):
    a[cuda.threadIdx.x] += 1

@cuda.jit(debug=True, opt=False)
def checked(a):
    if a[0] < 0:
        raise ValueError("negative")

d, host, stream, other_stream = cuda.to_device(np.ones(4)), np.ones(4), cuda.stream(), cuda.stream()
apart = cuda.external_stream(foreign_stream(1))
event, later = cuda.event(), cuda.event()
event.record(other_stream)
scale[1, 4](d, 1)
checked[1, 4](d)
facts = lambda: next(iter(scale.overloads.values()))

def dropped(*objects):
    kept = list(objects)
    del objects
    return lambda: (kept.clear(), gc.collect())

USES = {
    "the first launch of a kernel": lambda: lambda: cuda.jit(other)[1, 4](d),
    "a launch": lambda: lambda: scale[1, 4](d, 1),
    "a launch in a stream": lambda: lambda: scale[1, 4, other_stream](d, 1),
    "a launch in a foreign stream": lambda: lambda: scale[1, 4, apart](d, 1),
    "a launch with host arrays": lambda: lambda: scale[1, 4](host, 1),
    "a launch that is checked": lambda: lambda: checked[1, 4](d),
    "attributes of a kernel": lambda: lambda: facts(),
    "blocks of a cooperative grid": lambda: lambda: facts().max_cooperative_grid_blocks(64, 64 << 10),
    "a new stream": lambda: cuda.stream,
    "a foreign stream": lambda: lambda: cuda.external_stream(int(apart)).synchronize(),
    "closing a stream": lambda: cuda.stream().close,
    "waiting for a stream": lambda: other_stream.synchronize,
    "a callback": lambda: lambda: other_stream.add_callback(lambda *_: None),
    "a new event": lambda: cuda.event,
    "recording an event": lambda: lambda: later.record(other_stream),
    "an event that a stream waits for": lambda: lambda: event.wait(other_stream),
    "asking an event": lambda: event.query,
    "waiting for an event": lambda: event.synchronize,
    "an allocation": lambda: lambda: cuda.device_array(4),
    "an allocation of the host's memory": lambda: lambda: cuda.mapped_array(4),
    "a copy there": lambda: lambda: cuda.to_device(host),
    "a copy there in a stream": lambda: lambda: cuda.to_device(host, stream=other_stream),
    "a copy back": lambda: lambda: d.copy_to_host(),
    "a copy back in a stream": lambda: lambda: d.copy_to_host(host, stream=other_stream),
    "a copy on the GPU": lambda: lambda: cuda.to_device(d),
    "pinning": lambda: lambda: cuda.pinned(host).__enter__(),
    "facts of the memory": lambda: cuda.current_context().get_memory_info,
    "profiling": lambda: cuda.profile_start,
    "dropping memory": lambda: dropped(cuda.device_array(4)),
    "dropping memory of the host": lambda: dropped(cuda.mapped_array(4)),
    "dropping an event": lambda: dropped(cuda.event()),
    "dropping a stream": lambda: dropped(cuda.stream()),
    "waiting for all": lambda: cuda.synchronize,
}

for name in sys.argv[1:] or USES:
    use = USES[name]()
    cuda.synchronize()
    called, raised = [], []
    def act():
        try:
            use()
        except BaseException as error:
            raised.append(error)
    stream.add_callback(lambda *_: called.append(threading.get_ident()))
    gpu.set(blocks=True)
    print("begin", name)
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    # Only this says that it has waited, not that it was there already.
    assert raised == [], (name, raised)
    assert name == "asking an event" or called and called[0] != thread.ident, name
    gpu.set()
    use = None
    print("end", name)
gpu.reset()
"""


def test_c3_calls_that_wait_for_a_stream_callback_let_it_have_the_interpreter(gpu: StandIn) -> None:
    """All uses in one process; after a hang, the rest in another."""
    text = programs.started(gpu.path) + BLOCKED
    names = [line.split('"')[1] for line in BLOCKED.splitlines() if line.startswith('    "')]
    rest, hang = names, []
    while rest and len(hang) < 3:
        code, out, err = programs.run(
            gpu.path, f"import sys; sys.argv[1:] = {rest!r}\n{text}", timeout=15 + len(rest) / 4
        )
        assert code in (None, 0), err
        if code == 0:
            assert out.splitlines()[-1] == f"end {rest[-1]}"
            break
        at = out.splitlines()[-1].removeprefix("begin ")
        hang.append(at)
        rest = rest[rest.index(at) + 1 :]
    assert hang == []


def test_c4_objects_dropped_in_a_callback_are_given_back_later(gpu: StandIn) -> None:
    counts = gpu.library.fake_events_alive, gpu.library.fake_streams_alive
    cuda.synchronize()
    stream = cuda.stream()
    gc.collect()
    before, alive = gpu.used, [c() for c in counts]
    for end in (cuda.synchronize, lambda: cuda.device_array(1), stream.synchronize):
        held = [cuda.to_device(np.ones(4)), cuda.mapped_array(4), cuda.event(), cuda.stream()]
        refused: list[Any] = []

        def drop(*_: Any) -> None:
            held.clear()
            gc.collect()
            try:
                cuda.event()
            except CudaAPIError as error:
                refused.append(error.code)

        stream.add_callback(drop)
        # In a thread, as the callback's comes from the driver.
        assert at_once(stream.synchronize) == []
        assert not held and refused == [800]
        end()
        cuda.device_array(1)
        gc.collect()
        assert gpu.used == before and [c() for c in counts] == alive


@pytest.mark.parametrize("is_used", [True, False])
def test_c4_callbacks_are_called_before_the_interpreter_ends(gpu: StandIn, is_used: bool) -> None:
    text = """
from lancehead import cuda
kept = cuda.device_array(4)
stream = cuda.stream()
stream.add_callback(lambda *_: print("called"))
"""
    code, out, err = programs.run(
        gpu.path, text + ("" if is_used else "del kept, stream\n"), timeout=30, FAKE_CUDA_EAGER="0.4"
    )
    assert (code, out, err) == (0, "called\n", "")


def test_c5_threads_that_ask_for_different_shared_memory(gpu: StandIn) -> None:
    gpu.library.fake_slow_attributes(2000)
    d, stream = cuda.to_device(np.ones(4, np.float32)), cuda.stream()
    for _ in range(10):
        kernel = with_dynamic_shared_memory()
        kernel[1, 4](d)
        # Launches give the interpreter away while a callback is pending.
        stream.add_callback(lambda *_: None)
        assert at_once(*[lambda kib=kib: kernel[1, 4, 0, kib << 10](d) for kib in (100, 80, 60)]) == []
        kernel[1, 4, 0, 100 << 10](d)
        cuda.synchronize()


@pytest.mark.parametrize("kind", ["non-blocking", "blocking", "default", "none"])
def test_c6_arrays_of_others_are_waited_for_on_the_gpu(gpu: StandIn, kind: str) -> None:
    handle = (
        {"default": 1, "none": None}[kind]
        if kind in ("default", "none")
        else foreign_stream(gpu, int(kind == "non-blocking"))
    )
    source, d = cuda.to_device(np.full(4, 5.0)), cuda.to_device(np.zeros(4))

    class Theirs:
        __cuda_array_interface__ = {**d.__cuda_array_interface__, "stream": handle}

    scale[1, 4](Theirs(), 1)
    for order in (0, 1, 2, 3):
        gpu.set(order=order)
        d.copy_to_device(np.zeros(4))
        cuda.synchronize()
        waits = [gpu.calls(f) for f in ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize")]
        to, at = (a.device_ctypes_pointer for a in (d, source))
        assert gpu.library.cuMemcpyDtoDAsync_v2(to, at, 32, None if handle is None else ctypes.c_void_p(handle)) == 0
        scale[1, 4](Theirs(), 3)
        assert gpu.pending and waits == [
            gpu.calls(f) for f in ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize")
        ]
        assert d.copy_to_host().tolist() == [15] * 4


def test_g1_streams_of_others_wait_for_memory_that_another_thread_waits_for(gpu: StandIn) -> None:
    """A thread waits for the default stream, in which memory is still to be allocated: nobody may use it before.

    The stress test has found that streams of others did, as soon as the wait had begun.
    """
    gpu.set(pinned=True)
    apart, own, go_on, host = cuda.external_stream(foreign_stream(gpu, 1)), cuda.stream(), threading.Event(), np.ones(4)
    own.add_callback(lambda *_: go_on.wait(20))
    d = cuda.device_array(4)
    raised: list[BaseException] = []

    def wait(stream: Any) -> None:
        try:
            stream.synchronize()
        except CudaAPIError as error:
            raised.append(error)

    begun = gpu.calls("cuStreamSynchronize")
    waiting = [
        threading.Thread(target=wait, args=(cuda.default_stream(),)),
        threading.Thread(target=wait, args=(apart,)),
    ]
    waiting[0].start()
    while gpu.calls("cuStreamSynchronize") == begun:
        time.sleep(0.01)
    time.sleep(0.05)
    d.copy_to_device(host, stream=apart)
    waiting[1].start()
    waiting[1].join(0.3)
    go_on.set()
    for thread in waiting:
        thread.join()
    assert raised == [] and d.copy_to_host().tolist() == [1] * 4


def test_c7_the_pool_of_the_device_is_left_alone(gpu: StandIn) -> None:
    own = gpu.library.fake_own_pools()
    a = cuda.to_device(np.ones(4))
    scale[1, 4](np.ones(4), 2)
    with pytest.raises(CudaAPIError, match="OUT_OF_MEMORY"):
        cuda.device_array(1 << 30, np.uint8)
    assert a.copy_to_host().tolist() == [1] * 4
    assert gpu.library.fake_own_pools() == own + 1
    assert (gpu.library.fake_default_pool_changes(), gpu.library.fake_from_default_pool()) == (0, 0)
    # Memory is kept for the next allocation, but other libraries get the rest.
    assert 0 < gpu.library.fake_threshold() < 1 << 40


def states_one_after_the_other(n: int, seed: int, start: int) -> list[tuple[int, int]]:
    """Blackman's and Vigna's definition: splitmix64 for the first state, a jump from each to the next."""
    word = (1 << 64) - 1
    z = (seed + 0x9E3779B97F4A7C15) & word
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & word
    z = (z ^ z >> 27) * 0x94D049BB133111EB & word
    z ^= z >> 31
    rotated = lambda x, k: (x << k | x >> 64 - k) & word

    def jumped(s0: int, s1: int) -> tuple[int, int]:
        t0 = t1 = 0
        for constant in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
            for bit in range(64):
                if constant >> bit & 1:
                    t0, t1 = t0 ^ s0, t1 ^ s1
                s1 ^= s0
                s0, s1 = rotated(s0, 55) ^ s1 ^ (s1 << 14 & word), rotated(s1, 36)
        return t0, t1

    found, state = [], (z, z)
    for _ in range(start):
        state = jumped(*state)
    for _ in range(n):
        found.append(state)
        state = jumped(*state)
    return found


@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("seed", [0, 1, 12345, 0xFFFFFFFFFFFFFFFF])
def test_c8_states_of_random_numbers_are_those_of_the_definition(gpu: StandIn, seed: int, start: int) -> None:
    wanted = states_one_after_the_other(1000, seed, start)
    for n in (0, 1, 2, 63, 64, 65, 1000):
        made = cuda.random.create_xoroshiro128p_states(n, seed, start).copy_to_host()
        assert [(int(s["s0"]), int(s["s1"])) for s in made] == wanted[:n]
    host = np.zeros(65, cuda.random.xoroshiro128p_dtype)
    cuda.random.init_xoroshiro128p_states(host, seed, start)
    assert [(int(s["s0"]), int(s["s1"])) for s in host] == wanted[:65]


def test_c8_states_of_random_numbers_are_made_by_many_threads(gpu: StandIn) -> None:
    states = cuda.random.create_xoroshiro128p_states(100_000, 7)
    assert states.size == 100_000
    for _, (gx, gy, gz, bx, by, bz), *_ in gpu.launches:
        assert gx * gy * gz * bx * by * bz > 1000


FORK = """
d = cuda.to_device(np.ones(4))
stream, event = cuda.stream(), cuda.event()
event.record(stream)
scale[1, 4, stream](d, 2)
sys.stdout.flush()
child = os.fork()
if child == 0:
    import traceback
    for use in (lambda: cuda.to_device(np.ones(4)), lambda: scale[1, 4](d, 2), lambda: d.copy_to_host(), cuda.stream,
                cuda.synchronize):
        try:
            use()
            os._exit(3)
        except CudaAPIError as error:
            if error.code != 3 or "fork" not in str(error) or '"spawn"' not in str(error):
                traceback.print_exc()
                os._exit(4)
    del d, stream, event
    gc.collect()
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(d.copy_to_host().tolist())
"""


def test_d1_cuda_in_a_forked_process_is_refused_with_advice(gpu: StandIn) -> None:
    code, out, err = programs.run(gpu.path, programs.started(gpu.path) + FORK)
    assert (code, out, err) == (0, "5\n[2.0, 2.0, 2.0, 2.0]\n", "")


def test_d6_arrays_of_one_page_are_pinned_or_refused_with_advice(gpu: StandIn) -> None:
    memory = np.ones(3 * 4096, np.uint8)
    page = memory[-memory.ctypes.data % 4096 :][:4096]
    a, b, far = page[:64], page[128:192], np.ones(1 << 17)
    try:
        with cuda.pinned(a, far, b):
            assert gpu.library.fake_registered() > 0
    except CudaAPIError as error:
        assert error.code == 712 and "page" in str(error) and "pinned_array" in str(error)
    assert gpu.library.fake_registered() == 0
    with cuda.pinned(a, far):
        assert gpu.library.fake_registered() == 2
    with pytest.raises(ZeroDivisionError), cuda.pinned(b):
        1 / 0
    assert gpu.library.fake_registered() == 0


SPOILT = """
d = cuda.to_device(np.ones(4))
stream, event, known, other = cuda.stream(), cuda.event(), cuda.event(), cuda.jit(lambda a: None)
scale[1, 4](d, 1)
cuda.synchronize()
calls = []
assert gpu.library.cuMemFreeAsync(ctypes.c_uint64(d.device_ctypes_pointer.value), None) == 0
scale[1, 4](d, 2)
stream.add_callback(lambda s, status, arg: calls.append(status))
uses = [cuda.synchronize, cuda.stream, cuda.event, lambda: cuda.device_array(4), lambda: cuda.to_device(np.ones(4)),
        lambda: d.copy_to_host(), lambda: scale[1, 4](d, 2), lambda: scale[1, 4](np.ones(4), 2), stream.synchronize,
        lambda: event.record(stream), event.query, event.synchronize, lambda: event.wait(stream),
        lambda: cuda.current_context().get_memory_info(), lambda: other[1, 4](d), lambda: cuda.mapped_array(4),
        lambda: next(iter(scale.overloads.values())).regs_per_thread, lambda: stream.add_callback(print)]
for i, use in enumerate(uses):
    try:
        use()
        print("nothing", i)
    except CudaAPIError as error:
        if error.code != 700 or "CUDA_ERROR_ILLEGAL_ADDRESS" not in str(error):
            print(i, error)
time.sleep(0.1)
print(calls)
del d, stream, event
gc.collect()
print("end")
"""


def test_d9_after_an_error_that_spoils_the_context_every_use_names_it(gpu: StandIn) -> None:
    code, out, err = programs.run(gpu.path, programs.started(gpu.path) + SPOILT)
    assert (code, out) == (0, "[700]\nend\n")
    assert [line for line in err.splitlines() if not line.startswith("fake driver:")] == []


def test_d9_an_exception_after_such_an_error_ends_the_process_as_any(gpu: StandIn) -> None:
    text = programs.started(gpu.path) + SPOILT.partition("uses =")[0] + "cuda.synchronize()\n"
    code, _, err = programs.run(gpu.path, text)
    assert code == 1 and "CUDA_ERROR_ILLEGAL_ADDRESS" in err.splitlines()[-1]


def test_d10_machine_code_of_another_card_or_driver_is_not_used(program: Path) -> None:
    assert test_gpu_cache.run(program) == [1, 0, 1]
    for change in (
        {"FAKE_CUDA_CC": "80"},
        {"FAKE_CUDA_CC": "89"},
        {"FAKE_CUDA_VERSION": "12060"},
        {"FAKE_CUDA_VERSION": "12080", "FAKE_CUDA_CC": "100"},
    ):
        assert test_gpu_cache.run(program, **change) == [1, 0, 1]
        assert test_gpu_cache.run(program, **change) == [0, 1, 0]
    assert test_gpu_cache.run(program) == [0, 1, 0]


def test_d11_the_number_of_a_card_is_the_driver_s(gpu: StandIn) -> None:
    gpu.library.fake_have(2)
    forget()
    assert [d.uuid for d in devices.gpus] == [f"GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae0{i}" for i in range(2)]
