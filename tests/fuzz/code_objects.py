"""Hands damaged code objects to the compiler: each must end in an exception or a compiled function, never in a crash.

    python tests/fuzz/code_objects.py --count 20000 --seed 1

Nothing that compiles is called: what a damaged program means is nobody's business.
"""

from __future__ import annotations

import argparse
import dis
import json
import math
import random
import subprocess
import sys
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

BATCH = 250
#: Every damaged code ends in this many bytes of NOP: CPython itself reads past the end of an instruction that lacks its
#: caches.
MARGIN = 32
#: Operations for which CPython itself reads tables of the code object that only it makes.
TRAPPED = ("INSTRUMENTED_LINE", "INSTRUMENTED_INSTRUCTION", "ENTER_EXECUTOR")
TRAPS = {n for n, name in enumerate(dis.opname) if name in TRAPPED}
#: Seconds for a batch.
TIMEOUT = 300


def scalar(a, b):
    c = a * 2 + b // 3
    if c > 10 and a != b:
        return c - 1
    return c if b else a


def loops(a, b):
    total = 0
    for i in range(a):
        if i % 3 == 0:
            continue
        total += i * b
        while total > 100:
            total -= 7
        else:
            total += 1
    return total


def guarded(a, b):
    try:
        if a > b:
            raise ValueError("a", a)
        r = a // b
    except ZeroDivisionError:
        r = -1
    except (ValueError, KeyError) as error:
        r = len(str(error))
    finally:
        a += 1
    return r + a


def containers(a, b):
    xs = [i * a for i in range(b)]
    xs.append(a)
    t = (a, b, *xs[:0], 2.5)
    x, (y, z) = t[0], (t[1], t[-1])
    return sorted(xs)[0] + x + y, z, [k for k in xs if k > 2], f"{a}:{b:.1f}"


def arrays(a, b):
    m = np.zeros((a, 3))
    m[:, 1] += b
    m[0, ::2] = m[0, 1] * 2.0
    return np.sqrt(m).sum() + m.T[1, 0], m > 1


def closures(a, b):
    k = a
    add = lambda x, y=b: x + y + k

    def inner(*args, scale=2):
        nonlocal k
        k += 1
        return sum(args) * scale

    return add(1) + inner(a, b, scale=3) + math.sqrt(k)


SAMPLES = (scalar, loops, guarded, containers, arrays, closures)


