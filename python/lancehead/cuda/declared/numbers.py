"""Operations on numbers that Python has no operator for."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def popc(x: int) -> int:
    """Number of bits that are set.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.popc(0b1011)
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([3])
    """


def clz(x: int) -> int:
    """Number of zero bits before the highest one that is set.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.clz(np.uint32(1))
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([31])
    """


def ffs(x: int) -> int:
    """Place of the lowest bit that is set, from 1; 0 if there is none.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.ffs(0b1000)
    >>> out = np.zeros(1, int); kernel[1, 1](out); out
    array([4])
    """


def brev(x: int) -> int:
    """The bits in reverse order.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.brev(np.uint32(1))
    >>> out = np.zeros(1, np.uint32); kernel[1, 1](out); out
    array([2147483648], dtype=uint32)
    """


def fma(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.fma(2.0, 3.0, 1.0)
    >>> out = np.zeros(1); kernel[1, 1](out); out
    array([7.])
    """


def cbrt(x: float) -> float:
    """Cube root.

    >>> @cuda.jit
    ... def kernel(out): out[0] = cuda.cbrt(27.0)
    >>> out = np.zeros(1); kernel[1, 1](out); out
    array([3.])
    """


def selp(condition: bool, a: T, b: T) -> T:
    """One of two values: `a` if the condition holds, otherwise `b`.

    >>> @cuda.jit
    ... def kernel(out): out[cuda.threadIdx.x] = cuda.selp(cuda.threadIdx.x > 1, 10, 20)
    >>> out = np.zeros(4, int); kernel[1, 4](out); out
    array([20, 20, 10, 10])
    """
