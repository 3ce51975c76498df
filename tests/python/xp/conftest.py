"""Fixtures of the tests of lazy arrays."""

from __future__ import annotations

import pytest

from lancehead.xp import devices


@pytest.fixture
def by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU device computes by the kernels of GPUs, which nothing else runs where there is none."""
    monkeypatch.setattr(devices, "KERNELS", True)
