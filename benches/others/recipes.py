"""Programs of tutorials and answers: windows, distances, look-up tables, counting, simulation."""

import math

import numpy as np

from collection import Collection

C = Collection("recipes")
R = np.random.default_rng(0)
N = 100000
x = R.random(N)
y = R.random(N)
i32 = R.integers(0, 1000, N).astype(np.int32)
u8 = R.integers(0, 256, N).astype(np.uint8)


@C.function(x)
def wrap_angle(a):
    o = np.empty(a.size)
    for i in range(a.size):
        o[i] = (a[i] * 50 + math.pi) % (2 * math.pi) - math.pi
    return o


@C.function(x)
def sum_exp(a):
    s = 0.0
    for v in a:
        s += math.exp(-v * v)
    return s


@C.function(i32)
def count_even(a):
    n = 0
    for v in a:
        if v % 2 == 0:
            n += 1
    return n


@C.function(i32)
def digits(a):
    s = 0
    for v in a:
        while v > 0:
            s += v % 10
            v //= 10
    return s


@C.function(x, y)
def euclid(a, b):
    o = np.empty(a.size)
    for i in range(a.size):
        o[i] = math.sqrt(a[i] ** 2 + b[i] ** 2)
    return o


@C.function(R.random((300, 3)))
def pairdist(p):
    n = p.shape[0]
    o = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for q in range(3):
                s += (p[i, q] - p[j, q]) ** 2
            o[i, j] = math.sqrt(s)
    return o


@C.function(R.random((300, 3)))
def pairdist_np(p):
    n = p.shape[0]
    o = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            o[i, j] = np.sqrt(np.sum((p[i] - p[j]) ** 2))
    return o


@C.function(R.random((500, 20)))
def rowmeans(a):
    o = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        o[i] = a[i].mean()
    return o


@C.function(R.random((500, 20)))
def rowstd(a):
    o = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        o[i] = np.std(a[i, :])
    return o


@C.function(R.random((20, 500)))
def colmax(a):
    o = np.empty(a.shape[1])
    for j in range(a.shape[1]):
        o[j] = np.max(a[:, j])
    return o


@C.function(x[:5000])
def ema_recipe(a):
    o = np.empty_like(a)
    o[0] = a[0]
    for i in range(1, a.size):
        o[i] = 0.1 * a[i] + 0.9 * o[i - 1]
    return o


@C.function(x[:5000], 20)
def rollmean(a, w):
    o = np.empty(a.size)
    s = 0.0
    for i in range(a.size):
        s += a[i]
        if i >= w:
            s -= a[i - w]
        o[i] = s / min(i + 1, w)
    return o


@C.function(x[:5000], 20)
def rollstd(a, w):
    o = np.full(a.size, np.nan)
    for i in range(w - 1, a.size):
        o[i] = a[i - w + 1 : i + 1].std()
    return o


C.expression("argsort_top", "a", "np.argsort(a)[:10]", x)


@C.function(u8)
def lut(a):
    t = np.empty(256, np.uint8)
    for i in range(256):
        t[i] = 255 - i
    o = np.empty_like(a)
    for i in range(a.size):
        o[i] = t[a[i]]
    return o


@C.function(R.random((200, 200)), R.random((200, 200)))
def mm(a, b):
    n = a.shape[0]
    c = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for q in range(n):
                s += a[i, q] * b[q, j]
            c[i, j] = s
    return c


@C.function(R.random((256, 256)))
def lap(u):
    v = np.zeros_like(u)
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
    return v


C.expression(
    "lap_np", "u", "u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]", R.random((256, 256))
)


@C.function(2000)
def primes(n):
    r = []
    for i in range(2, n):
        p = True
        for j in range(2, int(i**0.5) + 1):
            if i % j == 0:
                p = False
                break
        if p:
            r.append(i)
    return len(r)


@C.function(R.random((1000, 4)))
def logsumexp(a):
    o = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        m = a[i].max()
        s = 0.0
        for j in range(a.shape[1]):
            s += math.exp(a[i, j] - m)
        o[i] = m + math.log(s)
    return o


@C.function(R.random((1000, 10)), R.random(10))
def logistic(X, w):
    g = np.zeros(w.size)
    for i in range(X.shape[0]):
        z = 0.0
        for j in range(w.size):
            z += X[i, j] * w[j]
        p = 1 / (1 + math.exp(-z))
        for j in range(w.size):
            g[j] += (p - 0.5) * X[i, j]
    return g


@C.function(R.random((1000, 10)), R.random(10))
def logistic_np(X, w):
    z = X @ w
    p = 1 / (1 + np.exp(-z))
    return X.T @ (p - 0.5)


@C.function(1000)
def mc(n):
    np.random.seed(1)
    s = 0
    for i in range(n * 10):
        a = np.random.random()
        b = np.random.random()
        if a * a + b * b < 1:
            s += 1
    return s


@C.function(1000)
def normals(n):
    np.random.seed(1)
    return np.random.normal(0, 1, n * 10).sum()


@C.function(1000)
def randints(n):
    np.random.seed(1)
    s = 0
    for i in range(n * 10):
        s += np.random.randint(0, 100)
    return s


