"""Random nests of loops with fixed seeds."""

import pytest

import differential
import nests

#: Two of the first ones have sums into several rows of one array whose loops are distributed.
FIRST = 195


@pytest.mark.parametrize("batch", range(2))
def test_random_nests_agree_with_cpython(batch: int, some) -> None:
    count = some(150, 20)
    verdicts = differential.run(FIRST + 150 * batch, count, 1, nests.__file__)
    wrong = {seed: text for seed, text in verdicts.items() if text != "same"}
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())
