"""The fuzzers with fixed seeds, so that a change can be blamed."""

from collections.abc import Callable

import pytest

import calls
import code_objects
import differential
import extremes
import iterators
import loops
import objects
import operands
import standard_library

BATCHES = 3

Some = Callable[[int, int], int]


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_agree_with_cpython(batch: int, some: Some) -> None:
    count = some(100, 25)
    verdicts = differential.run(batch * 100, count, jobs=1)
    wrong = {seed: text for seed, text in verdicts.items() if text != "same"}
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())


@pytest.mark.parametrize("batch", range(2))
def test_random_programs_with_objects_agree_with_cpython(batch: int, some: Some) -> None:
    count = some(50, 18)
    verdicts = objects.run(batch * 50, count, jobs=1)
    wrong = {seed: text for seed, text in verdicts.items() if objects.is_fault(text)}
    refused = [text for text in verdicts.values() if text.startswith("refused")]
    print(f"{objects.share(verdicts):.1%} of the programs compile", *refused, sep="\n")
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())
    assert objects.share(verdicts) >= 0.85


def test_random_uses_of_iterators_agree_with_cpython(some: Some) -> None:
    count = some(400, 40)
    verdicts = iterators.run(0, count, jobs=1)
    wrong = {seed: text for seed, text in verdicts.items() if objects.is_fault(text)}
    assert len(verdicts) == count
    assert not wrong, "\n".join(f"seed {seed}:\n{text}" for seed, text in wrong.items())
    assert objects.share(verdicts) >= 0.97


@pytest.mark.parametrize("batch", range(3))
def test_damaged_code_objects_never_crash(batch: int, some: Some) -> None:
    count = some(250, 80)
    verdicts = code_objects.run(batch * 250, count)
    bad = {seed: text for seed, text in verdicts.items() if code_objects.is_bad(text)}
    assert len(verdicts) == count
    assert not bad, "\n".join(f"seed {seed}: {text}" for seed, text in bad.items())


def test_operands_of_all_kinds(some: Some) -> None:
    faults = operands.run(0, some(3000, 1000))
    assert not faults, "\n".join(f"{what}: {said}" for what, said in faults.items())


@pytest.mark.parametrize("batch", range(2))
def test_calls_of_every_supported_name(batch: int, some: Some) -> None:
    # Each name has a call in a turn of as many calls as there are names.
    names = len(calls.names())
    faults = calls.run(batch * names, some(names, names // 3))
    assert not faults, "\n".join(f"{number}: {text}" for number, text in faults.items())


@pytest.mark.parametrize("batch", range(2))
def test_functions_of_the_standard_library_compile_or_are_refused(batch: int, some: Some) -> None:
    faults = standard_library.run(batch * 250, some(250, 60))
    assert not faults, "\n".join(faults.values())


def test_parallel_loops_on_any_number_of_threads(some: Some) -> None:
    count = some(200, 40)
    found = loops.verdicts(0, count)
    faults = {seed: text for seed, text in found.items() if not text.startswith("refused")}
    assert not faults, "\n".join(f"seed {seed}: {text}" for seed, text in faults.items())
    assert len(found) <= 0.05 * count


def test_ends_of_types_in_every_function_of_numpy(some: Some) -> None:
    faults = extremes.run(0, some(400, 150))
    assert not faults, "\n".join(f"{number}: {text}" for number, text in faults.items())
