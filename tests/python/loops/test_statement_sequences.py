"""Functions of many statements on slices: fusion across checks of indices, outlined nests, and their exceptions."""

import numpy as np
import pytest

from lancehead import njit


def boundary(u, un, vn, dt, dx):
    u[1:-1, -1] = un[1:-1, -1] - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2]) + vn[2:, -1] - vn[:-2, -1]
    u[1:-1, 0] = un[1:-1, 0] - un[1:-1, 0] * dt / dx * (un[1:-1, 0] - un[1:-1, -1]) + vn[2:, 0] - vn[:-2, 0]
    u[0, :] = u[1, :] * 2 - u[2, :]
    u[-1, :] = 0
    u[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] - vn[1:-1, :-2] * dt
    u[1:, 1:] = u[:-1, :-1] * 0.5 + u[1:, 1:]
    u[:, ::2] = u[:, ::-2] + un[:, ::2]
    u[::-1] = u * 0.25
    vn[1:-1, 1:-1] += (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx) + (un[1:-1, 2:] - un[1:-1, :-2]) / (2 * dx)
    vn[:, -1] = vn[:, 0] + u[:, 1] - un[:, 2]
    return u.sum() + vn.sum()


def arguments(dtype, shape, order):
    rng = np.random.default_rng(7)
    arrays = [np.asarray((rng.random(shape) * 8).astype(dtype), order=order) for _ in range(3)]
    return [*arrays, dtype(1) / dtype(4) if np.dtype(dtype).kind == "f" else dtype(2), dtype(2)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_function_of_many_statements(dtype, order):
    f = njit(boundary)
    for shape in [(5, 5), (9, 9), (41, 41), (3, 3), (17, 3)]:
        ours, theirs = arguments(dtype, shape, order), arguments(dtype, shape, order)
        got, want = f(*ours), boundary(*theirs)
        np.testing.assert_allclose(got, want, rtol=2e-4 if dtype in (np.float32, np.complex64) else 1e-12)
        for a, b in zip(ours[:3], theirs[:3], strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4 if dtype in (np.float32, np.complex64) else 1e-12)


def test_views_of_one_array_as_arguments():
    f = njit(boundary)
    ours, theirs = np.linspace(0, 1, 144).reshape(12, 12), np.linspace(0, 1, 144).reshape(12, 12)
    f(ours[2:], ours[1:-1], ours[:-2], 0.5, 2.0)
    boundary(theirs[2:], theirs[1:-1], theirs[:-2], 0.5, 2.0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


ITEMS = ["?", "i1", "u2", "f2", "i4", "f4", "i8", "f8", "c8", "c16", "M8[s]", "S3", "U5", "i4,f8"]


@pytest.mark.parametrize("item", ITEMS)
def test_overlapping_copies_of_all_items(item):
    @njit
    def shift(a):
        a[1:] = a[:-1]

    @njit
    def shift_columns(a):
        a[:, 2:] = a[:, :-2]

    raw = np.random.default_rng(3).integers(0, 127, (6, 8, np.dtype(item).itemsize), dtype=np.uint8)
    if item == "?":
        raw %= 2
    if item == "U5":
        raw = np.arange(48, dtype=np.uint8).reshape(6, 8, 1).repeat(20, axis=2)
        raw[..., 1::4] = raw[..., 2::4] = raw[..., 3::4] = 0
    for view in [np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[::2, ::-1]]:
        for f, g in [(shift, shift.py_func), (shift_columns, shift_columns.py_func)]:
            ours, theirs = (np.ascontiguousarray(raw).view(item)[..., 0].copy() for _ in range(2))
            f(ours[view])
            g(theirs[view])
            assert ours.tobytes() == theirs.tobytes()
    column, copy = (np.ascontiguousarray(raw).view(item)[..., 0].copy() for _ in range(2))
    shift(column[:, 3])
    shift.py_func(copy[:, 3])
    assert column.tobytes() == copy.tobytes()


def test_exceptions_keep_their_order():
    @njit
    def both(a, b, c, i):
        return (a + b) * c[:, i]

    a, c = np.ones(4), np.ones((4, 2))
    np.testing.assert_array_equal(both(a, a, c, 1), both.py_func(a, a, c, 1))
    with pytest.raises(ValueError, match="broadcast"):
        both(a, np.ones(3), c, 5)
    with pytest.raises(IndexError):
        both(a, a, c, 5)
    with pytest.raises(ValueError, match="broadcast"):
        both(a, np.ones(3), c, 1)


def test_an_unused_computation_still_compares_shapes():
    @njit
    def compute(a, b):
        a + b
        return 1

    assert compute(np.ones(3), np.ones(1)) == 1
    with pytest.raises(ValueError, match="broadcast"):
        compute(np.ones(3), np.ones(4))


def test_an_unused_division_still_raises():
    @njit
    def divide(a, i):
        x = a // i
        return a.size if i > 5 else x.size

    assert divide(np.arange(3), 2) == 3
    assert divide(np.arange(3), 7) == 3


def test_a_computation_moves_behind_a_branch_but_not_over_a_store():
    @njit
    def choose(a, b, way):
        t = a * b + a
        if way:
            return t - b
        a[:] = 0
        return t

    for way in (True, False):
        a, b = np.arange(5.0), np.arange(5.0) + 2
        a2 = a.copy()
        np.testing.assert_array_equal(choose(a, b, way), choose.py_func(a2, b, way))
        np.testing.assert_array_equal(a, a2)


def test_handlers_around_statements():
    @njit
    def guarded(a, b, i):
        out = np.zeros(4)
        try:
            out[:] = a + b * a[i]
            out[1:] = out[:-1] + b[1:]
        except IndexError:
            out[:] = -1
        except ValueError:
            out[:] = -2
        a[1:] = a[:-1] * 2
        b[:] = b[::-1] + a
        a[:] = a * b - out
        return out

    for b, i in [(np.ones(4), 2), (np.ones(4), 9), (np.ones(3), 1)]:
        a, a2, b2 = np.arange(4.0), np.arange(4.0), b.copy()
        if b.size == 3:
            with pytest.raises(ValueError):
                guarded(a, b, i)
            with pytest.raises(ValueError):
                guarded.py_func(a2, b2, i)
        else:
            np.testing.assert_array_equal(guarded(a, b, i), guarded.py_func(a2, b2, i))
        np.testing.assert_array_equal(a, a2)
        np.testing.assert_array_equal(b, b2)


def test_texts_of_exceptions_that_are_compiled_when_they_are_raised():
    @njit
    def refuse(kind, values):
        if kind == 1:
            raise ValueError(f"{len(values)} values: {[v * 2 for v in values]}")
        if kind == 2:
            raise KeyError("key " + str(kind), values[0])
        return sum(values)

    assert refuse(0, [1, 2]) == 3
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^2 values: \[2, 4\]$"):
            refuse(1, [1, 2])
        with pytest.raises(KeyError) as e:
            refuse(2, [5])
        assert e.value.args == ("key 2", 5)
        assert e.traceback[-1].lineno + 1 == refuse.py_func.__code__.co_firstlineno + 5
