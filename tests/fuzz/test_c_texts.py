"""Random texts of C with fixed seeds: kernels of them compute what g++'s code does."""

import c_texts


def test_random_texts_agree_with_a_compiler(some) -> None:
    faults = c_texts.run(0, some(200, 6))
    assert not faults, "\n".join(f"seed {seed}: {text}" for seed, text in faults.items())


def test_texts_are_mostly_defined() -> None:
    assert c_texts.defined(0, 20) > 0.3
