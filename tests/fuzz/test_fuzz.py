"""The fuzzers with fixed seeds, so that a change can be blamed."""

import pytest

import calls
import code_objects
import differential
import objects
import operands
import standard_library

BATCHES = 3


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_agree_with_cpython(batch: int) -> None:
    count = 100
    verdicts = differential.run(batch * count, count, jobs=2)
    wrong = {seed: text for seed, text in verdicts.items() if text != "same"}
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())


@pytest.mark.parametrize("batch", range(2))
def test_random_programs_with_objects_agree_with_cpython(batch: int) -> None:
    verdicts = objects.run(batch * 50, 50, jobs=2)
    wrong = {seed: text for seed, text in verdicts.items() if objects.is_fault(text)}
    refused = [text for text in verdicts.values() if text.startswith("refused")]
    print(f"{objects.share(verdicts):.1%} of the programs compile", *refused, sep="\n")
    assert len(verdicts) == 50
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())
    assert objects.share(verdicts) >= 0.85


@pytest.mark.parametrize("batch", range(3))
def test_damaged_code_objects_never_crash(batch: int) -> None:
    verdicts = code_objects.run(batch * 250, 250)
    bad = {seed: text for seed, text in verdicts.items() if code_objects.is_bad(text)}
    assert len(verdicts) == 250
    assert not bad, "\n".join(f"seed {seed}: {text}" for seed, text in bad.items())


def test_operands_of_all_kinds() -> None:
    faults = operands.run(0, 3000)
    assert not faults, "\n".join(f"{what}: {said}" for what, said in faults.items())


@pytest.mark.parametrize("batch", range(2))
def test_calls_of_every_supported_name(batch: int) -> None:
    count = len(calls.names())
    faults = calls.run(batch * count, count)
    assert not faults, "\n".join(f"{number}: {text}" for number, text in faults.items())


@pytest.mark.parametrize("batch", range(2))
def test_functions_of_the_standard_library_compile_or_are_refused(batch: int) -> None:
    faults = standard_library.run(batch * 250, 250)
    assert not faults, "\n".join(faults.values())
