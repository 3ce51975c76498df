"""Devices, streams, memory and modules of CuPy's interface: pools, pointers, hooks, errors and their numbers."""

from __future__ import annotations

import io
import json
import pickle
import random

import numpy as np
import pytest

import lancehead.cupy as cp
from lancehead.cupy.cuda.compiler import CompileException

KIB = 1024


class Counted(cp.cuda.Memory):
    """Memory at an address that nothing is at."""

    at = KIB

    def __init__(self, size):
        self.ptr, self.size = Counted.at, size
        Counted.at += size


def counted(size):
    return cp.cuda.MemoryPointer(Counted(size), 0)


def test_a_pool_keeps_splits_and_joins():
    pool = cp.cuda.MemoryPool(counted)
    whole = pool.malloc(4 * KIB)
    ptr = whole.ptr
    assert (pool.used_bytes(), pool.free_bytes(), pool.total_bytes()) == (4 * KIB, 0, 4 * KIB)
    del whole
    head, tail = pool.malloc(KIB), pool.malloc(3 * KIB - 100)
    assert (head.ptr, tail.ptr, pool.n_free_blocks()) == (ptr, ptr + KIB, 0)
    del tail
    pool.free_all_blocks()
    assert pool.total_bytes() == 4 * KIB
    del head
    assert pool.n_free_blocks() == 1
    with cp.cuda.Stream():
        other = pool.malloc(KIB)
    assert other.ptr != ptr
    again = pool.malloc(4 * KIB)
    assert again.ptr == ptr
    again.mem.free()
    again.mem.free()
    pool.free_all_blocks(cp.cuda.Stream.null)
    assert (pool.used_bytes(), pool.total_bytes()) == (KIB, KIB)
    assert pool.malloc(0).ptr == 0


def test_blocks_of_a_pool_do_not_overlap():
    numbers, pool, held = random.Random(1), cp.cuda.MemoryPool(counted), []
    for _ in range(600):
        if held and numbers.random() < 0.5:
            held.pop(numbers.randrange(len(held)))
        else:
            held.append(pool.malloc(numbers.choice([1, 512, 513, 3000, 9000])))
        places = sorted((p.ptr, p.ptr + p.mem.size) for p in held)
        assert all(a[1] <= b[0] for a, b in zip(places, places[1:]))
        assert pool.used_bytes() == sum(p.mem.size for p in held)
    held.clear()
    pool.free_all_blocks()
    assert (pool.total_bytes(), pool.n_free_blocks()) == (0, 0)


def test_limits_of_a_pool():
    pool = cp.cuda.MemoryPool(counted)
    pool.set_limit(size=4 * KIB)
    small = [pool.malloc(KIB) for _ in range(3)]
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="limit set to: 4,096 bytes") as e:
        pool.malloc(2 * KIB)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    del small
    # Free memory goes back before the limit is reached.
    assert pool.malloc(4 * KIB).mem.size == 4 * KIB
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == cp.cuda.Device().mem_info[1] // 2
    for wrong in ({"size": -1}, {"fraction": 1.1}, {"size": 1, "fraction": 0.5}):
        with pytest.raises(ValueError):
            pool.set_limit(**wrong)


def test_arrays_over_memory():
    kernel = cp.RawKernel(
        """extern "C" __global__ void add(void* p, int n) {
               double* x = (double*)p; int i = threadIdx.x; if (i < n) x[i] += i; }""",
        "add",
    )
    pool = cp.cuda.MemoryPool()
    memory = pool.malloc(80)
    x = cp.ndarray((10,), np.float64, memory)
    x[...] = 1
    later = x * 10
    kernel((1,), (32,), (memory, 10))
    kernel((1,), (32,), (memory + 8, 2))
    expected = 1.0 + np.arange(10)
    expected[2] += 1
    np.testing.assert_array_equal(x.get(), expected)
    np.testing.assert_array_equal(later.get(), np.full(10, 10.0))
    found = np.empty(9)
    (memory + 8).copy_to_host(found.ctypes.data, 72)
    np.testing.assert_array_equal(found, expected[1:])
    memory.copy_from(cp.arange(10.0).data, 80)
    memory.memset(0, 16)
    np.testing.assert_array_equal(x.get(), [0, 0, *range(2, 10)])
    # Memory that an array still has is nobody else's.
    del memory
    assert pool.used_bytes() == 0
    pool.malloc(80).memset(255, 80)
    np.testing.assert_array_equal(x.get(), [0, 0, *range(2, 10)])


def test_memory_of_an_array_changes_without_what_was_written_before():
    x = cp.arange(4.0)
    y, given = x + 1, np.full(4, 7.0)
    x[1:].data.copy_from_host(given.ctypes.data, 16)
    np.testing.assert_array_equal(x.get(), [0, 7, 7, 3])
    np.testing.assert_array_equal(y.get(), [1, 2, 3, 4])