@C.function(x[:2000])
def bubble(a):
    b = a[:300].copy()
    for i in range(b.size):
        for j in range(b.size - 1 - i):
            if b[j] > b[j + 1]:
                b[j], b[j + 1] = (b[j + 1], b[j])
    return b


@C.function(R.random((64, 64)) < 0.4)
def labels(m):
    h, w = m.shape
    lab = np.zeros((h, w), np.int64)
    cur = 0
    st = [(0, 0)]
    for i in range(h):
        for j in range(w):
            if m[i, j] and lab[i, j] == 0:
                cur += 1
                st.append((i, j))
                lab[i, j] = cur
                while len(st) > 1:
                    a, b = st.pop()
                    for da, db in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                        p, q = (a + da, b + db)
                        if 0 <= p < h and 0 <= q < w and m[p, q] and (lab[p, q] == 0):
                            lab[p, q] = cur
                            st.append((p, q))
    return lab


@C.function(R.random((50, 50)))
def shortest(d):
    n = d.shape[0]
    dist = np.full(n, np.inf)
    done = np.zeros(n, np.bool_)
    dist[0] = 0
    for _ in range(n):
        u = -1
        b = np.inf
        for i in range(n):
            if not done[i] and dist[i] < b:
                b = dist[i]
                u = i
        if u < 0:
            break
        done[u] = True
        for v in range(n):
            nd = dist[u] + d[u, v]
            dist[v] = min(dist[v], nd)
    return dist


@C.function(R.integers(0, 4, 400), R.integers(0, 4, 400))
def lcs(a, b):
    t = np.zeros((a.size + 1, b.size + 1), np.int64)
    for i in range(a.size):
        for j in range(b.size):
            if a[i] == b[j]:
                t[i + 1, j + 1] = t[i, j] + 1
            else:
                t[i + 1, j + 1] = max(t[i, j + 1], t[i + 1, j])
    return t[-1, -1]


@C.function(x, x)
def where_loop(a, b):
    o = np.empty(a.size)
    for i in range(a.size):
        o[i] = a[i] if a[i] > 0.5 else b[i] * 2
    return o


@C.function(x)
def cumloop(a):
    o = np.empty(a.size)
    s = 0.0
    for i in range(a.size):
        s += a[i]
        o[i] = s
    return o


@C.function(x)
def minmax_recipe(a):
    lo = a[0]
    hi = a[0]
    for v in a:
        lo = min(lo, v)
        hi = max(hi, v)
    return (lo, hi)


@C.function(x)
def minmax_b(a):
    lo = np.inf
    hi = -np.inf
    for i in range(a.size):
        lo = min(lo, a[i])
        hi = max(hi, a[i])
    return (lo, hi)


@C.function(x * 100, 20)
def hist_loop(a, n):
    h = np.zeros(n, np.int64)
    for v in a:
        b = int(v / 100 * n)
        if 0 <= b < n:
            h[b] += 1
    return h


C.expression("symm", "a", "(a + a.T) / 2", R.random((300, 300)))
C.expression("norm_rows_recipe", "a", "a / np.sqrt((a ** 2).sum(axis=1)).reshape(-1, 1)", R.random((300, 300)))
C.expression("zscore", "a", "(a - a.mean()) / a.std()", R.random((300, 300)))


@C.function(R.random((300, 300)))
def softmax(a):
    e = np.exp(a - a.max())
    return e / e.sum()


C.expression("rotate", "p, m", "p @ m.T", R.random((3000, 3)), R.random((3, 3)))


@C.function(R.random((3000, 3)), R.random((3, 3)))
def rotate_loop(p, m):
    o = np.empty_like(p)
    for i in range(p.shape[0]):
        o[i] = m @ p[i]
    return o


@C.function(R.random(N) + 1j * R.random(N))
def cplx_recipe(a):
    s = 0j
    for v in a:
        s += v * v.conjugate()
    return s


@C.function(3.0, 0.5, 2000)
def rk4(x0, h, n):
    x = x0
    v = 0.0
    h = h * 0.01
    for i in range(n):
        k1 = v
        l1 = -x
        k2 = v + h / 2 * l1
        l2 = -(x + h / 2 * k1)
        k3 = v + h / 2 * l2
        l3 = -(x + h / 2 * k2)
        k4 = v + h * l3
        l4 = -(x + h * k3)
        x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    return x


@C.function(np.arange(1, 20001))
def collatz_len(a):
    m = 0
    for n in a[:3000]:
        c = 0
        while n != 1:
            if n % 2:
                n = 3 * n + 1
            else:
                n //= 2
            c += 1
        m = max(m, c)
    return m


@C.function("ACGT" * 500)
def gc(s):
    n = 0
    for c in s:
        if c == "G" or c == "C":
            n += 1
    return n


@C.function(R.random((400, 400)), R.random((3, 3)))
def conv3(a, w):
    out = np.zeros((a.shape[0] - 2, a.shape[1] - 2))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for u in range(3):
                for v in range(3):
                    s += a[i + u, j + v] * w[u, v]
            out[i, j] = s
    return out
