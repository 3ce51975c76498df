"""Short loops over arrays of all kinds, one idea each."""

import math

import numpy as np

from collection import Collection

C = Collection("loops")
R = np.random.default_rng(0)
A = R.random((300, 400))
v = R.random(100000)
w = R.random(100000)
c = v + 1j * w
i4 = R.integers(-1000, 1000, 100000).astype(np.int32)
f4 = v.astype(np.float32)
C.expression("nansum1", "A", "np.nansum(A)", A)
C.expression("nanmean1", "A", "np.nanmean(A)", A)
C.expression("nanmax1", "A", "np.nanmax(A)", A)


@C.function(v)
def maxloop(v):
    m = v[0]
    for x in v:
        m = max(m, x)
    return m


@C.function(v)
def minmaxloop(v):
    lo = np.inf
    hi = -np.inf
    for i in range(v.size):
        lo = min(lo, v[i])
        hi = max(hi, v[i])
    return (lo, hi)


@C.function(v)
def argmin_loop(v):
    m = np.inf
    j = -1
    for i in range(v.size):
        if v[i] < m:
            m = v[i]
            j = i
    return j


@C.function(v, 0.5)
def count_if(v, t):
    n = 0
    for x in v:
        if x > t:
            n += 1
    return n


@C.function(v, 0.5)
def sum_if(v, t):
    s = 0.0
    for x in v:
        if x > t:
            s += x
    return s


@C.function(v, 0.5)
def compact(v, t):
    out = np.empty_like(v)
    n = 0
    for x in v:
        if x > t:
            out[n] = x
            n += 1
    return out[:n]


@C.function(v, w)
def zip_loop(v, w):
    s = 0.0
    for x, y in zip(v, w):
        s += x * y
    return s


@C.function(v)
def enum(v):
    s = 0.0
    for i, x in enumerate(v):
        s += i * x
    return s


@C.function(v)
def rev(v):
    out = np.empty_like(v)
    for i in range(v.size - 1, -1, -1):
        out[v.size - 1 - i] = v[i]
    return out


@C.function(v)
def diff2(v):
    out = np.empty(v.size - 1)
    for i in range(1, v.size):
        out[i - 1] = v[i] - v[i - 1]
    return out


@C.function(i4)
def isum(a):
    s = 0
    for x in a:
        s += x
    return s


@C.function(i4)
def iabs(a):
    out = np.empty_like(a)
    for i in range(a.size):
        out[i] = abs(a[i]) if a[i] % 2 == 0 else -a[i]
    return out


@C.function(i4)
def imod(a):
    s = 0
    for x in a:
        s += x % 7 + x // 3
    return s


@C.function(f4)
def fsum32(a):
    s = np.float32(0)
    for x in a:
        s += x * x
    return s


@C.function(f4, fastmath=True)
def fsum32f(a):
    s = np.float32(0)
    for x in a:
        s += x * x
    return s


@C.function(c)
def csum(c):
    s = 0j
    for x in c:
        s += x * x.conjugate()
    return s


@C.function(v)
def clamp(v):
    out = np.empty_like(v)
    for i in range(v.size):
        out[i] = min(max(v[i], 0.2), 0.8)
    return out


@C.function(v)
def piecewise(v):
    out = np.empty_like(v)
    for i in range(v.size):
        x = v[i]
        if x < 0.3:
            out[i] = x * x
        elif x < 0.6:
            out[i] = 2 * x
        else:
            out[i] = math.sqrt(x)
    return out


@C.function(v, w)
def atan2(v, w):
    out = np.empty_like(v)
    for i in range(v.size):
        out[i] = math.atan2(v[i], w[i])
    return out


@C.function(v)
def pow_loop(v):
    out = np.empty_like(v)
    for i in range(v.size):
        out[i] = v[i] ** 2.5 + v[i] ** 3
    return out


@C.function(v)
def logexp(v):
    s = 0.0
    for x in v:
        s += math.log(x + 1) * math.exp(-x)
    return s


@C.function(A)
def colsum(A):
    out = np.zeros(A.shape[1])
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            out[j] += A[i, j]
    return out


@C.function(A)
def rowsum(A):
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i] += A[i, j]
    return out


