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

    never = fuzzers.Fuzzer(lambda first, count: {}, 3)
    files = night.run({"odd_numbers": fuzzers.Fuzzer(odd, 4), "never": never}, 7, 0, tmp_path)
    (name, first), (_, second) = night.found(tmp_path)
    assert (name, second) == ("odd_numbers", first + 2) and len(files) == 2
    assert files[0].read_text() == f"{first} is odd\n"
    # The same seed finds the same.
    assert night.run({"odd_numbers": fuzzers.Fuzzer(odd, 4), "never": never}, 7, 0, tmp_path) == files
