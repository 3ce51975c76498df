"""`numpy.random.Generator`: NumPy's streams bit for bit, and the state after them, from any bit generator."""

import copy
import sys
import threading

import numpy as np
import pytest

from lancehead import _core, get_num_threads, njit, objmode, prange, set_num_threads, typeof, types
from lancehead.experimental import jitclass

BITS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


def pair(bits="PCG64", seed=12345):
    """Two generators with the same state."""
    return [np.random.Generator(getattr(np.random, bits)(seed)) for _ in range(2)]


def same(a, b):
    """Equal to the last bit, of the same type and shape."""
    if isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, np.ndarray):
        # Compiled code gives Python's numbers.
        return a == b and not isinstance(b, np.ndarray) or a != a and b != b
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


def both(f, *args, bits="PCG64"):
    """The result of a function with two equal generators, compiled and in Python: results and states are equal."""
    ours, numpys = pair(bits)
    compiled = njit(f)
    for _ in range(2):
        got, want = compiled(ours, *copy.deepcopy(args)), f(numpys, *copy.deepcopy(args))
        assert same(got, want), (got, want)
    assert np.array_equal(ours.bit_generator.random_raw(4), numpys.bit_generator.random_raw(4))
    assert ours.integers(7, dtype=np.uint32) == numpys.integers(7, dtype=np.uint32)


ONE = """random() standard_normal() standard_exponential() standard_exponential(method="inv") uniform(-1.5,2.5)
normal(3.0,0.5) exponential(2.0) standard_gamma(0.3) standard_gamma(1.0) standard_gamma(4.5) gamma(2.0,3.0)
gamma(0.0,1.0) beta(0.5,0.5) beta(2.0,3.0) beta(1e-200,1e-210) beta(0.001,0.002) chisquare(3.0)
noncentral_chisquare(3.0,1.5) noncentral_chisquare(0.5,1.5) noncentral_chisquare(2.0,0.0) f(3.0,4.0)
noncentral_f(3.0,4.0,1.0) standard_cauchy() standard_t(2.5) lognormal(0.1,0.7) laplace(1.0,2.0) gumbel(1.0,2.0)
logistic(1.0,2.0) weibull(1.5) weibull(0.0) pareto(2.5) power(1.5) rayleigh(1.5) triangular(-1.0,0.5,2.0)
vonmises(0.5,2.0) vonmises(0.5,1e-9) vonmises(3.0,1e-6) vonmises(3.0,1e7) vonmises(-2.0,0.3) wald(1.0,2.0)
wald(3.0,0.1) poisson(0.0) poisson(3.5) poisson(80.0) binomial(10,0.3) binomial(10,0.9) binomial(1000,0.4)
binomial(10**6,0.7) binomial(0,0.5) negative_binomial(3.5,0.4) geometric(0.1) geometric(0.6) geometric(1e-20)
logseries(0.3) logseries(0.999) zipf(1.5) zipf(4.0) zipf(2000.0) hypergeometric(10,5,6) hypergeometric(1000,500,600)
hypergeometric(3,100,20) hypergeometric(10**8,10**8,10**7) integers(10) integers(5,6) integers(-3,12)
integers(0,2**33) integers(-2**63,2**63-1) integers(0,2**32) integers(0,2**32-1) integers(-5,5,endpoint=True)
random(dtype=np.float32) standard_normal(dtype=np.float32) standard_exponential(dtype=np.float32)
standard_exponential(dtype=np.float32,method="inv") standard_gamma(0.4,dtype=np.float32)
standard_gamma(3.5,dtype=np.float32) standard_gamma(1.0,dtype=np.float32)""".split()


def calling(text, n):
    """A function that draws so many arrays of 6, then numbers one by one."""
    call = text.replace(")", ",size=6)").replace("(,", "(")
    loop = "out = np.empty(6, a.dtype)\n    for i in range(6):\n        out[i] = rng."
    scope = {"np": np}
    exec(f"def f(rng):\n    a = rng.{call}\n    {loop}{text}\n    return a, out, rng.{call}\n", scope)
    return scope["f"]