def damaged(rng: random.Random) -> FunctionType:
    """A sample with a few bytes, names, constants or tables changed."""
    function = rng.choice(SAMPLES)
    code = function.__code__
    code = code.replace(co_code=code.co_code + bytes((dis.opmap["NOP"], 0)) * (MARGIN // 2))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        code = rng.choice(DAMAGES)(rng, code)
    cells = tuple(CellType(1) for _ in code.co_freevars)
    return FunctionType(code, globals(), function.__name__, (3,) if rng.random() < 0.2 else None, cells)


def damageable(code: CodeType) -> int:
    """Length of the code without its margin."""
    return len(code.co_code) - MARGIN


def change_bytes(rng: random.Random, code: CodeType) -> CodeType:
    """Any byte becomes any other."""
    text = bytearray(code.co_code)
    at, byte = rng.randrange(damageable(code)), rng.randrange(256)
    if at % 2 == 0 and byte in TRAPS:
        return code
    text[at] = byte
    return code.replace(co_code=bytes(text))


def change_opcode(rng: random.Random, code: CodeType) -> CodeType:
    """An instruction becomes another of the program."""
    text = bytearray(code.co_code)
    a, b = (2 * rng.randrange(damageable(code) // 2) for _ in range(2))
    text[a] = text[b]
    return code.replace(co_code=bytes(text))


def change_argument(rng: random.Random, code: CodeType) -> CodeType:
    """An instruction's argument changes a little."""
    text = bytearray(code.co_code)
    at = 2 * rng.randrange(damageable(code) // 2) + 1
    text[at] = (text[at] + rng.choice((-2, -1, 1, 2, 64, 128))) % 256
    return code.replace(co_code=bytes(text))


def move_instructions(rng: random.Random, code: CodeType) -> CodeType:
    """A stretch of instructions lands somewhere else."""
    text = bytearray(code.co_code)
    size = 2 * rng.randint(1, 6)
    if damageable(code) <= size:
        return code
    a, b = (2 * rng.randrange((damageable(code) - size) // 2) for _ in range(2))
    text[a : a + size] = text[b : b + size]
    return code.replace(co_code=bytes(text))


def cut(rng: random.Random, code: CodeType) -> CodeType:
    """The end is missing."""
    length = 2 * rng.randint(1, damageable(code) // 2)
    return code.replace(co_code=code.co_code[:length] + code.co_code[-MARGIN:])


def change_constant(rng: random.Random, code: CodeType) -> CodeType:
    """A constant becomes something else."""
    constants = list(code.co_consts)
    if not constants:
        return code
    new: Any = rng.choice(
        (
            None,
            10**40,
            -(2**63),
            2**64,
            1e400,
            "x" * 10_000,
            (1, (2, "a")),
            b"bytes",
            ...,
            frozenset((1,)),
            3j,
            scalar.__code__,
        )
    )
    constants[rng.randrange(len(constants))] = new
    return code.replace(co_consts=tuple(constants))


def change_names(rng: random.Random, code: CodeType) -> CodeType:
    """Names in another order, or strange ones."""
    names = list(code.co_names)
    rng.shuffle(names)
    if names and rng.random() < 0.5:
        names[0] = rng.choice(("", "\ud800", "__import__", "é" * 300, "np"))
    return code.replace(co_names=tuple(names))


def change_exception_table(rng: random.Random, code: CodeType) -> CodeType:
    """Bytes of the exception table change."""
    table = bytearray(code.co_exceptiontable)
    if not table:
        return code.replace(co_exceptiontable=bytes(rng.randrange(256) for _ in range(rng.randint(1, 8))))
    table[rng.randrange(len(table))] = rng.randrange(256)
    return code.replace(co_exceptiontable=bytes(table))


def change_stack_size(rng: random.Random, code: CodeType) -> CodeType:
    """The promised stack is too small or very large."""
    return code.replace(co_stacksize=rng.choice((0, 1, 2, 1000)))


DAMAGES = (
    change_bytes,
    change_bytes,
    change_opcode,
    change_opcode,
    change_argument,
    change_argument,
    move_instructions,
    cut,
    change_constant,
    change_names,
    change_exception_table,
    change_stack_size,
)


def compile_one(seed: int, module: Any) -> str:
    """Compiles one function and names the outcome in a word."""
    rng = random.Random(seed)
    function = damaged(rng)
    kinds = rng.choice(((module.types.int64, module.types.int64), (module.types.int64, module.types.float64)))
    try:
        module.njit(function).compile(kinds)
    except module.errors.InternalError as error:
        return f"internal error: {error}"
    except Exception as error:
        return type(error).__name__
    return "compiled"


def work(first: int, count: int) -> None:
    """Compiles a batch and prints a line of JSON before and after each."""
    import lancehead

    for seed in range(first, first + count):
        print(json.dumps({"start": seed}), flush=True)
        print(json.dumps({"seed": seed, "verdict": compile_one(seed, lancehead)}), flush=True)


def run(first: int, count: int) -> dict[int, str]:
    """Verdicts by seed; a crash is the program's that had been started."""
    verdicts: dict[int, str] = {}
    seed, end = first, first + count
    while seed < end:
        command = [sys.executable, __file__, "--work", f"{seed}:{min(BATCH, end - seed)}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            output, verdict = done.stdout, f"crash: process ended with {done.returncode}: {done.stderr[-300:]}"
        except subprocess.TimeoutExpired as expired:
            output, verdict = (expired.stdout or b"").decode(), f"crash: no answer in {TIMEOUT} s"
        for line in output.splitlines():
            message = json.loads(line)
            if "seed" in message:
                verdicts[message["seed"]] = message["verdict"]
        next_seed = max((s for s in verdicts if s >= seed), default=seed - 1) + 1
        if next_seed < min(seed + BATCH, end):
            verdicts[next_seed] = verdict
            next_seed += 1
        seed = next_seed
    return verdicts


def is_bad(verdict: str) -> bool:
    """Whether a verdict is a bug of the compiler."""
    return verdict.startswith(("crash", "internal error"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*map(int, options.work.split(":")))
        return 0
    verdicts = run(options.seed, options.count)
    bad = {seed: verdict for seed, verdict in verdicts.items() if is_bad(verdict)}
    for seed, verdict in bad.items():
        print(f"seed {seed}: {verdict}")
    print(
        f"{len(verdicts) - len(bad)} of {len(verdicts)} code objects handled, "
        f"{sum(v == 'compiled' for v in verdicts.values())} compiled"
    )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
