"""Programs as people write them: linear algebra, images, physics, statistics, strings of bytes, graphs."""

import math
from collections import namedtuple

import numpy as np

from collection import Collection

C = Collection("programs")
R = np.random.default_rng(0)
P = namedtuple("P", "x y m")
img = (R.random((256, 256)) * 255).astype(np.uint8)
A2 = R.random((300, 300))
SPD = A2 @ A2.T + 300 * np.eye(300)


@C.function(R.random((200, 200)))
def bilinear(a):
    h, w = a.shape
    out = np.empty((h * 2, w * 2))
    for i in range(h * 2):
        y = min(i * 0.5, h - 1.001)
        y0 = int(y)
        fy = y - y0
        for j in range(w * 2):
            x = min(j * 0.5, w - 1.001)
            x0 = int(x)
            fx = x - x0
            above = a[y0, x0] * (1 - fx) + a[y0, x0 + 1] * fx
            out[i, j] = above * (1 - fy) + (a[y0 + 1, x0] * (1 - fx) + a[y0 + 1, x0 + 1] * fx) * fy
    return out


@C.function(img)
def median3(a):
    h, w = a.shape
    out = np.zeros_like(a)
    v = np.empty(9, np.uint8)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            c = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    v[c] = a[i + di, j + dj]
                    c += 1
            for x in range(1, 9):
                t = v[x]
                y = x - 1
                while y >= 0 and v[y] > t:
                    v[y + 1] = v[y]
                    y -= 1
                v[y + 1] = t
            out[i, j] = v[4]
    return out


@C.function(SPD)
def lu(a):
    a = a.copy()
    n = a.shape[0]
    for p in range(n):
        for i in range(p + 1, n):
            a[i, p] /= a[p, p]
            for j in range(p + 1, n):
                a[i, j] -= a[i, p] * a[p, j]
    return a


