"""Lazy arrays on `cuda:0`, for which the CPU device stands in: the cases of the host, transfers, kernels, their PTX."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import test_xp as arrays
import test_xp_bad_input as bad_input
import test_xp_primitives as primitives
from lancehead import cuda, xp
from lancehead.errors import TypingError
from lancehead.xp import device_loops, device_regions, devices
from lancehead.xp.kernels import how
from lancehead.xp.rows import How

DEVICE = "cuda:0"

#: Cases of the host that run on the device as they are.
CASES: dict[Callable[..., None], tuple[tuple[Any, ...], ...]] = {
    arrays.test_numbers_are_told_apart: ((),),
    arrays.test_reductions: (("sum",), ("max",)),
    arrays.test_reductions_of_nothing: ((),),
    arrays.test_shapes: ((),),
    arrays.test_operators_in_place: ((),),
    arrays.test_views_alias: ((),),
    arrays.test_indexing: ((),),
    arrays.test_programs: ((3,), (6,)),
    primitives.test_functions_capture_numbers_tuples_and_arrays: ((),),
    primitives.test_reductions_do_not_need_commutative_operators: ((),),
    primitives.test_scans_along_axes: ((),),
    primitives.test_gather_and_scatter: (("complex64",),),
    primitives.test_gather_and_scatter_rows_and_errors: ((),),
    primitives.test_orders_are_those_of_numpy: (("float32",),),
    primitives.test_stencils: (("mirror",),),
    primitives.test_tuples_of_tuples: ((),),
    primitives.test_neighbours_and_pairs_give_tuples: ((),),
    primitives.test_half_floats_have_the_order_of_floats: ((),),
}


pytestmark = pytest.mark.usefixtures("by_kernels")


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(devices, "_default", devices.as_device(DEVICE))
    yield


@pytest.mark.parametrize("kernels", (False, True))
@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("on_device")
def test_cases_of_the_host(case: Callable[..., None], kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "KERNELS", kernels)
    assert xp.ones(1).device == DEVICE
    for arguments in CASES[case]:
        case(*arguments)


def there(a: Any) -> xp.ndarray:
    return xp.asarray(a, device=DEVICE)


def computed(*wanted: xp.ndarray) -> list[np.ndarray]:
    """The values of arrays that are computed at once."""
    device_regions.compute([x.node() for x in wanted])
    return [x.numpy() for x in wanted]


# --- facts ------------------------------------------------------------------------------------------------------------
def test_names() -> None:
    info = xp.__array_namespace_info__()
    assert info.devices() == ["cpu", DEVICE] and info.default_device() == "cpu"
    assert xp.ones(1).device is devices.CPU and str(there([1]).device) == DEVICE
    for wrong in ("cuda:7", "gpu", "cuda:x", 3):
        with pytest.raises(ValueError, match="there is no device .*'cpu', 'cuda:0'"):
            xp.zeros(1, device=wrong)
    x = there([1.0, 2.0])
    assert x.to_device(DEVICE) is x and x.to_device(x.device) is x
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)


def test_creation() -> None:
    x = there([[1, 2], [3, 4]])
    for made, expected in (
        (xp.zeros((2, 3), device=DEVICE), np.zeros((2, 3))),
        (xp.ones(2, dtype=xp.int8, device=DEVICE), np.ones(2, np.int8)),
        (xp.full(2, 7, device=DEVICE), np.full(2, 7)),
        (xp.arange(5, device=DEVICE), np.arange(5)),
        (xp.linspace(0.0, 1.0, 5, device=DEVICE), np.linspace(0, 1, 5)),
        (xp.eye(3, k=1, device=DEVICE), np.eye(3, k=1)),
        (xp.zeros_like(x), np.zeros((2, 2), int)),
        (xp.full_like(x, 9), np.full((2, 2), 9)),
        (xp.tril(x), np.tril([[1, 2], [3, 4]])),
        (xp.meshgrid(x[0], x[1])[0], np.meshgrid([1, 2], [3, 4])[0]),
        (xp.counting(4, 2, device=DEVICE), np.arange(2, 6)),
        (xp.fft.fftfreq(4, device=DEVICE), np.fft.fftfreq(4)),
        (xp.astype(xp.ones(2), xp.int32, device=DEVICE), np.ones(2, np.int32)),
        (xp.asarray(np.arange(6).reshape(2, 3).T, device=DEVICE), np.arange(6).reshape(2, 3).T),
    ):
        assert made.device == DEVICE
        arrays.same(made, expected)
    assert xp.ones_like(x, device="cpu").device == "cpu"
    with pytest.raises(ValueError, match="copied"):
        xp.asarray(np.ones(2), device=DEVICE, copy=False)


def test_devices_do_not_mix() -> None:
    x, y = xp.asarray([1.0, 2.0]), there([3.0, 4.0])
    for wrong in (
        lambda: x + y,
        lambda: xp.where(y > 0, x, 1.0),
        lambda: xp.concat([x, y]),
        lambda: x @ y,
        lambda: operator.setitem(x, 0, y[0]),
        lambda: operator.setitem(y, slice(None), x),
        lambda: operator.iadd(y, x),
        lambda: xp.map(lambda a, b: a + b, x, y),
        lambda: xp.take(x, xp.asarray([0], device=DEVICE)),
    ):
        with pytest.raises(ValueError, match="'cpu'.*'cuda:0'|'cuda:0'.*'cpu'"):
            wrong()
    arrays.same(y * 2 - 1.5, [4.5, 6.5])
    y[0] = 9
    y[:] = y * 2.0
    arrays.same(y, [18.0, 8.0])


def test_transfers_are_operations() -> None:
    x = xp.asarray(np.arange(5.0))
    y = (x * 2.0).to_device(DEVICE)
    z = xp.sum((y + 1.0).to_device("cpu") * x)
    assert y.node().value is None and z.node().value is None and (y.device, z.device) == (DEVICE, "cpu")
    assert float(z) == np.sum((np.arange(5.0) * 2 + 1) * np.arange(5.0))
    y[0] = 7.0
    assert float(y[0]) == 7.0 and float(x[0]) == 0.0
    assert [x.shape, xp.zeros((0, 3)).to_device(DEVICE).numpy().shape] == [(5,), (0, 3)]


def test_memory_is_shared_with_others() -> None:
    x = there([[1.0, 2.0], [3.0, 4.0]])
    facts = x.__cuda_array_interface__
    assert (facts["shape"], facts["typestr"], facts["version"]) == ((2, 2), "<f8", 3)
    np.testing.assert_array_equal(cuda.as_cuda_array(x).copy_to_host(), x.numpy())
    with pytest.raises(AttributeError):
        _ = xp.ones(1).__cuda_array_interface__
    other = cuda.to_device(np.arange(6.0).reshape(2, 3))
    copied, shared = xp.asarray(other), xp.asarray(other, copy=False)
    other[0] = 9.0
    assert copied.device == shared.device == DEVICE
    arrays.same(copied, np.arange(6.0).reshape(2, 3))
    arrays.same(shared[0], [9.0] * 3)
    arrays.same(xp.asarray(other, device="cpu", dtype=xp.float32)[1], np.arange(3, 6, dtype=np.float32))
    arrays.same(xp.from_dlpack(x), x.numpy())
    arrays.same(xp.from_dlpack(x, device="cpu"), x.numpy())
    assert x.__dlpack_device__() == cuda.as_cuda_array(x).__dlpack_device__()
    value = np.array(x)
    value[:] = 0.0
    assert float(xp.sum(x)) == 10.0 and bool(x[0, 0] == 1.0) and "1." in repr(x)


# --- kernels ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", arrays.SMALL)
@np.errstate(all="ignore")
def test_functions_of_elements(dtype: str) -> None:
    a, b = arrays.values(dtype, (3, 4)), arrays.values(dtype, (4,), 9)
    x, y = there(a), there(b)
    wanted, expected = [], []
    for name in arrays.UNARY + arrays.BINARY:
        # Of integers some have no value for all numbers.
        if name in ("pow", "bitwise_left_shift", "bitwise_right_shift", "reciprocal") and a.dtype.kind in "iu":
            continue
        operands = (x,) if name in arrays.UNARY else (x, y)
        try:
            wanted.append(getattr(xp, name)(*operands))
        except TypeError:
            continue
        oracle = getattr(np, arrays.numpy_name(name))
        is_same = name == "round" and a.dtype.kind in "iu"
        expected.append(a if is_same else oracle(a, b) if len(operands) == 2 else oracle(a))
    computed(*wanted)
    assert len(wanted) > 7
    for i, (found, value) in enumerate(zip(wanted, expected, strict=True)):
        arrays.same(found, value, i)


def steps(x: xp.ndarray) -> list[How]:
    return [step.kind for step in device_regions.steps_of(x.node())[3]]


def test_regions_are_few_kernels() -> None:
    a = np.linspace(0.0, 1.0, 12).reshape(3, 4)
    x = there(a)
    y = xp.where(x > 0.5, xp.exp(x[::-1]), xp.astype(xp.counting(4, device=DEVICE), xp.float64) * 2.0) + x[:, 1:2]
    y = xp.concat([y, x[:1] * 3.0]) - xp.reshape(x, (4, 3))[:, :1]
    assert steps(y) == [How.FUSED]
    assert steps(xp.sum(xp.exp(x) * x[::-1] - 1.0, axis=0)) == [How.REDUCED]
    z = xp.where(x > 0.5, xp.exp(x[::-1]), xp.astype(xp.counting(4, device=DEVICE), xp.float64) * 2.0) + x[:, :1]
    assert steps(z) == [How.FUSED]
    arrays.same(z, np.where(a > 0.5, np.exp(a[::-1]), np.arange(4) * 2.0) + a[:, :1])
    explained = xp.sum(x + x.T[0, 0], axis=1).explain()
    assert "cuda:0 in 1 steps" in explained.headline and "def lines(" in explained.kernels[0]
    assert "a reduction" in str(explained) and "<pre>" in explained._repr_html_()


def test_structures_are_compiled_once() -> None:
    def region(n: int) -> float:
        x = xp.asarray(np.arange(float(n)), device=DEVICE)
        return float(xp.sum(xp.sqrt(x[1:]) * 0.5 + x[:-1]))

    region(5)
    plans, kernels = len(device_regions._PLANS), len(device_loops._COMPILED)
    for n in (7, 100, 2500):
        a = np.arange(float(n))
        np.testing.assert_allclose(region(n), np.sum(np.sqrt(a[1:]) * 0.5 + a[:-1]))
    assert (len(device_regions._PLANS), len(device_loops._COMPILED)) == (plans, kernels)


def test_long_graphs_are_several_kernels() -> None:
    x, a = there(np.arange(8.0)), np.arange(8.0)
    for _ in range(60):
        x, a = x[::-1] * 0.5 + x, a[::-1] * 0.5 + a
    assert 2 < len(steps(x)) < 40
    arrays.same(x, a)


def plus(a: Any, b: Any) -> Any:
    return a + b


def times(a: Any, b: Any) -> Any:
    return a * b


def not_known(a: Any, b: Any) -> Any:
    """Addition that is not known to be commutative."""
    return np.maximum(a + b, b + a)


def on_both(made: Callable[[Any], xp.ndarray], *facts: Any) -> None:
    """Compares the bits of an array of either device."""
    expected, found = made("cpu"), made(DEVICE)
    assert (found.device, found.dtype, found.shape) == (DEVICE, expected.dtype, expected.shape), facts
    assert found.numpy().tobytes() == expected.numpy().tobytes(), (facts, found.numpy(), expected.numpy())


def normal(dtype: str, shape: Any) -> np.ndarray:
    rng = np.random.default_rng(11)
    a = 100 * rng.normal(size=shape)
    return (a + 100j * rng.normal(size=shape) if dtype == "complex64" else a).astype(dtype)


#: Around groups of four and of lanes, the kernels for short lines, spans, blocks, and many blocks.
LENGTHS = (
    *range(6), 16, 17, 63, 64, 65, 127, 128, 129, 191, 511, 512, 513, 1025, 4095, 4096, 4097, 4160, 4161, 20000, 270000
)  # fmt: skip


@pytest.mark.parametrize(
    ("op", "dtype"),
    ((plus, "float32"), (plus, "complex64"), (np.maximum, "int16"), (not_known, "float64"), (not_known, "int32")),
)
def test_primitives_have_the_bits_of_the_host(op: Any, dtype: str) -> None:
    whole, compiled = normal(dtype, LENGTHS[-1]), 0
    one = whole[5]
    for n in LENGTHS:
        x = {d: xp.asarray(whole[:n], device=d) for d in ("cpu", DEVICE)}
        if n:
            on_both(lambda d, x=x: xp.reduce(op, x[d], init=None), "reduce", n)
            on_both(lambda d, x=x: xp.scan(op, x[d]), "scan", n)
        on_both(lambda d, x=x: xp.reduce(op, x[d], init=one), "reduce with a value", n)
        on_both(lambda d, x=x: xp.scan(op, x[d], init=one), "scan with a value", n)
        on_both(lambda d, x=x: xp.scan(op, x[d], init=one, exclusive=True), "exclusive scan", n)
        compiled = compiled or (n == 5 and len(device_loops._COMPILED))
    assert len(device_loops._COMPILED) == compiled


@pytest.mark.parametrize("op", (plus, not_known))
def test_primitives_along_axes_have_the_bits_of_the_host(op: Any) -> None:
    shapes = (
        (3, 70),
        (2, 5000),
        (5000, 2),
        (9000, 300),
        (2, 513, 3),
        (1, 4200, 2),
        (600, 2, 65),
        (3, 200, 1),
        (0, 3),
        (3, 0),
    )
    for shape in shapes:
        a = normal("float64", shape)
        for axis, n in enumerate(shape):
            x = {d: xp.asarray(a, device=d) for d in ("cpu", DEVICE)}
            on_both(lambda d, x=x, k=axis: xp.reduce(op, x[d], init=0.5, axis=k), "reduce", shape, axis)
            if n and len(shape) == 2:
                on_both(lambda d, x=x, k=axis: xp.reduce(op, x[d], init=None, axis=k), "reduce", shape, axis)
                on_both(lambda d, x=x, k=axis: xp.reduce(op, x[d].T * 2.0, init=None, axis=k - 1), "view", shape, axis)
            on_both(lambda d, x=x, k=axis: xp.scan(op, x[d], axis=k), "scan", shape, axis)
    # Products are rounded before they are added.
    a, b = (xp.asarray(normal("float32", (7, 700)) + k) for k in range(2))
    on_both(lambda d: xp.inner(times, op, a.to_device(d), b.to_device(d), init=1.0))
    on_both(lambda d: xp.transform_reduce(times, op, None, a.to_device(d), b.to_device(d), axis=0))
    on_both(lambda d: xp.map(times, a.to_device(d), b.to_device(d)) + a.to_device(d) * b.to_device(d))


#: Around groups of eight, leaves, and parts of trees with leaves of different depths.
SUMS = (
    1, 2, 7, 8, 9, 127, 128, 129, 136, 137, 143, 257, 1000, 1025, 2055, 3584, 3585, 4097, 7169, 20001, 57345, 270000
)  # fmt: skip


@pytest.mark.parametrize("dtype", ("float16", "float32", "complex64"))
def test_sums_have_the_bits_of_the_host(dtype: str) -> None:
    whole = normal(dtype, SUMS[-1]) / np.array(100).astype(dtype)
    for n in SUMS:
        x = {d: xp.asarray(whole[:n], device=d) for d in ("cpu", DEVICE)}
        for name in ("sum", "mean") if dtype == "complex64" else ("sum", "mean", "var", "std", "prod"):
            f = getattr(xp, name)
            if n <= (2048 if name == "prod" else 2055 if dtype == "float16" else n):
                on_both(lambda d, x=x, f=f: f(x[d]), name, n)
    for n in (1, 512):
        on_both(lambda d, n=n: xp.cumulative_sum(xp.asarray(whole[:n], device=d)), "cumulative_sum", n)


@pytest.mark.parametrize("name", ("sum", "mean", "std", "prod"))
def test_sums_along_axes_have_the_bits_of_the_host(name: str) -> None:
    f = getattr(xp, name)
    for shape in ((3, 4001), (4001, 3), (2, 513, 3), (40, 2, 65), (4, 40, 1)):
        a = normal("float64", shape) / 100
        x = {d: xp.asarray(a, device=d) for d in ("cpu", DEVICE)}
        several = ((0, 1), (2, 0), (1, 2)) if len(shape) == 3 else ()
        for axis in (*range(len(shape)), *several):
            on_both(lambda d, x=x, k=axis: f(x[d], axis=k), shape, axis)
        on_both(lambda d, x=x: f(xp.flip(x[d], axis=-1)[..., ::2], axis=-1), "views", shape)
        on_both(lambda d, x=x: f(x[d] * x[d] + x[d] * 0.3, axis=-1), "products", shape)


@pytest.mark.parametrize("dtype", ("int32", "float64", "complex64"))
def test_products_of_matrices(dtype: str) -> None:
    rng = np.random.default_rng(2)

    def numbers(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, shape).astype(dtype)

    for one, other in (
        ((17, 33), (33, 20)),
        ((3, 1, 4, 5), (2, 5, 1)),
        ((4,), (4, 2)),
        ((2, 3), (3,)),
        ((2, 0), (0, 3)),
    ):
        a, b = numbers(*one), numbers(*other)
        arrays.same(there(a) @ there(b), a @ b)


def test_stores_in_place_and_copies() -> None:
    a = np.arange(6.0)
    x = there(a)
    old = x * 2.0
    y = x + 1.0
    y[::2] = 5.0
    y[1] = y[0] + y[3]
    x[0] = -1.0
    arrays.same(y, [5.0, 9.0, 5.0, 4.0, 5.0, 6.0])
    arrays.same(old, a * 2.0)
    arrays.same(x, [-1.0, *a[1:]])


def test_errors_come_with_the_value() -> None:
    x = there([1.0, 2.0])
    found = xp.take(x, there([0, 2]))
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        found.compute()
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.inv(there(np.zeros((2, 2)))).compute()


@pytest.mark.parametrize("make, error, text, name", bad_input.MAKERS)
@pytest.mark.usefixtures("on_device")
def test_errors_name_the_line_as_on_the_host(make: Any, error: Any, text: str, name: str) -> None:
    x = there(bad_input.X.numpy())
    for y in (make(x), (found := make(x * 1.0 + 0.0)) * 2 - found):
        with pytest.raises(error, match=text) as caught:
            y.compute()
        place = f"from {name} at {bad_input.__file__}:{make.__code__.co_firstlineno}"
        assert caught.value.__notes__ == [place]
        np.testing.assert_array_equal((x + 1.0).numpy(), bad_input.X.numpy() + 1.0)


def test_traced_functions() -> None:
    # An object of its own: lists would be part of what is recorded.
    calls = deque[Any]()

    @xp.trace
    def step(x: Any, v: Any) -> Any:
        calls.append(x.device)
        return x + v * 0.5, v - x * 0.5

    x, v = there([1.0, 2.0]), there([0.0, 0.0])
    for _ in range(3):
        x, v = step(x, v)
    arrays.same(x, [0.25, 0.5])
    arrays.same(step(xp.asarray([1.0, 2.0]), xp.asarray([0.0, 0.0]))[0], [1.0, 2.0])
    assert [str(d) for d in calls] == [DEVICE, "cpu"]

    @xp.trace
    def several(x: Any, y: Any) -> Any:
        values, counts = xp.top_k(x, 2)
        y[0] = xp.sum(values)
        return counts, xp.sort(x) + 0.5, y

    given = there([3.0, 1.0, 2.0]), there([0.0, 7.0])
    for k in range(2):
        places, line, y = several(given[0] + float(k), given[1])
        arrays.same(places, [0, 2])
        arrays.same(line, np.array([1.5, 2.5, 3.5]) + k)
        assert y is given[1] and y.numpy().tolist() == [5.0 + 2 * k, 7.0]
    with pytest.raises(TypeError, match="traced"):
        xp.trace(lambda x: x + float(xp.sum(x)))(given[0])
    with pytest.raises(TypeError, match="arguments"):
        xp.trace(lambda x: x + given[0])(given[0])


def test_kernels_are_ptx() -> None:
    x = there(np.linspace(0.0, 1.0, 600).reshape(2, 300))
    for y in (xp.exp(x[:, ::-1]) + x[0], xp.sum(xp.sin(x), axis=1), xp.sort(x), x @ x.T, xp.std(x, axis=0)):
        y.compute()
    count = 0
    for names in device_loops._COMPILED.values():
        for kernel in [k for k in names.values() if isinstance(k, cuda.CUDADispatcher)][:6]:
            for signature in kernel.signatures[:1]:
                if count < 12:
                    text, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0))
                    assert ".visible .entry" in text
                    count += 1
    assert count > 5


def test_rows_say_how_operations_are_computed() -> None:
    x = xp.asarray([1.0, 2.0])
    made = (x + x, xp.sum(x), xp.fft.fft(x))
    assert [how(y.node()) for y in made] == [How.FUSED, How.REDUCED, How.HOST]
    assert how(xp.argmax(xp.asarray([1j])).node()) is How.HOST


# --- the host's functions on the CPU device ---------------------------------------------------------------------------
def same_by_both(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any], *given: np.ndarray) -> None:
    """Checks that the host's functions give what the kernels do."""
    kernels = [x.numpy() for x in f(*map(there, given))]
    with monkeypatch.context() as patch:
        patch.setattr(devices, "KERNELS", False)
        ours = [x.numpy() for x in f(*map(there, given))]
    for one, other in zip(ours, kernels, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ("float64", "float32", "int8", "uint64", "bool", "complex128"))
