"""`xp.random`: known answers, NumPy's streams bit for bit, the distributions, and what a number depends on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from lancehead import cuda, get_num_threads, njit, set_num_threads, xp
from lancehead.xp import device_loops, device_regions, drawing, regions, streams
from lancehead.xp.rows import How

ONES = 0xFFFFFFFF
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)


@pytest.mark.parametrize(
    "given, answer",
    [
        ((0,) * 6, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ONES,) * 6, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (PI, (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ],
)
def test_known_answers_of_random123(given, answer):
    assert tuple(map(int, drawing.philox4x32(*map(np.uint32, given)))) == answer


def test_known_answers_of_philox4x64():
    # NumPy counts before it gives a block, so that the block of a counter comes from the counter before.
    for word, answer in (
        (0, (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
        (2**64 - 1, (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0)),
    ):
        counter = (sum(word << 64 * k for k in range(4)) - 1) % 2**256
        rng = xp.random.default_rng(np.random.Philox(key=word + (word << 64), counter=counter))
        found = rng.integers(0, 2**64 - 1, size=4, dtype=np.uint64, endpoint=True)
        assert tuple(map(int, found.numpy())) == answer


def test_known_answers_of_curand():
    rng = xp.random.default_rng(0, "Philox4_32_10")
    # torch.manual_seed(0); torch.rand(5, device="cuda")
    np.testing.assert_allclose(
        rng.random(5, dtype="float32").numpy(), [0.3990, 0.5167, 0.0249, 0.9401, 0.9459], atol=5e-5
    )
    rng = xp.random.default_rng(0, "XORWOW")
    first = [rng.random(5, dtype="float32").numpy() for _ in range(4)]
    np.testing.assert_allclose(first[0], [0.740219, 0.920994, 0.039020, 0.968963, 0.925141], atol=5e-7)
    np.testing.assert_allclose([x[0] for x in first], [0.740219, 0.438451, 0.517013, 0.156989], atol=5e-7)


def test_xorwow_jumps_as_it_steps():
    v = streams.xorwow_start(12345, 0)
    word = sum(w << 32 * k for k, w in enumerate(v[0]))
    for _ in range(1000):
        word = streams.step(word)
    expected = [word >> 32 * k & ONES for k in range(5)], (v[1] + 362437 * 1000) & ONES
    assert streams.xorwow_start(12345, 1000) == expected
    rng = xp.random.default_rng(12345, "XORWOW")
    one = np.array([int(rng.bits()) for _ in range(6)])
    again = xp.random.default_rng(12345, "XORWOW")
    again.state["offset"] = 5
    assert int(again.bits()) == one[5]
    # Thread 3 begins 3 * 2**67 steps later.
    v = streams.applied(
        streams.power(68),
        streams.applied(
            streams.power(67), word := sum(w << 32 * k for k, w in enumerate(streams.xorwow_start(12345, 0)[0]))
        ),
    )
    expected = (streams.step(v) >> 128) + streams.xorwow_start(12345, 1)[1] & ONES
    assert int(xp.random.default_rng(12345, "XORWOW").bits(5).numpy()[3]) == expected


@pytest.mark.parametrize("bits", ["numpy", "PCG64", "PCG64DXSM", "MT19937", "SFC64", "Philox"])
def test_streams_of_numpy(bits):
    of = np.random.PCG64 if bits == "numpy" else getattr(np.random, bits)
    ours, numpys = xp.random.default_rng(42, bits), np.random.Generator(of(42))
    for name, arguments in (
        ("random", (5,)), ("standard_normal", ((2, 3),)), ("integers", (0, 100, 7)), ("normal", (1.0, 2.0, 4)),
        ("poisson", (3.5, 6)), ("gamma", (0.5, 2.0, 5)), ("choice", (10, 4, False)), ("permutation", (9,)),
        ("exponential", (2.0, 3)), ("binomial", (10, 0.3, 5)), ("multivariate_normal", ([0.0, 1.0], np.eye(2), 3)),
        ("random", ()), ("uniform", (-1.0, 1.0, (2, 2))), ("beta", (1.0, 2.0, 3)),
    ):  # fmt: skip
        one, other = getattr(ours, name)(*arguments), getattr(numpys, name)(*arguments)
        assert isinstance(one, xp.ndarray), name
        np.testing.assert_array_equal(np.asarray(one), other, strict=True)
    x, y = xp.arange(10), np.arange(10)
    ours.shuffle(x)
    numpys.shuffle(y)
    np.testing.assert_array_equal(np.asarray(x), y)
    a, b = ours.spawn(2)[1].random(3), numpys.spawn(2)[1].random(3)
    np.testing.assert_array_equal(np.asarray(a), b)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(np.asarray(again.random(4)), numpys.random(4))


def draws(rng):
    return [
        rng.random(20_001), rng.random(40_003, dtype="float32"), rng.standard_normal(20_000),
        rng.integers(-5, 1000, 30_001),
        rng.poisson(30.0, 2000), rng.gamma(2.0, 1.0, 2000), rng.permutation(500),
    ]  # fmt: skip


def test_numbers_belong_to_their_call():
    before = get_num_threads()
    try:
        many = draws(xp.random.default_rng(5))
        values = [x.numpy() for x in many]
        set_num_threads(1)
        # In another order, and with calls in between whose values are never asked for.
        rng = xp.random.default_rng(5)
        again = draws(rng)
        for x, value in reversed(list(zip(again, values, strict=True))):
            np.testing.assert_array_equal(x.numpy(), value)
    finally:
        set_num_threads(before)
    few = xp.random.default_rng(5)
    # The first numbers of a large array are those of a small one.
    for name, arguments, value in (
        ("random", (7,), values[0]), ("random", (7, "float32"), values[1]), ("standard_normal", (7,), values[2]),
        ("integers", (-5, 1000, 7), values[3]), ("poisson", (30.0, 7), values[4]), ("gamma", (2.0, 1.0, 7), values[5]),
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(few, name)(*arguments).numpy(), value[:7])
    other = draws(xp.random.default_rng(6))
    assert all(len(set(x.numpy()[:50]) & set(v[:50])) < 30 for x, v in list(zip(other, values, strict=True))[:3])


def test_integers_that_are_drawn_again():
    # Nearly half of the words do not fit.
    count = 2**63 + 2**62 // 3
    rng = xp.random.default_rng(1)
    found = rng.integers(0, count, 2001, dtype=np.uint64).numpy()
    least, call, key = np.uint64(2**64 % count), np.uint64(0), np.uint64(rng.state["key"])
    expected = [int(drawing.below(np.uint64(i), np.uint64(count), least, call, key)) for i in range(2001)]
    assert [int(x) for x in found] == expected
    assert int(found.max()) < count
    assert stats.kstest(found / count, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("x, y", [(3, 5), (2**64 - 1, 2**64 - 1), (2**63 + 12345, 2**40 + 99), (2**32, 2**32)])
def test_products_of_128_bits(x, y):
    high, low = drawing.scaled(np.uint64(x), np.uint64(y))
    assert int(high) << 64 | int(low) == x * y


@pytest.mark.parametrize(
    "name, arguments, law",
    [
        ("random", (), stats.uniform()), ("standard_normal", (), stats.norm()),
        ("uniform", (-2.0, 3.0), stats.uniform(-2, 5)),
        ("normal", (3.0, 0.5), stats.norm(3, 0.5)), ("exponential", (2.0,), stats.expon(scale=2)),
        ("lognormal", (0.0, 0.5), stats.lognorm(0.5)), ("laplace", (1.0, 2.0), stats.laplace(1, 2)),
        ("logistic", (1.0, 2.0), stats.logistic(1, 2)), ("gumbel", (1.0, 2.0), stats.gumbel_r(1, 2)),
        ("rayleigh", (2.0,), stats.rayleigh(scale=2)), ("standard_cauchy", (), stats.cauchy()),
        ("weibull", (1.5,), stats.weibull_min(1.5)), ("pareto", (3.0,), stats.lomax(3)),
        ("standard_gamma", (0.4,), stats.gamma(0.4)), ("gamma", (5.0, 2.0), stats.gamma(5, scale=2)),
        ("chisquare", (3.0,), stats.chi2(3)), ("beta", (2.0, 5.0), stats.beta(2, 5)),
    ],
)  # fmt: skip
def test_continuous_distributions(name, arguments, law):
    found = getattr(xp.random.default_rng(11), name)(*arguments, size=20_000).numpy()
    assert found.dtype == np.float64
    assert stats.kstest(found, law.cdf).pvalue > 1e-3
    # Neighbours do not know of each other.
    u = law.cdf(found)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(u[::2], u[1::2])[0, 1]) < 0.04


@pytest.mark.parametrize(
    "name, arguments, law",
    [
        ("integers", (0, 10), stats.randint(0, 10)), ("poisson", (0.7,), stats.poisson(0.7)),
        ("poisson", (25.0,), stats.poisson(25)), ("poisson", (9.99,), stats.poisson(9.99)),
        ("binomial", (12, 0.3), stats.binom(12, 0.3)), ("binomial", (500, 0.9), stats.binom(500, 0.9)),
        ("geometric", (0.2,), stats.geom(0.2)),
    ],
)  # fmt: skip
def test_discrete_distributions(name, arguments, law):
    found = getattr(xp.random.default_rng(12), name)(*arguments, size=20_000).numpy()
    assert found.dtype == np.int64
    edges = np.unique(law.ppf(np.linspace(0.0, 0.999, 15)))
    expected = np.diff(law.cdf(np.r_[-1.0, edges, np.inf])) * found.size
    counts = np.histogram(found, np.r_[-1.0, edges + 0.5, np.inf])[0]
    assert (
        stats.chisquare(
            counts[expected > 5], expected[expected > 5] * counts[expected > 5].sum() / expected[expected > 5].sum()
        ).pvalue
        > 1e-3
    )


def test_choices_and_orders():
    rng = xp.random.default_rng(3)
    x = xp.asarray(np.arange(12.0).reshape(4, 3))
    assert sorted(rng.permutation(x).numpy()[:, 0].tolist()) == [0.0, 3.0, 6.0, 9.0]
    assert sorted(rng.permutation(1000).numpy().tolist()) == list(range(1000))
    rows = rng.permuted(x, axis=1).numpy()
    assert (np.sort(rows, axis=1) == np.arange(12.0).reshape(4, 3)).all()
    assert sorted(rng.permuted(x).numpy().ravel().tolist()) == list(range(12))
    assert rng.choice(x, (2, 5), axis=1).shape == (4, 2, 5)
    assert rng.choice(7).shape == ()
    some = rng.choice(100, 50, replace=False).numpy()
    assert len(set(some.tolist())) == 50
    counts = np.bincount(rng.choice(3, 10_000, p=[0.2, 0.5, 0.3]).numpy())
    assert stats.chisquare(counts, [2000, 5000, 3000]).pvalue > 1e-3
    weighted = [int(rng.choice(3, 1, replace=False, p=[0.2, 0.7, 0.1])[0]) for _ in range(300)]
    assert 170 < weighted.count(1) < 245
    y = xp.arange(100)
    rng.shuffle(y)
    assert sorted(y.numpy().tolist()) == list(range(100))
    assert y.numpy().tolist() != list(range(100))
    # Each order of three is as frequent as the others.
    keys = rng.permuted(xp.asarray(np.tile(np.arange(3), (6000, 1))), axis=1).numpy() @ np.array([9, 3, 1])
    assert stats.chisquare(np.unique(keys, return_counts=True)[1]).pvalue > 1e-3


def test_parameters_that_are_arrays():
    rng = xp.random.default_rng(4)
    lam = xp.asarray([[1.0], [100.0]])
    found = rng.poisson(lam, (2, 4000))
    assert found.shape == (2, 4000)
    np.testing.assert_allclose(found.numpy().mean(axis=1), [1.0, 100.0], rtol=0.05)
    assert rng.poisson([1.0, 2.0]).shape == (2,)
    assert rng.normal(xp.zeros((3, 1)), [1.0, 2.0]).shape == (3, 2)
    with pytest.raises(ValueError, match="not compatible"):
        rng.normal(xp.zeros(3), 1.0, size=2)


def test_state():
    rng = xp.random.default_rng(9)
    assert repr(rng).startswith("Generator(Philox4x32, key=0x")
    first = rng.random(5).numpy()
    saved, stored = rng.state, pickle.dumps(rng)
    second = rng.random(5).numpy()
    rng.state = saved
    np.testing.assert_array_equal(rng.random(5).numpy(), second)
    np.testing.assert_array_equal(pickle.loads(stored).random(5).numpy(), second)
    assert (first != second).all()
    children = xp.random.default_rng(9).spawn(3)
    drawn = np.array([c.random(4).numpy() for c in children])
    assert np.unique(drawn).size == 12
    again = xp.random.default_rng(np.random.SeedSequence(9).spawn(3)[2])
    np.testing.assert_array_equal(again.random(4).numpy(), drawn[2])
    assert xp.random.default_rng(rng) is rng
    assert xp.random.default_rng().state != xp.random.default_rng().state
    with pytest.raises(ValueError, match="is not one of"):
        rng.state = {"stream": "PCG64", "key": 1, "calls": 0}


def test_another_seed_or_call_compiles_nothing():
    float(xp.sum(xp.random.default_rng(21).random(8) * 2.0))
    before = len(regions._REGIONS)
    rng = xp.random.default_rng(22)
    for n in (11, 3, 3, 0):
        float(xp.sum(rng.random(n) * 2.0))
    assert len(regions._REGIONS) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.normal(0.0, -1.0), lambda r: r.exponential(-2.0), lambda r: r.poisson(-1.0),
        lambda r: r.poisson(np.nan), lambda r: r.integers(5, 5), lambda r: r.integers(0),
        lambda r: r.integers(0, 300, dtype=np.uint8),
        lambda r: r.integers(-1, 3, dtype=np.uint8), lambda r: r.random(dtype=np.int64), lambda r: r.binomial(-1, 0.5),
        lambda r: r.binomial(5, 1.5), lambda r: r.geometric(-0.5), lambda r: r.choice(0, 3),
        lambda r: r.choice(3, 5, replace=False),
        lambda r: r.choice(3, p=[0.5, 0.5]), lambda r: r.choice(2, p=[0.7, 0.7]), lambda r: r.choice(2, p=[-0.5, 1.5]),
        lambda r: r.uniform(0.0, np.inf), lambda r: r.random(-1), lambda r: r.gamma(-1.0), lambda r: r.chisquare(0.0),
        lambda r: r.random((2, -3)), lambda r: r.integers(0, 10, dtype=float),
    ],
)  # fmt: skip
def test_refused_as_by_numpy(call):
    with pytest.raises(Exception) as expected:
        call(np.random.default_rng(1))
    with pytest.raises(expected.type):
        call(xp.random.default_rng(1))


def test_errors_of_elements_come_with_the_value():
    rng = xp.random.default_rng(1)
    for x in (
        rng.poisson(xp.asarray([1.0, -1.0])),
        rng.normal(0.0, xp.asarray([1.0, -1.0])),
        rng.gamma(xp.asarray([-1.0])),
    ):
        with pytest.raises(ValueError, match="negative|< 0"):
            x.compute()


def test_a_traced_function_takes_its_numbers():
    rng = xp.random.default_rng(1)
    step = xp.trace(lambda x: x + rng.random(3))
    with pytest.raises(TypeError, match="random numbers"):
        step(xp.zeros(3))


def test_unknown_streams():
    with pytest.raises(ValueError, match="'XORWOW'"):
        xp.random.default_rng(1, "pcg")
    with pytest.raises(TypeError, match="integers"):
        xp.random.default_rng([1, 2], "XORWOW")


def test_compiled_functions_read_them():
    @njit
    def total(x):
        return x.sum()

    x = xp.random.default_rng(2).random(100)
    assert abs(total(x.numpy()) - float(xp.sum(x))) < 1e-12


def drawn(rng, n):
    """Arrays of all laws."""
    lam = np.array([[0.5], [3.0], [40.0]])
    return [
        rng.random(n), rng.random(n, dtype="float32"), rng.standard_normal((3, n // 3)),
        rng.standard_normal(n, dtype="float32"), rng.uniform(-1.0, 3.0, n),
        rng.normal([[1.0], [2.0]], 0.3, (2, n // 2)),
        rng.integers(-5, 1000, n), rng.integers(0, 2**63 + 2**62, n, dtype=np.uint64),
        rng.integers(0, 2, n, dtype=bool), rng.integers(0, 256, n, dtype=np.uint8),
        rng.exponential(2.0, n), rng.laplace(1.0, 2.0, n), rng.logistic(1.0, 2.0, n), rng.gumbel(0.5, 2.0, n),
        rng.rayleigh(2.0, n), rng.standard_cauchy(n), rng.weibull(1.5, n), rng.pareto(3.0, n), rng.geometric(0.2, n),
        rng.lognormal(0.0, 0.5, n), rng.poisson(lam, (3, n // 3)), rng.poisson(25.0, n),
        rng.gamma([0.4, 5.0], 2.0, (n, 2)),
        rng.beta(2.0, 5.0, n), rng.binomial([[12], [500]], 0.3, (2, n // 2)), rng.chisquare(3.0, n),
        rng.permutation(n), rng.choice(7, n), rng.choice(3, n, p=[0.2, 0.5, 0.3]), rng.random(),
    ]  # fmt: skip


def test_devices_have_the_bits_of_the_host():
    for n in (36, 16_386):
        ours, theirs = drawn(xp.random.default_rng(3), n), drawn(xp.random.default_rng(3, device="cuda:0"), n)
        device_regions.compute([x.node() for x in theirs])
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert other.device == "cuda:0" and one.device == "cpu"
            np.testing.assert_array_equal(other.numpy(), one.numpy(), strict=True, err_msg=str(i))


def test_numbers_are_part_of_the_kernels_that_read_them():
    rng = xp.random.default_rng(3, device="cuda:0")
    steps = device_regions.steps_of(xp.sum(rng.normal(1.0, 2.0, (50, 40)) * rng.random(40), axis=1).node())[3]
    assert [step.kind for step in steps] == [How.REDUCED]
    # Those of the host go with arrays of any device, and are made there.
    x = xp.asarray(np.arange(5.0), device="cuda:0")
    r = xp.random.default_rng(4).random(5)
    y = x + r
    assert [step.kind for step in device_regions.steps_of(y.node())[3]] == [How.FUSED]
    np.testing.assert_array_equal(y.numpy(), np.arange(5.0) + r.numpy())
    with pytest.raises(ValueError, match="'cpu'.*'cuda:0'|'cuda:0'.*'cpu'"):
        x + xp.random.default_rng(4, device="cpu").random(5)
    again = pickle.loads(pickle.dumps(rng))
    assert again.device is rng.device and rng.spawn(1)[0].random(3).device == "cuda:0"
    x[:] = rng.random(5)
    rng.shuffle(x)
    assert x.device == "cuda:0" and np.unique(x.numpy()).size == 5
    before = len(device_loops._COMPILED)
    for n, seed in ((5, 1), (7, 2), (30_000, 3)):
        xp.random.default_rng(seed, device="cuda:0").random(n).compute()
    assert len(device_loops._COMPILED) <= before + 2
    with pytest.raises(ValueError, match="negative"):
        rng.normal(0.0, [1.0, -1.0]).compute()


def test_streams_of_others_are_copied():
    for stream in ("PCG64", "XORWOW", "Philox4_32_10"):
        here, there = (xp.random.default_rng(5, stream, device) for device in (None, "cuda:0"))
        for name in ("random", "standard_normal"):
            one, other = getattr(here, name)(9), getattr(there, name)(9)
            assert other.device == "cuda:0"
            np.testing.assert_array_equal(other.numpy(), one.numpy())
        assert xp.random.default_rng(there) is there
        with pytest.raises(ValueError, match="not on cpu"):
            xp.random.default_rng(there, device="cpu")


@pytest.mark.usefixtures("by_kernels")
def test_laws_are_ptx():
    x = xp.random.default_rng(3, device="cuda:0")
    wanted = (x.normal(0.0, 2.0, 9), x.integers(0, 6, 9), x.poisson([20.0]), x.gamma([2.0]), x.binomial([9], 0.5))
    before = set(device_loops._COMPILED)
    for y in wanted:
        (step,) = device_regions.steps_of(y.node())[3]
        y.compute()
        kernel = step.names["kernel"]
        text, _ = cuda.compile_ptx(kernel.py_func, kernel.signatures[0], cc=(9, 0))
        assert ".visible .entry" in text
    assert len(set(device_loops._COMPILED) - before) <= len(wanted)