@pytest.mark.parametrize("text", ONE)
def test_distributions(text):
    """One number, and an array."""
    both(calling(text, 6))


def test_rare_draws():
    """Wedges and tails of the ziggurats, in both precisions."""

    @njit
    def f(rng, n):
        a = rng.standard_normal(n), rng.standard_exponential(n), rng.standard_gamma(0.5, n, np.float32)
        return a, rng.standard_normal(n, np.float32), rng.standard_exponential(n, np.float32)

    for seed in (4, 5):
        ours, numpys = (np.random.default_rng(seed) for _ in range(2))
        assert same(f(ours, 200000), f.py_func(numpys, 200000))


def test_lists_fields_and_blocks_of_python():
    """Generators as items and fields, and in blocks of `objmode`."""
    ours, numpys = pair()

    @njit
    def f(rngs):
        with objmode(x="float64"):
            x = rngs[0].random()
        return x, rngs[0].random(), [rngs[0], np.random.default_rng(3)]

    x, y, (back, made) = f([ours])
    assert (x, y) == (numpys.random(), numpys.random())
    assert back is ours
    assert made.random() == np.random.default_rng(3).random()

    @jitclass([("rng", types.npy_rng)])
    class Walk:
        def __init__(self, rng):
            self.rng = rng

        def step(self):
            return self.rng.normal()

    walk = Walk(ours)
    assert walk.step() == numpys.normal()
    assert walk.rng is ours


def test_references():
    """Calls keep no reference to a generator, and those made inside are released."""

    @njit
    def f(rng, rngs):
        own = np.random.default_rng(1)
        return rng, own.random() + rng.random() + rngs[0].random()

    ours, _ = pair()
    f(ours, [ours])
    before, live = sys.getrefcount(ours), _core.live_allocations()
    for _ in range(50):
        f(ours, [ours])
    assert sys.getrefcount(ours) == before
    assert _core.live_allocations() == live


@pytest.mark.parametrize("bits", BITS[1:])
def test_bit_generators(bits):
    """Each kind: halves of words, doubles, single precision and integers, mixed."""

    def f(rng):
        a = rng.random(5), rng.integers(0, 100, 3, dtype=np.uint32), rng.standard_normal(700)
        b = rng.random(3, dtype=np.float32), rng.integers(10, dtype=np.int32), rng.standard_exponential(700)
        c = rng.integers(0, 2**40, 5), rng.standard_gamma(2.5, 5), rng.poisson(20.0, 5), rng.random()
        return a, b, c, rng.standard_normal(301, dtype=np.float32), rng.permutation(10)

    both(f, bits=bits)


INTEGERS = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("bits", BITS)
def test_fills_go_on_where_others_end(bits):
    """Blocks of a generator are drawn at once: fills of any size, which begin anywhere in a block."""

    @njit
    def f(rng, sizes):
        for n in sizes:
            yield rng.random(n)
            yield rng.integers(0, 2**40, n).view(np.float64)
            yield rng.integers(0, 1000, n, np.uint32).astype(np.float64)
            yield rng.random(n, np.float32).astype(np.float64)
            yield rng.standard_normal(n)
            yield rng.normal(1.0, 2.0, n)
            yield rng.exponential(2.0, n)
            yield rng.standard_exponential(n, method="inv")
            yield rng.uniform(-1.0, 2.0, n)
            yield rng.integers(-(2**63), 2**63 - 1, n, endpoint=True).view(np.float64)
            yield rng.gamma(2.5, 2.0, n)
            yield rng.beta(2.5, 1.5, n)
            yield np.array([rng.random(), rng.integers(0, 10, dtype=np.uint32)])

    ours, numpys = pair(bits)
    sizes = np.array([0, 1, 2, 3, 4, 5, 7, 255, 256, 257, 311, 312, 313, 1000, 1249, 3])
    for i, (got, want) in enumerate(zip(f(ours, sizes), f.py_func(numpys, sizes), strict=True)):
        assert same(got, want), (i, bits)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_all_types(dtype):
    """Whole ranges and parts, one and many, with either end."""
    info = np.iinfo(dtype) if dtype is not np.bool_ else None
    low, high = (0, 1) if info is None else (int(info.min), int(info.max))

    def f(rng):
        a = rng.integers(low, high, 11, dtype, True), rng.integers(0, 2, (2, 3), dtype), rng.integers(1, dtype=dtype)
        return a, rng.integers(0, high, 50, dtype), rng.integers(1, 1, 3, dtype, endpoint=True)

    both(f)

    def g(rng, a, b):
        return rng.integers(a, b, None, dtype), rng.integers(0, b, (3, 4), dtype), rng.integers(b, dtype=dtype)

    b = np.array([1, 2, 1, 2]) if info is None else np.array([3, 50, 1, 100])
    both(g, np.zeros(4, np.int64), b)


