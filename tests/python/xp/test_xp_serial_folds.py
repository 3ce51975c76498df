"""Reductions on the CPU device, a thread for what a block of threads does on a GPU: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from lancehead import xp
from lancehead.xp import standing_in

NAMES = ("sum", "var", "max", "argmin")


def arrays(shape, rng):
    floats = rng.standard_normal(shape) * 50
    floats.flat[:: max(floats.size // 7, 1)] = 0.0
    with_nan = floats.copy()
    with_nan.flat[floats.size // 2 :: max(floats.size // 5, 1)] = np.nan
    yield floats
    yield with_nan.astype(np.float32)
    yield floats.astype(np.int32)


@pytest.mark.parametrize("shape", [(63,), (1793,), (30000,), (7, 4500), (40, 3, 70)])
def test_bits_of_reductions(shape, monkeypatch):
    for a in arrays(shape, np.random.default_rng(len(shape))):
        x = xp.asarray(a, device="cuda:0")
        for name in NAMES:
            if a.dtype.kind == "i" and name == "var":
                continue
            for axis in (None, *range(len(shape))):
                of = getattr(xp, name)
                found = np.asarray(of(x, axis=axis).to_device("cpu"))
                with monkeypatch.context() as patched:
                    patched.setattr(standing_in, "is_here", lambda: False)
                    expected = np.asarray(of(x, axis=axis).to_device("cpu"))
                assert found.tobytes() == expected.tobytes(), (name, axis, a.dtype)


def test_the_kernels_are_others(monkeypatch):
    x = xp.asarray(np.arange(10000.0), device="cuda:0")
    assert "def alone" in str(xp.max(x).explain())
    monkeypatch.setattr(standing_in, "is_here", lambda: False)
    assert "def alone" not in str(xp.max(x).explain())
