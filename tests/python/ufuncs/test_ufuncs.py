"""Ufuncs made by `vectorize` and `guvectorize`, beside NumPy's own."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lancehead as lh


@lh.vectorize(["int32(int32, int32)", "int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"])
def add(x, y):
    return x + y


@lh.vectorize
def growing(x, y):
    return x + y


@lh.vectorize(["UniTuple(float64, 2)(float64)"])
def two(x):
    return x + 1, x * 2


@lh.vectorize(["float64(float64, float64)"], identity=0)
def plus(x, y):
    return x + y


def test_eager_ones_are_numpys():
    assert isinstance(add, np.ufunc)
    assert (add.nin, add.nout, add.nargs, add.ntypes, add.identity, add.signature) == (2, 1, 3, 4, None, None)
    assert add.types == ["ii->i", "ll->l", "ff->f", "dd->d"]
    assert plus.identity == 0 and plus.reduce(np.empty(0)) == 0
    assert add.__name__ == "add" and growing.__name__ == "growing"


def test_scalars_give_scalars():
    assert type(add(1, 2)) is np.int64
    assert type(add(np.float32(1), 2)) is np.float32
    assert type(growing(1.5, 2.0)) is np.float64


def test_several_results():
    a, b = two([1.0, 2.0])
    assert a.tolist() == [2.0, 3.0] and b.tolist() == [2.0, 4.0]


OPERANDS = st.sampled_from([np.int8, np.int32, np.int64, np.float32, np.float64])


@st.composite
def operand(draw, shape):
    """An array that may be strided, reversed, transposed or repeated."""
    wide = tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in shape)
    a = draw(hnp.arrays(draw(OPERANDS), tuple(2 * n for n in wide), elements=st.integers(0, 9)))
    index = tuple(
        slice(None, None, 2) if draw(st.booleans()) else slice(n - 1, None, -1) if draw(st.booleans()) else slice(n)
        for n in wide
    )
    return a[index]


@st.composite
def operands(draw):
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    return draw(operand(shape)), draw(operand(shape[draw(st.integers(0, len(shape) - 1)) :]))


@settings(max_examples=150, deadline=None)
@given(operands())
def test_like_numpys_add(ab):
    a, b = ab
    want, got = np.add(a, b), add(a, b)
    if want.dtype == np.int8:
        want = np.add(a, b, dtype=np.int32)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@settings(max_examples=60, deadline=None)
@given(operands(), st.booleans())
def test_where_and_out(ab, flip):
    a, b = (x.astype(np.float64) for x in ab)
    shape = np.broadcast_shapes(a.shape, b.shape)
    where = (np.arange(np.prod(shape)).reshape(shape) % 2 == 0) ^ flip
    want, got = np.full(shape, -1.0), np.full(shape, -1.0)
    np.add(a, b, out=want, where=where)
    assert add(a, b, out=got, where=where) is got
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
def test_overlapping_memory(shift):
    a, b = np.arange(40.0), np.arange(40.0)
    n = 30
    lo = max(0, -shift)
    np.add(a[lo : lo + n], 1, out=a[lo + shift : lo + shift + n])
    add(b[lo : lo + n], 1, out=b[lo + shift : lo + shift + n])
    np.testing.assert_array_equal(a, b)


def test_methods_are_numpys():
    a = np.arange(24.0).reshape(4, 6)
    for u in (add, growing):
        np.testing.assert_array_equal(u.reduce(a, axis=1), np.add.reduce(a, axis=1))
        np.testing.assert_array_equal(u.accumulate(a, axis=0), np.add.accumulate(a, axis=0))
        np.testing.assert_array_equal(u.reduceat(a[0], [0, 3, 1]), np.add.reduceat(a[0], [0, 3, 1]))
        np.testing.assert_array_equal(u.outer(a[0], a[1]), np.add.outer(a[0], a[1]))
        x, y = np.zeros(4), np.zeros(4)
        u.at(x, [0, 1, 1, 3], 2.0)
        np.add.at(y, [0, 1, 1, 3], 2.0)
        np.testing.assert_array_equal(x, y)


def test_casting_rules_are_numpys():
    with pytest.raises(TypeError):
        add(1j, 2)
    with pytest.raises(TypeError):
        add([1.5], [2], dtype=np.int32, casting="safe")
    assert add([1], [2], dtype=np.float32).dtype == np.float32
    assert add(np.ones((2, 3)), 1, order="F").flags.f_contiguous


def test_exceptions_of_the_body():
    @lh.vectorize(["float64(float64)"])
    def positive(x):
        if x < 0:
            raise ValueError("negative", x)
        return x

    with pytest.raises(ValueError) as e:
        positive(np.array([1.0, -2.0, -3.0] * 40))
    assert e.value.args == ("negative", -2.0)
    assert positive(4.0) == 4.0


def test_division_follows_numpys_error_state():
    @lh.vectorize(["float64(float64, float64)"])
    def div(x, y):
        return x / y

    with np.errstate(all="ignore"):
        assert div(1.0, 0.0) == np.inf
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        div(np.ones(33), 0.0)
    with np.errstate(all="raise"):
        assert div(np.ones(33), 3.0).sum() == pytest.approx(11.0)


def warned(u, x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        u(x)
    return sorted(str(w.message).partition(" encountered")[0] for w in told)


def test_integers_as_results_warn_only_of_branches_that_are_taken():
    """Vector code divides in all lanes, also where another branch is taken."""

    @lh.vectorize(["uint8(uint8, uint8)"])
    def share(x, y):
        total = x / 255 + y / 255
        if total == 0:
            return np.uint8(0)
        return np.uint8(x / 255 / total * 255)

    @lh.vectorize(["int64(int64, int64)"])
    def quotient(x, y):
        return np.int64(np.sqrt(np.float64(x)) * y)

    @lh.vectorize(["float64(float64)"])
    def inverse(x):
        return 0.0 if x == 0 else 1 / (1 / x)

    x = np.arange(300).astype(np.uint8) * np.uint8(2)
    for n in (1, 7, 300):
        assert warned(lambda a: share(a, np.zeros_like(a)), x[:n]) == []
        assert warned(lambda a: quotient(a, 2), x[:n].astype(np.int64)) == []
        assert len(warned(lambda a: quotient(a - 1, 2), x[:n].astype(np.int64))) == 1
        assert warned(inverse, x[:n].astype(np.float64)) == []
        assert warned(lambda a: inverse(a * np.inf + np.inf), x[:n].astype(np.float64)) == warned(
            lambda a: 1 / (1 / (a * np.inf + np.inf)), x[:n].astype(np.float64)
        )


@pytest.mark.parametrize("size", [1, 17, 1000])
@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_warnings_are_numpys(target, size):
    functions = [
        (lambda x: np.exp(x), np.exp),
        (lambda x: np.sin(x), np.sin),
        (lambda x: np.cosh(x), np.cosh),
        (lambda x: np.log(x), np.log),
        (lambda x: np.sqrt(x), np.sqrt),
        (lambda x: x * 1e300, lambda x: x * 1e300),
        (lambda x: x if x < 1 else x + 1, lambda x: np.where(x < 1, x, x + 1)),
    ]
    for f, numpys in functions:
        u = lh.vectorize(["float64(float64)"], target=target)(f)
        for value in [0.0, -1.0, 1000.0, 1e300, np.inf, -np.inf, np.nan]:
            x = np.full(size, 0.5)
            x[size // 2] = value
            assert warned(u, x) == warned(numpys, x), (numpys, value)
    is_less = lh.vectorize(["bool(float32)"], target=target)(lambda x: x < 1)
    assert warned(is_less, np.full(size, np.nan, np.float32)) == []
    both = lh.vectorize(["complex128(complex128)"], target=target)(lambda z: z * z)
    assert warned(both, np.full(size, complex(0, np.nan))) == []
    assert "overflow" in warned(both, np.full(size, 1e200 + 0j))


def test_elements_of_outputs_that_are_not_stored_to_stay():
    """Also those of an output that NumPy converts for the loop."""

    @lh.guvectorize(["(float64[:], uint8[:])"], "(n)->(n)")
    def every_fourth(x, out):
        for i in range(0, x.size, 4):
            out[i] = 1

    for dtype in (np.uint8, np.int8, np.int64):
        out = np.full((10, 5), 3, dtype)
        every_fourth(np.ones((10, 5)), out)
        assert out.tolist() == [[1, 3, 3, 3, 1]] * 10
    assert every_fourth(np.ones((2, 5))).shape == (2, 5)


def test_lazy_ones_grow():
    @lh.vectorize
    def double(x):
        return x * 2

    assert double.ntypes == 0
    assert double(3).dtype == np.int64 and double.types == ["l->l"]
    assert double(np.ones(2)).dtype == np.float64 and double.types == ["l->l", "d->d"]
    double.disable_compile()
    with pytest.raises(TypeError):
        double(1j)


@pytest.mark.parametrize("fails", [False, True])
def test_a_loop_is_compiled_while_numpy_is_detached(fails):
    """NumPy lets go of the interpreter for large loops, also where a call of ours has led to it."""

    @lh.guvectorize("(n),(m)->(m)")
    def pick(x, at, found):
        for i in range(len(at)):
            if fails:
                raise KeyError("picked")
            found[i] = x[at[i]]

    x = np.random.default_rng(0).normal(size=(40, 60, 60))
    at, found = np.arange(0, 40, 2), np.empty((60, 60, 20))
    if fails:
        with pytest.raises(KeyError, match="picked"):
            pick(x.swapaxes(-1, 0), at, found)
    else:
        pick(x.swapaxes(-1, 0), at, found)
        assert np.array_equal(found, x[::2].swapaxes(-1, 0))


def test_pickling():
    for u in (add, growing):
        assert pickle.loads(pickle.dumps(u)) is u
    assert pickle.loads(pickle.dumps(np.add)) is np.add


@lh.guvectorize(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@lh.guvectorize(["void(float64[:], float64[:])", "void(int64[:], int64[:])"], "(n)->()")
def total(a, out):
    s = a[0] - a[0]
    for x in a:
        s += x
    out[0] = s


def test_generalised():
    a, b = np.random.default_rng(1).random((5, 3, 4)), np.random.default_rng(2).random((4, 2))
    np.testing.assert_allclose(matmul(a, b), a @ b)
    np.testing.assert_allclose(matmul(a.transpose(0, 2, 1), a), a.transpose(0, 2, 1) @ a)
    assert matmul.signature == "(m,n),(n,p)->(m,p)"
    assert total.types == ["d->d", "l->l"]
    np.testing.assert_allclose(total(a, axis=0), a.sum(axis=0))
    np.testing.assert_allclose(total(a, keepdims=True), a.sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(total(a[:, :, ::-2]), a[:, :, ::-2].sum(axis=-1))
    assert total([1, 2, 3]) == 6


def test_core_dimensions_have_to_fit():
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        matmul(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError):
        total(np.ones((3, 4)), out=np.ones(5))


@pytest.mark.parametrize("layout", ["m,n", "(n)->(m)", "(n->()", "(n),->()", "n->()", "(n)->()->()", "(a-b)->()", "->"])
def test_wrong_layouts(layout):
    def f(a, b):
        b[0] = a[0]

    with pytest.raises(ValueError):
        lh.guvectorize(["void(float64[:], float64[:])"], layout)(f)


def test_wrong_signatures():
    def f(a, b):
        b[0] = a[0]

    with pytest.raises(TypeError):
        lh.guvectorize(["void(float64[:, :], float64[:])"], "(n)->()")(f)
    with pytest.raises(TypeError):
        lh.guvectorize(["float64(float64[:], float64[:])"], "(n)->()")(f)
    with pytest.raises(TypeError):
        lh.guvectorize(["void(float64[:], float64)"], "(n)->()")(f)
    with pytest.raises(TypeError):
        lh.vectorize(["float64(float64)"])(f)
    with pytest.raises(ValueError):
        lh.vectorize(["float64(float64, float64)"], identity=2)(f)
    with pytest.raises(ValueError):
        lh.vectorize(["float64(float64, float64)"], target="nowhere")(f)


def test_inputs_that_are_written():
    @lh.guvectorize(["void(float64[:], float64[:])"], "(n),(n)", writable_args=("x",))
    def swap(x, y):
        for i in range(x.shape[0]):
            x[i] = y[i]

    a = np.zeros((2, 3))
    swap(a, np.ones(3))
    assert (a == 1).all()


CACHED = """
import numpy as np, lancehead as lh

