"""All fuzzers by name, each as a function that gives the faults of some cases by their seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import c_texts
import calls
import code_objects
import differential
import extremes
import gradients
import graphs
import grids
import iterators
import kernels
import loops
import nests
import objects
import operands
import second_derivatives


class Fuzzer(NamedTuple):
    """Gives faults of so many cases, from a seed on."""

    run: Callable[[int, int], dict[int, str]]
    #: Cases of a turn at night, some seconds of them.
    turn: int


def _unequal(script: str) -> Callable[[int, int], dict[int, str]]:
    def run(first: int, count: int) -> dict[int, str]:
        verdicts = differential.run(first, count, 1, script)
        return {seed: text for seed, text in verdicts.items() if text != "same"}

    return run


def _objects(first: int, count: int) -> dict[int, str]:
    return {seed: text for seed, text in objects.run(first, count, 1).items() if objects.is_fault(text)}


def _iterators(first: int, count: int) -> dict[int, str]:
    return {seed: text for seed, text in iterators.run(first, count, 1).items() if objects.is_fault(text)}


def _damaged(first: int, count: int) -> dict[int, str]:
    return {seed: text for seed, text in code_objects.run(first, count).items() if code_objects.is_bad(text)}


def _operands(first: int, count: int) -> dict[int, str]:
    """A case is a sample of 100 pairs of operands."""
    found = {seed: operands.run(seed, 100) for seed in range(first, first + count)}
    return {
        seed: "\n".join(f"{what}: {said}" for what, said in faults.items()) for seed, faults in found.items() if faults
    }


def _graphs(first: int, count: int) -> dict[int, str]:
    found = {seed: graphs.run(seed, 1) for seed in range(first, first + count)}
    return {seed: f"{what}: {said}" for seed, faults in found.items() for what, said in faults.items()}


FUZZERS = {
    "c_texts": Fuzzer(c_texts.run, 10),
    "calls": Fuzzer(calls.run, 200),
    "code_objects": Fuzzer(_damaged, 100),
    "extremes": Fuzzer(extremes.run, 100),
    "gradients": Fuzzer(gradients.run, 5),
    "graphs": Fuzzer(_graphs, 10),
    "grids": Fuzzer(_unequal(grids.__file__), 10),
    "iterators": Fuzzer(_iterators, 40),
    "kernels": Fuzzer(_unequal(kernels.__file__), 10),
    "loops": Fuzzer(loops.run, 20),
    "nests": Fuzzer(_unequal(nests.__file__), 40),
    "objects": Fuzzer(_objects, 20),
    "operands": Fuzzer(_operands, 5),
    "programs": Fuzzer(_unequal(differential.__file__), 40),
    "second_derivatives": Fuzzer(second_derivatives.run, 2),
}