@C.function(SPD)
def chol(a):
    n = a.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for q in range(j):
                s -= L[i, q] * L[j, q]
            if i == j:
                L[i, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


@C.function(R.random((300, 300)))
def jacobi(a):
    b = a.copy()
    for it in range(10):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        a, b = (b, a)
    return a


@C.function(R.random((300, 300)))
def gauss_seidel(a):
    a = a.copy()
    for it in range(5):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return a


@C.function(R.random(4096) + 1j * R.random(4096))
def fft(x):
    n = x.size
    x = x.copy()
    j = 0
    for i in range(1, n):
        b = n >> 1
        while j & b:
            j ^= b
            b >>= 1
        j ^= b
        if i < j:
            t = x[i]
            x[i] = x[j]
            x[j] = t
    m = 2
    while m <= n:
        w = complex(math.cos(-2 * math.pi / m), math.sin(-2 * math.pi / m))
        for i in range(0, n, m):
            c = 1 + 0j
            for q in range(m // 2):
                u = x[i + q]
                v = x[i + q + m // 2] * c
                x[i + q] = u + v
                x[i + q + m // 2] = u - v
                c *= w
        m *= 2
    return x


@C.function(R.random(500), R.random(500))
def dtw(a, b):
    n, m = (a.size, b.size)
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d[i, j] = abs(a[i - 1] - b[j - 1]) + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@C.function(R.integers(0, 4, 600).astype(np.uint8), R.integers(0, 4, 600).astype(np.uint8))
def needleman(a, b):
    d = np.zeros((a.size + 1, b.size + 1), np.int64)
    for i in range(a.size + 1):
        d[i, 0] = -i
    for j in range(b.size + 1):
        d[0, j] = -j
    for i in range(1, a.size + 1):
        for j in range(1, b.size + 1):
            s = 1 if a[i - 1] == b[j - 1] else -1
            d[i, j] = max(d[i - 1, j - 1] + s, d[i - 1, j] - 1, d[i, j - 1] - 1)
    return d[-1, -1]


@C.function(R.random((150, 150)))
def floyd(d):
    d = d.copy()
    n = d.shape[0]
    for q in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, q] + d[q, j])
    return d


@C.function(R.random((5000, 8)), R.random((16, 8)))
def kmeans(x, c):
    out = np.empty(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        best = np.inf
        w = 0
        for q in range(c.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                t = x[i, j] - c[q, j]
                s += t * t
            if s < best:
                best = s
                w = q
        out[i] = w
    return out


@C.function(R.random((1000, 200)))
def argmax_rows(a):
    out = np.empty(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        out[i] = np.argmax(a[i])
    return out


@C.function(R.random((400, 400)))
def integral(a):
    s = np.zeros((a.shape[0] + 1, a.shape[1] + 1))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[i + 1, j + 1] = a[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
    return s


@C.function(np.sort(R.random(100000)), R.random(20000))
def bsearch(a, x):
    out = np.empty(x.size, np.int64)
    for i in range(x.size):
        lo, hi = (0, a.size)
        while lo < hi:
            m = (lo + hi) // 2
            if a[m] < x[i]:
                lo = m + 1
            else:
                hi = m
        out[i] = lo
    return out


@C.function(np.sort(R.random(1000)), R.random(1000), R.random(20000))
def interp(xp, fp, x):
    out = np.empty(x.size)
    for i in range(x.size):
        j = np.searchsorted(xp, x[i])
        if j == 0:
            out[i] = fp[0]
        elif j == xp.size:
            out[i] = fp[-1]
        else:
            t = (x[i] - xp[j - 1]) / (xp[j] - xp[j - 1])
            out[i] = fp[j - 1] * (1 - t) + fp[j] * t
    return out


@C.function(R.random(5000), R.random(64))
def convolve(a, b):
    out = np.zeros(a.size + b.size - 1)
    for i in range(a.size):
        for j in range(b.size):
            out[i + j] += a[i] * b[j]
    return out


@C.function(R.random(3000))
def autocorr(a):
    n = a.size
    out = np.zeros(200)
    for l in range(200):
        s = 0.0
        for i in range(n - l):
            s += a[i] * a[i + l]
        out[l] = s
    return out


@C.function(R.random((20, 20)), R.random((20, 10)), R.integers(0, 10, 500))
def viterbi(t, e, o):
    n = t.shape[0]
    v = np.zeros((o.size, n))
    bp = np.zeros((o.size, n), np.int64)
    for i in range(n):
        v[0, i] = e[i, o[0]]
    for s in range(1, o.size):
        for j in range(n):
            b = -1.0
            w = 0
            for i in range(n):
                p = v[s - 1, i] * t[i, j]
                if p > b:
                    b = p
                    w = i
            v[s, j] = b * e[j, o[s]] * 30
            bp[s, j] = w
    return bp


@C.function(np.where(R.random((128, 128)) < 0.5, 1, -1).astype(np.int8))
def ising(s):
    s = s.copy()
    h, w = s.shape
    np.random.seed(1)
    for q in range(50000):
        i = np.random.randint(0, h)
        j = np.random.randint(0, w)
        n = s[(i + 1) % h, j] + s[(i - 1) % h, j] + s[i, (j + 1) % w] + s[i, (j - 1) % w]
        e = 2 * s[i, j] * n
        if e <= 0 or np.random.random() < math.exp(-e * 0.44):
            s[i, j] = -s[i, j]
    return s.sum()


@C.function(100000)
def walk(n):
    np.random.seed(3)
    x = 0.0
    for i in range(n):
        x += np.random.normal(0.0, 1.0)
    return x


@C.function(R.random(200000))
def ema(a):
    out = np.empty_like(a)
    out[0] = a[0]
    for i in range(1, a.size):
        out[i] = 0.1 * a[i] + 0.9 * out[i - 1]
    return out


@C.function(R.random(100000), 50)
def rolling_max(a, w):
    n = a.size
    out = np.empty(n - w + 1)
    dq = np.empty(n, np.int64)
    h = 0
    t = 0
    for i in range(n):
        while t > h and a[dq[t - 1]] <= a[i]:
            t -= 1
        dq[t] = i
        t += 1
        if dq[h] <= i - w:
            h += 1
        if i >= w - 1:
            out[i - w + 1] = a[dq[h]]
    return out


@C.function(R.integers(0, 2**63, 100000).astype(np.uint64))
def popcount(a):
    c = 0
    for x in a:
        while x:
            x &= x - np.uint64(1)
            c += 1
    return c


@C.function(R.integers(0, 256, 200000).astype(np.uint8))
def fnv(a):
    h = np.uint32(2166136261)
    for b in a:
        h = np.uint32((h ^ b) * np.uint32(16777619))
    return h


@C.function((R.random((300, 300, 3)) * 255).astype(np.uint8))
def gray(a):
    out = np.empty(a.shape[:2], np.uint8)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = np.uint8(0.299 * a[i, j, 0] + 0.587 * a[i, j, 1] + 0.114 * a[i, j, 2])
    return out


@C.function(R.random(300000))
def count_mask(a):
    m = (a > 0.25) & (a < 0.75)
    return (m.sum(), a[m].mean())


C.expression(
    "where_expr",
    "a, b",
    "np.where(a > b, np.sqrt(a) * b, a - b * 2)",
    R.random(300000).astype(np.float32),
    R.random(300000).astype(np.float32),
)


@C.function(R.random(50000) * 3)
def erfgamma(a):
    s = 0.0
    for x in a:
        s += math.erf(x) + math.lgamma(x + 1)
    return s


@C.function(R.random(200000), R.random(12))
def horner(x, c):
    out = np.empty_like(x)
    for i in range(x.size):
        r = 0.0
        for j in range(c.size):
            r = r * x[i] + c[j]
        out[i] = r
    return out


@C.function(R.random(50000) * 100)
def newton_sqrt(a):
    out = np.empty_like(a)
    for i in range(a.size):
        x = a[i]
        while abs(x * x - a[i]) > 1e-10 * a[i]:
            x = 0.5 * (x + a[i] / x)
        out[i] = x
    return out


@C.function(20000)
def lorenz(n):

    def d(p):
        x, y, z = p
        return (10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z)

    p = (1.0, 1.0, 1.0)
    h = 0.01
    for i in range(n):
        k1 = d(p)
        k2 = d((p[0] + h / 2 * k1[0], p[1] + h / 2 * k1[1], p[2] + h / 2 * k1[2]))
        k3 = d((p[0] + h / 2 * k2[0], p[1] + h / 2 * k2[1], p[2] + h / 2 * k2[2]))
        k4 = d((p[0] + h * k3[0], p[1] + h * k3[1], p[2] + h * k3[2]))
        p = (
            p[0] + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]),
            p[1] + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1]),
            p[2] + h / 6 * (k1[2] + 2 * k2[2] + 2 * k3[2] + k4[2]),
        )
    return p


@C.function(R.random((500, 500)), R.random(500))
def matvec(a, x):
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]
    return y


@C.function(R.random((500, 500)), R.random(500))
def matvec_t(a, x):
    y = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            y[j] += a[i, j] * x[i]
    return y


@C.function(R.random((5000, 3, 3)), R.random((5000, 3, 3)))
def batched3(a, b):
    out = np.empty_like(a)
    for n in range(a.shape[0]):
        for i in range(3):
            for j in range(3):
                s = 0.0
                for q in range(3):
                    s += a[n, i, q] * b[n, q, j]
                out[n, i, j] = s
    return out


@C.function(R.random(100000), R.random(100000))
def hist2d(x, y):
    h = np.zeros((64, 64), np.int64)
    for i in range(x.size):
        h[int(x[i] * 64), int(y[i] * 64)] += 1
    return h


@C.function(R.integers(0, 1000, 200000), R.random(200000))
def groupby(g, v):
    s = np.zeros(1000)
    c = np.zeros(1000, np.int64)
    for i in range(g.size):
        s[g[i]] += v[i]
        c[g[i]] += 1
    return s / c


@C.function(R.integers(0, 50000, (60000, 2)))
def unionfind(e):
    p = np.arange(50000)
    n = 50000
    for i in range(e.shape[0]):
        a = e[i, 0]
        b = e[i, 1]
        while p[a] != a:
            p[a] = p[p[a]]
            a = p[a]
        while p[b] != b:
            p[b] = p[p[b]]
            b = p[b]
        if a != b:
            p[a] = b
            n -= 1
    return n


@C.function(np.arange(0, 160001, 8), R.integers(0, 20000, 160000))
def bfs(ip, ix):
    n = ip.size - 1
    d = np.full(n, -1)
    q = np.empty(n, np.int64)
    h = 0
    t = 1
    q[0] = 0
    d[0] = 0
    while h < t:
        u = q[h]
        h += 1
        for j in range(ip[u], ip[u + 1]):
            v = ix[j]
            if d[v] < 0:
                d[v] = d[u] + 1
                q[t] = v
                t += 1
    return d


@C.function(R.random(20000))
def heapsort(a):
    a = a.copy()
    n = a.size
    for s in range(n // 2 - 1, -1, -1):
        r = s
        while True:
            c = 2 * r + 1
            if c >= n:
                break
            if c + 1 < n and a[c] < a[c + 1]:
                c += 1
            if a[r] < a[c]:
                a[r], a[c] = (a[c], a[r])
                r = c
            else:
                break
    for e in range(n - 1, 0, -1):
        a[0], a[e] = (a[e], a[0])
        r = 0
        while True:
            c = 2 * r + 1
            if c >= e:
                break
            if c + 1 < e and a[c] < a[c + 1]:
                c += 1
            if a[r] < a[c]:
                a[r], a[c] = (a[c], a[r])
                r = c
            else:
                break
    return a


@C.function(R.random(1500))
def insertion(a):
    a = a.copy()
    for i in range(1, a.size):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a


@C.function(R.integers(0, 1000, 200000))
def countsort(a):
    c = np.zeros(1001, np.int64)
    for x in a:
        c[x + 1] += 1
    for i in range(1000):
        c[i + 1] += c[i]
    out = np.empty_like(a)
    for x in a:
        out[c[x]] = x
        c[x] += 1
    return out


@C.function(R.random(100000) + 1j * R.random(100000))
def cabs(a):
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = abs(a[i] * a[i] + 1)
    return out


@C.function(R.random(50000), R.random(50000))
def haversine(lat, lon):
    out = np.empty(lat.size)
    for i in range(lat.size):
        a = math.sin((lat[i] - 0.5) / 2) ** 2 + math.cos(lat[i]) * math.cos(0.5) * math.sin((lon[i] - 0.3) / 2) ** 2
        out[i] = 2 * 6371 * math.asin(math.sqrt(a))
    return out


@C.function(R.random((600, 3)) * 10)
def lj(p):
    e = 0.0
    f = np.zeros_like(p)
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            dz = p[i, 2] - p[j, 2]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < 9.0:
                i6 = 1 / (r2 * r2 * r2)
                e += 4 * (i6 * i6 - i6)
                g = 24 * (2 * i6 * i6 - i6) / r2
                f[i, 0] += g * dx
                f[i, 1] += g * dy
                f[i, 2] += g * dz
                f[j, 0] -= g * dx
                f[j, 1] -= g * dy
                f[j, 2] -= g * dz
    return f


@C.function(R.random((60, 60, 60)))
def stencil7(a):
    b = np.zeros_like(a)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for l in range(1, a.shape[2] - 1):
                b[i, j, l] = (
                    a[i, j, l] * -6
                    + a[i - 1, j, l]
                    + a[i + 1, j, l]
                    + a[i, j - 1, l]
                    + a[i, j + 1, l]
                    + a[i, j, l - 1]
                    + a[i, j, l + 1]
                )
    return b


@C.function(R.random((500, 500)))
def transpose(a):
    b = np.empty((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]
    return b


C.expression("outer", "a, b", "a.reshape(-1, 1) * b + np.sqrt(a.reshape(-1, 1))", R.random(500), R.random(500))
C.expression("stats_axis", "a", "(a.mean(), a.std(), a.sum(axis=0), a.sum(axis=1))", R.random((500, 300)))


@C.function(R.integers(1, 10**6, 20000), R.integers(1, 10**6, 20000))
def gcds(a, b):
    s = 0
    for i in range(a.size):
        x = a[i]
        y = b[i]
        while y:
            x, y = (y, x % y)
        s += x
    return s


@C.function(R.random((300, 300)), R.random((300, 300)))
def row_slices(a, b):
    c = a.copy()
    for i in range(a.shape[0]):
        c[i] += b[i] * 2.0
        c[i, 1:] -= b[i, :-1]
    return c


@C.function(2000)
def temps(n):
    s = 0.0
    for i in range(n):
        t = np.empty(16)
        for j in range(16):
            t[j] = i * j
        s += t.max() - t.min()
    return s


@C.function(P(R.random(20000), R.random(20000), R.random(20000)))
def named(p):
    sx = 0.0
    sy = 0.0
    m = 0.0
    for i in range(p.x.size):
        sx += p.x[i] * p.m[i]
        sy += p.y[i] * p.m[i]
        m += p.m[i]
    return (sx / m, sy / m)


@C.function(np.array([ord(c) for c in "the quick brown fox " * 5000], np.uint8))
def wordlens(a):
    h = np.zeros(20, np.int64)
    w = 0
    for c in a:
        if c == 32:
            if w > 0:
                h[w] += 1
            w = 0
        else:
            w += 1
    return h


@C.function(R.random(100000), fastmath=True)
def softmax_fast(a):
    m = -np.inf
    for x in a:
        m = max(m, x)
    s = 0.0
    for x in a:
        s += math.exp(x - m)
    out = np.empty_like(a)
    for i in range(a.size):
        out[i] = math.exp(a[i] - m) / s
    return out


@C.function(R.random((256, 256)).astype(np.float32), R.random((256, 256)).astype(np.float32))
def matmul_f32(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for i in range(a.shape[0]):
        for q in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, q] * b[q, j]
    return c


@C.function(R.integers(0, 100, (300, 300)))
def int_matrix(a):
    b = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = (a[i, j] * 7 + 3) % 11 - a[i, j] // 3
    return b


@C.function(R.random(20000), 10)
def topk(a, n):
    b = np.full(n, -np.inf)
    for x in a:
        if x > b[0]:
            j = 0
            while j < n - 1 and b[j + 1] < x:
                b[j] = b[j + 1]
                j += 1
            b[j] = x
    return b


@C.function(R.random((100, 2)) * 10, R.random((20000, 2)) * 10)
def in_polygon(poly, pts):
    out = np.zeros(pts.shape[0], np.bool_)
    n = poly.shape[0]
    for q in range(pts.shape[0]):
        x = pts[q, 0]
        y = pts[q, 1]
        c = False
        j = n - 1
        for i in range(n):
            if (poly[i, 1] > y) != (poly[j, 1] > y) and x < (poly[j, 0] - poly[i, 0]) * (y - poly[i, 1]) / (
                poly[j, 1] - poly[i, 1]
            ) + poly[i, 0]:
                c = not c
            j = i
        out[q] = c
    return out


C.expression("relu_sig", "a", "np.maximum(a, 0.0) + 1.0 / (1.0 + np.exp(-a))", R.random(100000) * 10 - 5)


@C.function(R.random((200, 50)), R.random(50), R.random(200))
def sgd(X, w, y):
    w = w.copy()
    for it in range(20):
        for i in range(X.shape[0]):
            p = 0.0
            for j in range(w.size):
                p += X[i, j] * w[j]
            e = p - y[i]
            for j in range(w.size):
                w[j] -= 0.001 * e * X[i, j]
    return w


@C.function(2000)
def primes_list(n):
    out = []
    for x in range(2, n):
        ok = True
        for p in out:
            if p * p > x:
                break
            if x % p == 0:
                ok = False
                break
        if ok:
            out.append(x)
    return len(out)
