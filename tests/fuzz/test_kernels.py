"""Random kernels with fixed seeds: on the CPU device, as lifted PTX and checked they compute what the interpreter
does."""

import pytest

import differential
import grids
import kernels

BATCHES = 2


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize(("script", "programs"), [(kernels, 80), (grids, 50)])
def test_random_kernels_agree_with_the_interpreter(script, programs: int, batch: int, some) -> None:
    first, count = batch * (programs // BATCHES), some(programs // BATCHES, 8)
    verdicts = differential.run(first, count, 1, script.__file__)
    wrong = {seed: text for seed, text in verdicts.items() if text != "same"}
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())