def test_broadcast_parameters():
    """Arrays, lists and numbers, in the shape that they have together or a given one."""

    def f(rng, a, b):
        x = rng.normal(a, b), rng.normal(a, 2.0), rng.uniform(0.0, b, (2, 4, 3)), rng.gamma(b, [1.0, 2.0, 3.0])
        y = rng.poisson(b * 10), rng.binomial(10, b / 10), rng.triangular(-1.0, b / 10, 4.0), rng.standard_gamma(b)
        return x, y, rng.hypergeometric([10, 20, 30], 5, (3, 4, 5)), rng.integers([1, 2, 3], [[5], [9]])

    both(f, np.arange(4.0).reshape(4, 1), np.array([0.5, 1.0, 2.0]))
    both(lambda rng, a: (rng.exponential(a), rng.wald(a + 1, 2)), np.array(2.5))


def test_out():
    """Arrays that are filled in their order of memory."""

    def f(rng, c, d, e):
        rng.random(out=c)
        rng.standard_normal(out=d)
        rng.standard_exponential(dtype=np.float32, out=e)
        rng.standard_gamma(2.0, out=c[0])
        return c, d, e

    both(f, np.zeros((3, 4)), np.zeros((3, 4), order="F"), np.zeros(5, np.float32))


def test_rows():
    """Multinomial, hypergeometric of several colors, Dirichlet."""

    def f(rng, n, p):
        a = rng.multinomial(20, [0.2, 0.3, 0.5]), rng.multinomial(5, p, 4), rng.multinomial(n, p)
        colors = np.array([20, 10, 5])
        b = rng.multivariate_hypergeometric(colors, 7, 3), rng.multivariate_hypergeometric(colors, 30)
        c = rng.multivariate_hypergeometric(colors, 7, (2, 2), "count"), rng.dirichlet(p, 3), rng.dirichlet(p / 20)
        return a, b, c, rng.multivariate_hypergeometric(colors, 30, method="count"), rng.dirichlet(p * 0)

    both(f, np.array([3, 10]), np.array([0.1, 0.2, 0.7]))


def test_orders():
    """Shuffles and permutations of rows, columns, and each row by itself."""

    def f(rng, a, b):
        rng.shuffle(a)
        rng.shuffle(b)
        rng.shuffle(b, axis=1)
        rng.shuffle(b[:, ::-2], -1)
        x = a, b, rng.permutation(7), rng.permutation(a), rng.permutation(b), rng.permutation(b, axis=1)
        return (
            x,
            rng.permuted(a),
            rng.permuted(b),
            rng.permuted(b, axis=0),
            rng.permuted(b, axis=1, out=np.empty_like(b)),
        )

    both(f, np.arange(10), np.arange(24.0).reshape(4, 6))
    both(f, np.arange(10)[::-2], np.asfortranarray(np.arange(24).reshape(4, 6)))


def test_shuffle_of_a_list():
    """Lists are shuffled in place."""

    def f(rng, x):
        rng.shuffle(x)
        return len(x)

    ours, numpys = pair()
    a, b = list(range(9)), list(range(9))
    njit(f)(ours, a)
    f(numpys, b)
    assert a == b