def test_sorts_are_those_of_kernels(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    rng = np.random.default_rng(5)
    for shape in ((1,), (300,), (5000,), (6, 33), (3, 5, 40), (2, 0)):
        x = rng.integers(0, 9, shape).astype(dtype)
        if x.dtype.kind in "fc":
            x[rng.random(shape) < 0.3] = -0.0
            x[rng.random(shape) < 0.1] = np.nan
        for axis in range(x.ndim):
            same_by_both(monkeypatch, lambda a, k=axis: (xp.sort(a, axis=k), xp.argsort(a, axis=k)), x)
            if dtype != "complex128":
                same_by_both(monkeypatch, lambda a, k=axis: (xp.sort(a, axis=k, descending=True),), x)
        if x.size and dtype != "complex128":
            same_by_both(monkeypatch, lambda a: (*xp.top_k(a, min(3, a.shape[-1])), xp.k_select(a, a.size // 2 + 1)), x)


def test_functions_capture_lists() -> None:
    weights, nested, empty, texts = [1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]], list[float](), ["a", "b"]

    def f(v: Any) -> Any:
        total = v * weights[int(v)] + nested[1][int(v) % 2] + len(empty) + len(texts)
        for w in weights:
            total += w * v
        return total

    x = np.arange(7.0) % 3
    y = xp.map(f, there(x))
    np.testing.assert_array_equal(y.numpy(), [f(v) for v in x])
    weights[0] = 9.0
    np.testing.assert_array_equal(xp.map(f, there(x)).numpy(), [f(v) for v in x])


def test_dictionaries_and_sets_are_refused_in_kernels() -> None:
    of_value, some = {1: 2.0}, {1, 2}
    for f in (lambda v: v * of_value[1], lambda v: v if int(v) in some else 0.0):
        with pytest.raises(
            TypingError, match=r"dictionary or set cannot be used in a kernel[^$]*use an array or a tuple"
        ):
            xp.map(f, there(np.ones(3))).compute()