@C.function(A)
def rowmax(A):
    out = np.empty(A.shape[0])
    for i in range(A.shape[0]):
        m = A[i, 0]
        for j in range(1, A.shape[1]):
            m = max(m, A[i, j])
        out[i] = m
    return out


@C.function(A)
def nditer(A):
    s = 0.0
    for i, j in np.ndindex(A.shape):
        s += A[i, j]
    return s


@C.function(A)
def flat(A):
    s = 0.0
    for x in A.flat:
        s += x
    return s


@C.function(A)
def rows_iter(A):
    s = 0.0
    for r in A:
        s += r[0] + r[-1]
    return s


@C.function(A)
def cov(A):
    n, m = A.shape
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            s = 0.0
            for q in range(60):
                s += A[q, i] * A[q, j]
            out[i, j] = s
            out[j, i] = s
    return out


@C.function(np.full((64, 64), 3, np.int64))
def pascal(a):
    n = a.shape[0]
    b = np.zeros((n, n), np.int64)
    b[:, 0] = 1
    for i in range(1, n):
        for j in range(1, i + 1):
            b[i, j] = b[i - 1, j - 1] + b[i - 1, j] & 16777215
    return b


@C.function(5000)
def collat(n):
    best = 0
    for i in range(1, n):
        x = i
        c = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            c += 1
        best = max(best, c)
    return best


@C.function(30000)
def sieve2(n):
    s = np.ones(n, np.bool_)
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            for j in range(i * i, n, i):
                s[j] = False
    return s.sum()


@C.function(R.integers(0, 256, 65536).astype(np.uint8))
def hist256(a):
    h = np.zeros(256, np.int64)
    for x in a:
        h[x] += 1
    return h


@C.function(R.random((512, 512)))
def sobel(a):
    out = np.zeros_like(a)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            gx = (
                a[i - 1, j + 1]
                + 2 * a[i, j + 1]
                + a[i + 1, j + 1]
                - a[i - 1, j - 1]
                - 2 * a[i, j - 1]
                - a[i + 1, j - 1]
            )
            gy = (
                a[i + 1, j - 1]
                + 2 * a[i + 1, j]
                + a[i + 1, j + 1]
                - a[i - 1, j - 1]
                - 2 * a[i - 1, j]
                - a[i - 1, j + 1]
            )
            out[i, j] = math.sqrt(gx * gx + gy * gy)
    return out


@C.function(R.random((256, 256)), 2)
def boxblur(a, r):
    h, w = a.shape
    out = np.zeros_like(a)
    for i in range(r, h - r):
        for j in range(r, w - r):
            s = 0.0
            for di in range(-r, r + 1):
                for dj in range(-r, r + 1):
                    s += a[i + di, j + dj]
            out[i, j] = s / (2 * r + 1) ** 2
    return out


@C.function(R.random((200, 3)), R.random((300, 3)))
def cdist(x, y):
    out = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for d in range(x.shape[1]):
                s += (x[i, d] - y[j, d]) ** 2
            out[i, j] = np.sqrt(s)
    return out


@C.function(R.random(2000), R.random(2000))
def crosscount(a, b):
    n = 0
    for x in a:
        for y in b:
            if x < y:
                n += 1
    return n


@C.function(R.random((100, 100)), R.random((100, 100)))
def matmul_ijk(a, b):
    c = np.zeros((100, 100))
    for i in range(100):
        for j in range(100):
            s = 0.0
            for q in range(100):
                s += a[i, q] * b[q, j]
            c[i, j] = s
    return c


@C.function(R.random((50, 50, 50)))
def sum3(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for q in range(a.shape[2]):
                s += a[i, j, q]
    return s


@C.function(100)
def strs(n):
    t = 0
    for i in range(n):
        s = "item" + str(i)
        if s.endswith("7"):
            t += len(s)
    return t


@C.function(1000)
def tuples(n):
    a = (0, 1)
    for i in range(n):
        a = (a[1], (a[0] + a[1]) % 1000003)
    return a


@C.function(R.random(1000))
def lists(v):
    l = [x * 2 for x in v if x > 0.3]
    l.append(1.0)
    l.reverse()
    l.sort()
    return l[0] + l[-1] + len(l)
