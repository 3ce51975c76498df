"""Loops of threads over several axes: each thread goes on by the grid's extent, and inner loops by axes other than
x."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import cuda

LAUNCHES = [((1, 1), (8, 4)), ((2, 3), (32, 2)), ((3, 1), (5, 7)), ((1, 2), (1, 16)), ((4, 4), (16, 16))]
SHAPES = [(0, 5), (5, 0), (1, 1), (7, 33), (64, 64), (70, 19)]


def values(shape):
    return np.random.default_rng(3).random(shape)


@cuda.jit
def by_rows(a, out):
    j0, i0 = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    for i in range(i0, a.shape[0], sy):
        for j in range(j0, a.shape[1], sx):
            out[i, j] += 2 * a[i, j] + i * 1000 + j


@cuda.jit
def by_columns(a, out):
    i0, j0 = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    for i in range(i0, a.shape[0], sx):
        row = i * 1000
        for j in range(j0, a.shape[1], sy):
            out[i, j] += 2 * a[i, j] + row + j


@cuda.jit
def with_while(a, out):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    while i < a.shape[0]:
        j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        while j < a.shape[1]:
            out[i, j] += 2 * a[i, j] + i * 1000 + j
            j += cuda.gridDim.x * cuda.blockDim.x
        i += cuda.gridDim.y * cuda.blockDim.y


@cuda.jit
def in_between(a, out):
    """The outer loop does more than to go through the inner ones."""
    j0, i0 = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    for i in range(i0, a.shape[0], sy):
        last = 0.0
        for j in range(j0, a.shape[1], sx):
            if a[i, j] > 0.5:
                last += i * 1000
            out[i, j] += a[i, j] + j
        for j in range(j0, a.shape[1], sx):
            out[i, j] += a[i, j] + i * 1000
        if last < 0:
            out[i, 0] = last


@pytest.mark.parametrize("launch", LAUNCHES, ids=str)
@pytest.mark.parametrize("kernel", [by_rows, by_columns, with_while, in_between], ids=lambda k: k.__name__)
def test_two_axes(kernel, launch):
    for shape in SHAPES:
        for order in "CF":
            a, out = values(shape), np.ones(shape, order=order)
            kernel[launch](a, out)
            i, j = np.indices(shape)
            assert np.allclose(out, 1 + 2 * a + i * 1000 + j)


@pytest.mark.parametrize("block", [(8, 4, 2), (1, 3, 5), (4, 4, 4)], ids=str)
def test_three_axes(block):
    @cuda.jit
    def k(a, out):
        i0, j0, m0 = cuda.grid(3)
        sx, sy, sz = cuda.gridsize(3)
        for i in range(i0, a.shape[0], sx):
            for j in range(j0, a.shape[1], sy):
                for m in range(m0, a.shape[2], sz):
                    out[i, j, m] += a[i, j, m] * 2 + i * 100 + j * 10 + m

    for shape in [(3, 5, 7), (20, 9, 11), (1, 0, 4)]:
        a, out = values(shape), np.ones(shape)
        k[(2, 1, 2), block](a, out)
        i, j, m = np.indices(shape)
        assert np.allclose(out, 1 + a * 2 + i * 100 + j * 10 + m)


def test_an_index_beyond_the_end_raises():
    @cuda.jit
    def k(a, out):
        j0, i0 = cuda.grid(2)
        sx, sy = cuda.gridsize(2)
        for i in range(i0, a.shape[0], sy):
            for j in range(j0, a.shape[1], sx):
                out[i, j] = a[i, j]

    a, out = values((20, 20)), np.zeros((20, 19))
    with pytest.raises(IndexError):
        k[(1, 1), (8, 4)](a, out)
    k[(1, 1), (8, 4)](a[:, :19], out)
    assert (out == a[:, :19]).all()


@pytest.mark.parametrize("block", [(16, 16), (3, 8), (1, 40), (40, 1)], ids=str)
def test_what_threads_keep_where_another_axis_is_the_inner_one(block):
    @cuda.jit
    def k(a, out):
        shared = cuda.shared.array((40, 40), np.float64)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        own = cuda.local.array(3, np.float64)
        for m in range(3):
            own[m] = a[x, y] + m
        shared[x, y] = own[1]
        cuda.syncthreads()
        far = shared[cuda.blockDim.x - 1 - x, cuda.blockDim.y - 1 - y]
        n = cuda.syncthreads_count(a[x, y] > 0.5)
        out[x, y] = far + own[0] + own[2] + n + 100 * (x + 64 * y)

    a = values(block)
    out = np.zeros(block)
    k[1, block](a, out)
    x, y = np.indices(block)
    assert np.allclose(out, a[::-1, ::-1] + 2 * a + 3 + (a > 0.5).sum() + 100 * (x + 64 * y))


def test_threads_whose_sums_wait_write_where_others_do():
    @cuda.jit
    def k(a, v, out, n):
        i = cuda.grid(1)
        if i < a.shape[0]:
            s = 0.0
            for m in range(n):
                s += a[i, m] * v[m]
            out[i % 2, i] = s
            out[2, 0] = 7

    for rows, n in [(1, 50), (33, 40), (300, 64), (300, 0)]:
        a, v, out = values((rows, 64)), values(64), np.zeros((3, rows))
        k[3, 128](a, v, out, n)
        i = np.arange(rows)
        assert np.allclose(out[i % 2, i], a[:, :n] @ v[:n])
        assert out[2, 0] == 7
    with pytest.raises(IndexError):
        k[3, 128](a, v, out, 65)