@lh.vectorize(["float64(float64, float64)"], cache=True)
def f(x, y):
    return x + y

@lh.guvectorize(["void(float64[:], float64[:])"], "(n)->()", cache=True)
def total(a, out):
    out[0] = a[0] + a[-1]

@lh.stencil
def pair(a):
    return a[-1] + a[0]

@lh.njit(cache=True)
def run(a):
    return pair(a) + f(a, a)

print(f(1, 2), total(np.ones(3)), run(np.ones(2)).tolist(), sum(run.stats.cache_hits.values()))
"""


def test_caching(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CACHED)
    told = [
        subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    assert told == ["3.0 2.0 [2.0, 4.0] 0\n", "3.0 2.0 [2.0, 4.0] 1\n"]
    kept = {p.name.split(".")[1].split("-")[0] for p in (tmp_path / "__pycache__").glob("*.nbc")}
    assert kept == {"f", "total", "run"}


def test_outputs_that_cannot_be_written():
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for call in (
        lambda: plus(np.ones(3), 1.0, frozen),
        lambda: plus(np.ones(3), 1.0, out=frozen),
        lambda: growing(np.ones(3), 1.0, out=frozen),
    ):
        with pytest.raises(ValueError, match="read-only"):
            call()
    small = np.zeros(())
    small.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        total(np.ones(3), small)
    with pytest.raises(ValueError, match="broadcast|shape"):
        plus(np.ones(3), 1.0, out=np.zeros(4))
    with pytest.raises(TypeError, match="same_kind"):
        plus(np.ones(3), 1.0, out=np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="array"):
        plus(np.ones(3), 1.0, out=[0.0, 0.0, 0.0])
    assert not frozen.any() and not small


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_generalised_outputs_over_inputs(shift):
    a = np.arange(24.0).reshape(6, 4)
    want = a[1:5].sum(axis=1)
    flat = a.reshape(24)
    total(a[1:5], flat[4 + shift : 8 + shift])
    np.testing.assert_array_equal(flat[4 + shift : 8 + shift], want)
