"""The library's algorithms over emulated primitives against NumPy: dtypes, orders, strides, empties."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

SHARED = pathlib.Path(__file__).parents[1] / "shared"

PROGRAM = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import numpy as np, prim_emulation
from lib_cases import CASES, arrays, outcome, same
emulated = prim_emulation.library()["np"]
wrong = []
for name, text, applies in CASES:
    f = eval("lambda np, a: " + text)
    for kind, a in arrays():
        if applies(a):
            want, got = outcome(f, np, a), outcome(f, emulated, a)
            if not same(want, got):
                wrong.append(f"{name} of {kind}: {want!r}, not {got!r}")
print(json.dumps(wrong[:20]))
"""


def test_cases_agree_with_numpy():
    # In a process of its own: emulation replaces the primitives of the imported library.
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(SHARED)], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []
