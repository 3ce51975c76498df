"""Around launches: kernels for other processes, callbacks, addresses as arguments, numbers given to ufuncs of a device."""

import gc
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lancehead import carray, cuda, njit, types


def made_here(scale):
    @cuda.jit(device=True)
    def inner(x):
        return x * scale

    @cuda.jit
    def outer(a):
        a[cuda.grid(1)] = inner(a[cuda.grid(1)])

    return outer


def test_kernels_that_have_no_name_go_by_value():
    kernel = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made_here(3)))))
    a = np.arange(4.0)
    kernel[2, 2](a)
    assert a.tolist() == [0, 3, 6, 9]
    eager = pickle.loads(pickle.dumps(cuda.jit("void(int32[::1])")(made_here(2).py_func)))
    assert eager.specialized and [str(s) for s in eager.signatures] == ["(array(int32, 1d, C),)"]
    # Another process needs the module whose globals the functions use.
    code = "import pickle, sys, numpy as np; k = pickle.load(sys.stdin.buffer); a = np.arange(3.0); k(a); print(a.tolist(), k.blockdim)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(made_here(5)[1, 3]), capture_output=True, check=True, cwd=Path(__file__).parent)
    assert done.stdout.decode().strip() == "[0.0, 5.0, 10.0] (3, 1, 1)"


def test_ufuncs_that_have_no_name_go_by_value():
    for options in ({}, {"fastmath": True}):
        twice = cuda.vectorize(["int64(int64)", "float64(float64)"], **options)(lambda x: x * 2)
        assert pickle.loads(pickle.dumps(twice))(np.arange(3)).tolist() == [0, 2, 4]


def test_callbacks_before_launches():
    launch, seen = made_here(2)[1, 4], []
    launch.pre_launch_callbacks.append(lambda kernel, launch: seen.append((kernel.__name__, launch.blockdim)))
    launch(np.zeros(4))
    assert seen == [("outer", (4, 1, 1))]
    with pytest.raises(pickle.PicklingError, match="callbacks"):
        pickle.dumps(launch)


def test_callbacks_of_linked_code():
    alive, count = [], []
    source = cuda.CUSource("", setup_callback=lambda code: (alive.append(code.handle), count.append(1)), teardown_callback=lambda code: alive.remove(code.handle))
    kernel = cuda.jit(link=[source])(made_here(2).py_func)
    for dtype in (np.float64, np.float64, np.int32):
        kernel[1, 1](np.zeros(1, dtype))
    assert len(set(alive)) == len(count) == 2
    cuda.current_context().reset()
    assert not alive
    kernel[1, 1](np.zeros(1))
    assert len(alive) == 1
    del kernel
    gc.collect()
    assert not alive and len(count) == 3


def test_addresses_as_arguments():
    signature = types.void(types.CPointer(types.float32), types.CPointer(types.int16), types.uint32)

    @cuda.jit(signature)
    def kernel(to, source, n):
        i = cuda.grid(1)
        if i < n:
            to[i] += source[i] * 2
            to[i] -= carray(source, (n,))[0]

    to, source = cuda.to_device(np.ones(5, np.float32)), cuda.to_device(np.arange(1, 6, dtype=np.int16))
    kernel[1, 32](*(a.__cuda_array_interface__["data"][0] for a in (to, source)), 4)
    assert to.copy_to_host().tolist() == [2, 4, 6, 8, 1]
    with pytest.raises(TypeError, match="No matching definition"):
        kernel[1, 32](1.5, 2.5, 4)
    a = np.array([1, 2, 3])
    get = njit("int64(CPointer(int64), int64)")(lambda p, i: p[i])
    assert get(a.ctypes.data, 2) == 3 and get(a[1:].ctypes.data, -1) == 1


def test_numbers_become_what_a_generalised_ufunc_takes():
    @cuda.guvectorize(["void(int32, int32[:], int32[:])"], "(),(t)->(t)")
    def scale(a, b, out):
        for i in range(b.size):
            out[i] = a * b[i]

    b = np.arange(4, dtype=np.int32)
    for number in (2, np.int64(2), np.uint8(2)):
        assert scale(number, b).tolist() == [0, 2, 4, 6]
    for wrong in (2.5, cuda.to_device(np.array(2)), np.array([2])):
        with pytest.raises(TypeError):
            scale(wrong, b)
