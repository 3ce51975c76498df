"""Methods of arrays, lists, strings and numbers, and functions of `math`, `cmath`, `random`: compiled against
CPython."""

from __future__ import annotations

import cmath
import copy
import linecache
import math
import operator
import random
import sys

import numpy as np
import pytest

import lancehead
from lib_cases import same

LINE = np.arange(5.0)
MATRIX = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)

CASES = [
    ("def f(a): return a.transpose(2,0,1)", (CUBE,)),
    ("def f(a): return a.transpose((2,0,1))", (CUBE,)),
    ("def f(a): return a.T.shape", (CUBE,)),
    ("def f(a): return a.reshape(3,-1)", (MATRIX,)),
    ("def f(a): return a.reshape((3,2))", (MATRIX,)),
    ("def f(a): return a.flatten('F')", (MATRIX,)),
    ("def f(a): return a.astype(np.int64).tolist()", (MATRIX,)),
    ("def f(a): return a.item(3), a.item(1,2), a.item((0,1))", (MATRIX,)),
    ("def f(a): return a.sum(1), a.mean(), a.std(ddof=1), a.min(axis=0), a.argmax()", (MATRIX,)),
    ("def f(a):\n a.sort()\n return a", (LINE[::-1].copy(),)),
    ("def f(a):\n a.sort()\n return a", (MATRIX[::-1, ::-1].copy().T,)),
    ("def f(a):\n a.sort(axis=0)\n return a", (MATRIX[::-1, ::-1],)),
    ("def f(a):\n a.fill(3)\n return a", (MATRIX,)),
    ("def f(a): return a.view(np.int64)", (LINE,)),
    ("def f(a): return a.view(np.int32).shape", (MATRIX,)),
    ("def f(a): return a.diagonal(), a.trace()", (MATRIX,)),
    ("def f(a): return a.repeat(2), a.take(np.array([0,1])), a.clip(1,3), a.round()", (LINE,)),
    ("def f(a): return 3.0 in a, 9.0 in a", (LINE,)),
    ("def f(a): return a.nonzero()", (MATRIX,)),
    ("def f(a): return a.real, a.imag, a.conj()", (MATRIX + 1j,)),
    ("def f(a):\n a.real[:]=1\n a.imag[:]=2\n return a", (MATRIX + 1j,)),
    ("def f(a):\n a[a>2]=0\n return a", (MATRIX.copy(),)),
    ("def f(a):\n a[a>2]=np.array([1.,2.,3.])\n return a", (MATRIX.copy(),)),
    ("def f(a): return a[a>2], a[np.array([1,0])], a[np.array([True,False])]", (MATRIX,)),
    ("def f(a):\n a[np.array([0,2])]=7\n return a", (LINE.copy(),)),
    ("def f(a):\n a[np.array([0,2])]=np.array([1.,2.])\n return a", (LINE.copy(),)),
    ("def f(a): return a[[0,2]]", (LINE,)),
    ("def f(a): return a[np.array([9])]", (LINE,)),
    ("def f(a): return a[a>9]", (MATRIX,)),
    (
        "def f():\n l=[3,1,2]\n l.sort(reverse=True)\n l.insert(1,9)\n x=l.pop()\n y=l.pop(0)\n l.extend([4,5])\n "
        "l.remove(4)\n l.reverse()\n return l,x,y,l.index(9),l.count(5)",
        (),
    ),
    (
        "def f():\n l=[1,2,3,4,5,6]\n l[1:3]=[9,9,9]\n del l[0]\n del l[::2]\n return l, l[::-1], l[1:], l+[1], l*2, "
        "2*l, l==[1], l<[9,9]",
        (),
    ),
    ("def f():\n l=['b','a','c']\n l.sort()\n return l", ()),
    ("def f():\n l=[(2,'b'),(1,'a')]\n l.sort()\n return l", ()),
    ("def f(): return sorted([3.5,1.5,2.5], key=lambda x: -x), sorted((1,3,2)), sorted(range(3), reverse=True)", ()),
    ("def f(): return max([1,5,2]), min((3,1.5)), max(1,2,3), min([2,-3], key=abs), max(range(5))", ()),
    ("def f(): return sum([1.5,2]), sum(range(10)), any([0,1]), all((1,0))", ()),
    (
        "def f(): return divmod(-7,3), divmod(7.5,-2), pow(2,10), pow(3,4,5), round(2.567,2), round(5), abs(-3), "
        "abs(3+4j)",
        (),
    ),
    ("def f(n): return 2**n, (-2)**3, 2.0**n, n**0.5", (5,)),
    (
        "def f(s): return s.upper(), s.split(','), s.find('b'), s.replace('a','zz'), ' x '.strip(), "
        "'-'.join(['1','2']), s[0], s[::-1], s*2, 'b' in s, len(s)",
        ("a,b",),
    ),
    ("def f(x): return str(x), repr(x), f'{x:.2f}|{x}', '%d %5.2f %s' % (3,x,'q')", (2.5,)),
    ("def f(): return str([1,2]), str((1,'a',2.5,True,None)), str(1+2j), str(np.float32(0.1))", ()),
    (
        "def f(): return math.gcd(12,18,27), math.lcm(4,6), math.factorial(5), math.comb(5,2), math.floor(2.7), "
        "math.hypot(3.,4.), math.dist((1.,2.),(4.,6.)), math.frexp(8.), math.modf(2.5), math.isclose(1.,1.)",
        (),
    ),
    ("def f(): return cmath.sqrt(-1), cmath.exp(1j), cmath.polar(1j), cmath.log(2j,2)", ()),
    (
        "def f():\n random.seed(3)\n l=[1,2,3,4,5]\n random.shuffle(l)\n return l, random.random(), "
        "random.randint(1,6), random.uniform(1,2), random.gauss(0,1), random.choice(l), random.expovariate(2.)",
        (),
    ),
    (
        "def f():\n np.random.seed(3)\n a=np.arange(5)\n np.random.shuffle(a)\n return a, np.random.rand(), "
        "np.random.rand(2,2), np.random.randint(10), np.random.randint(0,5,3), np.random.normal(1,2,(2,)), "
        "np.random.permutation(4), np.random.choice(5), np.random.choice(np.array([1.,2.]),3), "
        "np.random.uniform(1,2,size=2), np.random.exponential(2.), np.random.poisson(3.), np.random.binomial(5,.5), "
        "np.random.gamma(2.), np.random.beta(1.,2.), np.random.choice(4,2,replace=False), "
        "np.random.choice(3,2,p=np.array([.2,.3,.5])), np.random.standard_normal(), np.random.randn(2), "
        "np.random.random((2,)), np.random.lognormal(), np.random.chisquare(2.), np.random.standard_t(3.), "
        "np.random.laplace(), np.random.logistic(), np.random.gumbel(), np.random.weibull(2.), np.random.power(2.), "
        "np.random.pareto(2.), np.random.rayleigh(), np.random.triangular(0.,1.,2.), np.random.geometric(.5), "
        "np.random.negative_binomial(3,.5), np.random.f(2.,3.), np.random.standard_cauchy()",
        (),
    ),
    (
        "def f(a): return np.linalg.norm(np.ones((2,3)),axis=1), np.linalg.solve(np.eye(2),np.ones(2)), "
        "np.linalg.det(np.eye(3)*2), np.linalg.inv(np.eye(2)*4)",
        (MATRIX,),
    ),
    ("def f(a): return np.ones((2,2,3)) @ np.ones((2,3,2))", (MATRIX,)),
    (
        "def f(a): return np.pad(np.ones(3),1), np.where(np.ones(3)>0), "
        "np.lib.stride_tricks.sliding_window_view(np.ones(5),3).sum()",
        (MATRIX,),
    ),
    ("def f(a): return np.ones((4,4))[:, ::2].reshape(-1).sum()", (MATRIX,)),
    ("def f(a): return np.sum([1,2,3]), np.mean([1.,2.]), np.max((1,2)), np.array([[1,2],[3,4]]).sum()", (MATRIX,)),
    (
        "def f(a): return np.array([a,a]).shape, np.stack([a,a]).shape, np.vstack([a,a]).shape, "
        "np.concatenate([a,a]).shape, np.hstack((a,a)).shape",
        (MATRIX,),
    ),
    ("def f(a): return np.abs(a-1j), np.exp(a*1j), np.sqrt(a+0j), np.angle(a+1j), np.conj(a+1j)", (MATRIX,)),
    (
        "def f(a): return np.sign(a-2), np.square(a), np.mod(a,2), np.power(a,2), np.maximum(a,2), np.logaddexp(a,a), "
        "np.heaviside(a-1,.5), np.sinc(a), np.nan_to_num(a), np.deg2rad(a), np.isnan(a), np.logical_and(a,a>1), "
        "np.logical_not(a)",
        (MATRIX,),
    ),
    (
        "def f(a): return a[::2].copy(), a[::-1].sum(), np.flip(a), np.roll(a,2), np.diff(a), np.cumsum(a), "
        "np.unique(a), np.argsort(-a), np.searchsorted(a,2.5), np.bincount(np.array([1,1,2])), np.interp(1.5,a,a), "
        "np.trapezoid(a), np.median(a), np.percentile(a,30), np.quantile(a,np.array([.1,.5]))",
        (LINE,),
    ),
    ("def f(a): return np.histogram(a,3), np.histogram(a,np.array([0.,2.,4.]))", (LINE,)),
    (
        "def f(n): return n.bit_length(), (2.0).is_integer(), (1+2j).conjugate(), (1,2,1).count(1), (1,2).index(2)",
        (37,),
    ),
    (
        "def f(a): return a.astype('f4'), np.zeros(3,'i4'), np.zeros((2,),dtype=np.uint8), np.full((2,2),7), "
        "np.arange(0,1,.25), np.eye(2), np.linspace(0,1,3), np.empty_like(a).shape, np.ones_like(a), np.full_like(a,2)",
        (MATRIX,),
    ),
    ("def f(x): return x if x>0 else -x", (np.float32(-2.5),)),
    ("def f(a): return np.float32(2.7).item(), np.int8(3).item(), np.bool_(True).item()", (MATRIX,)),
    ("def f(a): return -5//3, -5%3, 5.5//-2, 5.5%-2, 7//2.0, -1//7, 1<<10, -5>>1, 5 & 3, 1/3", (MATRIX,)),
    (
        "def f(a): return (1+2j)**2, (1+2j)**0.5, 1j**1j, (1+2j)/(3-1j), (1+2j)*(2-1j), 1j==1j, abs(3+4j), -(1+2j)",
        (MATRIX,),
    ),
    ("def f(a): return 1//0", (MATRIX,)),
    ("def f(a,b): return a%b", (1.0, 0.0)),
    ("def f(a,b): return a//b", (1, 0)),
    ("def f(a,b): return a**b", (0.0, -1.0)),
    ("def f(a,b): return a<<b", (1, -1)),
]


