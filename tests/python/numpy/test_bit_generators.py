"""Bit generators that skip numbers, counters of `Philox`, pools of seeds: NumPy's states and streams bit for bit."""

import numpy as np
import pytest

from lancehead import njit

SKIPPING = ["PCG64", "PCG64DXSM", "Philox"]
STEPS = [0, 1, 5, -1, -7, 2**62, -(2**63)]


def skip(g, n):
    # The half of a word that a draw of 32 bits leaves is forgotten.
    half = g.integers(0, 5, dtype=np.uint32)
    b = g.bit_generator
    b.random_raw()
    b.advance(n)
    first = b.random_raw()
    b.advance(n).advance(1)
    far, further = b.jumped(), b.jumped(n).jumped(2)
    small = np.random.Generator(further).integers(0, 9, dtype=np.uint32)
    return half, first, far.random_raw(5), far.advance(n).random_raw(), further.random_raw(), small, b.random_raw()


@pytest.mark.parametrize("bits", SKIPPING)
def test_a_generator_from_python_skips(bits):
    compiled = njit(skip)
    for n in STEPS:
        ours, numpys = (np.random.Generator(getattr(np.random, bits)(7)) for _ in range(2))
        for got, want in zip(compiled(ours, n), skip(numpys, n), strict=True):
            np.testing.assert_array_equal(got, want)
        assert ours.random() == numpys.random()
        assert ours.integers(0, 9, dtype=np.uint32) == numpys.integers(0, 9, dtype=np.uint32)


def made_inside(n, words):
    p, d = np.random.PCG64(3), np.random.PCG64DXSM(4).jumped(n)
    p.random_raw()
    p.advance(n)
    q, r = np.random.Philox(5, counter=words), np.random.Philox(counter=n, key=[1, 2])
    s, t = np.random.SeedSequence(n), np.random.SeedSequence([1, 2, 3, 4, 5, 6, n], spawn_key=(1, 2**40), pool_size=5)
    raw = (
        p.random_raw(),
        d.random_raw(3),
        q.random_raw(9),
        r.random_raw(),
        q.jumped(n).random_raw(),
        r.jumped().random_raw(),
    )
    return raw, (s.pool, t.pool, t.spawn(2)[1].pool, s.generate_state(3))


def test_those_of_compiled_code_do_too():
    compiled = njit(made_inside)
    for n in (0, 1, 99, 2**40):
        for words in ([1, 2, 3, 4], [2**63 - 1, 0, 0, n], [0, 0, 0, 0]):
            for got, want in zip(compiled(n, words), made_inside(n, words), strict=True):
                assert all(map(np.array_equal, got, want)), (n, words)


def test_counters_carry_through_all_words():
    def after(words, n):
        return np.random.Philox(3, counter=words).advance(n).random_raw(4)

    most, compiled = 2**64 - 1, njit(after)
    for words in ([most, most, most, most], [most, most, 0, 7], [most, 0, most, 0], [0, 0, 0, 0]):
        for n in (1, -1, 2**62):
            given = np.array(words, np.uint64)
            np.testing.assert_array_equal(compiled(given, n), after(given, n))


@pytest.mark.parametrize("bits", ["MT19937", "SFC64"])
def test_kinds_that_do_not_skip(bits):
    for f in (njit(lambda b: b.advance(1).random_raw()), njit(lambda b: b.jumped().random_raw())):
        if bits == "MT19937" and f.py_func.__code__.co_names[0] == "jumped":
            # NumPy has it, by powers of a polynomial of 19937 bits.
            with pytest.raises(NotImplementedError, match="spawn"):
                f(np.random.MT19937(1))
        else:
            for call in (f, f.py_func):
                with pytest.raises(AttributeError):
                    call(getattr(np.random, bits)(1))


def test_wrong_counters():
    of_a_number = njit(lambda n: np.random.Philox(counter=n).random_raw())
    of_words = njit(lambda words: np.random.Philox(counter=words).random_raw())
    for f, given in [(of_a_number, -1), (of_words, [1, 2])]:
        with pytest.raises(ValueError) as want:
            f.py_func(given)
        with pytest.raises(ValueError) as got:
            f(given)
        assert str(got.value) == str(want.value)
