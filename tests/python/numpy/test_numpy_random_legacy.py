"""The legacy streams of `numpy.random`: the same numbers as NumPy's, and as many words of the stream are used."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import lancehead

A, I = np.array([0.5, 1, 2.5, 4]), np.array([5, 20, 60, 100])
DISTRIBUTIONS = {
    "beta": ("2, 3", ".5, .5", "A + 1, A.reshape(4, 1)"), "binomial": ("100, .6", "I, .4", "I, A / 9"),
    "chisquare": ("2", "A"), "exponential": ("2", "A"), "f": ("2, 3", "A, 3"), "gamma": ("2, 3", "A, 2"),
    "geometric": (".4", "A / 9"), "gumbel": ("0, 1", "A, A"), "laplace": ("0, 1", "A, 2"), "logistic": ("0, 1", "0, A"),
    "hypergeometric": ("5, 6, 7", "20, 30, 25", "30, 20, 25", "I, I, 3", "100, 50, 120", "15, 15, 11", "2, 2, 5"),
    "lognormal": ("0, 1", "0, A"), "logseries": (".6", ".95", "A / 9", "1"), "negative_binomial": ("5, .5", "A, .3"),
    "noncentral_chisquare": ("3, 1", ".5, 2", "A, A"), "noncentral_f": ("3, 4, 1", "A, 2, 1"), "pareto": ("2", "A"),
    "normal": ("0, 1", "A, 1", "A, A.reshape(4, 1)", "0, -A", "0, -1", "0, -0.0"), "power": ("2", "A"),
    "poisson": ("3", "30", "A", "-1.0"), "rayleigh": ("2", "A"), "standard_gamma": ("2", ".5", "A"),
    "standard_t": ("4", "A"), "triangular": ("0, 1, 2", "0, A, 9", "0, A, 2"), "uniform": ("0, 1", "A, 9", "A, np.inf"),
    "vonmises": ("0, 1", "A, A", "0, 1e-9", "0, 1e-6", "3, 50", "0, -1"), "wald": ("1, 2", "A, A"),
    "weibull": ("2", "A"), "zipf": ("2", "1.5", "A + 1", "1"),
}  # fmt: skip
INTEGERS = [
    "0, 5, 7, np.uint8", "0, 256, 7, np.uint8", "-100, 100, 33, np.int8", "0, 1000, 33, np.int16",
    "0, 2, 40, np.bool_", "5, 6, 40, np.uint8", "0, 2**32, 9, np.uint32", "-2**31, 2**31, 9, np.int32", "0, 2**40, 9",
    "0, 2**40, 9, np.uint64", "0, I", "I", "0, I, (3, 4), np.uint8", "I[:, None], [200, 150]", "7, dtype=np.int16",
    "0", "5, 5", "0, 300, 4, np.uint8", "-1, 3, 4, np.uint8", "[1, 2], [2, 1]",
]  # fmt: skip
CHOICES = [
    "5", "5, 3", "5, 3, False", "5, None, False", "A, (2, 2), False, A / 8", "A, None, True, A / 8", "A, 6, p=A / 8",
    "A, None, False, p=A / 8", "40, 30, False, p=np.arange(40) / 780", "0", "A[:0]", "3, 5, False", "0, 0",
    "3, 3, False, p=[.5, .5, 0]", "2, p=[1.5, -.5]", "2, p=[.5, np.nan]", "3, p=[.5, .5]", "5, p=[.1] * 5",
]  # fmt: skip
OTHERS = [
    "permutation(A)", "permutation(6)", "permutation(A.reshape(2, 2))", "permutation([1, 2, 3])", "bytes(10)",
    "bytes(0)", "dirichlet(A)", "dirichlet(A, (2, 3))", "dirichlet([1, -1])", "multinomial(20, [.2, .3, .5])",
    "multinomial(20, A / 8, size=(3, 2))", "multinomial(5, [.5, .7, .2])", "multinomial(5, [.5, -.1, .2])",
    "multinomial(-1, [.5, .5])", "multinomial(0, [.5, .5], 2)", "random_integers(3, 9, 4)", "ranf(3)", "sample(3)",
    "random(3)", "normal(A, 1, size=(3, 4))", "normal(A, 1, size=(3, 1))", "normal(0, 1, ())",
]  # fmt: skip


def drawn(text):
    source = f"def f(A, I):\n    np.random.seed(7)\n    x = np.random.{text}\n    return x, np.random.random()"
    file = f"<{text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"np": np}
    exec(compile(source, file, "exec"), names)
    outcomes = []
    for f in (names["f"], lancehead.njit(names["f"])):
        try:
            outcomes.append(f(A, I))
        except (ValueError, OverflowError) as error:
            outcomes.append((type(error), str(error)))
    return outcomes


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "randint", "choice", "others"])
def test_streams(name):
    texts = [f"{name}({a}{s})" for a in DISTRIBUTIONS.get(name, ()) for s in ("", ", size=(3, 4, 4)")]
    texts += [f"randint({a})" for a in INTEGERS] if name == "randint" else []
    texts += [f"choice({a})" for a in CHOICES] if name == "choice" else []
    for text in texts + (OTHERS if name == "others" else []):
        (want, next_want), (got, next_got) = drawn(text)
        assert next_want == next_got, text
        if isinstance(want, (type, bytes)):
            assert want == got, text
            continue
        if isinstance(want, np.ndarray):
            assert want.dtype == got.dtype and want.shape == got.shape, text
        # Logarithms and powers may be rounded otherwise.
        np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


def test_normal_vectors():
    # Numbers depend on the signs of singular vectors, which are free: moments do not.
    @lancehead.njit
    def f(mean, cov):
        np.random.seed(3)
        return np.random.multivariate_normal(mean, cov, 20000)

    mean, cov = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.5]])
    x = f(mean, cov)
    np.testing.assert_allclose(x.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.05)
    refused = lancehead.njit(lambda c: np.random.multivariate_normal([0, 0], c, check_valid="raise"))
    with pytest.raises(ValueError, match="covariance is not symmetric positive-semidefinite"):
        refused(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="cov must be 2 dimensional and square"):
        refused(np.ones((1, 2)))


def test_states_are_refused():
    for f in (lambda: np.random.get_state(), lambda: np.random.set_state(3)):
        with pytest.raises(lancehead.errors.TypingError, match="start it anew with"):
            lancehead.njit(f)()