def test_choice():
    """With and without replacement and weights, of numbers and rows."""

    def f(rng, a, p):
        x = rng.choice(5), rng.choice(10, 4), rng.choice(10, (2, 3), replace=False), rng.choice(a), rng.choice(a, 3)
        y = rng.choice(4, p=p), rng.choice(a, (2, 2), p=p), rng.choice(a, 3, False, p), rng.choice(4, 2, False, p)
        z = rng.choice(50000, 20000, False), rng.choice(50000, 3, False, shuffle=False), rng.choice(30, 30, False)
        return (
            x,
            y,
            z,
            rng.choice(12000, 601, False, shuffle=False),
            rng.choice(10, 0, False),
            rng.choice(3, replace=False),
        )

    both(f, np.array([1.5, 2.5, 3.5, 4.5]), np.array([0.1, 0.2, 0.3, 0.4]))

    def g(rng, b):
        return rng.choice(b, 2), rng.choice(b, 5, axis=1), rng.choice(b, (2, 2), False, axis=1), rng.choice(b, axis=0)

    both(g, np.arange(20).reshape(4, 5))


def test_bytes():
    """As many as are asked for."""

    def f(rng):
        return rng.bytes(1), rng.bytes(8), rng.bytes(13)

    ours, numpys = pair()
    assert njit(f)(ours) == f(numpys)


@pytest.mark.parametrize("n", range(-9, 10))
def test_numbers_of_bytes(n):
    """NumPy takes words of four and divides towards zero, also what is negative."""

    def of_a_generator(n):
        return np.random.default_rng(5).bytes(n)

    def of_the_old_state(n):
        np.random.seed(5)
        return np.random.bytes(n)

    for f in (of_a_generator, of_the_old_state):
        if n < -6:
            for g in (f, njit(f)):
                with pytest.raises(ValueError, match="negative dimensions"):
                    g(n)
        else:
            assert njit(f)(n) == f(n)


REFUSED = """normal(0.0,-1.0) exponential(-1.0) gamma(-1.0,1.0) gamma(1.0,-1.0) beta(0.0,1.0) chisquare(0.0)
poisson(-1.0) poisson(1e20) poisson(np.nan) binomial(-1,0.5) binomial(1,1.5) binomial(1,np.nan)
negative_binomial(0.0,0.5) negative_binomial(1.0,0.0) geometric(0.0) geometric(1.5) logseries(1.0)
zipf(1.0) hypergeometric(-1,2,1)
hypergeometric(1,2,4) hypergeometric(10**9,2,4) integers(5,5) integers(5,4) integers(0) integers(6,5,endpoint=True)
integers(0,300,dtype=np.int8) integers(-1,5,dtype=np.uint8) integers(-200,5,dtype=np.int8) triangular(1.0,0.5,2.0)
integers([1,2],[1,5]) integers([0,0],[1,-5]) triangular(1.0,3.0,2.0) triangular(1.0,1.0,1.0) uniform(2.0,1.0)
uniform(0.0,np.inf) standard_t(0.0) wald(0.0,1.0) vonmises(0.0,-1.0) weibull(-1.0) pareto(0.0) power(0.0) rayleigh(-1.0)
f(0.0,1.0) noncentral_f(1.0,1.0,-1.0) normal([1.0,2.0],-1.0) normal(1.0,[1.0,-1.0]) choice(0) choice(3,5,False)
choice(3,2,True,np.array([0.5,0.5,0.5])) choice(3,2,True,np.array([0.5,0.5])) choice(3,3,False,np.array([0.5,0.5,0]))
choice(2,2,True,np.array([1.5,-0.5])) choice(2,2,True,np.array([np.nan,0.5])) choice(np.zeros(0))
multinomial(-1,[0.5,0.5]) multinomial(1,[0.5,1.5]) multinomial(1,[0.9,0.9,0.1]) dirichlet([-1.0,1.0])
multivariate_hypergeometric([1,2],4) multivariate_hypergeometric([1,-2],1) shuffle(np.zeros((2,2)),2)
random(3,out=np.zeros(4)) random(out=np.zeros((4,4))[:,::2]) normal(np.zeros(3),1.0,size=2)""".split()


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text):
    """NumPy's exceptions, with their texts."""
    scope = {"np": np}
    exec(f"def f(rng):\n    return rng.{text}\n", scope)
    ours, numpys = pair()
    with pytest.raises(Exception) as want:
        scope["f"](numpys)
    with pytest.raises(type(want.value)) as got:
        njit(scope["f"])(ours)
    # Messages of NumPy about shapes may say more.
    assert str(want.value).startswith(str(got.value).split("\n")[0])