def _python(source):
    file = f"<{source}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"np": np, "math": math, "cmath": cmath, "operator": operator, "random": random}
    exec(compile(source, file, "exec"), names)
    return names["f"]


def _outcome(f, args):
    try:
        return f(*copy.deepcopy(args))
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as e:
        # CPython 3.14 has other texts; ours are those before.
        text = "" if isinstance(e, ZeroDivisionError) and sys.version_info >= (3, 14) else e
        return f"{type(e).__name__}: {text}"


def _plain(x):
    # Compiled code returns Python's numbers for NumPy's scalars.
    if isinstance(x, (tuple, list)):
        return type(x)(map(_plain, x))
    return x.item() if isinstance(x, np.generic) else x


@pytest.mark.parametrize("source, args", CASES, ids=[c[0][:60].replace("\n", ";") for c in CASES])
def test_agrees_with_cpython(source, args):
    f = _python(source)
    want, got = _plain(_outcome(f, args)), _plain(_outcome(lancehead.njit(f), args))
    assert same(want, got), (want, got)


@lancehead.njit
def bins_of(x, n, low, high):
    return np.histogram(x, n, (low, high))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize(
    "low, high", [(0.0, 1.0), (-3.0, 0.1), (0.0, 256.0), (1e15, 1e15 + 60), (-1e-9, 2e-9), (5.0, 5.0)]
)
def test_bins_end_at_their_edges(dtype, low, high):
    random = np.random.default_rng(1)
    for n in (1, 3, 10, 50, 255):
        width = high - low or 1.0
        x = np.concatenate((random.normal(low + width / 2, width / 2, 700), np.linspace(low, high, n + 1)))
        with np.errstate(invalid="ignore"):
            x = random.permutation(x).astype(dtype)
        if x.dtype.kind == "f":
            x[:3] = np.nan, np.inf, -np.inf
        try:
            want = np.histogram(x, n, (low, high))
        except ValueError:
            with pytest.raises(ValueError, match="Too many bins"):
                bins_of(x, n, low, high)
            continue
        got = bins_of(x, n, low, high)
        for ours, theirs in zip(got, want):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


@lancehead.njit
def cross(a, b):
    return np.cross(a, b)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8"])
def test_cross_products_of_rows(dtype):
    random = np.random.default_rng(0)
    for shape in [(3,), (1, 3), (5, 3), (0, 3)]:
        for other in [(3,), (1, 3), shape]:
            a, b = (random.random(shape) * 9).astype(dtype), (random.random(other) * 9).astype("f8")
            for x, y in [(a, b), (b, a), (np.asfortranarray(a), b)]:
                want, got = np.cross(x, y), cross(x, y)
                assert (want.shape, want.dtype) == (got.shape, got.dtype)
                np.testing.assert_allclose(got, want, rtol=1e-5)
    for shape, other in [((2, 3), (4, 3)), ((5, 2), (5, 2))]:
        with pytest.raises(ValueError):
            cross(np.ones(shape), np.ones(other))
