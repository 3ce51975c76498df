"""Cases that have failed once, and how they are kept."""

from pathlib import Path

import fuzzers
import night


def test_cases_that_have_failed_once() -> None:
    faults = {(name, seed): fuzzers.FUZZERS[name].run(seed, 1) for name, seed in night.found(night.FOUND)}
    faults = {case: text for case, text in faults.items() if text}
    assert not faults, "\n".join(f"{name}, seed {seed}: {text}" for (name, seed), text in faults.items())


def test_a_case_that_fails_becomes_a_file(tmp_path: Path) -> None:
    def odd(first: int, count: int) -> dict[int, str]:
        return {seed: f"{seed} is odd" for seed in range(first, first + count) if seed % 2}

    def odd_beside_others(first: int, count: int) -> dict[int, str]:
        return odd(first, count) if count > 1 else {}

    planted = {
        "odd_numbers": fuzzers.Fuzzer(odd, 4),
        "odd_beside_others": fuzzers.Fuzzer(odd_beside_others, 2),
        "never": fuzzers.Fuzzer(lambda first, count: {}, 3),
    }
    failed = night.run(planted, 7, 0, tmp_path)
    (name, first), (_, second) = night.found(tmp_path)
    assert (name, second) == ("odd_numbers", first + 2)
    assert [name for name, _ in failed] == ["odd_numbers"] * 2 + ["odd_beside_others"]
    assert (tmp_path / f"odd_numbers-{first}.txt").read_text() == f"{first} is odd\n"
    # The same seed finds the same.
    assert night.run(planted, 7, 0, tmp_path) == failed
