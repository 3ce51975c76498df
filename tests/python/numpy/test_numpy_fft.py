"""Fourier transforms: the answers of NumPy, over types, lengths, axes, norms and layouts."""

import numpy as np
import pytest

import lancehead as lh

DTYPES = ["?", "u1", "i8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(1,), (2,), (7,), (16,), (97,), (3, 8), (0, 6)]


def make(dtype, shape):
    random = np.random.default_rng(2)
    a = random.normal(size=shape) * 5
    return (a + 1j * random.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


def views(a):
    yield a
    yield a[::-1, ..., ::-2] if a.ndim > 1 else a[::-2]


def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    near = 1e-4 if want.dtype.char in "fF" else 1e-11
    np.testing.assert_allclose(got, want, rtol=near, atol=near * (1 + np.abs(want).max(initial=0)))


def both(function, *arguments):
    return lh.njit(function)(*arguments), function(*arguments)


COMPLEX = {
    "fft": lambda a: np.fft.fft(a),
    "fft_more": lambda a: np.fft.fft(a, n=11, axis=0, norm="forward"),
    "fft_less": lambda a: np.fft.fft(a, n=1, norm="ortho"),
    "ifft": lambda a: np.fft.ifft(a),
    "ifft_axis": lambda a: np.fft.ifft(a, axis=0, norm="ortho"),
    "fftn": lambda a: np.fft.fftn(a),
    "ifftn": lambda a: np.fft.ifftn(a, axes=(-1,), norm="forward"),
    "irfft": lambda a: np.fft.irfft(a, n=5),
    "irfft_even": lambda a: np.fft.irfft(a, n=10, axis=0, norm="ortho"),
    "hfft": lambda a: np.fft.hfft(a, n=9, norm="ortho"),
    "irfftn": lambda a: np.fft.irfftn(a, s=(6,), axes=(0,)),
    "fftshift": lambda a: np.fft.fftshift(a),
    "ifftshift": lambda a: np.fft.ifftshift(a, axes=-1),
}
REAL = {
    "rfft": lambda a: np.fft.rfft(a),
    "rfft_more": lambda a: np.fft.rfft(a, n=12, axis=0, norm="ortho"),
    "ihfft": lambda a: np.fft.ihfft(a, norm="forward"),
    "rfftn": lambda a: np.fft.rfftn(a),
}
PLANE = {
    "fft2": lambda a: np.fft.fft2(a, s=(3, 5)),
    "ifft2": lambda a: np.fft.ifft2(a, axes=(1, 0)),
    "rfft2": lambda a: np.fft.rfft2(a.real, norm="ortho"),
    "irfft2": lambda a: np.fft.irfft2(a, s=(4, 6)),
    "fftshift": lambda a: np.fft.fftshift(a, axes=(0, 1)),
}
CASES = [*COMPLEX.items(), *REAL.items(), *PLANE.items()]


def takes(name, function, a):
    if name in REAL and function is REAL[name] and a.dtype.kind == "c":
        return False
    return not (name in PLANE and function is PLANE[name] and a.ndim < 2)


@pytest.mark.parametrize("name, function", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_as_numpy(name, function):
    compiled = lh.njit(function)
    for dtype in DTYPES if name in ("fft", "rfft") else ["f4" if function in REAL.values() else "c16"]:
        for shape in SHAPES if name != "fftn" else [*SHAPES, (4, 1, 5)]:
            for a in views(make(dtype, shape)):
                if not takes(name, function, a):
                    continue
                try:
                    want = function(a)
                except ValueError as error:
                    with pytest.raises(ValueError, match=str(error).replace("(", r"\(").replace(")", r"\)")):
                        compiled(a)
                    continue
                same(compiled(a), want)


def test_long_lines_of_threads():
    a = make("c16", (64, 4096))
    for function in (lambda a: np.fft.fft(a), lambda a: np.fft.ifft(a, axis=0), lambda a: np.fft.rfft(a.real)):
        same(*both(function, a))


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_frequencies(n):
    if n > 0:
        same(*both(lambda n: np.fft.fftfreq(n, 0.5), n))
        same(*both(lambda n: np.fft.rfftfreq(n), n))


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda a: np.fft.fft(a, n=0), ValueError),
        (lambda a: np.fft.fft(a, norm="none"), ValueError),
        (lambda a: np.fft.fftn(a, s=(2, 3), axes=(0,)), ValueError),
        (lambda a: np.fft.irfft(a[:1]), ValueError),
    ],
)
def test_errors_are_numpys(function, error):
    a = np.ones(4)
    with pytest.raises(error) as want:
        function(a)
    with pytest.raises(error) as got:
        lh.njit(function)(a)
    assert str(got.value) == str(want.value)


def test_kernels_have_sums():
    @lh.cuda.jit
    def kernel(a, out):
        z = np.fft.fft(a)
        for i in range(z.size):
            out[i] = z[i]

    a, out = make("c16", (6,)), np.zeros(6, "c16")
    kernel[1, 1](a, out)
    same(out, np.fft.fft(a))


def test_axes_out_of_bounds():
    # NumPy itself raises the plain IndexError of a look-up in the shape.
    with pytest.raises(np.exceptions.AxisError):
        lh.njit(lambda a: np.fft.fft(a, axis=3))(np.ones(4))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "rfftn", "irfft2", "ifftn"])
def test_out(name):
    space = {"np": np}
    exec(f"def f(a, out): return np.fft.{name}(a, out=out)\ndef plain(a): return np.fft.{name}(a)", space)
    compiled = lh.njit(space["f"])
    a = make("f8" if name in ("rfft", "ihfft", "rfftn") else "c16", (4, 6))
    want = space["plain"](a)
    # NumPy's `hfft`, `ifft2` and `irfft2` do not pass the array on.
    for out in (np.zeros_like(want), np.zeros_like(want.T).T, np.zeros((8, *want.shape[1:]), want.dtype)[::2]):
        assert compiled(a, out) is out
        same(out, want)
    narrow = np.zeros(want.shape, "f4" if want.dtype.kind == "f" else "c8")
    np.testing.assert_allclose(compiled(a, narrow), want, rtol=1e-5, atol=1e-5)
    for shape in ((4, want.shape[1] + 1), (1, *want.shape)):
        with pytest.raises(ValueError, match="output array has wrong shape"):
            compiled(a, np.zeros(shape, want.dtype))
    with pytest.raises(lh.TypingError, match="is not cast"):
        compiled(a, np.zeros(want.shape, "i8"))
