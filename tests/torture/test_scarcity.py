"""Memory that ends is a MemoryError, and the process goes on."""

import pytest

import memory

CASES = {f"{kind}, {name}": program for kind, name, program in memory.cases()}


@pytest.mark.parametrize("name", CASES)
def test_memory_ends(name, some) -> None:
    limits = [1, 3, 8, 20, 40, 70, 100, 130, 200, 400][:: some(1, 5)]
    said = {mebibytes: memory.outcome(CASES[name], mebibytes) for mebibytes in limits}
    assert not any(said.values()), "\n".join(f"{m} MiB: {text}" for m, text in said.items() if text)
