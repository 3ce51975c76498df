"""Makes `docs/conformance.md` from what `numba_suite.py` prints of Numba's tests and of numba-cuda's.

Usage:

    python benches/conformance.py target/bench/suite.log target/bench/cuda.log [target/bench/cupy.json] \
        > docs/conformance.md
    python benches/conformance.py target/bench/cupy.json        the section of CuPy alone
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from cupy_suite import page

HEAD = """# Conformance

This page says how much of Numba's own public-API tests passes: the open selection, run by `benches/run.sh suite`
against this repository's wheel.

- "Left out" are tests that skip themselves on this machine or that Numba marks as expected to fail. The share is of the
  others.
- A module that returns Python functions unchanged passes about half of the tests in some areas.
- Low shares are mostly features that the language does not have yet, such as random generators, and your own types by
  the low-level API. All tests of "extending" depend on that API when their module is imported.
- There is no object mode but the explicit one: `jit(forceobj=True)` leaves a function to the interpreter.
- Most tests of the language's areas that do not pass expect refusals of programs that work here:
  [each of them](conformance-tests.md).
- Of `stencil` Numba itself passes 10 here, since the suite hands the function over in a wrapper. Without it Numba
  passes 15 and lancehead 11. The other four expect refusals of programs that work here (indices of NumPy's types,
  tuples beside the arrays, constants in indices without `parallel=True`) or an AssertionError.

| area | tests | left out | passed | |
|---|---:|---:|---:|---:|"""

CUDA = """
**Caching.** The six tests that fail look at things that the cache does not promise (see [Compile once](caching.md)).

- Three look for the files of the wrappers that Numba makes around a `@guvectorize` function (`guf-...`). These are part
  of the one entry here.
- Two are about object mode (`object()` in a function, lifted loops).
- One wants no entry for a function that reads a large global array. Here the entry has the array's type, shape and
  strides, and its items are read where they are.

Index and data files end in `.nbi` and `.nbc` as Numba's do, and `LANCEHEAD_DEBUG_CACHE=1` prints the same lines.

**ctypes, cffi, cfunc.** All eight tests of cffi end in an error of the suite's own set-up, which looks for
`register_module` in itself. With that corrected, they pass. One of ctypes wants Python's `TypeError` for a function
without `argtypes`, and gets a `TypingError`.

## CUDA

Of numba-cuda's own tests, those that use public names only were run on the CPU device, without a GPU: {passed:,} of
{tests:,} pass, and {left_out} more skip themselves or are expected to fail ({share:.0f} % of the others).

Of the tests that do not pass, 20 are of caching and end in the suite's own set-up, which looks for `_off` in classes
that do not have it. With that corrected, 11 of them pass. The others, by cause:

| cause | tests |
|---|---:|
| your own types by Numba's low-level API, and its bindings of bfloat16 | 15 |
| dates and strings as elements | 8 |
| instructions and names of Numba's own in PTX or in its dumps | 11 |
| LTO-IR as output | 3 |
| IPC handles | 4 |
| CuPy, which is not installed | 4 |
| the driver's own functions in callbacks of linked modules | 3 |

The rest expect refusals of programs that work here (calls of `@njit` functions in kernels, negative strides, globals
that change), indices that are not checked, or messages in Numba's words.
"""

CUPY = """
## CuPy

CuPy's own tests against [`lancehead.cupy`](cupy.md) on the CPU device, by `benches/run.sh cupy-tests`. "Left out" are
tests that skip themselves, such as those for several devices; tests that are marked as slow are not run. Tests that
need a name which is not served, most of them private ones, are counted apart. The share is of the others.
"""

ROW = re.compile(r"^(\S.*?)\s{2,}(\d+)\s+(\d+)\b(.*)")
LEFT_OUT = re.compile(r"\b(?:skipped|xfail) (\d+)")


def rows(log: str, heading: str) -> list[tuple[str, int, int, int]]:
    """Name, tests, tests left out, passed of the table with a heading; the last is the total."""
    table = log[log.index(f"\n{heading} ") :].splitlines()[2:]
    found = []
    for line in table:
        if match := ROW.match(line):
            left_out = sum(int(n) for n in LEFT_OUT.findall(match[4]))
            found.append((match[1], int(match[2]), left_out, int(match[3])))
            if match[1] == "total":
                break
    return found


def share_of(tests: int, left_out: int, passed: int) -> float:
    """Per cent of the tests that are not left out."""
    return 100 * passed / max(1, tests - left_out)


def main() -> None:
    if sys.argv[1].endswith(".json"):
        print(CUPY + "\n" + page(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
        return
    suite, cuda = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
    print(HEAD)
    for area, tests, left_out, passed in rows(suite, "area"):
        mark = "**" if area == "total" else ""
        share = share_of(tests, left_out, passed)
        print(f"| {mark}{area}{mark} | {tests} | {left_out} | {passed} | {share:.0f} % |")
    _, tests, left_out, passed = rows(cuda, "module")[-1]
    print(CUDA.format(tests=tests, left_out=left_out, passed=passed, share=share_of(tests, left_out, passed)), end="")
    if len(sys.argv) > 3:
        print(CUPY + "\n" + page(json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