def test_allocators():
    pool, default = cp.cuda.MemoryPool(), cp.cuda.get_allocator()
    assert default == cp.get_default_memory_pool().malloc
    with cp.cuda.using_allocator(pool.malloc):
        kept = cp.cuda.alloc(100)
        assert pool.used_bytes() == kept.mem.size == 512
        with pytest.raises(ValueError):
            cp.cuda.set_allocator(None)
    assert cp.cuda.get_allocator() == default
    host = cp.cuda.PinnedMemoryPool()
    p = host.malloc(1000)
    ptr, size = p.ptr, p.mem.size
    assert (int(p + 8), int(p + 8 - 8)) == (ptr + 8, ptr)
    np.frombuffer(p, np.float64, 2)[:] = 1
    assert np.frombuffer(p, np.float64, 3).tolist()[:2] == [1, 1]
    del p
    assert (host.n_free_blocks(), host.malloc(size).ptr) == (1, ptr)
    for name, f in (("malloc", "free"), ("mallocManaged", "free"), ("hostAlloc", "freeHost")):
        address = getattr(cp.cuda.runtime, name)(64, *([0] if name == "hostAlloc" else []))
        kind = cp.cuda.runtime.pointerGetMemoryType(address)
        assert kind == {"malloc": 2, "mallocManaged": 3, "hostAlloc": 1}[name]
        getattr(cp.cuda.runtime, f)(address)
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
            getattr(cp.cuda.runtime, f)(address)


def test_hooks():
    file, pool = io.StringIO(), cp.cuda.MemoryPool()
    lines = cp.cuda.memory_hooks.LineProfileHook()
    with cp.cuda.memory_hooks.DebugPrintHook(file=file), lines:
        for _ in range(2):
            p = pool.malloc(10)
            del p
    found = [json.loads(line)["hook"] for line in file.getvalue().splitlines()]
    assert found == ["alloc", "malloc", "free", "malloc", "free"]
    report = io.StringIO()
    lines.print_report(report)
    assert report.getvalue().startswith("_root (1.00KB, 512.00B)\n")
    assert "test_cupy_cuda.py" in report.getvalue()


def test_current_streams():
    cuda = cp.cuda
    assert cuda.get_current_stream() is cuda.Stream.null
    one, two, three = cuda.Stream(), cuda.Stream(priority=-1), cuda.Stream(non_blocking=True)
    with one:
        two.use()
        assert cuda.get_current_stream() is two
        with three:
            assert cuda.get_current_stream() is three
        assert cuda.get_current_stream() is one
    assert cuda.get_current_stream() is cuda.Stream.null
    assert (one.priority, two.priority, three.is_non_blocking) == (0, -1, True)

    class Other:
        def __init__(self, found):
            self.found = found

        def __cuda_stream__(self):
            return self.found

    other = Other((0, one.ptr))
    there = cuda.Stream.from_external(other)
    assert (there.ptr, there._foreign_stream_ref, there == one) == (one.ptr, other, True)
    there.synchronize()
    for wrong in (1, (0,), ("0", 1), (0, "1"), (1, 2)):
        with pytest.raises(TypeError):
            cuda.Stream.from_external(Other(wrong))
    with pytest.raises(TypeError):
        cuda.Stream.from_external(object())
    ptr = cuda.runtime.streamCreate()
    with pytest.warns(DeprecationWarning):
        cuda.ExternalStream(ptr).synchronize()
    cuda.runtime.streamDestroy(ptr)


def test_devices():
    device = cp.cuda.Device()
    assert device == cp.cuda.Device.from_pci_bus_id(device.pci_bus_id)
    assert device == cp.cuda.device.from_pointer(cp.ones(3).data.ptr)
    assert device != 0 and device < cp.cuda.Device(1) and cp.cuda.Device(1) >= device
    with pytest.raises(TypeError):
        assert device < 1
    facts = device.attributes
    assert (facts["WarpSize"], facts["MaxBlockDimZ"]) == (32, 64)
    assert f"{facts['ComputeCapabilityMajor']}{facts['ComputeCapabilityMinor']}" == device.compute_capability
    for f in (
        lambda: cp.cuda.Device.from_pci_bus_id("x"),
        lambda: cp.cuda.Device(99).use(),
        lambda: cp.cuda.Device(99).attributes,
        lambda: cp.cuda.runtime.deviceGetAttribute(-1, 0),
    ):
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError) as e:
            f()
        assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)
    for name in ("texture", "nccl", "Graph"):
        with pytest.raises(AttributeError, match="is not served: "):
            getattr(cp.cuda, name)
    with cp.cuda.profile():
        assert cp.cuda.driver.ctxGetCurrent() == cp.cuda.driver.streamGetCtx(cp.cuda.Stream().ptr) != 0


