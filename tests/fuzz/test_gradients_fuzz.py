"""Derivatives of random programs with fixed seeds."""

import pytest

import gradients


@pytest.mark.parametrize("batch", range(2))
def test_derivatives_of_random_programs(batch: int) -> None:
    faults = gradients.run(batch * 25, 25)
    assert not faults, "\n".join(f"seed {seed}: {text}" for seed, text in faults.items())
