"""Plain loops over numbers and arrays: a sum over a table, points of the Mandelbrot set, a sieve."""

import numpy as np

from lancehead import njit


@njit
def total(table):
    s = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            s += table[i, j]
    return s


@njit
def inside(width, height, limit):
    count = 0
    for i in range(height):
        for j in range(width):
            c = complex(-2.2 + 3.0 * j / width, -1.5 + 3.0 * i / height)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                n += 1
            count += n == limit
    return count


@njit
def primes(n):
    is_prime = np.ones(n, np.bool_)
    is_prime[:2] = False
    for i in range(2, n):
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
    return is_prime.sum()


TABLE = np.ones((20, 30))


def first():
    return total(TABLE), inside(8, 8, 20), primes(1000)


def is_right(found):
    return found == (600.0, inside.py_func(8, 8, 20), 168)
