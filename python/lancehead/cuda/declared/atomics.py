"""Operations that read, change and write an element of an array as one, whatever other threads do meanwhile."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any

#: A number for an array of one dimension, a tuple for others.
Index = int | tuple[int, ...]


class atomic:
    """Operations that read, change and write an element of an array as one, whatever other threads do meanwhile.

    Elements have 32 or 64 bits. An index is a number, or a tuple for arrays of several dimensions.

    >>> @cuda.jit
    ... def histogram(x, counts): cuda.atomic.add(counts, x[cuda.grid(1)], 1)
    >>> counts = np.zeros(3, int); histogram[1, 4](np.array([0, 2, 2, 1]), counts); counts
    array([1, 1, 2])
    """

    @staticmethod
    def add(array: Any, index: Index, value: Any, /) -> Any:
        """Adds to an element, whole; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.add(a, 0, 2)
        >>> a = np.ones(1, int); kernel[1, 32](a); a
        array([65])
        """

    @staticmethod
    def sub(array: Any, index: Index, value: Any, /) -> Any:
        """Subtracts from an element, whole; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.sub(a, 0, 2)
        >>> a = np.full(1, 100); kernel[1, 32](a); a
        array([36])
        """

    @staticmethod
    def max(array: Any, index: Index, value: Any, /) -> Any:
        """Sets an element to a value if that is larger; gives what was there before.

        A NaN in the array stays, and a NaN as the value changes nothing.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.max(a, 0, cuda.threadIdx.x)
        >>> a = np.zeros(1, int); kernel[1, 32](a); a
        array([31])
        """

    @staticmethod
    def min(array: Any, index: Index, value: Any, /) -> Any:
        """Sets an element to a value if that is smaller; gives what was there before.

        A NaN in the array stays, and a NaN as the value changes nothing.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.min(a, 0, cuda.threadIdx.x + 3)
        >>> a = np.full(1, 9); kernel[1, 32](a); a
        array([3])
        """

    @staticmethod
    def nanmax(array: Any, index: Index, value: Any, /) -> Any:
        """As `max`, but a NaN in the array is replaced, too.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.nanmax(a, 0, cuda.threadIdx.x)
        >>> a = np.full(1, np.nan); kernel[1, 32](a); a
        array([31.])
        """

    @staticmethod
    def nanmin(array: Any, index: Index, value: Any, /) -> Any:
        """As `min`, but a NaN in the array is replaced, too.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.nanmin(a, 0, cuda.threadIdx.x + 3)
        >>> a = np.full(1, np.nan); kernel[1, 32](a); a
        array([3.])
        """

    @staticmethod
    def and_(array: Any, index: Index, value: Any, /) -> Any:
        """`&=` of an element, whole; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.and_(a, 0, 6)
        >>> a = np.full(1, 15); kernel[1, 32](a); a
        array([6])
        """

    @staticmethod
    def or_(array: Any, index: Index, value: Any, /) -> Any:
        """`|=` of an element, whole; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.or_(a, 0, cuda.threadIdx.x)
        >>> a = np.zeros(1, int); kernel[1, 32](a); a
        array([31])
        """

    @staticmethod
    def xor(array: Any, index: Index, value: Any, /) -> Any:
        """`^=` of an element, whole; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.xor(a, 0, 3)
        >>> a = np.full(1, 5); kernel[1, 1](a); a
        array([6])
        """

    @staticmethod
    def exch(array: Any, index: Index, value: Any, /) -> Any:
        """Sets an element to a value; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.exch(a, 0, 7)
        >>> a = np.zeros(1, int); kernel[1, 1](a); a
        array([7])
        """

    @staticmethod
    def inc(array: Any, index: Index, limit: Any, /) -> Any:
        """Adds 1 to an element that is below `limit`, and sets others to 0; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.inc(a, 0, 4)
        >>> a = np.zeros(1, np.uint32); kernel[1, 32](a); a
        array([2], dtype=uint32)
        """

    @staticmethod
    def dec(array: Any, index: Index, limit: Any, /) -> Any:
        """Subtracts 1 from an element from 1 to `limit`, and sets others to `limit`; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.dec(a, 0, 4)
        >>> a = np.zeros(1, np.uint32); kernel[1, 32](a); a
        array([3], dtype=uint32)
        """

    @staticmethod
    def cas(array: Any, index: Index, old: Any, value: Any, /) -> Any:
        """Sets an element to a value if it equals `old`; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.cas(a, 1, 0, 7)
        >>> a = np.zeros(2, int); kernel[1, 32](a); a
        array([0, 7])
        """

    @staticmethod
    def compare_and_swap(array: Any, old: Any, value: Any, /) -> Any:
        """Sets the first element to a value if it equals `old`; gives what was there before.

        >>> @cuda.jit
        ... def kernel(a): cuda.atomic.compare_and_swap(a, 0, 7)
        >>> a = np.zeros(2, int); kernel[1, 32](a); a
        array([7, 0])
        """