def test_identity_and_state():
    """A generator comes back as itself; both sides see its state."""

    @njit
    def f(rng, n):
        return rng, rng.random(n), rng.bit_generator

    ours, numpys = pair()
    back, first, bits = f(ours, 3)
    assert back is ours
    assert bits is ours.bit_generator
    assert same(first, numpys.random(3))
    assert ours.random() == numpys.random()
    assert same(f(ours, 2)[1], numpys.random(2))


SPARE = np.random.default_rng(3)


def test_captured_and_in_tuples():
    """Global and captured generators, and those in tuples, are the objects themselves."""
    own = np.random.default_rng(4)

    @njit
    def f(pair):
        return SPARE.random() + own.random(), pair[0].random(), pair[1].integers(10)

    a, b = pair()
    (one, other), (x, y) = [np.random.default_rng(s) for s in (3, 4)], pair()
    for _ in range(2):
        got = f((a, b))
        assert got == (one.random() + other.random(), x.random(), y.integers(10))


def test_foreign_bit_generators():
    """A class of the program's own is drawn from by its functions."""

    class Own(np.random.PCG64):
        pass

    a, b = (np.random.Generator(Own(5)) for _ in range(2))

    @njit
    def f(rng):
        return rng.random(3), rng.standard_normal(400), rng.integers(10, size=5, dtype=np.uint8), rng.random()

    assert same(f(a), f.py_func(b))
    assert same(a.random(), b.random())


@pytest.mark.parametrize("bits", BITS)
def test_made_in_compiled_code(bits):
    """Bit generators of compiled code have NumPy's streams, and become NumPy's."""
    make = getattr(np.random, bits)

    @njit
    def f(seed):
        rng = np.random.Generator(make(seed))
        return rng.random(3), rng.integers(10, dtype=np.uint32), rng

    for seed in (0, 7, 2**40 + 3, np.array([1, 2**35], np.uint64), (1, 2, 3)):
        a, b, back = f(seed)
        rng = np.random.Generator(make(seed))
        assert same(a, rng.random(3))
        assert b == rng.integers(10, dtype=np.uint32)
        assert type(back.bit_generator) is make
        assert same(back.random(5), rng.random(5))
        assert same(back.integers(7, size=5, dtype=np.uint32), rng.integers(7, size=5, dtype=np.uint32))
        assert same(back.spawn(2)[1].random(2), rng.spawn(2)[1].random(2))


def test_default_rng_and_seed_sequences():
    """Seeds, sequences of seeds, and what they spawn."""

    @njit
    def f(seed):
        rng = np.random.default_rng(seed)
        seeds = np.random.SeedSequence(seed)
        children = seeds.spawn(3)
        more = children[1].spawn(2)
        a = seeds.generate_state(5), children[2].generate_state(4, np.uint64), more[1].generate_state(3)
        return a, rng.normal(), rng.spawn(3)[2].random(2), np.random.default_rng(children[0]).random()

    for seed in (1, 2**33, np.arange(7)):
        assert same(f(seed), f.py_func(seed))
    assert f(3)[0][0].dtype == np.uint32

    @njit
    def entropy():
        return np.random.default_rng().random(), np.random.default_rng().random()

    assert len({*entropy(), *entropy()}) == 4

    @njit
    def through(rng):
        return np.random.default_rng(rng), np.random.Generator(rng.bit_generator)

    ours, _ = pair()
    assert through(ours)[0] is ours
    assert through(ours)[1].bit_generator is ours.bit_generator


