"""Makes `docs/conformance.md` from what `numba_suite.py` prints.

    python benches/conformance.py target/bench/suite.log > docs/conformance.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEAD = """# Conformance

How much of Numba's own public-API tests passes: the open selection, run by `benches/run.sh suite` against this repository's wheel. A module that returns Python functions
unchanged passes about half of some areas. What is low here is mostly what the language does not have yet: typed containers, sets and dictionaries, datetimes,
`jitclass`, `overload`, `cfunc`, `objmode`. There is no object mode: `forceobj=True` is accepted and changes nothing. "Left out" are tests that skip themselves on this machine or that Numba
marks as expected to fail; the share is of the others. Of `stencil` Numba itself passes 10 here, since the suite hands the function over in a wrapper.

| area | tests | left out | passed | |
|---|---:|---:|---:|---:|"""

ROW = re.compile(r"^(\S.*?)\s{2,}(\d+)\s+(\d+)\b(.*)")
LEFT_OUT = re.compile(r"\b(?:skipped|xfail) (\d+)")


def rows(log: str) -> list[tuple[str, int, int, int]]:
    """Area, tests, tests left out, passed; the last is the total."""
    table = log[log.index("\narea ") :].splitlines()[2:]
    found = []
    for line in table:
        if match := ROW.match(line):
            left_out = sum(int(n) for n in LEFT_OUT.findall(match[4]))
            found.append((match[1], int(match[2]), left_out, int(match[3])))
            if match[1] == "total":
                break
    return found


def main() -> None:
    print(HEAD)
    for area, tests, left_out, passed in rows(Path(sys.argv[1]).read_text(encoding="utf-8")):
        mark = "**" if area == "total" else ""
        share = 100 * passed / max(1, tests - left_out)
        print(f"| {mark}{area}{mark} | {tests} | {left_out} | {passed} | {share:.0f} % |")


if __name__ == "__main__":
    main()
