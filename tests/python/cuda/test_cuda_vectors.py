"""Short vectors in kernels: arithmetic, complex numbers, and several elements of an array at once."""

import operator

import numpy as np
import pytest

from lancehead import cuda, errors
from lancehead._command import successor

BOTH = (operator.add, operator.sub)
ALL = (*BOTH, operator.mul, operator.truediv, operator.floordiv, operator.mod)


@pytest.mark.parametrize("op", ALL)
def test_an_operator_with_a_number_is_of_each_part(op):
    @cuda.jit
    def kernel(x, out):
        v, w = op(cuda.float4(1, -2, 3, -4), x[0]), op(x[0], cuda.float4(1, -2, 3, -4))
        out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w

    x, out, v = np.float32([2.5]), np.zeros(8, np.float32), np.float32([1, -2, 3, -4])
    kernel[1, 1](x, out)
    assert out.tolist() == np.concatenate([op(v, x[0]), op(x[0], v)]).tolist()


@pytest.mark.parametrize("op", BOTH)
def test_vectors_are_added_and_subtracted(op):
    @cuda.jit
    def kernel(out):
        v = op(cuda.int3(1, 2, 3), cuda.int3(10, 20, 40))
        v += cuda.int3(1)
        w = abs(-v)
        out[0], out[1], out[2], out[3], out[4], out[5] = v.x, v.y, v.z, w.x, w.y, w.z

    out, v = np.zeros(6, np.int32), op(np.array([1, 2, 3]), np.array([10, 20, 40])) + 1
    kernel[1, 1](out)
    assert out.tolist() == [*v, *abs(v)]


def test_a_result_is_a_vector_of_the_type_of_its_numbers():
    @cuda.jit
    def kernel(x, out):
        out.view(cuda.double2)[0] = cuda.int2(1, 2) + x[0]
        out.view(cuda.double2)[1] = cuda.int2(1, 2) / 4

    out = np.zeros(4)
    kernel[1, 1](np.array([0.5]), out)
    assert out.tolist() == [1.5, 2.5, 0.25, 0.5]


@pytest.mark.parametrize("op", [operator.mul, operator.truediv, operator.pow])
def test_products_of_vectors_are_refused(op):
    @cuda.jit
    def kernel(out):
        out[0] = op(cuda.float2(1, 2), cuda.float2(1, 2)).x

    with pytest.raises(errors.TypingError, match="is not supported between `float32x2` and `float32x2`"):
        kernel[1, 1](np.zeros(1))


def test_vectors_of_several_lengths_are_not_added():
    @cuda.jit
    def kernel(out):
        out[0] = (cuda.float2(1, 2) + cuda.float3(1, 2, 3)).x

    with pytest.raises(errors.TypingError, match="`\\+` is not supported between `float32x2` and `float32x3`"):
        kernel[1, 1](np.zeros(1))


def test_complex_numbers_are_vectors_of_two():
    @cuda.jit
    def kernel(z, out):
        s = cuda.shared.array(1, cuda.double2)
        s[0] = z[0]
        out[0] = s[0]
        out[1] = complex(cuda.short2(3, 4))
        out[2] = np.complex64(cuda.half2(0.5, 2)) / 2
        v = cuda.float4(z[0], 2, 3)
        out[3] = complex(v.y, v.w)

    out = np.zeros(4, complex)
    kernel[1, 1](np.array([1 + 2j]), out)
    assert out.tolist() == [1 + 2j, 3 + 4j, 0.25 + 1j, 2 + 3j]

    for kind in (complex, np.complex64):

        @cuda.jit
        def refused(out):
            out[0] = kind(cuda.float4(1, 2, 3, 4))

        with pytest.raises(errors.TypingError, match="`float32x4` cannot be converted to `complex"):
            refused[1, 1](out)


def test_elements_are_read_and_written_at_once():
    @cuda.jit
    def kernel(a, flat, out):
        v = successor.vector.load(a[1:, 2:], (cuda.threadIdx.x, 0), 2, alignment=8)
        successor.vector.store(out, (cuda.threadIdx.x, 0), v + 1.0)
        if cuda.threadIdx.x == 0:
            successor.vector.store(flat, 0, successor.vector.load(a, 7, 3))
            block = successor.vector.load(a, (3, 4), (2, 2))
            successor.vector.store(out, (4, 0), block)
            flat[3] = cuda.float4(block).w

    a, flat, out = np.arange(40, dtype=np.float32).reshape(5, 8), np.zeros(4, np.float32), np.zeros((6, 2), np.float32)
    kernel[1, 4](a, flat, out)
    assert out.tolist() == [*(a[1:, 2:4] + 1).tolist(), *a[3:, 4:6].tolist()]
    assert flat.tolist() == [7, 8, 9, a[4, 5]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vector.load(a, 0, a.size)", "a constant shape"),
        ("vector.load(a, 0)", "takes an array, an index, a shape"),
        ("vector.load(3, 0, 2)", "works on arrays"),
        ("vector.store(a, 0.5, (1, 2))", "takes integers as an index"),
        ("vector.load(a, 0, 2, wide=3)", "takes an array, an index, a shape"),
    ],
)
def test_how_elements_are_named(text, said):
    found = {"vector": successor.vector}
    exec(f"def kernel(a):\n    {text}", found)
    with pytest.raises(errors.TypingError, match=said):
        cuda.jit(found["kernel"])[1, 1](np.zeros(4))


def test_pointers_are_moved_by_elements():
    pointer = "CPointer(complex64)"

    @cuda.jit(f"void({pointer}, {pointer}, int32)")
    def kernel(to, source, n):
        source += n
        to[0] = source[0]
        source -= 1
        to = to + 1
        to[0] = source[0]

    @cuda.jit("void(CPointer(float32), CPointer(float32))")
    def hinted(to, source):
        cuda.stcs(to, 1, cuda.ldcg(source, 2))

    a, out = cuda.to_device(np.float32([1, 2, 3])), cuda.to_device(np.zeros(2, np.float32))
    hinted[1, 1](out.device_ctypes_pointer.value, a.device_ctypes_pointer.value)
    assert out.copy_to_host().tolist() == [0, 3]
    assert "ld.global.cg" in next(iter(hinted.inspect_asm().values()))

    a, out = cuda.to_device(np.complex64([1j, 2, 3])), cuda.to_device(np.zeros(2, np.complex64))
    kernel[1, 1](out.device_ctypes_pointer.value, a.device_ctypes_pointer.value, 2)
    assert out.copy_to_host().tolist() == [3, 2]
