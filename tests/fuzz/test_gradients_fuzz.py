"""Derivatives of random programs with fixed seeds."""

import gradients
import second_derivatives


def test_derivatives_of_random_programs(some) -> None:
    # The interpreter of typed code compares 2,000 others, without code generation.
    faults = gradients.run(0, some(30, 10))
    assert not faults, "\n".join(f"seed {seed}: {text}" for seed, text in faults.items())


def test_second_derivatives_of_random_programs(some) -> None:
    faults = second_derivatives.run(0, some(10, 1))
    assert not faults, "\n".join(f"seed {seed}: {text}" for seed, text in faults.items())
