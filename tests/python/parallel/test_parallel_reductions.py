"""NumPy's reductions over whole arrays under `parallel=True`."""

import os

import numpy as np
import pytest

from lancehead import get_num_threads, njit, prange, set_num_threads

BIG = 300_001
REDUCTIONS = {
    "sum": lambda a: np.sum(a),
    "prod": lambda a: np.prod(a),
    "min": lambda a: a.min(),
    "max": lambda a: np.max(a),
    "mean": lambda a: a.mean(),
    "std": lambda a: np.std(a),
    "all": lambda a: np.all(a),
    "any": lambda a: np.any(a),
    "nansum": lambda a: np.nansum(a),
    "nanmax": lambda a: np.nanmax(a),
}
ARRAYS = {
    "float64": np.random.default_rng(1).normal(1.0, 1e-3, BIG),
    "float32": np.random.default_rng(2).normal(1.0, 1e-3, BIG).astype(np.float32),
    "int32": np.random.default_rng(3).integers(-9, 9, BIG, dtype=np.int32),
    "bool": np.random.default_rng(4).integers(0, 2, BIG).astype(bool),
    "complex128": np.random.default_rng(5).normal(1.0, 1e-3, BIG) * (1 + 1e-6j),
    "matrix": np.random.default_rng(6).normal(1.0, 1e-3, (600, 500)),
    "fortran": np.asfortranarray(np.random.default_rng(7).normal(1.0, 1e-3, (600, 500))),
    "strided": np.random.default_rng(8).normal(1.0, 1e-3, 2 * BIG)[::2],
    "columns": np.random.default_rng(9).normal(1.0, 1e-3, (600, 1000))[:, ::2],
    "backwards": np.random.default_rng(10).normal(1.0, 1e-3, BIG)[::-1],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_it_gives_what_numpy_gives(name):
    parallel, serial = njit(REDUCTIONS[name], parallel=True), njit(REDUCTIONS[name])
    for kind, a in ARRAYS.items():
        if kind == "complex128" and name in ("std", "nanmax", "nansum"):
            continue
        close = 1e-4 if kind == "float32" else 1e-12  # the order of products differs
        for x in (a, a[:100]):
            np.testing.assert_allclose(parallel(x), REDUCTIONS[name](x), rtol=close, err_msg=kind)
            assert type(parallel(x)) is type(serial(x))


def along(name, axis):
    names = {"np": np, "axis": axis}
    exec(f"def f(a):\n    return np.{name}(a, axis={axis})", names)
    return names["f"]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "all", "argmin", "argmax", "count_nonzero"])
def test_along_an_axis(name):
    rng = np.random.default_rng(12)
    shapes = {2: [(600, 700), (3, 150_001), (150_001, 3)], 3: [(20, 30, 700), (2, 100_003, 2)]}
    most = get_num_threads()
    for rank, all_of_rank in shapes.items():
        for axis in range(rank):
            function = along(name, axis)
            parallel = njit(parallel=True)(function)
            for shape in all_of_rank:
                a = np.round(rng.normal(1.0, 1e-3, shape), 4)
                for x in (a, np.asfortranarray(a)):
                    got = []
                    for threads in range(1, most + 1):
                        set_num_threads(threads)
                        got.append(parallel(x))
                    np.testing.assert_allclose(got[0], function(x), rtol=1e-9, err_msg=f"{shape} {axis}")
                    assert got[0].dtype == function(x).dtype
                    assert all(np.array_equal(g, got[0]) for g in got)


def test_the_first_extreme_and_not_a_number():
    least, greatest = njit(np_argmin, parallel=True), njit(np_argmax, parallel=True)
    a = np.random.default_rng(13).integers(-50, 50, BIG)
    for x in (a, a.astype(np.float32), a[::-1], a > 0, a + 1j * a[::-1], a.astype(float) * 0.0):
        assert (least(x), greatest(x)) == (np.argmin(x), np.argmax(x))
    b = a.astype(float)
    b[[BIG - 5, 200_000, 200_001]] = np.nan
    assert (least(b), greatest(b)) == (200_000, 200_000)
    b[3] = np.nan
    assert (least(b), greatest(b)) == (3, 3)


def np_argmin(a):
    return np.argmin(a)


def np_argmax(a):
    return a.argmax()


def test_blocks_are_the_same_for_any_number_of_threads():
    f = njit(lambda a: a.sum(), parallel=True)
    a = np.random.default_rng(0).normal(size=BIG)
    found = set()
    try:
        for n in (1, 2):
            set_num_threads(min(n, os.cpu_count()))
            found.add(f(a))
    finally:
        set_num_threads(os.cpu_count())
    assert len(found) == 1


def test_nan_wins_in_whichever_block_it_is():
    f = njit(lambda a: (a.min(), a.max(), a.sum()), parallel=True)
    for at in (0, 16384, BIG // 2, BIG - 1):
        a = np.ones(BIG)
        a[at] = np.nan
        assert np.isnan(f(a)).all()


def test_empty_arrays_raise_as_before():
    f = njit(lambda a: a.max(), parallel=True)
    with pytest.raises(ValueError, match="zero-size array"):
        f(np.zeros(0))


def test_inside_a_parallel_loop_and_in_its_report(capsys):
    @njit(parallel=True)
    def rows(a):
        out = np.empty(a.shape[0])
        for i in prange(a.shape[0]):
            out[i] = a[i].sum()
        return out, a.sum()

    a = np.random.default_rng(0).normal(size=(4, 100_000))
    out, total = rows(a)
    np.testing.assert_allclose(out, a.sum(axis=1))
    np.testing.assert_allclose(total, a.sum())
    rows.parallel_diagnostics()
    assert "sum: runs in parallel" in capsys.readouterr().out


def test_the_option_turns_it_off(capsys):
    f = njit(lambda a: a.sum(), parallel={"reduction": False})
    f(np.ones(BIG))
    f.parallel_diagnostics()
    assert "runs in parallel" not in capsys.readouterr().out


def squares(a):
    s = 1.0
    for i in prange(len(a)):
        s += a[i] * a[i]
    return s


def differences(a):
    s = 1.0
    for i in prange(len(a)):
        s -= a[i]
    return s


def products(a):
    s = 1.0
    for i in prange(len(a)):
        s *= a[i]
    return s


@pytest.mark.parametrize("function", [squares, differences, products])
def test_floats_of_a_block_are_combined_in_vectors(function) -> None:
    a = np.random.default_rng(3).uniform(0.99, 1.01, 100_003)
    f = njit(parallel=True)(function)
    got = f(a)
    assert any("x double>" in text for text in f.inspect_llvm().values())
    assert got == pytest.approx(function(a), rel=1e-11)
    assert all(f(a) == got for _ in range(20))


@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize(
    "text", ["v and True", "v and False", "v or True", "v or False", "True and v", "v and n > 0", "v or n < 0"]
)
def test_truth_values_that_stay_what_they_are(text, start):
    space = {"prange": prange}
    exec(f"def f(n):\n    v = {start}\n    for i in prange(n):\n        v = {text}\n    return v\n", space)
    for n in (0, 1, 1000):
        assert njit(parallel=True)(space["f"])(n) is space["f"](n)
