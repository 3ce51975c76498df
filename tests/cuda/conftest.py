"""A GPU for tests that ask for one."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from stand_in import StandIn, forget


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    return StandIn(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def gpu(library: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("LANCEHEAD_CUDA_DRIVER", str(library.path))
    monkeypatch.delenv("LANCEHEAD_CUDA_DEVICE", raising=False)
    forget()
    library.launches.clear()
    library.library.fake_have(1)
    yield library
    gc.collect()
    library.reset()
    forget()
