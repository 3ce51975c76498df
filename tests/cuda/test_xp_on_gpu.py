"""Lazy arrays on a GPU: the bits of its kernels on the CPU device, and refusals of operations without a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import cuda, xp
from lancehead.xp import devices
from stand_in import StandIn


def program(device: Any) -> list[np.ndarray]:
    """The values of a program with a kernel of each kind."""
    rng = np.random.default_rng(7)
    a = xp.asarray(rng.normal(size=(37, 300)), device=device)
    b = xp.exp(-(a[:, ::-1] * 2.0)) + xp.where(a > 0, a, a[0])
    places = xp.asarray(rng.integers(0, 37, 60), device=device)
    c = b * 1.0
    c[1:20:3, 5:] = -1.0
    found = [
        b,
        c,
        xp.sum(b, axis=1),
        xp.sum(b),
        xp.std(b, axis=0),
        xp.argmax(b, axis=1),
        xp.cumulative_sum(b, axis=1),
        xp.cumulative_sum(xp.reshape(b, (-1,))),
        xp.reduce(lambda x, y: x + y, b, init=1.0),
        xp.reduce(lambda x, y: np.maximum(x + y, y + x), b, init=None),
        xp.reduce(lambda x, y: np.maximum(x + y, y + x), b, init=None, axis=0),
        xp.scan(lambda x, y: x + y, xp.reshape(b, (-1,)), init=0.5),
        xp.take(b, places, axis=0),
        xp.scatter(xp.zeros(37, device=device), places, xp.sin(xp.astype(places, xp.float64)), "add"),
        xp.sort(b, axis=0),
        xp.argsort(b, axis=1),
        b @ xp.concat([c, b]).T,
        xp.compact(b, b > 0.5),
        xp.unique(places),
        *xp.run_length(xp.sort(places)),
        *xp.top_k(b, 5),
        xp.bincount(places),
        xp.segmented_reduce(lambda x, y: x + y, b[0], xp.asarray([0, 100, 100, 300], device=device), 0.0),
    ]
    return [x.numpy() for x in found]


def test_same_bits(library: StandIn, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "KERNELS", [True])
    expected = program("cuda:0")
    gpu = request.getfixturevalue("gpu")
    found = program("cuda:0")
    assert len(gpu.launches) > 10
    for i, (x, y) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(x, y, str(i))


def test_refusals(gpu: StandIn) -> None:
    x = xp.ones((2, 2), device="cuda:0")
    with pytest.raises(NotImplementedError, match="inv has no kernel for cuda:0.*to_device.'cpu'"):
        xp.linalg.inv(x)
    assert xp.linalg.inv(x.to_device("cpu") + xp.eye(2)).device == "cpu"
    found = xp.nonzero(x + xp.asarray([[0.0, -1.0], [1.0, 2.0]], device="cuda:0"))
    assert [k.device for k in found] == ["cuda:0"] * 2 and found[1].numpy().tolist() == [0, 0, 1]
    shared = xp.asarray(cuda.as_cuda_array(x), copy=False)
    assert shared.device == "cuda:0" and shared.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert xp.from_dlpack(x).device == "cuda:0" and x.__dlpack_device__()[0] == 2
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 2"):
        xp.take(x, xp.asarray([0, 5], device="cuda:0"), axis=0).compute()