def test_prange():
    """Blocks have streams of their own: the same for the same seed on any number of threads, another one each time."""

    @njit(parallel=True)
    def f(rng, n):
        out = np.empty(n)
        for i in prange(n):
            out[i] = rng.random()
        return out

    def drawn(threads):
        before = get_num_threads()
        set_num_threads(threads)
        rng = np.random.default_rng(5)
        result = f(rng, 5000), f(rng, 5000), rng.random()
        set_num_threads(before)
        return result

    one, two = drawn(1), drawn(2)
    assert same(one, two)
    assert len(np.unique(np.concatenate(one[:2]))) == 10000
    assert abs(np.mean(one[0]) - 0.5) < 0.02

    @njit(parallel=True)
    def own(n):
        out = np.empty(n)
        for i in prange(n):
            rng = np.random.default_rng(i)
            out[i] = rng.random() + rng.normal()
        return out

    assert same(own(50), own.py_func(50))

    @njit(parallel=True)
    def listed(rngs, n):
        out = np.empty((len(rngs), n))
        for i in prange(len(rngs)):
            out[i] = rngs[i].random(n)
        return out

    def of_list(threads):
        before = get_num_threads()
        set_num_threads(threads)
        rngs = np.random.default_rng(5).spawn(40)
        result = listed(rngs, 30), listed(rngs, 30)
        set_num_threads(before)
        return result

    one, two = of_list(1), of_list(2)
    assert same(one, two)
    assert len(np.unique(one)) == 2 * 40 * 30


def test_threads():
    """Threads that share a generator draw each number once."""

    @njit(nogil=True)
    def f(rng, n):
        out = np.empty(n)
        for i in range(n):
            out[i] = rng.random()
        return out

    ours, numpys = pair()
    f(ours, 1)
    numpys.random()
    got = []
    workers = [threading.Thread(target=lambda: got.append(f(ours, 20000))) for _ in range(3)]
    workers.append(threading.Thread(target=lambda: got.append(ours.random(20000))))
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert same(np.sort(np.concatenate(got)), np.sort(numpys.random(80000)))
    assert ours.bit_generator.lock.acquire(blocking=False)


def test_types():
    """The types of generators, by Numba's names."""
    rng = np.random.default_rng(1)
    assert typeof(rng) is types.npy_rng
    assert typeof(rng.bit_generator) is types.npy_bitgen
    assert str(types.npy_rng) == "NumPyRandomGeneratorType"
    assert isinstance(types.npy_rng, types.NumPyRandomGeneratorType)
    assert isinstance(types.npy_bitgen, types.NumPyRandomBitGeneratorType)

    @njit(types.float64(types.npy_rng))
    def f(rng):
        return rng.random()

    assert f(rng) == np.random.default_rng(1).random()
    assert f.nopython_signatures[0].args == (types.npy_rng,)


def test_philox_begins_with_a_key():
    def drawn(key):
        bits = np.random.Philox(key=key)
        return bits.random_raw(5), np.random.Generator(bits).normal(size=3)

    compiled = njit(drawn)
    keys = [0, 7, 2**62, True, np.uint64(2**63 + 3), [1, 2], (3, 4), np.array([-1, 2]), np.array([7, 8], np.int32)]
    for key in [*keys, np.array([2**63, 1], np.uint64)]:
        assert same(compiled(key), drawn(key)), key
    made = njit(lambda key: np.random.Generator(np.random.Philox(key=key)))(4)
    assert made.integers(100) == np.random.Generator(np.random.Philox(key=4)).integers(100)
    for key, said in (
        (-1, "positive and less than"),
        ([1], "must have 2 elements"),
        ([1, 2, 3], "must have 2 elements"),
    ):
        with pytest.raises(ValueError, match=said):
            compiled(key)
    with pytest.raises(ValueError, match="cannot be both used"):
        njit(lambda: np.random.Philox(3, key=4))()
    with pytest.raises(TypeError, match="does not implement spawning"):
        njit(lambda: np.random.Philox(key=4).spawn(2))()
    assert same(njit(lambda: np.random.Philox(3, None, None).random_raw(2))(), np.random.Philox(3).random_raw(2))