NAMES = r"""
#include <cooperative_groups.h>
namespace shapes {
    namespace inner { enum class Kind : int { A, B = 4, C }; __device__ int number(Kind k) { return (int)k; } }
    enum { FIRST = 3, SECOND };
}
using namespace shapes;
namespace short_name = shapes::inner;
template <inner::Kind kind> __global__ void names(int* p) {
    p[0] = short_name::number(kind);
    switch (kind) {
        case inner::Kind::A: p[1] = 1; break;
        case inner::Kind::B: p[1] = SECOND; break;
        default: p[1] = shapes::FIRST;
    }
    p[2] = (int)inner::Kind::C;
}
extern "C" __global__ void shifted(const float* x, float* y, int n) {
    namespace cg = cooperative_groups;
    cg::grid_group grid = cg::this_grid();
    auto block = cg::this_thread_block();
    int unused;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i];
    cg::sync(grid);
    if (block.thread_rank() == 0) y[n] = block.size();
    grid.sync();
    for (int i = n - 1 - grid.thread_rank(); i >= 0; i -= grid.size()) y[i] += y[n];
}
"""


def test_namespaces_enumerations_and_groups():
    names = ("names<shapes::inner::Kind::B>", "names<(shapes::inner::Kind)5>")
    module, log, p = cp.RawModule(code=NAMES, name_expressions=names), io.StringIO(), cp.zeros(3, np.int32)
    module.compile(log)
    assert 'module.cu(22): warning: variable "unused" was declared but never referenced' in log.getvalue()
    for name, expected in zip(names, ([4, 4, 5], [5, 3, 5])):
        module.get_function(name)((1,), (1,), (p,))
        assert p.get().tolist() == expected
    x, y = cp.arange(100, dtype=np.float32), cp.zeros(101, np.float32)
    kernel = pickle.loads(pickle.dumps(module)).get_function("shifted")
    kernel((2,), (16,), (x, y, 100))
    assert y.get().tolist() == [*np.arange(100) + 16.0, 16.0]
    assert kernel.num_regs > 0 and kernel.attributes["shared_size_bytes"] == 0


@pytest.mark.parametrize(
    "text, message",
    [
        ("__device__ int f(int a) { return a; }\n__device__ float f(float a) { return a; }", "without overloads"),
        ("namespace a { const int k = 1; }\nnamespace b { const int k = 2; }", '"k" has already been declared'),
        ("__device__ void f() { typedef int T; }\n__device__ void g() { typedef double T; }", '"T" has already'),
        ("enum A { X };\nenum B { Y, X };", '"X" has already been declared'),
        ("__device__ void f(float* y) {\ny[0] = cooperative_groups::this_grid(); }", "has no value"),
        ("__device__ void f() {\nauto g = cooperative_groups::this_grid(); g.shfl(1); }", "shfl of a group"),
        ("namespace a {\n", 'expected a "}"'),
    ],
)
def test_names_that_mean_two_things(text, message):
    with pytest.raises(CompileException, match=message) as e:
        cp.RawModule(code=text).compile()
    assert "module.cu(2)" in str(e.value)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)


def test_names_of_kernels(tmp_path):
    text = "template <typename T> __global__ void t(T* x) { x[0] += 1; }\n__constant__ int k = 1;"
    module = cp.RawModule(code=text, name_expressions=["t<float>"])
    module.get_function("t< float >")
    for f in (
        lambda: module.get_function("t<double>"),
        lambda: module.get_function("missing"),
        lambda: module.get_global("missing"),
        lambda: cp.RawModule(code=text).get_function("t<float>"),
    ):
        with pytest.raises(cp.cuda.driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND: named symbol not found"):
            f()
    with pytest.raises(cp.cuda.driver.CUDADriverError, match="CUDA_ERROR_FILE_NOT_FOUND"):
        cp.RawModule(path=str(tmp_path / "missing.cubin")).compile()
    (tmp_path / "a.cubin").write_bytes(b"")
    with pytest.raises(NotImplementedError):
        cp.RawModule(path=str(tmp_path / "a.cubin")).compile()
    for options in ({"backend": "nvcc", "name_expressions": ["t<int>"]}, {"backend": "clang"}):
        with pytest.raises(ValueError):
            cp.RawModule(code=text, **options)


def test_kept_results():
    calls = []

    @cp.memoize(for_each_device=True)
    def f(x):
        calls.append(x)
        return x + 1

    assert [f(1), f(1), f(2)] == [2, 2, 3]
    cp.clear_memo()
    assert (f(1), calls) == (2, [1, 2, 1])
